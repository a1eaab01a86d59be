//! Events of folded blocks, packed in runs that are each in order; merged when all are there. An event takes some fifteen bytes.

use crate::timeline::blocks::Total;
use crate::timeline::packed::{Columns, put_after};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many events are sorted and packed at once.
const EVENTS_OF_A_RUN: usize = 4096;
/// Numbers of an event.
const FIELDS: usize = 7;

/// A folded block comes or goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time_ns: i64,
    /// Its size, negative when it goes.
    pub delta_bytes: i64,
    /// Its place among all blocks of the pool.
    pub place: u32,
    /// The pool's totals after it.
    pub total: Total,
}

impl Event {
    /// The order of events: see [`crate::timeline::replay`].
    pub fn order(&self) -> (i64, bool, u32) {
        (self.time_ns, self.delta_bytes > 0, self.place)
    }

    fn numbers(&self) -> [i64; FIELDS] {
        let Total { allocated_bytes, reserved_bytes, active_bytes, tolerance_millibytes } = self.total;
        [self.time_ns, self.delta_bytes, self.place.into(), allocated_bytes, reserved_bytes, active_bytes, tolerance_millibytes.into()]
    }

    fn of([time_ns, delta_bytes, place, allocated_bytes, reserved_bytes, active_bytes, tolerance]: [i64; FIELDS]) -> Event {
        let total = Total { allocated_bytes, reserved_bytes, active_bytes, tolerance_millibytes: tolerance as u32 };
        Event { time_ns, delta_bytes, place: place as u32, total }
    }
}

/// All events so far.
#[derive(Debug, Default)]
pub struct Runs {
    packed: Vec<Vec<u8>>,
    packed_bytes: usize,
    /// Not packed yet.
    fresh: Vec<Event>,
}

impl Runs {
    /// Adds an event; the order does not matter.
    pub fn push(&mut self, event: Event) {
        self.fresh.push(event);
        if self.fresh.len() >= EVENTS_OF_A_RUN {
            self.pack();
        }
    }

    /// What they take.
    pub fn bytes(&self) -> usize {
        self.packed_bytes
    }

    fn pack(&mut self) {
        self.fresh.sort_unstable_by_key(Event::order);
        let mut run = Vec::with_capacity(self.fresh.len() * 16);
        let mut before = [0; FIELDS];
        for event in self.fresh.drain(..) {
            before.iter_mut().zip(event.numbers()).for_each(|(before, number)| put_after(&mut run, before, number));
        }
        run.shrink_to_fit();
        self.packed_bytes += run.len();
        self.packed.push(run);
    }

    /// All events in their order.
    pub fn merged(mut self) -> Merged {
        self.pack();
        let mut merged = Merged { runs: self.packed.into_iter().map(|bytes| Run { bytes, at: 0, before: [0; FIELDS] }).collect(), heads: BinaryHeap::new() };
        (0..merged.runs.len()).for_each(|run| merged.advance(run));
        merged
    }
}

struct Run {
    bytes: Vec<u8>,
    at: usize,
    before: [i64; FIELDS],
}

impl Run {
    /// `None` at its end.
    fn next(&mut self) -> Option<Event> {
        let mut columns = Columns::new(self.bytes.get(self.at..)?);
        let mut numbers = [0; FIELDS];
        for (number, before) in numbers.iter_mut().zip(&mut self.before) {
            *number = columns.after(before).ok()?;
        }
        self.at = self.bytes.len() - columns.rest().len();
        Some(Event::of(numbers))
    }
}

/// The events of all runs, in order.
pub struct Merged {
    runs: Vec<Run>,
    /// The next event of each run.
    heads: BinaryHeap<Reverse<Head>>,
}

struct Head {
    event: Event,
    run: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> std::cmp::Ordering {
        (self.event.order(), self.run).cmp(&(other.event.order(), other.run))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl Merged {
    fn advance(&mut self, run: usize) {
        match self.runs[run].next() {
            Some(event) => self.heads.push(Reverse(Head { event, run })),
            // Its memory is needed for the curves.
            None => self.runs[run].bytes = Vec::new(),
        }
    }
}

impl Iterator for Merged {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let Reverse(Head { event, run }) = self.heads.pop()?;
        self.advance(run);
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::blocks::UNKNOWN;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_out_in_order(times in prop::collection::vec((0i64..1000, any::<bool>(), prop_oneof![Just(UNKNOWN), 0i64..1 << 50]), 0..3 * EVENTS_OF_A_RUN)) {
            let events: Vec<Event> = times.iter().enumerate().map(|(place, &(time_ns, comes, allocated_bytes))| Event {
                time_ns,
                delta_bytes: if comes { 512 } else { -512 },
                place: place as u32,
                total: Total { allocated_bytes, reserved_bytes: 7, active_bytes: UNKNOWN, tolerance_millibytes: 1 << 31 | 5 },
            }).collect();
            let mut runs = Runs::default();
            events.iter().for_each(|&event| runs.push(event));
            let mut expected = events;
            expected.sort_by_key(Event::order);
            prop_assert_eq!(runs.merged().collect::<Vec<_>>(), expected);
        }
    }
}
