//! Reads one capture in a worker of its own.

use super::blob::{self, BlobReader};
use super::columns;
use crate::ascend::capture::CaptureReader;
use crate::ascend::discover::CaptureFiles;
use crate::error::{Position, Problem};
use js_sys::{Array, Function, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::File;

/// A side file larger than this is none.
const LARGEST_SIDE_FILE_BYTES: f64 = (64u32 << 20) as f64;

/// A file and its path below what was opened.
struct Listed {
    path: String,
    file: File,
}

/// Reads `{capture, operator_memory: {path, file}[], profiler_info: {path, file}|null, profiler_metadata: {path, file}|null}` to the end and
/// answers what `Engine.add` takes. What is wrong with the files is in there too. `progress(bytes, rows)` is told after every slice.
#[wasm_bindgen]
pub fn scan(input: &JsValue, progress: &Function) -> Result<JsValue, JsError> {
    let get = |key: &str| Reflect::get(input, &key.into()).unwrap_or(JsValue::NULL);
    let files: CaptureFiles = serde_wasm_bindgen::from_value(get("capture"))?;
    let mut reader = CaptureReader::new(&files);
    if let Some(file) = listed(&get("profiler_info")) {
        match blob::read_all(&file.file, &file.path, LARGEST_SIDE_FILE_BYTES) {
            Ok(text) => reader.profiler_info(&file.path, &text),
            Err((problem, at)) => reader.fail(&problem, at),
        }
    }
    if let Some(file) = listed(&get("profiler_metadata")) {
        match blob::read_all(&file.file, &file.path, LARGEST_SIDE_FILE_BYTES) {
            Ok(text) => reader.profiler_metadata(&file.path, &text),
            Err((problem, at)) => reader.fail(&problem, at),
        }
    }
    let mut before = 0;
    for file in Array::from(&get("operator_memory")).iter().filter_map(|file| listed(&file)) {
        before += operator_memory(&mut reader, &file, before, progress);
    }
    columns::to_js(&reader.finish())
}

fn listed(value: &JsValue) -> Option<Listed> {
    let get = |key: &str| Reflect::get(value, &key.into()).ok();
    Some(Listed { path: get("path")?.as_string()?, file: get("file")?.dyn_into().ok()? })
}

/// Reads one table; answers how many bytes of it.
fn operator_memory(reader: &mut CaptureReader, listed: &Listed, before: u64, progress: &Function) -> u64 {
    reader.operator_memory.begin(&listed.path);
    let mut read = 0;
    let mut run = || -> Result<(), Problem> {
        let mut blob = BlobReader::open(&listed.file)?;
        while let Some(slice) = blob.read_next()? {
            reader.operator_memory.feed(slice);
            read = blob.position();
            let _ = progress.call2(&JsValue::NULL, &((before + read) as f64).into(), &(reader.operator_memory.rows_read as f64).into());
        }
        Ok(())
    };
    if let Err(problem) = run() {
        reader.operator_memory.fail(&problem, Position { byte: Some(read), ..Position::file(&listed.path) });
    }
    reader.operator_memory.end();
    read
}
