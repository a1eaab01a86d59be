//! Bytes by call stack as a flame graph: what is wide enough to be seen, and every frame's total as a table.

use super::kept::Of;
use super::rows::GroupedRequest;
use crate::ascend::capture::Device;
use crate::ascend::choice::{BlockFilter, Choice};
use crate::ascend::flame::{Flame, FrameTotal, Held};
use crate::ascend::grouping::stack_of;
use crate::timeline::live::{self, Group};
use crate::web::engine::{Engine, OpenedDevice};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// What is counted.
#[derive(Tsify, Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Alive at an instant.
    Live,
    /// Not released within the capture.
    End,
    /// Allocated over the whole capture.
    Volume,
}

/// Which tree, and which part of it. `by` is of no matter; `limit` is for the table.
#[derive(Tsify, Deserialize)]
pub struct FlameRequest {
    #[serde(flatten)]
    pub grouped: GroupedRequest,
    pub measure: Measure,
    /// The instant for what is alive at one.
    pub time_ns: f64,
    /// The frames down to the one that takes the whole width.
    pub zoom: Vec<String>,
    /// Frames that are narrower, as a part of the width, are left out.
    pub least: f64,
    /// Empty: none.
    pub search: String,
}

/// The part of the tree that is wide enough.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct FlameAnswer {
    /// Callers first; the root, and the frames down to the zoomed one, as wide as all.
    pub rects: Vec<FlameRect>,
    /// The texts of frames that `rects` name.
    pub frames: Vec<String>,
    /// How many rectangles the path to the zoomed frame has, the root and itself included.
    pub path: u32,
    pub bytes: f64,
    pub blocks: u32,
    /// Of the bytes, those without a call stack.
    pub without_stack_bytes: f64,
    /// Bytes beneath the frames that were searched for.
    pub found_bytes: f64,
    /// Every frame at and below the zoomed one, the largest first.
    pub table: Vec<FlameRow>,
    /// How many rows the table would have.
    pub count: u32,
}

/// A frame where it is drawn, in parts of the width.
#[derive(Tsify, Serialize)]
pub struct FlameRect {
    pub depth: u32,
    pub from: f64,
    pub width: f64,
    /// A place in `frames`; the root has an empty text, and so have blocks without a stack.
    pub frame: u32,
    /// The rectangle above it, by its place; its own for the root.
    pub parent: u32,
    /// A stack that goes through it, by the number that a filter knows it by.
    pub stack: u32,
    pub bytes: f64,
    pub own_bytes: f64,
    pub blocks: u32,
    pub found: bool,
}

/// All that one frame holds.
#[derive(Tsify, Serialize)]
pub struct FlameRow {
    pub frame: String,
    pub bytes: f64,
    pub own_bytes: f64,
    pub blocks: u32,
}

#[wasm_bindgen]
impl Engine {
    /// A flame graph of a device; null where no trace was read.
    pub fn flame(&self, request: Ts<FlameRequest>) -> Result<JsValue, JsError> {
        let FlameRequest { grouped, measure, time_ns, zoom, least, search } = request.to_rust()?;
        if self.device(grouped.capture, grouped.device)?.0.stacks.is_none() {
            return Ok(JsValue::NULL);
        }
        let flame = self.flame_of(&FlameOf { of: (grouped.capture, grouped.device), measure, time_ns, nearest: grouped.nearest, filter: grouped.filter })?;
        Ok(answer(&flame, &zoom, least, &search, grouped.limit as usize).into_ts()?.into())
    }
}

/// Of what a tree is made; zoom and search look at the same one.
#[derive(Clone, PartialEq)]
pub(super) struct FlameOf {
    pub of: Of,
    pub measure: Measure,
    /// For what is alive at an instant.
    pub time_ns: f64,
    pub nearest: bool,
    pub filter: BlockFilter,
}

impl FlameOf {
    /// `choice`: the blocks that pass the filter, where not all do.
    pub(super) fn make(&self, device: &Device, opened: &OpenedDevice, choice: Option<&Choice>) -> Flame {
        let mut chosen = match self.measure {
            Measure::Live => live::at(&device.blocks, opened.absolute(self.time_ns)),
            Measure::End => live::at_the_end(&device.blocks),
            Measure::Volume => (0..device.blocks.len() as u32).collect(),
        };
        if let Some(choice) = choice {
            choice.retain(&mut chosen);
        }
        let folded = device.blocks.folded.as_deref().filter(|_| choice.is_none()).map(|folded| match self.measure {
            Measure::Live => folded.alive(device.replay.curves.entry_at(opened.absolute(self.time_ns)).unwrap_or(usize::MAX), ()),
            Measure::End => folded.open(()),
            Measure::Volume => Group { key: (), bytes: folded.bytes, blocks: folded.blocks },
        });
        let texts = device.stacks.as_ref().map_or(&[][..], |stacks| &stacks.texts);
        let mut held = held_by_stack(device, &chosen, texts.len(), self.nearest);
        // They are among those without a stack.
        if let Some((without, folded)) = held.last_mut().zip(folded) {
            without.bytes = without.bytes.saturating_add(folded.bytes);
            without.blocks += folded.blocks;
        }
        Flame::of(texts, &held)
    }
}

/// What the blocks of each stack hold; the last is for those without one.
fn held_by_stack(device: &Device, chosen: &[u32], stacks: usize, nearest: bool) -> Vec<Held> {
    let mut held = vec![Held::default(); stacks + 1];
    for &block in chosen {
        let stack = device.stacks.as_ref().map_or(usize::MAX, |stacks| stack_of(stacks, block as usize, nearest) as usize);
        let held = &mut held[stack.min(stacks)];
        held.bytes = held.bytes.saturating_add(device.blocks.size_bytes[block as usize]);
        held.blocks += 1;
    }
    held
}

fn answer(flame: &Flame, zoom: &[String], least: f64, search: &str, limit: usize) -> FlameAnswer {
    let zoomed = flame.find(zoom);
    let placed = flame.layout(zoomed, least);
    let (found, found_bytes) = if search.is_empty() { Default::default() } else { flame.search(search) };
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut frames: Vec<String> = Vec::new();
    let mut places: FxHashMap<u32, u32> = FxHashMap::default();
    let mut rects = Vec::with_capacity(placed.len());
    for (place, placed) in placed.iter().enumerate() {
        let node = &flame.nodes[placed.node as usize];
        let frame = *numbers.entry(node.frame).or_insert_with(|| {
            frames.push(flame.text(placed.node).to_owned());
            frames.len() as u32 - 1
        });
        places.insert(placed.node, place as u32);
        rects.push(FlameRect {
            depth: placed.depth,
            from: placed.from,
            width: placed.width,
            frame,
            parent: places.get(&node.parent).copied().unwrap_or(0),
            stack: node.stack,
            bytes: node.bytes as f64,
            own_bytes: node.own_bytes as f64,
            blocks: node.blocks as u32,
            found: found.contains(&placed.node),
        });
    }
    let totals = flame.totals(zoomed);
    let row = |total: &FrameTotal| FlameRow {
        frame: total.frame.to_owned(),
        bytes: total.bytes as f64,
        own_bytes: total.own_bytes as f64,
        blocks: total.blocks as u32,
    };
    let root = &flame.nodes[0];
    let without = root.children.iter().find(|&&child| flame.text(child).is_empty()).map(|&child| &flame.nodes[child as usize]);
    FlameAnswer {
        path: flame.path(zoomed).len() as u32,
        bytes: root.bytes as f64,
        blocks: root.blocks as u32,
        without_stack_bytes: without.map_or(0.0, |node| node.bytes as f64),
        found_bytes: found_bytes as f64,
        count: totals.len() as u32,
        table: totals.iter().take(limit).map(row).collect(),
        rects,
        frames,
    }
}
