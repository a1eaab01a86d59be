//! Bytes in: readers that are fed slices of any size and do no I/O themselves. Where a file is cut changes nothing in what they give.

pub mod csv;
pub mod gzip;
pub mod json;
pub mod masks;
pub mod sniff;
pub mod wire;
