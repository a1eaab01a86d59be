//! operator_memory.csv: any cuts read as one piece, and any file gives a report.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope_fuzz::{pieces, scanned, told};

fuzz_target!(|table: &[u8]| {
    let whole = scanned(&[table]);
    assert!(whole == scanned(&pieces(table)), "cuts show");
    told(whole, None);
});
