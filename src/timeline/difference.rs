//! Two captures, A and B, each at an instant: which groups of blocks are new in B, which are gone since A, what changed of the common ones.
//!
//! Blocks of two captures have no identity in common, so groups of them are compared: by operator, by call stack, or by both.

use super::blocks::Blocks;
use super::live::Group;
use std::collections::BTreeMap;

/// Some blocks in groups of whatever they share, by key.
pub fn groups_by<K: Ord>(blocks: &Blocks, chosen: &[u32], key: impl Fn(usize) -> K) -> Vec<Group<K>> {
    let mut groups: BTreeMap<K, (i64, u64)> = BTreeMap::new();
    for &block in chosen {
        let (bytes, count) = groups.entry(key(block as usize)).or_default();
        *bytes = bytes.saturating_add(blocks.size_bytes[block as usize]);
        *count += 1;
    }
    groups.into_iter().map(|(key, (bytes, blocks))| Group { key, bytes, blocks }).collect()
}

/// One group at A and at B.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<K> {
    /// What its blocks share.
    pub key: K,
    /// At A; 0 blocks: the group is new.
    pub a_bytes: i64,
    /// At A.
    pub a_blocks: u64,
    /// At B; 0 blocks: the group is gone.
    pub b_bytes: i64,
    /// At B.
    pub b_blocks: u64,
}

impl<K> Change<K> {
    /// B less A.
    pub fn difference_bytes(&self) -> i64 {
        self.b_bytes.saturating_sub(self.a_bytes)
    }

    /// B less A.
    pub fn difference_blocks(&self) -> i64 {
        let blocks = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        blocks(self.b_blocks) - blocks(self.a_blocks)
    }

    /// `new`, `gone` or `common`.
    pub fn kind(&self) -> &'static str {
        match (self.a_blocks, self.b_blocks) {
            (0, _) => "new",
            (_, 0) => "gone",
            _ => "common",
        }
    }
}

/// Compares groups of A and B; the largest difference in bytes first, then in blocks, then by key.
pub fn of_groups<K: Ord>(a: impl IntoIterator<Item = Group<K>>, b: impl IntoIterator<Item = Group<K>>) -> Vec<Change<K>> {
    let mut found: BTreeMap<K, [(i64, u64); 2]> = BTreeMap::new();
    let both = a.into_iter().map(|group| (0, group)).chain(b.into_iter().map(|group| (1, group)));
    for (side, group) in both {
        let (bytes, blocks) = &mut found.entry(group.key).or_default()[side];
        *bytes = bytes.saturating_add(group.bytes);
        *blocks = blocks.saturating_add(group.blocks);
    }
    let change = |(key, [(a_bytes, a_blocks), (b_bytes, b_blocks)]): (K, [(i64, u64); 2])| Change { key, a_bytes, a_blocks, b_bytes, b_blocks };
    let mut changes: Vec<Change<K>> = found.into_iter().map(change).collect();
    // Stable: keys are in order already.
    changes.sort_by_key(|change| std::cmp::Reverse((change.difference_bytes().unsigned_abs(), change.difference_blocks().unsigned_abs())));
    changes
}

#[cfg(test)]
mod tests {
    use super::super::blocks::OPEN;
    use super::super::blocks::tests::blocks_over;
    use super::super::live;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_of_two_captures_are_compared_by_key() {
        let group = |key, bytes, blocks| Group { key, bytes, blocks };
        let changes = of_groups([group("x", 10, 1), group("y", 5, 1), group("w", 5, 2)], [group("x", 12, 3), group("z", 5, 1), group("w", 5, 1)]);
        let found: Vec<_> = changes.iter().map(|change| (change.key, change.kind(), change.difference_bytes(), change.difference_blocks())).collect();
        assert_eq!(found, [("y", "gone", -5, -1), ("z", "new", 5, 1), ("x", "common", 2, 2), ("w", "common", 0, -1)]);
    }

    proptest! {
        #[test]
        fn what_changes_sums_to_the_difference(rows in prop::collection::vec((0usize..3, 1i64..9, 0i64..20, 0i64..20), 0..20), a in 0i64..30, b in 0i64..30) {
            let rows: Vec<_> = rows.iter().map(|&(name, size, start, life)| (["a", "b", "c"][name], size, start, if life > 15 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(0, &rows);
            let (at_a, at_b) = (live::at(&blocks, a), live::at(&blocks, b));
            let bytes = |chosen: &[u32]| live::bytes_of(&blocks, chosen);
            let groups = |chosen: &[u32]| groups_by(&blocks, chosen, |block| (blocks.name[block], blocks.size_bytes[block]));
            let changes = of_groups(groups(&at_a), groups(&at_b));
            prop_assert_eq!(changes.iter().map(Change::difference_bytes).sum::<i64>(), bytes(&at_b) - bytes(&at_a));
            prop_assert_eq!(changes.iter().map(Change::difference_blocks).sum::<i64>(), at_b.len() as i64 - at_a.len() as i64);
        }
    }
}
