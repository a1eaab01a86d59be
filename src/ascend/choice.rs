//! Some blocks of a device: those that pass a filter. Tables and charts that are narrowed by it count these blocks only.

use super::capture::Device;
use super::grouping::{NO_FRAME, frame_numbers, stack_of};
use super::trace_view::{NONE, frames};
use crate::timeline::blocks::OPEN;
use crate::timeline::live::size_class_bytes;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// What a block must be; what is not given is not asked for. Everything that is given must hold. Operators, streams, frames and stacks
/// go by their numbers in the device's groupings ([`super::grouping`]), so that a filter can be kept without a word of the capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(default)]
pub struct BlockFilter {
    /// Made by this operator.
    pub operator: Option<u32>,
    /// This is the frame by which its stack is known.
    pub user_frame: Option<u32>,
    /// This is its stack, frame by frame; the number after the last one: it has none.
    pub stack: Option<u32>,
    /// Its stack begins like another one.
    pub beneath: Option<Beneath>,
    /// Operator or a frame of the stack contains this text; case does not matter.
    pub text: Option<String>,
    /// On this stream.
    pub stream: Option<u32>,
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

/// The outermost frames of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Beneath {
    /// Its number.
    pub stack: u32,
    /// So many of its frames.
    pub frames: u32,
}

impl Beneath {
    /// The frames, outermost first.
    pub fn of<'a>(&self, stacks: &'a [String]) -> Vec<&'a str> {
        stacks.get(self.stack as usize).map_or(Vec::new(), |text| outermost(text, self.frames))
    }
}

/// So many of a stack's frames, outermost first, or as many as there are.
fn outermost(stack: &str, count: u32) -> Vec<&str> {
    frames(stack).rev().take(count as usize).collect()
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
    /// For each name, whether it has the text.
    names: Vec<bool>,
    /// For each stack, whether it has the text; whether it is one that is asked for. The last is for blocks without one.
    texts: Vec<bool>,
    stacks: Option<Vec<bool>>,
}

impl<'a> Test<'a> {
    fn new(device: &'a Device, filter: &'a BlockFilter, nearest: bool, clock: Clock) -> Test<'a> {
        let text = filter.text.as_deref().map(str::to_lowercase);
        let contains = |text: &str, wanted: &str| text.to_lowercase().contains(wanted);
        let stacks = device.stacks.as_ref().map_or(&[][..], |stacks| &stacks.texts);
        let (names, texts) = text.map_or_else(Default::default, |wanted| {
            let in_name = device.blocks.names.iter().map(|name| contains(name, &wanted)).collect();
            (in_name, stacks.par_iter().map(|stack| frames(stack).any(|frame| contains(frame, &wanted))).collect())
        });
        Test { stacks: wanted_stacks(device, filter), names, texts, device, filter, nearest, clock }
    }

    fn takes(&self, block: usize) -> bool {
        let (blocks, filter) = (&self.device.blocks, self.filter);
        let stack = || self.device.stacks.as_ref().map_or(NONE, |stacks| stack_of(stacks, block, self.nearest)) as usize;
        let size = blocks.size_bytes[block];
        let (start, end) = (blocks.start_ns[block], blocks.end_ns[block]);
        let lifetime = || self.device.lifetime_ns(block, self.clock.end_ns);
        let at_ns = filter.alive_at_ns.map(|ns| self.clock.first_ns.saturating_add(ns));
        (!filter.unreleased || end == OPEN)
            && at_ns.is_none_or(|at| start <= at && at < end)
            && filter.min_bytes.is_none_or(|least| size >= least)
            && filter.max_bytes.is_none_or(|most| size <= most)
            && filter.size_class_bytes.is_none_or(|class| size_class_bytes(size) == class)
            && filter.min_lifetime_ns.is_none_or(|least| lifetime() >= least)
            && filter.max_lifetime_ns.is_none_or(|most| lifetime() <= most)
            && filter.operator.is_none_or(|operator| blocks.name[block] == operator)
            && filter.stream.is_none_or(|stream| blocks.stream[block] == stream)
            && self.stacks.as_ref().is_none_or(|wanted| wanted.get(stack().min(wanted.len() - 1)).copied().unwrap_or(false))
            && (filter.text.is_none() || self.names[blocks.name[block] as usize] || self.texts.get(stack()).copied().unwrap_or(false))
    }
}

/// For each stack whether it is what frame, stack and callers ask for, and last, whether no stack is; `None`: nothing of that is asked for.
/// Without a trace nothing is known of stacks, and none passes.
fn wanted_stacks(device: &Device, filter: &BlockFilter) -> Option<Vec<bool>> {
    let BlockFilter { user_frame, stack, beneath, .. } = filter;
    if user_frame.is_none() && stack.is_none() && beneath.is_none() {
        return None;
    }
    let Some(stacks) = &device.stacks else { return Some(vec![false]) };
    let mut wanted = vec![true; stacks.texts.len() + 1];
    let mut keep = |takes: &dyn Fn(usize) -> bool| (0..).zip(&mut wanted).for_each(|(number, wanted)| *wanted &= takes(number));
    if let Some(frame) = user_frame {
        let (of_stack, _) = frame_numbers(stacks);
        keep(&|number| of_stack.get(number).copied().unwrap_or(NO_FRAME) == *frame);
    }
    if let Some(stack) = stack {
        keep(&|number| number == *stack as usize);
    }
    if let Some(beneath) = beneath {
        let callers = beneath.of(&stacks.texts);
        let begins = |text: &String| callers.len() == beneath.frames as usize && outermost(text, beneath.frames) == callers;
        keep(&|number| stacks.texts.get(number).is_some_and(begins));
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::super::grouping::{By, Grouping};
    use super::super::operator_memory::Pool;
    use super::super::stacks::{Reason, Stacks};
    use super::*;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;
    use proptest::prelude::*;

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
        let none = BlockFilter::default();
        let text = |text: &str| Some(text.to_owned());
        let cases: [(BlockFilter, &[u32]); 16] = [
            (none.clone(), &[0, 1, 2]),
            (BlockFilter { operator: Some(0), ..none.clone() }, &[0]),
            (BlockFilter { operator: Some(1), ..none.clone() }, &[1]),
            (BlockFilter { user_frame: Some(1), ..none.clone() }, &[0]),
            (BlockFilter { user_frame: Some(0), ..none.clone() }, &[1]),
            (BlockFilter { stack: Some(1), ..none.clone() }, &[2]),
            (BlockFilter { stack: Some(2), ..none.clone() }, &[1]),
            (BlockFilter { beneath: Some(Beneath { stack: 0, frames: 1 }), ..none.clone() }, &[0]),
            (BlockFilter { text: text("FORWARD"), ..none.clone() }, &[0]),
            (BlockFilter { text: text("aten::"), ..none.clone() }, &[0, 2]),
            (BlockFilter { min_bytes: Some(513), max_bytes: Some(1999), ..none.clone() }, &[0]),
            (BlockFilter { size_class_bytes: Some(2048), ..none.clone() }, &[2]),
            (BlockFilter { min_lifetime_ns: Some(25), max_lifetime_ns: Some(30), ..none.clone() }, &[1, 2]),
            (BlockFilter { alive_at_ns: Some(9), ..none.clone() }, &[1, 2]),
            (BlockFilter { unreleased: true, ..none.clone() }, &[1]),
            (BlockFilter { stream: Some(7), ..none.clone() }, &[]),
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
        assert_eq!(chosen(&BlockFilter { stack: Some(1), ..BlockFilter::default() }, true), [1, 2]);
    }

    #[test]
    fn without_a_trace_no_stack_passes() {
        let device = Device { stacks: None, ..device() };
        let clock = Clock { first_ns: 10, end_ns: 40 };
        let count = |filter: BlockFilter| Choice::of(&device, &filter, true, clock).blocks;
        assert_eq!(count(BlockFilter { text: Some("train".to_owned()), ..BlockFilter::default() }), 0);
        assert_eq!(count(BlockFilter { user_frame: Some(0), ..BlockFilter::default() }), 0);
        assert_eq!(count(BlockFilter { stack: Some(0), ..BlockFilter::default() }), 0);
    }

    /// A stack of these, or none.
    const STACKS: [&str; 6] = ["a.py(1): f", "a.py(1): f;main.py(1): m", "b.py(1): g;a.py(1): f;main.py(1): m", "site-packages/l.py(1): x;b.py(1): g", "c", ""];

    /// Some of a filter's parts, by small numbers.
    fn filters() -> impl Strategy<Value = BlockFilter> {
        let part = |most: u32| prop::option::weighted(0.25, 0..most);
        let number = |most: i64| prop::option::weighted(0.2, 0..most);
        let by_name = (part(4), part(5), part(7), prop::option::weighted(0.25, (0u32..6, 0u32..4)), part(3));
        let by_figure = (number(3000), number(3000), number(12), number(60), number(60), number(60), prop::bool::weighted(0.2));
        (by_name, by_figure).prop_map(|((operator, user_frame, stack, beneath, stream), (min, max, class, least, most, at, unreleased))| BlockFilter {
            operator,
            user_frame,
            stack,
            beneath: beneath.map(|(stack, frames)| Beneath { stack, frames }),
            text: None,
            stream,
            min_bytes: min,
            max_bytes: max,
            size_class_bytes: class.map(|power| 512 << (power % 3)),
            min_lifetime_ns: least,
            max_lifetime_ns: most,
            alive_at_ns: at,
            unreleased,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// The numbers of a filter are those of the groupings, whatever is asked for together.
        #[test]
        fn a_choice_equals_a_look_at_every_block(
            rows in prop::collection::vec((0usize..3, 1i64..3000, 0i64..50, 0i64..50, 0usize..7, 0usize..6), 1..40), filter in filters(), nearest in any::<bool>(),
        ) {
            let spans: Vec<_> = rows.iter().map(|&(name, size, start, life, ..)| (["mm", "", "add"][name], size, start, if life > 44 { OPEN } else { start + life })).collect();
            let blocks = blocks_over(0, &spans);
            let number = |nth: usize| if nth < STACKS.len() { nth as u32 } else { NONE };
            let stacks = Stacks {
                texts: STACKS.map(str::to_owned).to_vec(),
                of_block: rows.iter().map(|row| number(row.4)).collect(),
                reasons: vec![Reason::Own; rows.len()],
                nearest: rows.iter().map(|row| number(row.5)).collect(),
            };
            let device = Device { device: "NPU:0".to_owned(), pool: Pool::Pta, replay: Replay::of(&blocks), blocks, stacks: Some(stacks) };
            let clock = Clock { first_ns: 3, end_ns: 70 };
            let key = |by: By, block: usize| Grouping::of(&device, by, nearest).map(|grouping| grouping.key[block]);
            let takes = |block: usize| {
                let (_, size, start, end) = spans[block];
                let life = if end == OPEN { 70 - start } else { end - start };
                let text = key(By::Stack, block).and_then(|stack| STACKS.get(stack as usize)).copied();
                let callers = |Beneath { stack, frames }: Beneath| {
                    let outer = |text: &str| text.split(';').filter(|frame| !frame.is_empty()).rev().take(frames as usize).map(str::to_owned).collect::<Vec<_>>();
                    text.is_some_and(|text| outer(text).len() == frames as usize && outer(text) == outer(STACKS[stack as usize]))
                };
                filter.operator.is_none_or(|wanted| key(By::Operator, block) == Some(wanted))
                    && filter.user_frame.is_none_or(|wanted| key(By::UserFrame, block) == Some(wanted))
                    && filter.stack.is_none_or(|wanted| key(By::Stack, block) == Some(wanted))
                    && filter.stream.is_none_or(|wanted| key(By::Stream, block) == Some(wanted))
                    && filter.beneath.is_none_or(callers)
                    && (filter.min_bytes.unwrap_or(0)..=filter.max_bytes.unwrap_or(i64::MAX)).contains(&size)
                    && filter.size_class_bytes.is_none_or(|class| size <= class && (class == 512 || size > class / 2))
                    && (filter.min_lifetime_ns.unwrap_or(0)..=filter.max_lifetime_ns.unwrap_or(i64::MAX)).contains(&life)
                    && filter.alive_at_ns.is_none_or(|at| start <= at + 3 && at + 3 < end)
                    && (!filter.unreleased || end == OPEN)
            };
            let expected: Vec<bool> = (0..rows.len()).map(takes).collect();
            let found = Choice::of(&device, &filter, nearest, clock);
            prop_assert_eq!(&found.takes, &expected);
            let bytes: i64 = (0..rows.len()).filter(|&block| expected[block]).map(|block| spans[block].1).sum();
            prop_assert_eq!((found.blocks, found.bytes), (expected.iter().filter(|takes| **takes).count(), bytes));
        }
    }
}
