//! Level of detail: what a window looks like at a given width, answered in time that goes with the pixels and not with the blocks.
//!
//! Every instant at which something begins or ends has a number, its place among the instants of the curves. A window's pixel columns
//! are translated into such numbers once ([`columns`]); after that everything is a search among 32-bit integers, and exact:
//!
//! | module | answers |
//! |---|---|
//! | [`columns`] | which whole nanoseconds, and which instants, a pixel column covers |
//! | [`pyramid`] | summaries of runs of entries, of runs of runs, and so on |
//! | [`curves`] | the least and the largest value of a curve in every column: no peak is lost |
//! | [`lanes`] | the blocks of a lane by their starts: how many lie in a stretch, which, and which one is next |
//! | [`listed`] | the lanes of a view in their order |
//! | [`skyline`] | the one or two blocks that a lane shows in every column, and how many more there are |
//! | [`sizes`] | the largest blocks of a stretch, and the next large one |
//! | [`stack`] | blocks stacked upon each other, as thick as their bytes |

pub mod columns;
pub mod curves;
pub mod lanes;
pub mod listed;
pub mod pyramid;
pub mod sizes;
pub mod skyline;
pub mod stack;

/// No block at this place of a lane.
pub const NO_BLOCK: u32 = u32::MAX;
/// The key of a block that lies on no lane.
pub const NO_LANE: u32 = u32::MAX;
