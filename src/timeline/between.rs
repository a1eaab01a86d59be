//! What changed between two instants: the blocks of each group that are new, freed, or alive at both.

use super::blocks::Blocks;
use super::live::Group;

/// Some blocks of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Their sizes together.
    pub bytes: i64,
    /// How many.
    pub blocks: u64,
}

impl Share {
    /// All blocks of a group.
    pub fn of<K>(group: &Group<K>) -> Share {
        Share { bytes: group.bytes, blocks: group.blocks }
    }

    fn plus(&mut self, more: Share) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.blocks += more.blocks;
    }

    fn add(&mut self, bytes: i64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.blocks += 1;
    }
}

/// The blocks of one group at two instants A and B.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Difference {
    /// Number of the group.
    pub key: u32,
    /// Alive at B, not at A.
    pub new: Share,
    /// Alive at A, not at B.
    pub freed: Share,
    /// Alive at both.
    pub common: Share,
}

impl Difference {
    /// Of blocks that cannot be told apart: what they became more or less by.
    pub fn net_of(key: u32, at_a: Share, at_b: Share) -> Difference {
        let less = |from: Share, by: Share| Share { bytes: from.bytes.saturating_sub(by.bytes).max(0), blocks: from.blocks.saturating_sub(by.blocks) };
        let common = Share { bytes: at_a.bytes.min(at_b.bytes), blocks: at_a.blocks.min(at_b.blocks) };
        Difference { key, new: less(at_b, at_a), freed: less(at_a, at_b), common }
    }

    /// Counts another group in.
    pub fn add(&mut self, other: &Difference) {
        self.new.plus(other.new);
        self.freed.plus(other.freed);
        self.common.plus(other.common);
    }

    /// The largest change first, whichever way it goes, then what stayed.
    pub fn order(&self) -> std::cmp::Reverse<(i64, i64, i64)> {
        std::cmp::Reverse((self.net_bytes().saturating_abs(), self.new.bytes.max(self.freed.bytes), self.common.bytes))
    }

    /// By how much the group is larger at B.
    pub fn net_bytes(&self) -> i64 {
        self.new.bytes.saturating_sub(self.freed.bytes)
    }
}

/// The groups with blocks at either instant: the largest change first, whichever way it goes, then what stayed, then number. `key` gives the
/// group of each block, below `groups`.
pub fn between(blocks: &Blocks, key: &[u32], groups: usize, (a_ns, b_ns): (i64, i64)) -> Vec<Difference> {
    let mut all: Vec<Difference> = (0..groups as u32).map(|key| Difference { key, ..Difference::default() }).collect();
    for i in 0..blocks.len() {
        let alive = |time_ns: i64| blocks.start_ns[i] <= time_ns && time_ns < blocks.end_ns[i];
        let group = &mut all[key[i] as usize];
        match (alive(a_ns), alive(b_ns)) {
            (false, true) => group.new.add(blocks.size_bytes[i]),
            (true, false) => group.freed.add(blocks.size_bytes[i]),
            (true, true) => group.common.add(blocks.size_bytes[i]),
            (false, false) => {}
        }
    }
    all.retain(|group| group.new.blocks + group.freed.blocks + group.common.blocks > 0);
    all.sort_by_key(Difference::order);
    all
}

#[cfg(test)]
mod tests {
    use super::super::blocks::{OPEN, tests::blocks_over};
    use super::super::live;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn of_blocks_that_cannot_be_told_apart_the_change_is_known() {
        let [less, more] = [Share { bytes: 5, blocks: 1 }, Share { bytes: 9, blocks: 3 }];
        let figures = |difference: Difference| [difference.new, difference.freed, difference.common].map(|share| (share.bytes, share.blocks));
        assert_eq!(figures(Difference::net_of(7, less, more)), [(4, 2), (0, 0), (5, 1)]);
        assert_eq!(figures(Difference::net_of(7, more, less)), [(0, 0), (4, 2), (5, 1)]);
    }

    #[test]
    fn new_freed_and_common() {
        let rows = [("a", 5, 0, 10), ("a", 7, 8, OPEN), ("b", 1, 0, OPEN), ("c", 9, 4, 6)];
        let blocks = blocks_over(0, &rows);
        let share = |bytes, blocks| Share { bytes, blocks };
        let found = between(&blocks, &blocks.name, 3, (1, 10));
        assert_eq!(found.iter().map(|group| group.key).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((found[0].new, found[0].freed, found[0].common, found[0].net_bytes()), (share(7, 1), share(5, 1), share(0, 0), 2));
        assert_eq!((found[1].new, found[1].common), (share(0, 0), share(1, 1)));
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_both_live_sets(rows in prop::collection::vec((0u8..3, 1i64..50, 0i64..40, 0i64..40), 0..40), a in 0i64..90, b in 0i64..90) {
            let names = ["a", "b", "c"];
            let rows: Vec<_> = rows.iter().map(|&(name, size, start, life)| (names[name as usize], size, start, start + life)).collect();
            let blocks = blocks_over(0, &rows);
            let found = between(&blocks, &blocks.name, blocks.names.len(), (a, b));
            let sum = |part: fn(&Difference) -> i64| found.iter().map(part).sum::<i64>();
            prop_assert_eq!(sum(|group| group.freed.bytes + group.common.bytes), live::bytes_of(&blocks, &live::at(&blocks, a)));
            prop_assert_eq!(sum(|group| group.new.bytes + group.common.bytes), live::bytes_of(&blocks, &live::at(&blocks, b)));
        }
    }
}
