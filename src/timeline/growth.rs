//! Groups of blocks that become more with every step: what a training loop keeps and never lets go.

use super::blocks::Blocks;
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
}

impl Growth {
    /// How much it grew from the first step's end to the last one's.
    pub fn bytes(&self) -> i64 {
        let grown = self.per_step_blocks.last().unwrap_or(&0) - self.per_step_blocks.first().unwrap_or(&0);
        grown.saturating_mul(self.size_bytes)
    }
}

/// Finds the groups that grow at every step, the largest growth first. `stack` gives the number of a block's stack; `step_ends_ns` ascend.
pub fn growth(blocks: &Blocks, stack: impl Fn(usize) -> u32, step_ends_ns: &[i64]) -> Vec<Growth> {
    if step_ends_ns.len() < LEAST_STEPS {
        return Vec::new();
    }
    // What each group gains from one step's end to the next.
    let mut changes: HashMap<(u32, u32, i64), Vec<i64>> = HashMap::new();
    for block in 0..blocks.len() {
        let first = step_ends_ns.partition_point(|&end| end < blocks.start_ns[block]);
        let after = step_ends_ns.partition_point(|&end| end < blocks.end_ns[block]);
        if first < after {
            let key = (blocks.name[block], stack(block), blocks.size_bytes[block]);
            let change = changes.entry(key).or_insert_with(|| vec![0; step_ends_ns.len() + 1]);
            change[first] += 1;
            change[after] -= 1;
        }
    }
    let grows = |change: &[i64]| change[1..step_ends_ns.len()].iter().all(|&gain| gain > 0);
    let mut found: Vec<Growth> = changes
        .into_iter()
        .filter(|(_, change)| grows(change))
        .map(|((name, stack, size_bytes), change)| {
            let counts = change[..step_ends_ns.len()].iter().scan(0, |alive, gain| {
                *alive += gain;
                Some(*alive)
            });
            Growth { name, stack, size_bytes, per_step_blocks: counts.collect() }
        })
        .collect();
    let label = |growth: &Growth| blocks.names[growth.name as usize].clone();
    found.sort_by(|a, b| b.bytes().cmp(&a.bytes()).then_with(|| label(a).cmp(&label(b))).then_with(|| (a.stack, a.size_bytes).cmp(&(b.stack, b.size_bytes))));
    found
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{OPEN, tests::blocks_over};
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
        let found = growth(&blocks_over(0, &rows), |_| 0, &[10, 20, 30]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].size_bytes, &found[0].per_step_blocks[..], found[0].bytes()), (8, &[1, 2, 3][..], 16));
    }

    #[test]
    fn stacks_part_groups_and_one_step_says_nothing() {
        let blocks = blocks_over(0, &[("a", 8, 1, OPEN), ("a", 8, 11, OPEN)]);
        assert_eq!(growth(&blocks, |block| block as u32, &[10, 20]).len(), 1);
        assert!(growth(&blocks, |_| 0, &[20]).is_empty());
    }
}
