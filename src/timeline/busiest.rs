//! Where most happens: the window of a given length in which most blocks begin.

use super::blocks::Blocks;
use rayon::prelude::*;

/// When the first such window begins; `None` without blocks. It begins with a block.
pub fn busiest(blocks: &Blocks, length_ns: i64) -> Option<i64> {
    let mut sorted = Vec::new();
    let starts: &[i64] = if blocks.start_ns.is_sorted() {
        &blocks.start_ns
    } else {
        sorted.extend_from_slice(&blocks.start_ns);
        sorted.par_sort_unstable();
        &sorted
    };
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

    #[test]
    fn the_first_window_with_the_most() {
        let blocks = blocks_over(0, &[("a", 1, 50, 60), ("a", 1, 0, 9), ("a", 1, 20, 30), ("a", 1, 24, 30), ("a", 1, 53, 60)]);
        assert_eq!(busiest(&blocks, 5), Some(20));
        assert_eq!(busiest(&blocks, 4), Some(50));
        assert_eq!(busiest(&blocks, 1000), Some(0));
        assert_eq!(busiest(&blocks_over(0, &[]), 5), None);
    }
}
