//! The ways to group blocks: by operator, call stack, first user frame, stream or size class. Each block gets the number of its group, each
//! group a label, and everything that is counted by group works on these numbers.

use super::capture::Device;
use super::stacks::Stacks;
use super::trace_view::{NONE, first_user_frame, frames};
use crate::timeline::blocks::{Blocks, Interner};
use crate::timeline::live::{self, Group, size_class_bytes};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What blocks of one group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The operator's name.
    Operator,
    /// The whole call stack.
    Stack,
    /// The first frame, from the leaf, that is no library's; the leaf where all are.
    UserFrame,
    /// The stream.
    Stream,
    /// The size, rounded up to a power of two from 512 B.
    SizeClass,
}

/// The group by user frame of blocks without a stack.
pub const NO_FRAME: u32 = 0;

/// The group of every block.
pub struct Grouping<'a> {
    /// What they share.
    pub by: By,
    /// For each block, the number of its group, below the number of labels.
    pub key: Cow<'a, [u32]>,
    /// For each group: the operator ("" for none), the stack as the trace writes it ("" for none), the frame ("" for none), the stream ("" for
    /// none), the class in bytes.
    pub labels: Vec<Cow<'a, str>>,
}

impl<'a> Grouping<'a> {
    /// Groups all blocks of a device; `None` by stacks when no trace was read. `nearest` gives blocks without a stack the guess of
    /// [`Stacks::nearest`].
    pub fn of(device: &'a Device, by: By, nearest: bool) -> Option<Grouping<'a>> {
        let blocks = &device.blocks;
        let texts = |texts: &'a [String]| texts.iter().map(|text| Cow::Borrowed(text.as_str())).collect();
        Some(match by {
            By::Operator => Grouping { by, key: Cow::Borrowed(&blocks.name), labels: texts(&blocks.names) },
            By::Stream => Grouping { by, key: Cow::Borrowed(&blocks.stream), labels: texts(&blocks.streams) },
            By::Stack => by_stack(device.stacks.as_ref()?, nearest),
            By::UserFrame => by_user_frame(device.stacks.as_ref()?, nearest),
            By::SizeClass => by_size_class(blocks),
        })
    }

    /// Puts all blocks that are not taken into one further group, the last; answers its number.
    pub fn set_apart(&mut self, takes: &[bool]) -> u32 {
        let apart = self.labels.len() as u32;
        self.key = self.key.iter().zip(takes).map(|(&key, &takes)| if takes { key } else { apart }).collect();
        self.labels.push(Cow::Borrowed(""));
        apart
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Some blocks by group; bytes descending, then label (size classes: then class).
    pub fn groups(&self, blocks: &Blocks, chosen: &[u32]) -> Vec<Group<u32>> {
        match self.by {
            By::SizeClass => live::by_key(blocks, chosen, &self.key),
            _ => live::by_number(blocks, chosen, &self.key, &self.labels),
        }
    }
}

/// The stack of a block under the switch of [`Grouping::of`], or [`NONE`].
pub fn stack_of(stacks: &Stacks, block: usize, nearest: bool) -> u32 {
    match stacks.of_block[block] {
        NONE if nearest => stacks.nearest[block],
        stack => stack,
    }
}

fn by_stack(stacks: &Stacks, nearest: bool) -> Grouping<'_> {
    let none = stacks.texts.len() as u32;
    let key = (0..stacks.of_block.len()).map(|block| stack_of(stacks, block, nearest).min(none)).collect();
    let labels = stacks.texts.iter().map(String::as_str).chain([""]).map(Cow::Borrowed).collect();
    Grouping { by: By::Stack, key: Cow::Owned(key), labels }
}

fn by_user_frame(stacks: &Stacks, nearest: bool) -> Grouping<'_> {
    let (of_stack, frames) = frame_numbers(stacks);
    let frame = |block: usize| of_stack.get(stack_of(stacks, block, nearest) as usize).copied().unwrap_or(NO_FRAME);
    let key = (0..stacks.of_block.len()).map(frame).collect();
    Grouping { by: By::UserFrame, key: Cow::Owned(key), labels: frames.into_iter().map(Cow::Owned).collect() }
}

/// The number of the frame by which each stack is known, and these frames by number.
pub fn frame_numbers(stacks: &Stacks) -> (Vec<u32>, Vec<String>) {
    let mut frames = Interner::default();
    // The first is that of blocks without a stack: NO_FRAME.
    frames.number("");
    let of_stack = stacks.texts.iter().map(|text| frames.number(headline(text))).collect();
    (of_stack, frames.texts)
}

fn by_size_class(blocks: &Blocks) -> Grouping<'_> {
    let mut classes: Vec<i64> = blocks.size_bytes.iter().map(|&size| size_class_bytes(size)).collect::<HashSet<_>>().into_iter().collect();
    classes.sort_unstable();
    let key = blocks.size_bytes.iter().map(|&size| classes.partition_point(|&class| class < size_class_bytes(size)) as u32).collect();
    Grouping { by: By::SizeClass, key: Cow::Owned(key), labels: classes.iter().map(|class| Cow::Owned(class.to_string())).collect() }
}

/// The frame by which a stack is known: the first user frame, else the leaf.
pub fn headline(stack: &str) -> &str {
    first_user_frame(stack).or_else(|| frames(stack).next()).unwrap_or_default()
}

/// For each of some stacks the frame that tells it from those with the same headline: the one nearest to the leaf that not all of them have.
/// `None` where the headline alone tells them apart.
pub fn distinctions<'a>(stacks: &[&'a str]) -> Vec<Option<&'a str>> {
    let mut alike: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, &stack) in stacks.iter().enumerate() {
        alike.entry(headline(stack)).or_default().push(at);
    }
    let mut found = vec![None; stacks.len()];
    for members in alike.into_values().filter(|members| members.len() > 1) {
        let mut shared: HashSet<&str> = frames(stacks[members[0]]).collect();
        for &member in &members[1..] {
            let of_member: HashSet<&str> = frames(stacks[member]).collect();
            shared.retain(|frame| of_member.contains(frame));
        }
        for member in members {
            found[member] = frames(stacks[member]).find(|frame| !shared.contains(frame)).or_else(|| frames(stacks[member]).next());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::operator_memory::Pool;
    use super::super::stacks::Reason;
    use super::*;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;

    const LIB: &str = "site-packages/torch/nn.py(9): linear";

    fn device() -> Device {
        let blocks = blocks_over(0, &[("mm", 600, 0, 9), ("", 512, 0, 9), ("mm", 2000, 1, 9), ("add", 1, 2, 9)]);
        let texts = [format!("{LIB};\r\nmodel.py(1): f;\r\nmain.py(1): m"), "site-packages/x.py(2): y;\r\nmodel.py(1): f".to_owned(), LIB.to_owned()];
        let stacks = Stacks { texts: texts.into(), of_block: vec![0, NONE, 1, NONE], reasons: vec![Reason::Own; 4], nearest: vec![1, NONE, NONE, 2] };
        Device { device: "NPU:0".to_owned(), pool: Pool::Pta, replay: Replay::of(&blocks), blocks, stacks: Some(stacks) }
    }

    fn labels(by: By, nearest: bool) -> Vec<(String, i64)> {
        let device = device();
        let grouping = Grouping::of(&device, by, nearest).unwrap();
        assert!(!grouping.is_empty() && grouping.key.iter().all(|&key| (key as usize) < grouping.len()));
        let groups = grouping.groups(&device.blocks, &[0, 1, 2, 3]);
        assert_eq!(groups.iter().map(|group| group.bytes).sum::<i64>(), 3113);
        groups.iter().map(|group| (grouping.labels[group.key as usize].to_string(), group.bytes)).collect()
    }

    fn expect(found: Vec<(String, i64)>, expected: &[(&str, i64)]) {
        assert_eq!(found.iter().map(|(label, bytes)| (label.as_str(), *bytes)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_grouping_sums_to_the_same() {
        expect(labels(By::Operator, false), &[("mm", 2600), ("", 512), ("add", 1)]);
        expect(labels(By::UserFrame, false), &[("model.py(1): f", 2600), ("", 513)]);
        expect(labels(By::Stream, false), &[("6", 3113)]);
        expect(labels(By::SizeClass, false), &[("2048", 2000), ("1024", 600), ("512", 513)]);
        assert_eq!(labels(By::Stack, false).iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [2000, 600, 513]);
    }

    #[test]
    fn what_is_set_apart_is_a_group_of_its_own() {
        let device = device();
        let mut grouping = Grouping::of(&device, By::Operator, false).unwrap();
        let before = grouping.len();
        assert_eq!(grouping.set_apart(&[true, false, false, true]) as usize, before);
        let groups = grouping.groups(&device.blocks, &[0, 1, 2, 3]);
        let bytes = |key: u32| groups.iter().find(|group| group.key == key).map(|group| group.bytes);
        assert_eq!((bytes(grouping.key[0]), bytes(before as u32), grouping.len()), (Some(600), Some(2512), before + 1));
    }

    #[test]
    fn the_guess_fills_only_what_has_no_stack() {
        expect(labels(By::UserFrame, true), &[("model.py(1): f", 2600), ("", 512), (LIB, 1)]);
    }

    #[test]
    fn without_a_trace_there_are_no_stacks() {
        let device = Device { stacks: None, ..device() };
        assert!(Grouping::of(&device, By::Stack, false).is_none() && Grouping::of(&device, By::UserFrame, true).is_none());
    }

    #[test]
    fn stacks_of_one_headline_are_told_apart() {
        let stacks = ["a;u;m", "b;u;m", "u;n", "site-packages/l.py(1): x;v"];
        assert_eq!(distinctions(&["site-packages/a;u;m", "site-packages/b;u;m"]), [Some("site-packages/a"), Some("site-packages/b")]);
        assert_eq!(distinctions(&["u;m;x", "u;n;x"]), [Some("m"), Some("n")]);
        assert_eq!(distinctions(&stacks), [None; 4]);
        // A stack that is a part of the other has nothing of its own.
        assert_eq!(distinctions(&["u;m", "u;m;n"]), [Some("u"), Some("n")]);
    }
}
