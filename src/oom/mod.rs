//! What the report says.

pub mod charts;
pub mod compare;
pub mod diagnose;
pub mod difference;
pub mod fixes;
pub mod merge;
pub mod read;
pub mod report;
pub mod xplane_report;
