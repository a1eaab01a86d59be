//! A saved session: anything is refused with a word, or shown in every format; what was read is written and read as the same.
#![no_main]

use flate2::{Compression, write::GzEncoder};
use libfuzzer_sys::fuzz_target;
use oomscope::export::json::json;
use oomscope::oom::report::{CaptureReport, ascend_report, report};
use oomscope::oom::xplane_report::{Wanted, xplane_report};
use oomscope::session::page::session_of;
use oomscope::session::{Held, Include, Kept, Session, read, write};
use std::io::Write;

fn told(Session { captures, reports }: &Session) -> String {
    let captures = captures.iter().map(|capture| match capture {
        Kept::Ascend(capture) => ascend_report(capture, 5),
        Kept::Jax(capture) => xplane_report(capture, &Wanted { top: 5, module: None, last_executions: None }),
    });
    json(&report(captures.collect::<Vec<CaptureReport>>(), reports, 5))
}

fuzz_target!(|bytes: &[u8]| {
    let _ = session_of(bytes);
    // Packed here, so that the fuzzer works on what is inside.
    let mut packer = GzEncoder::new(Vec::new(), Compression::none());
    if packer.write_all(bytes).is_err() {
        return;
    }
    let Ok(session) = packer.finish().map_err(|error| error.to_string()).and_then(|packed| read(&packed)) else { return };
    let held: Vec<Held> = session
        .captures
        .iter()
        .map(|kept| match kept {
            Kept::Ascend(capture) => Held::Ascend(capture),
            Kept::Jax(capture) => Held::Jax(capture),
        })
        .collect();
    for folders in [true, false] {
        let written = write(&held, &session.reports, Include { stacks: true, folders }).unwrap_or_default();
        let again = read(&written);
        assert!(again.is_ok(), "{again:?}");
        if let (true, Ok(again)) = (folders, &again) {
            assert!(told(again) == told(&session), "a session of a session is another");
        }
    }
});
