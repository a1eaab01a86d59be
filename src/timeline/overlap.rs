//! Blocks of one operator that are alive together.

use super::blocks::Blocks;
use rayon::prelude::*;

/// The other blocks of the same operator that share some time with `block`; the largest first, then by start.
pub fn of_same_operator(blocks: &Blocks, block: usize) -> Vec<u32> {
    let (name, start, end) = (blocks.name[block], blocks.start_ns[block], blocks.end_ns[block]);
    let shares_time = |i: usize| blocks.start_ns[i] < end && start < blocks.end_ns[i];
    let others = (0..blocks.len() as u32).into_par_iter().filter(|&i| i as usize != block && blocks.name[i as usize] == name && shares_time(i as usize));
    let mut found: Vec<u32> = others.collect();
    found.sort_unstable_by_key(|&i| (std::cmp::Reverse(blocks.size_bytes[i as usize]), blocks.start_ns[i as usize], i));
    found
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{OPEN, tests::blocks_over};
    use super::*;

    #[test]
    fn finds_same_operator_blocks_that_share_time() {
        let rows = [("a", 1, 10, 20), ("a", 1, 0, 10), ("a", 2, 5, 11), ("b", 9, 10, 20), ("a", 3, 19, OPEN), ("a", 1, 20, 30)];
        let blocks = blocks_over(0, &rows);
        assert_eq!(of_same_operator(&blocks, 0), [4, 2]);
        assert_eq!(of_same_operator(&blocks, 3), Vec::<u32>::new());
    }
}
