//! Replays XLA's own simulation of a module's temporary memory: how much the plan holds after each event, where that is most, and what is
//! alive then.
//!
//! A trace allocates, frees and shares: SHARE_WITH makes a buffer one of those that keep a canonical buffer alive. Where that had been
//! freed before, its memory is taken again, and what is seen in it from then on is the sharer.

use super::hlo::{HeapEvent, HeapTrace};
use std::collections::HashMap;

/// What one trace gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replay {
    /// Held after each event.
    pub held_bytes: Vec<i64>,
    /// The event after which most is held, the earliest of equal ones; `None` when nothing ever is.
    pub peak: Option<usize>,
    /// What is alive after it, by the order in which it came to be.
    pub live: Vec<Live>,
}

/// A buffer alive at the peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Whose memory it is.
    pub canonical: i64,
    /// Which buffer is seen in it.
    pub shown: i64,
    /// Every buffer that shares it anywhere in the trace.
    pub sharers: Vec<i64>,
}

impl Replay {
    /// Replays a trace. `size` tells the bytes of a buffer.
    pub fn of(trace: &HeapTrace, size: impl Fn(i64) -> i64) -> Replay {
        let mut heap = Heap { size, canonical: HashMap::new(), held: HashMap::new(), bytes: 0, order: 0 };
        let mut held_bytes = Vec::with_capacity(trace.events.len());
        let mut peak = None;
        let mut most = 0;
        for (at, event) in trace.events.iter().enumerate() {
            heap.event(event);
            held_bytes.push(heap.bytes);
            if heap.bytes > most {
                most = heap.bytes;
                peak = Some(at);
            }
        }
        let sharers = heap.sharers();
        let mut again = Heap { size: heap.size, canonical: HashMap::new(), held: HashMap::new(), bytes: 0, order: 0 };
        trace.events.iter().take(peak.map_or(0, |at| at + 1)).for_each(|event| again.event(event));
        Replay { held_bytes, peak, live: again.live(&sharers) }
    }

    /// Held at the peak.
    pub fn peak_bytes(&self) -> i64 {
        self.peak.map_or(0, |at| self.held_bytes[at])
    }
}

struct Heap<F> {
    size: F,
    /// Of each sharer, whose memory it shares.
    canonical: HashMap<i64, i64>,
    held: HashMap<i64, Held>,
    bytes: i64,
    order: u64,
}

struct Held {
    users: u64,
    shown: i64,
    /// When it last came to be.
    order: u64,
}

const ALLOC: i64 = 0;
const FREE: i64 = 1;
const SHARE_WITH: i64 = 2;

impl<F: Fn(i64) -> i64> Heap<F> {
    fn event(&mut self, event: &HeapEvent) {
        match event.kind {
            ALLOC => {
                self.canonical.remove(&event.buffer_id);
                self.add_user(event.buffer_id, event.buffer_id);
            }
            FREE => self.remove_user(event.buffer_id),
            SHARE_WITH => {
                let root = self.root(event.share_with_canonical_id);
                if root != event.buffer_id {
                    self.canonical.insert(event.buffer_id, root);
                }
                self.add_user(root, event.buffer_id);
            }
            _ => {}
        }
    }

    fn root(&self, buffer: i64) -> i64 {
        // Sharers are entered with a root that is none itself, so one step is enough, and no circle can be made.
        self.canonical.get(&buffer).copied().unwrap_or(buffer)
    }

    fn add_user(&mut self, root: i64, buffer: i64) {
        self.order += 1;
        let held = self.held.entry(root).or_insert(Held { users: 0, shown: root, order: 0 });
        if held.users == 0 {
            self.bytes = self.bytes.saturating_add((self.size)(root));
            held.shown = buffer;
            held.order = self.order;
        }
        held.users += 1;
    }

    fn remove_user(&mut self, buffer: i64) {
        let root = self.root(buffer);
        let Some(held) = self.held.get_mut(&root).filter(|held| held.users > 0) else { return };
        held.users -= 1;
        if held.users == 0 {
            self.bytes = self.bytes.saturating_sub((self.size)(root));
        }
    }

    fn sharers(&self) -> HashMap<i64, Vec<i64>> {
        let mut sharers: HashMap<i64, Vec<i64>> = HashMap::new();
        for (&sharer, &root) in &self.canonical {
            sharers.entry(root).or_default().push(sharer);
        }
        sharers.values_mut().for_each(|list| list.sort_unstable());
        sharers
    }

    fn live(&self, sharers: &HashMap<i64, Vec<i64>>) -> Vec<Live> {
        let mut live: Vec<(&i64, &Held)> = self.held.iter().filter(|(_, held)| held.users > 0).collect();
        live.sort_by_key(|(_, held)| held.order);
        live.into_iter()
            .map(|(&canonical, held)| Live { canonical, shown: held.shown, sharers: sharers.get(&canonical).cloned().unwrap_or_default() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replay(events: &[(i64, i64, i64)]) -> Replay {
        let events = events.iter().map(|&(kind, buffer_id, share_with_canonical_id)| HeapEvent { kind, buffer_id, share_with_canonical_id }).collect();
        Replay::of(&HeapTrace { events }, |buffer| buffer * 10)
    }

    #[test]
    fn the_first_of_equal_maxima_is_the_peak() {
        let replay = replay(&[(ALLOC, 1, 0), (ALLOC, 2, 0), (FREE, 1, 0), (ALLOC, 1, 0)]);
        assert_eq!((&replay.held_bytes[..], replay.peak, replay.peak_bytes()), (&[10, 30, 20, 30][..], Some(1), 30));
        assert_eq!(replay.live.iter().map(|live| live.canonical).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn sharing_keeps_memory_and_takes_it_again() {
        let kept = replay(&[(ALLOC, 5, 0), (SHARE_WITH, 7, 5), (FREE, 5, 0), (ALLOC, 1, 0), (FREE, 7, 0)]);
        assert_eq!(kept.held_bytes, [50, 50, 50, 60, 10]);
        assert_eq!(kept.live[0], Live { canonical: 5, shown: 5, sharers: vec![7] });
        let revived = replay(&[(ALLOC, 5, 0), (FREE, 5, 0), (ALLOC, 1, 0), (SHARE_WITH, 7, 5)]);
        assert_eq!(revived.held_bytes, [50, 0, 10, 60]);
        assert_eq!(revived.live[1], Live { canonical: 5, shown: 7, sharers: vec![7] });
    }

    proptest! {
        #[test]
        fn any_trace_ends_and_the_live_set_is_the_peak(events in prop::collection::vec((0i64..5, 0i64..8, 0i64..8), 0..60)) {
            let replay = replay(&events);
            prop_assert!(replay.held_bytes.iter().all(|&held| 0 <= held && held <= replay.peak_bytes()));
            prop_assert_eq!(replay.live.iter().map(|live| live.canonical * 10).sum::<i64>(), replay.peak_bytes());
        }
    }
}
