//! With less memory than a capture needs small blocks are folded and names dropped, each said; every figure stays exact.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use oomscope::ascend::budget::Budget;
use oomscope::ascend::capture::{Capture, CaptureReader, ScannedCapture};
use oomscope::ascend::discover::discover;
use oomscope::export::json::json;
use oomscope::oom::report::{AscendReport, CaptureReport, ascend_report, report};
use oomscope::session::{Held, Include, Kept, read, write};
use oomscope::timeline::replay::Curves;
use proptest::prelude::*;
use serde_json::Value;
use support::oomscope;

const HEADER: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(KB),Allocation Total Reserved(KB),Allocation Total Active(KB),Release Total Allocated(KB),Release Total Reserved(KB),Release Total Active(KB),Stream Ptr,Device Type\n";
const PATH: &str = "run/actor/x_ascend_pt/operator_memory.csv";
const BASELINE_BYTES: i64 = 10 << 20;

/// A block: name, size in half KB, start and lifetime in ns; no lifetime: it is not released.
type Row = (u8, i64, i64, Option<i64>);
/// Rows of the graph engine's pool.
const GE: u8 = 6;
/// A release in that pool of memory from before the capture; its instant is the start.
const GE_FREED: u8 = 7;

/// What is true, and what is reported, for a time.
#[derive(Debug, Clone, Default)]
struct Stretch {
    /// How long, in ns.
    length: i64,
    /// Added to the baseline, in half KB.
    baseline: i64,
    /// Held beyond what is allocated in bytes: reserved, active.
    held: [i64; 2],
    /// Whether no total is reported: allocated, reserved, active.
    hides: [bool; 3],
}

/// A table in which every figure is exact, but where `is_coarse`: totals in whole KB then.
#[derive(Debug, Clone, Default)]
struct Story {
    rows: Vec<Row>,
    devices: usize,
    /// One after another from 0 on; later the baseline is what it was, and what is reserved follows the blocks in steps of 64 KiB.
    stretches: Vec<Stretch>,
    is_coarse: bool,
}

impl Story {
    fn stretch_at(&self, time_ns: i64) -> Option<&Stretch> {
        let mut end = 0;
        self.stretches.iter().find(|stretch| {
            end += stretch.length;
            time_ns < end
        })
    }

    /// Whether a row is of the graph engine's pool, and its device.
    fn pool(&self, row: usize) -> (bool, usize) {
        (self.rows[row].0 >= GE, row % self.devices)
    }

    fn kb(&self, half_kb: i64) -> String {
        format!("{}.{}", half_kb / 2, if half_kb % 2 == 0 { "00000000" } else { "50000000" })
    }

    /// Three cells: allocated, reserved, active, with so many bytes of blocks alive.
    fn totals(&self, time_ns: i64, tracked: i64) -> String {
        let otherwise = Stretch::default();
        let stretch = self.stretch_at(time_ns);
        let allocated = (BASELINE_BYTES / 512 + tracked + stretch.map_or(0, |stretch| stretch.baseline)).max(0);
        let reserved = stretch.map_or(((allocated * 512 + (1 << 16)) & !0xffff) / 512, |stretch| allocated + stretch.held[0] / 512);
        let active = allocated + stretch.map_or(0, |stretch| stretch.held[1] / 512);
        let Stretch { hides, .. } = stretch.unwrap_or(&otherwise);
        let cell = |half_kb: i64, hidden: bool| match (hidden, self.is_coarse) {
            (true, _) => String::new(),
            (false, true) => (half_kb / 2).to_string(),
            (false, false) => self.kb(half_kb),
        };
        [(allocated, hides[0]), (reserved, hides[1]), (active, hides[2])].map(|(half_kb, hidden)| cell(half_kb, hidden)).join(",")
    }

    fn table(&self) -> String {
        let mut events: Vec<(i64, bool, usize)> = Vec::new();
        for (row, &(name, _, start, life)) in self.rows.iter().enumerate().filter(|(_, row)| row.3 != Some(0)) {
            events.push((start, name != GE_FREED, row));
            events.extend(life.filter(|_| name != GE_FREED).map(|life| (start + life, false, row)));
        }
        events.sort_unstable_by_key(|&(time, comes, row)| (time, self.rows[row].0 != GE_FREED, comes, row));
        let mut totals = vec![[const { String::new() }; 2]; self.rows.len()];
        let mut pools = std::collections::BTreeMap::new();
        for (time, comes, row) in events {
            let size = self.rows[row].1;
            let tracked = pools.entry(self.pool(row)).or_insert(0);
            *tracked += if comes { size } else { -size };
            // The graph engine's total at a release has the block still in it.
            let still = if !comes && self.pool(row).0 { size } else { 0 };
            totals[row][usize::from(comes)] = self.totals(time, *tracked + still);
        }
        let us = |ns: i64| format!("{}.{:03}", ns / 1000, ns % 1000);
        let none = || ",,".to_owned();
        let line = |(row, &(name, size, start, life)): (usize, &Row)| {
            let [freed, taken] = totals[row].clone().map(|cells| if cells.is_empty() { none() } else { cells });
            let end = life.map(|life| us(start + life)).unwrap_or_default();
            let place = format!("{},NPU:{}\n", row % 3, row % self.devices);
            match name {
                GE_FREED => format!("cann::freed,-{},,{},{},{freed},{place}", self.kb(size), us(start), none()),
                GE => format!("cann::op,{},{},{end},{taken},{freed},{place}", self.kb(size), us(start)),
                0 => format!(",{},{},{end},{taken},{freed},{place}", self.kb(size), us(start)),
                _ => format!("aten::op{name},{},{},{end},{taken},{freed},{place}", self.kb(size), us(start)),
            }
        };
        HEADER.to_owned() + &self.rows.iter().enumerate().map(line).collect::<String>()
    }
}

/// Reads a table in pieces.
fn scanned(text: &str, budget: Option<u64>, piece: usize) -> ScannedCapture {
    let mut reader = CaptureReader::new(&discover(&[PATH])[0]);
    if let Some(bytes) = budget {
        reader.within(Budget { bytes });
    }
    reader.operator_memory.begin(PATH);
    text.as_bytes().chunks(piece).for_each(|piece| reader.operator_memory.feed(piece));
    reader.operator_memory.end();
    reader.finish()
}

fn told(capture: &Capture) -> AscendReport {
    let CaptureReport::Ascend(report) = ascend_report(capture, usize::MAX) else { panic!("another kind") };
    *report
}

fn codes(report: &AscendReport) -> Vec<&str> {
    report.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

/// What must be equal whatever was folded.
fn figures(report: &AscendReport) -> Value {
    let mut value = serde_json::to_value(&report.devices).unwrap();
    for device in value.as_array_mut().unwrap() {
        for lists in [&["peak", "by_operator"][..], &["peak", "by_stream"], &["peak", "by_size_class"], &["alive_at_end", "by_operator"], &["top_by_bytes"]] {
            let list = lists.iter().fold(&mut *device, |value, key| &mut value[*key]);
            let sum = |key: &str| list.as_array().unwrap().iter().map(|group| group[key].as_i64().unwrap()).sum::<i64>();
            *list = Value::from(vec![sum("bytes"), sum("blocks")]);
        }
        device.as_object_mut().unwrap().remove("folded");
    }
    value
}

/// What the page shows of the curves: where memory is held beyond what is allocated, most of all.
fn gaps(capture: &Capture) -> Vec<[Option<(i64, i64)>; 2]> {
    let devices = capture.devices.iter().map(|device| &device.replay.curves);
    let largest = |curves: &Curves, gap: &dyn Fn(usize) -> i64| curves.largest(gap).map(|at| (curves.time_ns[at], gap(at)));
    devices.map(|curves| [largest(curves, &|at| curves.reserved_gap_bytes(at)), largest(curves, &|at| curves.active_gap_bytes(at))]).collect()
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let life = prop_oneof![Just(None), Just(Some(0)), (1i64..400).prop_map(Some), (1i64..400).prop_map(Some)];
    let row = move |names: std::ops::Range<u8>| (names, prop_oneof![1i64..6, 1i64..4000], 0i64..3000, life.clone());
    // Of the framework's pool alone, of both, of the graph engine's almost alone.
    let pools = prop_oneof![Just(0u8..GE), Just(0..GE + 2), Just(GE - 1..GE + 2)];
    pools.prop_flat_map(move |names| prop::collection::vec(row(names), 300..most))
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let held = || prop_oneof![Just(0i64), 0i64..1 << 20, 0i64..64 << 20];
    let baseline = prop_oneof![Just(0i64), -200i64..200, 0i64..40_000];
    let stretch = (prop_oneof![1i64..30, 1i64..1500], baseline, [held(), held()], any::<[bool; 3]>());
    let stretch = stretch.prop_map(|(length, baseline, held, hides)| Stretch { length, baseline, held, hides });
    prop::collection::vec(stretch, 0..12)
}

/// Rows in any order, by start, or by start with the small ones first, so that there are long times of small ones alone.
fn stories(most: usize) -> impl Strategy<Value = Story> {
    (rows(most), 0u8..3, 1usize..3, stretches(), any::<bool>()).prop_map(|(mut rows, order, devices, stretches, is_coarse)| {
        if order > 0 {
            rows.sort_by_key(|row| row.2);
        }
        if order > 1 {
            let mut sizes: Vec<i64> = rows.iter().map(|row| row.1).collect();
            sizes.sort_unstable();
            rows.iter_mut().zip(sizes).for_each(|(row, size)| row.1 = size);
        }
        Story { rows, devices, stretches, is_coarse }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn what_is_folded_changes_no_figure(story in stories(2000), budget in 10_000u64..600_000, piece in 1usize..5000) {
        let text = story.table();
        let folded = scanned(&text, Some(budget), text.len());
        prop_assert_eq!(&folded, &scanned(&text, Some(budget), piece), "the cuts of the file change something");
        let (all, folded) = (scanned(&text, None, text.len()).build(), folded.build());
        let gaps = [&folded, &all].map(gaps);
        let (all, folded) = (told(&all), told(&folded));
        prop_assert_eq!(all.rows.set_aside, 0);
        if !codes(&folded).contains(&"memory-full") {
            prop_assert_eq!(figures(&folded), figures(&all));
            prop_assert_eq!(&gaps[0], &gaps[1]);
        }
        prop_assert_eq!(codes(&folded).contains(&"blocks-folded"), folded.devices.iter().any(|device| device.folded.is_some()));
        for device in folded.devices.iter().filter(|device| device.folded.is_some()) {
            let small = device.folded.clone().unwrap();
            let peak = &device.peak;
            prop_assert_eq!(peak.by_operator.iter().find(|group| group.name.ends_with("folded)")).map_or((0, 0), |group| (group.bytes, group.blocks)), (small.peak_bytes, small.peak_blocks));
            prop_assert!(peak.by_size_class.iter().all(|class| class.up_to_bytes >= small.up_to_bytes));
        }
    }
}

/// A baseline as it is reported throughout has no rises.
#[test]
fn a_story_is_told_as_it_is() {
    let text = many();
    let report = told(&scanned(&text, None, text.len()).build());
    assert_eq!((report.devices[0].baseline.first_bytes, report.devices[0].baseline.drops.len()), (BASELINE_BYTES, 0));
    assert!(!codes(&report).contains(&"baseline-rise"), "{:?}", codes(&report));
}

fn many() -> String {
    let rows: Vec<Row> = (0..4000).map(|at| ((at % 5) as u8, 1 + at * 7919 % 900, at * 10, Some(15 + at * 31 % 900).filter(|_| at % 50 != 0))).collect();
    Story { rows, devices: 1, ..Story::default() }.table()
}

#[test]
fn names_beyond_their_room_are_dropped_and_counted() {
    let rows: String = (0..2000).map(|at| format!("kernel_{at},1.0,{at},,{}.0,,,,,,6,NPU:0\n", at + 1)).collect();
    let report = told(&scanned(&format!("{HEADER}{rows}{rows}"), Some(3 << 20), 1 << 20).build());
    let dropped = report.devices[0].top_by_bytes.iter().find(|row| row.name == "(name dropped)").unwrap();
    let warning = report.warnings.iter().find(|warning| warning.code == "names-dropped").unwrap();
    assert!(warning.message.contains(&format!("{} rows lost", dropped.blocks)), "{}", warning.message);
    assert_eq!(report.devices[0].top_by_bytes.iter().map(|row| row.blocks).sum::<u64>(), 4000);
    assert!(dropped.blocks % 2 == 0 && dropped.blocks > 100, "a name that was known stays known");
}

#[test]
fn without_room_for_anything_reading_ends_with_a_word() {
    let text = many();
    let report = told(&scanned(&text, Some(1000), 1 << 20).build());
    let full: Vec<_> = report.warnings.iter().filter(|warning| warning.code == "memory-full").collect();
    assert_eq!((full.len(), full[0].line.is_some(), report.rows.set_aside), (1, true, 0));
    assert!(report.rows.read < 4000 && report.devices[0].blocks == report.rows.read);
}

#[test]
fn a_folded_capture_is_saved_as_it_is() {
    let capture = scanned(&many(), Some(300_000), 1 << 20).build();
    let packed = write(&[Held::Ascend(&capture)], &[], Include { stacks: true, folders: true }).unwrap();
    let Kept::Ascend(again) = read(&packed).unwrap().captures.remove(0) else { panic!("another kind") };
    assert!(capture.devices[0].blocks.folded.is_some());
    for (again, device) in again.devices.iter().zip(&capture.devices) {
        assert_eq!((&again.blocks, &again.replay), (&device.blocks, &device.replay));
    }
    let reports = [&capture, &again].map(|capture| json(&report([ascend_report(capture, 25)], &[], 25)));
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn the_command_line_keeps_to_its_limit() {
    let folder = std::env::temp_dir().join(format!("oomscope-budget-{}", std::process::id()));
    let capture = folder.join("x_ascend_pt");
    std::fs::create_dir_all(&capture).unwrap();
    std::fs::write(capture.join("operator_memory.csv"), many()).unwrap();
    let run = |more: &[&str]| {
        let output = oomscope(&[&[capture.to_str().unwrap(), "--format", "json"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let (all, folded) = (run(&[]), run(&["--memory", "300kB"]));
    std::fs::remove_dir_all(&folder).unwrap();
    let peak = |report: &Value| report["captures"][0]["devices"][0]["peak"].clone();
    for key in ["time_ns", "total_bytes", "tracked_bytes", "baseline_bytes", "reserved_bytes", "live_blocks"] {
        assert_eq!(peak(&folded)[key], peak(&all)[key], "{key}");
    }
    let small = &folded["captures"][0]["devices"][0]["folded"];
    assert!(small["blocks"].as_u64().unwrap() > 1000 && all["captures"][0]["devices"][0].get("folded").is_none());
    let warning = folded["captures"][0]["warnings"].as_array().unwrap().iter().find(|warning| warning["code"] == "blocks-folded").unwrap();
    assert_eq!((&warning["args"]["blocks"], &warning["args"]["peak_bytes"]), (&small["blocks"], &small["peak_bytes"]));
    assert!(warning["message"].as_str().unwrap().contains("--memory"));
}

#[test]
fn a_jax_capture_whose_events_have_no_room_keeps_its_plans() {
    let file = support::fixture("xplane_attention_oom/attention_oom.xplane.pb");
    let run = |more: &[&str]| {
        let output = oomscope(&[&[file.to_str().unwrap(), "--format", "json"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["captures"][0].take()
    };
    let (all, bare) = (run(&[]), run(&["--memory", "1kB"]));
    let needed = |capture: &Value| capture["modules"].as_array().unwrap().iter().map(|module| module["needed_bytes"].clone()).collect::<Vec<_>>();
    let has_code = |capture: &Value, code: &str| capture["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == code);
    assert_eq!(needed(&bare), needed(&all));
    assert!(!all["allocators"].as_array().unwrap().is_empty() && bare["allocators"].as_array().unwrap().is_empty());
    assert!(has_code(&bare, "events-too-many") && !has_code(&bare, "no-allocator-events") && !has_code(&all, "events-too-many"));
    assert_eq!(run(&["--memory", "1GiB"]), all);
}
