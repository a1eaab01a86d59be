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

#[cfg(test)]
mod tests {
    use super::{curves::CurveIndex, lanes::Lanes, skyline::Skyline};
    use crate::timeline::blocks::{Block, BlocksBuilder, Total, UNKNOWN};
    use crate::timeline::replay::Replay;

    /// The budget of all that is kept to draw any window: bytes a block.
    const MOST_BYTES_PER_BLOCK: usize = 34;
    const BLOCKS: usize = 30_000;

    #[test]
    fn what_is_kept_to_draw_is_within_its_budget() {
        let mut builder = BlocksBuilder::default();
        let (names, stream) = (["a", "b", "c", "d", "e"].map(|name| builder.name(name)), builder.stream("6"));
        for nth in 0..BLOCKS {
            let start_ns = nth as i64 * 10;
            let end_ns = start_ns + 5 + start_ns * 7_919 % 900;
            let (size_bytes, at_start, at_end) = (512 + start_ns % 70, Total::UNKNOWN, Total::UNKNOWN);
            builder.push(&Block { name: names[nth % 5], stream, size_bytes, start_ns, end_ns, active_end_ns: UNKNOWN, line: 0, at_start, at_end });
        }
        let blocks = builder.finish();
        let replay = Replay::of(&blocks);
        let curves = &replay.curves;
        let lanes = Lanes::of(&blocks, &curves.time_ns, &blocks.name, blocks.names.len());
        let skyline = Skyline::of(&blocks, &curves.time_ns, &lanes);
        let total = CurveIndex::of(curves.len(), |at| curves.total_bytes(at));
        let kept = lanes.bytes() + skyline.bytes() + 4 * total.bytes();
        assert!(kept <= MOST_BYTES_PER_BLOCK * BLOCKS, "{} bytes a block", kept as f64 / BLOCKS as f64);
        assert!(kept > 8 * BLOCKS, "nothing is kept");
    }
}
