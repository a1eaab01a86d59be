//! Which blocks are alive, and who made them.

use super::blocks::{Blocks, OPEN};
use rayon::prelude::*;
use std::collections::HashMap;

/// The smallest size class; below it every block counts as this large.
const SMALLEST_CLASS_BYTES: i64 = 512;

/// Blocks that share a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group<K> {
    /// What they share.
    pub key: K,
    /// Their sizes together.
    pub bytes: i64,
    /// How many.
    pub blocks: u64,
}

impl<K> Group<K> {
    /// The same under another key.
    pub fn renamed<L>(self, name: impl Fn(K) -> L) -> Group<L> {
        Group { key: name(self.key), bytes: self.bytes, blocks: self.blocks }
    }
}

/// The blocks alive at an instant: `start ≤ t < end`.
pub fn at(blocks: &Blocks, time_ns: i64) -> Vec<u32> {
    (0..blocks.len() as u32).into_par_iter().filter(|&i| blocks.start_ns[i as usize] <= time_ns && time_ns < blocks.end_ns[i as usize]).collect()
}

/// The blocks that were not released within the capture.
pub fn at_the_end(blocks: &Blocks) -> Vec<u32> {
    (0..blocks.len() as u32).filter(|&i| blocks.end_ns[i as usize] == OPEN).collect()
}

/// The sizes of some blocks together.
pub fn bytes_of(blocks: &Blocks, chosen: &[u32]) -> i64 {
    chosen.iter().fold(0, |sum: i64, &i| sum.saturating_add(blocks.size_bytes[i as usize]))
}

/// Groups by operator: numbers of [`Blocks::names`]; bytes descending, then name.
pub fn by_operator(blocks: &Blocks, chosen: &[u32]) -> Vec<Group<u32>> {
    by_number(blocks, chosen, &blocks.name, &blocks.names)
}

/// Groups by stream: numbers of [`Blocks::streams`]; bytes descending, then stream.
pub fn by_stream(blocks: &Blocks, chosen: &[u32]) -> Vec<Group<u32>> {
    by_number(blocks, chosen, &blocks.stream, &blocks.streams)
}

/// Groups by a number of each block's, such as its stack; bytes descending, then number.
pub fn by_key(blocks: &Blocks, chosen: &[u32], keys: &[u32]) -> Vec<Group<u32>> {
    let mut numbers: HashMap<u32, Group<u32>> = HashMap::new();
    for &i in chosen {
        let key = keys[i as usize];
        add(numbers.entry(key).or_insert(Group { key, bytes: 0, blocks: 0 }), blocks.size_bytes[i as usize]);
    }
    let mut groups: Vec<Group<u32>> = numbers.into_values().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.bytes), group.key));
    groups
}

/// Groups by size class (the size rounded up to a power of two, from 512 B); bytes descending, then class.
pub fn by_size_class(blocks: &Blocks, chosen: &[u32]) -> Vec<Group<i64>> {
    let mut groups: Vec<Group<i64>> = (0..63).map(|power| Group { key: 1 << power, bytes: 0, blocks: 0 }).collect();
    for &i in chosen {
        let size_bytes = blocks.size_bytes[i as usize];
        add(&mut groups[size_class_bytes(size_bytes).trailing_zeros() as usize], size_bytes);
    }
    groups.retain(|group| group.blocks > 0);
    groups.sort_by_key(|group| (std::cmp::Reverse(group.bytes), group.key));
    groups
}

/// The size class of a block.
pub fn size_class_bytes(size_bytes: i64) -> i64 {
    const LARGEST: i64 = 1 << 62;
    if size_bytes > LARGEST { LARGEST } else { (size_bytes.max(SMALLEST_CLASS_BYTES) as u64).next_power_of_two() as i64 }
}

/// Groups by a number of each block's that stands for a text; bytes descending, then text.
pub fn by_number<T: AsRef<str> + Ord>(blocks: &Blocks, chosen: &[u32], numbers: &[u32], texts: &[T]) -> Vec<Group<u32>> {
    let mut groups: Vec<Group<u32>> = (0..texts.len() as u32).map(|key| Group { key, bytes: 0, blocks: 0 }).collect();
    for &i in chosen {
        add(&mut groups[numbers[i as usize] as usize], blocks.size_bytes[i as usize]);
    }
    groups.retain(|group| group.blocks > 0);
    groups.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| texts[a.key as usize].cmp(&texts[b.key as usize])));
    groups
}

fn add<K>(group: &mut Group<K>, bytes: i64) {
    group.bytes = group.bytes.saturating_add(bytes);
    group.blocks += 1;
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks_over;
    use super::*;

    #[test]
    fn alive_from_allocation_to_just_before_release() {
        let blocks = blocks_over(0, &[("a", 1, 0, 10), ("b", 1, 10, OPEN), ("c", 1, 4, 4)]);
        assert_eq!(at(&blocks, 0), [0]);
        assert_eq!(at(&blocks, 4), [0]);
        assert_eq!(at(&blocks, 10), [1]);
        assert_eq!(at_the_end(&blocks), [1]);
    }

    #[test]
    fn groups_are_ordered_by_bytes_then_name() {
        let blocks = blocks_over(0, &[("b", 5, 0, 9), ("a", 5, 0, 9), ("c", 8, 0, 9)]);
        let names: Vec<_> = by_operator(&blocks, &[0, 1, 2]).iter().map(|group| blocks.names[group.key as usize].as_str()).collect();
        assert_eq!(names, ["c", "a", "b"]);
    }

    #[test]
    fn size_classes_are_powers_of_two_from_512() {
        let blocks = blocks_over(0, &[("a", 1, 0, 9), ("a", 512, 0, 9), ("a", 513, 0, 9), ("a", 1 << 40, 0, 9)]);
        let classes: Vec<_> = by_size_class(&blocks, &[0, 1, 2, 3]).iter().map(|group| (group.key, group.blocks)).collect();
        assert_eq!(classes, [(1 << 40, 1), (512, 2), (1024, 1)]);
        assert_eq!(size_class_bytes(i64::MAX), 1 << 62);
    }
}
