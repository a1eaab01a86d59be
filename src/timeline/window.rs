//! What a window of time looks like at a given width: the extremes of a curve in every pixel column, and the block on top in every
//! pixel column of a lane. Nothing is sampled: a peak narrower than a pixel still shows.

use super::blocks::{Blocks, UNKNOWN};
use rayon::prelude::*;

/// No block at this place of a lane.
pub const NO_BLOCK: u32 = u32::MAX;

/// A stretch of time and the pixels it is drawn on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// First instant shown.
    pub from_ns: i64,
    /// End of the stretch, later than `from_ns`.
    pub to_ns: i64,
    /// Pixel columns, at least 1.
    pub width_px: u32,
}

impl Window {
    /// The column an instant falls in, counted from the left edge; may lie outside.
    fn column(&self, time_ns: i64) -> i64 {
        let columns_per_ns = f64::from(self.width_px) / (self.to_ns - self.from_ns) as f64;
        (time_ns.saturating_sub(self.from_ns) as f64 * columns_per_ns).floor() as i64
    }

    fn touches(&self, start_ns: i64, end_ns: i64) -> bool {
        start_ns < self.to_ns && self.from_ns <= end_ns
    }
}

/// The least and the largest value of a curve in every pixel column; NaN where nothing is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Extremes {
    /// Least.
    pub min: Vec<f64>,
    /// Largest.
    pub max: Vec<f64>,
}

/// The extremes of one curve, whose entries hold from their instants on. `value` answers an entry in bytes, or [`UNKNOWN`].
pub fn extremes(time_ns: &[i64], window: Window, value: impl Fn(usize) -> i64) -> Extremes {
    let width = window.width_px as usize;
    let mut found = Extremes { min: vec![f64::NAN; width], max: vec![f64::NAN; width] };
    let first = time_ns.partition_point(|&time| time <= window.from_ns);
    let last = time_ns.partition_point(|&time| time < window.to_ns);
    let known = |at: usize| match value(at) {
        UNKNOWN => f64::NAN,
        bytes => bytes as f64,
    };
    // What held when the window began.
    let mut carried = if first == 0 { f64::NAN } else { known(first - 1) };
    let mut filled = 0;
    let mut widen = |column: usize, value: f64| {
        // f64::min and max pass over NaN.
        found.min[column] = found.min[column].min(value);
        found.max[column] = found.max[column].max(value);
    };
    for (at, &time) in time_ns.iter().enumerate().take(last).skip(first) {
        let column = window.column(time).clamp(0, width as i64 - 1) as usize;
        for between in filled..=column {
            widen(between, carried);
        }
        carried = known(at);
        widen(column, carried);
        filled = column + 1;
    }
    for rest in filled..width {
        widen(rest, carried);
    }
    found
}

/// The blocks of each operator, in the order in which they lie on top of each other: the shortest first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// Where the blocks of operator `i` begin in `blocks`; one entry more than operators.
    starts: Vec<u32>,
    blocks: Vec<u32>,
}

impl Lanes {
    /// Sorts the blocks of every operator.
    pub fn of(blocks: &Blocks) -> Lanes {
        let mut sorted: Vec<u32> = (0..blocks.len() as u32).collect();
        let lifetime = |i: usize| blocks.end_ns[i].saturating_sub(blocks.start_ns[i]);
        sorted.par_sort_unstable_by_key(|&i| (blocks.name[i as usize], lifetime(i as usize), blocks.start_ns[i as usize], i));
        let mut starts = vec![0u32; blocks.names.len() + 1];
        for &name in &blocks.name {
            starts[name as usize + 1] += 1;
        }
        for name in 1..starts.len() {
            starts[name] += starts[name - 1];
        }
        Lanes { starts, blocks: sorted }
    }

    /// The blocks of one operator.
    pub fn lane(&self, name: usize) -> &[u32] {
        &self.blocks[self.starts[name] as usize..self.starts[name + 1] as usize]
    }
}

/// One lane in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneView {
    /// The block on top in each pixel column, or [`NO_BLOCK`].
    pub top: Vec<u32>,
    /// How many blocks touch the window.
    pub blocks: u32,
}

/// Draws one lane: every block is at least one column wide, and shorter ones lie on longer ones.
pub fn lane(blocks: &Blocks, lane: &[u32], window: Window) -> LaneView {
    let width = window.width_px as usize;
    let mut view = LaneView { top: vec![NO_BLOCK; width], blocks: 0 };
    // next[c]: the first free column at or after c, as far as known; so a column is painted once however many blocks cover it.
    let mut next: Vec<u32> = (0..=width as u32).collect();
    for &block in lane {
        let (start, end) = (blocks.start_ns[block as usize], blocks.end_ns[block as usize]);
        if !window.touches(start, end) {
            continue;
        }
        view.blocks += 1;
        let first = window.column(start).clamp(0, width as i64 - 1) as usize;
        // The instant of the release itself is outside the block.
        let last = window.column(end.saturating_sub(1)).clamp(first as i64, width as i64 - 1) as usize;
        let mut column = free_from(&mut next, first);
        while column <= last {
            view.top[column] = block;
            next[column] = column as u32 + 1;
            column = free_from(&mut next, column + 1);
        }
    }
    view
}

fn free_from(next: &mut [u32], column: usize) -> usize {
    let mut free = column;
    while next[free] as usize != free {
        // Halve the path on the way.
        next[free] = next[next[free] as usize];
        free = next[free] as usize;
    }
    free
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{OPEN, tests::blocks_over};
    use super::super::replay::Replay;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_column_holds_every_value_within_it() {
        let curves = Replay::of(&blocks_over(0, &[("a", 10, 0, 5), ("b", 20, 6, 7), ("a", 1, 9, OPEN)])).curves;
        let found = extremes(&curves.time_ns, Window { from_ns: 0, to_ns: 10, width_px: 2 }, |at| curves.total_bytes(at));
        assert_eq!((found.min, found.max), (vec![10.0, 0.0], vec![10.0, 20.0]));
    }

    #[test]
    fn before_the_first_event_nothing_is_known() {
        let curves = Replay::of(&blocks_over(0, &[("a", 10, 5, OPEN)])).curves;
        let found = extremes(&curves.time_ns, Window { from_ns: 0, to_ns: 10, width_px: 2 }, |at| curves.total_bytes(at));
        assert!(found.min[0].is_nan());
        assert_eq!(found.max[1], 10.0);
    }

    #[test]
    fn shorter_blocks_lie_on_longer_ones() {
        let blocks = blocks_over(0, &[("a", 1, 0, 100), ("a", 1, 40, 60), ("b", 1, 0, 100), ("a", 1, 41, 42)]);
        let lanes = Lanes::of(&blocks);
        assert_eq!(lanes.lane(0), [3, 1, 0]);
        let view = lane(&blocks, lanes.lane(0), Window { from_ns: 0, to_ns: 100, width_px: 10 });
        assert_eq!(view.top, [0, 0, 0, 0, 3, 1, 0, 0, 0, 0]);
        assert_eq!(view.blocks, 3);
    }

    proptest! {
        #[test]
        fn lanes_equal_a_brute_force_drawing(rows in prop::collection::vec((1i64..200, 0i64..60), 0..60), from_ns in 0i64..100, length in 1i64..200, width_px in 1u32..40) {
            let rows: Vec<_> = rows.iter().map(|&(start, life)| ("a", 1, start, if life > 55 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(0, &rows);
            let window = Window { from_ns, to_ns: from_ns + length, width_px };
            let lanes = Lanes::of(&blocks);
            let order = if rows.is_empty() { &[] } else { lanes.lane(0) };
            let mut expected = vec![NO_BLOCK; width_px as usize];
            for &block in order.iter().rev() {
                let (start, end) = (rows[block as usize].2, rows[block as usize].3);
                if start < window.to_ns && from_ns <= end {
                    let clamp = |column: i64| column.clamp(0, i64::from(width_px) - 1);
                    let first = clamp(window.column(start));
                    for column in first..=clamp(window.column(end.saturating_sub(1))).max(first) {
                        expected[column as usize] = block;
                    }
                }
            }
            prop_assert_eq!(lane(&blocks, order, window).top, expected);
        }

        #[test]
        fn no_peak_is_lost(rows in prop::collection::vec((1i64..100, 0i64..200, 1i64..60), 1..40), width_px in 1u32..30) {
            let rows: Vec<_> = rows.iter().map(|&(size, start, life)| ("a", size, start, start + life)).collect();
            let replay = Replay::of(&blocks_over(7, &rows));
            let curves = &replay.curves;
            let window = Window { from_ns: curves.time_ns[0], to_ns: curves.time_ns[curves.len() - 1] + 1, width_px };
            let found = extremes(&curves.time_ns, window, |at| curves.total_bytes(at));
            let peak = curves.total_bytes(replay.peak.unwrap()) as f64;
            prop_assert_eq!(found.max.iter().copied().fold(f64::NAN, f64::max), peak);
        }
    }
}
