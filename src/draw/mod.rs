//! Charts and pictures from plain series. What plotters draws is generic over its backends: a canvas in the page, SVG or PNG elsewhere.

pub mod axes;
pub mod bars;
pub mod font;
pub mod heap;
pub mod hues;
pub mod look;
pub mod picture;
pub mod shapes;
pub mod trend;
