//! Captures that were read before: reports and saved pages among the files.

use crate::files::{Listed, open, unreadable, whole_file};
use oomscope::ascend::capture::Capture;
use oomscope::ascend::discover::CaptureFiles;
use oomscope::ascend::select::Selection;
use oomscope::oom::read::{self, ReadReport, Sniffed};
use oomscope::oom::report::CaptureReport;
use oomscope::session::{Kept, Session, page};
use oomscope::xplane::capture as xplane;
use rayon::prelude::*;
use std::io::Read;

/// The reports and saved pages among the files by their places, with the captures that are wanted; and what is no capture that can be read.
pub fn looked_into(names: &[&str], found: &[CaptureFiles], files: &[Listed], selection: &Selection) -> Vec<(usize, Session)> {
    let read_one = |&index: &usize| -> Option<(usize, Session)> {
        let Listed { name, path } = &files[index];
        let of_report = |report| Session { captures: Vec::new(), reports: vec![report] };
        let mut first = Vec::new();
        if let Err(error) = open(path).and_then(|file| file.take(read::SNIFFED_BYTES as u64).read_to_end(&mut first)) {
            // What it is nobody can tell.
            return Some((index, of_report(read::failed(name, &unreadable(&error)))));
        }
        let sniffed = read::sniff(&first)?;
        let whole = || whole_file(path, read::LARGEST_REPORT_BYTES);
        let read = match sniffed {
            Sniffed::Report => whole().map(|text| of_report(read::read(name, &text))),
            Sniffed::Page => whole().map(|html| page::open(name, &html)),
            Sniffed::Database | Sniffed::Snapshot => Ok(of_report(read::unread(name, sniffed))),
        };
        let mut session = read.unwrap_or_else(|problem| of_report(read::failed(name, &problem)));
        session.captures.retain(|kept| match kept {
            Kept::Ascend(capture) => selection.takes(capture.facts.rank, capture.facts.role.as_deref()),
            Kept::Jax(_) => true,
        });
        for report in &mut session.reports {
            report.captures.retain(|capture| match capture {
                CaptureReport::Ascend(capture) => selection.takes(capture.rank, capture.role.as_deref()),
                CaptureReport::Xplane(_) => selection.takes(None, None),
            });
        }
        Some((index, session))
    };
    read::worth_a_look(names, found).par_iter().filter_map(read_one).collect()
}

/// By kind.
pub fn parts(sessions: impl IntoIterator<Item = Session>) -> (Vec<Capture>, Vec<xplane::Capture>, Vec<ReadReport>) {
    let (mut captures, mut xplanes, mut reports) = (Vec::new(), Vec::new(), Vec::new());
    for session in sessions {
        reports.extend(session.reports);
        for kept in session.captures {
            match kept {
                Kept::Ascend(capture) => captures.push(*capture),
                Kept::Jax(capture) => xplanes.push(*capture),
            }
        }
    }
    (captures, xplanes, reports)
}
