//! JAX captures at the boundary: read in a worker of their own, handed to the engine in one piece, shown by the same charts.

use super::blob;
use super::columns::set;
use crate::ascend::capture::{Around, Capture, Device, Facts};
use crate::ascend::operator_memory::Pool;
use crate::ascend::trace_view::Phase;
use crate::error::Position;
use crate::timeline::replay::Replay;
use crate::xplane::capture::{self, FirstReading, Happened};
use crate::xplane::runtime::Allocator;
use js_sys::{Array, Function, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::File;

/// Reads a capture, twice: names first, then events. `progress(bytes)` is told after every slice; the answer is what `Engine.add` takes.
#[wasm_bindgen]
pub fn scan_xplane(path: &str, file: &File, progress: &Function) -> Result<JsValue, JsError> {
    // Each reading counts half of the file.
    let tell = |bytes: u64, before: f64| drop(progress.call1(&JsValue::NULL, &(before + bytes as f64 / 2.0).into()));
    let mut first = FirstReading::new(path);
    let read = blob::read(file, &mut |bytes, at| {
        first.feed(bytes);
        tell(at, 0.0);
    });
    if let Err(problem) = read {
        first.fail(&problem, Position::file(path));
    }
    let known = first.finish();
    let mut happened = Happened::default();
    if known.has_events() {
        let mut second = known.second();
        // What cannot be read was said the first time.
        let _ = blob::read(file, &mut |bytes, at| {
            second.feed(bytes);
            tell(at, file.size() / 2.0);
        });
        happened = second.finish();
    }
    let bytes = Uint8Array::from(&serde_json::to_vec(&capture::Capture::of(known, happened))?[..]);
    let whole = Object::new();
    set(&whole, "xplane", &bytes);
    set(&whole, "transfer", &Array::of1(&bytes.buffer()));
    Ok(whole.into())
}

/// The inverse of [`scan_xplane`]; `None` for a capture of another kind.
pub fn from_js(value: &JsValue) -> Result<Option<Box<capture::Capture>>, JsError> {
    let bytes = Reflect::get(value, &"xplane".into()).unwrap_or(JsValue::UNDEFINED);
    bytes.dyn_ref::<Uint8Array>().map(|bytes| Ok(serde_json::from_slice(&bytes.to_vec())?)).transpose()
}

/// What the linked charts show of it: an allocator as a device, owners as operators, executions as phases.
pub fn charts_of(jax: &capture::Capture) -> Capture {
    let runtime = &jax.runtime;
    let device = |allocator: &Allocator| {
        let blocks = allocator.blocks(&runtime.executions);
        Device { device: allocator.name.clone(), pool: Pool::Pta, replay: Replay::of(&blocks), blocks, stacks: None }
    };
    let devices: Vec<Device> = runtime.allocators.iter().map(device).collect();
    let phases = runtime.executions.iter().map(|execution| Phase {
        name: format!("{} {}", execution.module, execution.n),
        start_ns: execution.start_ps.div_euclid(1000),
        end_ns: execution.end_ps.div_euclid(1000),
    });
    let end_ns = devices.iter().map(|device| device.blocks.last_ns()).max().unwrap_or(0);
    let facts = Facts {
        source: jax.source.clone(),
        role: jax.host.clone(),
        rank: None,
        capture_time: None,
        torch_npu: None,
        cann: None,
        setup: None,
        rows_read: runtime.allocators.iter().map(|allocator| allocator.changes.len() as u64).sum(),
        rows_set_aside: 0,
        warnings: jax.warnings.clone(),
    };
    Capture { facts, end_ns, devices, around: Around::default(), phases: phases.collect() }
}
