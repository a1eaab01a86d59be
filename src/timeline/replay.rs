//! Replays allocations and releases into curves over time, the peak, and the changes of the baseline.
//!
//! `baseline = reported total − tracked`: memory that was allocated before the capture has no blocks and shows as the baseline. It is
//! evaluated at every event. A total printed with few digits is known only within a tolerance, so the baseline moves only when it
//! leaves the tolerances of its last settled value and of the new one together.
//!
//! At one instant releases come before allocations; a block that is freed at the instant of its allocation lives for no time and is no
//! event. A curve has one value an instant: the one after all its events.

use super::blocks::{Blocks, OPEN, Total, UNKNOWN};
use super::folded::runs::Event;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

    /// The entry with the largest total, the earliest of equal ones; `None` without entries.
    pub fn peak(&self) -> Option<usize> {
        (0..self.len()).reduce(|best, at| if self.total_bytes(at) > self.total_bytes(best) { at } else { best })
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
        Replay::run(blocks, |block| block, std::iter::empty()).0
    }

    /// Replays the blocks of one pool of which some were folded: `places` has the places of the others among all, `events` those of the folded
    /// ones in their order.
    pub(super) fn with_folded(blocks: &Blocks, places: &[u32], events: impl Iterator<Item = Event>) -> (Replay, Alive) {
        Replay::run(blocks, |block| places[block as usize], events)
    }

    fn run(blocks: &Blocks, place: impl Fn(u32) -> u32, events: impl Iterator<Item = Event>) -> (Replay, Alive) {
        let mut events = events.peekable();
        let mut run = Run { has_folded: events.peek().is_some(), ..Run::default() };
        if !run.has_folded {
            run.replay.curves.reserve(2 * blocks.len() + blocks.freed.time_ns.len());
        }
        let (starts, ends) = rayon::join(|| order(blocks, &blocks.start_ns), || order(blocks, &blocks.end_ns));
        let mut freed: Vec<u32> = (0..blocks.freed.time_ns.len() as u32).collect();
        freed.sort_by_key(|&i| blocks.freed.time_ns[i as usize]);
        let (mut starts, mut ends, mut freed) = (starts.into_iter().peekable(), ends.into_iter().peekable(), freed.into_iter().peekable());
        loop {
            let time_of = |column: &[i64], next: Option<&u32>| next.map_or(OPEN, |&i| column[i as usize]);
            let start = time_of(&blocks.start_ns, starts.peek());
            let end = time_of(&blocks.end_ns, ends.peek());
            let free = time_of(&blocks.freed.time_ns, freed.peek());
            let now = start.min(end).min(free);
            let is_folded = |event: &Event| match () {
                () if event.time_ns != now || free == now => event.time_ns < now,
                () if end == now => event.order() < (now, false, ends.peek().map_or(0, |&i| place(i))),
                () => event.order() < (now, true, starts.peek().map_or(0, |&i| place(i))),
            };
            if let Some(event) = events.next_if(is_folded) {
                run.folded_event(&event);
            } else if now == OPEN {
                break;
            } else if free == now {
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

/// For each entry of the curves, what lives of the folded blocks; empty where none is folded.
#[derive(Debug, Default)]
pub(super) struct Alive {
    pub bytes: Vec<i64>,
    pub blocks: Vec<u32>,
}

#[derive(Default)]
struct Run {
    replay: Replay,
    alive: Alive,
    has_folded: bool,
    now: Entry,
    /// Whether anything happened at the instant of `now`, and to a block that was kept.
    is_begun: bool,
    is_kept: bool,
    thin: Thin,
    most: Most,
    baseline: Option<Baseline>,
    /// Whether an entry had a baseline: those before it have the same.
    is_baseline_known: bool,
}

/// An entry of the curves on its way.
#[derive(Clone, Copy)]
struct Entry {
    time_ns: i64,
    tracked_bytes: i64,
    baseline_bytes: i64,
    reserved_bytes: i64,
    active_bytes: i64,
    /// Of the folded blocks.
    alive_bytes: i64,
    alive_blocks: u32,
}

impl Default for Entry {
    fn default() -> Self {
        let (baseline_bytes, reserved_bytes, active_bytes) = (UNKNOWN, UNKNOWN, UNKNOWN);
        Entry { time_ns: 0, tracked_bytes: 0, baseline_bytes, reserved_bytes, active_bytes, alive_bytes: 0, alive_blocks: 0 }
    }
}

impl Entry {
    /// Before the first report the baseline is not known, but one: these entries compare with each other alone.
    fn total_bytes(&self) -> i64 {
        if self.baseline_bytes == UNKNOWN { self.tracked_bytes } else { self.baseline_bytes.saturating_add(self.tracked_bytes) }
    }

    fn gap_bytes(&self, held_bytes: i64) -> i64 {
        if held_bytes == UNKNOWN { UNKNOWN } else { held_bytes.saturating_sub(self.total_bytes()) }
    }

    /// Figures of which the largest is told and which a larger total does not make larger: the gaps, and the total without folded blocks.
    fn figures(&self) -> [i64; 3] {
        [self.gap_bytes(self.reserved_bytes), self.gap_bytes(self.active_bytes), self.total_bytes().saturating_sub(self.alive_bytes)]
    }
}

/// What stays of the entries since the last one that stays as it is: see [`super::folded`].
#[derive(Default)]
struct Thin {
    largest: Option<Entry>,
    last: Option<Entry>,
}

impl Thin {
    fn add(&mut self, entry: Entry) {
        if self.largest.is_none_or(|largest| entry.total_bytes() > largest.total_bytes()) {
            self.largest = Some(entry);
        }
        self.last = Some(entry);
    }

    fn take(&mut self) -> impl Iterator<Item = Entry> + use<> {
        let (largest, last) = (self.largest.take(), self.last.take());
        let is_one = largest.map(|entry| entry.time_ns) == last.map(|entry| entry.time_ns);
        largest.into_iter().chain(last.filter(|_| !is_one))
    }
}

/// Of all entries, those with the largest figures, the earliest of equal ones.
#[derive(Default)]
struct Most([Option<Entry>; 3]);

impl Most {
    fn see(&mut self, entry: Entry) {
        let figures = entry.figures();
        for (figure, most) in self.0.iter_mut().enumerate() {
            if figures[figure] != UNKNOWN && most.is_none_or(|most| figures[figure] > most.figures()[figure]) {
                *most = Some(entry);
            }
        }
    }
}

struct Baseline {
    bytes: i64,
    tolerance_millibytes: u32,
}

impl Run {
    fn event(&mut self, time_ns: i64, delta_bytes: i64, total: Total) {
        self.happens(time_ns, delta_bytes, total);
        self.is_kept = true;
    }

    fn folded_event(&mut self, event: &Event) {
        self.happens(event.time_ns, event.delta_bytes, event.total);
        self.now.alive_bytes = self.now.alive_bytes.saturating_add(event.delta_bytes);
        self.now.alive_blocks = if event.delta_bytes > 0 { self.now.alive_blocks.saturating_add(1) } else { self.now.alive_blocks.saturating_sub(1) };
    }

    fn happens(&mut self, time_ns: i64, delta_bytes: i64, total: Total) {
        if self.now.time_ns != time_ns || !self.is_begun {
            self.end_instant();
            self.now.time_ns = time_ns;
            self.is_begun = true;
        }
        self.now.tracked_bytes = self.now.tracked_bytes.saturating_add(delta_bytes);
        if total.allocated_bytes != UNKNOWN {
            self.observe(time_ns, total.allocated_bytes.saturating_sub(self.now.tracked_bytes), total.tolerance_millibytes);
        }
        if total.reserved_bytes != UNKNOWN {
            self.now.reserved_bytes = total.reserved_bytes;
        }
        if total.active_bytes != UNKNOWN {
            self.now.active_bytes = total.active_bytes;
        }
    }

    /// Nothing more happens at the instant of `now`.
    fn end_instant(&mut self) {
        if !std::mem::take(&mut self.is_begun) {
            return;
        }
        self.now.baseline_bytes = self.baseline.as_ref().map_or(UNKNOWN, |baseline| baseline.bytes);
        let is_kept = std::mem::take(&mut self.is_kept);
        if self.now.baseline_bytes != UNKNOWN && !self.is_baseline_known {
            self.begin_baseline(self.now.baseline_bytes);
        }
        if !self.has_folded {
            return self.push(self.now);
        }
        self.most.see(self.now);
        // The first entry says with what the capture begins.
        if is_kept || self.replay.curves.is_empty() {
            self.push_thinned();
            self.push(self.now);
        } else {
            self.thin.add(self.now);
        }
    }

    /// Events before the first report have the baseline of that report. Whatever is held of them has it from now on, so that it compares with
    /// what follows, and the entry of the report itself need not stay.
    fn begin_baseline(&mut self, bytes: i64) {
        self.is_baseline_known = true;
        self.replay.curves.baseline_bytes.fill(bytes);
        let held = [&mut self.thin.largest, &mut self.thin.last].into_iter().chain(&mut self.most.0);
        held.flatten().for_each(|entry| entry.baseline_bytes = bytes);
    }

    fn push_thinned(&mut self) {
        for entry in self.thin.take() {
            self.push(entry);
        }
    }

    fn push(&mut self, entry: Entry) {
        let curves = &mut self.replay.curves;
        curves.time_ns.push(entry.time_ns);
        curves.tracked_bytes.push(entry.tracked_bytes);
        curves.baseline_bytes.push(entry.baseline_bytes);
        curves.reserved_bytes.push(entry.reserved_bytes);
        curves.active_bytes.push(entry.active_bytes);
        if self.has_folded {
            self.alive.bytes.push(entry.alive_bytes);
            self.alive.blocks.push(entry.alive_blocks);
        }
    }

    /// Puts an entry where it belongs, unless it is there.
    fn insert(&mut self, entry: Entry) {
        let curves = &mut self.replay.curves;
        let Err(at) = curves.time_ns.binary_search(&entry.time_ns) else { return };
        curves.time_ns.insert(at, entry.time_ns);
        curves.tracked_bytes.insert(at, entry.tracked_bytes);
        curves.baseline_bytes.insert(at, entry.baseline_bytes);
        curves.reserved_bytes.insert(at, entry.reserved_bytes);
        curves.active_bytes.insert(at, entry.active_bytes);
        self.alive.bytes.insert(at, entry.alive_bytes);
        self.alive.blocks.insert(at, entry.alive_blocks);
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

    fn finish(mut self) -> (Replay, Alive) {
        self.end_instant();
        self.push_thinned();
        if !self.is_baseline_known {
            // Without any report there is none.
            self.begin_baseline(0);
        }
        let most = std::mem::take(&mut self.most);
        most.0.into_iter().flatten().for_each(|entry| self.insert(entry));
        self.replay.peak = self.replay.curves.peak();
        (self.replay, self.alive)
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
