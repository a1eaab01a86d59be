//! What happened at run time: the allocators, the executions of modules on devices, the waits for memory, who owned what, and what the host
//! did in between.
//!
//! `capacity = reserved + allocated + available` of an allocator, constant over a capture. What was in use before its first event has no
//! allocation: it is what is used less what is tracked.

use super::events::Events;
use super::events::class::{Class, WAIT_AT_LEAST_PS};
use super::events::line::Line;
use super::events::stats::Memory;
use super::look::{Looked, Window};
use super::names::Names;
use super::plan::{Plan, bare_name};
use super::space::PlaneKind;
use super::sweep::{Origin, Owner, Point, Question, Record, Sweep};
use crate::timeline::blocks::{Block, Blocks, BlocksBuilder, Interner, OPEN, Total, UNKNOWN};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What happened at run time.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// By name.
    pub allocators: Vec<Allocator>,
    /// By start.
    pub executions: Vec<Execution>,
    /// By start.
    pub retries: Vec<Retry>,
    /// What the host did between the last two executions of each module on each device.
    pub between: Vec<Between>,
}

/// What the host did between the last two executions of a module on a device, on the thread of the call: the outermost events that lie
/// wholly in between, and at any depth those that may be what keeps arrays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    /// See [`Execution::module`].
    pub module: Arc<str>,
    /// See [`Execution::device`].
    pub device: Option<i64>,
    /// By start.
    pub events: Vec<HostEvent>,
}

/// An allocator and its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocator {
    /// `GPU_0_bfc`.
    pub name: String,
    /// The device in its name.
    pub device: Option<i64>,
    /// What it manages.
    pub capacity_bytes: i64,
    /// The most in use within the capture.
    pub peak_bytes: i64,
    /// The most in use ever, as its first event says.
    pub first_peak_bytes: i64,
    /// By time.
    pub changes: Vec<Change>,
    /// Who asked for memory, by number.
    pub owners: Vec<String>,
}

/// Memory given or taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// When.
    pub time_ps: i64,
    /// It was given.
    pub is_allocation: bool,
    /// How much.
    pub bytes: i64,
    /// Where.
    pub address: i64,
    /// In use after it.
    pub allocated_bytes: i64,
    /// Free after it.
    pub available_bytes: i64,
    /// The largest request that could be met after it.
    pub largest_free_bytes: i64,
    /// Who asked.
    pub owner: u32,
}

impl Change {
    fn before_bytes(&self) -> i64 {
        if self.is_allocation { self.allocated_bytes.saturating_sub(self.bytes) } else { self.allocated_bytes.saturating_add(self.bytes) }
    }
}

/// A module running on a device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// `None`: nothing tells.
    pub device: Option<i64>,
    /// `jit_train_step(47)`; without the number where it is unknown.
    pub module: Arc<str>,
    /// Counted from 1 for each device and module.
    pub n: u64,
    /// When it began.
    pub start_ps: i64,
    /// When the host was through with it.
    pub end_ps: i64,
    /// Whether its kernels were launched; `None` where that cannot be known.
    pub launched: Option<bool>,
    /// In use on its device when it began.
    pub used_bytes: Option<i64>,
    /// What it asked of the allocator.
    pub requests: Vec<i64>,
    /// The thread of the call.
    pub caller: usize,
}

/// A wait for memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// `None`: nothing tells.
    pub device: Option<i64>,
    /// When it began.
    pub start_ps: i64,
    /// How long it took.
    pub duration_ps: i64,
    /// The execution it is in, by index.
    pub execution: Option<usize>,
    /// No event says so.
    pub inferred: bool,
}

/// What one owner had alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    /// See [`Allocator::owners`].
    pub owner: String,
    /// Together.
    pub bytes: i64,
    /// How many blocks; 0 for what was there before.
    pub blocks: u64,
}

/// What the host did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostEvent {
    /// When it began.
    pub start_ps: i64,
    /// How long it took.
    pub duration_ps: i64,
    /// `$train.py:41 next_batch`.
    pub name: String,
    /// It may be what keeps arrays.
    pub highlight: bool,
    /// The Python functions around it, the innermost last; told where it may be what keeps arrays.
    pub frames: Vec<String>,
}

/// The owner of what no event of the capture allocated.
pub const BEFORE: &str = "allocated before the capture started";
/// The owner of what was freed without an event of it.
const LOST: &str = "freed without an event";

/// What is known before the third reading.
pub struct Draft {
    runtime: Runtime,
    points: Vec<Point>,
    questions: Vec<Question>,
    stand_in: StandIns,
}

impl Draft {
    /// Puts together what the first two readings found.
    pub fn of(events: &mut Events, names: &Names, plans: &[Plan]) -> Draft {
        let sweep = Sweep::of(events);
        // There may be millions.
        events.lines.iter_mut().for_each(Line::forget);
        let events = &*events;
        let devices = Devices::of(events, names, &sweep);
        let chosen = chosen_records(&sweep);
        let mut modules = Modules { events, known: FxHashMap::default(), numbered: FxHashMap::default() };
        let mut executions: Vec<(usize, Execution)> = chosen.iter().map(|&record| (record, execution(&sweep, record, &devices, &mut modules))).collect();
        executions.sort_by_key(|(record, execution)| (execution.start_ps, execution.device, *record));
        let launches = Launches::of(events, &devices);
        let is_known = !devices.gpus.is_empty() || !sweep.points.is_empty();
        launches.attach(&mut executions, &sweep, &mut modules, is_known);
        name_modules(&mut executions, plans);
        let stand_in = StandIns::of(&sweep, executions.iter().map(|(record, _)| *record));
        let executions: Vec<Execution> = executions.into_iter().map(|(_, execution)| execution).collect();
        let retries = retries(&sweep, &executions, &stand_in, &devices);
        let Sweep { points, questions, .. } = sweep;
        Draft { runtime: Runtime { executions, retries, ..Runtime::default() }, points, questions, stand_in }
    }

    /// What the third reading has to say of allocations.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What it has to look at: between the last two executions of each module on each device.
    pub fn windows(&self) -> Vec<Window> {
        let mut last_two: BTreeMap<(&str, Option<i64>), [Option<&Execution>; 2]> = BTreeMap::new();
        for execution in &self.runtime.executions {
            let pair = last_two.entry((&execution.module, execution.device)).or_default();
            *pair = [pair[1], Some(execution)];
        }
        let window = |pair: [Option<&Execution>; 2]| {
            let [Some(before), Some(after)] = pair else { return None };
            Some(Window { line: after.caller, module: after.module.clone(), device: after.device, from_ps: before.end_ps, to_ps: after.start_ps })
        };
        last_two.into_values().filter_map(window).collect()
    }

    /// With what the third reading found.
    pub fn finish(self, events: &Events, looked: Looked) -> Runtime {
        let Draft { mut runtime, points, stand_in, .. } = self;
        runtime.allocators = allocators(&points, &events.texts, &runtime.executions, &stand_in, &looked);
        for execution in &mut runtime.executions {
            execution.used_bytes = allocator_of(&runtime.allocators, execution.device).and_then(|allocator| allocator.used_before(execution.start_ps));
        }
        runtime.between = looked.between;
        runtime
    }
}

impl Runtime {
    /// The allocator of a device.
    pub fn allocator(&self, device: Option<i64>) -> Option<&Allocator> {
        allocator_of(&self.allocators, device)
    }

    /// The executions of a module, by device.
    pub fn by_device(&self, module: &str) -> BTreeMap<Option<i64>, Vec<&Execution>> {
        let mut devices: BTreeMap<Option<i64>, Vec<&Execution>> = BTreeMap::new();
        for execution in self.executions.iter().filter(|execution| &*execution.module == module) {
            devices.entry(execution.device).or_default().push(execution);
        }
        devices
    }

    /// What the host did between the last two executions of a module on a device; where there is more than `most`, those first that may
    /// be what keeps arrays.
    pub fn between(&self, module: &str, device: Option<i64>, most: usize) -> Vec<HostEvent> {
        let found = self.between.iter().find(|between| &*between.module == module && between.device == device);
        found.map_or_else(Vec::new, |between| choose(between.events.iter().cloned(), most))
    }
}

/// At most so many events, those first that may be what keeps arrays; by start.
fn choose(events: impl Iterator<Item = HostEvent>, most: usize) -> Vec<HostEvent> {
    let (mut highlighted, mut others) = (Vec::new(), Vec::new());
    for event in events {
        let list = if event.highlight { &mut highlighted } else { &mut others };
        if list.len() < most {
            list.push(event);
        }
    }
    others.truncate(most - highlighted.len());
    highlighted.append(&mut others);
    highlighted.sort_by_key(|event| (event.start_ps, -event.duration_ps));
    highlighted
}

fn allocator_of(allocators: &[Allocator], device: Option<i64>) -> Option<&Allocator> {
    let device = device?;
    allocators.iter().filter(|allocator| allocator.device == Some(device)).max_by_key(|allocator| allocator.capacity_bytes)
}

impl Allocator {
    /// In use before an instant.
    pub fn used_before(&self, time_ps: i64) -> Option<i64> {
        match self.last_before(time_ps) {
            Some(change) => Some(change.allocated_bytes),
            None => self.changes.first().map(Change::before_bytes),
        }
    }

    /// The last event before an instant.
    pub fn last_before(&self, time_ps: i64) -> Option<&Change> {
        self.changes[..self.changes.partition_point(|change| change.time_ps < time_ps)].last()
    }

    /// What was alive before an instant, by owner, the largest first. It sums to what was in use.
    pub fn live_before(&self, time_ps: i64) -> Vec<Owned> {
        let mut alive: HashMap<i64, &Change> = HashMap::new();
        for change in self.changes.iter().take_while(|change| change.time_ps < time_ps) {
            if change.is_allocation {
                alive.insert(change.address, change);
            } else {
                alive.remove(&change.address);
            }
        }
        let mut groups: HashMap<u32, (i64, u64)> = HashMap::new();
        for change in alive.values() {
            let group = groups.entry(change.owner).or_default();
            *group = (group.0.saturating_add(change.bytes), group.1 + 1);
        }
        let mut owned: Vec<Owned> =
            groups.into_iter().map(|(owner, (bytes, blocks))| Owned { owner: self.owners[owner as usize].clone(), bytes, blocks }).collect();
        let tracked = owned.iter().fold(0i64, |sum, owned| sum.saturating_add(owned.bytes));
        let rest = self.used_before(time_ps).unwrap_or(0).saturating_sub(tracked);
        if rest != 0 {
            // Less in use than is tracked: a release without an event.
            owned.push(Owned { owner: if rest > 0 { BEFORE } else { LOST }.to_owned(), bytes: rest, blocks: 0 });
        }
        owned.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.owner.cmp(&b.owner)));
        owned
    }

    /// The columns of the timeline: blocks with their owners as names. What an execution gave back before it ended was no output.
    pub fn blocks(&self, executions: &[Execution]) -> Blocks {
        let own = executions.iter().filter(|execution| execution.device.is_none() || execution.device == self.device);
        let ends: FxHashMap<String, (i64, String)> = own.map(|execution| (outputs_of(execution), (execution.end_ps, temporaries_of(execution)))).collect();
        let mut open: HashMap<i64, usize> = HashMap::new();
        let mut blocks: Vec<(&str, Block)> = Vec::new();
        let mut freed: Vec<(i64, i64, Total)> = Vec::new();
        let mut last_ns = i64::MIN;
        for (line, change) in self.changes.iter().enumerate() {
            // Two events within one nanosecond would lose their order.
            let time_ns = change.time_ps.div_euclid(1000).max(last_ns.saturating_add(1));
            last_ns = time_ns;
            let total = Total { allocated_bytes: change.allocated_bytes, reserved_bytes: self.capacity_bytes, active_bytes: UNKNOWN, tolerance_millibytes: 0 };
            if !change.is_allocation {
                match open.remove(&change.address) {
                    Some(block) => {
                        let (owner, block) = &mut blocks[block];
                        (block.end_ns, block.at_end) = (time_ns, total);
                        if let Some((_, temporaries)) = ends.get(*owner).filter(|(end_ps, _)| change.time_ps <= *end_ps) {
                            *owner = temporaries;
                        }
                    }
                    None => freed.push((time_ns, change.bytes, total)),
                }
                continue;
            }
            open.insert(change.address, blocks.len());
            let block = Block {
                name: 0,
                stream: 0,
                size_bytes: change.bytes,
                start_ns: time_ns,
                end_ns: OPEN,
                active_end_ns: UNKNOWN,
                line: u32::try_from(line + 1).unwrap_or(u32::MAX),
                at_start: total,
                at_end: Total::UNKNOWN,
            };
            blocks.push((&self.owners[change.owner as usize], block));
        }
        let mut builder = BlocksBuilder::default();
        for (owner, block) in blocks.into_iter().filter(|(_, block)| block.size_bytes > 0) {
            let (name, stream) = (builder.name(owner), builder.stream(""));
            builder.push(&Block { name, stream, ..block });
        }
        freed.into_iter().for_each(|(time_ns, bytes, total)| builder.push_freed(time_ns, bytes, total));
        builder.finish()
    }
}

/// Which devices there are, and what a thread is about.
struct Devices<'a> {
    texts: &'a [String],
    gpus: Vec<i64>,
    /// Where there is one alone.
    only: Option<i64>,
    /// Threads whose executions are all on one device.
    of_line: HashMap<usize, Option<i64>>,
}

/// `GPU_0_bfc` → 0.
fn device_of_allocator(name: &str) -> Option<i64> {
    name.strip_prefix("GPU_")?.split_once('_')?.0.parse().ok()
}

impl<'a> Devices<'a> {
    fn of(events: &'a Events, names: &Names, sweep: &Sweep) -> Devices<'a> {
        let gpus: Vec<i64> = names.planes.iter().filter_map(|plane| if let PlaneKind::Gpu(device) = plane.kind() { Some(device) } else { None }).collect();
        let allocators: BTreeSet<u32> = sweep.points.iter().map(|point| point.memory.allocator).collect();
        let of_allocators = allocators.into_iter().filter_map(|allocator| device_of_allocator(&events.texts[allocator as usize]));
        let all: Vec<i64> = gpus.iter().copied().chain(of_allocators).collect::<BTreeSet<i64>>().into_iter().collect();
        let mut devices = Devices { texts: &events.texts, gpus, only: if let [only] = all[..] { Some(only) } else { None }, of_line: HashMap::new() };
        for record in &sweep.records {
            let Some(device) = devices.told(record) else { continue };
            let known = devices.of_line.entry(record.line).or_insert(Some(device));
            if *known != Some(device) {
                *known = None;
            }
        }
        devices
    }

    fn of_allocator(&self, allocator: Option<u32>) -> Option<i64> {
        device_of_allocator(self.texts.get(allocator? as usize)?)
    }

    /// What the events in an execution tell.
    fn told(&self, record: &Record) -> Option<i64> {
        record.device.or_else(|| self.of_allocator(record.allocator))
    }

    fn of_record(&self, record: &Record) -> Option<i64> {
        self.told(record).or_else(|| self.of_line.get(&record.line).copied().flatten()).or(self.only)
    }
}

/// Which records are executions: an Execute with its one part on the same thread counts once; each of several parts counts alone.
fn chosen_records(sweep: &Sweep) -> Vec<usize> {
    let records = &sweep.records;
    let mut parts: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, record) in records.iter().enumerate().filter(|(_, record)| record.is_helper) {
        if let Some(whole) = whole_of(sweep, record) {
            parts.entry(whole).or_default().push(index);
        }
    }
    let stands_alone = |whole: usize| parts.get(&whole).is_none_or(|parts| matches!(parts[..], [part] if records[part].line == records[whole].line));
    let is_chosen = |&index: &usize| {
        let record = &records[index];
        if record.is_helper { whole_of(sweep, record).is_none_or(|whole| !stands_alone(whole)) } else { stands_alone(index) }
    };
    (0..records.len()).filter(is_chosen).collect()
}

/// The Execute that a helper is a part of: around it, or on the thread that began it.
fn whole_of(sweep: &Sweep, record: &Record) -> Option<usize> {
    record.parent.or_else(|| origins(sweep, &record.consumes).find_map(|origin| origin.record)).filter(|&whole| !sweep.records[whole].is_helper)
}

/// Where something was begun, and where that was begun.
fn origins<'a>(sweep: &'a Sweep, links: &[(i64, i64)]) -> impl Iterator<Item = &'a Origin> {
    const FARTHEST: usize = 4;
    let mut links = links.to_vec();
    let mut steps = 0;
    std::iter::from_fn(move || {
        let origin = links.iter().find_map(|link| sweep.origins.get(link)).filter(|_| steps < FARTHEST)?;
        steps += 1;
        links.clone_from(&origin.consumes);
        Some(origin)
    })
}

/// The execution that stands for each record.
struct StandIns(Vec<u32>);

const NO_EXECUTION: u32 = u32::MAX;

impl StandIns {
    /// By the records that are executions, in the executions' order.
    fn of(sweep: &Sweep, executions: impl Iterator<Item = usize>) -> StandIns {
        let mut number = vec![NO_EXECUTION; sweep.records.len()];
        executions.enumerate().for_each(|(execution, record)| number[record] = execution as u32);
        let mut found = number.clone();
        for (index, record) in sweep.records.iter().enumerate() {
            let whole = whole_of(sweep, record);
            if number[index] == NO_EXECUTION {
                if let Some(whole) = whole.or(record.parent).filter(|&whole| number[whole] != NO_EXECUTION) {
                    found[index] = number[whole];
                }
            } else if let Some(whole) = whole.filter(|_| record.is_helper) {
                // What an Execute asks for outside of its parts is counted to the first of them.
                if found[whole] == NO_EXECUTION {
                    found[whole] = number[index];
                }
            }
        }
        StandIns(found)
    }

    fn get(&self, record: usize) -> Option<usize> {
        self.0.get(record).copied().filter(|&execution| execution != NO_EXECUTION).map(|execution| execution as usize)
    }
}

/// The names of modules, each kept once.
struct Modules<'a> {
    events: &'a Events,
    known: FxHashMap<Told, Arc<str>>,
    numbered: FxHashMap<(Arc<str>, i64), Arc<str>>,
}

/// What tells a module's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Told {
    /// A text, by number.
    Text(u32),
    /// The name of an event, by number.
    Event(u32),
    Nothing,
}

impl Modules<'_> {
    fn name(&mut self, told: Told) -> Arc<str> {
        let events = self.events;
        let name = || match told {
            Told::Text(number) => events.texts[number as usize].as_str().into(),
            Told::Event(number) => match &events.names[number as usize].class {
                Class::Execute(module) => module.as_str().into(),
                Class::Pjit(function) => format!("jit_{function}").into(),
                _ => UNKNOWN_MODULE.into(),
            },
            Told::Nothing => UNKNOWN_MODULE.into(),
        };
        self.known.entry(told).or_insert_with(name).clone()
    }

    fn numbered(&mut self, name: &Arc<str>, id: i64) -> Arc<str> {
        self.numbered.entry((name.clone(), id)).or_insert_with(|| format!("{name}({id})").into()).clone()
    }
}

const UNKNOWN_MODULE: &str = "(unknown module)";

fn execution(sweep: &Sweep, index: usize, devices: &Devices, modules: &mut Modules) -> Execution {
    let record = &sweep.records[index];
    // The part on the device tells what its Execute does not.
    let parts = sweep.records.iter().enumerate().skip(index + 1).take_while(|(_, part)| part.line == record.line && part.start_ps < record.end_ps);
    let parts: Vec<&Record> = parts.filter(|(_, part)| part.parent == Some(index)).map(|(_, part)| part).collect();
    let all = || std::iter::once(record).chain(parts.iter().copied());
    let whole = whole_of(sweep, record).map(|whole| &sweep.records[whole]);
    let begun = || origins(sweep, &record.consumes);
    let function = || record.function.or_else(|| begun().find_map(|origin| origin.function)).map(Told::Event);
    let own = record.module.or_else(|| whole.and_then(|whole| whole.module)).map(Told::Event);
    let told = own.or_else(|| all().find_map(|part| part.thunks_module).map(Told::Text)).or_else(function).unwrap_or(Told::Nothing);
    let caller =
        if record.function.is_some() { record.line } else { begun().find(|origin| origin.function.is_some()).map_or(record.line, |origin| origin.line) };
    Execution {
        device: all().find_map(|part| devices.told(part)).or_else(|| devices.of_record(record)),
        module: modules.name(told),
        start_ps: record.start_ps,
        end_ps: record.end_ps,
        launched: Some(all().any(|part| part.launched)),
        requests: all().flat_map(|part| part.requests.iter().copied()).collect(),
        caller,
        ..Execution::default()
    }
}

/// Launches by device and time.
struct Launches {
    by_device: HashMap<i64, Vec<usize>>,
}

impl Launches {
    fn of(events: &Events, devices: &Devices) -> Launches {
        let mut by_device: HashMap<i64, Vec<usize>> = HashMap::new();
        for (index, launch) in events.launches.iter().enumerate() {
            // Command buffers hide kernels: where there is one device, it is that.
            if let Some(device) = events.kernels.get(&launch.correlation_id).copied().or(devices.only) {
                by_device.entry(device).or_default().push(index);
            }
        }
        Launches { by_device }
    }

    /// Says of each execution whether it launched anything, and of which program.
    fn attach(&self, executions: &mut [(usize, Execution)], sweep: &Sweep, modules: &mut Modules, is_known: bool) {
        let events = modules.events;
        let mut next_start: HashMap<Option<i64>, i64> = HashMap::new();
        for (record, execution) in executions.iter_mut().rev() {
            let until = next_start.insert(execution.device, execution.start_ps).unwrap_or(i64::MAX);
            let launches = execution.device.and_then(|device| self.by_device.get(&device)).map_or(&[][..], |launches| launches);
            let from = launches.partition_point(|&launch| events.launches[launch].start_ps < execution.start_ps);
            let mut window = launches[from..].iter().map(|&launch| &events.launches[launch]).take_while(|launch| launch.start_ps < until);
            let own = window.find(|launch| events.texts[launch.module as usize] == *execution.module);
            let launched = execution.launched == Some(true) || own.is_some();
            execution.launched = is_known.then_some(launched);
            let program_id = sweep.records[*record].program_id.or_else(|| own.and_then(|launch| launch.program_id));
            if let Some(id) = program_id {
                execution.module = modules.numbered(&execution.module, id);
            }
        }
    }
}

/// Gives modules their numbers, and executions theirs.
fn name_modules(executions: &mut [(usize, Execution)], plans: &[Plan]) {
    let mut by_name: HashMap<&str, Vec<&Plan>> = HashMap::new();
    plans.iter().for_each(|plan| by_name.entry(plan.bare_name()).or_default().push(plan));
    let whole_names: HashMap<&str, Arc<str>> = plans.iter().map(|plan| (&plan.name[..], plan.name.as_str().into())).collect();
    let mut counts: FxHashMap<(Option<i64>, Arc<str>), u64> = FxHashMap::default();
    for (_, execution) in executions {
        if let Some(plans) = by_name.get(&execution.module[..]) {
            let same_temp = || {
                let mut same = plans.iter().filter(|plan| plan.temp_bytes > 0 && execution.requests.contains(&plan.temp_bytes));
                same.next().filter(|_| same.next().is_none())
            };
            if let Some(plan) = if let [only] = plans[..] { Some(only) } else { same_temp().copied() } {
                execution.module.clone_from(&whole_names[&plan.name[..]]);
            }
        }
        let count = counts.entry((execution.device, execution.module.clone())).or_default();
        *count += 1;
        execution.n = *count;
    }
}

/// Groups the events of the allocators, and names the owners.
fn allocators(points: &[Point], texts: &[String], executions: &[Execution], stand_in: &StandIns, looked: &Looked) -> Vec<Allocator> {
    let mut by_name: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
    for point in points {
        by_name.entry(&texts[point.memory.allocator as usize]).or_default().push(point);
    }
    by_name.into_iter().map(|(name, points)| allocator(name, points, executions, stand_in, looked)).collect()
}

fn allocator(name: &str, mut points: Vec<&Point>, executions: &[Execution], stand_in: &StandIns, looked: &Looked) -> Allocator {
    points.sort_by_key(|point| point.time_ps);
    let mut owners = Interner::default();
    let owner = |point: &Point| match point.owner {
        Owner::Asked(question) => looked.owners[looked.answers[question as usize] as usize].clone(),
        Owner::Nobody => String::new(),
        Owner::Record(record) => stand_in.get(record).map_or_else(String::new, |number| outputs_of(&executions[number])),
    };
    let changes: Vec<Change> = points
        .iter()
        .map(|point| Change {
            time_ps: point.time_ps,
            is_allocation: point.is_allocation,
            bytes: point.memory.bytes,
            address: point.memory.address,
            allocated_bytes: point.memory.allocated_bytes,
            available_bytes: point.memory.available_bytes,
            largest_free_bytes: largest_free(&point.memory),
            owner: if point.is_allocation { owners.number(&owner(point)) } else { 0 },
        })
        .collect();
    let capacity =
        |point: &&Point| [point.memory.reserved_bytes, point.memory.allocated_bytes, point.memory.available_bytes].into_iter().fold(0, i64::saturating_add);
    Allocator {
        name: name.to_owned(),
        device: device_of_allocator(name),
        capacity_bytes: points.iter().map(capacity).max().unwrap_or(0),
        peak_bytes: changes.iter().map(|change| change.allocated_bytes).max().unwrap_or(0),
        first_peak_bytes: points.first().map_or(0, |point| point.memory.peak_bytes),
        changes,
        owners: owners.texts,
    }
}

/// `free × (1 − fragmentation)`
fn largest_free(memory: &Memory) -> i64 {
    (memory.available_bytes as f64 * (1.0 - memory.fragmentation.clamp(0.0, 1.0))).round() as i64
}

/// What an execution allocated and freed.
fn temporaries_of(execution: &Execution) -> String {
    format!("temporaries of {} execution {}", bare_name(&execution.module), execution.n)
}

/// The owner of what an execution allocated and did not free.
pub fn outputs_of(execution: &Execution) -> String {
    format!("outputs of {} execution {}", bare_name(&execution.module), execution.n)
}

fn retries(sweep: &Sweep, executions: &[Execution], stand_in: &StandIns, devices: &Devices) -> Vec<Retry> {
    let mut retries: Vec<Retry> = sweep
        .waits
        .iter()
        .map(|wait| {
            let execution = wait.record.and_then(|record| stand_in.get(record));
            let device = execution.and_then(|execution| executions[execution].device).or_else(|| devices.of_allocator(wait.allocator));
            Retry { device, start_ps: wait.start_ps, duration_ps: wait.duration_ps, execution, inferred: wait.inferred }
        })
        .collect();
    // Older plugins have no event for it: an execution that takes as long and launches nothing waited.
    for (index, execution) in executions.iter().enumerate() {
        let duration_ps = execution.end_ps.saturating_sub(execution.start_ps);
        let told = || retries.iter().any(|retry| retry.execution == Some(index));
        if execution.launched == Some(false) && duration_ps >= WAIT_AT_LEAST_PS && !told() {
            retries.push(Retry { device: execution.device, start_ps: execution.start_ps, duration_ps, execution: Some(index), inferred: true });
        }
    }
    retries.sort_by_key(|retry| (retry.start_ps, retry.device));
    retries
}

#[cfg(test)]
mod tests {
    use super::super::events::class::{Keep, Name};
    use super::super::events::stats::{Launch, Note};
    use super::super::look::{Look, Seen};
    use super::super::names::PlaneNames;
    use super::*;
    use crate::timeline::replay::Replay;

    /// What stands behind an event's name and times.
    #[derive(Clone, Copy)]
    enum With {
        Nothing,
        /// In use after it, bytes, address; of 1000 on the given GPU.
        Memory(i64, i64, i64, i64),
        Shape(&'static str),
        Links(Option<i64>, Option<i64>),
    }
    use With::Nothing;

    type Row = (&'static str, i64, i64, With);

    /// What the second reading keeps of such lines.
    fn host(lines: &[&[Row]]) -> Events {
        let mut events = Events { texts: (0..3).map(|device| format!("GPU_{device}_bfc")).collect(), ..Events::default() };
        for rows in lines {
            let mut line = Line::default();
            for &(name, start_ps, duration_ps, with) in *rows {
                let number = events.names.len() as u32;
                events.names.push(Name::of(name));
                let has_note = matches!(with, With::Links(..) | With::Shape(_));
                if !Keep::of(&events.names[number as usize]).admits(duration_ps, has_note) {
                    continue;
                }
                let index = line.start_ps.len() as u32;
                line.start_ps.push(start_ps);
                line.duration_ps.push(duration_ps);
                line.name.push(number);
                match with {
                    Nothing | With::Shape(_) => {}
                    With::Links(produces, consumes) => {
                        let link = |id: Option<i64>| id.map(|id| (5, id));
                        line.notes.0.push((index, Note { produces: link(produces), consumes: link(consumes), ..Note::default() }));
                    }
                    With::Memory(device, allocated_bytes, bytes, address) => {
                        let memory = Memory {
                            allocator: device as u32,
                            reserved_bytes: 0,
                            allocated_bytes,
                            available_bytes: 1000 - allocated_bytes,
                            fragmentation: 0.25,
                            peak_bytes: 900,
                            requested_bytes: bytes,
                            bytes,
                            address,
                        };
                        line.memory.0.push((index, memory));
                    }
                }
            }
            events.lines.push(line);
        }
        events
    }

    /// All three readings of such lines.
    fn run(lines: &[&[Row]], names: &Names, plans: &[Plan]) -> Runtime {
        run_events(&mut host(lines), lines, names, plans)
    }

    fn run_events(events: &mut Events, lines: &[&[Row]], names: &Names, plans: &[Plan]) -> Runtime {
        let draft = Draft::of(events, names, plans);
        let mut look = Look::new(events, names, draft.questions(), draft.windows());
        let mut name = 0;
        for (line, rows) in lines.iter().enumerate() {
            for &(_, start_ps, duration_ps, with) in *rows {
                look.see(line, Seen { start_ps, duration_ps, name, shape: None }, if let With::Shape(shape) = with { Some(shape) } else { None });
                name += 1;
            }
        }
        let looked = look.finish();
        draft.finish(events, looked)
    }

    fn gpus(count: i64) -> Names {
        let planes = (0..count).map(|device| PlaneNames { name: format!("/device:GPU:{device}"), ..PlaneNames::default() });
        Names { planes: planes.collect(), ..Names::default() }
    }

    fn plan(name: &str, temp_bytes: i64) -> Plan {
        Plan { name: name.to_owned(), temp_bytes, ..Plan::default() }
    }

    fn link(produces: Option<i64>, consumes: Option<i64>) -> With {
        With::Links(produces, consumes)
    }

    /// Device, module, number, launched, used.
    type Told<'a> = (Option<i64>, &'a str, u64, Option<bool>, Option<i64>);

    fn told(runtime: &Runtime) -> Vec<Told<'_>> {
        runtime.executions.iter().map(|execution| (execution.device, &execution.module[..], execution.n, execution.launched, execution.used_bytes)).collect()
    }

    fn owned(allocator: &Allocator, time_ps: i64) -> Vec<(String, i64, u64)> {
        allocator.live_before(time_ps).into_iter().map(|owned| (owned.owner, owned.bytes, owned.blocks)).collect()
    }

    const EXECUTE: &str = "CommonPjRtLoadedExecutable::Execute (jit_f)";
    const HELPER: &str = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice";

    #[test]
    fn one_execution_on_one_device_and_what_it_leaves() {
        let rows = [
            ("BufferFromHostBuffer", 0, 10, With::Shape("s32[8]")),
            ("MemoryAllocation", 5, 0, With::Memory(0, 130, 30, 1)),
            ("PjitFunction(f)", 20, 50, Nothing),
            (EXECUTE, 21, 40, Nothing),
            (HELPER, 22, 38, Nothing),
            ("MemoryAllocation", 23, 0, With::Memory(0, 150, 20, 2)),
            ("[0] GpuExecutable::ExecuteThunks", 24, 5, Nothing),
            ("MemoryAllocation", 25, 0, With::Memory(0, 190, 40, 3)),
            ("MemoryDeallocation", 30, 0, With::Memory(0, 150, 40, 3)),
            ("MemoryDeallocation", 80, 0, With::Memory(0, 140, 10, 77)),
            ("$train.py:3 keep", 90, 20, Nothing),
            ("$<unknown> append", 95, 1, Nothing),
            (EXECUTE, 120, 5, Nothing),
        ];
        let runtime = run(&[&rows], &gpus(1), &[plan("jit_f(7)", 40)]);
        assert_eq!(told(&runtime), [(Some(0), "jit_f(7)", 1, Some(true), Some(130)), (Some(0), "jit_f(7)", 2, Some(false), Some(140))]);
        let allocator = runtime.allocator(Some(0)).unwrap();
        assert_eq!((allocator.capacity_bytes, allocator.peak_bytes, allocator.first_peak_bytes), (1000, 190, 900));
        let expected = [(BEFORE.to_owned(), 90, 0), ("BufferFromHostBuffer(s32[8])".to_owned(), 30, 1), ("outputs of jit_f execution 1".to_owned(), 20, 1)];
        assert_eq!(owned(allocator, 120), expected);
        let between = |most| runtime.between("jit_f(7)", Some(0), most).into_iter().map(|event| event.name).collect::<Vec<_>>();
        assert_eq!(between(9), ["MemoryDeallocation", "$train.py:3 keep", "$<unknown> append"]);
        assert_eq!(between(1), ["$<unknown> append"]);
        let blocks = allocator.blocks(&runtime.executions);
        assert_eq!((blocks.len(), blocks.freed.time_ns.len()), (3, 1));
        let named = |block: usize| (blocks.names[blocks.name[block] as usize].as_str(), blocks.size_bytes[block]);
        assert_eq!((named(1), named(2)), (("outputs of jit_f execution 1", 20), ("temporaries of jit_f execution 1", 40)));
        let replay = Replay::of(&blocks);
        assert_eq!((replay.curves.total_bytes(replay.peak.unwrap()), replay.rises.len()), (190, 0));
    }

    #[test]
    fn several_devices_are_linked_and_numbered_apart() {
        let worker = |device: i64, start: i64, thunks: bool| {
            let name = if thunks { "GpuExecutable::ExecuteThunks" } else { "Handle inputs" };
            vec![(HELPER, start, 10, link(None, Some(1))), ("MemoryAllocation", start + 1, 0, With::Memory(device, 8, 8, 1)), (name, start + 2, 2, Nothing)]
        };
        let (first, second) = (worker(0, 10, true), worker(1, 12, false));
        let caller = [("PjitFunction(f)", 0, 50, Nothing), (EXECUTE, 1, 40, link(Some(1), None))];
        let runtime = run(&[&caller, &first, &second], &gpus(2), &[plan("jit_f(7)", 0)]);
        assert_eq!(told(&runtime), [(Some(0), "jit_f(7)", 1, Some(true), Some(0)), (Some(1), "jit_f(7)", 1, Some(false), Some(0))]);
        assert!(runtime.executions.iter().all(|execution| execution.caller == 0));
    }

    #[test]
    fn the_classic_helper_gets_its_module_through_its_link() {
        let caller = [("PjitFunction(f)", 0, 50, Nothing), ("PjRtStreamExecutorLoadedExecutable::Execute", 1, 40, link(Some(9), None))];
        let worker = [
            ("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 5, 20, Nothing),
            ("PjRtStreamExecutorLoadedExecutable::EnqueueExecution", 6, 10, link(None, Some(9))),
            ("MemoryAllocation", 7, 0, With::Memory(2, 16, 16, 5)),
        ];
        let runtime = run(&[&caller, &worker], &gpus(3), &[]);
        assert_eq!(told(&runtime), [(Some(2), "jit_f", 1, Some(false), Some(0))]);
    }

    #[test]
    fn without_gpu_and_allocator_nothing_is_said_of_launches() {
        let runtime = run(&[&[("PjitFunction(f)", 0, 50, Nothing), (HELPER, 1, 40, Nothing)]], &gpus(0), &[]);
        assert_eq!(told(&runtime), [(None, "jit_f", 1, None, None)]);
    }

    #[test]
    fn a_launch_on_the_same_device_counts_and_tells_the_program() {
        let launch = |start_ps: i64, correlation_id: i64| Launch { start_ps, module: 3, program_id: Some(42), correlation_id };
        let line = |device: i64| [(HELPER, 10 * device, 5, Nothing), ("MemoryAllocation", 10 * device + 1, 0, With::Memory(device, 8, 8, 1))];
        let mut events = host(&[&line(0), &line(1)]);
        events.names.iter_mut().for_each(|name| {
            if name.text == HELPER {
                *name = Name::of(EXECUTE)
            }
        });
        events.texts.push("jit_f".to_owned());
        events.launches = vec![launch(12, 70)];
        events.kernels = HashMap::from([(70, 1)]);
        let runtime = run_events(&mut events, &[&line(0), &line(1)], &gpus(2), &[plan("jit_f(42)", 0), plan("jit_f(43)", 0)]);
        assert_eq!(told(&runtime), [(Some(0), "jit_f", 1, Some(false), Some(0)), (Some(1), "jit_f(42)", 1, Some(true), Some(0))]);
    }

    #[test]
    fn of_modules_of_one_name_the_temporary_block_tells() {
        let rows = [(EXECUTE, 0, 9, Nothing), ("MemoryAllocation", 1, 0, With::Memory(0, 64, 64, 1)), (EXECUTE, 20, 9, Nothing)];
        let runtime = run(&[&rows], &gpus(1), &[plan("jit_f(1)", 64), plan("jit_f(2)", 32)]);
        assert_eq!(runtime.executions.iter().map(|execution| &execution.module[..]).collect::<Vec<_>>(), ["jit_f(1)", "jit_f"]);
    }

    #[test]
    fn waits_are_events_or_inferred() {
        let second = 1_000_000_000_000;
        let rows = [
            (EXECUTE, 0, 10 * second, Nothing),
            ("AllocatorRetry::AllocateRaw", 5, 9 * second, Nothing),
            (EXECUTE, 11 * second, 10 * second, Nothing),
            (EXECUTE, 30 * second, second, Nothing),
        ];
        let runtime = run(&[&rows], &gpus(1), &[]);
        let waits: Vec<_> = runtime.retries.iter().map(|retry| (retry.execution, retry.duration_ps / second, retry.inferred, retry.device)).collect();
        assert_eq!(waits, [(Some(0), 9, false, Some(0)), (Some(1), 10, true, Some(0))]);

        let tensorflow = [
            ("EagerExecute", 0, 10 * second, Nothing),
            ("KernelAndDeviceFunc::Run", 1, 10 * second - 2, Nothing),
            ("EagerExecute", 11 * second, 10 * second, Nothing),
            ("MemoryAllocation", 12 * second, 0, With::Memory(0, 8, 8, 1)),
            ("$sleep", 30 * second, 10 * second, Nothing),
        ];
        let runtime = run(&[&tensorflow], &gpus(0), &[]);
        assert_eq!(runtime.retries.iter().map(|retry| (retry.start_ps, retry.inferred)).collect::<Vec<_>>(), [(1, true)]);
    }

    #[test]
    fn groups_sum_to_what_is_used_even_where_events_are_missing() {
        let rows = [
            ("MemoryAllocation", 1, 0, With::Memory(0, 50, 50, 1)),
            // Nothing says that it was freed; then the address is given again.
            ("MemoryAllocation", 2, 0, With::Memory(0, 30, 30, 1)),
            ("MemoryAllocation", 3, 0, With::Memory(0, 20, 10, 2)),
        ];
        let runtime = run(&[&rows], &gpus(1), &[]);
        let live = owned(&runtime.allocators[0], 4);
        assert_eq!(live.iter().map(|owned| owned.1).sum::<i64>(), 20);
        assert_eq!(live.last().unwrap(), &(LOST.to_owned(), -20, 0));
        assert_eq!(runtime.allocators[0].used_before(0), Some(0));
    }
}
