//! Where most happens: the window of a given length in which most blocks begin.

use super::blocks::Blocks;
use rayon::prelude::*;

/// When the first such window begins, by the blocks that `takes` takes; `None` without any. It begins with a block.
pub fn busiest(blocks: &Blocks, length_ns: i64, takes: impl Fn(usize) -> bool) -> Option<i64> {
    let mut starts: Vec<i64> = blocks.start_ns.iter().enumerate().filter(|(block, _)| takes(*block)).map(|(_, &start)| start).collect();
    if !starts.is_sorted() {
        starts.par_sort_unstable();
    }
    let mut end = 0;
    let mut best: Option<(usize, i64)> = None;
    for (begin, &from_ns) in starts.iter().enumerate() {
        while starts.get(end).is_some_and(|&start| start.saturating_sub(from_ns) < length_ns.max(1)) {
            end += 1;
        }
        if best.is_none_or(|(most, _)| end - begin > most) {
            best = Some((end - begin, from_ns));
        }
    }
    best.map(|(_, from_ns)| from_ns)
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks_over;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_window_with_the_most() {
        let blocks = blocks_over(0, &[("a", 1, 50, 60), ("a", 1, 0, 9), ("a", 1, 20, 30), ("a", 1, 24, 30), ("a", 1, 53, 60)]);
        assert_eq!(busiest(&blocks, 5, |_| true), Some(20));
        assert_eq!(busiest(&blocks, 4, |_| true), Some(50));
        assert_eq!(busiest(&blocks, 1000, |_| true), Some(0));
        assert_eq!(busiest(&blocks, 5, |block| block != 3), Some(50));
        assert_eq!(busiest(&blocks, 5, |_| false), None);
    }

    proptest! {
        #[test]
        fn no_other_window_has_more(rows in prop::collection::vec((0i64..100, any::<bool>()), 0..40), length in 1i64..50) {
            let spans: Vec<_> = rows.iter().map(|&(start, _)| ("a", 1, start, start + 1)).collect();
            let within = |from: i64| rows.iter().filter(|(start, takes)| *takes && *start >= from && *start < from + length).count();
            let expected = (0..100).filter(|&from| rows.contains(&(from, true))).max_by_key(|&from| (within(from), -from));
            prop_assert_eq!(busiest(&blocks_over(0, &spans), length, |block| rows[block].1), expected);
        }
    }
}
