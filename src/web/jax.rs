//! JAX captures at the boundary: read in a worker of their own, handed to the engine in one piece, shown by the same charts.

use super::blob;
use super::columns::{get, i64s, list, put_i64, put_u32, set, texts, texts_from, u32s};
use super::messages::WaitSummary;
use super::scanner::budget;
use crate::ascend::budget::Budget;
use crate::oom::diagnose::pool::failed_request;
use crate::timeline::blocks::{Interner, UNKNOWN};
use crate::xplane::capture::{self, Pass};
use crate::xplane::runtime::allocator::Change;
use crate::xplane::runtime::execution::Execution;
use crate::xplane::runtime::retries::Retry;
use js_sys::futures::future_to_promise;
use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use std::sync::Arc;
use wasm_bindgen::prelude::*;
use web_sys::File;

/// Reads a capture with so much memory (see `Scanner.read`). `progress(bytes)` is told after every slice; the answer is what `Engine.add` takes.
#[wasm_bindgen]
pub fn scan_xplane(path: String, file: File, memory: JsValue, progress: Function) -> Promise {
    future_to_promise(async move { Ok(scan(&path, &file, budget(&memory), &progress).await?) })
}

async fn scan(path: &str, file: &File, budget: Option<Budget>, progress: &Function) -> Result<JsValue, JsError> {
    let is_packed = blob::is_packed(file);
    let capture = capture::Capture::read_by(path, budget.map(|budget| budget.bytes), async |pass, reader| {
        // Of three readings the second takes the time.
        let tell = |bytes: u64| {
            if pass == Pass::Events {
                drop(progress.call1(&JsValue::NULL, &(bytes as f64).into()))
            }
        };
        if is_packed || pass == Pass::Events { blob::stream_in_order(file, reader, &tell).await } else { blob::read_selectively(file, reader) }
    })
    .await;
    to_js(capture)
}

/// `{xplane, …columns of executions, changes: [columns], transfer: [buffers]}`: what there may be millions of are columns, the rest is JSON.
fn to_js(mut capture: capture::Capture) -> Result<JsValue, JsError> {
    let transfer = Array::new();
    let whole = Object::new();
    executions_to_js(&whole, &std::mem::take(&mut capture.runtime.executions), &transfer);
    let changes = capture.runtime.allocators.iter_mut().map(|allocator| changes_to_js(&std::mem::take(&mut allocator.changes), &transfer));
    set(&whole, "changes", &changes.collect::<Array>());
    let bytes = Uint8Array::from(&serde_json::to_vec(&capture)?[..]);
    transfer.push(&bytes.buffer());
    set(&whole, "xplane", &bytes);
    set(&whole, "transfer", &transfer);
    Ok(whole.into())
}

/// The inverse of [`to_js`]; `None` for a capture of another kind.
pub fn from_js(value: &JsValue) -> Result<Option<Box<capture::Capture>>, JsError> {
    let bytes = Reflect::get(value, &"xplane".into()).unwrap_or(JsValue::UNDEFINED);
    let Some(bytes) = bytes.dyn_ref::<Uint8Array>() else { return Ok(None) };
    let mut capture: Box<capture::Capture> = serde_json::from_slice(&bytes.to_vec())?;
    capture.runtime.executions = executions_from_js(value)?;
    for (allocator, changes) in capture.runtime.allocators.iter_mut().zip(list(value, "changes")?.iter()) {
        allocator.changes = changes_from_js(&changes)?;
    }
    Ok(Some(capture))
}

fn executions_to_js(object: &Object, executions: &[Execution], transfer: &Array) {
    let mut modules = Interner::default();
    let module: Vec<u32> = executions.iter().map(|execution| modules.number(&execution.module)).collect();
    set(object, "modules", &texts(&modules.texts));
    put_u32(object, "module", &module, transfer);
    let ints = |key: &str, of: &dyn Fn(&Execution) -> i64| put_i64(object, key, &executions.iter().map(of).collect::<Vec<_>>(), transfer);
    ints("device", &|execution| execution.device.unwrap_or(UNKNOWN));
    ints("n", &|execution| execution.n.cast_signed());
    ints("start_ps", &|execution| execution.start_ps);
    ints("end_ps", &|execution| execution.end_ps);
    ints("launched", &|execution| execution.launched.map_or(UNKNOWN, i64::from));
    ints("used_bytes", &|execution| execution.used_bytes.unwrap_or(UNKNOWN));
    ints("requested", &|execution| execution.requests.len() as i64);
    put_i64(object, "requests", &executions.iter().flat_map(|execution| execution.requests.iter().copied()).collect::<Vec<_>>(), transfer);
}

fn executions_from_js(value: &JsValue) -> Result<Vec<Execution>, JsError> {
    let known = |number: i64| (number != UNKNOWN).then_some(number);
    let modules: Vec<Arc<str>> = texts_from(&get(value, "modules")?).into_iter().map(Arc::from).collect();
    let (device, n, launched) = (i64s(value, "device")?, i64s(value, "n")?, i64s(value, "launched")?);
    let (start_ps, end_ps, used_bytes) = (i64s(value, "start_ps")?, i64s(value, "end_ps")?, i64s(value, "used_bytes")?);
    let requested = i64s(value, "requested")?;
    let mut requests = i64s(value, "requests")?.into_iter();
    let module = u32s(value, "module")?.into_iter().enumerate();
    let executions = module.map(|(index, module)| Execution {
        device: known(device[index]),
        module: modules[module as usize].clone(),
        n: n[index].cast_unsigned(),
        start_ps: start_ps[index],
        end_ps: end_ps[index],
        launched: known(launched[index]).map(|launched| launched == 1),
        used_bytes: known(used_bytes[index]),
        requests: requests.by_ref().take(requested[index] as usize).collect(),
        caller: 0,
    });
    Ok(executions.collect())
}

fn changes_to_js(changes: &[Change], transfer: &Array) -> Object {
    let object = Object::new();
    let ints = |key: &str, of: &dyn Fn(&Change) -> i64| put_i64(&object, key, &changes.iter().map(of).collect::<Vec<_>>(), transfer);
    ints("time_ps", &|change| change.time_ps);
    ints("bytes", &|change| change.bytes);
    ints("address", &|change| change.address);
    ints("allocated_bytes", &|change| change.allocated_bytes);
    ints("available_bytes", &|change| change.available_bytes);
    ints("largest_free_bytes", &|change| change.largest_free_bytes);
    put_u32(&object, "owner", &changes.iter().map(|change| change.owner.unwrap_or(u32::MAX)).collect::<Vec<_>>(), transfer);
    object
}

fn changes_from_js(value: &JsValue) -> Result<Vec<Change>, JsError> {
    let (time_ps, bytes, address) = (i64s(value, "time_ps")?, i64s(value, "bytes")?, i64s(value, "address")?);
    let (allocated, available, largest_free) = (i64s(value, "allocated_bytes")?, i64s(value, "available_bytes")?, i64s(value, "largest_free_bytes")?);
    let owner = u32s(value, "owner")?;
    let change = |index: usize| Change {
        time_ps: time_ps[index],
        bytes: bytes[index],
        address: address[index],
        allocated_bytes: allocated[index],
        available_bytes: available[index],
        largest_free_bytes: largest_free[index],
        owner: Some(owner[index]).filter(|&owner| owner != u32::MAX),
    };
    Ok((0..time_ps.len()).map(change).collect())
}

/// When an allocator had no room, and what it was asked for.
pub fn waits_of(jax: &capture::Capture, allocator: usize, base_ns: i64) -> Vec<WaitSummary> {
    let device = jax.runtime.allocators.get(allocator).and_then(|allocator| allocator.device);
    let own = jax.runtime.retries.iter().filter(|retry| retry.device.is_none() || device.is_none() || retry.device == device);
    let wait = |retry: &Retry| {
        let execution = retry.execution.and_then(|execution| jax.runtime.executions.get(execution));
        let failed = execution.is_some_and(|execution| execution.launched == Some(false));
        WaitSummary {
            time_ns: (retry.start_ps.div_euclid(1000) - base_ns) as f64,
            duration_ns: retry.duration_ps.div_euclid(1000) as f64,
            bytes: execution.filter(|_| failed).and_then(|execution| Some(failed_request(jax.plan(&execution.module)?, execution) as f64)),
            failed,
            inferred: retry.inferred,
            module: execution.map(|execution| execution.module.to_string()),
            execution: execution.map(|execution| execution.n as u32),
        }
    };
    own.map(wait).collect()
}
