//! Blocks that are too small to be kept: they lose name, stream, stack and line, and stay in every total.
//!
//! A folded block leaves its two events, packed ([`runs`]). When all blocks are read these are merged with those of the blocks that were kept
//! into one replay, which is that of all blocks: baseline, its changes and the peak are exact, and so is every entry of the curves. What the
//! curves lose are entries at which only folded blocks came or went: of those between two kept ones stay the first with the largest total and
//! the last. The first entry of all stays, and so do those at which the gaps and the total without folded blocks are largest.

pub mod runs;

use super::allocators::Allocator;
use super::blocks::{Blocks, OPEN, UNKNOWN};
use super::live::{Group, size_class_bytes};
use super::replay::{Curves, Replay};
use runs::{Event, Runs};
use serde::{Deserialize, Serialize};

/// All folded blocks of a pool together.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folded {
    /// Blocks of this size and smaller ones are folded: a power of two.
    pub up_to_bytes: i64,
    /// How many.
    pub blocks: u64,
    /// Their sizes together.
    pub bytes: i64,
    /// The largest of them.
    pub largest_bytes: i64,
    /// How many of them have no operator.
    pub unnamed_blocks: u64,
    /// How many were not released.
    pub open_blocks: u64,
    /// The sizes of these together.
    pub open_bytes: i64,
    /// The earliest instant of them; [`OPEN`] for none.
    pub first_ns: i64,
    /// The latest instant of them; [`UNKNOWN`] for none.
    pub last_ns: i64,
    /// The lifetimes of those that were released together.
    #[serde(with = "decimal")]
    pub released_ns: i128,
    /// Size × lifetime of those that were released.
    #[serde(with = "decimal")]
    pub released_byte_ns: i128,
    /// Size × start of those that were not.
    #[serde(with = "decimal")]
    pub open_byte_start: i128,
    /// For each entry of the curves, the sizes of those alive.
    #[serde(skip)]
    pub alive_bytes: Vec<i64>,
    /// For each entry of the curves, how many are alive.
    #[serde(skip)]
    pub alive_blocks: Vec<u32>,
}

/// JSON has no integers of this size.
mod decimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(number: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl Folded {
    fn new(up_to_bytes: i64) -> Folded {
        Folded { up_to_bytes, first_ns: OPEN, last_ns: UNKNOWN, ..Folded::default() }
    }

    /// What people read in the place of their operator, stack or stream.
    pub fn label(&self) -> String {
        format!("(blocks up to {}, folded)", power_label(self.up_to_bytes))
    }

    /// Those alive at an entry of the curves, under any key.
    pub fn alive<K>(&self, entry: usize, key: K) -> Group<K> {
        let (bytes, blocks) = (self.alive_bytes.get(entry), self.alive_blocks.get(entry));
        Group { key, bytes: bytes.copied().unwrap_or(0), blocks: blocks.copied().unwrap_or(0).into() }
    }

    /// Those that were not released, under any key.
    pub fn open<K>(&self, key: K) -> Group<K> {
        Group { key, bytes: self.open_bytes, blocks: self.open_blocks }
    }

    /// Everything that was allocated in folded blocks, under a key. Those that were not released live to `end_ns`.
    pub fn allocator(&self, key: u32, end_ns: i64) -> Allocator {
        let released = i128::from(self.blocks - self.open_blocks);
        Allocator {
            key,
            blocks: self.blocks,
            bytes: self.bytes,
            largest_bytes: self.largest_bytes,
            mean_lifetime_ns: self.released_ns.checked_div(released).map_or(0, |mean| mean as i64),
            open_blocks: self.open_blocks,
            byte_ns: self.released_byte_ns.saturating_add((i128::from(self.open_bytes) * i128::from(end_ns)).saturating_sub(self.open_byte_start).max(0)),
        }
    }

    /// The largest total of the capture if these blocks did not exist.
    pub fn peak_without(&self, curves: &Curves) -> i64 {
        (0..curves.len()).map(|at| curves.total_bytes(at).saturating_sub(self.alive(at, ()).bytes)).max().unwrap_or(0)
    }

    fn add(&mut self, block: &FoldedBlock) {
        let FoldedBlock { size_bytes, start_ns, end_ns, active_end_ns, is_unnamed, .. } = *block;
        self.blocks += 1;
        self.bytes = self.bytes.saturating_add(size_bytes);
        self.largest_bytes = self.largest_bytes.max(size_bytes);
        self.unnamed_blocks += u64::from(is_unnamed);
        self.first_ns = self.first_ns.min(start_ns);
        self.last_ns = self.last_ns.max(start_ns).max(active_end_ns);
        if end_ns == OPEN {
            self.open_blocks += 1;
            self.open_bytes = self.open_bytes.saturating_add(size_bytes);
            self.open_byte_start += i128::from(size_bytes) * i128::from(start_ns);
        } else {
            let lifetime_ns = i128::from(end_ns) - i128::from(start_ns);
            self.last_ns = self.last_ns.max(end_ns);
            self.released_ns += lifetime_ns;
            self.released_byte_ns += i128::from(size_bytes) * lifetime_ns;
        }
    }
}

/// A power of two in its unit: `4 KiB`.
fn power_label(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(5);
    format!("{} {}", bytes >> (10 * unit), UNITS[unit as usize])
}

/// A block on its way out of the columns.
pub(super) struct FoldedBlock {
    pub size_bytes: i64,
    pub start_ns: i64,
    pub end_ns: i64,
    pub active_end_ns: i64,
    pub is_unnamed: bool,
    pub at_start: super::blocks::Total,
    pub at_end: super::blocks::Total,
    /// Its place among all blocks of the pool.
    pub place: u32,
}

/// Folds blocks of a pool while they are read.
#[derive(Debug)]
pub struct Folding {
    folded: Folded,
    runs: Runs,
    /// The places of the blocks that were kept, among all.
    pub(super) places: Vec<u32>,
    /// The place of the next block.
    pub(super) next: u32,
}

impl Folding {
    /// Nothing is folded so far of this many blocks.
    pub(super) fn after(blocks: usize) -> Folding {
        Folding { folded: Folded::new(0), runs: Runs::default(), places: (0..blocks as u32).collect(), next: blocks as u32 }
    }

    /// From now on blocks up to this size are folded; never fewer than before.
    pub(super) fn raise(&mut self, up_to_bytes: i64) {
        self.folded.up_to_bytes = self.folded.up_to_bytes.max(up_to_bytes);
    }

    pub(super) fn takes(&self, size_bytes: i64) -> bool {
        size_bytes <= self.folded.up_to_bytes
    }

    pub(super) fn fold(&mut self, block: &FoldedBlock) {
        self.folded.add(block);
        // What lives for no time is no event.
        if block.start_ns != block.end_ns {
            self.runs.push(Event { time_ns: block.start_ns, delta_bytes: block.size_bytes, place: block.place, total: block.at_start });
            if block.end_ns != OPEN {
                self.runs.push(Event { time_ns: block.end_ns, delta_bytes: -block.size_bytes, place: block.place, total: block.at_end });
            }
        }
    }

    /// How many blocks are folded.
    pub fn blocks(&self) -> u64 {
        self.folded.blocks
    }

    /// What their events take.
    pub fn bytes(&self) -> usize {
        self.runs.bytes()
    }

    /// The replay of all blocks; what was folded goes into the columns of those that were kept. `tolerance` reads how far a total may be off.
    pub fn finish(self, blocks: &mut Blocks, tolerance: impl Fn(u32) -> u32) -> Replay {
        let events = self.runs.merged().map(|mut event| {
            event.total.tolerance_millibytes = tolerance(event.total.tolerance_millibytes);
            event
        });
        let (replay, alive) = Replay::with_folded(blocks, &self.places, events);
        blocks.folded = Some(Box::new(Folded { alive_bytes: alive.bytes, alive_blocks: alive.blocks, ..self.folded }));
        replay
    }
}

/// The size up to which blocks are folded so that at least half of them are; `None` without blocks.
pub fn half<'a>(sizes: impl IntoIterator<Item = &'a i64>) -> Option<i64> {
    let mut classes = [0u64; 64];
    let mut all = 0;
    for &size in sizes {
        classes[size_class_bytes(size).trailing_zeros() as usize] += 1;
        all += 1;
    }
    let mut sum = 0;
    classes
        .iter()
        .position(|&blocks| {
            sum += blocks;
            blocks > 0 && 2 * sum >= all
        })
        .map(|power| 1 << power)
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{BlocksBuilder, Totals, tests::blocks_over};
    use super::super::{allocators, live};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_threshold_takes_half_of_the_blocks() {
        assert_eq!(half(&[100, 600, 5000, 9000]), Some(1024));
        assert_eq!(half(&[1 << 20; 3]), Some(1 << 20));
        assert_eq!(half(&[]), None);
    }

    #[test]
    fn labels_of_powers_of_two() {
        assert_eq!(
            [512, 1 << 12, 1 << 20, 1 << 62].map(|bytes| Folded::new(bytes).label()),
            ["(blocks up to 512 B, folded)", "(blocks up to 4 KiB, folded)", "(blocks up to 1 MiB, folded)", "(blocks up to 4096 PiB, folded)"]
        );
    }

    /// Folds at the given places of the rows.
    fn folded(unfolded: &Blocks, folds: &[(usize, i64)]) -> (Blocks, Replay) {
        let mut builder = BlocksBuilder::default();
        for row in 0..unfolded.len() {
            folds.iter().filter(|fold| fold.0 == row).for_each(|fold| builder.fold(fold.1));
            builder.push_row_of(unfolded, row);
        }
        folds.iter().filter(|fold| fold.0 >= unfolded.len()).for_each(|fold| builder.fold(fold.1));
        let (mut blocks, folding) = builder.finish_folding();
        let replay = folding.map_or_else(|| Replay::of(unfolded), |folding| folding.finish(&mut blocks, |tolerance| tolerance));
        (blocks, replay)
    }

    fn rows() -> impl Strategy<Value = Vec<(&'static str, i64, i64, i64)>> {
        let row = (0usize..3, 1i64..5000, 0i64..60, 0i64..60);
        prop::collection::vec(row.prop_map(|(name, size, start, life)| (["a", "b", ""][name], size, start, if life > 50 { OPEN } else { start + life })), 1..60)
    }

    /// What events report: which totals are not told (allocated, reserved, active), what is added to each.
    type Told = ([bool; 3], [i64; 3]);

    /// Changes what is reported for a time of each ten instants.
    fn report(totals: &mut Totals, time_ns: &[i64], told: &[Told]) {
        for (event, &time) in time_ns.iter().enumerate().filter(|(_, time)| **time != OPEN) {
            let Some((hidden, more)) = told.get(time as usize / 10) else { continue };
            let columns = [&mut totals.allocated_bytes, &mut totals.reserved_bytes, &mut totals.active_bytes];
            for ((column, &hidden), more) in columns.into_iter().zip(hidden).zip(more) {
                column[event] = if hidden { UNKNOWN } else { column[event] + more };
            }
        }
    }

    fn told() -> impl Strategy<Value = Vec<Told>> {
        let more = || prop_oneof![Just(0i64), -100i64..100, 0i64..20_000];
        prop::collection::vec((any::<[bool; 3]>(), [more(), more(), more()]), 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Whatever is folded, whenever: what is told is what all blocks tell.
        #[test]
        fn folding_changes_no_figure(rows in rows(), told in told(), folds in prop::collection::vec((0usize..70, 9u32..13), 1..4)) {
            let mut folds: Vec<_> = folds.into_iter().map(|(at, power)| (at, 1i64 << power)).collect();
            folds.sort_unstable();
            let mut unfolded = blocks_over(500, &rows);
            report(&mut unfolded.at_start, &unfolded.start_ns, &told);
            report(&mut unfolded.at_end, &unfolded.end_ns, &told);
            let expected = Replay::of(&unfolded);
            let (blocks, replay) = folded(&unfolded, &folds);
            let curves = &replay.curves;
            let Some(of) = &blocks.folded else { return Ok(()) };
            prop_assert_eq!(of.blocks + blocks.len() as u64, unfolded.len() as u64);
            prop_assert!(blocks.size_bytes.iter().all(|&size| size > of.up_to_bytes));
            prop_assert_eq!((blocks.first_ns(), blocks.last_ns()), (unfolded.first_ns(), unfolded.last_ns()));
            prop_assert_eq!((&replay.drops, &replay.rises), (&expected.drops, &expected.rises));
            // The peak and what was alive at it.
            let at_peak = |replay: &Replay| replay.peak.map(|at| (replay.curves.time_ns[at], replay.curves.total_bytes(at), replay.curves.tracked_bytes[at], replay.curves.reserved_bytes[at]));
            prop_assert_eq!(at_peak(&replay), at_peak(&expected));
            let first = |curves: &Curves| curves.time_ns.first().map(|&time| (time, curves.baseline_bytes[0], curves.total_bytes(0)));
            prop_assert_eq!(first(curves), first(&expected.curves));
            let gaps = |curves: &Curves| [Curves::reserved_gap_bytes, Curves::active_gap_bytes].map(|gap| curves.largest(|at| gap(curves, at)).map(|at| (curves.time_ns[at], gap(curves, at))));
            prop_assert_eq!(gaps(curves), gaps(&expected.curves));
            // Every entry is one of all blocks, none of a block that was kept is missing, and groups sum to the total.
            for at in 0..curves.len() {
                let there = expected.curves.entry_at(curves.time_ns[at]).unwrap();
                prop_assert_eq!(curves.time_ns[at], expected.curves.time_ns[there]);
                prop_assert_eq!((curves.total_bytes(at), curves.tracked_bytes[at], curves.baseline_bytes[at]), (expected.curves.total_bytes(there), expected.curves.tracked_bytes[there], expected.curves.baseline_bytes[there]));
                prop_assert_eq!((curves.reserved_bytes[at], curves.active_bytes[at]), (expected.curves.reserved_bytes[there], expected.curves.active_bytes[there]));
                let kept = live::at(&blocks, curves.time_ns[at]);
                let small = of.alive(at, ());
                prop_assert_eq!(live::bytes_of(&blocks, &kept) + small.bytes, curves.tracked_bytes[at]);
                prop_assert_eq!(kept.len() as u64 + small.blocks, live::at(&unfolded, curves.time_ns[at]).len() as u64);
            }
            for (&start, &end) in blocks.start_ns.iter().zip(&blocks.end_ns).filter(|(start, end)| start != end) {
                prop_assert!(curves.time_ns.contains(&start) && (end == OPEN || curves.time_ns.contains(&end)));
            }
            // Without them: the peak of the others over the baseline.
            let others: Vec<_> = rows.iter().filter(|row| row.1 > of.up_to_bytes).copied().collect();
            let all = &expected.curves;
            let most = (0..all.len()).map(|at| live::bytes_of(&blocks, &live::at(&blocks, all.time_ns[at])) + all.baseline_bytes[at]).max();
            prop_assert_eq!(of.peak_without(curves), most.unwrap_or(0));
            prop_assert_eq!(others.len(), blocks.len());
            // What was allocated over the whole capture.
            let small: Vec<u32> = (0..unfolded.len()).map(|i| u32::from(unfolded.size_bytes[i] <= of.up_to_bytes)).collect();
            prop_assert_eq!(of.allocator(1, 200), allocators::by_key(&unfolded, &small, 2, 200).remove(1));
        }

        #[test]
        fn a_drop_between_folded_events_is_found(sizes in prop::collection::vec(1i64..2000, 4..30), lost in 1i64..100) {
            // Half of the way a part of the baseline is freed.
            let rows: Vec<_> = sizes.iter().enumerate().map(|(at, &size)| ("a", size, at as i64, OPEN)).collect();
            let mut source = blocks_over(1000, &rows);
            for total in &mut source.at_start.allocated_bytes[rows.len() / 2..] {
                *total -= lost;
            }
            let mut builder = BlocksBuilder::default();
            (0..rows.len()).for_each(|row| builder.push_row_of(&source, row));
            builder.fold(1024);
            let (mut blocks, folding) = builder.finish_folding();
            let replay = folding.unwrap().finish(&mut blocks, |tolerance| tolerance);
            let expected = Replay::of(&source);
            prop_assert_eq!(replay.drops, expected.drops);
            prop_assert_eq!(replay.rises, expected.rises);
        }
    }

    #[test]
    fn long_runs_of_small_blocks_leave_few_entries() {
        let mut rows: Vec<(&str, i64, i64, i64)> = (0..10_000).map(|at| ("a", 100 + at % 7, at, at + 5)).collect();
        rows.push(("b", 1 << 20, 5_000, OPEN));
        let (blocks, replay) = folded(&blocks_over(0, &rows), &[(100, 512)]);
        assert_eq!((blocks.len(), blocks.names.len()), (1, 2));
        assert!(replay.curves.len() <= 8, "{}", replay.curves.len());
    }
}
