//! What the report says.

pub mod report;
pub mod xplane_report;
