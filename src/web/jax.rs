//! JAX captures at the boundary: read in a worker of their own, handed to the engine in one piece, shown by the same charts.

use super::blob;
use super::columns::set;
use crate::ascend::capture::{Around, Capture, Device, Facts};
use crate::ascend::operator_memory::Pool;
use crate::ascend::trace_view::Phase;
use crate::timeline::replay::Replay;
use crate::xplane::capture;
use crate::xplane::runtime::Allocator;
use js_sys::{Array, Function, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::File;

/// Reads a capture. `progress(bytes)` is told after every slice; the answer is what `Engine.add` takes.
#[wasm_bindgen]
pub fn scan_xplane(path: &str, file: &File, progress: &Function) -> Result<JsValue, JsError> {
    let tell = |bytes: u64| drop(progress.call1(&JsValue::NULL, &(bytes as f64).into()));
    let is_packed = blob::is_packed(file);
    let mut nth = 0;
    let capture = capture::Capture::read(path, |reader| {
        nth += 1;
        // Of three readings the second takes the time.
        let tell = |bytes: u64| if nth == 2 { tell(bytes) };
        if is_packed { blob::read_in_order(file, reader, &tell) } else { blob::read_selectively(file, reader, &tell) }
    });
    let bytes = Uint8Array::from(&serde_json::to_vec(&capture)?[..]);
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
