//! A session that was written and read back gives the same report, to the byte; without stacks and folders it holds none.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use flate2::read::GzDecoder;
use oomscope::ascend::capture::{Capture, CaptureReader, Origins};
use oomscope::ascend::discover::discover;
use oomscope::ascend::trace_view::TraceReader;
use oomscope::export::json::json;
use oomscope::oom::read::{ReadReport, read as read_report};
use oomscope::oom::report::{CaptureReport, ascend_report, report};
use oomscope::oom::xplane_report::{Wanted, xplane_report};
use oomscope::session::{Held, Include, Kept, Session, page, read, write};
use oomscope::xplane::capture as xplane;
use std::io::Read;
use support::{files, fixture, folder, oomscope};

const ALL: Include = Include { stacks: true, folders: true };
const WANTED: Wanted = Wanted { top: 25, module: None, last_executions: None };

fn ascend(folder: &str) -> Vec<Capture> {
    let files = files(&fixture(folder));
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let read = |found: &_| {
        let mut reader = CaptureReader::new(found);
        for &index in &found.operator_memory {
            reader.operator_memory.begin(names[index]);
            reader.operator_memory.feed(&files[index].1);
            reader.operator_memory.end();
        }
        let scanned = reader.finish();
        let origins = found.trace.map(|index: usize| {
            let mut trace = TraceReader::new(names[index]);
            trace.feed(&files[index].1);
            Origins::of(&scanned, trace.finish())
        });
        let mut capture = scanned.build();
        if let Some(origins) = origins {
            capture.attach(origins);
        }
        capture
    };
    discover(&names).iter().map(read).collect()
}

fn jax(file: &str) -> xplane::Capture {
    let bytes = std::fs::read(fixture(file)).unwrap();
    xplane::Capture::read("run/host.xplane.pb", |reader| {
        reader.feed(0, &bytes);
        Ok(())
    })
}

struct Opened {
    ascend: Vec<Capture>,
    jax: Vec<xplane::Capture>,
    reports: Vec<ReadReport>,
}

impl Opened {
    fn all() -> Opened {
        let packed = oomscope(&[fixture("ascend_formats/msprof").to_str().unwrap(), "--format", "json"]).stdout;
        Opened {
            ascend: ["ascend_sample", "ascend_formats/ge", "ascend_formats/mindspore"].into_iter().flat_map(ascend).collect(),
            jax: vec![jax("xplane_attention_oom/attention_oom.xplane.pb"), jax("xplane_bfc_retry/bfc_retry.xplane.pb")],
            reports: vec![read_report("far/away/report.json", &packed)],
        }
    }

    fn written(&self, include: Include) -> Vec<u8> {
        let held: Vec<Held> = self.ascend.iter().map(Held::Ascend).chain(self.jax.iter().map(Held::Jax)).collect();
        write(&held, &self.reports, include).unwrap()
    }

    fn told(&self) -> String {
        let captures = self.ascend.iter().map(|capture| ascend_report(capture, 25)).chain(self.jax.iter().map(|capture| xplane_report(capture, &WANTED)));
        json(&report(captures, &self.reports, 25))
    }
}

fn told(Session { captures, reports }: &Session) -> String {
    let captures = captures.iter().map(|capture| match capture {
        Kept::Ascend(capture) => ascend_report(capture, 25),
        Kept::Jax(capture) => xplane_report(capture, &WANTED),
    });
    json(&report(captures.collect::<Vec<CaptureReport>>(), reports, 25))
}

fn unpacked(packed: &[u8]) -> String {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn what_was_written_reads_as_it_was() {
    let opened = Opened::all();
    let session = read(&opened.written(ALL)).unwrap();
    assert_eq!(told(&session), opened.told());
    for (kept, capture) in session.captures.iter().zip(&opened.ascend) {
        let Kept::Ascend(kept) = kept else { panic!("another kind") };
        assert_eq!((&kept.facts, &kept.around, &kept.phases, kept.end_ns), (&capture.facts, &capture.around, &capture.phases, capture.end_ns));
        for (kept, device) in kept.devices.iter().zip(&capture.devices) {
            assert_eq!((&kept.blocks, &kept.stacks), (&device.blocks, &device.stacks));
        }
    }
}

#[test]
fn what_is_left_out_is_not_in_the_file() {
    let opened = Opened::all();
    let bare = opened.written(Include { stacks: false, folders: false });
    let text = unpacked(&bare);
    assert!(!text.contains("worker.py") && !text.contains("far/away") && !text.contains("run/host"), "a stack or a folder");
    assert!(text.contains("host.xplane.pb") && text.contains("report.json"), "names stay");
    let no_folders = unpacked(&opened.written(Include { stacks: true, folders: false }));
    assert!(no_folders.contains("site-packages/ray") && !no_folders.contains("/app/rl"), "libraries' frames stay theirs");
    let session = read(&bare).unwrap();
    let peaks = |report: String| {
        let mut lines: Vec<String> = report.lines().filter(|line| line.contains("\"total_bytes\"")).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(peaks(told(&session)), peaks(opened.told()), "figures stay");
}

#[test]
fn damage_is_told() {
    let packed = Opened::all().written(ALL);
    assert!(read(&packed[..packed.len() / 2]).is_err());
    assert!(read(b"nothing").unwrap_err().contains("its format is \"nothing\""));
}

/// Each session was written by the program of its day and is never made anew; its report may learn new keys.
#[test]
fn every_version_stays_readable() {
    for version in ["session_v1", "session_v2"] {
        let expected = fixture(&format!("{version}/report.json"));
        let report = told(&read(&std::fs::read(fixture(&format!("{version}/session.gz"))).unwrap()).unwrap());
        if std::env::var_os("OOMSCOPE_UPDATE").is_some() {
            std::fs::write(&expected, &report).unwrap();
        }
        assert_eq!(report, std::fs::read_to_string(&expected).unwrap(), "{version}");
    }
}

/// A page as the program of that day saved it, opened like a capture.
#[test]
fn a_page_of_the_first_version_is_an_input() {
    let own = include_str!("../index.html");
    let saved = page::with_session(own, &std::fs::read(fixture("session_v1/session.gz")).unwrap(), "#on=1.0").unwrap();
    let file = folder("saved_page").join("saved.html");
    std::fs::write(&file, saved).unwrap();
    let json = |arguments: &[&str]| String::from_utf8(oomscope(&[&[file.to_str().unwrap(), "--format", "json"], arguments].concat()).stdout).unwrap();
    assert_eq!(json(&[]), std::fs::read_to_string(fixture("session_v1/report.json")).unwrap());
    let chosen: serde_json::Value = serde_json::from_str(&json(&["--rank", "1"])).unwrap();
    let captures = chosen["captures"].as_array().unwrap();
    assert!(captures.len() > 2 && captures.iter().all(|capture| capture["kind"] == "xplane" || capture["rank"] == 1), "{captures:?}");
    let other = file.with_file_name("other.html");
    std::fs::write(&other, "<!doctype html><title>Another</title>").unwrap();
    let said = oomscope(&[other.to_str().unwrap()]).stderr;
    assert!(String::from_utf8_lossy(&said).contains("other.html is no page that this program saved"));
}
