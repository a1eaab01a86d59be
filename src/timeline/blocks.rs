//! Blocks of memory as struct-of-arrays: one entry a block in every column, names and streams interned.

use super::folded::{Folded, FoldedBlock, Folding};
use rustc_hash::FxHashMap;

/// `end_ns` of a block that was not released within the capture: later than every instant.
pub const OPEN: i64 = i64::MAX;
/// A figure or an instant that the capture does not give.
pub const UNKNOWN: i64 = i64::MIN;

/// What a profiler reported of the whole pool at an event; `UNKNOWN` where it did not.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Totals {
    /// Allocated by the framework, this event included.
    pub allocated_bytes: Vec<i64>,
    /// Held by the allocator.
    pub reserved_bytes: Vec<i64>,
    /// Allocated, or freed but still held by another stream.
    pub active_bytes: Vec<i64>,
    /// How far `allocated_bytes` may be off, in thousandths of a byte: it was printed with few digits.
    pub tolerance_millibytes: Vec<u32>,
}

/// The totals of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    /// See [`Totals`].
    pub allocated_bytes: i64,
    /// See [`Totals`].
    pub reserved_bytes: i64,
    /// See [`Totals`].
    pub active_bytes: i64,
    /// See [`Totals`].
    pub tolerance_millibytes: u32,
}

impl Total {
    /// An event of which nothing was reported.
    pub const UNKNOWN: Total = Total { allocated_bytes: UNKNOWN, reserved_bytes: UNKNOWN, active_bytes: UNKNOWN, tolerance_millibytes: 0 };
}

impl Totals {
    /// Adds an event.
    pub fn push(&mut self, total: Total) {
        self.allocated_bytes.push(total.allocated_bytes);
        self.reserved_bytes.push(total.reserved_bytes);
        self.active_bytes.push(total.active_bytes);
        self.tolerance_millibytes.push(total.tolerance_millibytes);
    }

    fn reserve(&mut self, events: usize) {
        for column in [&mut self.allocated_bytes, &mut self.reserved_bytes, &mut self.active_bytes] {
            column.reserve_exact(events);
        }
        self.tolerance_millibytes.reserve_exact(events);
    }

    fn retain(&mut self, keep: &[bool]) {
        for column in [&mut self.allocated_bytes, &mut self.reserved_bytes, &mut self.active_bytes] {
            retain(column, keep);
        }
        retain(&mut self.tolerance_millibytes, keep);
    }

    /// The totals of event `index`.
    pub fn get(&self, index: usize) -> Total {
        Total {
            allocated_bytes: self.allocated_bytes[index],
            reserved_bytes: self.reserved_bytes[index],
            active_bytes: self.active_bytes[index],
            tolerance_millibytes: self.tolerance_millibytes[index],
        }
    }
}

/// The blocks of one pool of one device.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// The operators, by number; "" where a row names none.
    pub names: Vec<String>,
    /// The streams, by number.
    pub streams: Vec<String>,
    /// The operator that asked for the block.
    pub name: Vec<u32>,
    /// The stream it was allocated on.
    pub stream: Vec<u32>,
    /// Its size, more than 0.
    pub size_bytes: Vec<i64>,
    /// When it was allocated.
    pub start_ns: Vec<i64>,
    /// When it was freed; [`OPEN`] when it was not.
    pub end_ns: Vec<i64>,
    /// When it was back in the pool; [`UNKNOWN`] when that was not recorded.
    pub active_end_ns: Vec<i64>,
    /// The line of the file it was read from.
    pub line: Vec<u32>,
    /// The pool's totals after its allocation.
    pub at_start: Totals,
    /// The pool's totals after its release.
    pub at_end: Totals,
    /// Releases of memory that was allocated before the capture.
    pub freed: Freed,
    /// Those that were too small to be kept; `None` where every block is in the columns.
    pub folded: Option<Box<Folded>>,
}

/// Releases without a captured allocation.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Freed {
    /// When.
    pub time_ns: Vec<i64>,
    /// How much.
    pub size_bytes: Vec<i64>,
    /// The pool's totals after it.
    pub totals: Totals,
}

/// One block on its way into the columns.
pub struct Block {
    /// The operator: see [`BlocksBuilder::name`].
    pub name: u32,
    /// The stream: see [`BlocksBuilder::stream`].
    pub stream: u32,
    /// See [`Blocks`].
    pub size_bytes: i64,
    /// See [`Blocks`].
    pub start_ns: i64,
    /// See [`Blocks`].
    pub end_ns: i64,
    /// See [`Blocks`].
    pub active_end_ns: i64,
    /// See [`Blocks`].
    pub line: u32,
    /// See [`Blocks`].
    pub at_start: Total,
    /// See [`Blocks`].
    pub at_end: Total,
}

impl Blocks {
    /// How many blocks there are.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// How many blocks there are, folded ones too.
    pub fn count(&self) -> u64 {
        self.len() as u64 + self.folded.as_ref().map_or(0, |folded| folded.blocks)
    }

    /// The operator of a block, as people read it.
    pub fn operator(&self, block: usize) -> &str {
        operator_label(&self.names[self.name[block] as usize])
    }

    /// How many rows stand there once more. Two allocations of one instant cannot report the same total, for each adds its size.
    pub fn doubled(&self) -> u64 {
        let key =
            |i: usize| (self.start_ns[i], self.at_start.allocated_bytes[i], self.size_bytes[i], self.name[i], self.end_ns[i], self.at_end.allocated_bytes[i]);
        let mut keys: Vec<_> = (0..self.len()).map(key).filter(|key| key.1 != UNKNOWN).collect();
        keys.sort_unstable();
        keys.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64
    }

    /// The latest instant of these blocks; `UNKNOWN` when there is none.
    pub fn last_ns(&self) -> i64 {
        let ends = self.end_ns.iter().copied().filter(|&end| end != OPEN);
        let times = self.start_ns.iter().chain(&self.active_end_ns).chain(&self.freed.time_ns).copied();
        ends.chain(times).chain(self.folded.iter().map(|folded| folded.last_ns)).max().unwrap_or(UNKNOWN)
    }

    /// The earliest instant of these blocks; `OPEN` when there is none.
    pub fn first_ns(&self) -> i64 {
        self.start_ns.iter().chain(&self.freed.time_ns).copied().chain(self.folded.iter().map(|folded| folded.first_ns)).min().unwrap_or(OPEN)
    }
}

/// The name that a row without one gets.
pub fn operator_label(name: &str) -> &str {
    if name.is_empty() { "(unattributed)" } else { name }
}

/// Fills the columns of a pool.
#[derive(Debug, Default)]
pub struct BlocksBuilder {
    blocks: Blocks,
    names: Interner,
    streams: Interner,
    folding: Option<Folding>,
}

fn retain<T>(column: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    column.retain(|_| keep.next() == Some(&true));
}

impl BlocksBuilder {
    /// Makes room for so many more blocks.
    pub fn reserve(&mut self, blocks: usize) {
        let columns = &mut self.blocks;
        for column in [&mut columns.name, &mut columns.stream, &mut columns.line] {
            column.reserve_exact(blocks);
        }
        for column in [&mut columns.size_bytes, &mut columns.start_ns, &mut columns.end_ns, &mut columns.active_end_ns] {
            column.reserve_exact(blocks);
        }
        columns.at_start.reserve(blocks);
        columns.at_end.reserve(blocks);
    }

    /// The number of an operator, "" for none.
    pub fn name(&mut self, name: &str) -> u32 {
        self.names.number(name)
    }

    /// The number of a stream.
    pub fn stream(&mut self, stream: &str) -> u32 {
        self.streams.number(stream)
    }

    /// Adds a block.
    pub fn push(&mut self, block: &Block) {
        if let Some(folding) = &mut self.folding {
            let place = folding.next;
            folding.next += 1;
            if folding.takes(block.size_bytes) {
                let Block { name, size_bytes, start_ns, end_ns, active_end_ns, at_start, at_end, .. } = *block;
                let is_unnamed = self.names.texts[name as usize].is_empty();
                return folding.fold(&FoldedBlock { size_bytes, start_ns, end_ns, active_end_ns, is_unnamed, at_start, at_end, place });
            }
            folding.places.push(place);
        }
        let columns = &mut self.blocks;
        columns.name.push(block.name);
        columns.stream.push(block.stream);
        columns.size_bytes.push(block.size_bytes);
        columns.start_ns.push(block.start_ns);
        columns.end_ns.push(block.end_ns);
        columns.active_end_ns.push(block.active_end_ns);
        columns.line.push(block.line);
        columns.at_start.push(block.at_start);
        columns.at_end.push(block.at_end);
    }

    /// Adds a release of memory from before the capture.
    pub fn push_freed(&mut self, time_ns: i64, size_bytes: i64, total: Total) {
        self.blocks.freed.time_ns.push(time_ns);
        self.blocks.freed.size_bytes.push(size_bytes);
        self.blocks.freed.totals.push(total);
    }

    /// The sizes of the blocks that are in the columns.
    pub fn sizes(&self) -> &[i64] {
        &self.blocks.size_bytes
    }

    /// What is folded so far.
    pub fn folding(&self) -> Option<&Folding> {
        self.folding.as_ref()
    }

    /// Takes the blocks up to a size out of the columns, and those that come from now on.
    pub fn fold(&mut self, up_to_bytes: i64) {
        let columns = &mut self.blocks;
        let folding = self.folding.get_or_insert_with(|| Folding::after(columns.len()));
        folding.raise(up_to_bytes);
        let keep: Vec<bool> = columns.size_bytes.iter().map(|&size| !folding.takes(size)).collect();
        for block in (0..keep.len()).filter(|&block| !keep[block]) {
            folding.fold(&FoldedBlock {
                size_bytes: columns.size_bytes[block],
                start_ns: columns.start_ns[block],
                end_ns: columns.end_ns[block],
                active_end_ns: columns.active_end_ns[block],
                is_unnamed: self.names.texts[columns.name[block] as usize].is_empty(),
                at_start: columns.at_start.get(block),
                at_end: columns.at_end.get(block),
                place: folding.places[block],
            });
        }
        for column in [&mut columns.name, &mut columns.stream, &mut columns.line, &mut folding.places] {
            retain(column, &keep);
        }
        for column in [&mut columns.size_bytes, &mut columns.start_ns, &mut columns.end_ns, &mut columns.active_end_ns] {
            retain(column, &keep);
        }
        columns.at_start.retain(&keep);
        columns.at_end.retain(&keep);
    }

    /// The columns of a pool of which nothing was folded.
    pub fn finish(self) -> Blocks {
        self.finish_folding().0
    }

    /// The columns, and what was folded.
    pub fn finish_folding(self) -> (Blocks, Option<Folding>) {
        (Blocks { names: self.names.texts, streams: self.streams.texts, ..self.blocks }, self.folding)
    }
}

/// Numbers texts in the order in which they first come.
#[derive(Debug, Default)]
pub struct Interner {
    /// By number.
    pub texts: Vec<String>,
    numbers: FxHashMap<Vec<u8>, u32>,
}

impl Interner {
    /// The number of a text.
    pub fn number(&mut self, text: &str) -> u32 {
        self.number_of(text.as_bytes())
    }

    /// The number of a text that has one.
    pub fn known(&self, text: &[u8]) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// The number of a text that is known to be UTF-8.
    pub fn number_of(&mut self, text: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(String::from_utf8_lossy(text).into_owned());
        self.numbers.insert(text.to_vec(), number);
        number
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Blocks of (name, size, start, end) with exact totals over a baseline.
    pub(crate) fn blocks_over(baseline_bytes: i64, rows: &[(&str, i64, i64, i64)]) -> Blocks {
        let total_at = |time: i64| {
            let alive = rows.iter().filter(|row| row.2 <= time && time < row.3).map(|row| row.1).sum::<i64>();
            Total {
                allocated_bytes: baseline_bytes + alive,
                reserved_bytes: baseline_bytes + alive + 100,
                active_bytes: baseline_bytes + alive,
                tolerance_millibytes: 0,
            }
        };
        let mut builder = BlocksBuilder::default();
        for (line, &(name, size_bytes, start_ns, end_ns)) in rows.iter().enumerate() {
            let at_end = if end_ns == OPEN { Total::UNKNOWN } else { total_at(end_ns) };
            let (name, stream) = (builder.name(name), builder.stream("6"));
            builder.push(&Block {
                name,
                stream,
                size_bytes,
                start_ns,
                end_ns,
                active_end_ns: UNKNOWN,
                line: line as u32 + 2,
                at_start: total_at(start_ns),
                at_end,
            });
        }
        builder.finish()
    }

    impl BlocksBuilder {
        /// Adds a block of another pool.
        pub(crate) fn push_row_of(&mut self, of: &Blocks, row: usize) {
            let (name, stream) = (self.name(&of.names[of.name[row] as usize]), self.stream(&of.streams[of.stream[row] as usize]));
            self.push(&Block {
                name,
                stream,
                size_bytes: of.size_bytes[row],
                start_ns: of.start_ns[row],
                end_ns: of.end_ns[row],
                active_end_ns: of.active_end_ns[row],
                line: of.line[row],
                at_start: of.at_start.get(row),
                at_end: of.at_end.get(row),
            });
        }
    }

    #[test]
    fn names_are_interned_and_empty_ones_have_a_label() {
        let blocks = blocks_over(0, &[("a", 1, 0, 5), ("", 1, 1, OPEN), ("a", 1, 2, 9)]);
        assert_eq!(blocks.names, ["a", ""]);
        assert_eq!(blocks.name, [0, 1, 0]);
        assert_eq!(blocks.operator(1), "(unattributed)");
    }

    #[test]
    fn first_and_last_instants() {
        let blocks = blocks_over(0, &[("a", 1, 3, 5), ("b", 1, 4, OPEN)]);
        assert_eq!((blocks.first_ns(), blocks.last_ns()), (3, 5));
        assert_eq!((Blocks::default().first_ns(), Blocks::default().last_ns()), (OPEN, UNKNOWN));
    }
}
