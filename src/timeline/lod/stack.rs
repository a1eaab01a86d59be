//! Blocks stacked by size: at an instant the baseline, upon it one band of all blocks too thin to be seen, upon that the others in the order
//! of their allocation, each as thick as its bytes.
//!
//! A pixel column shows the instant of its largest total, the earliest of equal ones, so that no peak is lost. A block has a band of its own
//! if its bytes are worth a pixel at least: never more bands than pixels, however many blocks live.

use super::columns::Columns;
use super::curves::CurveIndex;
use super::sizes::SizeIndex;
use crate::timeline::blocks::Blocks;
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

/// What is stacked: all blocks, or some.
#[derive(Clone, Copy)]
pub struct Stacked<'a> {
    /// The blocks.
    pub blocks: &'a Blocks,
    /// The instants at which any that is stacked begins or ends.
    pub time_ns: &'a [i64],
    /// What these hold from each instant on.
    pub held_bytes: &'a [i64],
    /// What lies below them; empty: nothing.
    pub baseline_bytes: &'a [i64],
    /// The index over [`Stacked::total_bytes`].
    pub total: &'a CurveIndex,
    /// They by size.
    pub sizes: &'a SizeIndex,
}

impl Stacked<'_> {
    /// How high the stack of an entry is.
    pub fn total_bytes(&self, at: usize) -> i64 {
        self.held_bytes[at].saturating_add(self.baseline_of(at))
    }

    fn baseline_of(&self, at: usize) -> i64 {
        self.baseline_bytes.get(at).copied().unwrap_or(0)
    }

    /// The stack of every column. `least_bytes`: what is worth a pixel, at least 1.
    pub fn columns(self, columns: &Columns, least_bytes: i64) -> Vec<Stack> {
        let starts: Vec<usize> = (0..columns.len()).step_by(CHUNK).collect();
        let chunk = |&first: &usize| self.chunk(columns, first..columns.len().min(first + CHUNK), least_bytes);
        starts.par_iter().flat_map_iter(chunk).collect()
    }

    fn chunk(self, columns: &Columns, range: std::ops::Range<usize>, least_bytes: i64) -> Vec<Stack> {
        let Stacked { blocks, time_ns, held_bytes, total, sizes, .. } = self;
        let mut living: Vec<u32> = Vec::new();
        let mut shown_ns = None;
        let stack = |column: usize| {
            let Some(entry) = total.largest(columns, column, |at| self.total_bytes(at)) else { return Stack::default() };
            let at_ns = time_ns[entry];
            if shown_ns != Some(at_ns) {
                living.retain(|&block| blocks.end_ns[block as usize] > at_ns);
                let before = living.len();
                sizes.large_living(blocks, time_ns, least_bytes, shown_ns, at_ns, &mut living);
                // What is new began later than all that was there.
                living[before..].sort_unstable_by_key(|&block| (blocks.start_ns[block as usize], block));
                shown_ns = Some(at_ns);
            }
            let bytes = living.iter().fold(0i64, |sum, &block| sum.saturating_add(blocks.size_bytes[block as usize]));
            Stack { entry: Some(entry), baseline_bytes: self.baseline_of(entry), small_bytes: held_bytes[entry].saturating_sub(bytes), blocks: living.clone() }
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
    use crate::timeline::held::Held;
    use crate::timeline::replay::Replay;
    use proptest::prelude::*;

    proptest! {
        /// Of all blocks over the baseline, and of some without it.
        #[test]
        fn stacks_equal_those_of_the_largest_instant(
            rows in prop::collection::vec((1i64..2000, 0i64..100, 0i64..60), 1..60), left_out in prop::collection::vec(any::<bool>(), 60), some in any::<bool>(),
            from_ns in -5i64..110, length in 1i64..100, width_px in 1u32..200, least in 1i64..1500,
        ) {
            let rows: Vec<_> = rows.iter().map(|&(size, start, life)| ("a", size, start, if life > 52 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(500, &rows);
            let takes: Vec<bool> = (0..rows.len()).map(|block| !some || !left_out[block]).collect();
            let curves = Replay::of(&blocks).curves;
            let held = Held::of(&blocks, curves.time_ns.first().copied(), &takes);
            let (time_ns, held_bytes, baseline) = if some { (&held.time_ns, &held.bytes, &[][..]) } else { (&curves.time_ns, &curves.tracked_bytes, &curves.baseline_bytes[..]) };
            let total = |at: usize| held_bytes[at] + baseline.get(at).copied().unwrap_or(0);
            let index = CurveIndex::of(time_ns.len(), total);
            let sizes = SizeIndex::of(&blocks, time_ns, |block| takes[block]);
            let window = Window { from_ns, to_ns: from_ns + length, width_px };
            let columns = Columns::of(window, time_ns);
            let found = Stacked { blocks: &blocks, time_ns, held_bytes, baseline_bytes: baseline, total: &index, sizes: &sizes }.columns(&columns, least);
            for (column, stack) in found.iter().enumerate() {
                let (from, to) = window.column_ns(column as u32);
                let entries = || (from..to).filter_map(|now| time_ns.partition_point(|&time| time <= now).checked_sub(1));
                let most = entries().map(total).max();
                let entry = entries().find(|&entry| Some(total(entry)) == most);
                prop_assert_eq!(stack.entry, entry);
                let Some(entry) = entry else { continue };
                let now = time_ns[entry];
                let mut living: Vec<u32> = (0..rows.len() as u32)
                    .filter(|&i| takes[i as usize] && rows[i as usize].1 >= least && rows[i as usize].2 <= now && now < rows[i as usize].3)
                    .collect();
                living.sort_by_key(|&i| (rows[i as usize].2, i));
                let bytes: i64 = living.iter().map(|&i| rows[i as usize].1).sum();
                prop_assert_eq!(&stack.blocks, &living);
                prop_assert_eq!(stack.baseline_bytes, baseline.get(entry).copied().unwrap_or(0));
                prop_assert_eq!(stack.baseline_bytes + stack.small_bytes + bytes, total(entry));
            }
        }
    }
}
