//! The part of the report that a JAX/XLA capture fills: what the schema `oomscope.report/1` says of kind `xplane`.

use super::diagnose::case::{Case, default_module};
use super::diagnose::diagnose;
use super::report::CaptureReport;
use crate::error::{Arg, Warning};
use crate::xplane::capture::Capture;
use crate::xplane::plan::{PeakBuffers, Plan};
use crate::xplane::roles::Role;
use crate::xplane::runtime::allocator::Allocator;
use crate::xplane::runtime::between::HostEvent;
use crate::xplane::runtime::execution::Execution;
use crate::xplane::runtime::owners::Owned;
use crate::xplane::runtime::retries::Retry;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One JAX/XLA capture. Times are nanoseconds since the profile's start.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null, hashmap_as_object))]
#[allow(missing_docs)] // The names are those of the schema.
pub struct XplaneReport {
    pub source: String,
    pub host: Option<String>,
    pub versions: JaxVersions,
    /// By needed bytes, the largest first, then name.
    pub modules: Vec<ModuleReport>,
    pub chosen_module: Option<String>,
    pub allocators: Vec<PoolReport>,
    pub executions: Vec<ExecutionReport>,
    pub retries: Vec<RetryReport>,
    pub live_at_last_start: Vec<LiveReport>,
    pub between_last_two: Vec<HostEventReport>,
    /// The gravest first.
    pub diagnosis: Vec<Diagnosis>,
    pub warnings: Vec<Warning>,
}

impl XplaneReport {
    /// Cuts the lists without an end of their own, as [`xplane_report`] does.
    pub fn shorten(&mut self, top: usize) {
        let peaks = self.modules.iter_mut().filter_map(|module| module.heap_peak.as_mut());
        peaks.for_each(|peak| peak.buffers.truncate(top));
        let mut room: BTreeMap<(Option<i64>, bool), usize> = BTreeMap::new();
        for event in &self.between_last_two {
            *room.entry((event.device, event.highlight)).or_default() += 1;
        }
        // Of each device the highlighted ones come first where there are too many.
        for device in self.between_last_two.iter().map(|event| event.device).collect::<Vec<_>>() {
            let highlighted = room.get(&(device, true)).copied().unwrap_or(0).min(top);
            room.insert((device, true), highlighted);
            let others = room.entry((device, false)).or_default();
            *others = (*others).min(top - highlighted);
        }
        self.between_last_two.retain(|event| match room.get_mut(&(event.device, event.highlight)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        });
    }
}

/// What wrote the capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct JaxVersions {
    pub jax: Option<String>,
    pub jaxlib: Option<String>,
}

/// The plan of one compiled module.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct ModuleReport {
    pub name: String,
    pub program_id: Option<i64>,
    pub executions: u64,
    /// Of its last execution; `null` where that cannot be known.
    pub launched: Option<bool>,
    pub parameters: ParametersReport,
    pub non_aliased_outputs_bytes: i64,
    pub constants_bytes: i64,
    pub thread_local_bytes: i64,
    pub temp_bytes: i64,
    pub needed_bytes: i64,
    pub other_spaces: Vec<SpaceReport>,
    pub xla_rematerialized: u64,
    /// JAX took a gradient in it.
    pub has_gradient: bool,
    /// `null` for a module without temporary memory.
    pub heap_peak: Option<HeapPeakReport>,
}

/// What a module is called with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct ParametersReport {
    pub bytes: i64,
    pub count: u64,
    pub donated_bytes: i64,
    pub donated_count: u64,
    /// As the module's own table of aliases counts them.
    pub aliased_count: u64,
    /// Given away for any use.
    pub donor_count: u64,
}

/// Memory of another space than the device's.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct SpaceReport {
    pub memory_space: i64,
    pub bytes: i64,
}

/// The instant of the schedule at which the plan holds most.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct HeapPeakReport {
    pub replay_bytes: i64,
    pub bytes: i64,
    pub plan_fragmentation_bytes: i64,
    pub roles: Vec<RoleReport>,
    pub buffers: Vec<BufferReport>,
    /// Buffers with two equal trailing dimensions: a hint at attention's scores.
    pub square: SquareReport,
}

/// Buffers with two equal trailing dimensions.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct SquareReport {
    pub bytes: i64,
    pub count: u64,
}

/// What the buffers of one role hold together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct RoleReport {
    pub role: String,
    pub bytes: i64,
}

/// Equal buffers that live at the peak.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct BufferReport {
    pub name: String,
    pub shape: String,
    pub bytes: i64,
    pub role: String,
    pub via: Option<String>,
    pub op_name: String,
    pub file: Option<String>,
    pub line: Option<i64>,
    pub function: Option<String>,
    pub count: u64,
    /// The user asked for it to be computed again.
    pub user_remat: bool,
    /// Two equal trailing dimensions.
    pub square: bool,
}

/// An allocator and what it held.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct PoolReport {
    pub name: String,
    pub device: Option<i64>,
    pub capacity_bytes: i64,
    pub events: u64,
    pub peak_bytes: i64,
    pub peak_before_first_execution_bytes: i64,
    /// `null`: the capture has no plane of that device that says it.
    pub hbm_bytes: Option<i64>,
}

/// One execution of a module on one device.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct ExecutionReport {
    pub device: Option<i64>,
    #[cfg_attr(target_arch = "wasm32", tsify(type = "string"))]
    pub module: Arc<str>,
    pub n: u64,
    pub start_ns: i64,
    pub duration_ns: i64,
    pub launched: Option<bool>,
    pub used_at_start_bytes: Option<i64>,
}

/// The allocator waiting for memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct RetryReport {
    pub device: Option<i64>,
    pub start_ns: i64,
    pub duration_ns: i64,
    pub module: Option<String>,
    pub execution: Option<u64>,
    /// No event says so; it follows from how long something took.
    pub inferred: bool,
}

/// What was alive when the chosen module last began on one device; the groups sum to what was used.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct LiveReport {
    pub device: Option<i64>,
    pub execution: u64,
    pub used_bytes: i64,
    pub groups: Vec<OwnerReport>,
}

/// Blocks of one owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct OwnerReport {
    pub owner: String,
    pub bytes: i64,
    pub blocks: u64,
}

/// What the host did between the last two executions of the chosen module.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct HostEventReport {
    pub device: Option<i64>,
    pub start_ns: i64,
    pub duration_ns: i64,
    pub name: String,
    pub highlight: bool,
    /// Of what may keep arrays: the Python functions around it, the innermost last.
    #[serde(default)]
    pub frames: Vec<String>,
}

/// Equal events, in one place.
pub struct HostEvents<'a> {
    /// The first of them.
    pub first: &'a HostEventReport,
    /// How many there are.
    pub count: u64,
    /// How long they took together.
    pub duration_ns: i64,
}

/// Equal events folded: those of one name, on one device, within the same Python functions; by the start of the first.
pub fn folded(events: &[HostEventReport]) -> Vec<HostEvents<'_>> {
    let mut places = FxHashMap::default();
    let mut folded: Vec<HostEvents> = Vec::new();
    for event in events {
        let place = *places.entry((event.device, event.highlight, &event.name, &event.frames)).or_insert(folded.len());
        match folded.get_mut(place) {
            Some(same) => (same.count, same.duration_ns) = (same.count + 1, same.duration_ns.saturating_add(event.duration_ns)),
            None => folded.push(HostEvents { first: event, count: 1, duration_ns: event.duration_ns }),
        }
    }
    folded
}

/// A verdict.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct Diagnosis {
    pub code: String,
    pub severity: String,
    /// The sentence in English; a page renders its own from `code` and `args`.
    pub text: String,
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Record<string, Arg>"))]
    pub args: BTreeMap<String, Arg>,
    pub numbers: Vec<Number>,
    pub fixes: Vec<Fix>,
}

/// A figure and where it comes from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct Number {
    pub label: String,
    pub value: i64,
    pub unit: String,
    pub basis: String,
}

/// What to change, and what that would save.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify), tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct Fix {
    /// Which fix it is; a page says it in its reader's language.
    pub code: String,
    pub action: String,
    /// `null`: cannot be estimated from a capture.
    pub saves_bytes: Option<i64>,
    pub fits_after: Option<bool>,
    pub cost: String,
    pub basis: String,
    pub confirm: String,
}

/// What a report is asked to say.
#[derive(Debug, Clone, Default)]
pub struct Wanted<'a> {
    /// So many of the lists without an end of their own.
    pub top: usize,
    /// The module to speak of, with or without its number; `None` takes the one that matters most.
    pub module: Option<&'a str>,
    /// So many executions, the last; `None` takes all.
    pub last_executions: Option<usize>,
}

/// The report on a JAX/XLA capture.
pub fn xplane_report(capture: &Capture, wanted: &Wanted) -> CaptureReport {
    let chosen = chosen_module(capture, wanted.module);
    let runtime = &capture.runtime;
    let last_two: Vec<(Option<i64>, Vec<&Execution>)> = chosen.map(|module| runtime.by_device(module)).unwrap_or_default().into_iter().collect();
    let case = Case::of(capture, chosen);
    let first = wanted.last_executions.map_or(0, |most| runtime.executions.len().saturating_sub(most));
    CaptureReport::Xplane(Box::new(XplaneReport {
        source: capture.source.clone(),
        host: capture.host.clone(),
        versions: JaxVersions { jax: capture.jax.clone(), jaxlib: capture.jaxlib.clone() },
        modules: modules(capture, wanted.top),
        chosen_module: chosen.map(str::to_owned),
        allocators: runtime.allocators.iter().map(|allocator| pool(capture, allocator)).collect(),
        executions: runtime.executions[first..].iter().map(execution_report).collect(),
        retries: runtime.retries.iter().map(|retry| retry_report(capture, retry)).collect(),
        live_at_last_start: last_two.iter().filter_map(|(device, executions)| live(capture, *device, executions.last()?)).collect(),
        between_last_two: last_two.iter().flat_map(|(device, _)| between(capture, chosen.unwrap_or_default(), *device, wanted.top)).collect(),
        diagnosis: diagnose(&case),
        warnings: capture.warnings.clone(),
    }))
}

/// The module of that name: `jit_f(47)`, or `jit_f` where there is one alone or the largest of several.
fn named<'a>(capture: &'a Capture, wanted: &str) -> Option<&'a str> {
    let exact = capture.plans.iter().find(|plan| plan.name == wanted).map(|plan| &plan.name[..]);
    let bare = || capture.plans.iter().filter(|plan| plan.bare_name() == wanted).max_by_key(|plan| plan.needed_bytes()).map(|plan| &plan.name[..]);
    let ran = || capture.runtime.executions.iter().map(|execution| &execution.module[..]).find(|module| *module == wanted);
    exact.or_else(bare).or_else(ran)
}

/// The module to speak of: that of a name, else the one that matters most.
pub fn chosen_module<'a>(capture: &'a Capture, wanted: Option<&str>) -> Option<&'a str> {
    wanted.and_then(|module| named(capture, module)).or_else(|| default_module(capture))
}

/// Whether a capture has a module of that name.
pub fn has_module(capture: &Capture, wanted: &str) -> bool {
    named(capture, wanted).is_some()
}

fn ns(ps: i64) -> i64 {
    ps.div_euclid(1000)
}

/// How often a module ran, and whether its last execution on each device was launched.
#[derive(Default)]
struct Ran {
    times: u64,
    last: BTreeMap<Option<i64>, Option<bool>>,
}

fn modules(capture: &Capture, top: usize) -> Vec<ModuleReport> {
    let mut ran: FxHashMap<&str, Ran> = FxHashMap::default();
    for execution in &capture.runtime.executions {
        let ran = ran.entry(&execution.module).or_default();
        ran.times += 1;
        ran.last.insert(execution.device, execution.launched);
    }
    let mut plans: Vec<&Plan> = capture.plans.iter().collect();
    plans.sort_by(|a, b| b.needed_bytes().cmp(&a.needed_bytes()).then_with(|| a.name.cmp(&b.name)));
    plans.into_iter().map(|plan| module(plan, &ran.remove(&plan.name[..]).unwrap_or_default(), top)).collect()
}

fn module(plan: &Plan, ran: &Ran, top: usize) -> ModuleReport {
    // On several devices, one that launched nothing is what matters.
    let launched = if ran.last.values().any(|&launched| launched == Some(false)) { Some(false) } else { ran.last.values().next().copied().flatten() };
    let parameters = &plan.parameters;
    ModuleReport {
        name: plan.name.clone(),
        program_id: plan.program_id,
        executions: ran.times,
        launched,
        parameters: ParametersReport {
            bytes: parameters.bytes,
            count: parameters.count,
            donated_bytes: parameters.donated_bytes,
            donated_count: parameters.donated_count,
            aliased_count: parameters.aliased_count,
            donor_count: parameters.donor_count,
        },
        non_aliased_outputs_bytes: plan.non_aliased_outputs_bytes,
        constants_bytes: plan.constants_bytes,
        thread_local_bytes: plan.thread_local_bytes,
        temp_bytes: plan.temp_bytes,
        needed_bytes: plan.needed_bytes(),
        other_spaces: plan.other_spaces.iter().map(|&(memory_space, bytes)| SpaceReport { memory_space, bytes }).collect(),
        xla_rematerialized: plan.xla_rematerialized,
        has_gradient: plan.has_gradient,
        heap_peak: plan.heap.as_ref().map(|heap| HeapPeakReport {
            replay_bytes: heap.replay_bytes,
            bytes: plan.heap_peak_bytes().unwrap_or(0),
            plan_fragmentation_bytes: plan.temp_bytes.saturating_sub(heap.replay_bytes),
            roles: Role::ALL.into_iter().zip(heap.roles).map(|(role, bytes)| RoleReport { role: role.name().to_owned(), bytes }).collect(),
            buffers: heap.buffers.iter().take(top).map(buffers).collect(),
            square: SquareReport { bytes: heap.square.bytes, count: heap.square.count },
        }),
    }
}

fn buffers(buffers: &PeakBuffers) -> BufferReport {
    let place = buffers.place.as_ref();
    BufferReport {
        name: buffers.name.clone(),
        shape: buffers.shape.clone(),
        bytes: buffers.bytes,
        role: buffers.role.name().to_owned(),
        via: buffers.via.clone(),
        op_name: buffers.op_name.clone(),
        file: place.map(|place| place.file.clone()),
        line: place.map(|place| place.line),
        function: place.map(|place| place.function.clone()).filter(|function| !function.is_empty()),
        count: buffers.count,
        user_remat: buffers.user_remat,
        square: buffers.is_square,
    }
}

fn pool(capture: &Capture, allocator: &Allocator) -> PoolReport {
    PoolReport {
        name: allocator.name.clone(),
        device: allocator.device,
        capacity_bytes: allocator.capacity_bytes,
        events: allocator.changes.len() as u64,
        peak_bytes: allocator.peak_bytes,
        peak_before_first_execution_bytes: allocator.first_peak_bytes,
        hbm_bytes: allocator.device.and_then(|device| capture.hbm_bytes.get(&device).copied()),
    }
}

fn execution_report(execution: &Execution) -> ExecutionReport {
    ExecutionReport {
        device: execution.device,
        module: execution.module.clone(),
        n: execution.n,
        start_ns: ns(execution.start_ps),
        duration_ns: ns(execution.end_ps.saturating_sub(execution.start_ps)),
        launched: execution.launched,
        used_at_start_bytes: execution.used_bytes,
    }
}

fn retry_report(capture: &Capture, retry: &Retry) -> RetryReport {
    let execution = retry.execution.map(|execution| &capture.runtime.executions[execution]);
    RetryReport {
        device: retry.device,
        start_ns: ns(retry.start_ps),
        duration_ns: ns(retry.duration_ps),
        module: execution.map(|execution| execution.module.to_string()),
        execution: execution.map(|execution| execution.n),
        inferred: retry.inferred,
    }
}

fn live(capture: &Capture, device: Option<i64>, last: &Execution) -> Option<LiveReport> {
    let allocator = capture.runtime.allocator(device)?;
    let groups = allocator.live_before(last.start_ps).into_iter().map(|Owned { owner, bytes, blocks }| OwnerReport { owner, bytes, blocks });
    Some(LiveReport { device, execution: last.n, used_bytes: last.used_bytes?, groups: groups.collect() })
}

fn between(capture: &Capture, module: &str, device: Option<i64>, top: usize) -> impl Iterator<Item = HostEventReport> {
    let report = move |event: HostEvent| HostEventReport {
        device,
        start_ns: ns(event.start_ps),
        duration_ns: ns(event.duration_ps),
        name: event.name,
        highlight: event.highlight,
        frames: event.frames,
    };
    capture.runtime.between(module, device, top).into_iter().map(report)
}
