//! The report as text.

pub mod json;
pub mod text;
