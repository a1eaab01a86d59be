//! Blocks in the order of one of their figures: a permutation that is sorted once and then read in pages, from either end.

use super::blocks::Blocks;
use rayon::prelude::*;

/// The blocks by a figure, the smallest first; equal ones by start, then by their place in the file.
pub fn ascending(blocks: &Blocks, figure: impl Fn(usize) -> i64 + Sync) -> Vec<u32> {
    let mut keyed: Vec<(i64, i64, u32)> = (0..blocks.len()).into_par_iter().map(|block| (figure(block), blocks.start_ns[block], block as u32)).collect();
    keyed.par_sort_unstable();
    keyed.into_par_iter().map(|(_, _, block)| block).collect()
}

/// For each of some texts, its place among them in their order: sorts by a text without comparing texts.
pub fn ranks<T: AsRef<str>>(texts: &[T]) -> Vec<i64> {
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    let text = |number: u32| texts[number as usize].as_ref();
    order.sort_unstable_by(|&a, &b| text(a).cmp(text(b)));
    let mut ranks = vec![0; texts.len()];
    let mut rank = 0;
    for (place, &number) in order.iter().enumerate() {
        // Equal texts have one rank.
        if place > 0 && text(order[place - 1]) != text(number) {
            rank += 1;
        }
        ranks[number as usize] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks_over;
    use super::*;

    #[test]
    fn equal_figures_keep_the_order_of_time() {
        let blocks = blocks_over(0, &[("a", 5, 9, 10), ("b", 2, 3, 4), ("c", 5, 1, 2), ("d", 5, 9, 10)]);
        assert_eq!(ascending(&blocks, |block| blocks.size_bytes[block]), [1, 2, 0, 3]);
    }

    #[test]
    fn texts_by_rank() {
        assert_eq!(ranks(&["b", "a", "c", "a"]), [1, 0, 2, 0]);
        assert!(ranks::<&str>(&[]).is_empty());
    }
}
