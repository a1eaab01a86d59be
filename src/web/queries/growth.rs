//! What grows with every step, and what each step allocated, freed and left.

use super::rows::{GroupLabel, GroupedRequest, stack_label};
use crate::ascend::grouping::stack_of;
use crate::timeline::growth::{self, Growth};
use crate::web::engine::{Engine, phase_summary};
use crate::web::messages::PhaseSummary;
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// Growth over the steps of a capture.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct GrowthAnswer {
    /// Whether a trace was read: steps come from it.
    pub traced: bool,
    pub steps: Vec<StepSummary>,
    /// Those that keep something first, then those that were freed later; each by growth.
    pub groups: Vec<GrowthGroup>,
    /// How many groups grow, those that are not told included.
    pub count: u32,
    /// How many of these were freed later.
    pub freed_later: u32,
    /// How much those that keep something grew from the end of the first step to that of the last.
    pub bytes: f64,
}

/// One step.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct StepSummary {
    pub phase: PhaseSummary,
    pub allocated_bytes: f64,
    pub allocated_blocks: u32,
    pub freed_bytes: f64,
    pub freed_blocks: u32,
    /// At its end; None before the first event.
    pub total_bytes: Option<f64>,
}

/// Equal blocks of which every step leaves more.
#[derive(Tsify, Serialize)]
pub struct GrowthGroup {
    pub name: String,
    pub lane: u32,
    pub stack: GroupLabel,
    pub size_bytes: f64,
    pub per_step_blocks: Vec<f64>,
    /// From the end of the first step to that of the last.
    pub bytes: f64,
    /// Of those that the last step left, not released within the capture; 0: they were freed later.
    pub kept_blocks: f64,
}

#[wasm_bindgen]
impl Engine {
    /// The growth of the blocks that pass the filter, the first `limit` groups of it; of all blocks what each step did. `by` is of no matter.
    pub fn growth(&self, request: Ts<GroupedRequest>) -> Result<Ts<GrowthAnswer>, JsError> {
        let GroupedRequest { capture, device, nearest, limit, filter, .. } = request.to_rust()?;
        let choice = self.choice((capture, device), nearest, &filter)?;
        let whole = &self.capture(capture)?.capture;
        let (device, opened) = self.device(capture, device)?;
        let (blocks, curves) = (&device.blocks, &device.replay.curves);
        let steps = whole.steps();
        let spans: Vec<(i64, i64)> = steps.iter().map(|step| (step.start_ns, step.end_ns)).collect();
        let steps = steps.into_iter().zip(growth::traffic(blocks, &spans)).map(|(phase, traffic)| StepSummary {
            allocated_bytes: traffic.allocated.bytes as f64,
            allocated_blocks: traffic.allocated.blocks as u32,
            freed_bytes: traffic.freed.bytes as f64,
            freed_blocks: traffic.freed.blocks as u32,
            total_bytes: curves.entry_at(phase.end_ns).map(|at| curves.total_bytes(at) as f64),
            phase: phase_summary(phase, opened.base_ns),
        });
        let steps = steps.collect();
        let stacks = device.stacks.as_ref();
        let takes = |block: usize| choice.as_ref().is_none_or(|choice| choice.takes[block]);
        let found =
            stacks.map_or(Vec::new(), |stacks| growth::growth(blocks, |block| takes(block).then(|| stack_of(stacks, block, nearest)), &whole.step_ends_ns()));
        let group = |growth: &Growth| GrowthGroup {
            name: blocks.names[growth.name as usize].clone(),
            lane: opened.lane_of[growth.name as usize],
            stack: stacks
                .and_then(|stacks| stacks.texts.get(growth.stack as usize))
                .map_or_else(GroupLabel::default, |stack| stack_label(stack, growth.stack, None)),
            size_bytes: growth.size_bytes as f64,
            per_step_blocks: growth.per_step_blocks.iter().map(|&blocks| blocks as f64).collect(),
            bytes: growth.bytes() as f64,
            kept_blocks: growth.kept_blocks as f64,
        };
        let answer = GrowthAnswer {
            traced: stacks.is_some(),
            steps,
            groups: found.iter().take(limit as usize).map(group).collect(),
            count: found.len() as u32,
            freed_later: found.iter().filter(|growth| growth.is_freed_later()).count() as u32,
            bytes: found.iter().filter(|growth| !growth.is_freed_later()).map(|growth| growth.bytes() as f64).sum(),
        };
        Ok(answer.into_ts()?)
    }
}
