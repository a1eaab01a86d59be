//! A session that was written and read back gives the same report, to the byte; without stacks and folders it holds none. Whatever capture is
//! read can be saved; whatever else a session holds is refused with a word.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use oomscope::ascend::capture::{Capture, CaptureReader, Origins};
use oomscope::ascend::discover::discover;
use oomscope::ascend::reserved::ReservedReader;
use oomscope::ascend::trace_view::TraceReader;
use oomscope::export::json;
use oomscope::oom::read::{ReadReport, read as read_report};
use oomscope::oom::report::{CaptureReport, ascend_report, report};
use oomscope::oom::xplane_report::{Wanted, xplane_report};
use oomscope::session::{Held, Include, Kept, Session, page, read, write};
use oomscope::timeline::packed::{Columns, put_varint};
use oomscope::xplane::capture as xplane;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::{Read, Write};
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
    jax_of(&std::fs::read(fixture(file)).unwrap())
}

fn jax_of(bytes: &[u8]) -> xplane::Capture {
    xplane::Capture::read("run/host.xplane.pb", |reader| {
        reader.feed(0, bytes);
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
        json::json(&report(captures, &self.reports, 25))
    }
}

fn told(Session { captures, reports }: &Session) -> String {
    let captures = captures.iter().map(|capture| match capture {
        Kept::Ascend(capture) => ascend_report(capture, 25),
        Kept::Jax(capture) => xplane_report(capture, &WANTED),
    });
    json::json(&report(captures.collect::<Vec<CaptureReport>>(), reports, 25))
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The session of a fixture with another head.
fn altered(version: &str, alter: impl FnOnce(&mut Value)) -> Result<Session, String> {
    let bytes = unpacked(&std::fs::read(fixture(&format!("{version}/session.gz"))).unwrap());
    let (format, rest) = bytes.split_at(bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1);
    let mut columns = Columns::new(rest);
    let length = columns.varint().unwrap() as usize;
    let mut head: Value = serde_json::from_slice(columns.bytes(length).unwrap()).unwrap();
    alter(&mut head);
    let head = serde_json::to_vec(&head).unwrap();
    let mut bytes = format.to_vec();
    put_varint(&mut bytes, head.len() as u128);
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(columns.rest());
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(&bytes).unwrap();
    read(&packer.finish().unwrap())
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
    let text = String::from_utf8_lossy(&unpacked(&bare)).into_owned();
    assert!(!text.contains("worker.py") && !text.contains("far/away") && !text.contains("run/host"), "a stack or a folder");
    assert!(text.contains("host.xplane.pb") && text.contains("report.json"), "names stay");
    let no_folders = String::from_utf8_lossy(&unpacked(&opened.written(Include { stacks: true, folders: false }))).into_owned();
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
    // Packed it is the same.
    let packed = file.with_file_name("saved.html.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, &std::fs::read(&file).unwrap()).unwrap();
    std::fs::write(&packed, encoder.finish().unwrap()).unwrap();
    let of_packed = oomscope(&[packed.to_str().unwrap(), "--format", "json"]);
    assert_eq!(String::from_utf8(of_packed.stdout).unwrap(), json(&[]));
    let chosen: Value = serde_json::from_str(&json(&["--rank", "1"])).unwrap();
    let captures = chosen["captures"].as_array().unwrap();
    assert!(captures.len() > 2 && captures.iter().all(|capture| capture["kind"] == "xplane" || capture["rank"] == 1), "{captures:?}");
    let other = file.with_file_name("other.html");
    std::fs::write(&other, "<!doctype html><title>Another</title>").unwrap();
    let said = oomscope(&[other.to_str().unwrap()]).stderr;
    assert!(String::from_utf8_lossy(&said).contains("other.html is no page that this program saved"));
}

/// Of an allocator that only takes memory back there is no owner at all.
#[test]
fn a_capture_of_releases_alone_is_saved() {
    let mut bytes = std::fs::read(fixture("xplane_bfc_retry/bfc_retry.xplane.pb")).unwrap();
    bytes[1894] = 10;
    let capture = jax_of(&bytes);
    let of_releases = capture.runtime.allocators.iter().find(|allocator| allocator.owners.is_empty() && !allocator.changes.is_empty());
    assert!(of_releases.is_some_and(|allocator| allocator.changes.iter().all(|change| change.owner.is_none())));
    assert_eq!(saved(None, Some(&capture)), Ok(()));
}

/// Writes captures, reads them, and says what differs.
fn saved(ascend: Option<&Capture>, jax: Option<&xplane::Capture>) -> Result<(), String> {
    let held: Vec<Held> = ascend.map(Held::Ascend).into_iter().chain(jax.map(Held::Jax)).collect();
    let session = read(&write(&held, &[], ALL).unwrap())?;
    match (&session.captures[..], ascend, jax) {
        ([Kept::Jax(kept)], _, Some(jax)) if **kept != *jax => return Err("another JAX capture".to_owned()),
        ([Kept::Ascend(kept)], Some(ascend), _) if (&kept.around, &kept.phases, kept.end_ns) != (&ascend.around, &ascend.phases, ascend.end_ns) => {
            return Err("another capture".to_owned());
        }
        _ => {}
    }
    let reports = ascend.map(|capture| ascend_report(capture, 25)).into_iter().chain(jax.map(|capture| xplane_report(capture, &WANTED)));
    if told(&session) == json::json(&report(reports.collect::<Vec<CaptureReport>>(), &[], 25)) { Ok(()) } else { Err("another report".to_owned()) }
}

const NAMES: [&str; 3] = ["aten::a", "cann::b", ""];
/// Around every limit, and as a file may have them.
const TIMES: [&str; 10] = [
    "",
    "0",
    "-1",
    "1779785515596661.420\t",
    "4611686018427387.903",
    "4611686018427387.904",
    "9007199254740993",
    "9223372036854775.806",
    "9223372036854775.807",
    "-9223372036854775.808",
];
const SIZES: [&str; 9] = ["", "0", "1", "0.0005", "-8", "1073741824", "1099511627776", "-1099511627776", "1099511627777"];

fn scanned(memory: &str, record: &str, trace: &str) -> Capture {
    let names = ["x_ascend_pt/operator_memory.csv", "x_ascend_pt/memory_record.csv", "x_ascend_pt/trace_view.json"];
    let mut reader = CaptureReader::new(&discover(&names)[0]);
    reader.operator_memory.begin(names[0]);
    reader.operator_memory.feed(memory.as_bytes());
    reader.operator_memory.end();
    let mut around = ReservedReader::default();
    around.begin(names[1]);
    around.feed(record.as_bytes());
    around.end();
    reader.memory_record = Some(around);
    let scanned = reader.finish();
    let mut steps = TraceReader::new(names[2]);
    steps.feed(trace.as_bytes());
    let origins = Origins::of(&scanned, steps.finish());
    let mut capture = scanned.build();
    capture.attach(origins);
    capture
}

fn cell<const N: usize>(cells: [&'static str; N]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(cells.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// What a table's reader takes, a session takes too.
    #[test]
    fn any_table_is_saved(
        rows in prop::collection::vec((cell(NAMES), cell(SIZES), [cell(TIMES), cell(TIMES), cell(TIMES)], [cell(SIZES), cell(SIZES)]), 1..12),
        samples in prop::collection::vec((cell(["APP", "PTA", "GE"]), cell(TIMES), cell(SIZES)), 0..6),
        steps in prop::collection::vec((cell(TIMES), cell(TIMES)), 0..4),
        is_msprof in any::<bool>(),
    ) {
        let mut memory = if is_msprof {
            "Device_id,Operator,Size(KB),Allocation Time(us),Duration(us),Active Release Time(us),Allocation Total Allocated(KB),Release Total Allocated(KB)\n"
        } else {
            "Device Type,Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Allocation Total Allocated(KB),Release Total Allocated(KB)\n"
        }.to_owned();
        for (name, size, [start, end, active], [at_start, at_end]) in rows {
            memory += &format!("NPU:0,{name},{size},{start},{end},{active},{at_start},{at_end}\n");
        }
        let mut record = "Component,Timestamp(us),Total Reserved(KB),Device Type\n".to_owned();
        for (component, time, size) in samples {
            record += &format!("{component},{time},{size},NPU:0\n");
        }
        let step = |(nth, (start, length)): (usize, (&str, &str))| format!(r#"{{"ph":"X","name":"ProfilerStep#{nth}","ts":"{}","dur":"{}"}}"#, start.trim(), length.trim());
        let steps: Vec<String> = steps.into_iter().enumerate().map(step).collect();
        let capture = scanned(&memory, &record, &format!("[{}]", steps.join(",")));
        prop_assert_eq!(saved(Some(&capture), None), Ok(()), "{} {} {:?}", memory, record, steps);
    }

    /// What a JAX capture's reader takes, a session takes too.
    #[test]
    fn any_jax_capture_is_saved(bytes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(0xff), Just(0x7f)]), 1..6)) {
        let mut capture = std::fs::read(fixture("xplane_bfc_retry/bfc_retry.xplane.pb")).unwrap();
        for (at, byte) in bytes {
            let at = at.index(capture.len());
            capture[at] = byte;
        }
        prop_assert_eq!(saved(None, Some(&jax_of(&capture))), Ok(()));
    }
}

#[test]
fn what_no_capture_has_is_refused_with_a_word() {
    let refused = |version: &str, path: &str, value: Value| {
        let alter = |head: &mut Value| *head.pointer_mut(path).unwrap_or_else(|| panic!("nothing is at {path}")) = value;
        altered(version, alter).err().unwrap_or_else(|| panic!("{path} was taken"))
    };
    let series = |time_ns: Value, reserved_bytes: Value| json!([{"component": "APP", "device": "NPU:0", "time_ns": time_ns, "reserved_bytes": reserved_bytes}]);
    let (most_ns, huge) = (1i64 << 62, 1u64 << 63);
    for (path, value) in [
        ("/captures/0/ascend/around/memory_record", series(json!([1, 2]), json!([1]))),
        ("/captures/0/ascend/around/module_memory", series(json!([]), json!([1]))),
        ("/captures/0/ascend/around/module_memory", series(json!([2, 1]), json!([1, 1]))),
        ("/captures/0/ascend/around/memory_record", series(json!([most_ns]), json!([1]))),
        ("/captures/0/ascend/around/memory_record", series(json!([1]), json!([i64::MIN]))),
        ("/captures/0/ascend/phases/0/end_ns", json!(most_ns)),
        ("/captures/0/ascend/devices/0/blocks", json!(huge)),
        ("/captures/0/ascend/devices/0/freed", json!(huge)),
        ("/captures/6/xplane/runtime/retries/0/execution", json!(3)),
        ("/captures/6/xplane/runtime/retries/0/execution", json!(huge)),
        ("/captures/6/xplane/runtime/allocators/0/owners", json!([])),
        ("/captures/6/xplane/runtime/allocators/0/capacity_bytes", json!(i64::MAX)),
        ("/captures/6/xplane/runtime/allocators/0/changes/0/bytes", json!(-1)),
        ("/captures/6/xplane/runtime/allocators/0/changes/0/time_ps", json!(i64::MAX)),
        ("/captures/6/xplane/runtime/executions/0/used_bytes", json!(i64::MIN)),
        ("/captures/6/xplane/plans/0/parameters/bytes", json!(i64::MIN)),
        ("/captures/6/xplane/plans/0/heap/curves/0/peak", json!(130)),
        ("/captures/6/xplane/plans/0/heap/replay_bytes", json!(-1)),
    ] {
        let word = refused("session_v1", path, value);
        assert!(word.starts_with("the captures in this page are cut or damaged (") && word.ends_with("). Copy the file again"), "{path}: {word}");
        // The same on a machine of 32 bits.
        assert!(!word.contains("usize"), "{path}: {word}");
    }
    assert!(refused("session_v2", "/captures/0/ascend/devices/0/folded/entries", json!(huge)).contains("it ends too early"));
}

/// One page that cannot be opened costs no other input, and is named.
#[test]
fn a_page_that_cannot_be_opened_costs_no_other() {
    let packed = std::fs::read(fixture("session_v1/session.gz")).unwrap();
    let own = include_str!("../index.html");
    let folder = folder("damaged_page");
    let [whole, cut] = ["whole.html", "cut.html"].map(|name| folder.join(name));
    std::fs::write(&whole, page::with_session(own, &packed, "").unwrap()).unwrap();
    std::fs::write(&cut, page::with_session(own, &packed[..packed.len() / 2], "").unwrap()).unwrap();
    let output = oomscope(&[cut.to_str().unwrap(), whole.to_str().unwrap(), "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let alone: Value = serde_json::from_str(&std::fs::read_to_string(fixture("session_v1/report.json")).unwrap()).unwrap();
    assert_eq!(report["captures"], alone["captures"]);
    let said = report["warnings"][0]["message"].as_str().unwrap();
    assert!(said.contains("cut.html: the captures in this page are cut or damaged") && said.ends_with("Copy the file again."), "{said}");
}

/// Mail wraps long lines, marks a text as UTF-8 and writes the first word in capitals.
#[test]
fn a_page_that_went_through_mail_is_an_input() {
    let own = include_str!("../index.html");
    let saved = String::from_utf8(page::with_session(own, &std::fs::read(fixture("session_v1/session.gz")).unwrap(), "").unwrap()).unwrap();
    let (before, base64, after) = {
        let (before, rest) = saved.split_once("data-view=\"\">").unwrap();
        let (base64, after) = rest.split_once("</script>").unwrap();
        (before.replacen("<!doctype html>", "\u{feff}<!DOCTYPE html>", 1), base64, after)
    };
    let lines: Vec<&str> = base64.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let file = folder("mailed_page").join("mailed.html");
    std::fs::write(&file, format!("{before}data-view=\"\">\r\n{}\r\n</script>{after}", lines.join("\r\n"))).unwrap();
    let told = oomscope(&[file.to_str().unwrap(), "--format", "json"]).stdout;
    assert_eq!(String::from_utf8(told).unwrap(), std::fs::read_to_string(fixture("session_v1/report.json")).unwrap());
}
