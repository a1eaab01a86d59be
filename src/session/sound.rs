//! What a session may hold. It may come from anywhere, and what comes after relies on what the readers of captures keep to: places that are
//! there, columns of one length, figures within the limits of [`crate::units`]. So nothing is refused here that a reader takes.

use crate::ascend::capture::Around;
use crate::ascend::reserved::Reserved;
use crate::ascend::trace_view::Phase;
use crate::timeline::blocks::{Blocks, OPEN, UNKNOWN};
use crate::timeline::folded::Folded;
use crate::timeline::replay::{Change, Curves};
use crate::units::{MOST_BYTES, MOST_NS, MOST_TOTAL_BYTES};
use crate::xplane::capture::Capture;
use crate::xplane::plan::{HeapPeak, Plan};
use crate::xplane::runtime::allocator::Allocator;
use crate::xplane::runtime::{Runtime, allocator};

/// A baseline is a total less the blocks, and changes between any two.
const MOST_OF_CURVES_BYTES: i64 = 2 * MOST_TOTAL_BYTES;

fn check(is_sound: bool, what: &str) -> Result<(), String> {
    if is_sound { Ok(()) } else { Err(format!("{what} no capture has")) }
}

fn is_instant(ns: i64) -> bool {
    (-MOST_NS..=MOST_NS).contains(&ns)
}

fn are_instants(times: &[i64], unless: i64) -> bool {
    times.iter().all(|&ns| ns == unless || is_instant(ns))
}

fn are_within(column: &[i64], most: i64, unless: i64) -> bool {
    column.iter().all(|&bytes| bytes == unless || (-most..=most).contains(&bytes))
}

/// Of what a machine has.
fn are_bytes(figures: &[i64]) -> bool {
    figures.iter().all(|bytes| (0..=MOST_BYTES).contains(bytes))
}

/// The columns of a pool.
pub(super) fn blocks(blocks: &Blocks) -> Result<(), String> {
    // Only stacks have blocks without one.
    let all_named = blocks.name.iter().chain(&blocks.stream).all(|&number| number != u32::MAX);
    let all_totals = [&blocks.at_start, &blocks.at_end, &blocks.freed.totals];
    let all_bytes = blocks.size_bytes.iter().fold(0i64, |sum, bytes| sum.saturating_add(*bytes));
    check(
        all_named
            && blocks.size_bytes.iter().chain(&blocks.freed.size_bytes).all(|&bytes| 0 < bytes && bytes <= MOST_BYTES)
            && all_bytes <= MOST_TOTAL_BYTES
            && are_instants(&blocks.start_ns, 0)
            && are_instants(&blocks.end_ns, OPEN)
            && blocks.start_ns.iter().zip(&blocks.end_ns).all(|(start, end)| start <= end)
            && are_instants(&blocks.active_end_ns, UNKNOWN)
            && are_instants(&blocks.freed.time_ns, 0)
            && all_totals.iter().all(|of| [&of.allocated_bytes, &of.reserved_bytes, &of.active_bytes].iter().all(|of| are_within(of, MOST_BYTES, UNKNOWN))),
        "a column of blocks holds what",
    )
}

/// The curves of all blocks, of which some were folded.
pub(super) fn curves(curves: &Curves, folded: &Folded, drops: &[Change], rises: &[Change], blocks: &Blocks) -> Result<(), String> {
    // What is drawn finds the instants of every block among those of the curves.
    let has = |time_ns: i64| curves.time_ns.binary_search(&time_ns).is_ok();
    let mut spans = blocks.start_ns.iter().zip(&blocks.end_ns).filter(|(start, end)| start != end);
    check(
        curves.time_ns.is_sorted_by(|a, b| a < b)
            && are_instants(&curves.time_ns, 0)
            && are_within(&curves.tracked_bytes, MOST_TOTAL_BYTES, 0)
            && are_within(&curves.baseline_bytes, MOST_OF_CURVES_BYTES, 0)
            && are_within(&curves.reserved_bytes, MOST_BYTES, UNKNOWN)
            && are_within(&curves.active_bytes, MOST_BYTES, UNKNOWN)
            && are_within(&folded.alive_bytes, MOST_TOTAL_BYTES, 0)
            && spans.all(|(&start, &end)| has(start) && (end == OPEN || has(end)))
            && drops.iter().chain(rises).all(|change| (0..=MOST_OF_CURVES_BYTES).contains(&change.bytes) && is_instant(change.time_ns))
            && are_sums(folded),
        "the curves hold what",
    )
}

fn are_sums(folded: &Folded) -> bool {
    let are_bytes = |bytes: i64| (0..=MOST_TOTAL_BYTES).contains(&bytes);
    folded.up_to_bytes > 0
        && folded.open_blocks.max(folded.unnamed_blocks) <= folded.blocks
        && folded.blocks <= u64::from(u32::MAX)
        && [folded.up_to_bytes, folded.bytes, folded.largest_bytes, folded.open_bytes].into_iter().all(are_bytes)
        && (folded.first_ns == OPEN || is_instant(folded.first_ns))
        && (folded.last_ns == UNKNOWN || is_instant(folded.last_ns))
}

/// What lies around the blocks.
pub(super) fn around(around: &Around) -> Result<(), String> {
    let is_sound = |series: &Reserved| {
        series.time_ns.len() == series.reserved_bytes.len()
            && series.time_ns.is_sorted()
            && are_instants(&series.time_ns, 0)
            && are_within(&series.reserved_bytes, MOST_BYTES, 0)
    };
    check(around.memory_record.iter().chain(&around.module_memory).flatten().all(is_sound), "a component's memory is what")
}

/// The steps of a trace.
pub(super) fn phases(phases: &[Phase]) -> Result<(), String> {
    check(phases.iter().all(|phase| is_instant(phase.start_ns) && is_instant(phase.end_ns)), "a step lies where")
}

/// A JAX capture, of which the text tells all.
pub(super) fn jax(capture: &Capture) -> Result<(), String> {
    let Runtime { allocators, executions, retries, between: _ } = &capture.runtime;
    check(allocators.iter().all(is_allocator), "an allocator's events are what")?;
    let used = |bytes: i64| (-2 * MOST_BYTES..=2 * MOST_BYTES).contains(&bytes);
    check(executions.iter().all(|execution| execution.used_bytes.is_none_or(used)), "an execution is what")?;
    check(retries.iter().all(|retry| retry.execution.is_none_or(|execution| execution < executions.len())), "a wait for memory is what")?;
    check(capture.plans.iter().all(is_plan), "a plan is what")
}

fn is_allocator(allocator: &Allocator) -> bool {
    let is_change = |change: &allocator::Change| {
        are_bytes(&[change.bytes, change.allocated_bytes, change.available_bytes, change.largest_free_bytes])
            && change.owner.is_none_or(|owner| (owner as usize) < allocator.owners.len())
    };
    // Capacity is a sum of three figures.
    (0..=3 * MOST_BYTES).contains(&allocator.capacity_bytes)
        && are_bytes(&[allocator.peak_bytes, allocator.first_peak_bytes])
        && allocator.changes.is_sorted_by_key(|change| change.time_ps)
        && allocator.changes.iter().all(is_change)
}

fn is_plan(plan: &Plan) -> bool {
    let parameters = &plan.parameters;
    are_bytes(&[parameters.bytes, parameters.donated_bytes, plan.non_aliased_outputs_bytes, plan.constants_bytes, plan.thread_local_bytes, plan.temp_bytes])
        && are_bytes(&[plan.donatable_bytes])
        && are_bytes(&plan.output_bytes)
        && plan.other_spaces.iter().all(|space| are_bytes(&[space.1]))
        && plan.heap.as_ref().is_none_or(is_heap)
}

/// A schedule may take the same buffers again and again: its sums have no other limit than 0.
fn is_heap(heap: &HeapPeak) -> bool {
    let sums = heap.roles.iter().chain(heap.buffers.iter().map(|buffers| &buffers.bytes)).chain([&heap.replay_bytes, &heap.square.bytes]);
    let held = heap.curves.iter().flat_map(|curve| &curve.held_bytes);
    sums.chain(held).all(|&bytes| bytes >= 0) && heap.curves.iter().all(|curve| curve.peak.is_none_or(|peak| peak < curve.held_bytes.len()))
}
