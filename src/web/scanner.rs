//! Reads one capture in a worker of its own: first the tables, so that charts can be drawn, then the trace, or the parts of it that other
//! workers have read meanwhile.

use super::{blob, columns, parts};
use crate::ascend::budget::Budget;
use crate::ascend::capture::{CaptureReader, Origins, ScannedCapture};
use crate::ascend::discover::CaptureFiles;
use crate::ascend::table::{TableReader, TableRows};
use crate::ascend::trace_parts::Joiner;
use crate::ascend::trace_view::{Trace, TraceReader};
use crate::error::{Position, Warning};
use js_sys::futures::future_to_promise;
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::File;

/// A side file larger than this is none.
const LARGEST_SIDE_FILE_BYTES: f64 = (64u32 << 20) as f64;

/// A file and its path below what was opened.
struct Listed {
    path: String,
    file: File,
}

/// How far the reading of a capture is, told of every chunk.
struct Progress {
    tell: Function,
    /// Bytes of the files before this one.
    before: u64,
}

impl Progress {
    fn at(&self, bytes: u64) {
        let _ = self.tell.call1(&JsValue::NULL, &((self.before + bytes) as f64).into());
    }
}

/// A capture whose tables are read.
#[wasm_bindgen]
pub struct Scanner {
    scanned: ScannedCapture,
    trace: Option<Listed>,
    /// Of the trace, where others read it.
    parts: Option<Joiner>,
    progress: Progress,
    budget: Option<Budget>,
}

#[wasm_bindgen]
impl Scanner {
    /// Reads the tables of `{capture, memory, operator_memory: {path, file}[]}`, `memory` being as in [`budget`], and, each `{path, file}` or null, `profiler_info`,
    /// `profiler_metadata`, `memory_record`, `npu_module_mem` and `trace`. `progress(bytes)` is told of every chunk.
    #[wasm_bindgen(unchecked_return_type = "Promise<Scanner>")]
    pub fn read(input: JsValue, progress: Function) -> Promise {
        future_to_promise(async move { Ok(read(&input, progress).await?.into()) })
    }

    /// What `Engine.add` takes. What is wrong with the tables is in there too.
    pub fn blocks(&self) -> Result<JsValue, JsError> {
        columns::to_js(&self.scanned)
    }

    /// Takes a part of the trace from `scan_part`, in any order.
    pub fn part(&mut self, part: &JsValue) -> Result<(), JsError> {
        let Some(file) = &self.trace else { return Ok(()) };
        let (range, part) = parts::from_js(part)?;
        self.parts.get_or_insert_with(|| Joiner::new(&file.path, self.budget)).add(range, part);
        Ok(())
    }

    /// Puts together what has come of the trace. The answer is a range, `[from, until]`, that must be read exactly from its start and be given
    /// to [`Scanner::read_again`] first.
    pub fn missing(&mut self) -> Option<Vec<f64>> {
        self.parts.as_mut()?.missing().map(|range| vec![range.start as f64, range.end as f64])
    }

    /// Takes what was missing.
    pub fn read_again(&mut self, part: &JsValue) -> Result<(), JsError> {
        let (_, part) = parts::from_js(part)?;
        if let Some(joiner) = &mut self.parts {
            joiner.read_again(part);
        }
        Ok(())
    }

    /// What `Engine.attach` takes, null without a trace: of the parts, joined, or where there are none of the whole trace, which it then reads.
    pub fn origins(self) -> Promise {
        future_to_promise(async move {
            let Some(file) = &self.trace else { return Ok(JsValue::NULL) };
            let trace = match self.parts {
                None => read_trace(file, self.budget, &self.progress).await,
                Some(joiner) => joiner.finish(),
            };
            Ok(columns::origins_to_js(&Origins::of(&self.scanned, trace))?)
        })
    }
}

async fn read(input: &JsValue, progress: Function) -> Result<Scanner, JsError> {
    let get = |key: &str| Reflect::get(input, &key.into()).unwrap_or(JsValue::NULL);
    let files: CaptureFiles = serde_wasm_bindgen::from_value(get("capture"))?;
    let mut progress = Progress { tell: progress, before: 0 };
    let mut reader = CaptureReader::new(&files);
    let budget = budget(&get("memory"));
    if let Some(budget) = budget {
        reader.within(budget);
    }
    if let Some(file) = listed(&get("profiler_info")) {
        match blob::read_all(&file.file, LARGEST_SIDE_FILE_BYTES).await {
            Ok(text) => reader.profiler_info(&file.path, &text),
            Err(problem) => reader.fail(&problem, Position::file(&file.path)),
        }
    }
    if let Some(file) = listed(&get("profiler_metadata")) {
        match blob::read_all(&file.file, LARGEST_SIDE_FILE_BYTES).await {
            Ok(text) => reader.profiler_metadata(&file.path, &text),
            Err(problem) => reader.fail(&problem, Position::file(&file.path)),
        }
    }
    for file in Array::from(&get("operator_memory")).iter().filter_map(|file| listed(&file)) {
        read_table(&mut reader.operator_memory, &file, &mut progress).await;
    }
    reader.memory_record = read_whole_table(listed(&get("memory_record")), &mut progress).await;
    reader.module_memory = read_whole_table(listed(&get("npu_module_mem")), &mut progress).await;
    Ok(Scanner { scanned: reader.finish(), trace: listed(&get("trace")), parts: None, progress, budget })
}

/// The part for one capture: `{bytes, own, all}`, what all captures may take, and what the files of this one and of all have; `None` without a
/// limit.
pub(super) fn budget(value: &JsValue) -> Option<Budget> {
    let get = |key: &str| Some(Reflect::get(value, &key.into()).ok()?.as_f64()? as u64);
    Some(Budget::part(get("bytes")?, get("own")?, get("all")?))
}

fn listed(value: &JsValue) -> Option<Listed> {
    let get = |key: &str| Reflect::get(value, &key.into()).ok();
    Some(Listed { path: get("path")?.as_string()?, file: get("file")?.dyn_into().ok()? })
}

async fn read_whole_table<R: TableRows + Default>(file: Option<Listed>, progress: &mut Progress) -> Option<TableReader<R>> {
    let file = file?;
    let mut reader = TableReader::default();
    read_table(&mut reader, &file, progress).await;
    Some(reader)
}

async fn read_table<R: TableRows>(reader: &mut TableReader<R>, listed: &Listed, progress: &mut Progress) {
    reader.begin(&listed.path);
    reader.file_bytes = listed.file.size() as u64;
    let mut each = |bytes: &[u8], at: u64| {
        reader.feed(bytes);
        progress.at(at);
    };
    if let Err(problem) = blob::stream(&listed.file, &mut each).await {
        reader.fail(&problem, Position::file(&listed.path));
    }
    reader.end();
    progress.before += listed.file.size() as u64;
}

async fn read_trace(listed: &Listed, budget: Option<Budget>, progress: &Progress) -> Trace {
    let mut reader = TraceReader::new(&listed.path).within(budget);
    let mut each = |bytes: &[u8], at: u64| {
        reader.feed(bytes);
        progress.at(at);
    };
    let read = blob::stream(&listed.file, &mut each).await;
    let mut trace = reader.finish();
    trace.warnings.extend(read.err().map(|problem| Warning::new(&problem, Position::file(&listed.path))));
    trace
}
