//! The columns of the timeline: an allocator's blocks, with their owners as names.

use super::allocator::{Allocator, Change};
use super::execution::{Execution, outputs_of, temporaries_of};
use crate::timeline::blocks::{Block, Blocks, BlocksBuilder, OPEN, Total, UNKNOWN};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// What is known of the blocks so far.
#[derive(Default)]
struct Pieces<'a> {
    /// By owner, then the block.
    blocks: Vec<(&'a str, Block)>,
    /// Those that are alive, by address.
    open: HashMap<i64, usize>,
    /// Taken back without having been given: when, and how much.
    freed: Vec<(i64, i64, Total)>,
}

/// By the owner of an execution's outputs: when it ended, and the owner of its temporaries.
type Ends = FxHashMap<String, (i64, String)>;

impl Allocator {
    /// The columns of the timeline: blocks with their owners as names. What an execution gave back before it ended was no output.
    pub fn blocks(&self, executions: &[Execution]) -> Blocks {
        let own = executions.iter().filter(|execution| execution.device.is_none() || execution.device == self.device);
        let ends: Ends = own.map(|execution| (outputs_of(execution), (execution.end_ps, temporaries_of(execution)))).collect();
        let mut pieces = Pieces::default();
        let mut last_ns = i64::MIN;
        for (line, change) in self.changes.iter().enumerate() {
            // Two events within one nanosecond would lose their order.
            let time_ns = change.time_ps.div_euclid(1000).max(last_ns.saturating_add(1));
            last_ns = time_ns;
            let total = Total { allocated_bytes: change.allocated_bytes, reserved_bytes: self.capacity_bytes, active_bytes: UNKNOWN, tolerance_millibytes: 0 };
            if let Some(owner) = change.owner {
                let line = u32::try_from(line + 1).unwrap_or(u32::MAX);
                pieces.begin(&self.owners[owner as usize], change, line, time_ns, total);
            } else {
                pieces.end(&ends, change, time_ns, total);
            }
        }
        pieces.finish()
    }
}

impl<'a> Pieces<'a> {
    fn begin(&mut self, owner: &'a str, change: &Change, line: u32, time_ns: i64, total: Total) {
        self.open.insert(change.address, self.blocks.len());
        let block = Block {
            name: 0,
            stream: 0,
            size_bytes: change.bytes,
            start_ns: time_ns,
            end_ns: OPEN,
            active_end_ns: UNKNOWN,
            line,
            at_start: total,
            at_end: Total::UNKNOWN,
        };
        self.blocks.push((owner, block));
    }

    fn end(&mut self, ends: &'a Ends, change: &Change, time_ns: i64, total: Total) {
        let Some(open) = self.open.remove(&change.address) else { return self.freed.push((time_ns, change.bytes, total)) };
        let (owner, block) = &mut self.blocks[open];
        (block.end_ns, block.at_end) = (time_ns, total);
        if let Some((_, temporaries)) = ends.get(*owner).filter(|(end_ps, _)| change.time_ps <= *end_ps) {
            *owner = temporaries;
        }
    }

    fn finish(self) -> Blocks {
        let mut builder = BlocksBuilder::default();
        for (owner, block) in self.blocks.into_iter().filter(|(_, block)| block.size_bytes > 0) {
            let (name, stream) = (builder.name(owner), builder.stream(""));
            builder.push(&Block { name, stream, ..block });
        }
        self.freed.into_iter().for_each(|(time_ns, bytes, total)| builder.push_freed(time_ns, bytes, total));
        builder.finish()
    }
}
