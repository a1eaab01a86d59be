//! Everything below the paths that were asked for, read; and what is said of what gave nothing.

use crate::ascend::{scan, whose};
use crate::files::{Listed, bytes_of};
use crate::given::{looked_into, parts};
use crate::jax::read_xplane;
use crate::memory::given_up;
use crate::options::{Format, Options, Target};
use crate::place::is_one_screen;
use oomscope::ascend::budget::Budget;
use oomscope::ascend::capture::Capture;
use oomscope::ascend::discover::{CaptureFiles, discover};
use oomscope::ascend::select::Selection;
use oomscope::error::Warning;
use oomscope::oom::read::{self, ReadReport};
use oomscope::oom::report::Report;
use oomscope::oom::xplane_report::has_module;
use oomscope::xplane::capture as xplane;
use oomscope::xplane::discover as xplanes;
use rayon::prelude::*;
use std::collections::HashSet;

/// Of a capture that gave nothing, so many warnings go to standard error.
const SAID_PER_CAPTURE: usize = 10;

/// So many captures are named that had too little memory.
const SAID_OF_MEMORY: usize = 10;

/// What was found and read.
pub struct Found {
    pub captures: Vec<Capture>,
    pub xplanes: Vec<xplane::Capture>,
    pub reports: Vec<ReadReport>,
    /// Whether there are Ascend captures, of whatever rank and role.
    pub any_ascend: bool,
    /// Whether there are reports or saved pages.
    any_given: bool,
}

impl Found {
    /// Reads the captures that are wanted among the files.
    pub fn read(options: &Options, files: &[Listed], say: &mut dyn FnMut(&str)) -> Found {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let found = discover(&names);
        let looked = looked_into(&names, &found, files, &options.selection);
        let any_given = !looked.is_empty();
        let known: Vec<usize> = looked.iter().map(|(index, _)| *index).collect();
        let (mut captures, mut xplanes, reports) = parts(looked.into_iter().map(|(_, session)| session));
        let (given, given_xplanes) = (captures.len(), xplanes.len());
        let found_xplanes = xplanes::discover(&names);
        let sizes = |indices: &mut dyn Iterator<Item = usize>| indices.map(|index| bytes_of(&files[index])).sum::<u64>();
        let all = sizes(&mut found.iter().flat_map(CaptureFiles::files).chain(found_xplanes.iter().map(|found| found.file)));
        let budget = |own: u64| options.memory.map(|bytes| Budget::part(bytes, own, all));
        xplanes.par_extend(found_xplanes.par_iter().map(|found| read_xplane(&files[found.file], budget(bytes_of(&files[found.file])))));
        if found.is_empty() && !any_given && xplanes.is_empty() && !names.is_empty() {
            say(&nothing_found(&names));
        } else if let Some(message) = passed_over(&names, &found, known.into_iter().chain(found_xplanes.iter().map(|found| found.file))) {
            say(&message);
        }
        let read = |capture: &CaptureFiles| scan(capture, files, &options.selection, budget(sizes(&mut capture.files())));
        captures.par_extend(found.par_iter().filter_map(read));
        if options.memory.is_some() {
            let given_up = given_up(&captures[given..], &xplanes[given_xplanes..]);
            given_up.iter().take(SAID_OF_MEMORY).for_each(|line| say(line));
            let rest = given_up.len().saturating_sub(SAID_OF_MEMORY);
            if rest > 0 {
                say(&format!("--memory allows too little for {rest} more captures; the notes of each in the report say what is missing"));
            }
        }
        let read = Found { captures, xplanes, reports, any_ascend: !found.is_empty(), any_given };
        if !shows_notes(options) {
            read.tell_of_useless(say);
        }
        if read.any_ascend && read.captures.is_empty() {
            say(&none_chosen(&found, files));
        }
        read
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.captures.is_empty() && self.xplanes.is_empty() && self.reports.is_empty()
    }

    fn tell_of_useless(&self, say: &mut dyn FnMut(&str)) {
        for capture in self.captures.iter().filter(|capture| capture.devices.is_empty()) {
            tell(&capture.facts.warnings, say);
            let rest = capture.facts.warnings.len().saturating_sub(SAID_PER_CAPTURE);
            if rest > 0 {
                say(&format!("{}: {rest} more warnings are in the JSON report", capture.facts.source));
            }
        }
        for capture in self.xplanes.iter().filter(|capture| !capture.is_xspace) {
            tell(&capture.warnings, say);
        }
    }

    /// What is said of a module that was asked for and that no capture has.
    pub fn lacks_module(&self, module: Option<&str>) -> Option<String> {
        // What a report that is read back speaks of was chosen when it was written.
        let all_read = self.reports.is_empty() || !self.xplanes.is_empty();
        let module = module.filter(|module| all_read && !self.xplanes.iter().any(|capture| has_module(capture, module)))?;
        let mut there: Vec<&str> = self.xplanes.iter().flat_map(|capture| &capture.plans).map(|plan| &plan.name[..]).collect();
        there.sort_unstable();
        there.dedup();
        Some(match (&there[..], self.xplanes.is_empty()) {
            ([], true) => format!("--module {module}: modules are what JAX captures have, and none was read here"),
            ([], false) => format!("--module {module}: the JAX captures that were read have no modules"),
            (names, _) => format!("no capture has a module {module}; there are: {}", names.join(", ")),
        })
    }

    /// Says that reports and pages hold nothing of what was asked for, where that is so.
    pub fn tell_of_unchosen(&self, report: &Report, selection: &Selection, say: &mut dyn FnMut(&str)) {
        if report.captures.is_empty() && !self.any_ascend && self.any_given && *selection != Selection::default() {
            say("none of the captures in the reports and saved pages is of the rank and role that were asked for");
        }
    }
}

/// Whether the report shows its notes where standard error would show them once more.
pub fn shows_notes(options: &Options) -> bool {
    options.format != Format::Json && options.report() == Some(&Target::StandardOutput) && is_one_screen()
}

/// The first of some warnings.
pub fn tell(warnings: &[Warning], say: &mut dyn FnMut(&str)) {
    warnings.iter().take(SAID_PER_CAPTURE).for_each(|warning| say(&warning.message));
}

fn none_chosen(found: &[CaptureFiles], files: &[Listed]) -> String {
    let mut seen: Vec<String> = found.iter().map(|capture| whose(capture, files)).collect();
    seen.sort();
    seen.dedup();
    format!("none of the {} captures is of the rank and role that were asked for; there are: {}", found.len(), seen.join(", "))
}

/// What is said of files that were asked for by name and are nothing known. Folders hold many such files, which nobody asked for.
fn passed_over(names: &[&str], captures: &[CaptureFiles], others: impl Iterator<Item = usize>) -> Option<String> {
    let known: HashSet<&str> = captures.iter().flat_map(CaptureFiles::files).chain(others).map(|index| names[index]).collect();
    let warned_of = |name: &str| captures.iter().flat_map(|capture| &capture.warnings).any(|warning| warning.file == name);
    // What lies below a folder has that in its name.
    let unknown: Vec<&str> = names.iter().copied().filter(|name| !name.contains('/') && !known.contains(name) && !warned_of(name)).collect();
    let rest = if unknown.len() > SHOWN_NAMES { format!(" and {} more", unknown.len() - SHOWN_NAMES) } else { String::new() };
    let shown = unknown[..unknown.len().min(SHOWN_NAMES)].join(", ");
    (!unknown.is_empty()).then(|| format!("not read, for it is no file of a capture, report or page that this program saved: {shown}{rest}"))
}

/// So many files are named in a line.
const SHOWN_NAMES: usize = 5;

fn nothing_found(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(SHOWN_NAMES).copied().collect();
    let rest = if names.len() > shown.len() { ", …" } else { "" };
    let files = if names.len() == 1 { "1 file".to_owned() } else { format!("{} files", names.len()) };
    let page = names.iter().find(|name| read::is_page(name)).map_or(String::new(), |name| format!("; {name} is no page that this program saved"));
    format!("no capture found: looked for operator_memory.csv, *.xplane.pb, reports and saved pages in {files} ({}{rest}){page}", shown.join(", "))
}
