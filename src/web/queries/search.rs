//! Search over operators and frames.

use crate::ascend::grouping::stack_of;
use crate::ascend::trace_view::frames;
use crate::timeline::blocks::{Blocks, operator_label};
use crate::web::engine::Engine;
use js_sys::Uint32Array;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// What is looked for, and how many pixels the strip has on which the hits are marked.
#[derive(Tsify, Deserialize)]
pub struct SearchRequest {
    pub capture: u32,
    pub device: u32,
    pub text: String,
    pub nearest: bool,
    pub width_px: u32,
    /// So many operators and frames are told at most.
    pub limit: u32,
}

/// What was found.
#[derive(Tsify, Serialize)]
pub struct SearchAnswer {
    pub text: String,
    /// Those with most bytes first.
    pub hits: Vec<Hit>,
    /// How many operators and frames were found.
    pub found: u32,
    /// The blocks of all of them.
    pub blocks: u32,
    pub bytes: f64,
    /// How many of them begin in each column of the strip, over the whole capture.
    #[serde(with = "serde_wasm_bindgen::preserve")]
    #[tsify(type = "Uint32Array")]
    pub marks: Uint32Array,
}

/// An operator or a frame.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct Hit {
    pub text: String,
    /// The operator's lane; None of a frame.
    pub lane: Option<u32>,
    pub blocks: u32,
    pub bytes: f64,
    /// The largest block of it.
    pub largest: u32,
}

/// What a name or a frame gathers.
struct Found<'a> {
    text: &'a str,
    name: Option<u32>,
    blocks: u64,
    bytes: i64,
    largest: u32,
}

impl Found<'_> {
    fn add(&mut self, blocks: &Blocks, block: u32) {
        let bytes = blocks.size_bytes[block as usize];
        if self.blocks == 0 || bytes > blocks.size_bytes[self.largest as usize] {
            self.largest = block;
        }
        self.blocks += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

#[wasm_bindgen]
impl Engine {
    /// The operators and frames that hold a text, whatever its case.
    pub fn search(&self, request: Ts<SearchRequest>) -> Result<Ts<SearchAnswer>, JsError> {
        let SearchRequest { capture, device, text, nearest, width_px, limit } = request.to_rust()?;
        let end_ns = self.capture(capture)?.capture.end_ns;
        let (device, opened) = self.device(capture, device)?;
        let blocks = &device.blocks;
        let wanted = text.to_lowercase();
        let holds = |text: &str| !wanted.is_empty() && text.to_lowercase().contains(&wanted);

        let mut found: Vec<Found> = Vec::new();
        let mut gather = |text, name| {
            found.push(Found { text, name, blocks: 0, bytes: 0, largest: 0 });
            found.len() - 1
        };
        let of_name: Vec<Option<usize>> =
            (0..).zip(&blocks.names).map(|(number, name)| holds(operator_label(name)).then(|| gather(operator_label(name), Some(number)))).collect();
        let mut of_frame: HashMap<&str, usize> = HashMap::new();
        let texts = device.stacks.as_ref().map(|stacks| &stacks.texts[..]).unwrap_or_default();
        let of_stack: Vec<Vec<usize>> = texts
            .iter()
            .map(|stack| {
                let mut hits: Vec<usize> =
                    frames(stack).filter(|frame| holds(frame)).map(|frame| *of_frame.entry(frame).or_insert_with(|| gather(frame, None))).collect();
                // A frame that calls itself holds a block once.
                hits.sort_unstable();
                hits.dedup();
                hits
            })
            .collect();

        let width = width_px.max(1) as usize;
        let span = (end_ns.saturating_sub(opened.base_ns)).max(1) as f64;
        let mut marks = vec![0u32; width];
        let (mut all_blocks, mut all_bytes) = (0u32, 0i64);
        for block in 0..blocks.len() {
            let stack = device.stacks.as_ref().map(|stacks| stack_of(stacks, block, nearest) as usize);
            let by_stack = stack.and_then(|stack| of_stack.get(stack)).map(|hits| &hits[..]).unwrap_or_default();
            let by_name = of_name[blocks.name[block] as usize];
            if by_name.is_none() && by_stack.is_empty() {
                continue;
            }
            by_name.iter().chain(by_stack).for_each(|&hit| found[hit].add(blocks, block as u32));
            all_blocks += 1;
            all_bytes = all_bytes.saturating_add(blocks.size_bytes[block]);
            let column = opened.relative(blocks.start_ns[block]) / span * width as f64;
            marks[(column as usize).min(width - 1)] += 1;
        }
        found.retain(|each| each.blocks > 0);
        found.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.text.cmp(b.text)));
        let count = found.len() as u32;
        let hits = found.into_iter().take(limit as usize).map(|each| Hit {
            text: each.text.to_owned(),
            lane: each.name.map(|name| opened.lane_of[name as usize]),
            blocks: each.blocks as u32,
            bytes: each.bytes as f64,
            largest: each.largest,
        });
        let hits = hits.collect();
        Ok(SearchAnswer { text, hits, found: count, blocks: all_blocks, bytes: all_bytes as f64, marks: Uint32Array::from(&marks[..]) }.into_ts()?)
    }
}
