//! A chart with what names it, as one picture: title, curves, rectangles, letters. The same on a canvas, in SVG and in PNG.

use super::heap::{Heap, draw_heap};
use super::shapes::{HATCHED, LEFT_EDGE, OUTLINED, Shape, TOP_EDGE};
use super::trend::{Trend, TrendStyle, colour, draw_trend, time_axis};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The frame. Lengths are in pixels of the picture, sizes of letters in CSS pixels, colours 0xRRGGBB.
#[derive(Debug, Clone, serde::Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Picture {
    /// How wide.
    pub width_px: u32,
    /// How high.
    pub height_px: u32,
    /// Pixels of the picture for one CSS pixel.
    pub ratio: f64,
    /// The letters' family.
    pub font: String,
    /// Behind everything.
    pub background: u32,
    /// Letters.
    pub labels: Vec<Label>,
    /// A time axis behind the rectangles.
    pub grid: Option<TimeGrid>,
    /// The upper edge and the height of curves.
    pub curves_px: (u32, u32),
}

/// A line of letters.
#[derive(Debug, Clone, serde::Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Label {
    /// Where it begins; where it ends, if `ends`.
    pub x: i32,
    /// Its middle.
    pub y: i32,
    /// It is cut where it is longer.
    pub room_px: u32,
    /// Of the letters.
    pub size: f64,
    /// It ends at `x`.
    #[serde(default)]
    pub ends: bool,
    /// Of the letters.
    pub colour: u32,
    /// What they say.
    pub text: String,
}

/// Lines at the ticks of a time axis, their figures beneath.
#[derive(Debug, Clone, serde::Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct TimeGrid {
    /// Left edge.
    pub x: u32,
    /// Upper edge.
    pub y: u32,
    /// How wide.
    pub width: u32,
    /// How high.
    pub height: u32,
    /// Window, in nanoseconds since the capture's start.
    pub from_ns: f64,
    /// End of the window.
    pub to_ns: f64,
    /// Of the lines.
    pub colour: u32,
    /// Of the figures.
    pub text: u32,
}

/// Curves with axes of their own.
pub enum Curves {
    /// Memory over time.
    Trend(Box<Trend>, TrendStyle),
    /// A heap over its schedule.
    Heap(Heap, TrendStyle),
}

/// CSS pixels between two lines of a hatching.
const HATCH_PX: f64 = 6.0;

/// How many pixels of `size` make letters as high as those of as many CSS pixels: a matter of the backend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Em(pub f64);

impl Em {
    /// The size is that of CSS.
    pub const CANVAS: Em = Em(1.0);
    /// Plotters divides by this for SVG.
    pub const SVG: Em = Em(1.24);
    /// From the lowest to the highest letter: what ab_glyph takes for the size, of the bundled face.
    pub const BITMAP: Em = Em(1.164);
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Draws the whole picture.
pub fn draw_picture<B: DrawingBackend>(area: &DrawingArea<B, Shift>, picture: &Picture, shapes: &[Shape], curves: Option<&Curves>, em: Em) -> Drawn<B> {
    area.fill(&colour(picture.background))?;
    if let Some(curves) = curves {
        let (top, height) = picture.curves_px;
        let within = area.clone().shrink((0, top), (picture.width_px, height));
        let styled = |style: &TrendStyle| TrendStyle { em: em.0, ..style.clone() };
        match curves {
            Curves::Trend(trend, style) => draw_trend(&within, trend, &styled(style))?,
            Curves::Heap(heap, style) => draw_heap(&within, heap, &styled(style))?,
        }
    }
    if let Some(grid) = &picture.grid {
        draw_time_grid(area, grid, picture, em)?;
    }
    shapes.iter().try_for_each(|shape| draw_shape(area, shape, picture))?;
    picture.labels.iter().try_for_each(|label| draw_label(area, label, picture, em))
}

fn draw_time_grid<B: DrawingBackend>(area: &DrawingArea<B, Shift>, grid: &TimeGrid, picture: &Picture, em: Em) -> Drawn<B> {
    use plotters::coord::ranged1d::Ranged;
    let axis = time_axis(grid.from_ns, grid.to_ns, grid.width, picture.ratio);
    let line = colour(grid.colour).stroke_width(picture.ratio.round().max(1.0) as u32);
    let (left, top, below) = (grid.x as i32, grid.y as i32, (grid.y + grid.height) as i32);
    let px = |css: f64| (css * picture.ratio) as i32;
    let text = |side| (picture.font.as_str(), 12.0 * picture.ratio * em.0).into_font().color(&colour(grid.text)).pos(Pos::new(side, VPos::Top));
    for tick in axis.ticks() {
        let x = axis.map(&tick, (left, left + grid.width as i32));
        area.draw(&PathElement::new([(x, top), (x, below)], line))?;
        area.draw(&Text::new(axis.label(tick), (x, below + px(4.0)), text(HPos::Center)))?;
    }
    area.draw(&Text::new(axis.name, (picture.width_px as i32 - px(4.0), below + px(4.0)), text(HPos::Right)))
}

fn draw_shape<B: DrawingBackend>(area: &DrawingArea<B, Shift>, shape: &Shape, picture: &Picture) -> Drawn<B> {
    let ratio = picture.ratio;
    let Shape { x, y, width, height, colour: rgb, alpha, marks } = *shape;
    let (left, top, right, bottom) = (x as i32, y as i32, (x + width) as i32, (y + height) as i32);
    let fill = colour(rgb).mix(f64::from(alpha) / 255.0);
    area.draw(&Rectangle::new([(left, top), (right, bottom)], fill.filled()))?;
    let line = ratio.round().max(1.0) as i32;
    if marks & HATCHED != 0 {
        let step = ((HATCH_PX * ratio) as usize).max(2);
        let stroke = RGBAColor(255, 255, 255, 0.47).stroke_width(line as u32);
        // From the lower edge up to the right, as far as the rectangle goes.
        for start in ((left - height as i32 + 1)..right).step_by(step) {
            let (from, to) = (start.max(left), (start + height as i32).min(right));
            if to > from {
                area.draw(&PathElement::new([(from, bottom - (from - start)), (to, bottom - (to - start))], stroke))?;
            }
        }
    }
    let dark = RGBAColor(0, 0, 0, 0.43).filled();
    if marks & LEFT_EDGE != 0 {
        area.draw(&Rectangle::new([(left, top), (left + line, bottom)], dark))?;
    }
    if marks & TOP_EDGE != 0 {
        area.draw(&Rectangle::new([(left, top), (right, top + line)], dark))?;
    }
    if marks & OUTLINED != 0 {
        area.draw(&Rectangle::new([(left, top), (right, bottom)], against(picture.background).stroke_width(2 * line as u32)))?;
    }
    Ok(())
}

/// Black or white, whichever stands out.
fn against(background: u32) -> RGBColor {
    let RGBColor(r, g, b) = colour(background);
    if u32::from(r) + u32::from(g) + u32::from(b) < 3 * 128 { WHITE } else { BLACK }
}

fn draw_label<B: DrawingBackend>(area: &DrawingArea<B, Shift>, label: &Label, picture: &Picture, em: Em) -> Drawn<B> {
    let text = fitting(&label.text, f64::from(label.room_px) / picture.ratio / label.size.max(1.0));
    if text.is_empty() {
        return Ok(());
    }
    let side = if label.ends { HPos::Right } else { HPos::Left };
    let style = (picture.font.as_str(), label.size * picture.ratio * em.0).into_font().color(&colour(label.colour)).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text, (label.x, label.y), style))
}

/// As much of a text as fits into a room, in parts of the letters' size. Widths are rough: no backend need be asked, and every one cuts alike.
fn fitting(text: &str, room: f64) -> String {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | '(' | ')' | '[' | ']' | ' ' | '/' | '·' => 0.36,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.92,
        c if c.is_ascii_uppercase() => 0.7,
        c if u32::from(c) >= 0x2e80 => 1.05,
        _ => 0.6,
    };
    let all: f64 = text.chars().map(width).sum();
    if all <= room {
        return text.to_owned();
    }
    let mut left = room - 0.9;
    let mut kept: String = text
        .chars()
        .take_while(|&c| {
            left -= width(c);
            left >= 0.0
        })
        .collect();
    if !kept.is_empty() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(labels: Vec<Label>) -> Picture {
        let grid = Some(TimeGrid { x: 100, y: 20, width: 280, height: 60, from_ns: 0.0, to_ns: 1e6, colour: 0xdddddd, text: 0x333333 });
        Picture { width_px: 400, height_px: 120, ratio: 1.0, font: crate::draw::font::FAMILY.to_owned(), background: 0xffffff, labels, grid, curves_px: (0, 0) }
    }

    fn svg(picture: &Picture, shapes: &[Shape]) -> String {
        crate::draw::font::prepare();
        let mut svg = String::new();
        draw_picture(&SVGBackend::with_string(&mut svg, (picture.width_px, picture.height_px)).into_drawing_area(), picture, shapes, None, Em::SVG).unwrap();
        svg
    }

    #[test]
    fn rectangles_lie_where_they_were_put_and_text_is_never_markup() {
        let label = Label { x: 4, y: 10, room_px: 300, size: 12.0, ends: false, colour: 0, text: "<script>&\"'".to_owned() };
        let shape = Shape { x: 101, y: 30, width: 40, height: 12, colour: 0x123456, alpha: 255, marks: 0 };
        let svg = svg(&picture(vec![label]), &[shape]);
        assert!(svg.contains(r##"<rect x="101" y="30" width="40" height="12" opacity="1" fill="#123456""##), "{svg}");
        assert!(svg.contains("&lt;script&gt;&amp;&quot;&apos;") && !svg.contains("<script"), "{svg}");
        assert!(svg.contains("font-size=\"12\""), "{svg}");
    }

    #[test]
    fn a_hatching_stays_within_its_rectangle() {
        let shape = Shape { x: 101, y: 30, width: 40, height: 12, colour: 0x123456, alpha: 255, marks: HATCHED };
        let svg = svg(&Picture { grid: None, ..picture(Vec::new()) }, &[shape]);
        let lines: Vec<&str> = svg.lines().filter(|line| line.contains("<polyline")).collect();
        assert!(lines.len() >= 6, "{svg}");
        for line in lines {
            for point in line.split("points=\"").nth(1).unwrap().split('"').next().unwrap().split_whitespace() {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (i32, i32) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((101..=141).contains(&x) && (30..=42).contains(&y), "{line}");
            }
        }
    }

    #[test]
    fn what_has_no_room_is_cut() {
        assert_eq!(fitting("aten::matmul", 100.0), "aten::matmul");
        let cut = fitting("aten::matmul", 4.0);
        assert!(cut.starts_with("aten") && cut.ends_with('…'), "{cut}");
        assert_eq!(fitting("aten::matmul", 0.5), "");
        assert!(fitting("显存显存", 3.0).chars().count() <= 3);
    }
}
