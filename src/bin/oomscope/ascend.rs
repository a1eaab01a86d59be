//! An Ascend capture from its files: tables and trace at once, a large trace by several threads.

use crate::files::{Listed, SLICE_BYTES, bytes_of, open, slices, starts_as_gzip, unreadable, whole_file};
use oomscope::ascend::budget::Budget;
use oomscope::ascend::capture::{Capture, CaptureReader, Origins};
use oomscope::ascend::discover::CaptureFiles;
use oomscope::ascend::select::Selection;
use oomscope::ascend::table::{TableReader, TableRows};
use oomscope::ascend::trace_parts::{self, TracePart};
use oomscope::ascend::trace_view::{Trace, TraceReader};
use oomscope::error::{Position, Warning};
use rayon::prelude::*;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// Ranges of a trace for each thread: they do not end together, and tables are read meanwhile.
const RANGES_PER_THREAD: usize = 2;

/// A side file larger than this is none.
const LARGEST_SIDE_FILE_BYTES: u64 = 64 << 20;

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
pub fn whose(found: &CaptureFiles, files: &[Listed]) -> String {
    let facts = side_files(found, files).facts();
    let rank = facts.rank.map_or("rank unknown".to_owned(), |rank| format!("rank {rank}"));
    format!("{} {rank}", facts.role.unwrap_or_default()).trim().to_owned()
}

/// `None`: the capture is not of the ranks and roles that were asked for.
pub fn scan(found: &CaptureFiles, files: &[Listed], selection: &Selection, budget: Option<Budget>) -> Option<Capture> {
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
    let (scanned, trace) = rayon::join(tables, || found.trace.map(|index| read_trace(&files[index], budget)));
    let origins = trace.map(|trace| Origins::of(&scanned, trace));
    let mut capture = scanned.build();
    capture.attach(origins.unwrap_or_default());
    Some(capture)
}

fn read_trace(file: &Listed, budget: Option<Budget>) -> Trace {
    if starts_as_gzip(&file.path) {
        return read_packed_trace(file, budget);
    }
    let bytes = bytes_of(file);
    let ranges = trace_parts::ranges(bytes, rayon::current_num_threads() * RANGES_PER_THREAD);
    let parts: Vec<_> = ranges.into_par_iter().map(|range| (range.clone(), read_part(file, range, false))).collect();
    trace_parts::join(&file.name, budget, parts, &mut |range| read_part(file, range, true))
}

/// An archive is one stream: one thread reads it.
fn read_packed_trace(file: &Listed, budget: Option<Budget>) -> Trace {
    let mut reader = TraceReader::new(&file.name).within(budget);
    if let Err(problem) = slices(&file.path, &mut |slice| reader.feed(slice)) {
        reader.fail(Warning::new(&problem, Position::file(&file.name)));
    }
    reader.finish()
}

fn read_part(file: &Listed, range: Range<u64>, exact: bool) -> TracePart {
    let mut reader = TraceReader::range(&file.name, range.clone(), exact);
    let mut read = || -> io::Result<()> {
        let mut source = open(&file.path)?;
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
