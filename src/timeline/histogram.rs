//! How large the blocks are and how long they live, in classes: exact counts and bytes.

use super::blocks::{Blocks, OPEN};
use super::live::size_class_bytes;

/// Lifetimes up to this long are one class; each further class is ten times as long.
const SHORTEST_CLASS_NS: i64 = 1_000;
const CLASS_FACTOR: i64 = 10;

/// The blocks of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bin {
    /// The largest value in it, bytes or nanoseconds; more than the class before it.
    pub up_to: i64,
    /// How many blocks.
    pub blocks: u64,
    /// Their sizes together.
    pub bytes: i64,
}

impl Bin {
    fn add(&mut self, bytes: i64) {
        self.blocks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The blocks that are taken by size class (powers of two from 512 B), ascending; classes between others are there though they are empty.
pub fn sizes(blocks: &Blocks, takes: impl Fn(usize) -> bool) -> Vec<Bin> {
    let mut bins: Vec<Bin> = (0..63).map(|power| Bin { up_to: 1 << power, ..Bin::default() }).collect();
    for (_, &size) in blocks.size_bytes.iter().enumerate().filter(|(block, _)| takes(*block)) {
        bins[size_class_bytes(size).trailing_zeros() as usize].add(size);
    }
    trimmed(bins)
}

/// The released blocks among those that are taken by lifetime (powers of ten from 1 µs), ascending.
pub fn lifetimes(blocks: &Blocks, takes: impl Fn(usize) -> bool) -> Vec<Bin> {
    let classes = std::iter::successors(Some(SHORTEST_CLASS_NS), |class| class.checked_mul(CLASS_FACTOR)).chain([i64::MAX]);
    let mut bins: Vec<Bin> = classes.map(|up_to| Bin { up_to, ..Bin::default() }).collect();
    for block in (0..blocks.len()).filter(|&block| blocks.end_ns[block] != OPEN && takes(block)) {
        let lifetime = blocks.end_ns[block].saturating_sub(blocks.start_ns[block]);
        let class = bins.partition_point(|bin| bin.up_to < lifetime);
        bins[class].add(blocks.size_bytes[block]);
    }
    trimmed(bins)
}

fn trimmed(mut bins: Vec<Bin>) -> Vec<Bin> {
    let is_filled = |bin: &Bin| bin.blocks > 0;
    bins.truncate(bins.iter().rposition(is_filled).map_or(0, |last| last + 1));
    let first = bins.iter().position(is_filled).unwrap_or(0);
    bins.split_off(first)
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks_over;
    use super::*;

    fn figures(bins: &[Bin]) -> Vec<(i64, u64, i64)> {
        bins.iter().map(|bin| (bin.up_to, bin.blocks, bin.bytes)).collect()
    }

    #[test]
    fn sizes_by_powers_of_two() {
        let blocks = blocks_over(0, &[("a", 1, 0, 9), ("a", 512, 0, 9), ("b", 513, 0, 9), ("b", 4096, 0, OPEN)]);
        assert_eq!(figures(&sizes(&blocks, |_| true)), [(512, 2, 513), (1024, 1, 513), (2048, 0, 0), (4096, 1, 4096)]);
        assert_eq!(figures(&sizes(&blocks, |block| block == 3)).len(), 1);
        assert!(sizes(&Blocks::default(), |_| true).is_empty());
    }

    #[test]
    fn lifetimes_by_powers_of_ten_without_what_is_not_released() {
        let rows = [("a", 1, 5, 5), ("a", 2, 0, 1_000), ("a", 4, 0, 1_001), ("a", 8, 0, 1_000_000), ("a", 16, 0, OPEN)];
        assert_eq!(figures(&lifetimes(&blocks_over(0, &rows), |_| true)), [(1_000, 2, 3), (10_000, 1, 4), (100_000, 0, 0), (1_000_000, 1, 8)]);
        let longest = blocks_over(0, &[("a", 1, -2, i64::MAX - 1)]);
        assert_eq!(figures(&lifetimes(&longest, |_| true)), [(i64::MAX, 1, 1)]);
    }
}
