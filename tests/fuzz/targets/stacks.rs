//! A table and its trace, with `\n==\n` between them: every block is given one reason, and the report stands.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope::ascend::trace_view::TraceReader;
use oomscope_fuzz::{scanned, told};

const BETWEEN: &[u8] = b"\n==\n";

fuzz_target!(|both: &[u8]| {
    let Some(at) = both.windows(BETWEEN.len()).position(|window| window == BETWEEN) else { return };
    let mut reader = TraceReader::new("trace_view.json");
    reader.feed(&both[at + BETWEEN.len()..]);
    told(scanned(&[&both[..at]]), Some(reader.finish()));
});
