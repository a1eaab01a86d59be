//! The report as text, and charts as pictures.

pub mod chart;
mod compare_markdown;
mod compare_text;
pub mod image;
pub mod inert;
pub mod json;
pub mod markdown;
pub mod stack_label;
pub mod table;
pub mod text;
pub mod words;
mod xplane_markdown;
mod xplane_text;
