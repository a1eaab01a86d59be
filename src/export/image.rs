//! A picture as a file: SVG, or PNG with the bundled letters.

use super::chart::Chart;
use super::inert::printable;
use crate::draw::font;
use crate::draw::picture::{Em, Label, Picture, draw_picture};
use plotters::prelude::*;

/// The SVG of a chart; its letters are the viewer's.
pub fn svg(chart: &Chart) -> Result<String, String> {
    font::prepare();
    let picture = inert(&chart.picture);
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (picture.width_px, picture.height_px)).into_drawing_area();
    draw_picture(&area, &picture, &chart.shapes, chart.curves.as_ref(), Em::SVG).map_err(|error| error.to_string())?;
    area.present().map_err(|error| error.to_string())?;
    drop(area);
    Ok(svg)
}

/// The PNG of a chart.
#[cfg(feature = "cli")]
pub fn png(chart: &Chart) -> Result<Vec<u8>, String> {
    font::prepare();
    let picture = inert(&chart.picture);
    let (width, height) = (picture.width_px, picture.height_px);
    let mut pixels = vec![0; width as usize * height as usize * 3];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        draw_picture(&area, &picture, &chart.shapes, chart.curves.as_ref(), Em::BITMAP).map_err(|error| error.to_string())?;
        area.present().map_err(|error| error.to_string())?;
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&pixels).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(file)
}

/// A file's text can steer nothing, whatever shows the picture.
fn inert(picture: &Picture) -> Picture {
    let labels = picture.labels.iter().map(|label| Label { text: printable(&label.text), ..label.clone() }).collect();
    Picture { labels, ..picture.clone() }
}
