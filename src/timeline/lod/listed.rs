//! The lanes of a view, as they are listed: what each holds, and which come first.

use crate::timeline::blocks::Blocks;
use std::cmp::Reverse;

/// A lane with at least one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// The number that its blocks have in common.
    pub key: u32,
    /// How many blocks.
    pub blocks: u64,
    /// Their sizes together.
    pub bytes: i64,
    /// Of these, what lived at the peak.
    pub peak_bytes: i64,
    /// The start of the first.
    pub first_ns: i64,
}

/// The lanes by bytes at an instant (the peak), the most first; then by allocated volume, then by label.
pub fn listed<T: Ord>(blocks: &Blocks, key: &[u32], labels: &[T], peak_ns: i64) -> Vec<Listed> {
    let mut lanes: Vec<Listed> = (0..labels.len() as u32).map(|key| Listed { key, blocks: 0, bytes: 0, peak_bytes: 0, first_ns: i64::MAX }).collect();
    for (block, &key) in key.iter().enumerate() {
        let Some(lane) = lanes.get_mut(key as usize) else { continue };
        let (bytes, start) = (blocks.size_bytes[block], blocks.start_ns[block]);
        lane.blocks += 1;
        lane.bytes = lane.bytes.saturating_add(bytes);
        if start <= peak_ns && peak_ns < blocks.end_ns[block] {
            lane.peak_bytes = lane.peak_bytes.saturating_add(bytes);
        }
        lane.first_ns = lane.first_ns.min(start);
    }
    lanes.retain(|lane| lane.blocks > 0);
    lanes.sort_by(|a, b| {
        let order = |lane: &Listed| (Reverse(lane.peak_bytes), Reverse(lane.bytes));
        order(a).cmp(&order(b)).then_with(|| labels[a.key as usize].cmp(&labels[b.key as usize]))
    });
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::lod::NO_LANE;

    #[test]
    fn bytes_at_the_peak_then_volume_then_label() {
        let blocks = blocks_over(0, &[("b", 5, 0, 9), ("a", 5, 3, 9), ("c", 8, 10, 19), ("d", 9, 10, 19), ("a", 5, 9, 12)]);
        let key = [0, 1, 2, NO_LANE, 1];
        let found = listed(&blocks, &key, &["b", "a", "c", "d"], 4);
        assert_eq!(
            found.iter().map(|lane| (lane.key, lane.blocks, lane.bytes, lane.peak_bytes, lane.first_ns)).collect::<Vec<_>>(),
            [(1, 2, 10, 5, 3), (0, 1, 5, 5, 0), (2, 1, 8, 0, 10)]
        );
    }
}
