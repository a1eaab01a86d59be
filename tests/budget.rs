//! With less memory than a capture needs small blocks are folded and names dropped, each said; every figure stays exact.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use oomscope::ascend::budget::Budget;
use oomscope::ascend::capture::{Capture, CaptureReader, ScannedCapture};
use oomscope::ascend::discover::discover;
use oomscope::export::json::json;
use oomscope::oom::report::{AscendReport, CaptureReport, ascend_report, report};
use oomscope::session::{Held, Include, Kept, read, write};
use proptest::prelude::*;
use serde_json::Value;
use support::oomscope;

const HEADER: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(KB),Allocation Total Reserved(KB),Allocation Total Active(KB),Release Total Allocated(KB),Release Total Reserved(KB),Release Total Active(KB),Stream Ptr,Device Type\n";
const PATH: &str = "run/actor/x_ascend_pt/operator_memory.csv";
const BASELINE_BYTES: i64 = 10 << 20;

/// A block: name, size in half KB, start and lifetime in ns; no lifetime: it is not released.
type Row = (u8, i64, i64, Option<i64>);

/// A table in which every figure is exact. What is reserved follows the blocks in steps of 64 KiB, and never shrinks.
fn table(rows: &[Row], devices: u8) -> String {
    let mut events: Vec<(i64, bool, usize)> = Vec::new();
    for (row, &(_, _, start, life)) in rows.iter().enumerate().filter(|(_, row)| row.3 != Some(0)) {
        events.push((start, true, row));
        events.extend(life.map(|life| (start + life, false, row)));
    }
    events.sort_unstable();
    let mut totals = vec![[(0, 0); 2]; rows.len()];
    let mut pools = vec![(BASELINE_BYTES, BASELINE_BYTES); usize::from(devices)];
    for (_, comes, row) in events {
        let (allocated, reserved) = &mut pools[row % usize::from(devices)];
        *allocated += if comes { rows[row].1 * 512 } else { -rows[row].1 * 512 };
        *reserved = (*reserved).max((*allocated + (1 << 16)) & !0xffff);
        totals[row][usize::from(comes)] = (*allocated, *reserved);
    }
    let kb = |bytes: i64| format!("{}.{}", bytes / 1024, if bytes % 1024 == 0 { "00000000" } else { "50000000" });
    let us = |ns: i64| format!("{}.{:03}", ns / 1000, ns % 1000);
    let line = |(row, &(name, size, start, life)): (usize, &Row)| {
        let [(freed, freed_reserved), (taken, taken_reserved)] = totals[row];
        let (freed, freed_reserved) = if life.is_some_and(|life| life > 0) { (kb(freed), kb(freed_reserved)) } else { Default::default() };
        let (taken, taken_reserved) = if life == Some(0) { Default::default() } else { (kb(taken), kb(taken_reserved)) };
        let name = if name == 0 { String::new() } else { format!("aten::op{name}") };
        let end = life.map(|life| us(start + life)).unwrap_or_default();
        format!(
            "{name},{},{},{end},{taken},{taken_reserved},{taken},{freed},{freed_reserved},{freed},{},NPU:{}\n",
            kb(size * 512),
            us(start),
            row % 3,
            row % usize::from(devices)
        )
    };
    HEADER.to_owned() + &rows.iter().enumerate().map(line).collect::<String>()
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

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let row =
        (0u8..6, prop_oneof![1i64..6, 1i64..4000], 0i64..3000, prop_oneof![Just(None), Just(Some(0)), (1i64..400).prop_map(Some), (1i64..400).prop_map(Some)]);
    prop::collection::vec(row, 300..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn what_is_folded_changes_no_figure(rows in rows(3000), sorted in any::<bool>(), budget in 10_000u64..600_000, devices in 1u8..3, piece in 1usize..5000) {
        let mut rows = rows;
        if sorted {
            rows.sort_by_key(|row| row.2);
        }
        let text = table(&rows, devices);
        let folded = scanned(&text, Some(budget), text.len());
        prop_assert_eq!(&folded, &scanned(&text, Some(budget), piece), "the cuts of the file change something");
        let (all, folded) = (told(&scanned(&text, None, text.len()).build()), told(&folded.build()));
        prop_assert!(!codes(&all).contains(&"baseline-rise"), "{:?}", codes(&all));
        if !codes(&folded).contains(&"memory-full") {
            prop_assert_eq!(figures(&folded), figures(&all));
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

fn many() -> String {
    let rows: Vec<Row> = (0..4000).map(|at| ((at % 5) as u8, 1 + at * 7919 % 900, at * 10, Some(15 + at * 31 % 900).filter(|_| at % 50 != 0))).collect();
    table(&rows, 1)
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
