//! What a module's heap holds over its schedule, the peak marked.

use super::axes::UnitAxis;
use super::trend::{BYTE_TICK_DISTANCE_PX, TICK_DISTANCE_PX, TrendStyle, colour, mark_peak, path};
use crate::timeline::lod::curves::Extremes;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// What is drawn.
pub struct Heap {
    /// Bytes, per pixel column.
    pub held: Extremes,
    /// How many events the schedule has.
    pub events: f64,
}

/// Draws the chart on a whole drawing area. Of the style, `peak_ns` is the event of the peak.
pub fn draw_heap<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    heap: &Heap,
    style: &TrendStyle,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let (width_px, height_px) = area.dim_in_pixel();
    let plot_px = (width_px.saturating_sub(style.left_px + style.right_px), height_px.saturating_sub(style.top_px + style.bottom_px));
    let x = UnitAxis::count(0.0..heap.events, plot_px.0, (f64::from(plot_px.0) / style.ratio / TICK_DISTANCE_PX) as usize);
    let y = UnitAxis::bytes(style.peak_bytes, (f64::from(plot_px.1) / style.ratio / BYTE_TICK_DISTANCE_PX) as usize);
    let line_px = style.ratio.round().max(1.0) as u32;
    let text = (style.font.as_str(), 12.0 * style.ratio * style.em).into_font().color(&colour(style.text));
    let mut chart = ChartBuilder::on(area)
        .margin_top(style.top_px)
        .margin_right(style.right_px)
        .x_label_area_size(style.bottom_px)
        .y_label_area_size(style.left_px)
        .build_cartesian_2d(x, y.clone())?;
    chart
        .configure_mesh()
        .bold_line_style(colour(style.grid).stroke_width(line_px))
        .light_line_style(TRANSPARENT)
        .axis_style(colour(style.grid).stroke_width(line_px))
        .label_style(text.clone())
        .draw()?;
    let held = path(&heap.held, 0.0, heap.events);
    chart.draw_series(AreaSeries::new(held.iter().copied(), 0.0, colour(style.total).mix(0.25)))?;
    chart.draw_series(LineSeries::new(held, colour(style.total).stroke_width(line_px)))?;
    let peak = chart.backend_coord(&(style.peak_ns, style.peak_bytes));
    mark_peak(area, peak, f64::from(plot_px.0), style)?;
    let unit_at = ((style.left_px as f64 - 6.0 * style.ratio) as i32, 2 * style.ratio as i32);
    area.draw(&Text::new(y.name, unit_at, text.pos(Pos::new(HPos::Right, VPos::Top))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_of_the_heap_is_the_highest_thing_drawn() {
        let heap = Heap { held: Extremes { min: vec![0.0, 50.0, 10.0, 0.0], max: vec![50.0, 1000.0, 50.0, 10.0] }, events: 40.0 };
        let style = TrendStyle {
            ratio: 1.0,
            left_px: 40,
            right_px: 10,
            top_px: 10,
            bottom_px: 20,
            font: "sans-serif".to_owned(),
            text: 0,
            grid: 0x00dd_dddd,
            total: 0x0012_3456,
            baseline: 0,
            reserved: 0,
            active: 0,
            peak: 0x00ff_0000,
            peak_ns: 15.0,
            peak_bytes: 1000.0,
            peak_label: "peak".to_owned(),
            em: 1.0,
        };
        crate::draw::font::prepare();
        let mut svg = String::new();
        draw_heap(&SVGBackend::with_string(&mut svg, (400, 200)).into_drawing_area(), &heap, &style).unwrap();
        // 1000 of an axis that reaches 1080, in a plot from 10 to 180.
        assert!(svg.contains("#123456") && svg.contains("#FF0000"), "{svg}");
        let line = svg.lines().find(|line| line.contains("<polyline") && line.contains("#123456")).unwrap();
        let heights = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap().split_whitespace();
        let highest = heights.map(|point| point.split(',').nth(1).unwrap().parse::<i32>().unwrap()).min().unwrap();
        assert!((20..=24).contains(&highest), "{highest} in {line}");
    }
}
