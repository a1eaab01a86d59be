//! All that is known of one block.

use crate::ascend::capture::Device;
use crate::ascend::grouping::stack_of;
use crate::ascend::trace_view::{NONE, first_user_frame};
use crate::oom::report::known;
use crate::timeline::blocks::{OPEN, Total};
use crate::timeline::live;
use crate::web::derived::Laid;
use crate::web::engine::Engine;
use crate::web::messages::{BlockDetail, OriginDetail, OverlapDetail, TotalsDetail};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// Links to overlapping blocks beyond these help nobody.
const OVERLAPS_LISTED: usize = 50;

#[wasm_bindgen]
impl Engine {
    /// All that is known of one block. `nearest` guesses the stack of a block that has none.
    pub fn block(&mut self, capture: u32, device: u32, block: u32, nearest: bool) -> Result<Ts<BlockDetail>, JsError> {
        self.derive(capture, device, |derived, device, _| derived.need_lanes(device, Laid::BY_OPERATOR))?;
        let capture_end_ns = self.capture(capture)?.capture.end_ns;
        let (device, opened) = self.device(capture, device)?;
        let blocks = &device.blocks;
        let index = block as usize;
        if index >= blocks.len() {
            return Err(JsError::new("no such block"));
        }
        let relative = |ns: i64| opened.relative(ns);
        let end = |index: usize| Some(blocks.end_ns[index]).filter(|&end| end != OPEN).map(relative);
        let lane = opened.lane_of[blocks.name[index] as usize];
        let by_operator = opened.derived.lanes(Laid::BY_OPERATOR);
        let overlaps = by_operator.map(|set| set.lanes.overlapping(blocks, &device.replay.curves.time_ns, lane as usize, block)).unwrap_or_default();
        let listed = overlaps.iter().take(OVERLAPS_LISTED).map(|&other| OverlapDetail {
            block: other,
            bytes: blocks.size_bytes[other as usize] as f64,
            start_ns: relative(blocks.start_ns[other as usize]),
            end_ns: end(other as usize),
        });
        let detail = BlockDetail {
            block,
            name: blocks.names[blocks.name[index] as usize].clone(),
            lane,
            bytes: blocks.size_bytes[index] as f64,
            start_ns: relative(blocks.start_ns[index]),
            end_ns: end(index),
            active_end_ns: known(blocks.active_end_ns[index]).map(relative),
            duration_ns: device.lifetime_ns(index, capture_end_ns) as f64,
            stream: blocks.streams[blocks.stream[index] as usize].clone(),
            device: device.device.clone(),
            line: blocks.line[index],
            operator: blocks.name[index],
            stream_number: blocks.stream[index],
            origin: origin(device, index, nearest),
            at_allocation: totals(blocks.at_start.get(index)),
            at_release: totals(blocks.at_end.get(index)),
            overlapping: overlaps.len() as u32,
            overlapping_bytes: live::bytes_of(blocks, &overlaps) as f64,
            overlaps: listed.collect(),
        };
        Ok(detail.into_ts()?)
    }
}

fn origin(device: &Device, block: usize, nearest: bool) -> Option<OriginDetail> {
    let stacks = device.stacks.as_ref()?;
    let stack = stack_of(stacks, block, nearest);
    let guessed = stack != stacks.of_block[block];
    Some(OriginDetail {
        reason: if guessed && stack != NONE { "nearest" } else { stacks.reasons[block].name() }.to_owned(),
        stack: stacks.frames(stack),
        user_frame: stacks.texts.get(stack as usize).and_then(|text| first_user_frame(text)).map(str::to_owned),
        number: stack.min(stacks.texts.len() as u32),
    })
}

fn totals(total: Total) -> TotalsDetail {
    let figure = |bytes: i64| known(bytes).map(|bytes| bytes as f64);
    TotalsDetail { allocated_bytes: figure(total.allocated_bytes), reserved_bytes: figure(total.reserved_bytes), active_bytes: figure(total.active_bytes) }
}
