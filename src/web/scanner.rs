//! Reads one capture in a worker of its own: first the tables, so that charts can be drawn, then the trace, or the parts of it that other
//! workers have read meanwhile.

use super::{blob, columns, parts};
use crate::ascend::capture::{CaptureReader, Origins, ScannedCapture};
use crate::ascend::discover::CaptureFiles;
use crate::ascend::table::{TableReader, TableRows};
use crate::ascend::trace_parts::{self, TracePart};
use crate::ascend::trace_view::{Trace, TraceReader};
use crate::error::{Position, Warning};
use js_sys::{Array, Function, Reflect};
use std::ops::Range;
use wasm_bindgen::prelude::*;
use web_sys::File;

/// A side file larger than this is none.
const LARGEST_SIDE_FILE_BYTES: f64 = (64u32 << 20) as f64;

/// A file and its path below what was opened.
struct Listed {
    path: String,
    file: File,
}

/// How far the reading of a capture is, told after every slice.
struct Progress<'a> {
    tell: &'a Function,
    /// Bytes of the files before this one.
    before: u64,
}

impl Progress<'_> {
    fn at(&self, bytes: u64) {
        let _ = self.tell.call1(&JsValue::NULL, &((self.before + bytes) as f64).into());
    }
}

/// A capture whose tables are read.
#[wasm_bindgen]
pub struct Scanner {
    scanned: ScannedCapture,
    trace: Option<Listed>,
    tables_bytes: u64,
    parts: Vec<(Range<u64>, TracePart)>,
}

#[wasm_bindgen]
impl Scanner {
    /// Reads the tables of `{capture, operator_memory: {path, file}[]}` and, each `{path, file}` or null, `profiler_info`,
    /// `profiler_metadata`, `memory_record`, `npu_module_mem` and `trace`. `progress(bytes)` is told after every slice.
    #[wasm_bindgen(constructor)]
    pub fn new(input: &JsValue, progress: &Function) -> Result<Scanner, JsError> {
        let get = |key: &str| Reflect::get(input, &key.into()).unwrap_or(JsValue::NULL);
        let files: CaptureFiles = serde_wasm_bindgen::from_value(get("capture"))?;
        let mut progress = Progress { tell: progress, before: 0 };
        let mut reader = CaptureReader::new(&files);
        if let Some(file) = listed(&get("profiler_info")) {
            match blob::read_all(&file.file, LARGEST_SIDE_FILE_BYTES) {
                Ok(text) => reader.profiler_info(&file.path, &text),
                Err(problem) => reader.fail(&problem, Position::file(&file.path)),
            }
        }
        if let Some(file) = listed(&get("profiler_metadata")) {
            match blob::read_all(&file.file, LARGEST_SIDE_FILE_BYTES) {
                Ok(text) => reader.profiler_metadata(&file.path, &text),
                Err(problem) => reader.fail(&problem, Position::file(&file.path)),
            }
        }
        for file in Array::from(&get("operator_memory")).iter().filter_map(|file| listed(&file)) {
            read_table(&mut reader.operator_memory, &file, &mut progress);
        }
        reader.memory_record = listed(&get("memory_record")).map(|file| read_whole_table(&file, &mut progress));
        reader.module_memory = listed(&get("npu_module_mem")).map(|file| read_whole_table(&file, &mut progress));
        let tables_bytes = progress.before;
        Ok(Scanner { scanned: reader.finish(), trace: listed(&get("trace")), tables_bytes, parts: Vec::new() })
    }

    /// What `Engine.add` takes. What is wrong with the tables is in there too.
    pub fn blocks(&self) -> Result<JsValue, JsError> {
        columns::to_js(&self.scanned)
    }

    /// Takes a part of the trace from `scan_part`, in any order.
    pub fn part(&mut self, part: &JsValue) -> Result<(), JsError> {
        self.parts.push(parts::from_js(part)?);
        Ok(())
    }

    /// What `Engine.attach` takes, null without a trace: of the parts, or where there are none of the whole trace, which it then reads.
    pub fn origins(self, progress: &Function) -> Result<JsValue, JsError> {
        let Some(file) = &self.trace else { return Ok(JsValue::NULL) };
        let trace = if self.parts.is_empty() {
            read_trace(file, &Progress { tell: progress, before: self.tables_bytes })
        } else {
            let mut parts = self.parts;
            parts.sort_by_key(|(range, _)| range.start);
            trace_parts::join(&file.path, parts, &mut |range| parts::read_part(&file.path, &file.file, range, true, &mut |_| {}))
        };
        columns::origins_to_js(&Origins::of(&self.scanned, trace))
    }
}

fn listed(value: &JsValue) -> Option<Listed> {
    let get = |key: &str| Reflect::get(value, &key.into()).ok();
    Some(Listed { path: get("path")?.as_string()?, file: get("file")?.dyn_into().ok()? })
}

fn read_whole_table<R: TableRows + Default>(file: &Listed, progress: &mut Progress) -> TableReader<R> {
    let mut reader = TableReader::default();
    read_table(&mut reader, file, progress);
    reader
}

fn read_table<R: TableRows>(reader: &mut TableReader<R>, listed: &Listed, progress: &mut Progress) {
    reader.begin(&listed.path);
    let mut each = |bytes: &[u8], at: u64| {
        reader.feed(bytes);
        progress.at(at);
    };
    if let Err(problem) = blob::read(&listed.file, &mut each) {
        reader.fail(&problem, Position::file(&listed.path));
    }
    reader.end();
    progress.before += listed.file.size() as u64;
}

fn read_trace(listed: &Listed, progress: &Progress) -> Trace {
    let mut reader = TraceReader::new(&listed.path);
    let mut each = |bytes: &[u8], at: u64| {
        reader.feed(bytes);
        progress.at(at);
    };
    let read = blob::read(&listed.file, &mut each);
    let mut trace = reader.finish();
    trace.warnings.extend(read.err().map(|problem| Warning::new(&problem, Position::file(&listed.path))));
    trace
}
