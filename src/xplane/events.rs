//! The second reading of a capture: of every line of the host what matters for memory, and which device a launch went to.
//!
//! An event's absolute time is its line's timestamp and its own offset together: lines of one plane start at different times. Times here
//! are picoseconds since the profile's start where timestamps are absolute, else since their own zero. Lines on which nothing of memory or
//! of an execution happens are given up when they end.
//!
//! Nearly all of a line's events only say what the host did around the others. They are not kept: of stretches of bytes it is noted when
//! their events began and ended, so that a third reading can look at the few where that is asked (`look.rs`).

pub mod class;
pub mod head;
pub mod line;
pub mod numbers;
pub mod reader;
pub mod stats;

use crate::scan::wire::Fault;
use class::Name;
use line::Line;
use numbers::Numbers;
use rustc_hash::FxHashMap;
use stats::Launch;

/// What the second reading found.
#[derive(Debug, Default)]
pub struct Events {
    /// The names of the lines' events.
    pub names: Vec<Name>,
    /// The threads on which something of interest happened.
    pub lines: Vec<Line>,
    /// By start.
    pub launches: Vec<Launch>,
    /// The device of each correlation id.
    pub kernels: FxHashMap<i64, i64>,
    /// Names of allocators and modules, and shapes.
    pub texts: Vec<String>,
    /// How the events of each plane are named.
    pub numbers: Vec<Numbers>,
    /// Events read.
    pub count: u64,
    /// Events that could not be read.
    pub broken: u64,
    /// Where the file is damaged.
    pub damage: Vec<(u64, Fault)>,
    /// What matters had no room: nothing of it is here.
    pub is_full: bool,
}
