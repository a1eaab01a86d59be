//! Reports read back: what was reported on many machines is opened together, without the captures themselves.
//!
//! A report is known by its first key, not by its name. Keys this version does not know are passed over; captures of a kind that it does
//! not know, and text that is damaged, are named with their place in the file, and the rest is used.

use super::report::{AscendReport, CaptureReport, SCHEMA};
use super::xplane_report::XplaneReport;
use crate::ascend::discover::CaptureFiles;
use crate::error::{Position, Problem, Warning};
use crate::scan::gzip::{Unpacker, damaged, is_gzip};
use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Read;

/// So much of a file tells whether it is a report. Of a packed one the longest header of a field that tools write fits in, and what follows it.
pub const SNIFFED_BYTES: usize = 68 << 10;
/// So much of its text.
const SNIFFED_TEXT: u64 = 2048;
/// A report larger than this is none.
pub const LARGEST_REPORT_BYTES: u64 = 1 << 30;

/// The name of every schema begins so; the version follows.
const SCHEMAS: &str = "oomscope.report/";
/// The page's title, as its index.html has it.
const PAGE_TITLE: &[u8] = b"<title>oomscope</title>";
/// Folders in which profilers keep hundreds of JSON files of their own.
const PROFILERS_FOLDERS: [&str; 3] = ["ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output", "FRAMEWORK"];

/// What a report file holds.
#[derive(Debug, Clone)]
pub struct ReadReport {
    /// Path below what was opened.
    pub file: String,
    /// As they were written.
    pub captures: Vec<CaptureReport>,
    /// What the report itself warns of, and what was wrong with it.
    pub warnings: Vec<Warning>,
}

/// What a file is, as its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sniffed {
    /// A report of ours, of whatever version.
    Report,
    /// An SQLite database, as profilers export them.
    Database,
    /// What torch's `_dump_snapshot` pickles.
    Snapshot,
    /// A page of this program, perhaps with a session in it.
    Page,
}

/// The places of the paths into which a look must be taken: they may be reports, saved pages, or exports that cannot be read.
///
/// ```
/// use oomscope::oom::read::worth_a_look;
/// let paths = ["r/0.json", "x_ascend_pt/profiler_info_0.json", "x_ascend_pt/PROF_1/host/info.json", "r/1.json.gz", "snapshot.pickle", "saved.html"];
/// assert_eq!(worth_a_look(&paths, &[]), [0, 3, 4, 5]);
/// ```
pub fn worth_a_look<P: AsRef<str>>(paths: &[P], captures: &[CaptureFiles]) -> Vec<usize> {
    let in_a_capture = |path: &str| captures.iter().any(|capture| path.strip_prefix(&capture.source).is_some_and(|rest| rest.starts_with('/')));
    let worth = |path: &str| {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let known = name.starts_with("profiler_info") || name.starts_with("profiler_metadata") || name.starts_with("trace_view");
        let profilers = |folder: &str| folder.starts_with("PROF_") || PROFILERS_FOLDERS.contains(&folder);
        let json = (name.ends_with(".json") || name.ends_with(".json.gz")) && !known;
        let export = name.ends_with(".pkl") || name.ends_with(".pickle") || (name.ends_with(".db") && !in_a_capture(path));
        (json || export || is_page(name)) && !folders.split('/').any(profilers)
    };
    (0..paths.len()).filter(|&index| worth(paths[index].as_ref())).collect()
}

/// Whether a file is named like a page.
pub fn is_page(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    [".html", ".htm"].iter().any(|ending| name.ends_with(ending))
}

/// What a file is that begins so, packed or not; `None`: nothing that is known here.
///
/// ```
/// use oomscope::oom::read::{Sniffed, sniff};
/// assert_eq!(sniff(b"{\n  \"schema\": \"oomscope.report/1\","), Some(Sniffed::Report));
/// assert_eq!(sniff(b"{\"traceEvents\": ["), None);
/// ```
pub fn sniff(first: &[u8]) -> Option<Sniffed> {
    let mut text = Vec::new();
    // What is cut here is cut on purpose: what came out before counts.
    let _ = if is_gzip(first) { MultiGzDecoder::new(first).take(SNIFFED_TEXT).read_to_end(&mut text) } else { first.take(SNIFFED_TEXT).read_to_end(&mut text) };
    if text.starts_with(b"SQLite format 3\0") {
        return Some(Sniffed::Database);
    }
    // Protocol 2 and later; the snapshot is a dictionary of these.
    if text.first() == Some(&0x80) && ["segments", "device_traces"].iter().any(|key| memchr::memmem::find(&text, key.as_bytes()).is_some()) {
        return Some(Sniffed::Snapshot);
    }
    if starts_a_page(&text) && memchr::memmem::find(&text, PAGE_TITLE).is_some() {
        return Some(Sniffed::Page);
    }
    looks_like_report(&text).then_some(Sniffed::Report)
}

/// What a page went through may have marked it as UTF-8 or written its first word in capitals.
fn starts_a_page(text: &[u8]) -> bool {
    const FIRST: &[u8] = b"<!doctype html>";
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    text.get(..FIRST.len()).is_some_and(|first| first.eq_ignore_ascii_case(FIRST))
}

fn looks_like_report(text: &[u8]) -> bool {
    let mut rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for wanted in ["{", "\"schema\"", ":", "\""] {
        match rest.trim_ascii_start().strip_prefix(wanted.as_bytes()) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.starts_with(SCHEMAS.as_bytes())
}

/// A file that cannot be read, named with what to do.
pub fn unread(file: &str, what: Sniffed) -> ReadReport {
    let problem = Problem::UnsupportedExport { snapshot: what == Sniffed::Snapshot };
    ReadReport { file: file.to_owned(), captures: Vec::new(), warnings: vec![Warning::new(&problem, Position::file(file))] }
}

#[derive(Deserialize)]
struct Whole<'a> {
    schema: String,
    #[serde(borrow)]
    captures: Vec<&'a RawValue>,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Reads a report that may be packed. Of a file that is something else, its first bytes are enough.
pub fn read_packed(file: &str, bytes: &[u8]) -> ReadReport {
    if let Some(other @ (Sniffed::Database | Sniffed::Snapshot)) = sniff(&bytes[..bytes.len().min(SNIFFED_BYTES)]) {
        return unread(file, other);
    }
    let mut unpacker = Unpacker::of_at_most(LARGEST_REPORT_BYTES);
    let mut text = Vec::new();
    let mut keep = |bytes: &[u8]| text.extend_from_slice(bytes);
    match unpacker.feed(bytes, &mut keep).and_then(|()| unpacker.finish(&mut keep)) {
        Ok(()) => read(file, &text),
        Err(error) => failed(file, &damaged(&error)),
    }
}

/// A report that could not be read.
pub fn failed(file: &str, problem: &Problem) -> ReadReport {
    ReadReport { file: file.to_owned(), captures: Vec::new(), warnings: vec![Warning::new(problem, Position::file(file))] }
}

/// Reads a report. What cannot be used is among its warnings.
pub fn read(file: &str, text: &[u8]) -> ReadReport {
    let mut report = ReadReport { file: file.to_owned(), captures: Vec::new(), warnings: Vec::new() };
    if let Err(warning) = fill(&mut report, text) {
        report.warnings.push(*warning);
    }
    report
}

fn fill(report: &mut ReadReport, text: &[u8]) -> Result<(), Box<Warning>> {
    let file = Text { file: report.file.clone(), text };
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = std::str::from_utf8(text).map_err(|error| file.damaged(error.valid_up_to(), "this is no UTF-8 text"))?;
    if let Some(byte) = beyond_exact(text) {
        return Err(file.damaged(file.start(text) + byte, "a figure is beyond 2^53, which no report of this program holds"));
    }
    let whole: Whole = serde_json::from_str(text).map_err(|error| file.refused(text, &error))?;
    if whole.schema != SCHEMA {
        return Err(file.newer(text, format!("schema {}", whole.schema)));
    }
    report.warnings = whole.warnings;
    if whole.captures.is_empty() {
        report.warnings.push(Warning::new(&Problem::EmptyReport, Position::file(&report.file)));
    }
    file.take(report, &whole.captures);
    Ok(())
}

/// A report whose captures stand somewhere in a larger text.
pub fn captures_of(file: String, text: &[u8], captures: &[&RawValue], warnings: Vec<Warning>) -> ReadReport {
    let mut report = ReadReport { file: file.clone(), captures: Vec::new(), warnings };
    Text { file, text }.take(&mut report, captures);
    report
}

/// Where an integer stands that is beyond 2^53: reports hold none, and a page could not tell it exactly.
fn beyond_exact(text: &str) -> Option<usize> {
    const DIGITS: usize = 16;
    let bytes = text.as_bytes();
    let (mut at, mut in_string) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'0'..=b'9' if !in_string => {
                let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let is_exact = digits < DIGITS || text[at..at + digits].parse::<u64>().is_ok_and(|number| number <= 1 << 53);
                // A program's id is a name in digits, at times a fingerprint.
                let is_name = || text[..at].trim_end_matches(['-', ' ']).ends_with("\"program_id\":");
                if !is_exact && !is_name() {
                    return Some(at);
                }
                at += digits - 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The text of a report, for places in it.
struct Text<'a> {
    file: String,
    text: &'a [u8],
}

impl Text<'_> {
    fn take(&self, report: &mut ReadReport, captures: &[&RawValue]) {
        for capture in captures.iter().map(|capture| capture.get()) {
            let kind = serde_json::from_str::<Kind>(capture).map_or(String::new(), |kind| kind.kind);
            let read = match kind.as_str() {
                // Without a kind it is damaged, and what it lacks first is named.
                "ascend" | "" => serde_json::from_str::<AscendReport>(capture).map(|report| CaptureReport::Ascend(Box::new(report))),
                "xplane" => serde_json::from_str::<XplaneReport>(capture).map(|report| CaptureReport::Xplane(Box::new(report))),
                _ => {
                    report.warnings.push(*self.newer(capture, format!("kind {kind}")));
                    continue;
                }
            };
            match read.map_err(|error| self.refused(capture, &error)) {
                Ok(capture) => report.captures.push(capture),
                Err(warning) => report.warnings.push(*warning),
            }
        }
    }

    /// A part of the text is not what a report says there.
    fn refused(&self, part: &str, error: &serde_json::Error) -> Box<Warning> {
        let line_start = part.match_indices('\n').nth(error.line().wrapping_sub(2)).map_or(0, |(newline, _)| newline + 1);
        let within = (line_start + error.column().saturating_sub(1)).min(part.len());
        let said = error.to_string();
        let reason = said.rsplit_once(" at line ").map_or(said.as_str(), |(reason, _)| reason);
        self.damaged(self.start(part) + within, &format!("this is no report of schema {SCHEMA}: {reason}"))
    }

    fn damaged(&self, byte: usize, reason: &str) -> Box<Warning> {
        Box::new(Warning::new(&Problem::DamagedFile { reason: reason.to_owned() }, self.position(byte)))
    }

    fn newer(&self, part: &str, what: String) -> Box<Warning> {
        Box::new(Warning::new(&Problem::UnsupportedReport { what }, self.position(self.start(part))))
    }

    /// Where a part of the text begins in it.
    fn start(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    fn position(&self, byte: usize) -> Position {
        let before = &self.text[..byte.min(self.text.len())];
        Position::line(&self.file, memchr::memchr_iter(b'\n', before).count() as u64 + 1, byte as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, GzBuilder};
    use std::io::Write;

    const CAPTURE: &str = r#"{"kind": "ascend", "source": "a", "role": null, "rank": 3, "capture_time": null, "new": {"x": [1]},
      "versions": {"torch_npu": null, "cann": null}, "rows": {"read": 1, "set_aside": 0}, "devices": [], "stacks": null,
      "outside_framework": null, "warnings": []}"#;

    fn whole(captures: &str) -> String {
        format!("{{\n  \"schema\": \"oomscope.report/1\",\n  \"captures\": [\n{captures}\n]}}\n")
    }

    #[test]
    fn figures_that_a_page_could_not_tell_are_refused() {
        assert_eq!(beyond_exact(r#"{"a": 9007199254740992, "b": "99999999999999999999", "c\\\"": -12}"#), None);
        assert_eq!(beyond_exact(r#"{"program_id": -9007199254740993}"#), None);
        assert_eq!(beyond_exact(r#"{"a": 9007199254740993}"#), Some(6));
        assert_eq!(beyond_exact("[1, 99999999999999999999999]"), Some(4));
    }

    #[test]
    fn keys_of_later_versions_are_passed_over() {
        let read = read("r.json", whole(CAPTURE).replace("\n]}", "\n], \"future\": {}}").as_bytes());
        assert!(read.warnings.is_empty());
        assert!(matches!(&read.captures[..], [CaptureReport::Ascend(capture)] if capture.rank == Some(3)));
    }

    #[test]
    fn damage_is_named_with_its_place_and_the_rest_is_used() {
        let text = whole(&format!("{CAPTURE},\n{},\n{{\"kind\": \"tpu\"}}", CAPTURE.replace("\"rank\": 3", "\"rank\": \"x\"")));
        let read = read("r.json", text.as_bytes());
        assert_eq!(read.captures.len(), 1);
        let found: Vec<_> = read.warnings.iter().map(|warning| (warning.code.as_str(), warning.line, warning.byte)).collect();
        let byte = text.find("\"rank\": \"x\"").unwrap() as u64 + 8;
        assert_eq!((found[0].0, found[0].1), ("damaged-file", Some(7)));
        assert!(found[0].2.unwrap().abs_diff(byte) <= 3, "{found:?} {byte}");
        assert_eq!(found[1], ("unsupported-report", Some(10), Some(text.find("{\"kind\": \"tpu\"").unwrap() as u64)));
        assert!(read.warnings[0].message.contains("invalid type: string \"x\", expected i64"), "{}", read.warnings[0].message);
    }

    #[test]
    fn another_version_and_cut_files_are_named() {
        let read_one = |text: &str| read("r.json", text.as_bytes()).warnings[0].clone();
        assert_eq!(read_one("{\"schema\": \"oomscope.report/2\", \"captures\": []}").code, "unsupported-report");
        let text = whole(CAPTURE);
        for cut in 0..text.len() - 2 {
            let warning = read_one(&text[..cut]);
            assert_eq!((warning.code.as_str(), warning.byte.unwrap() <= cut as u64), ("damaged-file", true), "{cut}");
        }
        assert_eq!(read("r.json", b"{\"schema\": \"\xff\"}").warnings[0].byte, Some(12));
    }

    #[test]
    fn only_the_first_key_counts() {
        assert_eq!(sniff(b"\xef\xbb\xbf{\"schema\" :\t\"oomscope.report/7\"}"), Some(Sniffed::Report));
        for other in [&b""[..], b"{", b"{\"x\": 1, \"schema\": \"oomscope.report/1\"}", b"[\"oomscope.report/1\"]", b"{\"schema\": \"other\"}"] {
            assert_eq!(sniff(other), None);
        }
    }

    #[test]
    fn pages_of_this_program_are_known_by_their_title() {
        let page = include_bytes!("../../index.html");
        assert_eq!(sniff(&page[..page.len().min(SNIFFED_BYTES)]), Some(Sniffed::Page));
        assert_eq!(sniff(b"<!doctype html><title>another</title>"), None);
        assert_eq!(sniff(b"\xef\xbb\xbf\r\n<!DOCTYPE HTML><title>oomscope</title>"), Some(Sniffed::Page));
    }

    /// The first bytes of an archive: with a header of so many bytes, of a text that does not end within them.
    fn packed(text: &[u8], level: u32, extra_bytes: usize, name: &str) -> Vec<u8> {
        let mut noise = 7u32;
        let rest = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        });
        let text: Vec<u8> = text.iter().copied().chain(rest.take(200_000)).collect();
        let builder = GzBuilder::new().extra(vec![b'x'; extra_bytes]).filename(name).comment("c".repeat(500));
        let mut encoder = builder.write(Vec::new(), Compression::new(level));
        encoder.write_all(&text).unwrap();
        let mut archive = encoder.finish().unwrap();
        archive.truncate(SNIFFED_BYTES);
        archive
    }

    #[test]
    fn packed_files_are_known_whatever_packed_them() {
        let page = include_bytes!("../../index.html");
        let report = whole(CAPTURE);
        for (text, what) in [(report.as_bytes(), Some(Sniffed::Report)), (page, Some(Sniffed::Page)), (b"{\"traceEvents\": [", None)] {
            for (level, extra_bytes) in [(0, 0), (1, 0), (6, 0), (9, 0), (6, 9_000), (0, 65_535), (9, 65_535)] {
                assert_eq!(sniff(&packed(text, level, extra_bytes, "report.json")), what, "level {level}, {extra_bytes} bytes in front");
            }
        }
        // A short one, whole.
        let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
        encoder.write_all(report.as_bytes()).unwrap();
        let archive = encoder.finish().unwrap();
        assert_eq!(sniff(&archive), Some(Sniffed::Report));
        assert_eq!(read_packed("r.json.gz", &archive).captures.len(), 1);
        assert_eq!(sniff(&archive[..12]), None);
    }

    /// A bomb costs no more than what is looked at.
    #[test]
    fn no_more_is_unpacked_than_is_looked_at() {
        let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
        encoder.write_all(&vec![b' '; 60 << 20]).unwrap();
        let archive = encoder.finish().unwrap();
        let began = std::time::Instant::now();
        (0..1000).for_each(|_| assert_eq!(sniff(&archive), None));
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }

    #[test]
    fn exports_that_cannot_be_read_are_known_by_their_content() {
        assert_eq!(sniff(b"SQLite format 3\0\x10\0"), Some(Sniffed::Database));
        let snapshot = b"\x80\x04\x95\x10\x01\0\0\0\0\0\0}\x94(\x8c\x08segments\x94]";
        assert_eq!((sniff(snapshot), sniff(b"\x80\x04\x95}\x94(\x8c\x05other\x94]")), (Some(Sniffed::Snapshot), None));
        let warning = &read_packed("a/snapshot.pickle", snapshot).warnings[0];
        assert_eq!((warning.code.as_str(), warning.args.contains_key("snapshot")), ("unsupported-export", true));
    }
}
