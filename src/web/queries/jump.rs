//! Where to go: the window with the most, the largest block, the next large allocation.

use crate::timeline::busiest::busiest;
use crate::web::engine::Engine;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Engine {
    /// When the window of a length begins in which most blocks begin; None without blocks.
    pub fn busiest(&self, capture: u32, device: u32, length_ns: f64) -> Result<Option<f64>, JsError> {
        let (device, opened) = self.device(capture, device)?;
        Ok(busiest(&device.blocks, length_ns as i64).map(|ns| opened.relative(ns)))
    }

    /// The largest block, the first of equal ones; None without blocks.
    pub fn largest_block(&self, capture: u32, device: u32) -> Result<Option<u32>, JsError> {
        let blocks = &self.device(capture, device)?.0.blocks;
        let key = |block: u32| (std::cmp::Reverse(blocks.size_bytes[block as usize]), blocks.start_ns[block as usize], block);
        Ok((0..blocks.len() as u32).min_by_key(|&block| key(block)))
    }

    /// The next block of at least so many bytes that starts after an instant; None after the last.
    pub fn next_large(&mut self, capture: u32, device: u32, least_bytes: f64, after_ns: f64) -> Result<Option<u32>, JsError> {
        self.derive(capture, device, |derived, device, _| derived.need_sizes(device))?;
        let (device, opened) = self.device(capture, device)?;
        let (blocks, time_ns, after_ns) = (&device.blocks, &device.replay.curves.time_ns[..], opened.absolute(after_ns));
        Ok(opened.derived.sizes().and_then(|sizes| sizes.next_large(blocks, time_ns, (least_bytes as i64).max(1), after_ns)))
    }
}
