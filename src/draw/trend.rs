//! The memory of a pool over time: total over baseline, reserved and active as lines, the peak marked.

use super::axes::UnitAxis;
use crate::timeline::lod::curves::Extremes;
use plotters::coord::types::RangedCoordi32;
use plotters::prelude::*;
use plotters::series::DashedLineSeries;

/// What is drawn.
pub struct Trend {
    /// Window, in nanoseconds since the capture's start.
    pub from_ns: f64,
    /// End of the window.
    pub to_ns: f64,
    /// Baseline + tracked.
    pub total: Extremes,
    /// From before the capture.
    pub baseline: Extremes,
    /// Held by the allocator.
    pub reserved: Extremes,
    /// Allocated, or held by another stream.
    pub active: Extremes,
    /// Further curves, and their colours.
    pub lines: Vec<(Extremes, u32)>,
    /// What the blocks hold that pass a filter, and its colour.
    pub filtered: Option<(Extremes, u32)>,
    /// Largest value of the axis.
    pub most_bytes: f64,
}

/// How it is drawn: lengths in pixels of the canvas, colours as 0xRRGGBB.
#[derive(Debug, Clone, serde::Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)] // The names say it.
pub struct TrendStyle {
    /// Canvas pixels of one CSS pixel.
    pub ratio: f64,
    pub left_px: u32,
    pub right_px: u32,
    pub top_px: u32,
    pub bottom_px: u32,
    pub font: String,
    pub text: u32,
    pub grid: u32,
    pub total: u32,
    pub baseline: u32,
    pub reserved: u32,
    pub active: u32,
    pub peak: u32,
    pub peak_ns: f64,
    pub peak_bytes: f64,
    pub peak_label: String,
    /// See [`super::picture::Em`]; the page's canvases need not say it.
    #[serde(default = "em_of_a_canvas")]
    pub em: f64,
}

fn em_of_a_canvas() -> f64 {
    super::picture::Em::CANVAS.0
}

/// How a grid is drawn.
#[derive(Debug, Clone, serde::Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct GridStyle {
    pub ratio: f64,
    pub grid: u32,
}

/// CSS pixels between two ticks of the time axis, at least.
pub(super) const TICK_DISTANCE_PX: f64 = 110.0;
/// CSS pixels between two ticks of the memory axis, at least.
pub(super) const BYTE_TICK_DISTANCE_PX: f64 = 32.0;

pub(super) fn colour(rgb: u32) -> RGBColor {
    RGBColor((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

pub(super) fn time_axis(from_ns: f64, to_ns: f64, width_px: u32, ratio: f64) -> UnitAxis {
    UnitAxis::time(from_ns..to_ns, width_px, (f64::from(width_px) / ratio / TICK_DISTANCE_PX) as usize)
}

/// Draws the chart on a whole drawing area.
pub fn draw_trend<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    trend: &Trend,
    style: &TrendStyle,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let (width_px, height_px) = area.dim_in_pixel();
    let plot_px = (width_px.saturating_sub(style.left_px + style.right_px), height_px.saturating_sub(style.top_px + style.bottom_px));
    let x = time_axis(trend.from_ns, trend.to_ns, plot_px.0, style.ratio);
    let y = UnitAxis::bytes(trend.most_bytes, (f64::from(plot_px.1) / style.ratio / BYTE_TICK_DISTANCE_PX) as usize);
    let line_px = style.ratio.round().max(1.0) as u32;
    let text = (style.font.as_str(), 12.0 * style.ratio * style.em).into_font().color(&colour(style.text));

    let mut chart = ChartBuilder::on(area)
        .margin_top(style.top_px)
        .margin_right(style.right_px)
        .x_label_area_size(style.bottom_px)
        .y_label_area_size(style.left_px)
        .build_cartesian_2d(x.clone(), y.clone())?;
    chart
        .configure_mesh()
        .bold_line_style(colour(style.grid).stroke_width(line_px))
        .light_line_style(TRANSPARENT)
        .axis_style(colour(style.grid).stroke_width(line_px))
        .label_style(text.clone())
        .draw()?;

    let total = path(&trend.total, trend.from_ns, trend.to_ns);
    let baseline = path(&trend.baseline, trend.from_ns, trend.to_ns);
    chart.draw_series(AreaSeries::new(total.iter().copied(), 0.0, colour(style.total).mix(0.25)))?;
    chart.draw_series(AreaSeries::new(baseline.iter().copied(), 0.0, colour(style.baseline).mix(0.45)))?;
    let dashed = |series: &Extremes, rgb: u32, size_px: u32, gap_px: u32| {
        let stroke = colour(rgb).stroke_width(line_px);
        DashedLineSeries::new(path(series, trend.from_ns, trend.to_ns), size_px * line_px, gap_px * line_px, stroke)
    };
    for (line, colour) in &trend.lines {
        chart.draw_series(dashed(line, *colour, 1, 2))?;
    }
    if let Some((filtered, rgb)) = &trend.filtered {
        let points = path(filtered, trend.from_ns, trend.to_ns);
        chart.draw_series(AreaSeries::new(points.iter().copied(), 0.0, colour(*rgb).mix(0.3)))?;
        chart.draw_series(LineSeries::new(points, colour(*rgb).stroke_width(line_px)))?;
    }
    chart.draw_series(dashed(&trend.active, style.active, 2, 3))?;
    chart.draw_series(dashed(&trend.reserved, style.reserved, 6, 4))?;
    chart.draw_series(LineSeries::new(baseline, colour(style.baseline).stroke_width(line_px)))?;
    chart.draw_series(LineSeries::new(total, colour(style.total).stroke_width(line_px)))?;

    if trend.from_ns <= style.peak_ns && style.peak_ns < trend.to_ns {
        let (at_x, at_y) = chart.backend_coord(&(style.peak_ns, style.peak_bytes));
        mark_peak(area, (at_x, at_y), f64::from(plot_px.0), style)?;
    }
    let unit_at = ((style.left_px as f64 - 6.0 * style.ratio) as i32, 2 * style.ratio as i32);
    let right = plotters::style::text_anchor::Pos::new(plotters::style::text_anchor::HPos::Right, plotters::style::text_anchor::VPos::Top);
    area.draw(&Text::new(y.name, unit_at, text.clone().pos(right)))?;
    area.draw(&Text::new(x.name, (width_px as i32 - (4.0 * style.ratio) as i32, (height_px - style.bottom_px / 2) as i32), text.pos(right)))
}

/// A triangle on the peak, and its figure in the margin above, where no line crosses it, on the side with room.
pub(super) fn mark_peak<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    at: (i32, i32),
    plot_px: f64,
    style: &TrendStyle,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    use plotters::style::text_anchor::{HPos, Pos, VPos};
    let px = |css: f64| (css * style.ratio) as i32;
    // The chart speaks of the whole picture, of which the area may be a part.
    let (columns, rows) = area.get_pixel_range();
    let at = (at.0 - columns.start, at.1 - rows.start);
    area.draw(&Polygon::new([at, (at.0 - px(5.0), at.1 - px(8.0)), (at.0 + px(5.0), at.1 - px(8.0))], colour(style.peak)))?;
    let left_half = f64::from(at.0 - style.left_px as i32) < plot_px / 2.0;
    let (dx, side) = if left_half { (px(8.0), HPos::Left) } else { (-px(8.0), HPos::Right) };
    let text = (style.font.as_str(), 12.0 * style.ratio * style.em).into_font().color(&colour(style.text)).pos(Pos::new(side, VPos::Bottom));
    area.draw(&Text::new(style.peak_label.clone(), (at.0 + dx, style.top_px as i32 - px(2.0)), text))
}

/// Vertical lines at the ticks of the trend's time axis.
pub fn draw_grid<B: DrawingBackend>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    from_ns: f64,
    to_ns: f64,
    style: &GridStyle,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let (width_px, height_px) = area.dim_in_pixel();
    let axis = time_axis(from_ns, to_ns, width_px, style.ratio);
    let line = colour(style.grid).stroke_width(style.ratio.round().max(1.0) as u32);
    let columns = area.clone().apply_coord_spec(Cartesian2d::<UnitAxis, RangedCoordi32>::new(
        axis.clone(),
        0..height_px as i32,
        (0..width_px as i32, 0..height_px as i32),
    ));
    for tick in axis.ticks() {
        columns.draw(&PathElement::new([(tick, 0), (tick, height_px as i32)], line))?;
    }
    Ok(())
}

/// A line through both extremes of every column, the nearer one first, so that steps stay steps.
pub(super) fn path(series: &Extremes, from: f64, to: f64) -> Vec<(f64, f64)> {
    let columns = series.min.len();
    let width = (to - from) / columns.max(1) as f64;
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(columns * 2);
    for (column, (&min, &max)) in series.min.iter().zip(&series.max).enumerate() {
        if min.is_nan() {
            continue;
        }
        let x = from + (column as f64 + 0.5) * width;
        let before = points.last().map_or(0.0, |point| point.1);
        let (first, second) = if (before - min).abs() <= (before - max).abs() { (min, max) } else { (max, min) };
        points.push((x, first));
        if second != first {
            points.push((x, second));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(min: Vec<f64>, max: Vec<f64>) -> Trend {
        let series = Extremes { min, max };
        Trend {
            from_ns: 0.0,
            to_ns: 4.0,
            total: series.clone(),
            baseline: series.clone(),
            reserved: series.clone(),
            active: series,
            lines: Vec::new(),
            filtered: None,
            most_bytes: 10.0,
        }
    }

    #[test]
    fn a_path_goes_through_both_extremes() {
        let trend = trend(vec![1.0, 1.0, 0.0, f64::NAN], vec![1.0, 9.0, 9.0, f64::NAN]);
        assert_eq!(path(&trend.total, trend.from_ns, trend.to_ns), [(0.5, 1.0), (1.5, 1.0), (1.5, 9.0), (2.5, 9.0), (2.5, 0.0)]);
    }
}
