//! An HloProto becomes a plan whose heap peak is the sum of what lives at it, or a sentence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope::xplane::plan::Plan;

fuzz_target!(|proto: &[u8]| {
    if let Ok(plan) = Plan::read("jit_fuzz", Some(1), proto) {
        let _ = (plan.needed_bytes(), plan.heap_peak_bytes(), plan.bare_name());
    }
});
