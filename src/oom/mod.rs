//! What the report says.

pub mod compare;
pub mod merge;
pub mod read;
pub mod report;
pub mod xplane_report;
