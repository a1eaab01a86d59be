//! No cut of a capture panics, and where a file is split between two reads changes nothing.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use oomscope::ascend::capture::{CaptureReader, ScannedCapture};
use oomscope::ascend::discover::discover;
use oomscope::oom::report::{ascend_report, report};
use support::{capture, files, fixture};

/// Every byte of files up to this size is tried.
const EVERY_BYTE_UP_TO: usize = 64 << 10;
/// Of larger ones, so many places.
const PLACES: usize = 1_000;

fn scan(files: &[(String, Vec<u8>)], table: &str, cut: usize, split: usize) -> ScannedCapture {
    let names: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    let found = discover(&names).into_iter().find(|found| found.operator_memory.iter().any(|&index| names[index] == table)).unwrap();
    let mut reader = CaptureReader::new(&found);
    if let Some(index) = found.profiler_info {
        reader.profiler_info(names[index], &files[index].1);
    }
    if let Some(index) = found.profiler_metadata {
        reader.profiler_metadata(names[index], &files[index].1);
    }
    for &index in &found.operator_memory {
        let bytes = &files[index].1[..cut.min(files[index].1.len())];
        let (before, after) = bytes.split_at(split.min(bytes.len()));
        reader.operator_memory.begin(names[index]);
        reader.operator_memory.feed(before);
        reader.operator_memory.feed(after);
        reader.operator_memory.end();
    }
    reader.finish()
}

fn try_all(folder: &std::path::Path) {
    let files = files(folder);
    let tables: Vec<&(String, Vec<u8>)> = files.iter().filter(|(name, _)| name.contains("operator_memory")).collect();
    assert!(!tables.is_empty(), "{}", folder.display());
    for (name, bytes) in tables {
        let whole = scan(&files, name, bytes.len(), bytes.len());
        let step = if bytes.len() <= EVERY_BYTE_UP_TO { 1 } else { bytes.len() / PLACES };
        for place in (0..bytes.len()).step_by(step) {
            let cut = scan(&files, name, place, place);
            assert!(cut.facts.rows_read <= whole.facts.rows_read);
            // A report on what is left is all that matters; that it comes at all is the test.
            let cut = cut.build();
            assert_eq!(report([ascend_report(&cut, 25)], &[], 25).captures.len(), 1);
            assert_eq!(scan(&files, name, bytes.len(), place), whole, "{name} split at {place}");
        }
    }
}

#[test]
fn the_sample() {
    try_all(&fixture("ascend_sample"));
}

#[test]
fn every_format() {
    try_all(&fixture("ascend_formats"));
}

#[test]
fn real_captures() {
    for name in ["level0", "rl_insight_sample", "spreadsheet_damaged", "st_level2"] {
        let Some(path) = capture(&format!("ascend/{name}")) else { return };
        try_all(&path);
    }
}
