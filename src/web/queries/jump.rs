//! Where to go: the window with the most, the largest block, the next large allocation, the next block of a lane; all of them among the
//! blocks that pass the filter.

use crate::ascend::choice::BlockFilter;
use crate::ascend::grouping::By;
use crate::timeline::busiest::busiest;
use crate::timeline::lod::{NO_BLOCK, NO_LANE};
use crate::web::derived::{Laid, Only};
use crate::web::engine::Engine;
use serde::Deserialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// Some blocks of a device.
#[derive(Tsify, Deserialize)]
pub struct SomeRequest {
    pub capture: u32,
    pub device: u32,
    /// Blocks without a stack get the one of the last operator of their name: a guess.
    pub nearest: bool,
    #[serde(default)]
    pub filter: BlockFilter,
}

#[wasm_bindgen]
impl Engine {
    /// When the window of a length begins in which most blocks begin; None without blocks.
    pub fn busiest(&self, of: Ts<SomeRequest>, length_ns: f64) -> Result<Option<f64>, JsError> {
        let SomeRequest { capture, device, nearest, filter } = of.to_rust()?;
        let choice = self.choice((capture, device), nearest, &filter)?;
        let (device, opened) = self.device(capture, device)?;
        let takes = |block: usize| choice.as_ref().is_none_or(|choice| choice.takes[block]);
        Ok(busiest(&device.blocks, length_ns as i64, takes).map(|ns| opened.relative(ns)))
    }

    /// The largest block, the first of equal ones; None without blocks.
    pub fn largest_block(&self, of: Ts<SomeRequest>) -> Result<Option<u32>, JsError> {
        let SomeRequest { capture, device, nearest, filter } = of.to_rust()?;
        let choice = self.choice((capture, device), nearest, &filter)?;
        let blocks = &self.device(capture, device)?.0.blocks;
        let takes = |&block: &u32| choice.as_ref().is_none_or(|choice| choice.takes[block as usize]);
        let key = |block: u32| (std::cmp::Reverse(blocks.size_bytes[block as usize]), blocks.start_ns[block as usize], block);
        Ok((0..blocks.len() as u32).filter(takes).min_by_key(|&block| key(block)))
    }

    /// The next block of at least so many bytes that starts after an instant; None after the last.
    pub fn next_large(&mut self, of: Ts<SomeRequest>, least_bytes: f64, after_ns: f64) -> Result<Option<u32>, JsError> {
        let SomeRequest { capture, device, nearest, filter } = of.to_rust()?;
        let only = Only { filter, nearest };
        self.narrow((capture, device), &only)?;
        self.derive(capture, device, |derived, device, _| derived.need_sizes(device, &only))?;
        let (device, opened) = self.device(capture, device)?;
        let next = |(sizes, time_ns): (&crate::timeline::lod::sizes::SizeIndex, &[i64])| {
            sizes.next_large(&device.blocks, time_ns, (least_bytes as i64).max(1), opened.absolute(after_ns))
        };
        Ok(opened.derived.sizes(device, &only).and_then(next))
    }

    /// The block that starts next on a block's lane, or before it; None at either end. The block itself need not pass.
    pub fn neighbour(&mut self, of: Ts<SomeRequest>, by: Ts<By>, block: u32, later: bool) -> Result<Option<u32>, JsError> {
        let SomeRequest { capture, device, nearest, filter } = of.to_rust()?;
        let (laid, only) = (Laid::new(by.to_rust()?, nearest), Only { filter, nearest });
        self.narrow((capture, device), &only)?;
        self.derive(capture, device, |derived, device, _| derived.need_drawn(device, laid, &only))?;
        let (device, opened) = self.device(capture, device)?;
        let derived = &opened.derived;
        let lane = derived.lanes(laid).and_then(|set| set.lane_of.get(block as usize).copied()).filter(|&lane| lane != NO_LANE);
        let Some((lane, (lanes, _))) = lane.zip(derived.drawn(laid, &only)) else { return Ok(None) };
        let beside = lanes.neighbour(&device.blocks, &device.replay.curves.time_ns, lane as usize, block, later);
        Ok(Some(beside).filter(|&block| block != NO_BLOCK))
    }
}
