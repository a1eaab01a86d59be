//! How the text and the Markdown report say things: each in one place.

use super::inert::{name, printable};
use crate::ascend::profiler_info::{Schedule, Setup};
use crate::ascend::reserved::{PROCESS, is_outside};
use crate::oom::compare::{OUTLIER_DEVIATIONS, OUTLIER_PERCENT, RankGroup, Spread};
use crate::oom::report::{ComponentReport, DeviceReport, StackCounts};
use crate::units::{human_bytes, human_ns};

/// "1 block", "2 blocks".
pub fn blocks(count: u64) -> String {
    format!("{count} block{}", if count == 1 { "" } else { "s" })
}

/// A difference, with its sign.
pub fn signed_bytes(bytes: i64) -> String {
    if bytes > 0 { format!("+{}", human_bytes(bytes)) } else { human_bytes(bytes) }
}

/// A figure that may be unknown.
pub fn optional_bytes(bytes: Option<i64>) -> String {
    bytes.map_or("unknown".to_owned(), human_bytes)
}

/// The first event of a capture: the zero of all its devices, so that their instants compare, as on the page.
pub fn first_of(devices: &[DeviceReport]) -> i64 {
    devices.iter().filter_map(|device| device.first_ns.parse().ok()).min().unwrap_or(0)
}

/// From the first event of a capture to an instant as the report has it.
pub fn since(first_ns: i64, time_ns: &str) -> String {
    human_ns(time_ns.parse::<i64>().unwrap_or(0).saturating_sub(first_ns))
}

/// As people speak of a rank; the path where that says nothing.
pub fn member_name(role: Option<&str>, rank: Option<i64>, source: &str) -> String {
    match (role, rank) {
        (Some(role), Some(rank)) => format!("{} rank {rank}", name(role)),
        (None, Some(rank)) => format!("rank {rank}"),
        _ => printable(source),
    }
}

/// Whose ranks a group compares.
pub fn group_name(group: &RankGroup) -> String {
    match (&group.role, group.across_roles) {
        (_, true) => "all roles".to_owned(),
        (Some(role), _) => name(role),
        (None, _) => "role unknown".to_owned(),
    }
}

/// What a key of the comparison means.
pub fn figure_name(key: &str) -> &'static str {
    match key {
        "peak_bytes" => "peak",
        "baseline_bytes" => "baseline at the peak",
        "max_reserved_gap_bytes" => "reserved, not allocated (most)",
        _ => "alive at the end",
    }
}

/// The figures of a group that are known.
pub fn figures(group: &RankGroup) -> Vec<(&'static str, Spread)> {
    let all = [
        ("peak_bytes", group.peak_bytes),
        ("baseline_bytes", group.baseline_bytes),
        ("max_reserved_gap_bytes", group.max_reserved_gap_bytes),
        ("alive_at_end_bytes", group.alive_at_end_bytes),
    ];
    all.into_iter().filter_map(|(key, spread)| Some((figure_name(key), spread?))).collect()
}

/// When a rank departs from the others.
pub fn outlier_rule() -> String {
    format!("more than {OUTLIER_DEVIATIONS} × the median absolute deviation and more than {OUTLIER_PERCENT} % from the median")
}

/// For how many blocks there is a call stack.
pub fn stacks_found(counts: &StackCounts) -> String {
    let guessed = if counts.nearest > 0 { format!(", and a guess for {} more (the last operator of the name)", counts.nearest) } else { String::new() };
    format!("call stacks for {} of {}{guessed}", counts.found(), blocks(counts.found().saturating_add(counts.nearest).saturating_add(counts.none)))
}

/// Memory outside the framework: all of it, the components that hold some of it, and what the application asked for, which contains the
/// framework's pool and must not be counted among them.
pub struct OutsideRows<'a> {
    /// All that the process holds beyond the framework's pools.
    pub total: Option<&'a ComponentReport>,
    /// The largest first; without those that hold nothing.
    pub components: Vec<&'a ComponentReport>,
    /// `APP` of npu_module_mem.csv.
    pub application: Option<&'a ComponentReport>,
}

/// Sorts what a report says of memory outside the framework; `None` where it says nothing.
pub fn outside_rows(components: Option<&[ComponentReport]>) -> Option<OutsideRows<'_>> {
    const TOTAL: &str = "total";
    let all = components?;
    let named = |name: &str| all.iter().rfind(|component| component.component == name);
    let total = named(TOTAL);
    let is_component = |component: &&ComponentReport| component.component != TOTAL && is_outside(&component.component) && component.reserved_bytes > 0;
    let rows = OutsideRows { total, components: all.iter().filter(is_component).collect(), application: named(PROCESS) };
    Some(rows).filter(|rows| rows.total.is_some() || rows.application.is_some() || !rows.components.is_empty())
}

/// How a capture was made: what its files say of it, in the report's order.
pub fn setup_facts(setup: &Setup) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut say = |name: &str, value: Option<String>| facts.extend(value.filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value)));
    let switch = |value: Option<bool>| value.map(|on| if on { "True" } else { "False" }.to_owned());
    say("profiler_level", setup.profiler_level.clone());
    say("activities", Some(setup.activities.join(", ")));
    say("profile_memory", switch(setup.profile_memory));
    say("with_stack", switch(setup.with_stack));
    say("with_modules", switch(setup.with_modules));
    say("with_flops", switch(setup.with_flops));
    say("record_shapes", switch(setup.record_shapes));
    say("schedule", setup.schedule.as_ref().map(schedule));
    say("export_type", Some(setup.export_type.join(", ")));
    let own = setup.environment.iter().chain(&setup.distributed);
    facts.extend(own.map(|setting| (setting.name.clone(), setting.value.clone())));
    facts
}

fn schedule(schedule: &Schedule) -> String {
    let steps =
        [("skip_first", schedule.skip_first), ("wait", schedule.wait), ("warmup", schedule.warmup), ("active", schedule.active), ("repeat", schedule.repeat)];
    steps.iter().filter_map(|(name, count)| Some(format!("{name}={}", (*count)?))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ascend::profiler_info::Setting;

    #[test]
    fn what_the_files_do_not_say_is_not_listed() {
        let environment = vec![Setting { name: "A".to_owned(), value: "b".to_owned() }];
        let schedule = Some(Schedule { warmup: Some(2), ..Schedule::default() });
        let facts = setup_facts(&Setup { with_stack: Some(false), schedule, environment, ..Setup::default() });
        let facts: Vec<_> = facts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(facts, [("with_stack", "False"), ("schedule", "warmup=2"), ("A", "b")]);
    }

    #[test]
    fn the_application_is_no_component_and_nothing_is_told_of_those_that_hold_nothing() {
        let component = |name: &str, reserved_bytes| ComponentReport { component: name.to_owned(), time_ns: "1".to_owned(), reserved_bytes };
        let all = [component("APP", 100), component("GE", 20), component("HCCL", 30), component("SLOG", 0), component("total", 40)];
        let rows = outside_rows(Some(&all)).unwrap();
        assert_eq!((rows.total.unwrap().reserved_bytes, rows.application.unwrap().reserved_bytes), (40, 100));
        assert_eq!(rows.components.iter().map(|component| component.component.as_str()).collect::<Vec<_>>(), ["HCCL"]);
        assert!(outside_rows(Some(&all[3..4])).is_none() && outside_rows(None).is_none());
    }

    #[test]
    fn guesses_are_told_apart() {
        let counts = StackCounts { own: 3, forward: 1, none: 1, ..StackCounts::default() };
        assert_eq!(stacks_found(&counts), "call stacks for 4 of 5 blocks");
        assert!(stacks_found(&StackCounts { nearest: 2, ..counts }).starts_with("call stacks for 4 of 7 blocks, and a guess for 2 more"));
    }

    #[test]
    fn instants_that_are_none_do_no_harm() {
        assert_eq!(since(0, "-9223372036854775808"), human_ns(i64::MIN));
        assert_eq!(since(i64::MAX, "-9223372036854775808"), human_ns(i64::MIN));
    }
}
