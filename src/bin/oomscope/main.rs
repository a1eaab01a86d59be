//! The command line: the page's report for a terminal, a script or a cluster job. It reads captures where they lie and writes nothing
//! beside them.

mod chart;
mod html;
mod options;

use oomscope::ascend::budget::Budget;
use oomscope::ascend::capture::{Capture, CaptureReader, Origins};
use oomscope::ascend::discover::{CaptureFiles, discover};
use oomscope::ascend::select::Selection;
use oomscope::ascend::stacks::Stacks;
use oomscope::ascend::table::{TableReader, TableRows};
use oomscope::ascend::trace_parts::{self, TracePart};
use oomscope::ascend::trace_view::{Trace, TraceReader};
use oomscope::error::{Position, Problem, Warning};
use oomscope::export::inert::printable;
use oomscope::export::{json::json, markdown::markdown, table, text::text};
use oomscope::oom::difference::{difference, find};
use oomscope::oom::read::{self, ReadReport, Sniffed};
use oomscope::oom::report::{CaptureReport, ascend_report, report};
use oomscope::oom::xplane_report::{Wanted, has_module, xplane_report};
use oomscope::scan::gzip::{Unpacker, damaged, is_gzip};
use oomscope::scan::wire::{Selective, feed_selectively};
use oomscope::selftest::self_test;
use oomscope::session::{Kept, Session, page};
use oomscope::xplane::capture as xplane;
use oomscope::xplane::discover as xplanes;
use options::{Asked, Format, Options, Target, USAGE, asked};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Large enough that a read costs little, small enough to be still in the processor's cache when it is looked at.
const SLICE_BYTES: usize = 256 << 10;

/// Ranges of a trace for each thread: they do not end together, and tables are read meanwhile.
const RANGES_PER_THREAD: usize = 2;

/// A side file larger than this is none.
const LARGEST_SIDE_FILE_BYTES: u64 = 64 << 20;

/// Of a capture that gave nothing, so many warnings go to standard error.
const SAID_PER_CAPTURE: usize = 10;

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
    match run(&options) {
        Ok(code) => code,
        Err(message) => {
            let _ = writeln!(io::stderr(), "oomscope: {}", printable(&message));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode, String> {
    let mut stderr = io::stderr().lock();
    // Names of files, folders and columns can hold anything.
    let mut say = |message: &str| drop(writeln!(stderr, "oomscope: {}", printable(message)));
    let files = list(&options.paths, &mut say);
    let targets = [Some(&options.out), options.table.as_ref()].into_iter().flatten().filter_map(Target::file);
    if let Some(message) = options.html.as_ref().and_then(|_| html::missing()) {
        say(&message);
        return Ok(ExitCode::from(2));
    }
    if let Some(path) =
        targets.chain(options.chart.iter().map(|chart| chart.file.as_path())).chain(options.html.as_deref()).find(|path| is_one_of(path, &files))
    {
        say(&format!("{} is one of the files to read; nothing is written over a capture", path.display()));
        return Ok(ExitCode::from(2));
    }
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let found = discover(&names);
    let looked = looked_into(&names, &found, &files, &options.selection);
    let in_others = !looked.is_empty();
    let (mut captures, mut xplanes, reports) = parts(looked);
    xplanes.par_extend(xplanes::discover(&names).par_iter().map(|found| read_xplane(&files[found.file])));
    if found.is_empty() && !in_others && xplanes.is_empty() && !names.is_empty() {
        say(&nothing_found(&names));
    }
    let all = found.iter().flat_map(CaptureFiles::files).map(|index| bytes_of(&files[index])).sum();
    let budget = |capture: &CaptureFiles| {
        let own = capture.files().map(|index| bytes_of(&files[index])).sum();
        options.memory.map(|bytes| Budget::part(bytes, own, all))
    };
    captures.par_extend(found.par_iter().filter_map(|capture| scan(capture, &files, &options.selection, budget(capture))));
    for capture in captures.iter().filter(|capture| capture.devices.is_empty()) {
        capture.facts.warnings.iter().take(SAID_PER_CAPTURE).for_each(|warning: &Warning| say(&warning.message));
        let rest = capture.facts.warnings.len().saturating_sub(SAID_PER_CAPTURE);
        if rest > 0 {
            say(&format!("{}: {rest} more warnings are in the JSON report", capture.facts.source));
        }
    }
    if !found.is_empty() && captures.is_empty() {
        let mut seen: Vec<String> = found.iter().map(|capture| whose(capture, &files)).collect();
        seen.sort();
        seen.dedup();
        say(&format!("none of the {} captures is of the rank and role that were asked for; there are: {}", found.len(), seen.join(", ")));
    }
    for capture in xplanes.iter().filter(|capture| !capture.is_xspace) {
        capture.warnings.iter().take(SAID_PER_CAPTURE).for_each(|warning| say(&warning.message));
    }
    if let Some(message) = not_there(options, &reports, &xplanes) {
        say(&message);
        return Ok(ExitCode::from(2));
    }
    if options.table.is_some() && captures.is_empty() && found.is_empty() {
        say("--table: the table has a row for each block of an Ascend capture, and none was read here; reports and JAX captures have no blocks to write");
    }
    if let Some(target) = &options.table {
        write_table(target, &captures, options.nearest)?;
    }
    if let Some(asked) = &options.chart {
        match chart::picture(asked, &captures, &xplanes, options.module.as_deref()) {
            Ok(picture) => chart::write(asked, &picture, &mut say)?,
            Err(message) => {
                say(&format!("--chart: {message}"));
                return Ok(ExitCode::from(2));
            }
        }
    }
    if let Some(path) = options.html.as_deref().filter(|_| !captures.is_empty() || !xplanes.is_empty() || !reports.is_empty()) {
        say(&html::write_page(path, &captures, &xplanes, &reports, options.include)?);
    }
    if options.nearest {
        captures.iter_mut().flat_map(|capture| &mut capture.devices).filter_map(|device| device.stacks.as_mut()).for_each(Stacks::guess);
    }
    let wanted = Wanted { top: options.top, module: options.module.as_deref(), last_executions: None };
    let mut of_captures: Vec<CaptureReport> = captures.par_iter().map(|capture| ascend_report(capture, options.top)).collect();
    of_captures.par_extend(xplanes.par_iter().map(|capture| xplane_report(capture, &wanted)));
    let mut report = report(of_captures, &reports, options.top);
    report.warnings.iter().take(SAID_PER_CAPTURE).for_each(|warning| say(&warning.message));
    if report.captures.is_empty() && found.is_empty() && in_others && options.selection != Selection::default() {
        say("none of the captures in the reports and saved pages is of the rank and role that were asked for");
    }
    for (a, b) in &options.differences {
        match find(&report, a).and_then(|a| Ok((a, find(&report, b)?))) {
            Ok((a, b)) => report.differences.extend(difference(&report, a, b)),
            Err(message) => {
                say(&format!("--diff: {message}"));
                return Ok(ExitCode::from(2));
            }
        }
    }
    // What stands in a file stays there when nothing was found.
    if !report.captures.is_empty() || options.out == Target::StandardOutput {
        write_report(
            &options.out,
            &match options.format {
                Format::Text => text(&report),
                Format::Markdown => markdown(&report, options.top),
                Format::Json => json(&report),
            },
        )?;
    }
    let any = report.captures.iter().any(CaptureReport::is_usable);
    Ok(if any { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was asked for that these captures do not have.
fn not_there(options: &Options, reports: &[ReadReport], xplanes: &[xplane::Capture]) -> Option<String> {
    // What a report that is read back speaks of was chosen when it was written.
    let all_read = reports.is_empty() || !xplanes.is_empty();
    if let Some(module) = options.module.as_ref().filter(|module| all_read && !xplanes.iter().any(|capture| has_module(capture, module))) {
        let mut there: Vec<&str> = xplanes.iter().flat_map(|capture| &capture.plans).map(|plan| &plan.name[..]).collect();
        there.sort_unstable();
        there.dedup();
        let names = if there.is_empty() { "no modules at all: they are what JAX captures have".to_owned() } else { there.join(", ") };
        return Some(format!("no capture has a module {module}; there are: {names}"));
    }
    None
}

fn is_one_of(path: &Path, files: &[Listed]) -> bool {
    std::fs::canonicalize(path).is_ok_and(|full| files.iter().any(|file| std::fs::canonicalize(&file.path).is_ok_and(|file| file == full)))
}

fn nothing_found(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(5).copied().collect();
    let rest = if names.len() > shown.len() { ", …" } else { "" };
    let files = if names.len() == 1 { "1 file".to_owned() } else { format!("{} files", names.len()) };
    let page = names.iter().find(|name| read::is_page(name)).map_or(String::new(), |name| format!("; {name} is no page that this program saved"));
    format!("no capture found: looked for operator_memory.csv, *.xplane.pb, reports and saved pages in {files} ({}{rest}){page}", shown.join(", "))
}

fn write_report(out: &Target, text: &str) -> Result<(), String> {
    match out {
        Target::File(path) => std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display())),
        Target::StandardOutput => to_stdout(text).map_err(|error| error.to_string()),
    }
}

/// A reader that has seen enough (`| head`) is no failure.
fn to_stdout(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(text.as_bytes()).or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

fn write_table(target: &Target, captures: &[Capture], nearest: bool) -> Result<(), String> {
    let name = target.file().map_or("standard output".to_owned(), |path| path.display().to_string());
    let failed = |error: io::Error| format!("{name}: {error}");
    let mut out: Box<dyn Write> = match target {
        Target::StandardOutput => Box::new(io::stdout().lock()),
        Target::File(path) => Box::new(File::create(path).map_err(failed)?),
    };
    let mut out = io::BufWriter::with_capacity(1 << 20, &mut out);
    let lines = target.file().and_then(Path::extension).is_some_and(|extension| extension == "jsonl");
    if !lines {
        out.write_all(table::header().as_bytes()).map_err(failed)?;
    }
    let captures: Vec<&Capture> = captures.iter().collect();
    for place in table::order(&captures) {
        let row = table::row(&captures, &place, nearest);
        let line = if lines { table::json_row(&row) } else { table::csv_row(&row) };
        out.write_all(line.as_bytes()).map_err(failed)?;
    }
    out.flush().map_err(failed)
}

/// A file below a PATH.
struct Listed {
    /// The last component of the PATH and the path below it, with `/`.
    name: String,
    path: PathBuf,
}

fn list(paths: &[PathBuf], say: &mut dyn FnMut(&str)) -> Vec<Listed> {
    let mut files = Vec::new();
    let (mut listed, mut names) = (HashSet::new(), HashMap::new());
    for path in paths {
        let full = match std::fs::canonicalize(path) {
            Ok(full) => full,
            Err(error) => {
                say(&format!("{}: {}", path.display(), plain(&error)));
                continue;
            }
        };
        let last = full.file_name().map_or_else(|| full.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
        // Two PATHs of one name stay apart, as two dropped folders do.
        let times = *names.entry(last.clone()).and_modify(|times| *times += 1).or_insert(1);
        let root = if times == 1 { last } else { format!("{last} ({times})") };
        let mut holds_any = false;
        for entry in walkdir::WalkDir::new(&full).follow_links(true).sort_by_file_name() {
            holds_any |= entry.as_ref().map_or(true, |entry| entry.file_type().is_file());
            match entry {
                // A file that two PATHs lead to is one file.
                Ok(entry) if entry.file_type().is_file() && listed.insert(entry.path().to_owned()) => {
                    let below = entry.path().strip_prefix(&full).unwrap_or(entry.path());
                    let parts: Vec<_> = std::iter::once(root.as_str().into()).chain(below.iter().map(|part| part.to_string_lossy())).collect();
                    files.push(Listed { name: parts.join("/"), path: entry.into_path() });
                }
                Ok(_) => {}
                Err(error) => {
                    let place = error.path().unwrap_or(&full).display().to_string();
                    say(&format!("{place}: {}", error.io_error().map_or_else(|| "a link leads back to a folder above it".to_owned(), plain)));
                }
            }
        }
        if !holds_any {
            say(&format!(
                "{}: {}",
                path.display(),
                if full.is_dir() { "no file lies below this folder" } else { "neither a file nor a folder; a stream must be saved first" }
            ));
        }
    }
    files
}

/// What the system says, in words.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        _ => error.to_string(),
    }
}

/// The reports and saved pages among the files, with the captures that are wanted; and what is no capture that can be read.
fn looked_into(names: &[&str], found: &[CaptureFiles], files: &[Listed], selection: &Selection) -> Vec<Session> {
    let read_one = |&index: &usize| {
        let Listed { name, path } = &files[index];
        let of_report = |report| Session { captures: Vec::new(), reports: vec![report] };
        let mut first = Vec::new();
        if let Err(error) = File::open(path).and_then(|file| file.take(read::SNIFFED_BYTES as u64).read_to_end(&mut first)) {
            // What it is nobody can tell.
            return Some(of_report(read::failed(name, &unreadable(&error))));
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
        Some(session)
    };
    read::worth_a_look(names, found).par_iter().filter_map(read_one).collect()
}

/// By kind.
fn parts(sessions: Vec<Session>) -> (Vec<Capture>, Vec<xplane::Capture>, Vec<ReadReport>) {
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

/// A reader that has the small files: they say whose capture it is.
fn side_files(found: &CaptureFiles, files: &[Listed]) -> CaptureReader {
    let mut reader = CaptureReader::new(found);
    if let Some(file) = found.profiler_info.map(|index| &files[index]) {
        match whole_file(&file.path, LARGEST_SIDE_FILE_BYTES) {
            Ok(text) => reader.profiler_info(&file.name, &text),
            Err(problem) => reader.fail(&problem, Position::file(&file.name)),
        }
    }
    if let Some(file) = found.profiler_metadata.map(|index| &files[index]) {
        match whole_file(&file.path, LARGEST_SIDE_FILE_BYTES) {
            Ok(text) => reader.profiler_metadata(&file.name, &text),
            Err(problem) => reader.fail(&problem, Position::file(&file.name)),
        }
    }
    reader
}

/// Role and rank of a capture, for a message.
fn whose(found: &CaptureFiles, files: &[Listed]) -> String {
    let facts = side_files(found, files).facts();
    let rank = facts.rank.map_or("rank unknown".to_owned(), |rank| format!("rank {rank}"));
    format!("{} {rank}", facts.role.unwrap_or_default()).trim().to_owned()
}

/// `None`: the capture is not of the ranks and roles that were asked for.
fn scan(found: &CaptureFiles, files: &[Listed], selection: &Selection, budget: Option<Budget>) -> Option<Capture> {
    let mut reader = side_files(found, files);
    let facts = reader.facts();
    if !selection.takes(facts.rank, facts.role.as_deref()) {
        return None;
    }
    if let Some(budget) = budget {
        reader.within(budget);
    }
    let tables = || {
        for file in found.operator_memory.iter().map(|&index| &files[index]) {
            read_table(&mut reader.operator_memory, file);
        }
        reader.memory_record = found.memory_record.map(|index| read_whole_table(&files[index]));
        reader.module_memory = found.npu_module_mem.map(|index| read_whole_table(&files[index]));
        reader.finish()
    };
    let (scanned, trace) = rayon::join(tables, || found.trace.map(|index| read_trace(&files[index])));
    let origins = trace.map(|trace| Origins::of(&scanned, trace));
    let mut capture = scanned.build();
    capture.attach(origins.unwrap_or_default());
    Some(capture)
}

/// Reads a JAX capture, each time what is wanted of it; an archive only in order.
fn read_xplane(file: &Listed) -> xplane::Capture {
    let is_packed = starts_as_gzip(&file.path);
    xplane::Capture::read(&file.name, |reader| if is_packed { read_in_order(&file.path, reader) } else { read_selectively(&file.path, reader) })
}

fn read_in_order(path: &Path, reader: &mut dyn Selective) -> Result<(), Problem> {
    let mut at = 0;
    slices(path, &mut |slice| {
        reader.feed(at, slice);
        at += slice.len() as u64;
    })
}

fn read_selectively(path: &Path, reader: &mut dyn Selective) -> Result<(), Problem> {
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    let size = file.metadata().map_err(|error| unreadable(&error))?.len();
    let mut slice = vec![0; SLICE_BYTES];
    let mut here = 0;
    feed_selectively(reader, size, |range, feed| {
        if here != range.start {
            here = file.seek(SeekFrom::Start(range.start)).map_err(|error| unreadable(&error))?;
        }
        let most = slice.len().min(usize::try_from(range.end - range.start).unwrap_or(usize::MAX));
        file.read_exact(&mut slice[..most]).map_err(|error| unreadable(&error))?;
        here += most as u64;
        feed(&slice[..most]);
        Ok(())
    })
}

/// 0 where the system does not say it.
fn bytes_of(file: &Listed) -> u64 {
    std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len())
}

fn read_trace(file: &Listed) -> Trace {
    if starts_as_gzip(&file.path) {
        return read_packed_trace(file);
    }
    let bytes = bytes_of(file);
    let ranges = trace_parts::ranges(bytes, rayon::current_num_threads() * RANGES_PER_THREAD);
    let parts: Vec<_> = ranges.into_par_iter().map(|range| (range.clone(), read_part(file, range, false))).collect();
    trace_parts::join(&file.name, parts, &mut |range| read_part(file, range, true))
}

/// An archive is one stream: one thread reads it.
fn read_packed_trace(file: &Listed) -> Trace {
    let mut reader = TraceReader::new(&file.name);
    let read = slices(&file.path, &mut |slice| reader.feed(slice));
    let mut trace = reader.finish();
    trace.warnings.extend(read.err().map(|problem| Warning::new(&problem, Position::file(&file.name))));
    trace
}

fn read_part(file: &Listed, range: Range<u64>, exact: bool) -> TracePart {
    let mut reader = TraceReader::range(&file.name, range.clone(), exact);
    let mut read = || -> io::Result<()> {
        let mut source = File::open(&file.path)?;
        source.seek(SeekFrom::Start(range.start))?;
        while !reader.is_done() {
            match source.read(reader.room(SLICE_BYTES)) {
                Ok(0) => break,
                Ok(bytes) => reader.filled(bytes),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    let failure = read().err().map(|error| Warning::new(&unreadable(&error), Position::file(&file.name)));
    TracePart { failure, ..reader.finish_part() }
}

fn starts_as_gzip(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok_and(|()| is_gzip(&start))
}

fn read_whole_table<R: TableRows + Default>(file: &Listed) -> TableReader<R> {
    let mut reader = TableReader::default();
    read_table(&mut reader, file);
    reader
}

fn read_table<R: TableRows>(reader: &mut TableReader<R>, file: &Listed) {
    reader.begin(&file.name);
    reader.file_bytes = bytes_of(file);
    if let Err(problem) = slices(&file.path, &mut |slice| reader.feed(slice)) {
        reader.fail(&problem, Position::file(&file.name));
    }
    reader.end();
}

fn unreadable(error: &io::Error) -> Problem {
    Problem::UnreadableFile { reason: error.to_string() }
}

fn whole_file(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Problem> {
    if std::fs::metadata(path).map_err(|error| unreadable(&error))?.len() > most_bytes {
        return Err(Problem::DamagedFile { reason: "the file is too large to be what its name says".to_owned() });
    }
    let mut text = Vec::new();
    unpack(path, Unpacker::of_at_most(most_bytes), &mut |bytes| text.extend_from_slice(bytes))?;
    Ok(text)
}

fn slices(path: &Path, feed: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
    unpack(path, Unpacker::default(), feed)
}

fn unpack(path: &Path, mut unpacker: Unpacker, feed: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut slice = vec![0; SLICE_BYTES];
    loop {
        match file.read(&mut slice) {
            Ok(0) => return unpacker.finish(feed).map_err(|error| damaged(&error)),
            Ok(read) => unpacker.feed(&slice[..read], feed).map_err(|error| damaged(&error))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
}
