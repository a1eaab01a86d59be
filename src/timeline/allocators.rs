//! What each operator (or stack, or any group) allocated over the whole capture.

use super::blocks::{Blocks, OPEN};

/// Everything one group allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocator {
    /// Number of the group.
    pub key: u32,
    /// How many blocks.
    pub blocks: u64,
    /// Their sizes together.
    pub bytes: i64,
    /// The largest of them.
    pub largest_bytes: i64,
    /// Of those that were released; 0 when none was. Rounded down.
    pub mean_lifetime_ns: i64,
    /// How many were not released.
    pub open_blocks: u64,
    /// Size × lifetime of all, those that were not released up to the capture's end.
    pub byte_ns: i128,
}

/// The operators, by numbers of [`Blocks::names`]; bytes descending, then name.
pub fn by_operator(blocks: &Blocks, end_ns: i64) -> Vec<Allocator> {
    let mut all = by_key(blocks, &blocks.name, blocks.names.len(), end_ns);
    all.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| blocks.names[a.key as usize].cmp(&blocks.names[b.key as usize])));
    all
}

/// The groups in order of their numbers; `key` gives the group of each block, below `groups`. Blocks that were not released live to `end_ns`.
pub fn by_key(blocks: &Blocks, key: &[u32], groups: usize, end_ns: i64) -> Vec<Allocator> {
    let new = |key| Allocator { key, blocks: 0, bytes: 0, largest_bytes: 0, mean_lifetime_ns: 0, open_blocks: 0, byte_ns: 0 };
    let mut all: Vec<Allocator> = (0..groups as u32).map(new).collect();
    let mut released_ns = vec![0i128; groups];
    for (i, &size) in blocks.size_bytes.iter().enumerate() {
        let group = key[i] as usize;
        let allocator = &mut all[group];
        allocator.blocks += 1;
        allocator.bytes = allocator.bytes.saturating_add(size);
        allocator.largest_bytes = allocator.largest_bytes.max(size);
        let open = blocks.end_ns[i] == OPEN;
        let lifetime = i128::from(if open { end_ns } else { blocks.end_ns[i] }) - i128::from(blocks.start_ns[i]);
        allocator.byte_ns = allocator.byte_ns.saturating_add(i128::from(size) * lifetime.max(0));
        allocator.open_blocks += u64::from(open);
        released_ns[group] += if open { 0 } else { lifetime };
    }
    for (allocator, released_ns) in all.iter_mut().zip(released_ns) {
        let released = i128::from(allocator.blocks - allocator.open_blocks);
        allocator.mean_lifetime_ns = released_ns.checked_div(released).map_or(0, |mean| mean as i64);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::blocks_over;
    use super::*;

    #[test]
    fn open_blocks_are_left_out_of_mean_lifetimes() {
        let blocks = blocks_over(0, &[("a", 1, 0, 10), ("a", 3, 0, OPEN), ("a", 2, 0, 5), ("b", 1, 0, OPEN)]);
        let all = by_operator(&blocks, 20);
        assert_eq!((all[0].bytes, all[0].blocks, all[0].largest_bytes, all[0].mean_lifetime_ns, all[0].open_blocks), (6, 3, 3, 7, 1));
        assert_eq!(all[1].mean_lifetime_ns, 0);
    }

    #[test]
    fn byte_seconds_are_exact_beyond_64_bits() {
        let rows = [("a", 1 << 40, 0, 1 << 40), ("a", 3, 0, OPEN), ("a", 1, 7, 7)];
        assert_eq!(by_operator(&blocks_over(0, &rows), 1 << 41)[0].byte_ns, (1i128 << 80) + (3i128 << 41));
    }

    #[test]
    fn equal_bytes_are_ordered_by_name() {
        let blocks = blocks_over(0, &[("b", 5, 0, 9), ("a", 5, 0, 9)]);
        assert_eq!(by_operator(&blocks, 9).iter().map(|allocator| allocator.key).collect::<Vec<_>>(), [1, 0]);
    }
}
