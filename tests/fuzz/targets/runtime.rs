//! A whole .xplane.pb: any cuts read as one piece, groups sum to what was in use, and every format can be written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use oomscope::export::json::json;
use oomscope::oom::report::{CaptureReport, report};
use oomscope::oom::xplane_report::{Wanted, xplane_report};
use oomscope::xplane::capture::Capture;
use oomscope_fuzz::{pieces, write};

fn read(pieces: &[&[u8]]) -> CaptureReport {
    let capture = Capture::read("host.xplane.pb", |reader| {
        let mut at = 0;
        for piece in pieces {
            reader.feed(at, piece);
            at += piece.len() as u64;
        }
        Ok(())
    });
    xplane_report(&capture, &Wanted { top: 5, module: None, last_executions: None })
}

fuzz_target!(|file: &[u8]| {
    let whole = read(&[file]);
    let told = json(&report([whole.clone()], &[], 5));
    assert!(told == json(&report([read(&pieces(file))], &[], 5)), "cuts show");
    if let CaptureReport::Xplane(report) = &whole {
        for live in &report.live_at_last_start {
            assert_eq!(live.groups.iter().map(|group| i128::from(group.bytes)).sum::<i128>(), i128::from(live.used_bytes));
        }
    }
    write(whole);
});
