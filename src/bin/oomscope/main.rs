//! The command line: the page's report for a terminal, a script or a cluster job. It reads captures where they lie and writes nothing
//! beside them.

mod ascend;
mod chart;
mod files;
mod given;
mod html;
mod jax;
mod options;
mod output;
mod reading;

use files::{Listed, is_one_of, list};
use oomscope::ascend::stacks::Stacks;
use oomscope::export::inert::printable;
use oomscope::export::{json::json, markdown::markdown, text::text};
use oomscope::oom::difference::{difference, find};
use oomscope::oom::report::{CaptureReport, Report, ascend_report, report};
use oomscope::oom::xplane_report::{Wanted, xplane_report};
use oomscope::selftest::self_test;
use options::{Asked, Format, Options, Target, USAGE, asked};
use output::{to_stdout, write_report, write_table};
use rayon::prelude::*;
use reading::{Found, tell};
use std::io::{self, Write};
use std::process::ExitCode;

/// Why there is no report.
enum Stop {
    /// The command line asks for what cannot be.
    Wrong(String),
    /// Something could not be written.
    Failed(String),
}

fn main() -> ExitCode {
    let options = match asked(std::env::args_os().skip(1)) {
        Ok(Asked::Report(options)) => options,
        Ok(Asked::Print(text)) => return if to_stdout(text).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE },
        Ok(Asked::SelfTest) => {
            let (lines, all_good) = self_test();
            let said = to_stdout(&(lines.join("\n") + "\n"));
            return if all_good && said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Err(message) => {
            let _ = write!(io::stderr(), "oomscope: {}\n\n{USAGE}", printable(&message));
            return ExitCode::from(2);
        }
    };
    let (message, code) = match run(&options) {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => return ExitCode::FAILURE,
        Err(Stop::Wrong(message)) => (message, ExitCode::from(2)),
        Err(Stop::Failed(message)) => (message, ExitCode::FAILURE),
    };
    let _ = writeln!(io::stderr(), "oomscope: {}", printable(&message));
    code
}

/// Whether any capture gave a report.
fn run(options: &Options) -> Result<bool, Stop> {
    let mut stderr = io::stderr().lock();
    // Names of files, folders and columns can hold anything.
    let mut say = |message: &str| drop(writeln!(stderr, "oomscope: {}", printable(message)));
    let files = list(&options.paths, &mut say);
    check_targets(options, &files)?;
    let mut found = Found::read(options, &files, &mut say);
    if let Some(message) = found.lacks_module(options.module.as_deref()) {
        return Err(Stop::Wrong(message));
    }
    write_besides(options, &found, &mut say)?;
    let report = reported(options, &mut found, &mut say)?;
    // What stands in a file stays there when nothing was found.
    if !report.captures.is_empty() || options.out == Target::StandardOutput {
        let text = match options.format {
            Format::Text => text(&report),
            Format::Markdown => markdown(&report, options.top),
            Format::Json => json(&report),
        };
        write_report(&options.out, &text).map_err(Stop::Failed)?;
    }
    Ok(report.captures.iter().any(CaptureReport::is_usable))
}

/// Nothing is read for what cannot be written.
fn check_targets(options: &Options, files: &[Listed]) -> Result<(), Stop> {
    if let Some(message) = options.html.as_ref().and_then(|_| html::missing()) {
        return Err(Stop::Wrong(message));
    }
    let texts = [Some(&options.out), options.table.as_ref()].into_iter().flatten().filter_map(Target::file);
    let mut targets = texts.chain(options.chart.iter().map(|chart| chart.file.as_path())).chain(options.html.as_deref());
    match targets.find(|path| is_one_of(path, files)) {
        Some(path) => Err(Stop::Wrong(format!("{} is one of the files to read; nothing is written over a capture", path.display()))),
        None => Ok(()),
    }
}

/// The table, the picture and the page that were asked for besides the report.
fn write_besides(options: &Options, found: &Found, say: &mut dyn FnMut(&str)) -> Result<(), Stop> {
    let Found { captures, xplanes, reports, any_ascend, .. } = found;
    if let Some(target) = &options.table {
        if captures.is_empty() && !any_ascend {
            say("--table: the table has a row for each block of an Ascend capture, and none was read here; reports and JAX captures have no blocks to write");
        }
        write_table(target, captures, options.nearest).map_err(Stop::Failed)?;
        let folded: u64 = captures.iter().flat_map(|capture| &capture.devices).filter_map(|device| Some(device.blocks.folded.as_ref()?.blocks)).sum();
        if folded > 0 {
            say(&format!("--table: {folded} blocks are folded for want of memory and have no row; without --memory each has one"));
        }
    }
    if let Some(asked) = &options.chart {
        let picture = chart::picture(asked, captures, xplanes, options.module.as_deref()).map_err(|message| Stop::Wrong(format!("--chart: {message}")))?;
        chart::write(asked, &picture, say).map_err(Stop::Failed)?;
    }
    if let Some(path) = options.html.as_deref().filter(|_| !found.is_empty()) {
        say(&html::write_page(path, captures, xplanes, reports, options.include).map_err(Stop::Failed)?);
    }
    Ok(())
}

/// The report on what was found, with the differences that were asked for.
fn reported(options: &Options, found: &mut Found, say: &mut dyn FnMut(&str)) -> Result<Report, Stop> {
    if options.nearest {
        found.captures.iter_mut().flat_map(|capture| &mut capture.devices).filter_map(|device| device.stacks.as_mut()).for_each(Stacks::guess);
    }
    let wanted = Wanted { top: options.top, module: options.module.as_deref(), last_executions: None };
    let mut of_captures: Vec<CaptureReport> = found.captures.par_iter().map(|capture| ascend_report(capture, options.top)).collect();
    of_captures.par_extend(found.xplanes.par_iter().map(|capture| xplane_report(capture, &wanted)));
    let mut report = report(of_captures, &found.reports, options.top);
    tell(&report.warnings, say);
    found.tell_of_unchosen(&report, &options.selection, say);
    for (a, b) in &options.differences {
        let pair = find(&report, a).and_then(|a| Ok((a, find(&report, b)?)));
        let (a, b) = pair.map_err(|message| Stop::Wrong(format!("--diff: {message}")))?;
        report.differences.extend(difference(&report, a, b));
    }
    Ok(report)
}
