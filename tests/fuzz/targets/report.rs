//! A report read back: what is taken of it is written again as it was; packed or not, nothing stops the reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope::export::{json::json, text::text};
use oomscope::oom::read::{read, read_packed};
use oomscope::oom::report::report;
use serde_json::Value;

const TOP: usize = 5;

/// The captures of a report, as it is written.
fn captures(told: &str) -> Value {
    let mut told: Value = serde_json::from_str(told).unwrap_or_default();
    told["captures"].take()
}

fuzz_target!(|file: &[u8]| {
    let _ = read_packed("report.json.gz", file);
    let told = json(&report([], &[read("report.json", file)], TOP));
    let again = report([], &[read("report.json", told.as_bytes())], TOP);
    assert!(captures(&json(&again)) == captures(&told), "a report of a report is another");
    let _ = text(&again);
});
