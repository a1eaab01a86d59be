//! The peak as it would be without a group of blocks: what freeing them earlier, or never allocating them, is worth at most.
//!
//! `max over t of (total(t) − bytes of the group alive at t)`, exactly, for every group at once. A group's share is constant between its
//! own events, so it needs one largest total for each stretch between two of them. The sweep keeps the totals that nothing later has
//! exceeded; the largest of a stretch that ends now is the first of these at or after its start. Time: O((blocks + events) log events).

use super::blocks::Blocks;
use super::replay::{Curves, order};

/// A largest total and the entry of the curves that has it, the earliest of equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Maximum {
    /// The total without the group.
    pub bytes: i64,
    /// Entry of the curves.
    pub at: usize,
}

/// The peak without each of `groups` groups; `key` gives the group of each block, below `groups`. Empty without events.
pub fn peaks_without(blocks: &Blocks, curves: &Curves, key: &[u32], groups: usize) -> Vec<Maximum> {
    if curves.is_empty() {
        return Vec::new();
    }
    let mut sweep = Sweep { shares: vec![Share::default(); groups], unexceeded: Vec::new() };
    let (starts, ends) = rayon::join(|| order(blocks, &blocks.start_ns), || order(blocks, &blocks.end_ns));
    let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter().peekable());
    for at in 0..curves.len() {
        let now = curves.time_ns[at];
        while let Some(i) = ends.next_if(|&i| blocks.end_ns[i as usize] <= now) {
            sweep.change(key[i as usize], at, -blocks.size_bytes[i as usize]);
        }
        while let Some(i) = starts.next_if(|&i| blocks.start_ns[i as usize] <= now) {
            sweep.change(key[i as usize], at, blocks.size_bytes[i as usize]);
        }
        sweep.push(at, curves.total_bytes(at));
    }
    (0..groups as u32).for_each(|group| sweep.change(group, curves.len(), 0));
    sweep.shares.into_iter().map(|share| share.most.unwrap_or(Maximum { bytes: 0, at: 0 })).collect()
}

#[derive(Debug, Clone, Default)]
struct Share {
    /// Alive since entry `since`.
    bytes: i64,
    since: usize,
    most: Option<Maximum>,
}

struct Sweep {
    shares: Vec<Share>,
    /// Entries and totals that no later total has exceeded.
    unexceeded: Vec<(usize, i64)>,
}

impl Sweep {
    /// A group's share changes at entry `at`, which ends the stretch before it.
    fn change(&mut self, group: u32, at: usize, delta_bytes: i64) {
        let share = &mut self.shares[group as usize];
        if share.since < at {
            let first = self.unexceeded.partition_point(|&(entry, _)| entry < share.since);
            if let Some(&(entry, total)) = self.unexceeded.get(first) {
                let without = Maximum { bytes: total.saturating_sub(share.bytes), at: entry };
                if share.most.is_none_or(|most| without.bytes > most.bytes) {
                    share.most = Some(without);
                }
            }
            share.since = at;
        }
        share.bytes = share.bytes.saturating_add(delta_bytes);
    }

    fn push(&mut self, at: usize, total: i64) {
        while self.unexceeded.last().is_some_and(|&(_, before)| before < total) {
            self.unexceeded.pop();
        }
        self.unexceeded.push((at, total));
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{OPEN, tests::blocks_over};
    use super::super::live;
    use super::super::replay::Replay;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_peak_moves_to_where_the_group_is_not() {
        // 100 + a's 50 and b's 10 at 5; 100 + c's 30 at 20.
        let blocks = blocks_over(100, &[("a", 50, 0, 10), ("b", 10, 5, 9), ("c", 30, 20, OPEN)]);
        let curves = Replay::of(&blocks).curves;
        let found: Vec<_> = peaks_without(&blocks, &curves, &blocks.name, 3).iter().map(|peak| (peak.bytes, curves.time_ns[peak.at])).collect();
        assert_eq!(found, [(130, 20), (150, 0), (160, 5)]);
        assert!(peaks_without(&Default::default(), &Curves::default(), &[], 3).is_empty());
    }

    proptest! {
        #[test]
        fn equals_a_replay_of_the_others(rows in prop::collection::vec((0u8..3, 1i64..50, 0i64..40, 0i64..40), 1..40)) {
            let names = ["a", "b", "c"];
            let rows: Vec<_> = rows.iter().map(|&(name, size, start, life)| (names[name as usize], size, start, if life > 35 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(7, &rows);
            let curves = Replay::of(&blocks).curves;
            let found = peaks_without(&blocks, &curves, &blocks.name, blocks.names.len());
            for (group, found) in found.iter().enumerate() {
                let without = |at: usize| {
                    let alive: Vec<u32> = live::at(&blocks, curves.time_ns[at]).into_iter().filter(|&i| blocks.name[i as usize] as usize == group).collect();
                    curves.total_bytes(at) - live::bytes_of(&blocks, &alive)
                };
                let most = (0..curves.len()).map(without).max().unwrap();
                prop_assert_eq!(found.bytes, most);
                prop_assert_eq!(without(found.at), most);
            }
        }
    }
}
