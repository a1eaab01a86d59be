//! What some blocks hold over time: the curve of a choice, exact at every instant.

use super::blocks::{Blocks, OPEN};
use rayon::prelude::*;

/// Entry `i` holds from `time_ns[i]` to `time_ns[i + 1]`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Held {
    /// Distinct instants, ascending.
    pub time_ns: Vec<i64>,
    /// The sizes of the chosen blocks that live from then on.
    pub bytes: Vec<i64>,
}

impl Held {
    /// Of the blocks that `takes` takes; from `from_ns` on, where that is earlier than their first.
    pub fn of(blocks: &Blocks, from_ns: Option<i64>, takes: &[bool]) -> Held {
        // What lives for no time holds nothing.
        let lives = |&block: &u32| takes[block as usize] && blocks.start_ns[block as usize] != blocks.end_ns[block as usize];
        let mut starts: Vec<u32> = (0..blocks.len() as u32).filter(lives).collect();
        let mut ends: Vec<u32> = starts.iter().copied().filter(|&block| blocks.end_ns[block as usize] != OPEN).collect();
        let by = |order: &mut Vec<u32>, instants: &[i64]| {
            if !order.is_sorted_by_key(|&block| instants[block as usize]) {
                order.par_sort_unstable_by_key(|&block| instants[block as usize]);
            }
        };
        rayon::join(|| by(&mut starts, &blocks.start_ns), || by(&mut ends, &blocks.end_ns));
        let mut held = Held::default();
        if let Some(from_ns) = from_ns {
            held.set(from_ns, 0);
        }
        let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter().peekable());
        let mut now_bytes: i64 = 0;
        loop {
            let start = starts.peek().map_or(OPEN, |&block| blocks.start_ns[block as usize]);
            let end = ends.peek().map_or(OPEN, |&block| blocks.end_ns[block as usize]);
            let (now_ns, delta) = match () {
                () if start.min(end) == OPEN => return held,
                () if end <= start => (end, ends.next().map_or(0, |block| -blocks.size_bytes[block as usize])),
                () => (start, starts.next().map_or(0, |block| blocks.size_bytes[block as usize])),
            };
            now_bytes = now_bytes.saturating_add(delta);
            held.set(now_ns, now_bytes);
        }
    }

    fn set(&mut self, now_ns: i64, bytes: i64) {
        match self.bytes.last_mut() {
            Some(last) if self.time_ns.last() == Some(&now_ns) => *last = bytes,
            _ => {
                self.time_ns.push(now_ns);
                self.bytes.push(bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks_over;
    use super::super::lod::columns::{Columns, Window};
    use super::super::lod::curves::CurveIndex;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_choice_holds_nothing() {
        let blocks = blocks_over(0, &[("a", 5, 3, 9)]);
        assert_eq!(Held::of(&blocks, Some(1), &[false]), Held { time_ns: vec![1], bytes: vec![0] });
        assert_eq!(Held::of(&blocks, Some(3), &[true]), Held { time_ns: vec![3, 9], bytes: vec![5, 0] });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// At every nanosecond it is the sum over the chosen blocks, and no peak of it is lost at any zoom.
        #[test]
        fn the_curve_equals_a_look_at_every_block(
            rows in prop::collection::vec((1i64..2000, 0i64..100, 0i64..60, any::<bool>()), 0..60), from_ns in -5i64..110, length in 1i64..200, width_px in 1u32..50,
        ) {
            let spans: Vec<_> = rows.iter().map(|&(size, start, life, _)| ("a", size, start, if life > 52 { OPEN } else { start + life })).collect();
            let takes: Vec<bool> = rows.iter().map(|row| row.3).collect();
            let held = Held::of(&blocks_over(0, &spans), Some(-1), &takes);
            let sum = |now: i64| spans.iter().zip(&takes).filter(|((_, _, start, end), takes)| **takes && *start <= now && now < *end).map(|(span, _)| span.1).sum::<i64>();
            prop_assert!(held.time_ns.is_sorted_by(|a, b| a < b));
            for (&now, &bytes) in held.time_ns.iter().zip(&held.bytes) {
                prop_assert_eq!(bytes, sum(now));
            }
            let window = Window { from_ns, to_ns: from_ns + length, width_px };
            let found = CurveIndex::of(held.bytes.len(), |at| held.bytes[at]).extremes(&Columns::of(window, &held.time_ns), |at| held.bytes[at]);
            for column in 0..width_px {
                let (from, to) = window.column_ns(column);
                let sums = || (from.max(-1)..to).map(sum);
                prop_assert_eq!(Some(found.max[column as usize]).filter(|max| !max.is_nan()), sums().max().map(|most| most as f64));
                prop_assert_eq!(Some(found.min[column as usize]).filter(|min| !min.is_nan()), sums().min().map(|least| least as f64));
            }
        }
    }
}
