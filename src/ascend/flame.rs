//! Bytes by call stack as a tree, the outermost frame first: what each frame holds together with everything that it calls.

use super::trace_view::frames;
use crate::timeline::blocks::Interner;
use rustc_hash::{FxHashMap, FxHashSet};

/// The root's number.
pub const ROOT: u32 = 0;

/// A frame under the frames that call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// A number of [`Flame::frames`].
    pub frame: u32,
    /// A stack that goes through it, by its number; of blocks without one, the number after the last.
    pub stack: u32,
    /// Its caller.
    pub parent: u32,
    /// Held by it and by what it calls.
    pub bytes: i64,
    /// Asked for by it alone.
    pub own_bytes: i64,
    /// How many blocks the bytes are in.
    pub blocks: u64,
    /// What it calls, the largest first.
    pub children: Vec<u32>,
}

/// What blocks of one stack hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Their sizes together.
    pub bytes: i64,
    /// How many.
    pub blocks: u64,
}

/// The tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flame {
    /// The root first, callers before what they call.
    pub nodes: Vec<Node>,
    /// The frames as the trace writes them, each once; the first is empty: that of the root, and of blocks without a stack.
    pub frames: Vec<String>,
}

/// A node where it is drawn, in parts of the whole width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// Its number.
    pub node: u32,
    /// Lines below the root.
    pub depth: u32,
    /// Its left edge.
    pub from: f64,
    /// How wide it is.
    pub width: f64,
}

/// All that one frame holds, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameTotal<'a> {
    /// As the trace writes it; empty: no stack.
    pub frame: &'a str,
    /// Held by it and by what it calls; where it calls itself, counted once.
    pub bytes: i64,
    /// Asked for by it alone.
    pub own_bytes: i64,
    /// How many blocks the bytes are in.
    pub blocks: u64,
}

impl Flame {
    /// From what the blocks of each stack hold; the last of `held` is for those without a stack.
    pub fn of(stacks: &[String], held: &[Held]) -> Flame {
        let new = |frame, stack, parent| Node { frame, stack, parent, bytes: 0, own_bytes: 0, blocks: 0, children: Vec::new() };
        let mut texts = Interner::default();
        let mut nodes = vec![new(texts.number(""), 0, ROOT)];
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (stack, held) in held.iter().enumerate().filter(|(_, held)| held.blocks > 0) {
            let mut path: Vec<&str> = stacks.get(stack).map_or(Vec::new(), |text| frames(text).rev().collect());
            if path.is_empty() {
                path.push("");
            }
            let mut at = ROOT;
            add(&mut nodes[0], *held);
            for frame in path {
                let frame = texts.number(frame);
                let next = *known.entry((at, frame)).or_insert_with(|| {
                    nodes.push(new(frame, stack as u32, at));
                    let number = nodes.len() as u32 - 1;
                    nodes[at as usize].children.push(number);
                    number
                });
                add(&mut nodes[next as usize], *held);
                at = next;
            }
            let leaf = &mut nodes[at as usize];
            leaf.own_bytes = leaf.own_bytes.saturating_add(held.bytes);
        }
        for number in 0..nodes.len() {
            let mut children = std::mem::take(&mut nodes[number].children);
            children.sort_by(|&a, &b| {
                let (a, b) = (&nodes[a as usize], &nodes[b as usize]);
                b.bytes.cmp(&a.bytes).then_with(|| texts.texts[a.frame as usize].cmp(&texts.texts[b.frame as usize]))
            });
            nodes[number].children = children;
        }
        Flame { nodes, frames: texts.texts }
    }

    /// A node's frame; empty for the root, and for blocks without a stack.
    pub fn text(&self, node: u32) -> &str {
        &self.frames[self.nodes[node as usize].frame as usize]
    }

    /// The node that a path of frames leads to, as far as the tree has it.
    pub fn find<S: AsRef<str>>(&self, path: &[S]) -> u32 {
        let mut at = ROOT;
        for frame in path {
            let child = |&&child: &&u32| self.text(child) == frame.as_ref();
            match self.nodes[at as usize].children.iter().find(child) {
                Some(&next) => at = next,
                None => break,
            }
        }
        at
    }

    /// From the root to a node, both included.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let mut path = vec![node];
        while path[path.len() - 1] != ROOT {
            path.push(self.nodes[path[path.len() - 1] as usize].parent);
        }
        path.reverse();
        path
    }

    /// Where the nodes lie when `zoom` takes the whole width, callers first; those narrower than `least` are left out, with what they call.
    pub fn layout(&self, zoom: u32, least: f64) -> Vec<Placed> {
        let mut placed: Vec<Placed> =
            self.path(zoom).into_iter().enumerate().map(|(depth, node)| Placed { node, depth: depth as u32, from: 0.0, width: 1.0 }).collect();
        let all = self.nodes[zoom as usize].bytes.max(1) as f64;
        let mut next = placed.len() - 1;
        while let Some(&Placed { node, depth, from, .. }) = placed.get(next) {
            let mut from = from;
            for &child in &self.nodes[node as usize].children {
                let width = self.nodes[child as usize].bytes as f64 / all;
                // The largest come first: what follows is as narrow.
                if width < least {
                    break;
                }
                placed.push(Placed { node: child, depth: depth + 1, from, width });
                from += width;
            }
            next += 1;
        }
        placed
    }

    /// The nodes whose frame contains a text, whatever its case, and the bytes beneath them, none counted twice.
    pub fn search(&self, text: &str) -> (FxHashSet<u32>, i64) {
        let text = text.to_lowercase();
        let contains: Vec<bool> = self.frames.iter().map(|frame| frame.to_lowercase().contains(&text)).collect();
        let found: FxHashSet<u32> = (1..self.nodes.len() as u32).filter(|&node| contains[self.nodes[node as usize].frame as usize]).collect();
        // Callers come first: beneath a match nothing more is counted.
        let mut beneath = vec![false; self.nodes.len()];
        let mut bytes: i64 = 0;
        for (number, node) in self.nodes.iter().enumerate().skip(1) {
            let counted = beneath[node.parent as usize];
            let matches = found.contains(&(number as u32));
            if matches && !counted {
                bytes = bytes.saturating_add(node.bytes);
            }
            beneath[number] = counted || matches;
        }
        (found, bytes)
    }

    /// Every frame below a node, that itself included, with all that it holds; the largest first.
    pub fn totals(&self, below: u32) -> Vec<FrameTotal<'_>> {
        let mut totals: FxHashMap<u32, FrameTotal> = FxHashMap::default();
        // Callers come first.
        let mut inside = vec![false; self.nodes.len()];
        inside[below as usize] = true;
        for (number, node) in self.nodes.iter().enumerate().skip(below as usize) {
            inside[number] |= inside[node.parent as usize];
            if !inside[number] || number == ROOT as usize {
                continue;
            }
            let total = totals.entry(node.frame).or_insert(FrameTotal { frame: &self.frames[node.frame as usize], bytes: 0, own_bytes: 0, blocks: 0 });
            total.own_bytes = total.own_bytes.saturating_add(node.own_bytes);
            if !self.calls_itself(number as u32, below) {
                total.bytes = total.bytes.saturating_add(node.bytes);
                total.blocks += node.blocks;
            }
        }
        let mut totals: Vec<FrameTotal> = totals.into_values().collect();
        totals.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| b.own_bytes.cmp(&a.own_bytes)).then_with(|| a.frame.cmp(b.frame)));
        totals
    }
}

impl Flame {
    /// Whether a node's frame is among its callers, up to a node above it.
    fn calls_itself(&self, number: u32, up_to: u32) -> bool {
        let frame = self.nodes[number as usize].frame;
        let mut at = number;
        while at != up_to && at != ROOT {
            at = self.nodes[at as usize].parent;
            if at != ROOT && self.nodes[at as usize].frame == frame {
                return true;
            }
        }
        false
    }
}

fn add(node: &mut Node, held: Held) {
    node.bytes = node.bytes.saturating_add(held.bytes);
    node.blocks += held.blocks;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<String> {
        ["mm;f;main", "add;f;main", "mm;g;main", "g;g;main"].map(str::to_owned).to_vec()
    }

    const HELD: [Held; 5] = [
        Held { bytes: 60, blocks: 1 },
        Held { bytes: 20, blocks: 2 },
        Held { bytes: 15, blocks: 1 },
        Held { bytes: 4, blocks: 1 },
        Held { bytes: 1, blocks: 1 },
    ];

    #[test]
    fn frames_hold_what_they_call() {
        let stacks = stacks();
        let flame = Flame::of(&stacks, &HELD);
        let of = |path: &[&str]| {
            let node = &flame.nodes[flame.find(path) as usize];
            (flame.text(flame.find(path)), node.bytes, node.own_bytes, node.blocks)
        };
        assert_eq!(of(&[]), ("", 100, 0, 6));
        assert_eq!(of(&["main"]), ("main", 99, 0, 5));
        assert_eq!(of(&["main", "f", "mm"]), ("mm", 60, 60, 1));
        assert_eq!(of(&["main", "g", "nowhere"]), ("g", 19, 0, 2));
        assert_eq!(of(&[""]), ("", 1, 1, 1));
        let stack = |path: &[&str]| flame.nodes[flame.find(path) as usize].stack;
        assert_eq!((stack(&["main", "g"]), stack(&["main", "g", "g"]), stack(&[""])), (2, 3, 4));
    }

    #[test]
    fn what_is_too_narrow_is_left_out_and_the_zoomed_frame_is_as_wide_as_all() {
        let stacks = stacks();
        let flame = Flame::of(&stacks, &HELD);
        let names = |placed: &[Placed]| placed.iter().map(|placed| flame.text(placed.node)).collect::<Vec<_>>();
        assert_eq!(names(&flame.layout(ROOT, 0.15)), ["", "main", "f", "g", "mm", "add", "mm"]);
        let placed = flame.layout(flame.find(&["main", "f"]), 0.0);
        assert_eq!(names(&placed), ["", "main", "f", "mm", "add"]);
        assert_eq!((placed[4].from, placed[4].width, placed[4].depth), (0.75, 0.25, 3));
        // Children lie within their caller and beside each other.
        for Placed { node, from, width, .. } in flame.layout(ROOT, 0.0) {
            let children: f64 = flame.nodes[node as usize].children.iter().map(|&child| flame.nodes[child as usize].bytes as f64 / 100.0).sum();
            assert!(children <= width + 1e-9 && from + width <= 1.0 + 1e-9);
        }
    }

    #[test]
    fn a_search_counts_nothing_twice() {
        let stacks = stacks();
        let flame = Flame::of(&stacks, &HELD);
        assert_eq!(flame.search("G").1, 19);
        assert_eq!(flame.search("MM").1, 75);
        assert_eq!((flame.search("m").1, flame.search("nowhere").0.len()), (99, 0));
    }

    #[test]
    fn totals_of_frames_wherever_they_stand() {
        let stacks = stacks();
        let flame = Flame::of(&stacks, &HELD);
        let totals: Vec<_> = flame.totals(ROOT).iter().map(|total| (total.frame, total.bytes, total.own_bytes)).collect();
        assert_eq!(totals, [("main", 99, 0), ("f", 80, 0), ("mm", 75, 75), ("add", 20, 20), ("g", 19, 4), ("", 1, 1)]);
        assert_eq!(flame.totals(flame.find(&["main", "g"])).len(), 2);
    }

    #[test]
    fn nothing_is_a_root_alone() {
        let flame = Flame::of(&[], &[Held::default()]);
        assert_eq!((flame.nodes.len(), flame.layout(ROOT, 0.0).len(), flame.totals(ROOT).len()), (1, 1, 0));
    }
}
