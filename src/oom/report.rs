//! The report of schema `oomscope.report/1`: what the page, the command line and an embedding page all say, in one structure.
//!
//! Keys keep the order of the fields here. Sizes are integers in bytes, instants decimal strings of absolute nanoseconds, other times
//! integers. A key that a capture of this kind should have and lacks is `null`, and a warning says why.

use super::compare::{Comparison, comparison, members_of_report};
use super::difference::Difference;
use super::merge::{Identity, Origin, merge};
use super::read::ReadReport;
use crate::ascend::capture::{Capture, Device};
use crate::ascend::operator_memory::Pool;
use crate::ascend::profiler_info::Setup;
use crate::ascend::reserved;
use crate::ascend::stacks::{Reason, Stacks};
use crate::error::Warning;
use crate::oom::xplane_report::XplaneReport;
use crate::timeline::allocators::{self, Allocator};
use crate::timeline::blocks::{Blocks, UNKNOWN, operator_label};
use crate::timeline::folded::Folded;
use crate::timeline::growth::{Growth, growth};
use crate::timeline::live::{self, Group};
use crate::timeline::replay::{Change, Replay};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The name of the schema; renaming or removing a key makes the next one.
pub const SCHEMA: &str = "oomscope.report/1";

/// All captures that were opened.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// By source.
    pub captures: Vec<CaptureReport>,
    /// Ranks and roles side by side; `null` for fewer than two Ascend captures.
    pub comparison: Option<Comparison>,
    /// Of the captures that were asked for.
    pub differences: Vec<Difference>,
    /// Of files that gave no capture, and of captures that are there more than once.
    pub warnings: Vec<Warning>,
    /// For each capture the report file it was read back from.
    #[serde(skip)]
    pub files: Vec<Option<String>>,
}

/// One capture; `kind` says of which sort.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum CaptureReport {
    /// An Ascend Profiler capture.
    Ascend(Box<AscendReport>),
    /// A JAX/XLA capture.
    Xplane(Box<XplaneReport>),
}

impl CaptureReport {
    /// Path below what was opened.
    pub fn source(&self) -> &str {
        match self {
            CaptureReport::Ascend(report) => &report.source,
            CaptureReport::Xplane(report) => &report.source,
        }
    }

    /// Whether there is anything to show.
    pub fn is_usable(&self) -> bool {
        match self {
            CaptureReport::Ascend(report) => !report.devices.is_empty(),
            // Of a file that is no capture nothing is said.
            CaptureReport::Xplane(report) => {
                !report.modules.is_empty() || !report.allocators.is_empty() || !report.executions.is_empty() || !report.diagnosis.is_empty()
            }
        }
    }

    fn shortened(mut self, top: usize) -> CaptureReport {
        match &mut self {
            CaptureReport::Ascend(report) => report.devices.iter_mut().for_each(|device| {
                device.top_by_bytes.truncate(top);
                device.growth.iter_mut().for_each(|growth| growth.truncate(top));
            }),
            CaptureReport::Xplane(report) => report.shorten(top),
        }
        self
    }
}

/// One Ascend Profiler capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // The names are those of the schema.
pub struct AscendReport {
    pub source: String,
    pub role: Option<String>,
    pub rank: Option<i64>,
    pub capture_time: Option<String>,
    pub versions: Versions,
    /// How it was made; `null` without profiler_info and profiler_metadata.
    pub facts: Option<Setup>,
    pub rows: Rows,
    pub devices: Vec<DeviceReport>,
    /// Blocks of the PTA pool by the reason of their stack; `null` without a trace.
    pub stacks: Option<StackCounts>,
    /// At the peak of the first device: each component, then the process beyond the framework's pools; `null` without both files.
    pub outside_framework: Option<Vec<ComponentReport>>,
    pub warnings: Vec<Warning>,
}

/// Blocks by the reason of their stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StackCounts {
    pub own: u64,
    pub task_queue: u64,
    pub ancestor: u64,
    pub forward: u64,
    pub python: u64,
    pub nearest: u64,
    pub none: u64,
    /// Blocks that were folded, so that nothing is known of their stacks. Only written where there are some.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded: u64,
}

impl StackCounts {
    /// Blocks with a stack that is believed.
    pub fn found(&self) -> u64 {
        [self.task_queue, self.ancestor, self.forward, self.python].into_iter().fold(self.own, u64::saturating_add)
    }
}

/// Counts the blocks of the PTA pool by the reason of their stack; `None` without a trace.
pub fn stack_counts(capture: &Capture) -> Option<StackCounts> {
    if capture.devices.iter().all(|device| device.stacks.is_none()) {
        return None;
    }
    let mut counts = StackCounts::default();
    for device in capture.devices.iter().filter(|device| device.pool == Pool::Pta) {
        counts.folded += device.blocks.folded.as_ref().map_or(0, |folded| folded.blocks);
        for reason in &device.stacks.as_ref()?.reasons {
            *match reason {
                Reason::Own => &mut counts.own,
                Reason::TaskQueue => &mut counts.task_queue,
                Reason::Ancestor => &mut counts.ancestor,
                Reason::Forward => &mut counts.forward,
                Reason::Python => &mut counts.python,
                Reason::Nearest => &mut counts.nearest,
                Reason::NoStacks | Reason::NoOperator | Reason::Ambiguous | Reason::NotCarried => &mut counts.none,
            } += 1;
        }
    }
    Some(counts)
}

/// What wrote the capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Versions {
    pub torch_npu: Option<String>,
    pub cann: Option<String>,
}

/// Rows of operator_memory.csv.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Rows {
    pub read: u64,
    pub set_aside: u64,
}

/// One pool of one device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct DeviceReport {
    pub device: String,
    pub pool: Cow<'static, str>,
    pub blocks: u64,
    pub unattributed_blocks: u64,
    pub first_ns: String,
    pub last_ns: String,
    pub peak: PeakReport,
    pub alive_at_end: AliveAtEnd,
    pub baseline: BaselineReport,
    pub max_reserved_gap_bytes: Option<i64>,
    /// Equal blocks of which every step leaves more; `null` without a trace.
    pub growth: Option<Vec<GrowthReport>>,
    pub top_by_bytes: Vec<AllocatorReport>,
    /// Blocks that were folded for want of memory; each list has them as a group of their own. Only written where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedReport>,
}

/// Blocks that were folded: they count in every total and have no name, stack, stream or line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct FoldedReport {
    /// Blocks of this size and smaller ones.
    pub up_to_bytes: i64,
    pub blocks: u64,
    /// Allocated over the whole capture.
    pub bytes: i64,
    pub peak_blocks: u64,
    pub peak_bytes: i64,
}

/// The instant of the largest total and what was alive at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PeakReport {
    pub time_ns: String,
    pub total_bytes: i64,
    pub tracked_bytes: i64,
    pub baseline_bytes: i64,
    pub reserved_bytes: Option<i64>,
    pub active_bytes: Option<i64>,
    pub live_blocks: u64,
    pub by_operator: Vec<OperatorGroup>,
    /// Outermost frame first, none for blocks without a stack; `null` without a trace.
    pub by_stack: Option<Vec<StackGroup>>,
    /// `null`: the rows name no stream.
    pub by_stream: Option<Vec<StreamGroup>>,
    pub by_size_class: Vec<SizeClassGroup>,
}

/// Blocks of one operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct OperatorGroup {
    pub name: String,
    pub bytes: i64,
    pub blocks: u64,
}

/// Blocks of one call stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StackGroup {
    pub stack: Vec<String>,
    pub bytes: i64,
    pub blocks: u64,
    /// Of these, blocks whose stack is a guess: that of the last operator of their name. Only written where there are some.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nearest_blocks: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Equal blocks of which every step leaves more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct GrowthReport {
    pub name: String,
    pub stack: Vec<String>,
    pub size_bytes: i64,
    pub per_step_blocks: Vec<i64>,
    /// Of those that the last step left, not released within the capture; 0: they were freed later. Older reports lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive_at_end_blocks: Option<i64>,
}

impl GrowthReport {
    /// Whether it is known that all of it was released before the capture ended.
    pub fn is_freed_later(&self) -> bool {
        self.alive_at_end_blocks == Some(0)
    }
}

/// What a component held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ComponentReport {
    pub component: String,
    pub time_ns: String,
    pub reserved_bytes: i64,
}

/// Blocks of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct StreamGroup {
    pub stream: String,
    pub bytes: i64,
    pub blocks: u64,
}

/// Blocks of one size class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SizeClassGroup {
    pub up_to_bytes: i64,
    pub bytes: i64,
    pub blocks: u64,
}

/// Blocks that were not released within the capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct AliveAtEnd {
    pub blocks: u64,
    pub bytes: i64,
    pub by_operator: Vec<OperatorGroup>,
}

/// Memory from before the capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct BaselineReport {
    pub first_bytes: i64,
    pub drops: Vec<ChangeReport>,
    pub rises: Vec<ChangeReport>,
}

/// A drop or a rise of the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ChangeReport {
    pub time_ns: String,
    pub bytes: i64,
}

/// What one operator allocated over the whole capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct AllocatorReport {
    pub name: String,
    pub blocks: u64,
    pub bytes: i64,
    pub largest_bytes: i64,
    pub mean_lifetime_ns: i64,
}

/// The report on some captures and on those that were reported before; lists without an end of their own hold the first `top`. Reading it
/// back and reporting it with the same `top` gives it again, to the byte.
pub fn report(captures: impl IntoIterator<Item = CaptureReport>, read: &[ReadReport], top: usize) -> Report {
    let opened: Vec<CaptureReport> = captures.into_iter().collect();
    let merged = merge(opened.iter().map(Identity::of_report), read);
    let mut opened: Vec<Option<CaptureReport>> = opened.into_iter().map(Some).collect();
    let take = |origin: Origin| match origin {
        Origin::Opened(nth) => Some((opened.get_mut(nth)?.take()?, None)),
        Origin::Read(nth, place) => Some((read[nth].captures[place].clone().shortened(top), Some(read[nth].file.clone()))),
    };
    let (captures, files): (Vec<CaptureReport>, Vec<Option<String>>) = merged.captures.into_iter().filter_map(take).unzip();
    let comparison = comparison(captures.iter().map(members_of_report).collect(), top);
    Report { schema: SCHEMA, captures, comparison, differences: Vec::new(), warnings: merged.warnings, files }
}

/// The report on an Ascend Profiler capture; lists without an end of their own hold the first `top`.
pub fn ascend_report(capture: &Capture, top: usize) -> CaptureReport {
    let facts = &capture.facts;
    CaptureReport::Ascend(Box::new(AscendReport {
        source: facts.source.clone(),
        role: facts.role.clone(),
        rank: facts.rank,
        capture_time: facts.capture_time.clone(),
        versions: Versions { torch_npu: facts.torch_npu.clone(), cann: facts.cann.clone() },
        facts: facts.setup.clone(),
        rows: Rows { read: facts.rows_read, set_aside: facts.rows_set_aside },
        devices: capture.devices.iter().filter_map(|device| device_report(capture, device, top)).collect(),
        stacks: stack_counts(capture),
        outside_framework: outside_framework(capture),
        warnings: facts.warnings.clone(),
    }))
}

/// `None` for a pool in which nothing lived for any time.
fn device_report(capture: &Capture, device: &Device, top: usize) -> Option<DeviceReport> {
    let (blocks, replay) = (&device.blocks, &device.replay);
    let unattributed = blocks.name.iter().filter(|&&name| blocks.names[name as usize].is_empty()).count();
    let alive = live::at_the_end(blocks);
    let folded = blocks.folded.as_deref();
    let open = folded.map(|folded| folded.open(folded.label()));
    Some(DeviceReport {
        device: device.device.clone(),
        pool: Cow::Borrowed(device.pool.name()),
        blocks: blocks.count(),
        unattributed_blocks: unattributed as u64 + folded.map_or(0, |folded| folded.unnamed_blocks),
        first_ns: blocks.first_ns().to_string(),
        last_ns: blocks.last_ns().to_string(),
        peak: peak_report(device)?,
        alive_at_end: AliveAtEnd {
            blocks: alive.len() as u64 + open.as_ref().map_or(0, |open| open.blocks),
            bytes: live::bytes_of(blocks, &alive).saturating_add(open.as_ref().map_or(0, |open| open.bytes)),
            by_operator: operator_groups(device, &alive, open),
        },
        baseline: BaselineReport { first_bytes: *replay.curves.baseline_bytes.first()?, drops: changes(&replay.drops), rises: changes(&replay.rises) },
        max_reserved_gap_bytes: replay.curves.max_reserved_gap_bytes(),
        growth: growth_reports(capture, device, top),
        top_by_bytes: allocator_reports(device, capture.end_ns, top),
        folded: folded.map(|folded| folded_report(folded, replay)),
    })
}

fn folded_report(folded: &Folded, replay: &Replay) -> FoldedReport {
    let at_peak = folded.alive(replay.peak.unwrap_or(usize::MAX), ());
    FoldedReport { up_to_bytes: folded.up_to_bytes, blocks: folded.blocks, bytes: folded.bytes, peak_blocks: at_peak.blocks, peak_bytes: at_peak.bytes }
}

/// The folded blocks alive at an entry of the curves, by the name that stands for them; `None` where there are none.
pub fn folded_at(device: &Device, entry: usize) -> Option<Group<String>> {
    let folded = device.blocks.folded.as_deref()?;
    Some(folded.alive(entry, folded.label())).filter(|group| group.blocks > 0)
}

fn peak_report(device: &Device) -> Option<PeakReport> {
    let (blocks, curves) = (&device.blocks, &device.replay.curves);
    let at = device.replay.peak?;
    let live = live::at(blocks, curves.time_ns[at]);
    let folded = folded_at(device, at);
    Some(PeakReport {
        time_ns: curves.time_ns[at].to_string(),
        total_bytes: curves.total_bytes(at),
        tracked_bytes: curves.tracked_bytes[at],
        baseline_bytes: curves.baseline_bytes[at],
        reserved_bytes: known(curves.reserved_bytes[at]),
        active_bytes: known(curves.active_bytes[at]),
        live_blocks: live.len() as u64 + folded.as_ref().map_or(0, |folded| folded.blocks),
        by_operator: operator_groups(device, &live, folded.clone()),
        by_stack: device.stacks.as_ref().map(|stacks| stack_groups(blocks, stacks, &live, folded.clone())),
        by_stream: stream_groups(blocks, &live, folded),
        by_size_class: size_class_groups(device, at, &live),
    })
}

/// `None`: the rows name no stream.
fn stream_groups(blocks: &Blocks, chosen: &[u32], folded: Option<Group<String>>) -> Option<Vec<StreamGroup>> {
    if blocks.streams.iter().all(|stream| stream.is_empty()) {
        return None;
    }
    let groups = live::by_stream(blocks, chosen).into_iter().map(|group| group.renamed(|key| blocks.streams[key as usize].clone())).chain(folded);
    let mut groups: Vec<StreamGroup> = groups.map(|Group { key, bytes, blocks }| StreamGroup { stream: key, bytes, blocks }).collect();
    groups.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.stream.cmp(&b.stream)));
    Some(groups)
}

/// Folded blocks are those of the smallest classes together.
fn size_class_groups(device: &Device, at: usize, chosen: &[u32]) -> Vec<SizeClassGroup> {
    let folded = device.blocks.folded.as_deref().map(|folded| folded.alive(at, folded.up_to_bytes)).filter(|group| group.blocks > 0);
    let mut groups: Vec<SizeClassGroup> = live::by_size_class(&device.blocks, chosen)
        .into_iter()
        .chain(folded)
        .map(|Group { key, bytes, blocks }| SizeClassGroup { up_to_bytes: key, bytes, blocks })
        .collect();
    groups.sort_by_key(|group| (Reverse(group.bytes), group.up_to_bytes));
    groups
}

fn stack_groups(blocks: &Blocks, stacks: &Stacks, chosen: &[u32], folded: Option<Group<String>>) -> Vec<StackGroup> {
    let groups = live::by_key(blocks, chosen, &stacks.of_block).into_iter();
    let mut guessed: BTreeMap<u32, u64> = BTreeMap::new();
    for &block in chosen.iter().filter(|&&block| stacks.reasons[block as usize] == Reason::Nearest) {
        *guessed.entry(stacks.of_block[block as usize]).or_default() += 1;
    }
    let mut groups: Vec<StackGroup> = groups
        .map(|Group { key, bytes, blocks }| StackGroup { stack: stacks.frames(key), bytes, blocks, nearest_blocks: guessed.get(&key).copied().unwrap_or(0) })
        .chain(folded.map(|Group { key, bytes, blocks }| StackGroup { stack: vec![key], bytes, blocks, nearest_blocks: 0 }))
        .collect();
    groups.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.stack.cmp(&b.stack)));
    groups
}

fn growth_reports(capture: &Capture, device: &Device, top: usize) -> Option<Vec<GrowthReport>> {
    let stacks = device.stacks.as_ref()?;
    let found = growth(&device.blocks, |block| Some(stacks.of_block[block]), &capture.step_ends_ns());
    let report = |growth: Growth| GrowthReport {
        name: operator_label(&device.blocks.names[growth.name as usize]).to_owned(),
        stack: stacks.frames(growth.stack),
        size_bytes: growth.size_bytes,
        per_step_blocks: growth.per_step_blocks,
        alive_at_end_blocks: Some(growth.kept_blocks),
    };
    Some(found.into_iter().take(top).map(report).collect())
}

fn outside_framework(capture: &Capture) -> Option<Vec<ComponentReport>> {
    let device = capture.devices.first()?;
    let peak_ns = device.replay.curves.time_ns[device.replay.peak?];
    let around = &capture.around;
    if around.memory_record.is_none() && around.module_memory.is_none() {
        return None;
    }
    let report = |component: &str, (time_ns, reserved_bytes): (i64, i64)| ComponentReport {
        component: component.to_owned(),
        time_ns: time_ns.to_string(),
        reserved_bytes,
    };
    let modules = around.module_memory.iter().flatten().filter(|series| series.device == device.device);
    let mut found: Vec<ComponentReport> = modules.filter_map(|series| Some(report(&series.component, series.at(peak_ns)?))).collect();
    found.sort_by(|a, b| b.reserved_bytes.cmp(&a.reserved_bytes).then_with(|| a.component.cmp(&b.component)));
    let total = reserved::outside_framework(around.memory_record.as_deref().unwrap_or_default(), &device.device, peak_ns);
    found.extend(total.map(|total| report("total", total)));
    Some(found)
}

/// What was alive at an event, by operator.
pub fn operators_at(device: &Device, event: usize) -> Vec<OperatorGroup> {
    operator_groups(device, &live::at(&device.blocks, device.replay.curves.time_ns[event]), folded_at(device, event))
}

fn operator_groups(device: &Device, chosen: &[u32], folded: Option<Group<String>>) -> Vec<OperatorGroup> {
    let label = |key: u32| operator_label(&device.blocks.names[key as usize]).to_owned();
    let groups = live::by_operator(&device.blocks, chosen).into_iter().map(|group| group.renamed(label));
    let Some(folded) = folded.filter(|folded| folded.blocks > 0) else { return groups.map(OperatorGroup::of).collect() };
    let mut groups: Vec<OperatorGroup> = groups.chain([folded]).map(OperatorGroup::of).collect();
    groups.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    groups
}

impl OperatorGroup {
    fn of(Group { key, bytes, blocks }: Group<String>) -> OperatorGroup {
        OperatorGroup { name: key, bytes, blocks }
    }
}

fn allocator_reports(device: &Device, end_ns: i64, top: usize) -> Vec<AllocatorReport> {
    let blocks = &device.blocks;
    let name = |allocator: &Allocator| operator_label(&blocks.names[allocator.key as usize]).to_owned();
    let mut all: Vec<(String, Allocator)> = allocators::by_operator(blocks, end_ns).into_iter().map(|allocator| (name(&allocator), allocator)).collect();
    if let Some(folded) = &blocks.folded {
        all.push((folded.label(), folded.allocator(u32::MAX, end_ns)));
        all.retain(|(_, allocator)| allocator.blocks > 0);
        all.sort_by(|a, b| b.1.bytes.cmp(&a.1.bytes).then_with(|| a.0.cmp(&b.0)));
    }
    let all = all.into_iter().take(top);
    all.map(|(name, allocator)| AllocatorReport {
        name,
        blocks: allocator.blocks,
        bytes: allocator.bytes,
        largest_bytes: allocator.largest_bytes,
        mean_lifetime_ns: allocator.mean_lifetime_ns,
    })
    .collect()
}

fn changes(changes: &[Change]) -> Vec<ChangeReport> {
    changes.iter().map(|change| ChangeReport { time_ns: change.time_ns.to_string(), bytes: change.bytes }).collect()
}

/// A figure that the capture gives.
pub fn known(bytes: i64) -> Option<i64> {
    Some(bytes).filter(|&bytes| bytes != UNKNOWN)
}
