//! Blocks by size class: the largest of a stretch of time, and the next large one, without a look at the small ones.

use super::NO_LANE;
use super::lanes::Lanes;
use crate::timeline::blocks::Blocks;
use crate::timeline::live::size_class_bytes;
use rayon::prelude::*;

/// The smallest class.
const FIRST_POWER: u32 = 9;
/// There are so many at most.
const CLASSES: usize = 64 - FIRST_POWER as usize;

/// A lane for each size class (powers of two from 512 B), the smallest first.
#[derive(Debug, Clone)]
pub struct SizeIndex {
    lanes: Lanes,
}

fn class_of(size_bytes: i64) -> usize {
    (size_class_bytes(size_bytes).trailing_zeros() - FIRST_POWER) as usize
}

impl SizeIndex {
    /// Of the blocks that `takes` takes. `time_ns`: the distinct instants at which any of them begins or ends, ascending.
    pub fn of(blocks: &Blocks, time_ns: &[i64], takes: impl Fn(usize) -> bool) -> SizeIndex {
        let key: Vec<u32> = blocks.size_bytes.iter().enumerate().map(|(block, &size)| if takes(block) { class_of(size) as u32 } else { NO_LANE }).collect();
        SizeIndex { lanes: Lanes::of(blocks, time_ns, &key, CLASSES) }
    }

    /// How many blocks live at some time of a stretch.
    pub fn count(&self, time_ns: &[i64], from_ns: i64, to_ns: i64) -> usize {
        (0..CLASSES).map(|class| self.lanes.count(time_ns, class, from_ns, to_ns)).sum()
    }

    /// The blocks of a stretch, the largest first, then by start. Where there are more than `most`, so many of them: those of the largest
    /// size classes, within a class by start.
    pub fn largest(&self, blocks: &Blocks, time_ns: &[i64], (from_ns, to_ns): (i64, i64), most: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for class in (0..CLASSES).rev().take_while(|_| most > 0) {
            self.lanes.visit(blocks, time_ns, class, from_ns, to_ns, |block| {
                found.push(block);
                found.len() < most
            });
            if found.len() == most {
                break;
            }
        }
        found.par_sort_unstable_by_key(|&block| (std::cmp::Reverse(blocks.size_bytes[block as usize]), blocks.start_ns[block as usize], block));
        found
    }

    /// The blocks of at least `least_bytes` that start after one instant, not after another, and live at the latter.
    pub fn large_living(&self, blocks: &Blocks, time_ns: &[i64], least_bytes: i64, after_ns: Option<i64>, at_ns: i64, found: &mut Vec<u32>) {
        for class in class_of(least_bytes)..CLASSES {
            self.lanes.visit_started(blocks, time_ns, class, after_ns, at_ns, |block| {
                if blocks.size_bytes[block as usize] >= least_bytes {
                    found.push(block);
                }
                true
            });
        }
    }

    /// The first block of at least `least_bytes` that starts after an instant.
    pub fn next_large(&self, blocks: &Blocks, time_ns: &[i64], least_bytes: i64, after_ns: i64) -> Option<u32> {
        let past = time_ns.partition_point(|&time| time <= after_ns) as u32;
        let first = |class: usize| {
            let lane = self.lanes.lane(class);
            let from = lane.start.partition_point(|&start| start < past);
            lane.blocks[from..].iter().copied().find(|&block| blocks.size_bytes[block as usize] >= least_bytes)
        };
        (class_of(least_bytes)..CLASSES).filter_map(first).min_by_key(|&block| (blocks.start_ns[block as usize], block))
    }

    /// What it takes.
    pub fn bytes(&self) -> usize {
        self.lanes.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::blocks::OPEN;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    proptest! {
        #[test]
        fn answers_equal_a_look_at_every_block(
            rows in prop::collection::vec((0u32..16, 0i64..100, 0i64..60), 1..80), left_out in prop::collection::vec(any::<bool>(), 80), from_ns in -5i64..110, length in 1i64..60, most in 0usize..60, least in 1i64..40_000,
        ) {
            let rows: Vec<_> = rows.iter().map(|&(power, start, life)| ("a", 3i64 << power, start, if life > 52 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(0, &rows);
            let time_ns = Replay::of(&blocks).curves.time_ns;
            let index = SizeIndex::of(&blocks, &time_ns, |block| !left_out[block]);
            let taken = || (0..rows.len() as u32).filter(|&i| !left_out[i as usize]);
            let mut expected: Vec<u32> = taken()
                .filter(|&i| rows[i as usize].2 != rows[i as usize].3 && rows[i as usize].2 < from_ns + length && rows[i as usize].3 > from_ns)
                .collect();
            expected.sort_by_key(|&i| (Reverse(size_class_bytes(rows[i as usize].1)), rows[i as usize].2, i));
            prop_assert_eq!(index.count(&time_ns, from_ns, from_ns + length), expected.len());
            expected.truncate(most);
            expected.sort_by_key(|&i| (Reverse(rows[i as usize].1), rows[i as usize].2, i));
            prop_assert_eq!(index.largest(&blocks, &time_ns, (from_ns, from_ns + length), most), expected);

            let lives = |i: &u32| rows[*i as usize].2 != rows[*i as usize].3 && rows[*i as usize].1 >= least;
            let next = taken().filter(lives).filter(|&i| rows[i as usize].2 > from_ns).min_by_key(|&i| (rows[i as usize].2, i));
            prop_assert_eq!(index.next_large(&blocks, &time_ns, least, from_ns), next);
            let at = from_ns + length;
            let mut living = Vec::new();
            index.large_living(&blocks, &time_ns, least, Some(from_ns), at, &mut living);
            living.sort_unstable();
            let expected = taken().filter(lives).filter(|&i| rows[i as usize].2 > from_ns && rows[i as usize].2 <= at && rows[i as usize].3 > at);
            prop_assert_eq!(living, expected.collect::<Vec<_>>());
        }
    }
}
