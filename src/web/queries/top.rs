//! Who allocated most over the whole capture.

use super::rows::{FOLDED, GroupLabel, GroupedRequest, labels};
use crate::ascend::grouping::Grouping;
use crate::timeline::allocators::{self, Allocator};
use crate::timeline::without::{Maximum, peaks_without};
use crate::web::engine::Engine;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// By what the allocators are sorted.
#[derive(Tsify, Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum TopSort {
    Bytes,
    Blocks,
    Largest,
    MeanLifetime,
    ByteSeconds,
    PeakWithout,
}

/// Which allocators, and in which order.
#[derive(Tsify, Deserialize)]
pub struct TopRequest {
    #[serde(flatten)]
    pub grouped: GroupedRequest,
    pub sort: TopSort,
    /// The smallest first.
    pub ascending: bool,
}

/// The allocators.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct TopAnswer {
    /// None: no trace was read, so they cannot be told by stack.
    pub allocators: Option<Vec<AllocatorRow>>,
    /// How many there are.
    pub groups: u32,
    pub bytes: f64,
    pub blocks: u32,
}

/// One allocator.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct AllocatorRow {
    pub label: GroupLabel,
    pub bytes: f64,
    pub blocks: u32,
    pub largest_bytes: f64,
    /// Of the blocks that were released; None when none was.
    pub mean_lifetime_ns: Option<f64>,
    pub open_blocks: u32,
    /// Size × lifetime in bytes × nanoseconds, exact, as a decimal string.
    pub byte_ns: String,
    /// The largest total of the capture if this group did not exist.
    pub peak_without_bytes: f64,
}

#[wasm_bindgen]
impl Engine {
    /// The allocators in the order that is wanted.
    pub fn top(&self, request: Ts<TopRequest>) -> Result<Ts<TopAnswer>, JsError> {
        let TopRequest { grouped, sort, ascending } = request.to_rust()?;
        let capture_end_ns = self.capture(grouped.capture)?.capture.end_ns;
        let (device, opened) = self.device(grouped.capture, grouped.device)?;
        let blocks = &device.blocks;
        let choice = self.choice((grouped.capture, grouped.device), grouped.nearest, &grouped.filter)?;
        let (bytes, count) = match &choice {
            Some(choice) => (choice.bytes as f64, choice.blocks as u32),
            None => (blocks.size_bytes.iter().chain(blocks.folded.iter().map(|folded| &folded.bytes)).map(|&bytes| bytes as f64).sum(), blocks.count() as u32),
        };
        let Some(mut grouping) = Grouping::of(device, grouped.by, grouped.nearest) else {
            return Ok(TopAnswer { allocators: None, groups: 0, bytes, blocks: count }.into_ts()?);
        };
        let apart = choice.as_ref().map(|choice| grouping.set_apart(&choice.takes));
        let mut peaks = peaks_without(blocks, &device.replay.curves, &grouping.key, grouping.len());
        let mut all = allocators::by_key(blocks, &grouping.key, grouping.len(), capture_end_ns);
        all.retain(|allocator| allocator.blocks > 0 && Some(allocator.key) != apart);
        // Nothing is known of folded blocks that a filter could go by.
        let folded = blocks.folded.as_deref().filter(|folded| choice.is_none() && folded.blocks > 0);
        if let Some(folded) = folded {
            all.push(folded.allocator(peaks.len() as u32, capture_end_ns));
            peaks.push(Maximum { bytes: folded.peak_without(&device.replay.curves), at: 0 });
        }
        let groups = all.len() as u32;
        sorted(&mut all, &peaks, sort, ascending);
        all.truncate(grouped.limit as usize);
        let keys: Vec<u32> = all.iter().map(|allocator| if (allocator.key as usize) < grouping.len() { allocator.key } else { FOLDED }).collect();
        let told = labels(device, &opened.lane_of, &grouping, &keys).into_iter().zip(all).map(|(label, allocator)| AllocatorRow {
            label,
            bytes: allocator.bytes as f64,
            blocks: allocator.blocks as u32,
            largest_bytes: allocator.largest_bytes as f64,
            mean_lifetime_ns: Some(allocator.mean_lifetime_ns as f64).filter(|_| allocator.open_blocks < allocator.blocks),
            open_blocks: allocator.open_blocks as u32,
            byte_ns: allocator.byte_ns.to_string(),
            peak_without_bytes: peaks[allocator.key as usize].bytes as f64,
        });
        Ok(TopAnswer { allocators: Some(told.collect()), groups, bytes, blocks: count }.into_ts()?)
    }
}

/// Equal figures: by bytes, the most first.
fn sorted(all: &mut [Allocator], peaks: &[Maximum], sort: TopSort, ascending: bool) {
    let figure = |allocator: &Allocator| match sort {
        TopSort::Bytes => i128::from(allocator.bytes),
        TopSort::Blocks => i128::from(allocator.blocks),
        TopSort::Largest => i128::from(allocator.largest_bytes),
        TopSort::MeanLifetime => i128::from(allocator.mean_lifetime_ns),
        TopSort::ByteSeconds => allocator.byte_ns,
        TopSort::PeakWithout => i128::from(peaks[allocator.key as usize].bytes),
    };
    all.sort_by(|a, b| {
        let by_figure = figure(a).cmp(&figure(b));
        let by_figure = if ascending { by_figure } else { by_figure.reverse() };
        by_figure.then_with(|| (Reverse(a.bytes), a.key).cmp(&(Reverse(b.bytes), b.key)))
    });
}
