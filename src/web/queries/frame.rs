//! The charts' picture of a window: the extremes of every curve, a value per pixel column, and what lies below them.

use super::gantt;
use crate::ascend::capture::Device;
use crate::timeline::blocks::UNKNOWN;
use crate::timeline::lod::columns::{Columns, Window};
use crate::timeline::lod::curves::Extremes;
use crate::web::columns::set;
use crate::web::derived::{CurveSet, Laid};
use crate::web::engine::{Engine, OpenedDevice};
use crate::web::messages::{Gantt, Line, ViewRequest};
use js_sys::{Float64Array, Object};
use rayon::prelude::*;
use tsify::Ts;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Engine {
    /// What the charts show of a window. What it takes to answer quickly is derived at the first question.
    pub fn frame(&mut self, request: Ts<ViewRequest>) -> Result<Object, JsError> {
        let request = request.to_rust()?;
        gantt::check(&request)?;
        self.prepare(&request)?;
        let (device, opened) = self.device(request.capture, request.device)?;
        let window = window_of(opened, &request);
        let columns = Columns::of(window, &device.replay.curves.time_ns);
        let frame = Object::new();
        set(&frame, "from_ns", &request.from_ns.into());
        set(&frame, "to_ns", &request.to_ns.into());
        set(&frame, "width_px", &request.width_px.into());
        if let Some(index) = opened.derived.curves() {
            lines(&frame, device, opened, index, &columns, &request);
            curves(&frame, device, index, &columns);
        }
        if let Some(gantt) = &request.gantt {
            self.paint(&frame, gantt, &request, &columns)?;
        }
        Ok(frame)
    }

    fn prepare(&mut self, request: &ViewRequest) -> Result<(), JsError> {
        if let Some(Gantt::Ranks { places, .. }) = &request.gantt {
            for place in places {
                self.derive(place.capture, place.device, |derived, device, outside| derived.need_curves(device, outside))?;
            }
        }
        let only = gantt::only(request);
        self.narrow((request.capture, request.device), &only)?;
        self.derive(request.capture, request.device, |derived, device, outside| {
            derived.need_curves(device, outside);
            match &request.gantt {
                Some(Gantt::Lanes { by, .. }) => derived.need_drawn(device, Laid::new(*by, request.nearest), &only),
                Some(Gantt::Blocks { .. } | Gantt::Stack { .. }) => derived.need_sizes(device, &only),
                Some(Gantt::Ranks { .. }) | None => {}
            }
        })
    }
}

/// The window in the time of a device.
pub(super) fn window_of(opened: &OpenedDevice, request: &ViewRequest) -> Window {
    let from_ns = opened.absolute(request.from_ns);
    Window { from_ns, to_ns: opened.absolute(request.to_ns).max(from_ns.saturating_add(1)), width_px: request.width_px }
}

/// Sets `<curve>_min` and `<curve>_max`, and `y_max`, the largest value among them.
fn curves(frame: &Object, device: &Device, index: &CurveSet, columns: &Columns) {
    let curves = &device.replay.curves;
    let found: Vec<(&str, Extremes)> = [("total", &index.total), ("baseline", &index.baseline), ("reserved", &index.reserved), ("active", &index.active)]
        .into_par_iter()
        .map(|(name, index)| {
            let extremes = match name {
                "total" => index.extremes(columns, |at| curves.total_bytes(at)),
                "baseline" => index.extremes(columns, |at| curves.baseline_bytes[at]),
                "reserved" => index.extremes(columns, |at| curves.reserved_bytes[at]),
                _ => index.extremes(columns, |at| curves.active_bytes[at]),
            };
            (name, extremes)
        })
        .collect();
    let most = set_extremes(frame, &found);
    set(frame, "y_max", &most.into());
}

/// The further curves that are wanted; `lines_max` is the largest value among them.
fn lines(frame: &Object, device: &Device, opened: &OpenedDevice, index: &CurveSet, columns: &Columns, request: &ViewRequest) {
    let curves = &device.replay.curves;
    let outside = &opened.outside;
    let filtered = || {
        let some = opened.derived.narrowed(&gantt::only(request))?;
        Some(some.curve.extremes(&Columns::of(columns.window, &some.held.time_ns), |at| some.held.bytes[at]))
    };
    let line = |line: &Line| match line {
        Line::Outside => {
            let columns = Columns::of(columns.window, &outside.time_ns);
            ("outside", index.outside.extremes(&columns, |at| outside.bytes.get(at).copied().unwrap_or(UNKNOWN)))
        }
        Line::ReservedGap => ("reserved_gap", index.reserved_gap.extremes(columns, |at| curves.reserved_gap_bytes(at))),
        Line::ActiveGap => ("active_gap", index.active_gap.extremes(columns, |at| curves.active_gap_bytes(at))),
        Line::Filtered => ("filtered", filtered().unwrap_or(Extremes { min: Vec::new(), max: Vec::new() })),
    };
    let most = set_extremes(frame, &request.lines.iter().map(line).collect::<Vec<_>>());
    set(frame, "lines_max", &most.into());
}

fn set_extremes(frame: &Object, found: &[(&str, Extremes)]) -> f64 {
    found.iter().fold(0.0, |most, (name, extremes)| {
        set(frame, &format!("{name}_min"), &Float64Array::from(&extremes.min[..]));
        set(frame, &format!("{name}_max"), &Float64Array::from(&extremes.max[..]));
        extremes.max.iter().copied().fold(most, f64::max)
    })
}
