//! profiler_info_<rank>.json and profiler_metadata.json: which rank and role a capture is, and what made it.

use serde_json::Value;

/// What profiler_info says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfilerInfo {
    /// `rank_id`: a number, or a number as text.
    pub rank: Option<i64>,
    /// Version of torch_npu.
    pub torch_npu: Option<String>,
    /// Version of CANN.
    pub cann: Option<String>,
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
    Ok(ProfilerInfo { rank: rank.filter(|&rank| rank >= 0), torch_npu: word("torch_npu_version"), cann: word("cann_version") })
}

/// Reads the role from profiler_metadata; `None` when it is absent or empty.
pub fn role(text: &[u8]) -> Result<Option<String>, String> {
    let role = object(text)?.get("role").and_then(Value::as_str).map(str::trim).unwrap_or_default().to_owned();
    Ok(Some(role).filter(|role| !role.is_empty()))
}

fn object(text: &[u8]) -> Result<Value, String> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("this is no JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err("this is no JSON object".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_numbers_or_text() {
        assert_eq!(profiler_info(br#"{"rank_id": 3}"#).unwrap().rank, Some(3));
        let info = profiler_info(br#"{"rank_id": "12", "torch_npu_version": "2.9.0", "cann_version": ""}"#).unwrap();
        assert_eq!((info.rank, info.torch_npu.as_deref(), info.cann), (Some(12), Some("2.9.0"), None));
        assert_eq!(profiler_info(br#"{"rank_id": -1}"#).unwrap().rank, None);
    }

    #[test]
    fn an_empty_role_is_none() {
        assert_eq!(role(br#"{"role": "actor"}"#), Ok(Some("actor".to_owned())));
        assert_eq!(role(br#"{"role": " "}"#), Ok(None));
        assert_eq!(role(b"{}"), Ok(None));
    }

    #[test]
    fn damage_is_named() {
        assert!(profiler_info(b"{\"rank_id\": ").unwrap_err().contains("no JSON"));
        assert_eq!(role(b"[1]"), Err("this is no JSON object".to_owned()));
    }
}
