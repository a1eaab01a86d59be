//! Two captures at their peaks: which operators and call stacks are new, which are gone, and what changed of the common ones.

use super::report::{AscendReport, CaptureReport, DeviceReport, Report, folded_at};
use crate::ascend::capture::Device;
use crate::ascend::trace_view::NONE;
use crate::timeline::blocks::operator_label;
use crate::timeline::difference::{Change, groups_by, of_groups};
use crate::timeline::live::{self, Group};
use serde::Serialize;
use std::collections::BTreeMap;

/// Capture B against capture A.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null, hashmap_as_object))]
#[allow(missing_docs)] // The names are those of the schema.
pub struct Difference {
    pub a: Side,
    pub b: Side,
    /// By pool; of the devices with that pool the first of A against the first of B, and so on.
    pub devices: Vec<DeviceDifference>,
}

/// A capture that is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct Side {
    /// Its place in the report's `captures`.
    pub capture: u32,
    pub source: String,
    pub role: Option<String>,
    pub rank: Option<i64>,
}

/// One pool of a device, at the peak of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct DeviceDifference {
    pub pool: String,
    /// `null`: A has no such device; its figures are 0.
    pub a_device: Option<String>,
    /// `null`: B has no such device; its figures are 0.
    pub b_device: Option<String>,
    pub total_bytes: Figure,
    pub baseline_bytes: Figure,
    /// Complete; the largest difference first, then name.
    pub by_operator: Vec<OperatorChange>,
    /// Complete; the largest difference first, then frames; `null` where either has no trace.
    pub by_stack: Option<Vec<StackChange>>,
}

/// One figure of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct Figure {
    pub a: i64,
    pub b: i64,
    pub difference: i64,
}

/// The blocks of one operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct OperatorChange {
    pub name: String,
    #[serde(flatten)]
    pub counts: ChangeCounts,
}

/// The blocks of one call stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct StackChange {
    /// Outermost frame first; none for blocks without a stack.
    pub stack: Vec<String>,
    #[serde(flatten)]
    pub counts: ChangeCounts,
}

/// Blocks at both peaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct ChangeCounts {
    #[cfg_attr(target_arch = "wasm32", tsify(type = "'new' | 'gone' | 'common'"))]
    pub change: &'static str,
    pub a_bytes: i64,
    pub b_bytes: i64,
    pub difference_bytes: i64,
    pub a_blocks: u64,
    pub b_blocks: u64,
    pub difference_blocks: i64,
}

/// Finds the one Ascend capture of a report that is meant by its path, the end of its path, `ROLE:RANK`, or the file of its report; the
/// error says which there are.
pub fn find(report: &Report, name: &str) -> Result<usize, String> {
    let ends = |path: &str| path == name || path.strip_suffix(name).is_some_and(|before| before.ends_with('/'));
    let all = || report.captures.iter().enumerate().filter_map(|(place, capture)| Some((place, ascend(capture)?)));
    let matches = |place: usize, capture: &AscendReport| -> [bool; 4] {
        let whole = capture.source == name;
        let label = name.rsplit_once(':').is_some_and(|(role, rank)| capture.role.as_deref().unwrap_or_default() == role && rank.parse().ok() == capture.rank);
        [whole, ends(&capture.source), label, report.files[place].as_deref().is_some_and(ends)]
    };
    // The most exact way that finds any decides.
    for way in 0..4 {
        let found: Vec<usize> = all().filter(|&(place, capture)| matches(place, capture)[way]).map(|(place, _)| place).collect();
        match found[..] {
            [] => {}
            [place] => return Ok(place),
            _ => return Err(format!("{name} is more than one capture: {}", names(report, &found))),
        }
    }
    let there: Vec<usize> = all().map(|(place, _)| place).collect();
    let others = report.captures.len() - there.len();
    if there.is_empty() && others > 0 {
        return Err(format!("{name}: only Ascend captures can be compared so, and there is none, but {others} of JAX"));
    }
    Err(format!("{name} is none of the captures; there are: {}", names(report, &there)))
}

fn names(report: &Report, places: &[usize]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = places.iter().take(SHOWN).map(|&place| name_of(report, place)).collect();
    if places.len() > SHOWN {
        shown.push(format!("{} more", places.len() - SHOWN));
    }
    shown.join(", ")
}

fn name_of(report: &Report, place: usize) -> String {
    let source = report.captures[place].source();
    report.files[place].as_ref().map_or_else(|| source.to_owned(), |file| format!("{source} (of {file})"))
}

/// Two captures of a report, by their places in it; `None` where either is no Ascend capture.
pub fn difference(report: &Report, a: usize, b: usize) -> Option<Difference> {
    let side = |place: usize| ascend(report.captures.get(place)?);
    Some(between((a, side(a)?), (b, side(b)?)))
}

fn ascend(capture: &CaptureReport) -> Option<&AscendReport> {
    match capture {
        CaptureReport::Ascend(capture) => Some(capture),
        CaptureReport::Xplane(_) => None,
    }
}

/// One pool of a capture at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The pool.
    pub device: &'a Device,
    /// The instant.
    pub time_ns: i64,
}

/// Two instants of different captures by operator and call stack (none without a trace, or without a stack), the largest difference first.
pub fn moments(a: Moment, b: Moment) -> Vec<Change<(String, Vec<String>)>> {
    of_groups(a.groups(), b.groups())
}

impl Moment<'_> {
    fn groups(&self) -> Vec<Group<(String, Vec<String>)>> {
        let blocks = &self.device.blocks;
        let live = live::at(blocks, self.time_ns);
        // By number first: comparing texts block by block would be slow.
        let stack_of = |block: usize| self.device.stacks.as_ref().map_or(NONE, |stacks| stacks.of_block[block]);
        let by_number = groups_by(blocks, &live, |block| (blocks.name[block], stack_of(block)));
        let frames = |stack: u32| self.device.stacks.as_ref().map_or(Vec::new(), |stacks| stacks.frames(stack));
        let label = |name: u32| operator_label(&blocks.names[name as usize]).to_owned();
        let folded = self.device.replay.curves.entry_at(self.time_ns).and_then(|entry| folded_at(self.device, entry));
        let folded = folded.map(|group| group.renamed(|label| (label, Vec::new())));
        by_number.into_iter().map(|group| group.renamed(|(name, stack)| (label(name), frames(stack)))).chain(folded).collect()
    }
}

/// Two captures and their places in the report.
pub fn between(a: (usize, &AscendReport), b: (usize, &AscendReport)) -> Difference {
    let side = |(place, capture): (usize, &AscendReport)| Side {
        capture: place as u32,
        source: capture.source.clone(),
        role: capture.role.clone(),
        rank: capture.rank,
    };
    let mut pools: BTreeMap<std::cmp::Reverse<&str>, [Vec<&DeviceReport>; 2]> = BTreeMap::new();
    for (of, (_, capture)) in [a, b].into_iter().enumerate() {
        for device in &capture.devices {
            pools.entry(std::cmp::Reverse(&device.pool)).or_default()[of].push(device);
        }
    }
    let devices = pools.into_iter().flat_map(|(std::cmp::Reverse(pool), [of_a, of_b])| {
        let pairs = (0..of_a.len().max(of_b.len())).map(move |nth| (of_a.get(nth).copied(), of_b.get(nth).copied()));
        pairs.map(move |(a, b)| devices(pool, a, b))
    });
    Difference { a: side(a), b: side(b), devices: devices.collect() }
}

fn devices(pool: &str, a: Option<&DeviceReport>, b: Option<&DeviceReport>) -> DeviceDifference {
    let figure = |of: fn(&DeviceReport) -> i64| {
        let (a, b) = (a.map_or(0, of), b.map_or(0, of));
        Figure { a, b, difference: b.saturating_sub(a) }
    };
    let operators = |device: Option<&DeviceReport>| -> Vec<Group<String>> {
        let groups = device.into_iter().flat_map(|device| &device.peak.by_operator);
        groups.map(|group| Group { key: group.name.clone(), bytes: group.bytes, blocks: group.blocks }).collect()
    };
    // A device that is not there has no stacks; one without a trace has unknown ones.
    let stacks = |device: Option<&DeviceReport>| -> Option<Vec<Group<Vec<String>>>> {
        let Some(device) = device else { return Some(Vec::new()) };
        Some(device.peak.by_stack.as_ref()?.iter().map(|group| Group { key: group.stack.clone(), bytes: group.bytes, blocks: group.blocks }).collect())
    };
    let by_stack = stacks(a).zip(stacks(b)).map(|(a, b)| of_groups(a, b));
    DeviceDifference {
        pool: pool.to_owned(),
        a_device: a.map(|device| device.device.clone()),
        b_device: b.map(|device| device.device.clone()),
        total_bytes: figure(|device| device.peak.total_bytes),
        baseline_bytes: figure(|device| device.peak.baseline_bytes),
        by_operator: of_groups(operators(a), operators(b)).into_iter().map(|change| OperatorChange { counts: counts(&change), name: change.key }).collect(),
        by_stack: by_stack.map(|all| all.into_iter().map(|change| StackChange { counts: counts(&change), stack: change.key }).collect()),
    }
}

fn counts<K>(change: &Change<K>) -> ChangeCounts {
    ChangeCounts {
        change: change.kind(),
        a_bytes: change.a_bytes,
        b_bytes: change.b_bytes,
        difference_bytes: change.difference_bytes(),
        a_blocks: change.a_blocks,
        b_blocks: change.b_blocks,
        difference_blocks: change.difference_blocks(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ascend::capture::{Capture, CaptureReader};
    use crate::ascend::discover::discover;
    use crate::oom::read::ReadReport;
    use crate::oom::report::{ascend_report, report};

    fn capture(source: &str, rank: i64, rows: &str) -> Capture {
        let path = format!("{source}/operator_memory.csv");
        let mut reader = CaptureReader::new(&discover(&[&path])[0]);
        reader.profiler_info("info", format!("{{\"rank_id\": {rank}}}").as_bytes());
        reader.operator_memory.begin(&path);
        let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB),Device Type\n";
        reader.operator_memory.feed(format!("{header}{rows}").as_bytes());
        reader.operator_memory.end();
        reader.finish().build()
    }

    fn two() -> (Capture, Capture) {
        let before = capture("run1/actor/x_ascend_pt", 0, "big,2048,1,9,2,0,NPU:0\nsame,1024,2,9,3,2,NPU:0\n");
        let after = capture("run2/actor/x_ascend_pt", 0, "small,512,1,9,0.5,0,NPU:1\nsame,1024,2,9,1.5,0.5,NPU:1\ncann::g,1,1,9,1,0,NPU:1\n");
        (before, after)
    }

    #[test]
    fn new_gone_and_common_operators_of_two_runs() {
        let (a, b) = two();
        let report = report([ascend_report(&a, 25), ascend_report(&b, 25)], &[], 25);
        let found = difference(&report, 0, 1).unwrap();
        let [pta, ge] = &found.devices[..] else { panic!("{found:?}") };
        let operators: Vec<_> = pta.by_operator.iter().map(|change| (change.name.as_str(), change.counts.change, change.counts.difference_bytes)).collect();
        assert_eq!(operators, [("big", "gone", -(2 << 20)), ("small", "new", 512 << 10), ("same", "common", 0)]);
        assert_eq!(pta.total_bytes, Figure { a: 3 << 20, b: 3 << 19, difference: -(3 << 19) });
        assert_eq!((pta.a_device.as_deref(), pta.b_device.as_deref(), &pta.by_stack), (Some("NPU:0"), Some("NPU:1"), &None));
        assert_eq!((ge.pool.as_str(), &ge.a_device, ge.by_operator[0].counts.change), ("GE", &None, "new"));
    }

    #[test]
    fn two_instants_of_two_captures_by_operator_and_stack() {
        let (a, b) = two();
        let changes = moments(Moment { device: &a.devices[0], time_ns: 2_000 }, Moment { device: &b.devices[0], time_ns: 1_000 });
        let found: Vec<_> = changes.iter().map(|change| (change.key.0.as_str(), change.kind(), change.difference_blocks())).collect();
        assert_eq!(found, [("big", "gone", -1), ("same", "gone", -1), ("small", "new", 1)]);
    }

    #[test]
    fn captures_are_meant_by_path_by_rank_or_by_file() {
        let (a, b) = two();
        let other = capture("run2/actor/y_ascend_pt", 3, "x,1,1,2,1,0,NPU:0\n");
        let file = ReadReport { file: "job/after.json".to_owned(), captures: vec![ascend_report(&b, 25)], warnings: Vec::new() };
        let report = report([ascend_report(&a, 25), ascend_report(&other, 25)], &[file], 25);
        for (name, place) in [("run1/actor/x_ascend_pt", 0), ("y_ascend_pt", 2), ("run2/actor/x_ascend_pt", 1), ("actor:3", 2), ("after.json", 1)] {
            assert_eq!(find(&report, name), Ok(place), "{name}");
        }
        assert!(
            find(&report, "x_ascend_pt").unwrap_err().contains("more than one capture: run1/actor/x_ascend_pt, run2/actor/x_ascend_pt (of job/after.json)")
        );
        assert!(find(&report, "actor:0").unwrap_err().contains("more than one"));
        assert!(find(&report, "z").unwrap_err().starts_with("z is none of the captures; there are: run1/"));
    }
}
