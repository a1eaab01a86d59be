//! A trace by several workers: each reads a range and hands over what it found; the capture's own worker puts the parts together.

use super::blob;
use super::columns::{get, i64s, json, put_i64, put_u32, set, texts, texts_from, u32s};
use crate::ascend::trace_parts::{self, BadValues, TracePart};
use crate::ascend::trace_view::{Dequeue, Operators, Phase, Point, Spans, TraceReader};
use crate::error::{Position, Warning};
use crate::scan::json::Ended;
use js_sys::futures::future_to_promise;
use js_sys::{Array, Function, Object, Promise, Uint8Array};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use wasm_bindgen::prelude::*;
use web_sys::File;

/// What is no column.
#[derive(Serialize, Deserialize)]
struct Rest {
    ended: Ended,
    failure: Option<Warning>,
    events: u64,
    phases: Vec<Phase>,
    bad_values: BadValues,
    dropped_stacks: u64,
}

/// Cuts a trace into ranges for at most so many pieces: `[from, until]` each, in bytes; none where one worker is enough. An archive is one
/// stream and is not cut.
#[wasm_bindgen]
pub fn cut_trace(file: &File, pieces: usize) -> Array {
    let ranges = if blob::is_packed(file) { Vec::new() } else { trace_parts::ranges(file.size() as u64, pieces) };
    let pairs = ranges.iter().map(|range| Array::of2(&(range.start as f64).into(), &(range.end as f64).into()));
    if ranges.len() > 1 { pairs.collect() } else { Array::new() }
}

/// Reads a range of a trace, which begins `exact`ly at an event or anywhere; the answer is what `Scanner.part` takes. `progress(bytes)` is
/// told of every chunk.
#[wasm_bindgen]
pub fn scan_part(path: String, file: File, from: f64, until: f64, exact: bool, progress: Function) -> Promise {
    future_to_promise(async move {
        let range = from as u64..until as u64;
        let mut told = |bytes: f64| drop(progress.call1(&JsValue::NULL, &bytes.into()));
        Ok(to_js(&range, &read_part(&path, &file, range.clone(), exact, &mut told).await)?)
    })
}

/// Reads a range; see [`TraceReader::range`].
async fn read_part(path: &str, file: &File, range: Range<u64>, exact: bool, progress: &mut dyn FnMut(f64)) -> TracePart {
    let mut reader = TraceReader::range(path, range.clone(), exact);
    let mut each = |bytes: &Uint8Array| {
        let length = bytes.length() as usize;
        bytes.copy_to(reader.room(length));
        reader.filled(length);
        progress(length as f64);
        !reader.is_done()
    };
    let failure = blob::stream_range(file, range, &mut each).await.err().map(|problem| Warning::new(&problem, Position::file(path)));
    TracePart { failure, ..reader.finish_part() }
}

fn to_js(range: &Range<u64>, part: &TracePart) -> Result<JsValue, JsError> {
    let transfer = Array::new();
    let object = Object::new();
    set(&object, "from", &(range.start as f64).into());
    set(&object, "until", &(range.end as f64).into());
    for (key, list) in [("names", &part.names), ("stacks", &part.stacks), ("threads", &part.threads)] {
        set(&object, key, &texts(list));
    }
    spans_to_js(&object, "operator", &part.operators.spans, &transfer);
    put_u32(&object, "operator_stack", &part.operators.stack, &transfer);
    put_i64(&object, "operator_sequence", &part.operators.sequence, &transfer);
    put_u32(&object, "operator_backward", &part.operators.backward.iter().map(|&is| u32::from(is)).collect::<Vec<_>>(), &transfer);
    spans_to_js(&object, "python", &part.python, &transfer);
    put_i64(&object, "enqueued", &part.enqueued.iter().map(|&(id, _)| id as i64).collect::<Vec<_>>(), &transfer);
    points_to_js(&object, "enqueued", part.enqueued.iter().map(|(_, point)| point), &transfer);
    let dequeues = |of: fn(&Dequeue) -> i64| part.dequeues.iter().map(of).collect::<Vec<_>>();
    put_i64(&object, "dequeue", &dequeues(|dequeue| dequeue.correlation as i64), &transfer);
    put_i64(&object, "dequeue_start", &dequeues(|dequeue| dequeue.start_ns), &transfer);
    put_i64(&object, "dequeue_end", &dequeues(|dequeue| dequeue.end_ns), &transfer);
    for (key, flows) in [("flow_start", &part.flow_starts), ("flow_end", &part.flow_ends)] {
        set(&object, key, &flows.iter().map(|(id, _)| JsValue::from_str(id)).collect::<Array>());
        points_to_js(&object, key, flows.iter().map(|(_, point)| point), &transfer);
    }
    let rest = Rest {
        ended: part.ended.clone(),
        failure: part.failure.clone(),
        events: part.events,
        phases: part.phases.clone(),
        bad_values: part.bad_values.clone(),
        dropped_stacks: part.dropped_stacks,
    };
    set(&object, "rest", &serde_json::to_string(&rest)?.into());
    set(&object, "transfer", &transfer);
    Ok(object.into())
}

/// The inverse of [`to_js`].
pub fn from_js(value: &JsValue) -> Result<(Range<u64>, TracePart), JsError> {
    let number = |key| get(value, key).map(|number| number.as_f64().unwrap_or_default() as u64);
    let list = |key| get(value, key).map(|list| texts_from(&list));
    let flows = |key| Ok::<_, JsError>(list(key)?.into_iter().zip(points_from_js(value, key)?).collect());
    let Rest { ended, failure, events, phases, bad_values, dropped_stacks } = json(value, "rest")?;
    let dequeues = i64s(value, "dequeue")?.into_iter().zip(i64s(value, "dequeue_start")?.into_iter().zip(i64s(value, "dequeue_end")?));
    let part = TracePart {
        ended,
        failure,
        events,
        names: list("names")?,
        stacks: list("stacks")?,
        threads: list("threads")?,
        operators: Operators {
            spans: spans_from_js(value, "operator")?,
            stack: u32s(value, "operator_stack")?,
            sequence: i64s(value, "operator_sequence")?,
            backward: u32s(value, "operator_backward")?.into_iter().map(|is| is == 1).collect(),
        },
        python: spans_from_js(value, "python")?,
        enqueued: i64s(value, "enqueued")?.into_iter().map(|id| id as u64).zip(points_from_js(value, "enqueued")?).collect(),
        dequeues: dequeues.map(|(id, (start_ns, end_ns))| Dequeue { start_ns, end_ns, correlation: id as u64 }).collect(),
        flow_starts: flows("flow_start")?,
        flow_ends: flows("flow_end")?,
        phases,
        bad_values,
        dropped_stacks,
    };
    Ok((number("from")?..number("until")?, part))
}

fn spans_to_js(object: &Object, key: &str, spans: &Spans, transfer: &Array) {
    put_u32(object, &format!("{key}_name"), &spans.name, transfer);
    put_u32(object, &format!("{key}_thread"), &spans.thread, transfer);
    put_i64(object, &format!("{key}_start"), &spans.start_ns, transfer);
    put_i64(object, &format!("{key}_end"), &spans.end_ns, transfer);
}

fn spans_from_js(value: &JsValue, key: &str) -> Result<Spans, JsError> {
    Ok(Spans {
        name: u32s(value, &format!("{key}_name"))?,
        thread: u32s(value, &format!("{key}_thread"))?,
        start_ns: i64s(value, &format!("{key}_start"))?,
        end_ns: i64s(value, &format!("{key}_end"))?,
    })
}

fn points_to_js<'a>(object: &Object, key: &str, points: impl Iterator<Item = &'a Point>, transfer: &Array) {
    let (threads, times): (Vec<u32>, Vec<i64>) = points.map(|point| (point.thread, point.time_ns)).unzip();
    put_u32(object, &format!("{key}_thread"), &threads, transfer);
    put_i64(object, &format!("{key}_time"), &times, transfer);
}

fn points_from_js(value: &JsValue, key: &str) -> Result<impl Iterator<Item = Point> + use<>, JsError> {
    let threads = u32s(value, &format!("{key}_thread"))?;
    let times = i64s(value, &format!("{key}_time"))?;
    Ok(threads.into_iter().zip(times).map(|(thread, time_ns)| Point { thread, time_ns }))
}
