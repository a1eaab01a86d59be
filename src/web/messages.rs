//! The small messages that cross the wasm boundary, defined once: tsify derives the TypeScript types from these structs, and
//! serde-wasm-bindgen carries them. Columns and pictures cross as typed arrays and are not here.
//!
//! Instants are nanoseconds since the capture's first event (`*_ns` numbers stay far below 2^53); absolute ones are decimal strings.

use crate::ascend::choice::BlockFilter;
use crate::ascend::discover::CaptureFiles;
use crate::ascend::grouping::By;
use crate::ascend::profiler_info::Setup;
use crate::error::Warning;
use crate::oom::compare::Comparison;
use crate::oom::xplane_report::XplaneReport;
use crate::xplane::discover::XplaneFile;
use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// What lies in a list of paths.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct FoundMessage {
    /// Each capture, also one that cannot be opened: its warnings then say why.
    pub captures: Vec<CaptureFiles>,
    /// JAX captures.
    pub xplanes: Vec<XplaneFile>,
    /// Places of the paths that may be reports, saved pages, or exports that cannot be read: `Engine.sniff` tells by their first bytes.
    pub reports: Vec<u32>,
    /// So many first bytes tell.
    pub sniffed_bytes: u32,
    /// How many paths were looked at.
    pub paths: u32,
}

/// Captures that the engine now holds.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct CaptureSummaries(pub Vec<CaptureSummary>);

/// What a saved page gave.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct SavedPage {
    /// Its captures, which the engine now holds.
    pub captures: Vec<CaptureSummary>,
    /// The hash of the view in which it was saved; empty where there is none.
    pub view: String,
}

/// A capture as the page lists it once the engine holds it.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct CaptureSummary {
    /// The number by which the engine knows it.
    pub capture: u32,
    /// `ascend` or `xplane`: the latter has a report of its own kind, see `Engine.jax`.
    pub kind: String,
    pub source: String,
    pub role: Option<String>,
    pub rank: Option<i64>,
    pub capture_time: Option<String>,
    /// How it was made; None without profiler_info and profiler_metadata.
    pub facts: Option<Setup>,
    pub torch_npu: Option<String>,
    pub cann: Option<String>,
    pub rows_read: u32,
    pub rows_set_aside: u32,
    /// The devices and pools with blocks; empty when the capture could not be used.
    pub devices: Vec<DeviceSummary>,
    /// Blocks of the PTA pool with and without a call stack; None without a trace.
    pub stacks: Option<StackSummary>,
    pub warnings: Vec<Warning>,
}

/// Every capture that was opened or read back from a report, and how they compare.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct ComparisonSummary {
    /// In the report's order: the `capture` of a row of the comparison is a place in here.
    pub captures: Vec<ComparedCapture>,
    /// Of one capture too: its rows then stand alone.
    pub comparison: Comparison,
    /// Of reports that could not be used, and of captures that are there more than once.
    pub warnings: Vec<Warning>,
}

/// A capture as the comparison lists it.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct ComparedCapture {
    /// The number by which the engine knows it; None for one that only a report tells of: it has no curves and no blocks to show.
    pub capture: Option<u32>,
    /// The report file that tells of it.
    pub report: Option<String>,
    /// `ascend` or `xplane`.
    pub kind: String,
    pub source: String,
    pub role: Option<String>,
    pub rank: Option<i64>,
    pub capture_time: Option<String>,
    pub warnings: Vec<Warning>,
}

/// How many blocks have a call stack.
#[derive(Tsify, Serialize)]
pub struct StackSummary {
    pub found: u32,
    pub none: u32,
}

/// A value of a built-in sample, as it should be and as it is.
#[derive(Tsify, Serialize)]
pub struct CheckedSummary {
    /// Its code.
    pub sample: String,
    pub figure: String,
    pub expected: String,
    pub found: String,
    pub equal: bool,
}

/// The report on a JAX capture, and how many executions it has in all: of many, the report has the last.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null, hashmap_as_object)]
pub struct JaxAnswer {
    pub report: XplaneReport,
    pub executions: u32,
}

/// A step, an optimizer step or an execution.
#[derive(Tsify, Serialize)]
pub struct PhaseSummary {
    /// `ProfilerStep#12`, `Optimizer.step#Adam.step`.
    pub name: String,
    pub from_ns: f64,
    pub to_ns: f64,
}

/// One (device, pool) of a capture: what one set of linked charts shows.
#[derive(Tsify, Serialize)]
pub struct DeviceSummary {
    pub device: String,
    /// `PTA` or `GE`; empty for an allocator of JAX, whose names are owners.
    pub pool: String,
    pub blocks: u32,
    /// The capture's first event, absolute, as a decimal string: the zero of every relative time of all its devices.
    pub base_ns: String,
    /// The end of the capture, relative.
    pub end_ns: f64,
    /// Whether memory outside the framework was sampled.
    pub has_outside: bool,
    pub peak: PeakSummary,
    pub alive_at_end_blocks: u32,
    pub alive_at_end_bytes: f64,
    /// Reductions of the baseline: memory from before the capture freed inside it.
    pub baseline_drops: Vec<ChangeSummary>,
    /// Rises of the baseline: rows are missing.
    pub baseline_rises: Vec<ChangeSummary>,
    /// The lanes of the Gantt, in the order they are drawn: bytes at the peak descending, then allocated volume, then name.
    pub lanes: Vec<LaneSummary>,
    /// Steps and optimizer steps, by start, empty without a trace; of a JAX capture, the executions on this device.
    pub phases: Vec<PhaseSummary>,
    /// Of a JAX capture: when the allocator had no room.
    pub waits: Vec<WaitSummary>,
    /// Blocks that were folded; they count in every total.
    pub folded: Option<FoldedSummary>,
}

/// Blocks that were folded.
#[derive(Tsify, Serialize)]
pub struct FoldedSummary {
    pub up_to_bytes: f64,
    pub blocks: u32,
    pub bytes: f64,
}

/// The instant of the largest total, and what was alive at it.
#[derive(Tsify, Serialize)]
pub struct PeakSummary {
    pub time_ns: f64,
    pub total_bytes: f64,
    pub tracked_bytes: f64,
    pub baseline_bytes: f64,
    pub reserved_bytes: Option<f64>,
    pub active_bytes: Option<f64>,
    pub live_blocks: u32,
    /// Bytes descending, then name; complete. Baseline and groups sum to the total.
    pub by_operator: Vec<GroupSummary>,
}

/// Live blocks of one operator.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct GroupSummary {
    pub name: String,
    /// None: blocks that were folded.
    pub lane: Option<u32>,
    pub bytes: f64,
    pub blocks: u32,
}

/// A change of the baseline.
#[derive(Tsify, Serialize)]
pub struct ChangeSummary {
    pub time_ns: f64,
    pub bytes: f64,
}

/// A wait of the allocator for memory.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct WaitSummary {
    pub time_ns: f64,
    pub duration_ns: f64,
    /// What was asked for; None where the plan does not tell.
    pub bytes: Option<f64>,
    /// It was in vain.
    pub failed: bool,
    /// No event says so; it follows from how long something took.
    pub inferred: bool,
    pub module: Option<String>,
    pub execution: Option<u32>,
}

/// One lane of the Gantt.
#[derive(Tsify, Serialize)]
pub struct LaneSummary {
    /// What its blocks have in common, by the number that a filter knows it by; of a size class, of no use.
    pub key: u32,
    /// The operator, frame, stream …; of a size class, its bytes. Empty: the blocks carry none.
    pub name: String,
    /// Of a call stack: its frames, outermost first.
    pub stack: Vec<String>,
    pub blocks: u32,
    pub bytes: f64,
    /// What of it lives at the peak.
    pub peak_bytes: f64,
    /// The start of its first block.
    pub first_ns: f64,
    /// 0–11: its hue in the palette; 12: grey.
    pub hue: u8,
}

/// A view of the charts: which device, which window, how many pixels.
#[derive(Tsify, Deserialize)]
pub struct ViewRequest {
    pub capture: u32,
    pub device: u32,
    pub from_ns: f64,
    pub to_ns: f64,
    /// Width of the plot in device pixels.
    pub width_px: u32,
    /// The blocks alone that pass are shown below the curves.
    #[serde(default)]
    pub filter: BlockFilter,
    /// Blocks without a stack get the one of the last operator of their name: a guess.
    pub nearest: bool,
    /// Further curves.
    pub lines: Vec<Line>,
    /// What lies below the curves; None: nothing.
    pub gantt: Option<Gantt>,
    pub paint: Paint,
    /// What lies below as rectangles, too, for a picture of another kind.
    #[serde(default)]
    pub shapes: bool,
}

/// The pictures of blocks. Heights are in device pixels.
#[derive(Tsify, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Gantt {
    /// Blocks of one kind on a lane; the lanes by number, top to bottom.
    Lanes { by: By, lanes: Vec<u32>, lane_px: u32 },
    /// A row for each block of the window, the largest size class first: `count` of them after the first `first`.
    Blocks { first: u32, count: u32, lane_px: u32 },
    /// Blocks upon each other, as thick as their bytes.
    Stack { height_px: u32 },
    /// The total of other devices over the same time since their captures' first events.
    Ranks { places: Vec<PlaceMessage>, lane_px: u32 },
}

/// A device of a capture.
#[derive(Tsify, Serialize, Deserialize, Clone, Copy)]
pub struct PlaceMessage {
    pub capture: u32,
    pub device: u32,
}

/// How blocks are painted. Colours are 0xRRGGBB.
#[derive(Tsify, Deserialize)]
pub struct Paint {
    pub colouring: Colouring,
    /// Thirteen: the twelve hues and the grey.
    pub palette: Vec<u32>,
    /// Eight, for sizes and times.
    pub ramp: Vec<u32>,
    /// The block to be outlined.
    pub selected: Option<u32>,
    pub outline: u32,
    /// Of the mark for further blocks.
    pub density: u32,
    pub total: u32,
    pub baseline: u32,
}

/// What the colour of a block says.
#[derive(Tsify, Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Colouring {
    /// Its operator.
    Operator,
    Size,
    Lifetime,
    /// How long it has lived by then.
    Age,
}

/// A curve that is drawn where it is wanted.
#[derive(Tsify, Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// What the process holds beyond the framework's pools.
    Outside,
    /// Reserved − allocated.
    ReservedGap,
    /// Active − allocated.
    ActiveGap,
    /// What the blocks hold that pass the filter.
    Filtered,
}

/// All that is known of one block.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct BlockDetail {
    pub block: u32,
    pub name: String,
    pub lane: u32,
    pub bytes: f64,
    pub start_ns: f64,
    /// None: not released within the capture.
    pub end_ns: Option<f64>,
    /// When the block was back in the pool.
    pub active_end_ns: Option<f64>,
    /// To the release, or to the capture's end.
    pub duration_ns: f64,
    pub stream: String,
    pub device: String,
    /// The line of the file that this block comes from.
    pub line: u32,
    /// By the numbers that a filter knows them by.
    pub operator: u32,
    pub stream_number: u32,
    /// Where it comes from; None while the trace is not read, or without one.
    pub origin: Option<OriginDetail>,
    pub at_allocation: TotalsDetail,
    pub at_release: TotalsDetail,
    /// How many other blocks of the same operator overlap it.
    pub overlapping: u32,
    /// Their bytes together.
    pub overlapping_bytes: f64,
    /// The largest of them, at most fifty.
    pub overlaps: Vec<OverlapDetail>,
}

/// The call stack of a block and why it is believed, or why there is none.
#[derive(Tsify, Serialize)]
pub struct OriginDetail {
    /// `own`, `task-queue`, `ancestor`, `forward`, `python`, `nearest`; `no-stacks`, `no-operator`, `ambiguous`, `not-carried`.
    pub reason: String,
    /// Outermost first.
    pub stack: Vec<String>,
    /// The first frame, from the leaf, that is no library's.
    pub user_frame: Option<String>,
    /// The stack, by the number that a filter knows it by.
    pub number: u32,
}

/// The totals that the profiler reported at an event.
#[derive(Tsify, Serialize)]
pub struct TotalsDetail {
    pub allocated_bytes: Option<f64>,
    pub reserved_bytes: Option<f64>,
    pub active_bytes: Option<f64>,
}

/// A block that overlaps another of the same operator.
#[derive(Tsify, Serialize)]
pub struct OverlapDetail {
    pub block: u32,
    pub bytes: f64,
    pub start_ns: f64,
    pub end_ns: Option<f64>,
}
