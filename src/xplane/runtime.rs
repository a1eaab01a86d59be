//! What happened at run time: the allocators, the executions of modules on devices, the waits for memory, who owned what, and what the host
//! did in between.
//!
//! `capacity = reserved + allocated + available` of an allocator, constant over a capture. What was in use before its first event has no
//! allocation: it is what is used less what is tracked.

use super::events::{Events, Line, Name};
use super::names::Names;
use super::plan::{Plan, bare_name};
use super::space::PlaneKind;
use super::sweep::{Origin, Owner, Point, Record, Sweep, WAIT_AT_LEAST_PS};
use crate::timeline::blocks::{Block, Blocks, BlocksBuilder, Interner, OPEN, Total, UNKNOWN};
use std::collections::{BTreeMap, HashMap};

/// What happened at run time.
#[derive(Debug, Default)]
pub struct Runtime {
    /// By name.
    pub allocators: Vec<Allocator>,
    /// By start.
    pub executions: Vec<Execution>,
    /// By start.
    pub retries: Vec<Retry>,
    /// What the threads did.
    lines: Vec<Line>,
    names: Vec<Name>,
}

/// An allocator and its events.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone, PartialEq)]
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
    /// 1 − largest free chunk / free.
    pub fragmentation: f64,
    /// Who asked.
    pub owner: u32,
}

impl Change {
    /// The largest request that can be met after it.
    pub fn largest_free_bytes(&self) -> i64 {
        (self.available_bytes as f64 * (1.0 - self.fragmentation)).round() as i64
    }

    fn before_bytes(&self) -> i64 {
        if self.is_allocation { self.allocated_bytes.saturating_sub(self.bytes) } else { self.allocated_bytes.saturating_add(self.bytes) }
    }
}

/// A module running on a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Execution {
    /// `None`: nothing tells.
    pub device: Option<i64>,
    /// `jit_train_step(47)`; without the number where it is unknown.
    pub module: String,
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostEvent {
    /// When it began.
    pub start_ps: i64,
    /// How long it took.
    pub duration_ps: i64,
    /// `$train.py:41 next_batch`.
    pub name: String,
    /// It may be what keeps arrays.
    pub highlight: bool,
}

/// The owner of what no event of the capture allocated.
pub const BEFORE: &str = "allocated before the capture started";
/// The owner of what was freed without an event of it.
const LOST: &str = "freed without an event";

impl Runtime {
    /// Puts together what the readings found.
    pub fn of(events: Events, names: &Names, plans: &[Plan]) -> Runtime {
        let sweep = Sweep::of(&events);
        let devices = Devices::of(&events, names, &sweep);
        let chosen = chosen_records(&sweep);
        let mut executions: Vec<(usize, Execution)> = chosen.iter().map(|&record| (record, execution(&sweep, record, &devices))).collect();
        executions.sort_by_key(|(record, execution)| (execution.start_ps, execution.device, *record));
        let launches = Launches::of(&events, &devices);
        let is_known = !devices.gpus.is_empty() || !sweep.points.is_empty();
        launches.attach(&mut executions, &sweep, &events, is_known);
        name_modules(&mut executions, plans);
        let number: HashMap<usize, usize> = executions.iter().enumerate().map(|(number, (record, _))| (*record, number)).collect();
        let stand_in = stand_ins(&sweep, &number);
        let mut runtime = Runtime { executions: executions.into_iter().map(|(_, execution)| execution).collect(), ..Runtime::default() };
        runtime.allocators = allocators(&sweep, &events.texts, &runtime.executions, &stand_in);
        runtime.retries = retries(&sweep, &runtime.executions, &stand_in, &devices);
        for execution in &mut runtime.executions {
            execution.used_bytes = allocator_of(&runtime.allocators, execution.device).and_then(|allocator| allocator.used_before(execution.start_ps));
        }
        runtime.lines = events.lines;
        runtime.names = events.names;
        runtime
    }

    /// The allocator of a device.
    pub fn allocator(&self, device: Option<i64>) -> Option<&Allocator> {
        allocator_of(&self.allocators, device)
    }

    /// The executions of a module, by device.
    pub fn by_device(&self, module: &str) -> BTreeMap<Option<i64>, Vec<&Execution>> {
        let mut devices: BTreeMap<Option<i64>, Vec<&Execution>> = BTreeMap::new();
        for execution in self.executions.iter().filter(|execution| execution.module == module) {
            devices.entry(execution.device).or_default().push(execution);
        }
        devices
    }

    /// What the host did between two executions, on the thread of the call: the outermost events that lie wholly in between, and at any
    /// depth those that may be what keeps arrays. These come first where there are more than `most`.
    pub fn between(&self, before: &Execution, after: &Execution, most: usize) -> Vec<HostEvent> {
        let Some(line) = self.lines.get(after.caller) else { return Vec::new() };
        let first = line.start_ps.partition_point(|&start| start < before.end_ps);
        let last = line.start_ps.partition_point(|&start| start < after.start_ps);
        let mut covered_ps = i64::MIN;
        let (mut highlighted, mut others) = (Vec::new(), Vec::new());
        for event in (first..last).filter(|&event| line.end_ps(event) <= after.start_ps) {
            let name = &self.names[line.name[event] as usize].text;
            let outermost = line.start_ps[event] >= covered_ps;
            covered_ps = covered_ps.max(line.end_ps(event));
            let list = if may_keep(name) { &mut highlighted } else { &mut others };
            if (outermost || may_keep(name)) && list.len() < most {
                list.push(HostEvent { start_ps: line.start_ps[event], duration_ps: line.duration_ps[event], name: name.clone(), highlight: may_keep(name) });
            }
        }
        others.truncate(most - highlighted.len());
        highlighted.append(&mut others);
        highlighted.sort_by_key(|event| (event.start_ps, -event.duration_ps));
        highlighted
    }
}

/// Whether an event may be what keeps arrays from one execution to the next.
fn may_keep(name: &str) -> bool {
    matches!(name, "$<unknown> append" | "$builtins append") || ["setdefault", "__setitem__", "device_put"].iter().any(|part| name.contains(part))
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

    /// The columns of the timeline: blocks with their owners as names.
    pub fn blocks(&self) -> Blocks {
        let mut open: HashMap<i64, usize> = HashMap::new();
        let mut blocks: Vec<Block> = Vec::new();
        let mut freed: Vec<(i64, i64, Total)> = Vec::new();
        let mut last_ns = i64::MIN;
        for (line, change) in self.changes.iter().enumerate() {
            // Two events within one nanosecond would lose their order.
            let time_ns = change.time_ps.div_euclid(1000).max(last_ns.saturating_add(1));
            last_ns = time_ns;
            let total = Total { allocated_bytes: change.allocated_bytes, reserved_bytes: self.capacity_bytes, active_bytes: UNKNOWN, tolerance_millibytes: 0 };
            if !change.is_allocation {
                match open.remove(&change.address) {
                    Some(block) => (blocks[block].end_ns, blocks[block].at_end) = (time_ns, total),
                    None => freed.push((time_ns, change.bytes, total)),
                }
                continue;
            }
            open.insert(change.address, blocks.len());
            blocks.push(Block {
                name: &self.owners[change.owner as usize],
                stream: "",
                size_bytes: change.bytes,
                start_ns: time_ns,
                end_ns: OPEN,
                active_end_ns: UNKNOWN,
                line: u32::try_from(line + 1).unwrap_or(u32::MAX),
                at_start: total,
                at_end: Total::UNKNOWN,
            });
        }
        let mut builder = BlocksBuilder::default();
        blocks.iter().filter(|block| block.size_bytes > 0).for_each(|block| builder.push(block));
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
        let mut all: Vec<i64> = gpus.iter().copied().chain(events.texts.iter().filter_map(|text| device_of_allocator(text))).collect();
        all.sort_unstable();
        all.dedup();
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

/// The record that stands for each in the executions, by their numbers.
fn stand_ins(sweep: &Sweep, number: &HashMap<usize, usize>) -> HashMap<usize, usize> {
    let mut found: HashMap<usize, usize> = number.clone();
    for (index, record) in sweep.records.iter().enumerate() {
        let whole = whole_of(sweep, record).or(record.parent);
        if let (false, Some(&execution)) = (number.contains_key(&index), whole.and_then(|whole| number.get(&whole))) {
            found.insert(index, execution);
        }
        // What an Execute asks for outside of its parts is counted to the first of them.
        if let (true, Some(whole), Some(&execution)) = (record.is_helper, whole, number.get(&index)) {
            found.entry(whole).or_insert(execution);
        }
    }
    found
}

fn execution(sweep: &Sweep, index: usize, devices: &Devices) -> Execution {
    let record = &sweep.records[index];
    // The part on the device tells what its Execute does not.
    let parts = sweep.records.iter().enumerate().skip(index + 1).take_while(|(_, part)| part.line == record.line && part.start_ps < record.end_ps);
    let parts: Vec<&Record> = parts.filter(|(_, part)| part.parent == Some(index)).map(|(_, part)| part).collect();
    let all = || std::iter::once(record).chain(parts.iter().copied());
    let whole = whole_of(sweep, record).map(|whole| &sweep.records[whole]);
    let begun = || origins(sweep, &record.consumes);
    let function = || record.function.clone().or_else(|| begun().find_map(|origin| origin.function.clone())).map(|function| format!("jit_{function}"));
    let module = record.module.clone().or_else(|| whole.and_then(|whole| whole.module.clone())).or_else(|| all().find_map(|part| part.thunks_module.clone()));
    let caller =
        if record.function.is_some() { record.line } else { begun().find(|origin| origin.function.is_some()).map_or(record.line, |origin| origin.line) };
    Execution {
        device: all().find_map(|part| devices.told(part)).or_else(|| devices.of_record(record)),
        module: module.or_else(function).unwrap_or_else(|| "(unknown module)".to_owned()),
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
    fn attach(&self, executions: &mut [(usize, Execution)], sweep: &Sweep, events: &Events, is_known: bool) {
        let mut next_start: HashMap<Option<i64>, i64> = HashMap::new();
        for (record, execution) in executions.iter_mut().rev() {
            let until = next_start.insert(execution.device, execution.start_ps).unwrap_or(i64::MAX);
            let launches = execution.device.and_then(|device| self.by_device.get(&device)).map_or(&[][..], |launches| launches);
            let from = launches.partition_point(|&launch| events.launches[launch].start_ps < execution.start_ps);
            let mut window = launches[from..].iter().map(|&launch| &events.launches[launch]).take_while(|launch| launch.start_ps < until);
            let own = window.find(|launch| events.texts[launch.module as usize] == execution.module);
            let launched = execution.launched == Some(true) || own.is_some();
            execution.launched = is_known.then_some(launched);
            let program_id = sweep.records[*record].program_id.or_else(|| own.and_then(|launch| launch.program_id));
            if let Some(id) = program_id {
                execution.module = format!("{}({id})", execution.module);
            }
        }
    }
}

/// Gives modules their numbers, and executions theirs.
fn name_modules(executions: &mut [(usize, Execution)], plans: &[Plan]) {
    let mut by_name: HashMap<&str, Vec<&Plan>> = HashMap::new();
    plans.iter().for_each(|plan| by_name.entry(plan.bare_name()).or_default().push(plan));
    let mut counts: HashMap<(Option<i64>, String), u64> = HashMap::new();
    for (_, execution) in executions {
        if let Some(plans) = by_name.get(&execution.module[..]) {
            let same_temp = || {
                let mut same = plans.iter().filter(|plan| plan.temp_bytes > 0 && execution.requests.contains(&plan.temp_bytes));
                same.next().filter(|_| same.next().is_none())
            };
            if let Some(plan) = if let [only] = plans[..] { Some(only) } else { same_temp().copied() } {
                execution.module.clone_from(&plan.name);
            }
        }
        let count = counts.entry((execution.device, execution.module.clone())).or_default();
        *count += 1;
        execution.n = *count;
    }
}

/// Groups the events of the allocators, and names the owners.
fn allocators(sweep: &Sweep, texts: &[String], executions: &[Execution], stand_in: &HashMap<usize, usize>) -> Vec<Allocator> {
    let mut points: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
    for point in &sweep.points {
        points.entry(&texts[point.memory.allocator as usize]).or_default().push(point);
    }
    points.into_iter().map(|(name, points)| allocator(name, points, sweep, executions, stand_in)).collect()
}

fn allocator(name: &str, mut points: Vec<&Point>, sweep: &Sweep, executions: &[Execution], stand_in: &HashMap<usize, usize>) -> Allocator {
    points.sort_by_key(|point| point.time_ps);
    let mut owners = Interner::default();
    let owner = |point: &Point| match point.owner {
        Owner::Named(number) => sweep.owners.get(number as usize).cloned().unwrap_or_default(),
        Owner::Record(record) => stand_in.get(&record).map_or_else(String::new, |&number| outputs_of(&executions[number])),
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
            fragmentation: point.memory.fragmentation.clamp(0.0, 1.0),
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

/// The owner of what an execution allocated and did not free.
pub fn outputs_of(execution: &Execution) -> String {
    format!("outputs of {} execution {}", bare_name(&execution.module), execution.n)
}

fn retries(sweep: &Sweep, executions: &[Execution], stand_in: &HashMap<usize, usize>, devices: &Devices) -> Vec<Retry> {
    let mut retries: Vec<Retry> = sweep
        .waits
        .iter()
        .map(|wait| {
            let execution = wait.record.and_then(|record| stand_in.get(&record)).copied();
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
