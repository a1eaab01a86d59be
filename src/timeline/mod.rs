//! Blocks as columns, and everything that is derived from them: replay, live sets, groups, overlaps, pictures of a window. This module
//! knows no format; the formats fill its columns, everything above reads them.

pub mod allocators;
pub mod between;
pub mod blocks;
pub mod busiest;
pub mod difference;
pub mod folded;
pub mod growth;
pub mod held;
pub mod histogram;
pub mod live;
pub mod lod;
pub mod order;
pub mod packed;
pub mod replay;
pub mod without;
