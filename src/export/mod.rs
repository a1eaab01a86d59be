//! The report as text.

pub mod json;
pub mod table;
pub mod text;
mod xplane_text;
