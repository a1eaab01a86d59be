//! The command line: the page's report for a terminal, a script or a cluster job. It reads captures where they lie and writes nothing
//! beside them.

mod ascend;
mod chart;
mod files;
mod given;
mod html;
mod jax;
mod memory;
mod options;
mod output;
mod place;
mod reading;
mod usage;

use files::{Listed, list};
use oomscope::ascend::capture::Capture;
use oomscope::ascend::stacks::Stacks;
use oomscope::export::inert::printable;
use oomscope::export::{json::json, markdown::markdown, text::text};
use oomscope::oom::difference::{difference, find};
use oomscope::oom::report::{CaptureReport, Report, ascend_report, report};
use oomscope::oom::xplane_report::{Wanted, xplane_report};
use oomscope::selftest::self_test;
use options::{Asked, Format, Options, Target, asked};
use output::{Output, Writer, check_writable, to_stdout, write_all, write_table};
use place::{over, twice};
use rayon::prelude::*;
use reading::{Found, shows_notes, tell};
use std::io::{self, Write};
use std::path::Path;
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
            let _ = write!(io::stderr(), "oomscope: {}\noomscope --help lists the options\n", printable(&message));
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
    check_options(options)?;
    let files = list(&options.paths, &mut say);
    check_targets(options, &files)?;
    let mut found = Found::read(options, &files, &mut say);
    if let Some(message) = found.lacks_module(options.module.as_deref()) {
        return Err(Stop::Wrong(message));
    }
    let picture = picture(options, &found, &mut say)?;
    let page = page(options, &found)?;
    let report = reported(options, &mut found, &mut say)?;
    let table = options.table.as_ref().inspect(|_| tell_of_table(&found, &mut say));
    let text = report_text(options, &report);
    let outputs = [
        table.map(|target| (target, table_of(options, &found.captures, target))),
        options.chart.as_ref().zip(picture.as_deref()).map(|(asked, picture)| (&asked.file, bytes_of(picture))),
        options.html.as_ref().zip(page.as_deref()).map(|(target, page)| (target, bytes_of(page))),
        options.report().zip(text.as_deref()).map(|(target, text)| (target, bytes_of(text.as_bytes()))),
    ];
    let outputs: Vec<Output> = outputs.into_iter().flatten().map(|(target, write)| Output { target, write }).collect();
    write_all(&outputs).map_err(Stop::Failed)?;
    if let Some((path, page)) = options.html.as_ref().and_then(Target::file).zip(page.as_deref()) {
        say(&format!("{}: {} bytes", path.display(), page.len()));
    }
    Ok(report.captures.iter().any(CaptureReport::is_usable))
}

/// Nothing is looked at for what cannot be written.
fn check_options(options: &Options) -> Result<(), Stop> {
    let wrong = options.html.as_ref().and_then(|_| html::missing()).or_else(|| twice(&options.outputs()));
    wrong.map_or(Ok(()), |message| Err(Stop::Wrong(message)))
}

/// Nothing is read for what cannot be written.
fn check_targets(options: &Options, files: &[Listed]) -> Result<(), Stop> {
    match over(&options.outputs(), files) {
        Some(message) => Err(Stop::Wrong(message)),
        None => check_writable(&options.outputs()).map_err(Stop::Failed),
    }
}

/// The picture that was asked for.
fn picture(options: &Options, found: &Found, say: &mut dyn FnMut(&str)) -> Result<Option<Vec<u8>>, Stop> {
    let Some(asked) = &options.chart else { return Ok(None) };
    let picture = chart::picture(asked, &found.captures, &found.xplanes, options.module.as_deref());
    let picture = picture.map_err(|message| Stop::Wrong(format!("--chart: {message}")))?;
    chart::bytes(asked, &picture, say).map(Some).map_err(Stop::Failed)
}

/// The page that was asked for, before guesses are made: it makes its own.
fn page(options: &Options, found: &Found) -> Result<Option<Vec<u8>>, Stop> {
    let wanted = options.html.is_some() && !found.is_empty();
    wanted.then(|| html::page(&found.captures, &found.xplanes, &found.reports, options.include)).transpose().map_err(Stop::Failed)
}

/// Says what the table does not have.
fn tell_of_table(found: &Found, say: &mut dyn FnMut(&str)) {
    if found.captures.is_empty() && !found.any_ascend {
        say("--table: the table has a row for each block of an Ascend capture, and none was read here; reports and JAX captures have no blocks to write");
    }
    let folded: u64 = found.captures.iter().flat_map(|capture| &capture.devices).filter_map(|device| Some(device.blocks.folded.as_ref()?.blocks)).sum();
    if folded > 0 {
        say(&format!("--table: {folded} blocks are folded for want of memory and have no row; without --memory each has one"));
    }
}

fn table_of<'a>(options: &'a Options, captures: &'a [Capture], target: &Target) -> Writer<'a> {
    let is_lines = target.file().and_then(Path::extension).is_some_and(|extension| extension == "jsonl");
    Box::new(move |out| write_table(out, captures, options.nearest, is_lines))
}

fn bytes_of(bytes: &[u8]) -> Writer<'_> {
    Box::new(move |out| out.write_all(bytes))
}

/// What is to be written of the report. What stands in a file stays there when nothing was found.
fn report_text(options: &Options, report: &Report) -> Option<String> {
    let target = options.report()?;
    (!report.captures.is_empty() || *target == Target::StandardOutput).then(|| match options.format {
        Format::Text => text(report),
        Format::Markdown => markdown(report, options.top),
        Format::Json => json(report),
    })
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
    if !shows_notes(options) {
        tell(&report.warnings, say);
    }
    found.tell_of_unchosen(&report, &options.selection, say);
    for (a, b) in &options.differences {
        let pair = find(&report, a).and_then(|a| Ok((a, find(&report, b)?)));
        let (a, b) = pair.map_err(|message| Stop::Wrong(format!("--diff: {message}")))?;
        report.differences.extend(difference(&report, a, b));
    }
    Ok(report)
}
