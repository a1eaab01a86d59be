//! The memory that one capture may take, and what is given up so that it does not take more: the smallest blocks first, then names.

use crate::timeline::blocks::BlocksBuilder;
use crate::timeline::folded::half;

/// What a block takes that is kept: its columns, where it comes from, and what is derived to draw it.
const BLOCK_BYTES: u64 = 160;
/// What an entry of the curves takes.
const ENTRY_BYTES: u64 = 60;
/// Entries for each event of a kept block, at most, once blocks are folded: its own, and two of the folded ones before it.
const ENTRIES_PER_EVENT: u64 = 3;
/// What a text takes beside its bytes, which are there three times.
const TEXT_BYTES: u64 = 120;
/// How often it is looked how much blocks take.
const BLOCKS_PER_LOOK: u32 = 256;
/// What new names become where there is no room for them.
pub const DROPPED_NAME: &str = "(name dropped)";

/// The memory for one capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// In bytes.
    pub bytes: u64,
}

impl Budget {
    /// The part of a budget that is for a capture whose files have `own` of `all` bytes.
    pub fn part(bytes: u64, own: u64, all: u64) -> Budget {
        let part = u128::from(bytes) * u128::from(own) / u128::from(all.max(1));
        Budget { bytes: u64::try_from(part).unwrap_or(u64::MAX).min(bytes) }
    }

    /// For blocks and what is derived of them.
    pub fn for_blocks(self) -> u64 {
        self.bytes / 2
    }

    /// For the names of operators.
    pub fn for_names(self) -> u64 {
        self.bytes / 16
    }

    /// For the texts of call stacks.
    pub fn for_stacks(self) -> u64 {
        self.bytes / 8
    }
}

/// Keeps blocks within their part of the memory.
#[derive(Debug)]
pub struct Folder {
    /// `None`: there is no limit.
    most_bytes: Option<u64>,
    /// Blocks up to this size are folded; 0 for none.
    pub up_to_bytes: i64,
    /// Blocks until the next look.
    unseen: u32,
    /// Not even folded blocks have room.
    pub is_full: bool,
}

impl Folder {
    /// Blocks may take so many bytes.
    pub fn new(most_bytes: Option<u64>) -> Folder {
        Folder { most_bytes, up_to_bytes: 0, unseen: 0, is_full: false }
    }

    /// Whether it is time for a look: from time to time, told by blocks alone so that nothing else matters.
    pub fn is_due(&mut self) -> bool {
        self.unseen += 1;
        let is_due = self.most_bytes.is_some() && self.unseen >= BLOCKS_PER_LOOK;
        if is_due {
            self.unseen = 0;
        }
        is_due
    }

    /// Folds more blocks of these pools, at least half of those that are left each time, until the rest has room.
    pub fn look(&mut self, pools: &mut [&mut BlocksBuilder]) {
        while self.most_bytes.is_some_and(|most| taken_bytes(pools) > most) {
            let Some(up_to_bytes) = half(pools.iter().flat_map(|pool| pool.sizes())) else {
                self.is_full = true;
                return;
            };
            self.up_to_bytes = up_to_bytes;
            pools.iter_mut().for_each(|pool| pool.fold(up_to_bytes));
        }
    }

    /// For how many of so many further blocks room is made.
    pub fn room_for(&self, blocks: usize) -> usize {
        let most = self.most_bytes.map_or(usize::MAX, |most| usize::try_from(most / (BLOCK_BYTES + 2 * ENTRY_BYTES)).unwrap_or(usize::MAX));
        blocks.min(most)
    }
}

/// What blocks take, in all that is made of them.
fn taken_bytes(pools: &[&mut BlocksBuilder]) -> u64 {
    let (mut kept, mut all, mut packed) = (0, 0, 0);
    for pool in pools {
        kept += pool.sizes().len() as u64;
        all += pool.sizes().len() as u64 + pool.folding().map_or(0, |folding| folding.blocks());
        packed += pool.folding().map_or(0, |folding| folding.bytes() as u64);
    }
    kept * BLOCK_BYTES + (2 * all).min(2 * kept * ENTRIES_PER_EVENT) * ENTRY_BYTES + packed
}

/// Numbers texts while there is room for new ones.
#[derive(Debug)]
pub struct TextRoom {
    left_bytes: u64,
}

impl Default for TextRoom {
    fn default() -> Self {
        TextRoom::new(None)
    }
}

impl TextRoom {
    /// Room for so many bytes; without a limit where none is given.
    pub fn new(bytes: Option<u64>) -> TextRoom {
        TextRoom { left_bytes: bytes.unwrap_or(u64::MAX) }
    }

    /// Whether there is room for one more text, which then takes it.
    pub fn takes(&mut self, text: &[u8]) -> bool {
        let bytes = 3 * text.len() as u64 + TEXT_BYTES;
        let has_room = bytes <= self.left_bytes;
        // From the first one on that has none, no new text is taken: that is easier to say than which ones are.
        self.left_bytes = if has_room { self.left_bytes - bytes } else { 0 };
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::blocks::{OPEN, tests::blocks_over};

    #[test]
    fn captures_share_by_their_size() {
        assert_eq!([(1, 4), (3, 4), (4, 4)].map(|(own, all)| Budget::part(1000, own, all).bytes), [250, 750, 1000]);
        assert_eq!((Budget::part(1000, 0, 0).bytes, Budget::part(u64::MAX, u64::MAX, 1).bytes), (0, u64::MAX));
    }

    fn pool(rows: i64) -> BlocksBuilder {
        let rows: Vec<_> = (0..rows).map(|at| ("a", 1 << (at % 8 + 9), at, OPEN)).collect();
        let blocks = blocks_over(0, &rows);
        let mut builder = BlocksBuilder::default();
        (0..rows.len()).for_each(|row| builder.push_row_of(&blocks, row));
        builder
    }

    #[test]
    fn the_smallest_go_until_the_rest_has_room() {
        let mut pools = [pool(800), pool(80)];
        let [a, b] = &mut pools;
        let mut folder = Folder::new(Some(100_000));
        folder.look(&mut [a, b]);
        assert_eq!((folder.up_to_bytes, folder.is_full), (1 << 15, false));
        assert_eq!(pools.map(|pool| (pool.sizes().len(), pool.folding().unwrap().blocks())), [(100, 700), (10, 70)]);
    }

    #[test]
    fn without_a_limit_nothing_goes_and_with_none_left_it_is_said() {
        let mut all = pool(800);
        Folder::new(None).look(&mut [&mut all]);
        assert_eq!(all.sizes().len(), 800);
        let mut folder = Folder::new(Some(0));
        let mut many = pool(5000);
        folder.look(&mut [&mut many]);
        assert!(folder.is_full && many.sizes().is_empty());
    }

    #[test]
    fn texts_have_room_up_to_the_first_that_has_none() {
        let mut room = TextRoom::new(Some(300));
        assert_eq!([room.takes(b"abc"), room.takes(&[b'x'; 100]), room.takes(b"d")], [true, false, false]);
        assert!(TextRoom::new(None).takes(&[b'x'; 1000]));
    }
}
