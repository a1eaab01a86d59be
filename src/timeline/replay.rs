//! Replays allocations and releases into curves over time, the peak, and the changes of the baseline.
//!
//! `baseline = reported total − tracked`: memory that was allocated before the capture has no blocks and shows as the baseline. It is
//! evaluated at every event. A total printed with few digits is known only within a tolerance, so the baseline moves only when it
//! leaves the tolerances of its last settled value and of the new one together.
//!
//! At one instant releases come before allocations; a block that is freed at the instant of its allocation lives for no time and is no
//! event. A curve has one value an instant: the one after all its events.

use super::blocks::{Blocks, OPEN, Total, UNKNOWN};
use rayon::prelude::*;

/// The curves of one pool: entry `i` holds from `time_ns[i]` to `time_ns[i + 1]`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Curves {
    /// Distinct instants, ascending.
    pub time_ns: Vec<i64>,
    /// Blocks alive.
    pub tracked_bytes: Vec<i64>,
    /// Memory from before the capture (and from rows that are missing).
    pub baseline_bytes: Vec<i64>,
    /// Last reported; [`UNKNOWN`] before the first report.
    pub reserved_bytes: Vec<i64>,
    /// Last reported; [`UNKNOWN`] before the first report.
    pub active_bytes: Vec<i64>,
}

/// A change of the baseline, at the first event that shows it (the cause lies somewhat earlier).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// When it shows.
    pub time_ns: i64,
    /// By how much, positive for a drop as for a rise.
    pub bytes: i64,
}

/// What a replay gives.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The curves.
    pub curves: Curves,
    /// Memory from before the capture that was freed inside it.
    pub drops: Vec<Change>,
    /// Growth that no block explains: rows are missing.
    pub rises: Vec<Change>,
    /// The entry of the curves with the largest total, the earliest of equal ones; `None` without blocks.
    pub peak: Option<usize>,
}

impl Curves {
    /// What the device held of this pool at entry `at`.
    pub fn total_bytes(&self, at: usize) -> i64 {
        self.baseline_bytes[at].saturating_add(self.tracked_bytes[at])
    }

    /// What was reserved but not allocated at entry `at`: free cache and fragmentation. [`UNKNOWN`] when it was not reported.
    pub fn reserved_gap_bytes(&self, at: usize) -> i64 {
        self.gap_bytes(self.reserved_bytes[at], at)
    }

    /// What was freed but still held by another stream at entry `at`. [`UNKNOWN`] when it was not reported.
    pub fn active_gap_bytes(&self, at: usize) -> i64 {
        self.gap_bytes(self.active_bytes[at], at)
    }

    fn gap_bytes(&self, held_bytes: i64, at: usize) -> i64 {
        if held_bytes == UNKNOWN { UNKNOWN } else { held_bytes.saturating_sub(self.total_bytes(at)) }
    }

    /// The entry at which a figure is largest, the earliest of equal ones; `None` when it is nowhere known.
    pub fn largest(&self, figure: impl Fn(usize) -> i64) -> Option<usize> {
        (0..self.len()).filter(|&at| figure(at) != UNKNOWN).reduce(|best, at| if figure(at) > figure(best) { at } else { best })
    }

    /// The most that was reserved but not allocated. `None` when nothing was reported of it.
    pub fn max_reserved_gap_bytes(&self) -> Option<i64> {
        self.largest(|at| self.reserved_gap_bytes(at)).map(|at| self.reserved_gap_bytes(at))
    }

    /// The entry that holds at an instant; `None` before the first.
    pub fn entry_at(&self, time_ns: i64) -> Option<usize> {
        self.time_ns.partition_point(|&time| time <= time_ns).checked_sub(1)
    }

    fn reserve(&mut self, entries: usize) {
        for column in [&mut self.time_ns, &mut self.tracked_bytes, &mut self.baseline_bytes, &mut self.reserved_bytes, &mut self.active_bytes] {
            column.reserve_exact(entries);
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.time_ns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.time_ns.is_empty()
    }
}

impl Replay {
    /// Replays the blocks of one pool.
    pub fn of(blocks: &Blocks) -> Replay {
        let mut run = Run::default();
        run.replay.curves.reserve(2 * blocks.len() + blocks.freed.time_ns.len());
        let (starts, ends) = rayon::join(|| order(blocks, &blocks.start_ns), || order(blocks, &blocks.end_ns));
        let mut freed: Vec<u32> = (0..blocks.freed.time_ns.len() as u32).collect();
        freed.sort_by_key(|&i| blocks.freed.time_ns[i as usize]);

        let (mut starts, mut ends, mut freed) = (starts.into_iter().peekable(), ends.into_iter().peekable(), freed.into_iter().peekable());
        let time_of = |column: &[i64], next: Option<&u32>| next.map_or(OPEN, |&i| column[i as usize]);
        loop {
            let start = time_of(&blocks.start_ns, starts.peek());
            let end = time_of(&blocks.end_ns, ends.peek());
            let free = time_of(&blocks.freed.time_ns, freed.peek());
            let now = start.min(end).min(free);
            if now == OPEN {
                break;
            }
            if free == now {
                let Some(i) = freed.next() else { break };
                run.event(now, 0, blocks.freed.totals.get(i as usize));
            } else if end == now {
                let Some(i) = ends.next() else { break };
                run.event(now, -blocks.size_bytes[i as usize], blocks.at_end.get(i as usize));
            } else {
                let Some(i) = starts.next() else { break };
                run.event(now, blocks.size_bytes[i as usize], blocks.at_start.get(i as usize));
            }
        }
        run.finish()
    }
}

/// The blocks that live for some time, by the given instant; rows of one instant keep their order. Open ends come last, never as events.
pub(super) fn order(blocks: &Blocks, instants: &[i64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..blocks.len() as u32).filter(|&i| blocks.start_ns[i as usize] != blocks.end_ns[i as usize]).collect();
    if !order.is_sorted_by_key(|&i| instants[i as usize]) {
        order.par_sort_unstable_by_key(|&i| (instants[i as usize], i));
    }
    order
}

#[derive(Default)]
struct Run {
    replay: Replay,
    tracked_bytes: i64,
    baseline: Option<Baseline>,
    reserved_bytes: Option<i64>,
    active_bytes: Option<i64>,
}

struct Baseline {
    bytes: i64,
    tolerance_millibytes: u32,
}

impl Run {
    fn event(&mut self, time_ns: i64, delta_bytes: i64, total: Total) {
        self.tracked_bytes = self.tracked_bytes.saturating_add(delta_bytes);
        if total.allocated_bytes != UNKNOWN {
            self.observe(time_ns, total.allocated_bytes.saturating_sub(self.tracked_bytes), total.tolerance_millibytes);
        }
        if total.reserved_bytes != UNKNOWN {
            self.reserved_bytes = Some(total.reserved_bytes);
        }
        if total.active_bytes != UNKNOWN {
            self.active_bytes = Some(total.active_bytes);
        }
        let curves = &mut self.replay.curves;
        if curves.time_ns.last() != Some(&time_ns) {
            curves.time_ns.push(time_ns);
            for column in [&mut curves.tracked_bytes, &mut curves.baseline_bytes, &mut curves.reserved_bytes, &mut curves.active_bytes] {
                column.push(UNKNOWN);
            }
        }
        let last = curves.time_ns.len() - 1;
        curves.tracked_bytes[last] = self.tracked_bytes;
        curves.baseline_bytes[last] = self.baseline.as_ref().map_or(UNKNOWN, |baseline| baseline.bytes);
        curves.reserved_bytes[last] = self.reserved_bytes.unwrap_or(UNKNOWN);
        curves.active_bytes[last] = self.active_bytes.unwrap_or(UNKNOWN);
    }

    fn observe(&mut self, time_ns: i64, bytes: i64, tolerance_millibytes: u32) {
        let Some(settled) = &mut self.baseline else {
            self.baseline = Some(Baseline { bytes, tolerance_millibytes });
            return;
        };
        let change = i128::from(bytes) - i128::from(settled.bytes);
        let moved = change.abs() * 1000 > i128::from(settled.tolerance_millibytes) + i128::from(tolerance_millibytes);
        if moved {
            let changes = if change < 0 { &mut self.replay.drops } else { &mut self.replay.rises };
            changes.push(Change { time_ns, bytes: i64::try_from(change.abs()).unwrap_or(i64::MAX) });
        }
        // A value known better settles the baseline too, without being a change.
        if moved || tolerance_millibytes < settled.tolerance_millibytes {
            *settled = Baseline { bytes, tolerance_millibytes };
        }
    }

    fn finish(mut self) -> Replay {
        let curves = &mut self.replay.curves;
        // Events before the first report have the baseline of that report; without any report there is none.
        let first = curves.baseline_bytes.iter().copied().find(|&bytes| bytes != UNKNOWN).unwrap_or(0);
        for bytes in curves.baseline_bytes.iter_mut().take_while(|bytes| **bytes == UNKNOWN) {
            *bytes = first;
        }
        let curves = &self.replay.curves;
        self.replay.peak = (0..curves.len()).reduce(|best, at| if curves.total_bytes(at) > curves.total_bytes(best) { at } else { best });
        self.replay
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{BlocksBuilder, tests::blocks_over};
    use super::super::live;
    use super::*;
    use crate::timeline::blocks::Block;
    use proptest::prelude::*;

    #[test]
    fn tracked_over_a_constant_baseline() {
        let replay = Replay::of(&blocks_over(1000, &[("a", 10, 0, 20), ("b", 5, 10, OPEN), ("c", 7, 21, 30)]));
        assert_eq!(replay.curves.time_ns, [0, 10, 20, 21, 30]);
        assert_eq!(replay.curves.tracked_bytes, [10, 15, 5, 12, 5]);
        assert_eq!(replay.curves.baseline_bytes, [1000; 5]);
        assert_eq!(replay.peak, Some(1));
        assert_eq!((replay.drops.len(), replay.rises.len()), (0, 0));
    }

    #[test]
    fn at_one_instant_releases_come_first() {
        // 10 is freed when 7 is allocated: never 17 at once.
        let replay = Replay::of(&blocks_over(0, &[("a", 10, 0, 20), ("c", 7, 20, 30)]));
        assert_eq!(replay.curves.tracked_bytes, [10, 7, 0]);
    }

    #[test]
    fn of_equal_maxima_the_earliest_is_the_peak() {
        let replay = Replay::of(&blocks_over(0, &[("a", 10, 0, 5), ("a", 10, 7, 9)]));
        assert_eq!(replay.peak, Some(0));
    }

    #[test]
    fn a_block_of_no_duration_is_no_event() {
        let replay = Replay::of(&blocks_over(0, &[("a", 10, 5, 5), ("b", 1, 6, 7)]));
        assert_eq!(replay.curves.time_ns, [6, 7]);
    }

    #[test]
    fn gaps_and_where_they_are_largest() {
        let mut curves = Replay::of(&blocks_over(1000, &[("a", 10, 0, 20), ("b", 5, 10, OPEN)])).curves;
        assert_eq!((curves.reserved_gap_bytes(0), curves.active_gap_bytes(0), curves.max_reserved_gap_bytes()), (100, 0, Some(100)));
        curves.active_bytes = vec![UNKNOWN, 1020, 1010];
        assert_eq!(curves.largest(|at| curves.active_gap_bytes(at)), Some(1));
        curves.active_bytes = vec![UNKNOWN; 3];
        assert_eq!(curves.largest(|at| curves.active_gap_bytes(at)), None);
        assert_eq!((curves.entry_at(-1), curves.entry_at(0), curves.entry_at(19), curves.entry_at(99)), (None, Some(0), Some(1), Some(2)));
    }

    fn reported(rows: &[(i64, i64, i64, u32)]) -> Replay {
        let mut builder = BlocksBuilder::default();
        for &(start_ns, size_bytes, allocated_bytes, tolerance_millibytes) in rows {
            let at_start = Total { allocated_bytes, tolerance_millibytes, ..Total::UNKNOWN };
            let (name, stream) = (builder.name("a"), builder.stream(""));
            builder.push(&Block { name, stream, size_bytes, start_ns, end_ns: OPEN, active_end_ns: UNKNOWN, line: 0, at_start, at_end: Total::UNKNOWN });
        }
        Replay::of(&builder.finish())
    }

    #[test]
    fn drops_and_rises_exceed_both_tolerances() {
        let replay = reported(&[(0, 1, 101, 5_000), (1, 1, 111, 5_000), (2, 1, 114, 5_000), (3, 1, 93, 0)]);
        assert_eq!(replay.rises, [Change { time_ns: 2, bytes: 11 }]);
        assert_eq!(replay.drops, [Change { time_ns: 3, bytes: 22 }]);
    }

    #[test]
    fn events_before_the_first_report_share_its_baseline() {
        let replay = reported(&[(0, 1, UNKNOWN, 0), (1, 1, 102, 0)]);
        assert_eq!(replay.curves.baseline_bytes, [100, 100]);
    }

    proptest! {
        #[test]
        fn the_curve_equals_a_count_at_every_instant(rows in prop::collection::vec((0u8..3, 1i64..50, 0i64..40, 0i64..40), 0..40)) {
            let names = ["a", "b", ""];
            let rows: Vec<_> = rows.iter().map(|&(name, size, start, life)| (names[name as usize], size, start, if life > 35 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(500, &rows);
            let replay = Replay::of(&blocks);
            for at in 0..replay.curves.len() {
                let time = replay.curves.time_ns[at];
                let alive: i64 = rows.iter().filter(|row| row.2 <= time && time < row.3).map(|row| row.1).sum();
                prop_assert_eq!(replay.curves.tracked_bytes[at], alive);
                let live = live::at(&blocks, time);
                let groups = live::by_operator(&blocks, &live);
                prop_assert_eq!(groups.iter().map(|group| group.bytes).sum::<i64>(), alive);
            }
        }
    }
}
