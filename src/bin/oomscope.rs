//! The command line: the page's report for a terminal, a script or a cluster job. It reads captures where they lie and writes nothing
//! beside them.

use oomscope::ascend::capture::{Capture, CaptureReader, Origins};
use oomscope::ascend::discover::{CaptureFiles, discover};
use oomscope::ascend::select::{Selection, rank_list};
use oomscope::ascend::table::{TableReader, TableRows};
use oomscope::ascend::trace_parts::{self, TracePart};
use oomscope::ascend::trace_view::{Trace, TraceReader};
use oomscope::error::{Position, Problem, Warning};
use oomscope::export::{json::json, table, text::text};
use oomscope::oom::read::{self, ReadReport};
use oomscope::oom::report::{CaptureReport, ascend_report, report};
use oomscope::oom::xplane_report::{Wanted, has_module, xplane_report};
use oomscope::scan::gzip::{Unpacker, damaged, is_gzip};
use oomscope::xplane::capture::{self as xplane, FirstReading};
use oomscope::xplane::discover as xplanes;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: oomscope PATH... [--rank LIST] [--role NAME] [--module NAME] [--top N] [--nearest-stacks]
                [--format text|json] [--out FILE] [--table FILE.csv|FILE.jsonl]

PATH is an Ascend Profiler folder, a JAX capture (*.xplane.pb), or a folder: searched for every capture below it.

  --rank LIST      only these ranks, as in 0,2-5
  --role NAME      only this role
  --module NAME    of a JAX capture, the module to speak of, as in jit_train_step or jit_train_step(47)
  --top N          how many rows the lists without an end of their own hold (25)
  --format FORMAT  text (for a terminal) or json (schema oomscope.report/1); text
  --out FILE       where the report goes; - is standard output, the default
  --table FILE     RL-Insight's table, one row a block: CSV or, when FILE ends in .jsonl, JSON Lines
  --nearest-stacks the table's stacks by RL-Insight's rule (the last operator of that name, however long ago): a guess
  --version, --help

Exit status: 0 at least one capture gave a report, 1 none did, 2 the command line is wrong.
";

/// Large enough that a read costs little, small enough to be still in the processor's cache when it is looked at.
const SLICE_BYTES: usize = 256 << 10;

/// Ranges of a trace for each thread: they do not end together, and tables are read meanwhile.
const RANGES_PER_THREAD: usize = 2;

/// A side file larger than this is none.
const LARGEST_SIDE_FILE_BYTES: u64 = 64 << 20;

/// Of a capture that gave nothing, so many warnings go to standard error.
const SAID_PER_CAPTURE: usize = 10;

struct Options {
    paths: Vec<PathBuf>,
    top: usize,
    json: bool,
    out: Option<PathBuf>,
    table: Option<PathBuf>,
    nearest: bool,
    selection: Selection,
    module: Option<String>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            let _ = write!(io::stderr(), "oomscope: {message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(code) => code,
        Err(message) => {
            let _ = writeln!(io::stderr(), "oomscope: {message}");
            ExitCode::FAILURE
        }
    }
}

/// `None`: what was asked for has been printed.
fn options() -> Result<Option<Options>, String> {
    use lexopt::prelude::*;
    let mut options =
        Options { paths: Vec::new(), top: 25, json: false, out: None, table: None, nearest: false, selection: Selection::default(), module: None };
    let mut parser = lexopt::Parser::from_env();
    let wrong = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(wrong)? {
        match argument {
            Value(path) => options.paths.push(path.into()),
            Long("top") => options.top = parser.value().and_then(|value| value.parse()).map_err(wrong)?,
            Long("rank") => options.selection.ranks = rank_list(&parser.value().and_then(|value| value.string()).map_err(wrong)?)?,
            Long("role") => options.selection.role = Some(parser.value().and_then(|value| value.string()).map_err(wrong)?),
            Long("module") => options.module = Some(parser.value().and_then(|value| value.string()).map_err(wrong)?),
            Long("table") => options.table = Some(parser.value().map_err(wrong)?.into()),
            Long("nearest-stacks") => options.nearest = true,
            Long("format") => {
                options.json = match parser.value().map_err(wrong)?.to_str() {
                    Some("text") => false,
                    Some("json") => true,
                    other => return Err(format!("--format is text or json, not {}", other.unwrap_or("?"))),
                }
            }
            Long("out") => options.out = Some(parser.value().map_err(wrong)?.into()).filter(|path: &PathBuf| path != Path::new("-")),
            Short('h') | Long("help") => return print(USAGE),
            Short('V') | Long("version") => return print(concat!("oomscope ", env!("CARGO_PKG_VERSION"), "\n")),
            _ => return Err(argument.unexpected().to_string()),
        }
    }
    if options.paths.is_empty() { Err("name a folder or a file to read".to_owned()) } else { Ok(Some(options)) }
}

fn print(text: &str) -> Result<Option<Options>, String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(None)
}

fn run(options: &Options) -> Result<ExitCode, String> {
    let mut stderr = io::stderr().lock();
    let mut say = |message: &str| drop(writeln!(stderr, "oomscope: {message}"));
    let files = list(&options.paths, &mut say);
    if let Some(path) = options.out.iter().chain(&options.table).find(|path| is_one_of(path, &files)) {
        say(&format!("{} is one of the files to read; nothing is written over a capture", path.display()));
        return Ok(ExitCode::from(2));
    }
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let found = discover(&names);
    let reports = reports(&names, &files, &options.selection);
    let xplanes: Vec<xplane::Capture> = xplanes::discover(&names).par_iter().map(|found| read_xplane(&files[found.file])).collect();
    if found.is_empty() && reports.is_empty() && xplanes.is_empty() {
        say(&nothing_found(&names));
    }
    let captures: Vec<Capture> = found.par_iter().filter_map(|capture| scan(capture, &files, &options.selection)).collect();
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
    if let Some(module) = options.module.as_ref().filter(|module| !xplanes.iter().any(|capture| has_module(capture, module))) {
        let mut there: Vec<&str> = xplanes.iter().flat_map(|capture| &capture.plans).map(|plan| &plan.name[..]).collect();
        there.sort_unstable();
        there.dedup();
        say(&format!("no capture has a module {module}; there are: {}", there.join(", ")));
    }
    if let Some(path) = &options.table {
        write_table(path, &captures, options.nearest)?;
    }
    let wanted = Wanted { top: options.top, module: options.module.as_deref() };
    let mut of_captures: Vec<CaptureReport> = captures.par_iter().map(|capture| ascend_report(capture, options.top)).collect();
    of_captures.par_extend(xplanes.par_iter().map(|capture| xplane_report(capture, &wanted)));
    let report = report(of_captures, &reports, options.top);
    report.warnings.iter().take(SAID_PER_CAPTURE).for_each(|warning| say(&warning.message));
    let written = if options.json { json(&report) } else { text(&report) };
    // What stands in a file stays there when nothing was found.
    if !report.captures.is_empty() || options.out.is_none() {
        write_report(options.out.as_deref(), &written)?;
    }
    let any = report.captures.iter().any(CaptureReport::is_usable);
    Ok(if any { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_one_of(path: &Path, files: &[Listed]) -> bool {
    std::fs::canonicalize(path).is_ok_and(|full| files.iter().any(|file| std::fs::canonicalize(&file.path).is_ok_and(|file| file == full)))
}

fn nothing_found(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().take(5).copied().collect();
    let rest = if names.len() > shown.len() { ", …" } else { "" };
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("no capture found: looked for operator_memory.csv and *.xplane.pb in {} file{plural} ({}{rest})", names.len(), shown.join(", "))
}

fn write_report(out: Option<&Path>, text: &str) -> Result<(), String> {
    match out {
        Some(path) => std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display())),
        // A reader that has seen enough (`| head`) is no failure.
        None => io::stdout()
            .lock()
            .write_all(text.as_bytes())
            .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.to_string()) }),
    }
}

fn write_table(path: &Path, captures: &[Capture], nearest: bool) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let mut out: Box<dyn Write> = if path == Path::new("-") { Box::new(io::stdout().lock()) } else { Box::new(File::create(path).map_err(failed)?) };
    let mut out = io::BufWriter::with_capacity(1 << 20, &mut out);
    let lines = path.extension().is_some_and(|extension| extension == "jsonl");
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
    for path in paths {
        let full = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let root = full.parent().unwrap_or(Path::new(""));
        for entry in walkdir::WalkDir::new(&full).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
                    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                    files.push(Listed { name: parts.join("/"), path: entry.into_path() });
                }
                Ok(_) => {}
                Err(error) => say(&error.to_string()),
            }
        }
    }
    files
}

/// The reports among the files, with the captures that are wanted.
fn reports(names: &[&str], files: &[Listed], selection: &Selection) -> Vec<ReadReport> {
    let read_one = |&index: &usize| {
        let Listed { name, path } = &files[index];
        let mut first = Vec::new();
        File::open(path).and_then(|file| file.take(read::SNIFFED_BYTES as u64).read_to_end(&mut first)).ok()?;
        if !read::looks_like_report(&first) {
            return None;
        }
        let mut report = match whole_file(path, read::LARGEST_REPORT_BYTES) {
            Ok(text) => read::read(name, &text),
            Err(problem) => read::failed(name, &problem),
        };
        report.captures.retain(|capture| match capture {
            CaptureReport::Ascend(capture) => selection.takes(capture.rank, capture.role.as_deref()),
            CaptureReport::Xplane(_) => selection.takes(None, None),
        });
        Some(report)
    };
    read::may_be_reports(names).par_iter().filter_map(read_one).collect()
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
fn scan(found: &CaptureFiles, files: &[Listed], selection: &Selection) -> Option<Capture> {
    let mut reader = side_files(found, files);
    let facts = reader.facts();
    if !selection.takes(facts.rank, facts.role.as_deref()) {
        return None;
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

/// Reads a JAX capture, twice: names first, then events.
fn read_xplane(file: &Listed) -> xplane::Capture {
    let mut first = FirstReading::new(&file.name);
    if let Err(problem) = slices(&file.path, &mut |slice| first.feed(slice)) {
        first.fail(&problem, Position::file(&file.name));
    }
    let known = first.finish();
    let mut happened = xplane::Happened::default();
    if known.has_events() {
        let mut second = known.second();
        // What cannot be read was said the first time.
        let _ = slices(&file.path, &mut |slice| second.feed(slice));
        happened = second.finish();
    }
    xplane::Capture::of(known, happened)
}

fn read_trace(file: &Listed) -> Trace {
    if starts_as_gzip(&file.path) {
        return read_packed_trace(file);
    }
    let bytes = std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
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
    slices(path, &mut |bytes| text.extend_from_slice(bytes))?;
    Ok(text)
}

fn slices(path: &Path, feed: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut slice = vec![0; SLICE_BYTES];
    let mut unpacker = Unpacker::default();
    loop {
        match file.read(&mut slice) {
            Ok(0) => return unpacker.finish(feed).map_err(|error| damaged(&error)),
            Ok(read) => unpacker.feed(&slice[..read], feed).map_err(|error| damaged(&error))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
}
