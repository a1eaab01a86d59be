//! No cut and no flipped bit of a JAX capture panics, hangs or takes memory without bound, each gives a message or a report, and where a
//! file is split between two reads changes nothing.
//!
//! A few of each are tried as a rule; with `OOMSCOPE_DAMAGE=full` 200 cuts and 10,000 flips of every capture.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use oomscope::error::Problem;
use oomscope::export::{json::json, text::text};
use oomscope::oom::report::{CaptureReport, report};
use oomscope::oom::xplane_report::{Wanted, xplane_report};
use oomscope::xplane::capture::Capture;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{capture, fixture};

const WANTED: Wanted = Wanted { top: 25, module: None, last_executions: None };
/// Reading a megabyte takes some milliseconds; this is a hang.
const LONGEST: Duration = Duration::from_secs(20);

fn read<'a>(chunks: impl Iterator<Item = &'a [u8]> + Clone) -> Capture {
    Capture::read("host.xplane.pb", |reader| {
        let mut at = 0;
        for chunk in chunks.clone() {
            reader.feed(at, chunk);
            at += chunk.len() as u64;
        }
        Ok(())
    })
}

/// The report as both formats: what a user sees of it.
fn told(capture: &Capture) -> String {
    let report = report([xplane_report(capture, &WANTED)], &[], WANTED.top);
    text(&report) + &json(&report)
}

fn check(bytes: &[u8], what: &dyn Fn() -> String) {
    let start = Instant::now();
    let capture = read(std::iter::once(bytes));
    let CaptureReport::Xplane(report) = xplane_report(&capture, &WANTED) else { panic!("another kind") };
    assert!(capture.is_xspace || !report.warnings.is_empty(), "{}: nothing is said", what());
    for live in &report.live_at_last_start {
        assert_eq!(live.groups.iter().map(|group| i128::from(group.bytes)).sum::<i128>(), i128::from(live.used_bytes), "{}", what());
    }
    assert!(start.elapsed() < LONGEST, "{}: took {:?}", what(), start.elapsed());
}

fn captures() -> Vec<PathBuf> {
    let fixtures = ["xplane_attention_oom/attention_oom", "xplane_scan_fits/scan_fits", "xplane_bfc_retry/bfc_retry"];
    let mut found: Vec<PathBuf> = fixtures.iter().map(|name| fixture(&format!("{name}.xplane.pb"))).collect();
    if is_full() {
        let more = [
            "cpu/attention/host",
            "cpu/eager/host",
            "cpu/nodonate/host",
            "cpu/retain/host",
            "cpu/scan_remat/host",
            "synth/nodonate",
            "synth/retain",
            "gpu_mi300x/jax_conv",
            "damaged/replaced_bytes",
        ];
        found.extend(more.iter().filter_map(|name| capture(&format!("xplane/{name}.xplane.pb"))));
    }
    found
}

fn is_full() -> bool {
    std::env::var_os("OOMSCOPE_DAMAGE").is_some_and(|value| value == "full")
}

/// A generator of numbers that gives the same ones each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

fn each(try_one: impl Fn(&Path, &[u8]) + Sync) {
    for path in captures() {
        try_one(&path, &std::fs::read(&path).unwrap());
    }
}

#[test]
fn cuts() {
    let places = if is_full() { 200 } else { 20 };
    each(|path, bytes| {
        for place in 0..places {
            let cut = bytes.len() * place / places;
            check(&bytes[..cut], &|| format!("{} cut at {cut}", path.display()));
            if cut > 0 {
                let capture = read(std::iter::once(&bytes[..cut]));
                assert!(capture.warnings.iter().any(|warning| ["cut-file", "damaged-file"].contains(&&warning.code[..])), "{} cut at {cut}", path.display());
            }
        }
    });
}

#[test]
fn flipped_bits() {
    let flips = if is_full() { 10_000 } else { 60 };
    each(|path, bytes| {
        let mut random = Random(bytes.len() as u64);
        let mut bytes = bytes.to_vec();
        for _ in 0..flips {
            let (at, bit) = (random.below(bytes.len()), random.below(8));
            bytes[at] ^= 1 << bit;
            check(&bytes, &|| format!("{} with bit {bit} of byte {at} flipped", path.display()));
            bytes[at] ^= 1 << bit;
        }
        // Many at once.
        for _ in 0..flips / 10 {
            let mut worse = bytes.clone();
            (0..100).for_each(|_| worse[random.below(bytes.len())] = random.below(256) as u8);
            check(&worse, &|| format!("{} with a hundred bytes changed", path.display()));
        }
    });
}

#[test]
fn where_it_is_split_changes_nothing() {
    each(|path, bytes| {
        let whole = told(&read(std::iter::once(bytes)));
        for size in [1, 7, 100, 4096, bytes.len() / 3 + 1] {
            // One byte at a time is slow where there are a million.
            if size > 1 || bytes.len() < 500_000 {
                assert_eq!(told(&read(bytes.chunks(size))), whole, "{} in pieces of {size}", path.display());
            }
        }
    });
}

#[test]
fn what_could_not_be_read_is_not_called_empty() {
    let unreadable = || Problem::UnreadableFile { reason: "no permission".to_owned() };
    let codes = |capture: &Capture| capture.warnings.iter().map(|warning| warning.code.clone()).collect::<Vec<_>>();
    let none = Capture::read("locked.xplane.pb", |_| Err(unreadable()));
    assert_eq!(codes(&none), ["unreadable-file"]);
    let archive = Capture::read("other.xplane.pb", |reader| {
        reader.feed(0, b"PK\x03\x04");
        Err(unreadable())
    });
    assert_eq!(codes(&archive), ["damaged-file", "unreadable-file"]);
}
