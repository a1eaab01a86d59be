//! How large the blocks of a device are and how long they live.

use super::rows::GroupedRequest;
use crate::timeline::histogram::{self, Bin};
use crate::timeline::live;
use crate::web::engine::Engine;
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// Both histograms.
#[derive(Tsify, Serialize)]
pub struct HistogramAnswer {
    /// By size, powers of two.
    pub sizes: Vec<BinSummary>,
    /// By lifetime, powers of ten; without what was not released.
    pub lifetimes: Vec<BinSummary>,
    pub open_blocks: u32,
    pub open_bytes: f64,
}

/// One class.
#[derive(Tsify, Serialize)]
pub struct BinSummary {
    /// The largest value in it: bytes or nanoseconds.
    pub up_to: f64,
    pub blocks: u32,
    pub bytes: f64,
}

#[wasm_bindgen]
impl Engine {
    /// The blocks that pass the filter by size and by lifetime. `by` and `limit` are of no matter.
    pub fn histograms(&self, request: Ts<GroupedRequest>) -> Result<Ts<HistogramAnswer>, JsError> {
        let GroupedRequest { capture, device, nearest, filter, .. } = request.to_rust()?;
        let choice = self.choice((capture, device), nearest, &filter)?;
        let takes = |block: usize| choice.as_ref().is_none_or(|choice| choice.takes[block]);
        let blocks = &self.device(capture, device)?.0.blocks;
        let mut open = live::at_the_end(blocks);
        open.retain(|&block| takes(block as usize));
        // Nothing is known of folded blocks that a filter could go by, and of their lifetimes only the sum.
        let folded = blocks.folded.as_deref().filter(|folded| choice.is_none() && folded.blocks > 0);
        let mut sizes = histogram::sizes(blocks, takes);
        sizes.splice(0..0, folded.map(|folded| Bin { up_to: folded.up_to_bytes, blocks: folded.blocks, bytes: folded.bytes }));
        let kept = live::bytes_of(blocks, &open);
        let told =
            |bins: Vec<Bin>| bins.into_iter().map(|bin| BinSummary { up_to: bin.up_to as f64, blocks: bin.blocks as u32, bytes: bin.bytes as f64 }).collect();
        let answer = HistogramAnswer {
            sizes: told(sizes),
            lifetimes: told(histogram::lifetimes(blocks, takes)),
            open_blocks: open.len() as u32 + folded.map_or(0, |folded| folded.open_blocks as u32),
            open_bytes: kept.saturating_add(folded.map_or(0, |folded| folded.open_bytes)) as f64,
        };
        Ok(answer.into_ts()?)
    }
}
