//! profiler_info_<rank>.json and profiler_metadata.json: which rank and role a capture is, what made it, and with which settings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Settings beyond these are no settings.
const MOST_SETTINGS: usize = 256;
/// The characters of a setting that are kept.
const MOST_CHARACTERS: usize = 1_000;

/// What profiler_info says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfilerInfo {
    /// `rank_id`: a number, or a number as text.
    pub rank: Option<i64>,
    /// Version of torch_npu.
    pub torch_npu: Option<String>,
    /// Version of CANN.
    pub cann: Option<String>,
    /// How the capture was made.
    pub setup: Setup,
}

/// What profiler_metadata says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfilerMetadata {
    /// `None` when it is absent or empty.
    pub role: Option<String>,
    /// The environment variables that were set, by name.
    pub environment: Vec<Setting>,
    /// How the job was spread, by name.
    pub distributed: Vec<Setting>,
}

/// How a capture was made. A setting that the files do not name is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
#[allow(missing_docs)] // The names are the profiler's.
pub struct Setup {
    pub profiler_level: Option<String>,
    pub activities: Vec<String>,
    pub profile_memory: Option<bool>,
    pub with_stack: Option<bool>,
    pub with_modules: Option<bool>,
    pub with_flops: Option<bool>,
    pub record_shapes: Option<bool>,
    pub schedule: Option<Schedule>,
    pub export_type: Vec<String>,
    /// Those that were set, by name.
    pub environment: Vec<Setting>,
    /// How the job was spread over devices, by name.
    pub distributed: Vec<Setting>,
}

/// Which steps are captured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct Schedule {
    pub skip_first: Option<i64>,
    pub wait: Option<i64>,
    pub warmup: Option<i64>,
    pub active: Option<i64>,
    pub repeat: Option<i64>,
}

/// A setting by its own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct Setting {
    pub name: String,
    /// Text as it is, anything else as JSON.
    pub value: String,
}

impl Setup {
    /// Whether the profiler was told to take no call stacks.
    pub fn stacks_were_off(&self) -> bool {
        self.with_stack == Some(false) && self.with_modules != Some(true)
    }
}

/// Reads profiler_info; the error says why it is no JSON object.
pub fn profiler_info(text: &[u8]) -> Result<ProfilerInfo, String> {
    let value = object(text)?;
    let word = |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
    let rank = match value.get("rank_id") {
        Some(Value::Number(number)) => number.as_i64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    Ok(ProfilerInfo { rank: rank.filter(|&rank| rank >= 0), torch_npu: word("torch_npu_version"), cann: word("cann_version"), setup: setup(&value) })
}

fn setup(info: &Map<String, Value>) -> Setup {
    let config = |key: &str| info.get("config").and_then(|config| config.get(key));
    let common = |key: &str| config("common_config").and_then(|common| common.get(key));
    let experimental = |key: &str| config("experimental_config").and_then(|experimental| experimental.get(key));
    let switch = |key: &str| common(key).and_then(Value::as_bool);
    Setup {
        profiler_level: experimental("_profiler_level").and_then(Value::as_str).map(shortened),
        activities: words(common("activities")).iter().map(|activity| last_part(activity)).collect(),
        profile_memory: switch("profile_memory"),
        with_stack: switch("with_stack"),
        with_modules: switch("with_modules"),
        with_flops: switch("with_flops"),
        record_shapes: switch("record_shapes"),
        schedule: common("schedule").and_then(Value::as_object).map(schedule),
        export_type: words(experimental("_export_type")),
        environment: Vec::new(),
        distributed: Vec::new(),
    }
}

fn schedule(steps: &Map<String, Value>) -> Schedule {
    // Older versions write their fields as they are called inside.
    let count = |key: &str| steps.get(key).or_else(|| steps.get(&format!("_{key}"))).and_then(Value::as_i64);
    Schedule { skip_first: count("skip_first"), wait: count("wait"), warmup: count("warmup"), active: count("active"), repeat: count("repeat") }
}

/// One text, or a list of them.
fn words(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![shortened(text)],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).take(MOST_SETTINGS).map(shortened).collect(),
        _ => Vec::new(),
    }
}

/// `ProfilerActivity.CPU` → `CPU`
fn last_part(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).to_owned()
}

/// Reads profiler_metadata; the error says why it is no JSON object.
pub fn profiler_metadata(text: &[u8]) -> Result<ProfilerMetadata, String> {
    let value = object(text)?;
    let role = value.get("role").and_then(Value::as_str).map(str::trim).unwrap_or_default().to_owned();
    let settings = |key: &str| value.get(key).and_then(Value::as_object).map(settings).unwrap_or_default();
    Ok(ProfilerMetadata { role: Some(role).filter(|role| !role.is_empty()), environment: settings("ENV_VARIABLES"), distributed: settings("distributed_args") })
}

/// Those with a value, by name.
fn settings(all: &Map<String, Value>) -> Vec<Setting> {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => shortened(text),
        other => shortened(&other.to_string()),
    };
    let mut settings: Vec<Setting> = all.iter().map(|(name, value)| Setting { name: shortened(name), value: text(value) }).collect();
    settings.retain(|setting| !setting.value.is_empty());
    settings.sort();
    settings.truncate(MOST_SETTINGS);
    settings
}

fn shortened(text: &str) -> String {
    let cut: String = text.chars().take(MOST_CHARACTERS).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

fn object(text: &[u8]) -> Result<Map<String, Value>, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    match serde_json::from_slice(text).map_err(|error| format!("this is no JSON: {error}"))? {
        Value::Object(object) => Ok(object),
        _ => Err("this is no JSON object".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, value: &str) -> Setting {
        Setting { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn ranks_are_numbers_or_text() {
        assert_eq!(profiler_info(br#"{"rank_id": 3}"#).unwrap().rank, Some(3));
        let info = profiler_info(br#"{"rank_id": "12", "torch_npu_version": "2.9.0", "cann_version": ""}"#).unwrap();
        assert_eq!((info.rank, info.torch_npu.as_deref(), info.cann), (Some(12), Some("2.9.0"), None));
        assert_eq!(profiler_info(br#"{"rank_id": -1}"#).unwrap().rank, None);
    }

    #[test]
    fn an_empty_role_is_none() {
        let role = |text| profiler_metadata(text).unwrap().role;
        assert_eq!(role(&br#"{"role": "actor"}"#[..]), Some("actor".to_owned()));
        assert_eq!(role(br#"{"role": " "}"#), None);
        assert_eq!(role(b"{}"), None);
    }

    #[test]
    fn settings_as_the_profiler_writes_them_now_and_wrote_them() {
        let now = br#"{"config": {"common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"], "with_stack": false,
            "with_modules": false, "profile_memory": true, "schedule": {"wait": 0, "active": 1, "warmup": 10, "repeat": 1, "skip_first": 40}},
            "experimental_config": {"_profiler_level": "Level0", "_export_type": ["text"]}}}"#;
        let setup = profiler_info(now).unwrap().setup;
        assert_eq!(
            (setup.activities, setup.profiler_level.as_deref(), setup.export_type),
            (vec!["CPU".to_owned(), "NPU".to_owned()], Some("Level0"), vec!["text".to_owned()])
        );
        assert_eq!((setup.profile_memory, setup.record_shapes, setup.schedule.unwrap().skip_first), (Some(true), None, Some(40)));
        let then = br#"{"config": {"common_config": {"schedule": {"_wait": 1, "_warmup": 2}, "with_stack": false, "with_modules": true},
            "experimental_config": {"_export_type": "text"}}}"#;
        let setup = profiler_info(then).unwrap().setup;
        assert!(!setup.stacks_were_off());
        assert_eq!((setup.schedule, setup.export_type), (Some(Schedule { wait: Some(1), warmup: Some(2), ..Schedule::default() }), vec!["text".to_owned()]));
        assert_eq!(profiler_info(b"{\"config\": 3}").unwrap().setup, Setup::default());
    }

    #[test]
    fn the_environment_is_what_was_set_by_name() {
        let text = br#"{"ENV_VARIABLES": {"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True", "HCCL_ALGO": "", "ASCEND_LOG": "3"},
            "distributed_args": {"world_size": 4, "sequence_parallel": false, "rank": null}}"#;
        let metadata = profiler_metadata(text).unwrap();
        assert_eq!(metadata.environment, [setting("ASCEND_LOG", "3"), setting("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True")]);
        assert_eq!(metadata.distributed, [setting("sequence_parallel", "false"), setting("world_size", "4")]);
        let long = format!("{{\"ENV_VARIABLES\": {{\"X\": \"{}\"}}}}", "é".repeat(2_000));
        assert_eq!(profiler_metadata(long.as_bytes()).unwrap().environment[0].value.chars().count(), MOST_CHARACTERS + 1);
    }

    #[test]
    fn damage_is_named() {
        assert!(profiler_info(b"{\"rank_id\": ").unwrap_err().contains("no JSON"));
        assert_eq!(profiler_metadata(b"[1]"), Err("this is no JSON object".to_owned()));
    }
}
