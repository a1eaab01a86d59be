//! What the report says.

pub mod report;
