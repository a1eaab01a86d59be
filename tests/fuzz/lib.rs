//! What the fuzz targets share: how a file is cut, how a capture is read, and what must hold of any report.

use oomscope::ascend::capture::{Capture, CaptureReader, Origins, ScannedCapture};
use oomscope::ascend::discover::CaptureFiles;
use oomscope::ascend::trace_view::Trace;
use oomscope::export::{json::json, markdown::markdown, text::text};
use oomscope::oom::report::{CaptureReport, ascend_report, report};

/// Enough for every list to have an end.
const TOP: usize = 5;

/// Pieces of a file, of sizes that its own bytes decide: so that the same input is always cut in the same places.
pub fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut state = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Short ones and long ones.
        let most = 1usize << (state >> 60);
        let (piece, then) = rest.split_at(((state >> 33) as usize % most + 1).min(rest.len()));
        pieces.push(piece);
        rest = then;
    }
    pieces
}

/// A table as it was read, from pieces.
pub fn scanned(table: &[&[u8]]) -> ScannedCapture {
    let mut reader = CaptureReader::new(&CaptureFiles { source: "fuzz".to_owned(), operator_memory: vec![0], ..CaptureFiles::default() });
    reader.operator_memory.begin("operator_memory.csv");
    for piece in table {
        reader.operator_memory.feed(piece);
    }
    reader.operator_memory.end();
    reader.finish()
}

/// Builds the capture, with what a trace says, and writes its report in every format.
pub fn told(scanned: ScannedCapture, trace: Option<Trace>) {
    let origins = trace.map(|trace| Origins::of(&scanned, trace));
    let mut capture: Capture = scanned.build();
    capture.attach(origins.unwrap_or_default());
    let blocks: usize = capture.devices.iter().map(|device| device.blocks.len()).sum();
    let report = ascend_report(&capture, TOP);
    if let CaptureReport::Ascend(told) = &report {
        for device in &told.devices {
            let peak = &device.peak;
            assert_eq!(i128::from(peak.baseline_bytes) + i128::from(peak.tracked_bytes), i128::from(peak.total_bytes), "baseline and blocks are the total");
            assert!(peak.live_blocks as usize <= blocks);
        }
    }
    write(report);
}

/// Writes a report in every format; JSON must be JSON.
pub fn write(capture: CaptureReport) {
    let report = report([capture], &[], TOP);
    assert!(serde_json::from_str::<serde_json::Value>(&json(&report)).is_ok());
    let _ = (text(&report), markdown(&report, TOP));
}
