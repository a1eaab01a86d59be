//! Draws on the page's canvases.

use crate::draw::heap::{self, Heap};
use crate::draw::trend::{self, GridStyle, Trend, TrendStyle};
use crate::timeline::lod::curves::Extremes;
use js_sys::{Float64Array, Reflect};
use plotters::prelude::IntoDrawingArea;
use plotters_canvas::CanvasBackend;
use tsify::Ts;
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

/// The further curve that is no line among others: what passes the filter.
const FILTERED: &str = "filtered";

/// Draws the curves of a frame (see `Engine.frame`) with axes and the peak. `lines` are further curves of the frame.
#[wasm_bindgen]
pub fn draw_trend(canvas: HtmlCanvasElement, frame: &JsValue, style: Ts<TrendStyle>, lines: Vec<String>, line_colours: Vec<u32>) -> Result<(), JsError> {
    let number = |key: &str| Reflect::get(frame, &key.into()).ok().and_then(|value| value.as_f64()).unwrap_or(f64::NAN);
    let column = |key: String| {
        Reflect::get(frame, &key.into()).ok().and_then(|value| value.dyn_into::<Float64Array>().ok()).map(|array| array.to_vec()).unwrap_or_default()
    };
    let series = |name: &str| Extremes { min: column(format!("{name}_min")), max: column(format!("{name}_max")) };
    let further = lines.into_iter().zip(line_colours);
    let filtered = further.clone().find(|(line, _)| line == FILTERED).map(|(line, colour)| (series(&line), colour));
    let trend = Trend {
        from_ns: number("from_ns"),
        to_ns: number("to_ns"),
        total: series("total"),
        baseline: series("baseline"),
        reserved: series("reserved"),
        active: series("active"),
        lines: further.filter(|(line, _)| line != FILTERED).map(|(line, colour)| (series(&line), colour)).collect(),
        filtered,
        most_bytes: number("y_max").max(number("lines_max")),
    };
    trend::draw_trend(&backend(canvas)?.into_drawing_area(), &trend, &style.to_rust()?).map_err(|error| JsError::new(&error.to_string()))
}

/// Draws what a module's heap holds (see `Engine.heap`) with axes and the peak.
#[wasm_bindgen]
pub fn draw_heap(canvas: HtmlCanvasElement, min: Vec<f64>, max: Vec<f64>, events: f64, style: Ts<TrendStyle>) -> Result<(), JsError> {
    let heap = Heap { held: Extremes { min, max }, events };
    heap::draw_heap(&backend(canvas)?.into_drawing_area(), &heap, &style.to_rust()?).map_err(|error| JsError::new(&error.to_string()))
}

/// Draws the vertical lines of a window's time axis.
#[wasm_bindgen]
pub fn draw_grid(canvas: HtmlCanvasElement, from_ns: f64, to_ns: f64, style: Ts<GridStyle>) -> Result<(), JsError> {
    trend::draw_grid(&backend(canvas)?.into_drawing_area(), from_ns, to_ns, &style.to_rust()?).map_err(|error| JsError::new(&error.to_string()))
}

fn backend(canvas: HtmlCanvasElement) -> Result<CanvasBackend, JsError> {
    CanvasBackend::with_canvas_object(canvas).ok_or_else(|| JsError::new("this canvas cannot be drawn on"))
}
