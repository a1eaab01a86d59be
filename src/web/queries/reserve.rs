//! What is held beside what is allocated: free cache and fragmentation, memory waiting for another stream, and memory outside the framework.

use crate::ascend::reserved::{PROCESS, Reserved, is_outside};
use crate::timeline::blocks::UNKNOWN;
use crate::web::engine::Engine;
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// Each figure at the peak and at its largest.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct ReserveAnswer {
    /// Reserved − allocated; None: not reported.
    pub reserved_gap: Option<Gap>,
    /// Active − allocated; None: not reported.
    pub active_gap: Option<Gap>,
    /// What the process holds beyond the framework's pools; None without memory_record.csv.
    pub outside: Option<Gap>,
    /// What the whole process holds, the framework's pools included.
    pub process: Option<Gap>,
    /// The components beyond the framework's pools that ever held something; the largest at the peak first. None without npu_module_mem.csv.
    pub components: Option<Vec<Component>>,
}

/// A figure at the peak of the total, and at its own largest.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct Gap {
    /// None: not sampled before the peak.
    pub at_peak_bytes: Option<f64>,
    pub most_bytes: f64,
    pub most_ns: f64,
}

/// A component of npu_module_mem.csv.
#[derive(Tsify, Serialize)]
pub struct Component {
    pub name: String,
    pub held: Gap,
}

#[wasm_bindgen]
impl Engine {
    /// The reserve of a device.
    pub fn reserve(&self, capture: u32, device: u32) -> Result<Ts<ReserveAnswer>, JsError> {
        let around = &self.capture(capture)?.capture.around;
        let (device, opened) = self.device(capture, device)?;
        let curves = &device.replay.curves;
        let peak = device.replay.peak.ok_or_else(|| JsError::new("no such device"))?;
        let peak_ns = curves.time_ns[peak];
        let gap = |of: &dyn Fn(usize) -> i64| {
            let at = curves.largest(of)?;
            let at_peak_bytes = Some(of(peak)).filter(|&bytes| bytes != UNKNOWN).map(|bytes| bytes as f64);
            Some(Gap { at_peak_bytes, most_bytes: of(at) as f64, most_ns: opened.relative(curves.time_ns[at]) })
        };
        let steps = |time_ns: &[i64], bytes: &[i64]| {
            let most = (0..bytes.len()).reduce(|best, at| if bytes[at] > bytes[best] { at } else { best })?;
            let at_peak = time_ns.partition_point(|&time| time <= peak_ns).checked_sub(1);
            Some(Gap { at_peak_bytes: at_peak.map(|at| bytes[at] as f64), most_bytes: bytes[most] as f64, most_ns: opened.relative(time_ns[most]) })
        };
        let of_device = |series: &&Reserved| series.device == device.device;
        let process = around.memory_record.iter().flatten().filter(of_device).find(|series| series.component == PROCESS);
        let component = |series: &Reserved| Some(Component { name: series.component.clone(), held: steps(&series.time_ns, &series.reserved_bytes)? });
        let components = around.module_memory.as_ref().map(|all| {
            let mut found: Vec<Component> = all.iter().filter(of_device).filter(|series| is_outside(&series.component)).filter_map(component).collect();
            // There are dozens, and most never hold anything.
            found.retain(|component| component.held.most_bytes > 0.0);
            found.sort_by(|a, b| b.held.at_peak_bytes.unwrap_or(-1.0).total_cmp(&a.held.at_peak_bytes.unwrap_or(-1.0)).then_with(|| a.name.cmp(&b.name)));
            found
        });
        let answer = ReserveAnswer {
            reserved_gap: gap(&|at| curves.reserved_gap_bytes(at)),
            active_gap: gap(&|at| curves.active_gap_bytes(at)),
            outside: steps(&opened.outside.time_ns, &opened.outside.bytes),
            process: process.and_then(|series| steps(&series.time_ns, &series.reserved_bytes)),
            components,
        };
        Ok(answer.into_ts()?)
    }
}
