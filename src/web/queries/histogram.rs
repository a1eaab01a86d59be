//! How large the blocks of a device are and how long they live.

use crate::timeline::blocks::OPEN;
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
    /// All blocks of a device by size and by lifetime.
    pub fn histograms(&self, capture: u32, device: u32) -> Result<Ts<HistogramAnswer>, JsError> {
        let blocks = &self.device(capture, device)?.0.blocks;
        let told =
            |bins: Vec<Bin>| bins.into_iter().map(|bin| BinSummary { up_to: bin.up_to as f64, blocks: bin.blocks as u32, bytes: bin.bytes as f64 }).collect();
        let answer = HistogramAnswer {
            sizes: told(histogram::sizes(blocks)),
            lifetimes: told(histogram::lifetimes(blocks)),
            open_blocks: blocks.end_ns.iter().filter(|&&end| end == OPEN).count() as u32,
            open_bytes: live::bytes_of(blocks, &live::at_the_end(blocks)) as f64,
        };
        Ok(answer.into_ts()?)
    }
}
