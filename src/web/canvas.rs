//! Draws on the page's canvases.

use crate::draw::heap::{self, Heap};
use crate::draw::picture::{Curves, Em, Picture, draw_picture};
use crate::draw::shapes::{NUMBERS, Shape};
use crate::draw::trend::{self, GridStyle, Trend, TrendStyle};
use crate::export::chart::Chart;
use crate::export::image;
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
    trend::draw_trend(&backend(canvas)?.into_drawing_area(), &trend_of(frame, lines, line_colours), &style.to_rust()?).map_err(failed)
}

fn trend_of(frame: &JsValue, lines: Vec<String>, line_colours: Vec<u32>) -> Trend {
    let number = |key: &str| Reflect::get(frame, &key.into()).ok().and_then(|value| value.as_f64()).unwrap_or(f64::NAN);
    let column = |key: String| {
        Reflect::get(frame, &key.into()).ok().and_then(|value| value.dyn_into::<Float64Array>().ok()).map(|array| array.to_vec()).unwrap_or_default()
    };
    let series = |name: &str| Extremes { min: column(format!("{name}_min")), max: column(format!("{name}_max")) };
    let further = lines.into_iter().zip(line_colours);
    let filtered = further.clone().find(|(line, _)| line == FILTERED).map(|(line, colour)| (series(&line), colour));
    Trend {
        from_ns: number("from_ns"),
        to_ns: number("to_ns"),
        total: series("total"),
        baseline: series("baseline"),
        reserved: series("reserved"),
        active: series("active"),
        lines: further.filter(|(line, _)| line != FILTERED).map(|(line, colour)| (series(&line), colour)).collect(),
        filtered,
        most_bytes: number("y_max").max(number("lines_max")),
    }
}

/// Draws what a module's heap holds (see `Engine.heap`) with axes and the peak.
#[wasm_bindgen]
pub fn draw_heap(canvas: HtmlCanvasElement, min: Vec<f64>, max: Vec<f64>, events: f64, style: Ts<TrendStyle>) -> Result<(), JsError> {
    let heap = Heap { held: Extremes { min, max }, events };
    heap::draw_heap(&backend(canvas)?.into_drawing_area(), &heap, &style.to_rust()?).map_err(failed)
}

/// A picture to be saved: the frame, rectangles (see [`Shape`]), and curves, if there are any.
#[wasm_bindgen]
pub struct Saved(Chart);

#[wasm_bindgen]
impl Saved {
    #[wasm_bindgen(constructor)]
    pub fn new(picture: Ts<Picture>, shapes: &[u32]) -> Result<Saved, JsError> {
        let shapes = shapes.chunks(NUMBERS).filter_map(Shape::from_numbers).collect();
        Ok(Saved(Chart { picture: picture.to_rust()?, shapes, curves: None }))
    }

    /// Curves like those of [`draw_trend`].
    pub fn trend(&mut self, frame: &JsValue, style: Ts<TrendStyle>, lines: Vec<String>, line_colours: Vec<u32>) -> Result<(), JsError> {
        self.0.curves = Some(Curves::Trend(Box::new(trend_of(frame, lines, line_colours)), style.to_rust()?));
        Ok(())
    }

    /// A curve like that of [`draw_heap`].
    pub fn heap(&mut self, min: Vec<f64>, max: Vec<f64>, events: f64, style: Ts<TrendStyle>) -> Result<(), JsError> {
        self.0.curves = Some(Curves::Heap(Heap { held: Extremes { min, max }, events }, style.to_rust()?));
        Ok(())
    }

    pub fn svg(&self) -> Result<String, JsError> {
        image::svg(&self.0).map_err(|message| JsError::new(&message))
    }

    /// On a canvas of the picture's size.
    pub fn paint(&self, canvas: HtmlCanvasElement) -> Result<(), JsError> {
        let Chart { picture, shapes, curves } = &self.0;
        draw_picture(&backend(canvas)?.into_drawing_area(), picture, shapes, curves.as_ref(), Em::CANVAS).map_err(failed)
    }
}

/// Draws the vertical lines of a window's time axis.
#[wasm_bindgen]
pub fn draw_grid(canvas: HtmlCanvasElement, from_ns: f64, to_ns: f64, style: Ts<GridStyle>) -> Result<(), JsError> {
    trend::draw_grid(&backend(canvas)?.into_drawing_area(), from_ns, to_ns, &style.to_rust()?).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}

fn backend(canvas: HtmlCanvasElement) -> Result<CanvasBackend, JsError> {
    CanvasBackend::with_canvas_object(canvas).ok_or_else(|| JsError::new("this canvas cannot be drawn on"))
}
