//! Captures that were opened and captures that were reported before become one list, in the report's order, each capture once.

use super::read::ReadReport;
use super::report::{AscendReport, CaptureReport};
use super::xplane_report::XplaneReport;
use crate::ascend::capture::Capture;
use crate::error::{self, Position, Problem, Warning};
use crate::xplane::capture as xplane;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// What two reports on one capture have in common, whichever version wrote them and with whatever options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    source: String,
    /// Its numbers and names, in an order of its kind.
    rest: Vec<String>,
}

/// Where a capture of the list comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The place among the opened ones.
    Opened(usize),
    /// The place among the reports, and the place in that report.
    Read(usize, usize),
}

/// The list.
#[derive(Debug)]
pub struct Merged {
    /// By source; of equal ones those that were opened first, then by the path of the report.
    pub captures: Vec<Origin>,
    /// The warnings of the reports, and what is there more than once.
    pub warnings: Vec<Warning>,
}

impl Identity {
    /// Of a capture that was read.
    pub fn of_capture(capture: &Capture) -> Identity {
        let mut rest = vec![format!("{:?}", (capture.facts.rank, &capture.facts.role))];
        for device in capture.devices.iter().filter(|device| device.replay.peak.is_some()) {
            let blocks = &device.blocks;
            rest.push(Self::device(&device.device, device.pool.name(), &blocks.first_ns().to_string(), &blocks.last_ns().to_string(), blocks.count()));
        }
        Identity { source: capture.facts.source.clone(), rest }
    }

    /// Of a capture that was reported: equal to that of the capture.
    pub fn of_report(capture: &CaptureReport) -> Identity {
        match capture {
            CaptureReport::Ascend(report) => Self::of_ascend(report),
            CaptureReport::Xplane(report) => Self::of_xplane(report),
        }
    }

    fn of_ascend(report: &AscendReport) -> Identity {
        let mut rest = vec![format!("{:?}", (report.rank, &report.role))];
        rest.extend(report.devices.iter().map(|device| Self::device(&device.device, &device.pool, &device.first_ns, &device.last_ns, device.blocks)));
        Identity { source: report.source.clone(), rest }
    }

    fn of_xplane(report: &XplaneReport) -> Identity {
        let modules = report.modules.iter().map(|module| (&module.name[..], module.program_id));
        let executions = report.executions.iter().map(|execution| (execution.device, &execution.module[..], execution.start_ns));
        Self::jax(&report.source, report.host.as_deref(), modules, executions)
    }

    /// Of a JAX capture that was read.
    pub fn of_jax(capture: &xplane::Capture) -> Identity {
        let modules = capture.plans.iter().map(|plan| (&plan.name[..], plan.program_id));
        let executions = capture.runtime.executions.iter().map(|execution| (execution.device, &execution.module[..], execution.start_ps.div_euclid(1000)));
        Self::jax(&capture.source, capture.host.as_deref(), modules, executions)
    }

    fn jax<'a>(
        source: &str,
        host: Option<&str>,
        modules: impl Iterator<Item = (&'a str, Option<i64>)>,
        executions: impl Iterator<Item = (Option<i64>, &'a str, i64)>,
    ) -> Identity {
        let mut rest: Vec<String> = modules.map(|module| format!("{module:?}")).collect();
        // A report has them in another order.
        rest.sort_unstable();
        // There may be hundreds of thousands.
        let mut hasher = FxHasher::default();
        executions.for_each(|execution| execution.hash(&mut hasher));
        rest.push(format!("xplane {host:?} {:x}", hasher.finish()));
        Identity { source: source.to_owned(), rest }
    }

    fn device(device: &str, pool: &str, first_ns: &str, last_ns: &str, blocks: u64) -> String {
        format!("{:?}", (device, pool, first_ns, last_ns, blocks))
    }
}

/// Makes one list. The order in which report files were read does not show in it.
pub fn merge(opened: impl IntoIterator<Item = Identity>, read: &[ReadReport]) -> Merged {
    let mut all: Vec<(Identity, Option<&str>, Origin)> = opened.into_iter().enumerate().map(|(nth, identity)| (identity, None, Origin::Opened(nth))).collect();
    for (nth, report) in read.iter().enumerate() {
        let captures = report.captures.iter().enumerate();
        all.extend(captures.map(|(place, capture)| (Identity::of_report(capture), Some(report.file.as_str()), Origin::Read(nth, place))));
    }
    all.sort_by(|(a, file_a, _), (b, file_b, _)| (&a.source, file_a).cmp(&(&b.source, file_b)));
    let mut warnings: Vec<Warning> = read.iter().flat_map(|report| report.warnings.iter().cloned()).collect();
    let mut kept: Vec<(Identity, Origin)> = Vec::with_capacity(all.len());
    for (identity, _, origin) in all {
        let others = || kept.iter().rev().take_while(|(other, ..)| other.source == identity.source);
        // The captures of one report are as its writer had them.
        let of_another = |other: &Origin| !matches!((other, &origin), (Origin::Read(a, _), Origin::Read(b, _)) if a == b);
        // A capture and the page that it was saved with may be opened together; different ones that were opened are apart in some other way.
        let again = others().any(|(other, from)| of_another(from) && *other == identity);
        let there = others().any(|(_, from)| of_another(from) && !matches!((from, &origin), (Origin::Opened(_), Origin::Opened(_))));
        if there || again {
            let problem = if again { Problem::DuplicateCapture } else { Problem::SameSource };
            warnings.push(Warning::new(&problem, Position::file(&identity.source)));
        }
        if !again {
            kept.push((identity, origin));
        }
    }
    error::sort(&mut warnings);
    warnings.dedup();
    Merged { captures: kept.into_iter().map(|(_, origin)| origin).collect(), warnings }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ascend::capture::CaptureReader;
    use crate::ascend::discover::discover;
    use crate::oom::report::ascend_report;

    fn capture(source: &str, size: u32) -> Capture {
        let path = format!("{source}/operator_memory.csv");
        let mut reader = CaptureReader::new(&discover(&[&path])[0]);
        reader.operator_memory.begin(&path);
        reader
            .operator_memory
            .feed(b"Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB),Device Type\n");
        reader.operator_memory.feed(format!("x,{size},1,{size},2.5,0.5,NPU:0\ncann::x,1,1,3,0.5,0.5,NPU:0\n").as_bytes());
        reader.operator_memory.end();
        reader.finish().build()
    }

    fn read(file: &str, captures: &[&Capture]) -> ReadReport {
        let captures = captures.iter().map(|capture| ascend_report(capture, 25)).collect();
        ReadReport { file: file.to_owned(), captures, warnings: Vec::new() }
    }

    fn codes(merged: &Merged) -> Vec<(&str, &str)> {
        merged.warnings.iter().map(|warning| (warning.code.as_str(), warning.file.as_str())).collect()
    }

    #[test]
    fn a_capture_and_its_report_count_once() {
        let (a, b) = (capture("a_ascend_pt", 2), capture("b_ascend_pt", 2));
        let reports = [read("2.json", &[&a]), read("1.json", &[&b, &a])];
        let merged = merge([Identity::of_capture(&a)], &reports);
        assert_eq!(merged.captures, [Origin::Opened(0), Origin::Read(1, 0)]);
        assert_eq!(codes(&merged), [("duplicate-capture", "a_ascend_pt")]);
    }

    #[test]
    fn a_capture_that_was_opened_twice_counts_once() {
        let (a, b) = (capture("a_ascend_pt", 2), capture("a_ascend_pt", 5));
        let merged = merge([&a, &b, &a].map(Identity::of_capture), &[]);
        assert_eq!(merged.captures, [Origin::Opened(0), Origin::Opened(1)]);
        assert_eq!(codes(&merged), [("duplicate-capture", "a_ascend_pt")]);
        // Two saved pages may hold one report.
        let merged = merge([], &[read("1.json", &[&a, &b]), read("1.json", &[&a])]);
        assert_eq!(merged.captures, [Origin::Read(0, 0), Origin::Read(0, 1)]);
        assert_eq!(codes(&merged), [("duplicate-capture", "a_ascend_pt")]);
    }

    #[test]
    fn different_captures_of_one_path_all_count() {
        let (a, b) = (capture("a_ascend_pt", 2), capture("a_ascend_pt", 5));
        let merged = merge([], &[read("2.json", &[&a]), read("1.json", &[&b])]);
        assert_eq!(merged.captures, [Origin::Read(1, 0), Origin::Read(0, 0)], "by the path of the report");
        assert_eq!(codes(&merged), [("same-source", "a_ascend_pt")]);
        // Within one report they are meant.
        assert!(merge([], &[read("1.json", &[&a, &b])]).warnings.is_empty());
    }
}
