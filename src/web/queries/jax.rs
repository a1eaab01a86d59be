//! The report on one JAX capture, with any of its modules in the middle, and the curve of a module's heap.

use crate::oom::report::CaptureReport;
use crate::oom::xplane_report::{Wanted, xplane_report};
use crate::web::columns::set;
use crate::web::engine::Engine;
use crate::web::messages::JaxAnswer;
use crate::xplane::capture::Capture;
use js_sys::{Float64Array, Object};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// The page lists so many executions, the last.
const SHOWN_EXECUTIONS: usize = 1000;

#[wasm_bindgen]
impl Engine {
    /// The report on a JAX capture; about the module that matters most where none is named.
    pub fn jax(&self, capture: u32, module: Option<String>, top: u32) -> Result<Ts<JaxAnswer>, JsError> {
        let wanted = Wanted { top: top as usize, module: module.as_deref(), last_executions: Some(SHOWN_EXECUTIONS) };
        let capture = self.jax_capture(capture)?;
        match xplane_report(capture, &wanted) {
            CaptureReport::Xplane(mut report) => {
                // A fingerprint is no number of JavaScript's; it stands in the module's name, too.
                let is_exact = |id: &i64| id.unsigned_abs() <= 1 << 53;
                report.modules.iter_mut().for_each(|module| module.program_id = module.program_id.filter(is_exact));
                Ok(JaxAnswer { report: *report, executions: capture.runtime.executions.len() as u32 }.into_ts()?)
            }
            CaptureReport::Ascend(_) => Err(JsError::new("no JAX capture")),
        }
    }

    /// What a module's heap holds over its schedule, the least and the most in each of so many columns: `{min, max, events, peak_event,
    /// peak_bytes}`; null for a module without temporaries. Of several heaps, the one with the highest peak.
    pub fn heap(&self, capture: u32, module: &str, columns: u32) -> Result<JsValue, JsError> {
        let plan = self.jax_capture(capture)?.plan(module).ok_or_else(|| JsError::new("no such module"))?;
        let Some(curve) = plan.heap.as_ref().and_then(|heap| heap.curves.iter().max_by_key(|curve| curve.peak_bytes())) else { return Ok(JsValue::NULL) };
        let (min, max) = curve.extremes(columns as usize);
        let floats = |bytes: &[i64]| Float64Array::from(&bytes.iter().map(|&bytes| bytes as f64).collect::<Vec<_>>()[..]);
        let answer = Object::new();
        set(&answer, "min", &floats(&min));
        set(&answer, "max", &floats(&max));
        set(&answer, "events", &(curve.held_bytes.len() as f64).into());
        set(&answer, "peak_event", &(curve.peak.unwrap_or(0) as f64).into());
        set(&answer, "peak_bytes", &(curve.peak_bytes() as f64).into());
        Ok(answer.into())
    }

    fn jax_capture(&self, capture: u32) -> Result<&Capture, JsError> {
        self.capture(capture)?.jax.as_deref().ok_or_else(|| JsError::new("no JAX capture"))
    }
}
