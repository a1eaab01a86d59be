//! Groups of blocks that become more with every step: what a training loop keeps and never lets go.

use super::between::Share;
use super::blocks::{Blocks, OPEN};
use std::collections::HashMap;

/// Fewer steps say nothing about growth.
const LEAST_STEPS: usize = 2;

/// Equal blocks (operator, stack, size) of which more are alive at the end of each step than at the end of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growth {
    /// Number of [`Blocks::names`].
    pub name: u32,
    /// The stack's number, as given.
    pub stack: u32,
    /// Size of each block.
    pub size_bytes: i64,
    /// How many are alive at the end of each step.
    pub per_step_blocks: Vec<i64>,
    /// How many of those that the last step left were not released within the capture.
    pub kept_blocks: i64,
}

impl Growth {
    /// How much it grew from the first step's end to the last one's.
    pub fn bytes(&self) -> i64 {
        let grown = self.per_step_blocks.last().unwrap_or(&0) - self.per_step_blocks.first().unwrap_or(&0);
        grown.saturating_mul(self.size_bytes)
    }

    /// Whether all that the last step left was released before the capture ended: it grew, and was let go in the end.
    pub fn is_freed_later(&self) -> bool {
        self.kept_blocks == 0
    }
}

/// Finds the groups that grow at every step: those of which something is left first, then those that were freed later, each by growth. `stack` gives
/// the number of a block's stack, or `None` for a block that does not count; `step_ends_ns` ascend.
pub fn growth(blocks: &Blocks, stack: impl Fn(usize) -> Option<u32>, step_ends_ns: &[i64]) -> Vec<Growth> {
    if step_ends_ns.len() < LEAST_STEPS {
        return Vec::new();
    }
    // What each group gains from one step's end to the next, and how many blocks it keeps.
    let mut changes: HashMap<(u32, u32, i64), (Vec<i64>, i64)> = HashMap::new();
    for (block, stack) in (0..blocks.len()).filter_map(|block| Some((block, stack(block)?))) {
        let first = step_ends_ns.partition_point(|&end| end < blocks.start_ns[block]);
        let after = step_ends_ns.partition_point(|&end| end < blocks.end_ns[block]);
        if first < after {
            let key = (blocks.name[block], stack, blocks.size_bytes[block]);
            let (change, kept) = changes.entry(key).or_insert_with(|| (vec![0; step_ends_ns.len() + 1], 0));
            change[first] += 1;
            change[after] -= 1;
            *kept += i64::from(blocks.end_ns[block] == OPEN);
        }
    }
    let grows = |change: &[i64]| change[1..step_ends_ns.len()].iter().all(|&gain| gain > 0);
    let mut found: Vec<Growth> = changes
        .into_iter()
        .filter(|(_, (change, _))| grows(change))
        .map(|((name, stack, size_bytes), (change, kept_blocks))| {
            let counts = change[..step_ends_ns.len()].iter().scan(0, |alive, gain| {
                *alive += gain;
                Some(*alive)
            });
            Growth { name, stack, size_bytes, per_step_blocks: counts.collect(), kept_blocks }
        })
        .collect();
    let label = |growth: &Growth| blocks.names[growth.name as usize].clone();
    found.sort_by(|a, b| {
        let by_growth = a.is_freed_later().cmp(&b.is_freed_later()).then_with(|| b.bytes().cmp(&a.bytes()));
        by_growth.then_with(|| label(a).cmp(&label(b))).then_with(|| (a.stack, a.size_bytes).cmp(&(b.stack, b.size_bytes)))
    });
    found
}

/// What happened within a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Blocks allocated in it.
    pub allocated: Share,
    /// Blocks freed in it.
    pub freed: Share,
}

/// What happened within each of some stretches `from ≤ t < to`; they may overlap.
pub fn traffic(blocks: &Blocks, stretches: &[(i64, i64)]) -> Vec<Traffic> {
    let (starts, ends) = (sums(&blocks.start_ns, &blocks.size_bytes), sums(&blocks.end_ns, &blocks.size_bytes));
    let within = |events: &[(i64, Share)], (from_ns, to_ns): (i64, i64)| {
        let before = |time_ns: i64| events[..events.partition_point(|&(time, _)| time < time_ns)].last().map_or(Share::default(), |&(_, sum)| sum);
        let (first, last) = (before(from_ns), before(to_ns.max(from_ns)));
        Share { bytes: last.bytes - first.bytes, blocks: last.blocks - first.blocks }
    };
    stretches.iter().map(|&stretch| Traffic { allocated: within(&starts, stretch), freed: within(&ends, stretch) }).collect()
}

/// The events in order of time, each with the sum of all up to it. Open ends are no events.
fn sums(times: &[i64], sizes: &[i64]) -> Vec<(i64, Share)> {
    let mut events: Vec<(i64, Share)> =
        times.iter().zip(sizes).filter(|(time, _)| **time != OPEN).map(|(&time, &bytes)| (time, Share { bytes, blocks: 1 })).collect();
    events.sort_unstable_by_key(|&(time, _)| time);
    let mut sum = Share::default();
    for (_, share) in &mut events {
        sum = Share { bytes: sum.bytes.saturating_add(share.bytes), blocks: sum.blocks + share.blocks };
        *share = sum;
    }
    events
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks_over;
    use super::*;

    #[test]
    fn finds_what_becomes_more_with_every_step() {
        let rows = [
            ("keep", 8, 1, OPEN),
            ("keep", 8, 11, OPEN),
            ("keep", 8, 21, OPEN),
            ("same", 4, 1, OPEN),
            ("work", 9, 12, 18),
            ("once", 2, 12, OPEN),
            ("keep", 16, 5, OPEN),
        ];
        let found = growth(&blocks_over(0, &rows), |_| Some(0), &[10, 20, 30]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].size_bytes, &found[0].per_step_blocks[..], found[0].bytes()), (8, &[1, 2, 3][..], 16));
    }

    #[test]
    fn what_is_freed_in_the_end_comes_after_what_is_kept() {
        let rows = [("freed", 90, 1, 40), ("freed", 90, 11, 40), ("kept", 8, 1, OPEN), ("kept", 8, 11, OPEN), ("part", 9, 1, 40), ("part", 9, 11, OPEN)];
        let blocks = blocks_over(0, &rows);
        let found: Vec<_> = growth(&blocks, |_| Some(0), &[10, 20]).iter().map(|group| (group.size_bytes, group.kept_blocks, group.is_freed_later())).collect();
        assert_eq!(found, [(9, 1, false), (8, 2, false), (90, 0, true)]);
    }

    #[test]
    fn stacks_part_groups_and_one_step_says_nothing() {
        let blocks = blocks_over(0, &[("a", 8, 1, OPEN), ("a", 8, 11, OPEN)]);
        assert_eq!(growth(&blocks, |block| Some(block as u32), &[10, 20]).len(), 1);
        assert!(growth(&blocks, |_| Some(0), &[20]).is_empty() && growth(&blocks, |_| None, &[10, 20]).is_empty());
    }

    #[test]
    fn traffic_of_stretches() {
        let blocks = blocks_over(0, &[("a", 8, 1, 5), ("b", 4, 5, OPEN), ("a", 2, 9, 12)]);
        let figures: Vec<_> = traffic(&blocks, &[(0, 5), (5, 10), (4, 100), (7, 3)])
            .iter()
            .map(|traffic| (traffic.allocated.bytes, traffic.allocated.blocks, traffic.freed.bytes, traffic.freed.blocks))
            .collect();
        assert_eq!(figures, [(8, 1, 0, 0), (6, 2, 8, 1), (6, 2, 10, 2), (0, 0, 0, 0)]);
    }
}
