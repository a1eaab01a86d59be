//! The report as text.

mod compare_markdown;
mod compare_text;
pub mod inert;
pub mod json;
pub mod markdown;
pub mod stack_label;
pub mod table;
pub mod text;
pub mod words;
mod xplane_markdown;
mod xplane_text;
