//! The blocks of every lane by their starts: how many lie in a stretch of time, which ones, and which is the next.
//!
//! Instants are places among the curves' instants (`time_ns`), 4 bytes each. A block that lives for no time holds nothing and is on no
//! lane; neither is one whose key is [`NO_LANE`].

use super::columns::gallop;
use super::pyramid::{Pyramid, Summary};
use super::{NO_BLOCK, NO_LANE};
use crate::timeline::blocks::{Blocks, OPEN};
use rayon::prelude::*;
use std::ops::Range;

/// So many blocks a summary of the latest end.
const RUN: usize = 16;
/// Blocks that are looked up together: near ones lie near in time.
const CHUNK: usize = 1 << 14;
/// `end` of a block that was not released: later than every instant.
const NEVER: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Latest(u32);

impl Summary for Latest {
    fn join(self, other: Latest) -> Latest {
        Latest(self.0.max(other.0))
    }
}

/// The blocks of every lane, by start, then number.
#[derive(Debug, Clone)]
pub struct Lanes {
    /// Where lane `i` begins in the columns below; one entry more than lanes.
    first: Box<[u32]>,
    /// The blocks.
    order: Box<[u32]>,
    /// The start of each.
    start: Box<[u32]>,
    /// The ends of a lane's blocks, ascending: not in the order of the blocks.
    ends: Box<[u32]>,
    /// The latest end among blocks that follow each other.
    latest: Pyramid<Latest, RUN>,
}

/// One lane's share of the columns.
#[derive(Clone, Copy)]
pub struct Lane<'a> {
    /// By start, then number.
    pub blocks: &'a [u32],
    /// Of each block.
    pub start: &'a [u32],
    /// Ascending.
    pub ends: &'a [u32],
}

impl Lanes {
    /// Puts the blocks on lanes: `key` is each block's, below `lanes`, or [`NO_LANE`]. `time_ns`: the distinct instants at which anything
    /// begins or ends, ascending.
    pub fn of(blocks: &Blocks, time_ns: &[i64], key: &[u32], lanes: usize) -> Lanes {
        let ((start_of, end_of), order) =
            rayon::join(|| rayon::join(|| places(&blocks.start_ns, time_ns), || places(&blocks.end_ns, time_ns)), || by_start(blocks, key));
        let mut first = vec![0u32; lanes + 1];
        for &block in &order {
            first[key[block as usize] as usize + 1] += 1;
        }
        for lane in 0..lanes {
            first[lane + 1] += first[lane];
        }
        let mut next = first.clone();
        let mut sorted = vec![0u32; order.len()];
        for &block in &order {
            let place = &mut next[key[block as usize] as usize];
            sorted[*place as usize] = block;
            *place += 1;
        }
        drop(order);
        let column = |of: &[u32]| -> Box<[u32]> { sorted.par_iter().map(|&block| of[block as usize]).collect() };
        let start = column(&start_of);
        let mut ends = column(&end_of);
        let latest = Pyramid::of(ends.len(), |at| Latest(ends[at]));
        shares(&mut ends, &first).into_par_iter().for_each(|lane| lane.sort_unstable());
        Lanes { first: first.into(), order: sorted.into(), start, ends, latest }
    }

    /// How many lanes there are.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    pub fn lane(&self, lane: usize) -> Lane<'_> {
        let range = self.range(lane);
        Lane { blocks: &self.order[range.clone()], start: &self.start[range.clone()], ends: &self.ends[range] }
    }

    fn range(&self, lane: usize) -> Range<usize> {
        self.first[lane] as usize..self.first[lane + 1] as usize
    }

    /// How many blocks of a lane live at some time from `from_ns` to before `to_ns`.
    pub fn count(&self, time_ns: &[i64], lane: usize, from_ns: i64, to_ns: i64) -> usize {
        let lane = self.lane(lane);
        lane.start.partition_point(|&start| start < before(time_ns, to_ns)) - lane.ends.partition_point(|&end| end < past(time_ns, from_ns))
    }

    /// Visits those blocks by start, until `visit` says that it is enough. In time that goes with their number.
    pub fn visit(&self, blocks: &Blocks, time_ns: &[i64], lane: usize, from_ns: i64, to_ns: i64, mut visit: impl FnMut(u32) -> bool) {
        let range = self.range(lane);
        let begun = self.lane(lane).start.partition_point(|&start| start < before(time_ns, to_ns));
        let past = past(time_ns, from_ns);
        self.latest.visit(range.start..range.start + begun, &|latest| latest.0 >= past, &mut |at| {
            let block = self.order[at];
            blocks.end_ns[block as usize] <= from_ns || visit(block)
        });
    }

    /// Visits the blocks of a lane that start after one instant (`None`: whenever), not after another, and live at the latter, by start.
    pub fn visit_started(&self, blocks: &Blocks, time_ns: &[i64], lane: usize, after_ns: Option<i64>, at_ns: i64, mut visit: impl FnMut(u32) -> bool) {
        let first = self.range(lane).start;
        let (after, past) = (after_ns.map_or(0, |after| past(time_ns, after)), past(time_ns, at_ns));
        let begun = |bound: u32| first + self.lane(lane).start.partition_point(|&start| start < bound);
        self.latest.visit(begun(after)..begun(past), &|latest| latest.0 >= past, &mut |at| {
            let block = self.order[at];
            blocks.end_ns[block as usize] <= at_ns || visit(block)
        });
    }

    /// The other blocks of a block's lane that share some time with it; the largest first, then by start.
    pub fn overlapping(&self, blocks: &Blocks, time_ns: &[i64], lane: usize, block: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let at = block as usize;
        self.visit(blocks, time_ns, lane, blocks.start_ns[at], blocks.end_ns[at], |other| {
            if other != block {
                found.push(other);
            }
            true
        });
        found.par_sort_unstable_by_key(|&i| (std::cmp::Reverse(blocks.size_bytes[i as usize]), blocks.start_ns[i as usize], i));
        found
    }

    /// The block of the lane that starts after this one, or before it; [`NO_BLOCK`] at either end.
    pub fn neighbour(&self, blocks: &Blocks, time_ns: &[i64], lane: usize, block: u32, later: bool) -> u32 {
        let lane = self.lane(lane);
        let start = before(time_ns, blocks.start_ns[block as usize]);
        let alike = lane.start.partition_point(|&other| other < start);
        let after = lane.start.partition_point(|&other| other <= start);
        let place = alike + lane.blocks[alike..after].partition_point(|&other| other < block);
        let beside = if later { place + usize::from(lane.blocks.get(place) == Some(&block)) } else { place.wrapping_sub(1) };
        lane.blocks.get(beside).copied().unwrap_or(NO_BLOCK)
    }

    /// What it takes.
    pub fn bytes(&self) -> usize {
        4 * (self.first.len() + self.order.len() + self.start.len() + self.ends.len()) + self.latest.bytes()
    }
}

impl Lane<'_> {
    /// How many blocks live at some time of a stretch, given by the numbers of [`super::columns::Columns`]. The places found are kept for
    /// the next stretch, which must not begin or end earlier.
    pub fn count_from(&self, (begun, ended): &mut (usize, usize), past: u32, before: u32) -> usize {
        *begun = gallop(self.start, *begun, before);
        *ended = gallop(self.ends, *ended, past);
        *begun - *ended
    }
}

/// How many instants lie before a time.
fn before(time_ns: &[i64], at_ns: i64) -> u32 {
    time_ns.partition_point(|&time| time < at_ns) as u32
}

/// How many instants lie at a time or earlier.
fn past(time_ns: &[i64], at_ns: i64) -> u32 {
    time_ns.partition_point(|&time| time <= at_ns) as u32
}

/// The blocks that have a lane and live for some time, by start, then number.
fn by_start(blocks: &Blocks, key: &[u32]) -> Vec<u32> {
    let on_a_lane = |&i: &u32| key[i as usize] != NO_LANE && blocks.start_ns[i as usize] != blocks.end_ns[i as usize];
    let mut order: Vec<u32> = (0..blocks.len() as u32).filter(on_a_lane).collect();
    if !blocks.start_ns.is_sorted() {
        order.par_sort_unstable_by_key(|&i| (blocks.start_ns[i as usize], i));
    }
    order
}

/// The place of each instant among all of them. Those that follow each other mostly lie near each other.
fn places(instants: &[i64], time_ns: &[i64]) -> Vec<u32> {
    let mut found = vec![NEVER; instants.len()];
    found.par_chunks_mut(CHUNK).zip(instants.par_chunks(CHUNK)).for_each(|(found, instants)| {
        let mut near = 0;
        for (found, &instant) in found.iter_mut().zip(instants).filter(|(_, instant)| **instant != OPEN) {
            near = near_place(time_ns, near, instant);
            *found = near as u32;
        }
    });
    found
}

/// How many of the instants lie before a time, looked for in steps that double from a place where it may be.
fn near_place(time_ns: &[i64], near: usize, instant: i64) -> usize {
    let (mut low, mut high) = (near, near);
    let mut step = 1;
    while low > 0 && time_ns[low - 1] >= instant {
        low = low.saturating_sub(step);
        step *= 2;
    }
    step = 1;
    while high < time_ns.len() && time_ns[high] < instant {
        high = (high + step).min(time_ns.len());
        step *= 2;
    }
    low + time_ns[low..high].partition_point(|&time| time < instant)
}

/// The columns' shares of each lane.
fn shares<'a>(mut rest: &'a mut [u32], first: &[u32]) -> Vec<&'a mut [u32]> {
    let mut shares = Vec::with_capacity(first.len());
    for lane in first.windows(2) {
        let (share, more) = rest.split_at_mut((lane[1] - lane[0]) as usize);
        shares.push(share);
        rest = more;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::super::columns::{Columns, Window};
    use super::*;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;
    use proptest::prelude::*;

    #[test]
    fn overlapping_blocks_of_a_lane() {
        let rows = [("a", 1, 10, 20), ("a", 1, 0, 10), ("a", 2, 5, 11), ("b", 9, 10, 20), ("a", 3, 19, OPEN), ("a", 1, 20, 30), ("a", 1, 12, 12)];
        let blocks = blocks_over(0, &rows);
        let time_ns = Replay::of(&blocks).curves.time_ns;
        let lanes = Lanes::of(&blocks, &time_ns, &blocks.name, 2);
        assert_eq!((lanes.len(), lanes.is_empty()), (2, false));
        assert_eq!(lanes.overlapping(&blocks, &time_ns, 0, 0), [4, 2]);
        assert_eq!(lanes.overlapping(&blocks, &time_ns, 1, 3), Vec::<u32>::new());
    }

    #[test]
    fn neighbours_of_a_lane() {
        let blocks = blocks_over(0, &[("a", 1, 5, 9), ("b", 1, 5, 9), ("a", 1, 0, 9), ("a", 1, 5, 7), ("a", 1, 6, 6)]);
        let time_ns = Replay::of(&blocks).curves.time_ns;
        let lanes = Lanes::of(&blocks, &time_ns, &blocks.name, 2);
        let beside = |block: u32, later: bool| lanes.neighbour(&blocks, &time_ns, blocks.name[block as usize] as usize, block, later);
        assert_eq!([2, 0, 3].map(|block| beside(block, true)), [0, 3, NO_BLOCK]);
        assert_eq!([2, 0, 3].map(|block| beside(block, false)), [NO_BLOCK, 2, 0]);
        assert_eq!((beside(1, true), beside(1, false)), (NO_BLOCK, NO_BLOCK));
        // A block that lives for no time is on no lane, but lies between others.
        assert_eq!((beside(4, true), beside(4, false)), (NO_BLOCK, 3));
    }

    proptest! {
        #[test]
        fn a_stretch_holds_what_a_look_at_every_block_finds(
            rows in prop::collection::vec((0u8..3, 0i64..100, 0i64..60), 0..80), from_ns in -5i64..110, length in 1i64..60, width_px in 1u32..9,
        ) {
            let rows: Vec<_> = rows.iter().map(|&(name, start, life)| (["a", "b", "c"][name as usize], 1, start, if life > 52 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(0, &rows);
            let time_ns = Replay::of(&blocks).curves.time_ns;
            // The lane of "c" is left out.
            let key: Vec<u32> = (0..rows.len()).map(|i| match rows[i].0 { "a" => 0, "b" => 1, _ => NO_LANE }).collect();
            let lanes = Lanes::of(&blocks, &time_ns, &key, 2);
            let living = |lane: u32, from: i64, to: i64| {
                let mut found: Vec<u32> = (0..rows.len() as u32)
                    .filter(|&i| key[i as usize] == lane && rows[i as usize].2 != rows[i as usize].3 && rows[i as usize].2 < to && rows[i as usize].3 > from)
                    .collect();
                found.sort_by_key(|&i| (rows[i as usize].2, i));
                found
            };
            let columns = Columns::of(Window { from_ns, to_ns: from_ns + length, width_px }, &time_ns);
            for lane in 0..2 {
                let expected = living(lane, from_ns, from_ns + length);
                prop_assert_eq!(lanes.count(&time_ns, lane as usize, from_ns, from_ns + length), expected.len());
                let mut found = Vec::new();
                lanes.visit(&blocks, &time_ns, lane as usize, from_ns, from_ns + length, |block| { found.push(block); true });
                prop_assert_eq!(found, expected);
                let mut places = (0, 0);
                for column in 0..columns.len() {
                    let (from, to) = columns.ns[column];
                    let count = lanes.lane(lane as usize).count_from(&mut places, columns.past[column], columns.before[column]);
                    prop_assert_eq!(count, living(lane, from, to).len());
                }
            }
        }

        #[test]
        fn the_next_block_is_the_next_by_start_also_from_one_that_is_left_out(
            rows in prop::collection::vec((0u32..3, 0i64..40, 1i64..9), 1..40), left_out in prop::collection::vec(any::<bool>(), 40), from in 0usize..40,
        ) {
            let spans: Vec<_> = rows.iter().map(|&(_, start, life)| ("a", 1, start, start + life)).collect();
            let blocks = blocks_over(0, &spans);
            let time_ns = Replay::of(&blocks).curves.time_ns;
            let key: Vec<u32> = (0..rows.len()).map(|i| if left_out[i] { NO_LANE } else { rows[i].0 }).collect();
            let lanes = Lanes::of(&blocks, &time_ns, &key, 3);
            let from = from % rows.len();
            let place = |i: usize| (rows[i].1, i);
            let alike = || (0..rows.len()).filter(|&i| i != from && key[i] == rows[from].0);
            let next = alike().filter(|&i| place(i) > place(from)).min_by_key(|&i| place(i));
            let last = alike().filter(|&i| place(i) < place(from)).max_by_key(|&i| place(i));
            let found = [true, false].map(|later| lanes.neighbour(&blocks, &time_ns, rows[from].0 as usize, from as u32, later));
            prop_assert_eq!(found, [next, last].map(|block| block.map_or(NO_BLOCK, |block| block as u32)));
        }
    }
}
