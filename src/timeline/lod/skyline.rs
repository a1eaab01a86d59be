//! What a lane shows: at every instant two of its living blocks, in two rows.
//!
//! * The **front** row shows the largest; of equally large ones the one that was allocated first.
//! * The **second** row shows the newest of the others; of those that began together the one with the higher number.
//!
//! A row is thus a sequence of stretches that do not overlap, each showing one block or none, and as many as there are blocks, more or
//! less. Every block is seen at its first instant at the least, and a large one as long as it is the largest. In a pixel column each
//! row shows one stretch: the one that has most bytes × nanoseconds *within the column*, the earlier of equal ones. The blocks of the
//! column that neither row shows are counted.

use super::NO_BLOCK;
use super::columns::{Columns, gallop};
use super::lanes::{Lane, Lanes};
use super::pyramid::{Pyramid, Summary};
use crate::timeline::blocks::Blocks;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many stretches a summary.
const RUN: usize = 16;

/// The rows of every lane.
#[derive(Debug, Clone)]
pub struct Skyline {
    lanes: Vec<[Row; 2]>,
}

/// Stretches that follow each other.
#[derive(Debug, Clone)]
struct Row {
    /// The instant at which each begins, a place among all instants. It lasts to the next one.
    from: Box<[u32]>,
    /// The block it shows, or [`NO_BLOCK`].
    block: Box<[u32]>,
    best: Pyramid<Best, RUN>,
}

/// The stretch with the most bytes × nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Best {
    byte_ns: f64,
    stretch: u32,
}

impl Summary for Best {
    fn join(self, other: Best) -> Best {
        let other_wins = other.byte_ns > self.byte_ns || (other.byte_ns == self.byte_ns && other.stretch < self.stretch);
        if other_wins { other } else { self }
    }
}

/// What a lane shows in every column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The block of the front row in each column, or [`NO_BLOCK`].
    pub front: Vec<u32>,
    /// The block of the second row.
    pub second: Vec<u32>,
    /// How many further blocks live in each column.
    pub folded: Vec<u32>,
    /// How many blocks live in the window.
    pub blocks: u32,
}

impl Shown {
    /// A lane of which nothing is known.
    pub fn nothing(width: usize) -> Shown {
        Shown { front: vec![NO_BLOCK; width], second: vec![NO_BLOCK; width], folded: vec![0; width], blocks: 0 }
    }
}

impl Skyline {
    /// Of all lanes.
    pub fn of(blocks: &Blocks, time_ns: &[i64], lanes: &Lanes) -> Skyline {
        Skyline { lanes: (0..lanes.len()).into_par_iter().map(|lane| rows(blocks, time_ns, lanes.lane(lane))).collect() }
    }

    /// What one lane shows of a window. `lanes` and `columns`: of the same blocks and instants.
    pub fn show(&self, blocks: &Blocks, time_ns: &[i64], lanes: &Lanes, lane: usize, columns: &Columns) -> Shown {
        let of_lane = lanes.lane(lane);
        let [front, second] = self.lanes[lane].each_ref().map(|row| row.show(blocks, time_ns, columns));
        let mut places = (0, 0);
        let folded = (0..columns.len()).map(|column| {
            let living = of_lane.count_from(&mut places, columns.past[column], columns.before[column]);
            let drawn = usize::from(front[column] != NO_BLOCK) + usize::from(second[column] != NO_BLOCK && second[column] != front[column]);
            (living - drawn) as u32
        });
        let folded = folded.collect();
        let blocks = lanes.count(time_ns, lane, columns.window.from_ns, columns.window.to_ns) as u32;
        Shown { front, second, folded, blocks }
    }

    /// What it takes.
    pub fn bytes(&self) -> usize {
        let row = |row: &Row| 4 * (row.from.len() + row.block.len()) + row.best.bytes();
        self.lanes.iter().flatten().map(|each| row(each) + size_of::<Row>()).sum()
    }
}

impl Row {
    fn of(blocks: &Blocks, time_ns: &[i64], stretches: Vec<(u32, u32)>) -> Row {
        let (from, block): (Vec<u32>, Vec<u32>) = stretches.into_iter().unzip();
        let mut row = Row { from: from.into(), block: block.into(), best: Pyramid::of(0, |_| Best { byte_ns: 0.0, stretch: 0 }) };
        row.best = Pyramid::of(row.from.len(), |at| row.whole(blocks, time_ns, at));
        row
    }

    fn show(&self, blocks: &Blocks, time_ns: &[i64], columns: &Columns) -> Vec<u32> {
        let (mut past, mut begun) = (0, 0);
        let shown = (0..columns.len()).map(|column| {
            past = gallop(&self.from, past, columns.past[column]);
            begun = gallop(&self.from, begun, columns.before[column]);
            let (first, last) = (past.saturating_sub(1), begun.saturating_sub(1));
            if begun <= first {
                return NO_BLOCK;
            }
            let mut best = self.part(blocks, time_ns, first, columns.ns[column]);
            if last > first {
                best = best.join(self.part(blocks, time_ns, last, columns.ns[column]));
                // What lies between lies wholly within the column.
                let between = first + 1..last;
                let within = |best: Best| between.contains(&(best.stretch as usize));
                let found = self.best.best_over(between.clone(), |at| self.whole(blocks, time_ns, at), within);
                best = found.map_or(best, |found| best.join(found));
            }
            self.block[best.stretch as usize]
        });
        shown.collect()
    }

    /// A whole stretch. The last one has no end, and is never asked for.
    fn whole(&self, blocks: &Blocks, time_ns: &[i64], at: usize) -> Best {
        let until = self.from.get(at + 1).map_or(i64::MAX, |&next| time_ns[next as usize]);
        self.weighed(blocks, at, time_ns[self.from[at] as usize], until)
    }

    /// As much of it as lies in a column.
    fn part(&self, blocks: &Blocks, time_ns: &[i64], at: usize, (from_ns, to_ns): (i64, i64)) -> Best {
        let until = self.from.get(at + 1).map_or(to_ns, |&next| time_ns[next as usize].min(to_ns));
        self.weighed(blocks, at, time_ns[self.from[at] as usize].max(from_ns), until)
    }

    fn weighed(&self, blocks: &Blocks, at: usize, from_ns: i64, until_ns: i64) -> Best {
        let byte_ns = match self.block[at] {
            NO_BLOCK => -1.0,
            block => weight(blocks.size_bytes[block as usize], until_ns.saturating_sub(from_ns)),
        };
        Best { byte_ns, stretch: at as u32 }
    }
}

/// Bytes × nanoseconds.
fn weight(bytes: i64, ns: i64) -> f64 {
    bytes as f64 * ns as f64
}

/// Sweeps over the instants of a lane. Blocks go by their places in it.
fn rows(blocks: &Blocks, time_ns: &[i64], lane: Lane) -> [Row; 2] {
    let mut shown: [Vec<(u32, u32)>; 2] = Default::default();
    // Both keep the dead until these come to the top.
    let mut by_size: BinaryHeap<(i64, Reverse<u32>)> = BinaryHeap::new();
    let mut by_start: Vec<u32> = Vec::new();
    let ends = &lane.ends[..lane.ends.partition_point(|&end| (end as usize) < time_ns.len())];
    let (mut begun, mut ended) = (0, 0);
    while let Some(now) = lane.start.get(begun).into_iter().chain(ends.get(ended)).copied().min() {
        while ends.get(ended) == Some(&now) {
            ended += 1;
        }
        while lane.start.get(begun) == Some(&now) {
            by_size.push((blocks.size_bytes[lane.blocks[begun] as usize], Reverse(begun as u32)));
            by_start.push(begun as u32);
            begun += 1;
        }
        let now_ns = time_ns[now as usize];
        let lives = |place: u32| blocks.end_ns[lane.blocks[place as usize] as usize] > now_ns;
        while by_size.peek().is_some_and(|&(_, Reverse(place))| !lives(place)) {
            by_size.pop();
        }
        let largest = by_size.peek().map(|&(_, Reverse(place))| place);
        let newest = newest_but(largest, &mut by_start, lives);
        for (row, place) in shown.iter_mut().zip([largest, newest]) {
            let block = place.map_or(NO_BLOCK, |place| lane.blocks[place as usize]);
            if row.last().map_or(NO_BLOCK, |last| last.1) != block {
                row.push((now, block));
            }
        }
    }
    shown.map(|stretches| Row::of(blocks, time_ns, stretches))
}

/// The last of the living but one; takes the dead off the end.
fn newest_but(but: Option<u32>, by_start: &mut Vec<u32>, lives: impl Fn(u32) -> bool) -> Option<u32> {
    let mut aside = None;
    loop {
        let last = by_start.last().copied();
        match last {
            Some(place) if last == but => aside = Some(place),
            Some(place) if !lives(place) => {}
            _ => {
                by_start.extend(aside);
                return last;
            }
        }
        by_start.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::Window;
    use super::*;
    use crate::timeline::blocks::OPEN;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;
    use proptest::prelude::*;

    type Rows = Vec<(&'static str, i64, i64, i64)>;

    fn shown(rows: &Rows, window: Window) -> Shown {
        let blocks = blocks_over(0, rows);
        let time_ns = Replay::of(&blocks).curves.time_ns;
        let lanes = Lanes::of(&blocks, &time_ns, &blocks.name, 1);
        Skyline::of(&blocks, &time_ns, &lanes).show(&blocks, &time_ns, &lanes, 0, &Columns::of(window, &time_ns))
    }

    #[test]
    fn the_largest_in_front_and_the_newest_second() {
        let rows = vec![("a", 5, 0, 100), ("a", 9, 20, 60), ("a", 1, 30, 40), ("a", 1, 35, 36)];
        let found = shown(&rows, Window { from_ns: 0, to_ns: 100, width_px: 10 });
        let no = NO_BLOCK;
        assert_eq!(found.front, [0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(found.second, [no, no, 0, 2, 0, 0, no, no, no, no]);
        assert_eq!(found.folded, [0, 0, 0, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(found.blocks, 4);
    }

    #[test]
    fn every_block_is_seen_at_its_first_instant() {
        let rows: Rows = (0..50).map(|i| ("a", 1 + (i * 7) % 13, i, if i % 3 == 0 { OPEN } else { i + 20 })).collect();
        for (block, row) in rows.iter().enumerate() {
            let found = shown(&rows, Window { from_ns: row.2, to_ns: row.2 + 1, width_px: 1 });
            assert!(found.front[0] == block as u32 || found.second[0] == block as u32, "{block}");
        }
    }

    /// The rule as it stands at the top of the module, nanosecond by nanosecond.
    fn drawn(rows: &Rows, window: Window, column: u32) -> (u32, u32, u32) {
        let (from, to) = window.column_ns(column);
        let lives = |i: u32, now: i64| rows[i as usize].2 <= now && now < rows[i as usize].3;
        let all = || 0..rows.len() as u32;
        let by_start = |i: u32| (rows[i as usize].2, i);
        let front = |now: i64| all().filter(|&i| lives(i, now)).max_by_key(|&i| (rows[i as usize].1, Reverse(by_start(i))));
        let second = |now: i64| all().filter(|&i| lives(i, now) && Some(i) != front(now)).max_by_key(|&i| by_start(i));
        let most = |row: &dyn Fn(i64) -> Option<u32>| {
            let mut runs: Vec<(Option<u32>, i64)> = Vec::new();
            for now in from..to {
                let block = row(now);
                match runs.last_mut() {
                    Some(run) if run.0 == block => run.1 += 1,
                    _ => runs.push((block, 1)),
                }
            }
            let mut best = (NO_BLOCK, -1);
            for (block, ns) in runs.into_iter().filter_map(|(block, ns)| Some((block?, ns))) {
                if rows[block as usize].1 * ns > best.1 {
                    best = (block, rows[block as usize].1 * ns);
                }
            }
            best.0
        };
        let (front, second) = (most(&front), most(&second));
        let living = all().filter(|&i| rows[i as usize].2 != rows[i as usize].3 && rows[i as usize].2 < to && rows[i as usize].3 > from);
        (front, second, living.filter(|&i| i != front && i != second).count() as u32)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_columns_equal_a_brute_force_drawing(
            rows in prop::collection::vec((1i64..20, 0i64..120, 0i64..70), 0..70), from_ns in -10i64..130, length in 1i64..200, width_px in 1u32..24,
        ) {
            let rows: Rows = rows.iter().map(|&(size, start, life)| ("a", size, start, if life > 62 { OPEN } else { start + life })).collect();
            let window = Window { from_ns, to_ns: from_ns + length, width_px };
            if !rows.is_empty() {
                let found = shown(&rows, window);
                for column in 0..width_px {
                    let at = column as usize;
                    prop_assert_eq!((found.front[at], found.second[at], found.folded[at]), drawn(&rows, window, column), "column {}", column);
                }
            }
        }
    }
}
