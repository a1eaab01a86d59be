//! Blocks stacked by size: at an instant the baseline, upon it one band of all blocks too thin to be seen, upon that the others in the order
//! of their allocation, each as thick as its bytes.
//!
//! A pixel column shows the instant of its largest total, the earliest of equal ones, so that no peak is lost. A block has a band of its own
//! if its bytes are worth a pixel at least: never more bands than pixels, however many blocks live.

use super::columns::Columns;
use super::curves::CurveIndex;
use super::sizes::SizeIndex;
use crate::timeline::blocks::Blocks;
use crate::timeline::replay::Curves;
use rayon::prelude::*;

/// Columns that one thread lays out one after the other: what lives in one mostly lives in the next.
const CHUNK: usize = 64;

/// One column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stack {
    /// The entry of the curves that is shown; `None` before the first.
    pub entry: Option<usize>,
    /// Memory from before the capture.
    pub baseline_bytes: i64,
    /// The blocks that have no band of their own, together.
    pub small_bytes: i64,
    /// The others, by start, then number: from the bottom up.
    pub blocks: Vec<u32>,
}

/// What is stacked.
#[derive(Clone, Copy)]
pub struct Stacked<'a> {
    /// The blocks.
    pub blocks: &'a Blocks,
    /// Their curves.
    pub curves: &'a Curves,
    /// The index over `curves.total_bytes`.
    pub total: &'a CurveIndex,
    /// The blocks by size.
    pub sizes: &'a SizeIndex,
}

impl Stacked<'_> {
    /// The stack of every column. `least_bytes`: what is worth a pixel, at least 1.
    pub fn columns(self, columns: &Columns, least_bytes: i64) -> Vec<Stack> {
        let starts: Vec<usize> = (0..columns.len()).step_by(CHUNK).collect();
        let chunk = |&first: &usize| self.chunk(columns, first..columns.len().min(first + CHUNK), least_bytes);
        starts.par_iter().flat_map_iter(chunk).collect()
    }

    fn chunk(self, columns: &Columns, range: std::ops::Range<usize>, least_bytes: i64) -> Vec<Stack> {
        let Stacked { blocks, curves, total, sizes } = self;
        let mut living: Vec<u32> = Vec::new();
        let mut shown_ns = None;
        let stack = |column: usize| {
            let Some(entry) = total.largest(columns, column, |at| curves.total_bytes(at)) else { return Stack::default() };
            let at_ns = curves.time_ns[entry];
            if shown_ns != Some(at_ns) {
                living.retain(|&block| blocks.end_ns[block as usize] > at_ns);
                let before = living.len();
                sizes.large_living(blocks, &curves.time_ns, least_bytes, shown_ns, at_ns, &mut living);
                // What is new began later than all that was there.
                living[before..].sort_unstable_by_key(|&block| (blocks.start_ns[block as usize], block));
                shown_ns = Some(at_ns);
            }
            let bytes = living.iter().fold(0i64, |sum, &block| sum.saturating_add(blocks.size_bytes[block as usize]));
            Stack {
                entry: Some(entry),
                baseline_bytes: curves.baseline_bytes[entry],
                small_bytes: curves.tracked_bytes[entry].saturating_sub(bytes),
                blocks: living.clone(),
            }
        };
        range.map(stack).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::Window;
    use super::*;
    use crate::timeline::blocks::OPEN;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stacks_equal_those_of_the_largest_instant(
            rows in prop::collection::vec((1i64..2000, 0i64..100, 0i64..60), 1..60), from_ns in -5i64..110, length in 1i64..100, width_px in 1u32..200, least in 1i64..1500,
        ) {
            let rows: Vec<_> = rows.iter().map(|&(size, start, life)| ("a", size, start, if life > 52 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(500, &rows);
            let curves = Replay::of(&blocks).curves;
            let total = CurveIndex::of(curves.len(), |at| curves.total_bytes(at));
            let sizes = SizeIndex::of(&blocks, &curves.time_ns);
            let window = Window { from_ns, to_ns: from_ns + length, width_px };
            let columns = Columns::of(window, &curves.time_ns);
            let found = Stacked { blocks: &blocks, curves: &curves, total: &total, sizes: &sizes }.columns(&columns, least);
            for (column, stack) in found.iter().enumerate() {
                let (from, to) = window.column_ns(column as u32);
                let entries = || (from..to).filter_map(|now| curves.entry_at(now));
                let most = entries().map(|entry| curves.total_bytes(entry)).max();
                let entry = entries().find(|&entry| Some(curves.total_bytes(entry)) == most);
                prop_assert_eq!(stack.entry, entry);
                let Some(entry) = entry else { continue };
                let now = curves.time_ns[entry];
                let mut living: Vec<u32> = (0..rows.len() as u32)
                    .filter(|&i| rows[i as usize].1 >= least && rows[i as usize].2 <= now && now < rows[i as usize].3)
                    .collect();
                living.sort_by_key(|&i| (rows[i as usize].2, i));
                let bytes: i64 = living.iter().map(|&i| rows[i as usize].1).sum();
                prop_assert_eq!(&stack.blocks, &living);
                prop_assert_eq!(stack.baseline_bytes + stack.small_bytes + bytes, curves.total_bytes(entry));
            }
        }
    }
}
