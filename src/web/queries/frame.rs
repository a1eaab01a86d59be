//! The charts' picture of a window: the extremes of every curve and the bars of every lane, a value per pixel column.

use crate::ascend::capture::Device;
use crate::draw::bars::{LanePaint, paint_lane};
use crate::timeline::blocks::UNKNOWN;
use crate::timeline::window::{self, Extremes, Window};
use crate::web::columns::set;
use crate::web::engine::{Engine, HUES, OpenedDevice};
use crate::web::messages::{Line, ViewRequest};
use js_sys::{Float64Array, Object, Uint8ClampedArray, Uint32Array};
use rayon::prelude::*;
use tsify::Ts;
use wasm_bindgen::prelude::*;

/// Wider or taller pictures than any screen are a mistake of the caller.
const MOST_PIXELS: u64 = 64 << 20;

#[wasm_bindgen]
impl Engine {
    /// What the charts show of a window.
    pub fn frame(&self, request: Ts<ViewRequest>) -> Result<Object, JsError> {
        let request = request.to_rust()?;
        let (device, opened) = self.device(request.capture, request.device)?;
        let (width, height) = (u64::from(request.width_px), u64::from(request.lane_px) * request.lanes.len() as u64);
        if width == 0 || request.lane_px == 0 || width * height > MOST_PIXELS || request.palette.len() <= HUES {
            return Err(JsError::new("no such view"));
        }
        let from_ns = opened.absolute(request.from_ns);
        let to_ns = opened.absolute(request.to_ns).max(from_ns.saturating_add(1));
        let window = Window { from_ns, to_ns, width_px: request.width_px };
        let frame = Object::new();
        set(&frame, "from_ns", &request.from_ns.into());
        set(&frame, "to_ns", &request.to_ns.into());
        set(&frame, "width_px", &request.width_px.into());
        curves(&frame, device, window);
        lines(&frame, device, opened, window, &request.lines);
        lanes(&frame, device, opened, window, &request);
        Ok(frame)
    }
}

fn curves(frame: &Object, device: &Device, window: Window) {
    let curves = &device.replay.curves;
    let total = |at: usize| curves.total_bytes(at);
    let values: [(&str, &(dyn Fn(usize) -> i64 + Sync)); 4] = [
        ("total", &total),
        ("baseline", &|at| curves.baseline_bytes[at]),
        ("reserved", &|at| curves.reserved_bytes[at]),
        ("active", &|at| curves.active_bytes[at]),
    ];
    let found: Vec<(&str, Extremes)> = values.into_par_iter().map(|(name, value)| (name, window::extremes(&curves.time_ns, window, value))).collect();
    let mut most: f64 = 0.0;
    for (name, extremes) in &found {
        most = extremes.max.iter().copied().fold(most, f64::max);
        set(frame, &format!("{name}_min"), &Float64Array::from(&extremes.min[..]));
        set(frame, &format!("{name}_max"), &Float64Array::from(&extremes.max[..]));
    }
    set(frame, "y_max", &most.into());
}

/// The further curves that are wanted, as `<line>_min` and `<line>_max`; `lines_max` is the largest value among them.
fn lines(frame: &Object, device: &Device, opened: &OpenedDevice, window: Window, wanted: &[Line]) {
    let curves = &device.replay.curves;
    let outside = &opened.outside;
    let mut most: f64 = 0.0;
    for line in wanted {
        let (name, found) = match line {
            Line::Outside => ("outside", window::extremes(&outside.time_ns, window, |at| outside.bytes.get(at).copied().unwrap_or(UNKNOWN))),
            Line::ReservedGap => ("reserved_gap", window::extremes(&curves.time_ns, window, |at| curves.reserved_gap_bytes(at))),
            Line::ActiveGap => ("active_gap", window::extremes(&curves.time_ns, window, |at| curves.active_gap_bytes(at))),
        };
        most = found.max.iter().copied().fold(most, f64::max);
        set(frame, &format!("{name}_min"), &Float64Array::from(&found.min[..]));
        set(frame, &format!("{name}_max"), &Float64Array::from(&found.max[..]));
    }
    set(frame, "lines_max", &most.into());
}

fn lanes(frame: &Object, device: &Device, opened: &OpenedDevice, window: Window, request: &ViewRequest) {
    let blocks = &device.blocks;
    let (width, lane_px) = (request.width_px as usize, request.lane_px as usize);
    let mut pixels = vec![0u8; width * lane_px * request.lanes.len() * 4];
    let views: Vec<window::LaneView> = pixels
        .par_chunks_mut((width * lane_px * 4).max(1))
        .zip(&request.lanes)
        .map(|(pixels, &lane)| {
            let Some(&name) = opened.lane_names.get(lane as usize) else {
                return window::LaneView { top: vec![window::NO_BLOCK; width], blocks: 0 };
            };
            let view = window::lane(blocks, opened.lanes.lane(name as usize), window);
            let colour = request.palette[(lane as usize).min(HUES)];
            paint_lane(pixels, blocks, &LanePaint { top: &view.top, colour, height_px: lane_px, selected: request.selected, outline: request.outline });
            view
        })
        .collect();
    let tops: Vec<u32> = views.iter().flat_map(|view| view.top.iter().copied()).collect();
    let counts: Vec<u32> = views.iter().map(|view| view.blocks).collect();
    set(frame, "blocks", &Uint32Array::from(&tops[..]));
    set(frame, "counts", &Uint32Array::from(&counts[..]));
    set(frame, "pixels", &Uint8ClampedArray::from(&pixels[..]));
}
