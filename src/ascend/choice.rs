//! Some blocks of a device: those that pass a filter. Tables and charts that are narrowed by it count these blocks only.

use super::capture::Device;
use super::grouping::{headline, stack_of};
use super::trace_view::{NONE, frames};
use crate::timeline::blocks::{Blocks, OPEN};
use crate::timeline::live::size_class_bytes;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What a block must be; what is not given is not asked for. Everything that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(default)]
pub struct BlockFilter {
    /// Made by this operator; empty: by one without a name.
    pub operator: Option<String>,
    /// This is the frame by which its stack is known; empty: it has no stack.
    pub user_frame: Option<String>,
    /// Operator or a frame of the stack contains this text; case does not matter.
    pub text: Option<String>,
    /// On this stream.
    pub stream: Option<String>,
    /// At least so large.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "number"))]
    pub min_bytes: Option<i64>,
    /// At most so large.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "number"))]
    pub max_bytes: Option<i64>,
    /// Of this size class.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "number"))]
    pub size_class_bytes: Option<i64>,
    /// Lives at least so long; one that was not released, to the capture's end.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "number"))]
    pub min_lifetime_ns: Option<i64>,
    /// Lives at most so long.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "number"))]
    pub max_lifetime_ns: Option<i64>,
    /// Alive at this instant, counted from the capture's first event.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "number"))]
    pub alive_at_ns: Option<i64>,
    /// Not released within the capture.
    pub unreleased: bool,
}

impl BlockFilter {
    /// Whether every block passes.
    pub fn is_all(&self) -> bool {
        *self == BlockFilter::default()
    }
}

/// The instants by which a filter counts.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// The capture's first event.
    pub first_ns: i64,
    /// The capture's end.
    pub end_ns: i64,
}

/// The blocks that pass a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// For each block.
    pub takes: Vec<bool>,
    /// How many.
    pub blocks: usize,
    /// Their sizes together.
    pub bytes: i64,
}

impl Choice {
    /// Those of a device. `nearest` gives blocks without a stack a guessed one, see [`super::grouping::Grouping::of`].
    pub fn of(device: &Device, filter: &BlockFilter, nearest: bool, clock: Clock) -> Choice {
        let blocks = &device.blocks;
        let test = Test::new(device, filter, nearest, clock);
        let takes: Vec<bool> = (0..blocks.len()).into_par_iter().map(|block| test.takes(block)).collect();
        let chosen = || takes.iter().zip(&blocks.size_bytes).filter(|(takes, _)| **takes);
        let bytes = chosen().fold(0, |sum: i64, (_, &bytes)| sum.saturating_add(bytes));
        Choice { blocks: chosen().count(), bytes, takes }
    }

    /// Keeps those of a list that pass.
    pub fn retain(&self, blocks: &mut Vec<u32>) {
        blocks.retain(|&block| self.takes[block as usize]);
    }
}

/// A filter with its texts looked up: a block is then tested by numbers.
struct Test<'a> {
    device: &'a Device,
    filter: &'a BlockFilter,
    nearest: bool,
    clock: Clock,
    /// For each name and each stack, whether it has the text; `None`: no text is asked for.
    text: Option<(Vec<bool>, Vec<bool>)>,
    /// For each name, each stream and each stack, whether it is the one that is asked for.
    operator: Option<Vec<bool>>,
    stream: Option<Vec<bool>>,
    user_frame: Option<Vec<bool>>,
}

impl<'a> Test<'a> {
    fn new(device: &'a Device, filter: &'a BlockFilter, nearest: bool, clock: Clock) -> Test<'a> {
        let Blocks { names, streams, .. } = &device.blocks;
        let stacks = device.stacks.as_ref().map_or(&[][..], |stacks| &stacks.texts);
        let same = |all: &[String], wanted: &Option<String>| wanted.as_ref().map(|wanted| all.iter().map(|text| text == wanted).collect());
        let text = filter.text.as_deref().map(str::to_lowercase);
        let contains = |text: &str, wanted: &str| text.to_lowercase().contains(wanted);
        Test {
            text: text.map(|wanted| {
                let in_name = names.iter().map(|name| contains(name, &wanted)).collect();
                (in_name, stacks.par_iter().map(|stack| frames(stack).any(|frame| contains(frame, &wanted))).collect())
            }),
            operator: same(names, &filter.operator),
            stream: same(streams, &filter.stream),
            user_frame: filter.user_frame.as_ref().map(|wanted| stacks.iter().map(|stack| headline(stack) == wanted).collect()),
            device,
            filter,
            nearest,
            clock,
        }
    }

    fn takes(&self, block: usize) -> bool {
        let (blocks, filter) = (&self.device.blocks, self.filter);
        let stack = || self.device.stacks.as_ref().map_or(NONE, |stacks| stack_of(stacks, block, self.nearest)) as usize;
        let size = blocks.size_bytes[block];
        let (start, end) = (blocks.start_ns[block], blocks.end_ns[block]);
        let lifetime = || self.device.lifetime_ns(block, self.clock.end_ns);
        let at_ns = filter.alive_at_ns.map(|ns| self.clock.first_ns.saturating_add(ns));
        let has = |of: &Option<Vec<bool>>, number: u32| of.as_ref().is_none_or(|takes| takes[number as usize]);
        (!filter.unreleased || end == OPEN)
            && at_ns.is_none_or(|at| start <= at && at < end)
            && filter.min_bytes.is_none_or(|least| size >= least)
            && filter.max_bytes.is_none_or(|most| size <= most)
            && filter.size_class_bytes.is_none_or(|class| size_class_bytes(size) == class)
            && filter.min_lifetime_ns.is_none_or(|least| lifetime() >= least)
            && filter.max_lifetime_ns.is_none_or(|most| lifetime() <= most)
            && has(&self.operator, blocks.name[block])
            && has(&self.stream, blocks.stream[block])
            && self.user_frame.as_ref().is_none_or(|takes| takes.get(stack()).copied().unwrap_or(filter.user_frame.as_deref() == Some("")))
            && self.text.as_ref().is_none_or(|(names, stacks)| names[blocks.name[block] as usize] || stacks.get(stack()).copied().unwrap_or(false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::operator_memory::Pool;
    use super::super::stacks::{Reason, Stacks};
    use super::*;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;

    fn device() -> Device {
        let blocks = blocks_over(0, &[("aten::mm", 600, 10, 19), ("", 512, 10, OPEN), ("aten::add", 2000, 15, 40)]);
        let stacks = Stacks {
            texts: vec!["torch/nn.py(9): linear;model.py(1): Forward".to_owned(), "train.py(3): step".to_owned()],
            of_block: vec![0, NONE, 1],
            reasons: vec![Reason::Own; 3],
            nearest: vec![0, 1, 1],
        };
        Device { device: "NPU:0".to_owned(), pool: Pool::Pta, replay: Replay::of(&blocks), blocks, stacks: Some(stacks) }
    }

    fn chosen(filter: &BlockFilter, nearest: bool) -> Vec<u32> {
        let choice = Choice::of(&device(), filter, nearest, Clock { first_ns: 10, end_ns: 40 });
        let mut all = vec![0, 1, 2];
        choice.retain(&mut all);
        let bytes = all.iter().map(|&block| device().blocks.size_bytes[block as usize]).sum();
        assert_eq!((choice.blocks, choice.bytes), (all.len(), bytes));
        all
    }

    #[test]
    fn each_condition_alone() {
        let text = |text: &str| Some(text.to_owned());
        let none = BlockFilter::default();
        let cases: [(BlockFilter, &[u32]); 13] = [
            (none.clone(), &[0, 1, 2]),
            (BlockFilter { operator: text("aten::mm"), ..none.clone() }, &[0]),
            (BlockFilter { operator: text(""), ..none.clone() }, &[1]),
            (BlockFilter { user_frame: text("model.py(1): Forward"), ..none.clone() }, &[0]),
            (BlockFilter { user_frame: text(""), ..none.clone() }, &[1]),
            (BlockFilter { text: text("FORWARD"), ..none.clone() }, &[0]),
            (BlockFilter { text: text("aten::"), ..none.clone() }, &[0, 2]),
            (BlockFilter { min_bytes: Some(513), max_bytes: Some(1999), ..none.clone() }, &[0]),
            (BlockFilter { size_class_bytes: Some(2048), ..none.clone() }, &[2]),
            (BlockFilter { min_lifetime_ns: Some(25), max_lifetime_ns: Some(30), ..none.clone() }, &[1, 2]),
            (BlockFilter { alive_at_ns: Some(9), ..none.clone() }, &[1, 2]),
            (BlockFilter { unreleased: true, ..none.clone() }, &[1]),
            (BlockFilter { stream: text("7"), ..none.clone() }, &[]),
        ];
        for (filter, expected) in cases {
            assert_eq!(chosen(&filter, false), expected, "{filter:?}");
        }
        assert!(none.is_all());
    }

    #[test]
    fn conditions_hold_together_and_a_guess_counts_where_it_is_wanted() {
        let filter = BlockFilter { text: Some("train.py".to_owned()), ..BlockFilter::default() };
        assert_eq!(chosen(&filter, false), [2]);
        assert_eq!(chosen(&filter, true), [1, 2]);
        assert_eq!(chosen(&BlockFilter { unreleased: true, ..filter }, true), [1]);
    }

    #[test]
    fn without_a_trace_no_stack_has_any_text() {
        let device = Device { stacks: None, ..device() };
        let clock = Clock { first_ns: 10, end_ns: 40 };
        let count = |filter: BlockFilter| Choice::of(&device, &filter, true, clock).blocks;
        assert_eq!(count(BlockFilter { text: Some("train".to_owned()), ..BlockFilter::default() }), 0);
        assert_eq!(count(BlockFilter { user_frame: Some(String::new()), ..BlockFilter::default() }), 3);
    }
}
