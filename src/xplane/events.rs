//! The second reading of a capture: of every line of the host what matters for memory, and which device a launch went to.
//!
//! An event's absolute time is its line's timestamp and its own offset together: lines of one plane start at different times. Times here
//! are picoseconds since the profile's start where timestamps are absolute, else since their own zero. Lines on which nothing of memory or
//! of an execution happens are given up when they end.

use super::names::{Names, PlaneNames};
use super::space::{Held, PlaneKind, event, file, line, plane, stat};
use crate::scan::wire::{Action, End, Fault, Visit, Walker, fields};
use crate::timeline::blocks::Interner;
use std::collections::HashMap;

/// No event of a capture begins or ends later, in picoseconds: 13 days.
const LONGEST_PS: u64 = 1 << 60;
/// No allocator has more: 1 PiB.
const MOST_BYTES: i64 = 1 << 50;
/// A timestamp from here on is one of the calendar (in 1973), not one of a profile.
const ABSOLUTE_FROM_NS: i64 = 100_000_000_000_000_000;

/// What an event is to the reader of memory, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// `$file.py:12 function`.
    Python,
    /// The BFC allocator gave memory.
    Allocation,
    /// It took memory back.
    Deallocation,
    /// It waits for memory.
    Retry,
    /// `CommonPjRtLoadedExecutable::Execute (jit_f)`: an execution, with its module.
    Execute(String),
    /// The part of an execution on one device; an execution itself where no [`Class::Execute`] is around it.
    Helper,
    /// `PjitFunction(f)`.
    Pjit(String),
    /// The launch of a module's kernels.
    Thunks,
    /// `jit_f:XLA GPU module`.
    XlaModule,
    /// The driver's launch of a kernel or graph.
    Launch,
    /// A transfer from the host.
    FromHost,
    /// Something that may link threads.
    Execution,
    /// Anything else.
    Other,
}

impl Class {
    fn of(name: &str) -> Class {
        let parenthesised = |prefix: &str| Some(name.strip_prefix(prefix)?.strip_suffix(')')?.to_owned());
        if name.starts_with('$') {
            return Class::Python;
        }
        if let Some(function) = parenthesised("PjitFunction(") {
            return Class::Pjit(function);
        }
        if let Some(rest) = parenthesised("CommonPjRtLoadedExecutable::Execute")
            && let Some((_, module)) = rest.split_once(" (")
        {
            return Class::Execute(module.to_owned());
        }
        match name {
            "MemoryAllocation" => Class::Allocation,
            "MemoryDeallocation" => Class::Deallocation,
            "AllocatorRetry::AllocateRaw" => Class::Retry,
            _ if name.ends_with("::ExecuteHelper") || name.ends_with("::ExecuteHelperOnSingleDevice") => Class::Helper,
            _ if name.ends_with("::ExecuteThunks") => Class::Thunks,
            _ if name.ends_with(":XLA GPU module") => Class::XlaModule,
            _ if (name.starts_with("hip") || name.starts_with("cu")) && name.contains("Launch") => Class::Launch,
            _ if name.starts_with("BufferFromHostBuffer") => Class::FromHost,
            _ if name.contains("Execut") => Class::Execution,
            _ => Class::Other,
        }
    }

    /// Whether a line with such an event is kept.
    fn keeps_its_line(&self) -> bool {
        matches!(self, Class::Allocation | Class::Deallocation | Class::Retry | Class::Execute(_) | Class::Helper | Class::Pjit(_))
    }

    /// Whether its stats are looked at.
    fn has_stats(&self) -> bool {
        !matches!(self, Class::Python | Class::Retry | Class::Pjit(_) | Class::Other)
    }
}

/// The name of some events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// As in the file.
    pub text: String,
    /// What that means.
    pub class: Class,
    /// `[0] GpuExecutable::ExecuteThunks` names a device.
    pub device: Option<i64>,
}

impl Name {
    pub(super) fn of(text: &str) -> Name {
        let device = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).and_then(|(digits, _)| digits.parse().ok());
        Name { text: text.to_owned(), class: Class::of(text), device }
    }
}

/// What an allocator reports with an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// A number in [`Events::texts`].
    pub allocator: u32,
    /// Not managed by it, but counted.
    pub reserved_bytes: i64,
    /// In use after the event.
    pub allocated_bytes: i64,
    /// Free after the event.
    pub available_bytes: i64,
    /// 1 − largest free chunk / free.
    pub fragmentation: f64,
    /// The most it ever had in use.
    pub peak_bytes: i64,
    /// Asked for.
    pub requested_bytes: i64,
    /// Given: rounded up.
    pub bytes: i64,
    /// Where.
    pub address: i64,
}

impl Memory {
    /// Whether a machine can have so much: a damaged file holds any number.
    fn is_plausible(&self) -> bool {
        let figures = [self.reserved_bytes, self.allocated_bytes, self.available_bytes, self.peak_bytes, self.bytes];
        figures.iter().all(|figure| (0..=MOST_BYTES).contains(figure))
    }
}

/// What else an event says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// `module_name`.
    pub module: Option<String>,
    /// `program_id`.
    pub program_id: Option<i64>,
    /// `shape`.
    pub shape: Option<String>,
    /// `(_pt, _p)`: what another thread goes on with.
    pub produces: Option<(i64, i64)>,
    /// `(_ct, _c)`: what it goes on with.
    pub consumes: Option<(i64, i64)>,
}

/// One thread of the host: its events as columns, by start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// When each event began.
    pub start_ps: Vec<i64>,
    /// How long it took.
    pub duration_ps: Vec<i64>,
    /// A number in [`Events::names`].
    pub name: Vec<u32>,
    /// By event.
    pub memory: HashMap<u32, Memory>,
    /// By event.
    pub notes: HashMap<u32, Note>,
    /// How many of the launches are its.
    launches: usize,
}

/// The launch of a kernel or graph that carries its module's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// When.
    pub start_ps: i64,
    /// A number in [`Events::texts`].
    pub module: u32,
    /// Of the module.
    pub program_id: Option<i64>,
    /// What the kernel on the device has too.
    pub correlation_id: i64,
}

/// What the second reading found.
#[derive(Debug, Default)]
pub struct Events {
    /// The names of the lines' events.
    pub names: Vec<Name>,
    /// The threads on which something of interest happened.
    pub lines: Vec<Line>,
    /// By start.
    pub launches: Vec<Launch>,
    /// The device of each correlation id.
    pub kernels: HashMap<i64, i64>,
    /// Names of allocators and modules.
    pub texts: Vec<String>,
    /// Events read.
    pub count: u64,
    /// Events that could not be read.
    pub broken: u64,
    /// Where the file is damaged.
    pub damage: Vec<(u64, Fault)>,
}

/// Reads events. Fed the same bytes as the first reading, cut anywhere.
pub struct EventsReader<'a> {
    walker: Walker,
    reading: Reading<'a>,
}

struct Reading<'a> {
    names: &'a Names,
    /// Subtracted from absolute timestamps.
    zero_ns: Option<i64>,
    events: Events,
    texts: Interner,
    next_plane: usize,
    plane: Option<Plane<'a>>,
    line: Line,
    line_start_ns: i64,
    keep: bool,
}

/// A plane whose lines are read.
struct Plane<'a> {
    names: &'a PlaneNames,
    kind: PlaneKind,
    numbers: Numbers,
    keys: HashMap<i64, Key>,
}

/// The numbers of a plane's event names: ids are small as a rule, and there are millions of events.
#[derive(Default)]
struct Numbers {
    small: Vec<u32>,
    others: HashMap<i64, u32>,
}

const NO_NAME: u32 = u32::MAX;

impl Numbers {
    fn of(names: &PlaneNames, known: &mut Vec<Name>) -> Numbers {
        const SMALL: i64 = 1 << 20;
        let mut numbers = Numbers::default();
        let mut ids: Vec<(&i64, &String)> = names.events.iter().collect();
        ids.sort_unstable();
        for (&id, name) in ids {
            let number = known.len() as u32;
            known.push(Name::of(name));
            match usize::try_from(id) {
                Ok(small) if id < SMALL => {
                    if numbers.small.len() <= small {
                        numbers.small.resize(small + 1, NO_NAME);
                    }
                    numbers.small[small] = number;
                }
                _ => drop(numbers.others.insert(id, number)),
            }
        }
        numbers
    }

    fn get(&self, id: i64) -> u32 {
        let small = usize::try_from(id).ok().and_then(|small| self.small.get(small));
        small.or_else(|| self.others.get(&id)).copied().unwrap_or(NO_NAME)
    }
}

/// The stats that are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    AllocatorName,
    BytesReserved,
    BytesAllocated,
    BytesAvailable,
    Fragmentation,
    PeakBytesInUse,
    RequestedBytes,
    AllocationBytes,
    Addr,
    ModuleName,
    HloModule,
    ProgramId,
    CorrelationId,
    Shape,
    ProducerType,
    ProducerId,
    ConsumerType,
    ConsumerId,
}

impl Key {
    fn of(name: &str) -> Option<Key> {
        Some(match name {
            "allocator_name" => Key::AllocatorName,
            "bytes_reserved" => Key::BytesReserved,
            "bytes_allocated" => Key::BytesAllocated,
            "bytes_available" => Key::BytesAvailable,
            "fragmentation" => Key::Fragmentation,
            "peak_bytes_in_use" => Key::PeakBytesInUse,
            "requested_bytes" => Key::RequestedBytes,
            "allocation_bytes" => Key::AllocationBytes,
            "addr" => Key::Addr,
            "module_name" => Key::ModuleName,
            "hlo_module" => Key::HloModule,
            "program_id" => Key::ProgramId,
            "correlation_id" => Key::CorrelationId,
            "shape" => Key::Shape,
            "_pt" => Key::ProducerType,
            "_p" => Key::ProducerId,
            "_ct" => Key::ConsumerType,
            "_c" => Key::ConsumerId,
            _ => return None,
        })
    }
}

impl<'a> EventsReader<'a> {
    /// A reader for the file that these names are of.
    pub fn new(names: &'a Names) -> EventsReader<'a> {
        let reading = Reading {
            names,
            zero_ns: names.number("profile_start_time"),
            events: Events::default(),
            texts: Interner::default(),
            next_plane: 0,
            plane: None,
            line: Line::default(),
            line_start_ns: 0,
            keep: false,
        };
        EventsReader { walker: Walker::default(), reading }
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.walker.feed(bytes, &mut self.reading);
    }

    /// What was found.
    pub fn finish(mut self) -> Events {
        let _: End = self.walker.finish(&mut self.reading);
        let mut events = self.reading.events;
        events.launches.sort_by_key(|launch| launch.start_ps);
        Events { texts: self.reading.texts.texts, ..events }
    }
}

const IN_PLANE: usize = 1;
const IN_LINE: usize = 2;

impl Visit for Reading<'_> {
    fn begins(&mut self, depth: usize, field: u32) -> Action {
        match (depth, field) {
            (0, file::PLANES) => {
                self.begin_plane();
                Action::Enter
            }
            (IN_PLANE, plane::LINES) if self.plane.is_some() => {
                self.line = Line::default();
                self.line_start_ns = 0;
                self.keep = false;
                Action::Enter
            }
            (IN_LINE, line::EVENTS) => Action::Take,
            _ => Action::Skip,
        }
    }

    fn taken(&mut self, _: usize, _: u32, bytes: &[u8]) {
        self.events.count += 1;
        let Some(plane) = self.plane.take() else { return };
        let read = if let PlaneKind::Gpu(device) = plane.kind { self.kernel(&plane, device, bytes) } else { self.host_event(&plane, bytes) };
        self.events.broken += u64::from(read.is_err());
        self.plane = Some(plane);
    }

    fn number(&mut self, depth: usize, field: u32, value: u64) {
        if (depth, field) == (IN_LINE, line::TIMESTAMP_NS) {
            self.line_start_ns = value.cast_signed();
        }
    }

    fn left(&mut self, depth: usize) {
        match depth {
            IN_PLANE => self.plane = None,
            _ => self.end_line(),
        }
    }

    fn damaged(&mut self, byte: u64, fault: Fault) {
        const MOST_DAMAGE: usize = 20;
        if self.events.damage.len() < MOST_DAMAGE {
            self.events.damage.push((byte, fault));
        }
    }
}

impl Reading<'_> {
    fn begin_plane(&mut self) {
        let names = self.names.planes.get(self.next_plane);
        self.next_plane += 1;
        self.plane = names.and_then(|names| {
            let kind = names.kind();
            let numbers = match kind {
                PlaneKind::Host => Numbers::of(names, &mut self.events.names),
                PlaneKind::Gpu(_) => Numbers::default(),
                PlaneKind::Tpu | PlaneKind::Other => return None,
            };
            let keys = names.stats.iter().filter_map(|(&id, name)| Some((id, Key::of(name)?))).collect();
            Some(Plane { names, kind, numbers, keys })
        });
    }

    fn kernel(&mut self, plane: &Plane, device: i64, message: &[u8]) -> Result<(), Fault> {
        for field in fields(message) {
            let (event::STATS, value) = field? else { continue };
            let (id, held) = stat(value.bytes())?;
            if let (Some(Key::CorrelationId), Some(Held::Int(correlation))) = (plane.keys.get(&id), held) {
                self.events.kernels.insert(correlation, device);
            }
        }
        Ok(())
    }

    fn host_event(&mut self, plane: &Plane, message: &[u8]) -> Result<(), Fault> {
        let (mut id, mut offset_ps, mut duration_ps, mut has_stats) = (0, 0, 0, false);
        for field in fields(message) {
            let (field, value) = field?;
            match field {
                event::METADATA_ID => id = value.int(),
                event::OFFSET_PS => offset_ps = value.int(),
                event::DURATION_PS => duration_ps = value.int().max(0),
                event::STATS => has_stats = true,
                _ => {}
            }
        }
        if offset_ps.unsigned_abs().max(duration_ps.unsigned_abs()) > LONGEST_PS {
            return Err(Fault::Implausible);
        }
        let name = plane.numbers.get(id);
        let Some(named) = self.events.names.get(name as usize) else {
            // An event without a name still takes its time.
            return Ok(());
        };
        let class = &named.class;
        self.keep |= class.keeps_its_line();
        let index = self.line.start_ps.len() as u32;
        self.line.start_ps.push(offset_ps);
        self.line.duration_ps.push(duration_ps);
        self.line.name.push(name);
        if has_stats && class.has_stats() {
            let class = class.clone();
            self.stats(plane, &class, index, message)?;
        }
        Ok(())
    }

    fn stats(&mut self, plane: &Plane, class: &Class, index: u32, message: &[u8]) -> Result<(), Fault> {
        let mut found = Found::default();
        for field in fields(message) {
            let (event::STATS, value) = field? else { continue };
            let (id, held) = stat(value.bytes())?;
            if let (Some(&key), Some(held)) = (plane.keys.get(&id), held) {
                found.put(key, held, &plane.names.stats, &mut self.texts);
            }
        }
        match class {
            Class::Allocation | Class::Deallocation => {
                if let Some(memory) = found.memory() {
                    if !memory.is_plausible() {
                        return Err(Fault::Implausible);
                    }
                    self.line.memory.insert(index, memory);
                }
            }
            Class::Launch => {
                if let Some(module) = found.hlo_module {
                    // Its line's start is added when the line ends.
                    let launch = Launch {
                        start_ps: self.line.start_ps[index as usize],
                        module,
                        program_id: found.note.program_id,
                        correlation_id: found.correlation_id,
                    };
                    self.events.launches.push(launch);
                    self.line.launches += 1;
                }
            }
            _ => {
                let note = found.note();
                if note != Note::default() {
                    self.line.notes.insert(index, note);
                }
            }
        }
        Ok(())
    }

    /// Adds the line's start to its events, and keeps it if it matters.
    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let start_ps = self.since_zero_ns(self.line_start_ns).saturating_mul(1000);
        let first = self.events.launches.len() - std::mem::take(&mut line.launches);
        self.events.launches[first..].iter_mut().for_each(|launch| launch.start_ps = launch.start_ps.saturating_add(start_ps));
        if self.keep {
            line.start_ps.iter_mut().for_each(|start| *start = start.saturating_add(start_ps));
            line.sort();
            self.events.lines.push(line);
        }
    }

    fn since_zero_ns(&mut self, timestamp_ns: i64) -> i64 {
        if timestamp_ns < ABSOLUTE_FROM_NS { timestamp_ns } else { timestamp_ns.saturating_sub(*self.zero_ns.get_or_insert(timestamp_ns)) }
    }
}

impl Line {
    /// When an event ends.
    pub fn end_ps(&self, event: usize) -> i64 {
        self.start_ps[event].saturating_add(self.duration_ps[event])
    }

    /// By start, the longer first: an event comes after those it is in.
    fn sort(&mut self) {
        let key = |line: &Line, at: usize| (line.start_ps[at], -line.duration_ps[at]);
        if (1..self.start_ps.len()).all(|at| key(self, at - 1) <= key(self, at)) {
            return;
        }
        let mut order: Vec<u32> = (0..self.start_ps.len() as u32).collect();
        order.sort_by_key(|&at| key(self, at as usize));
        self.start_ps = order.iter().map(|&at| self.start_ps[at as usize]).collect();
        self.duration_ps = order.iter().map(|&at| self.duration_ps[at as usize]).collect();
        self.name = order.iter().map(|&at| self.name[at as usize]).collect();
        let moved: HashMap<u32, u32> = order.iter().enumerate().map(|(to, &from)| (from, to as u32)).collect();
        self.memory = std::mem::take(&mut self.memory).into_iter().map(|(at, memory)| (moved[&at], memory)).collect();
        self.notes = std::mem::take(&mut self.notes).into_iter().map(|(at, note)| (moved[&at], note)).collect();
    }
}

/// The stats of one event.
#[derive(Default)]
struct Found {
    allocator: Option<u32>,
    numbers: [i64; 7],
    fragmentation: f64,
    hlo_module: Option<u32>,
    correlation_id: i64,
    note: Note,
    link: [Option<i64>; 4],
}

impl Found {
    fn put(&mut self, key: Key, held: Held, names: &HashMap<i64, String>, texts: &mut Interner) {
        match key {
            Key::AllocatorName => self.allocator = Some(texts.number(&held.text(names))),
            Key::BytesReserved => self.numbers[0] = held.int(),
            Key::BytesAllocated => self.numbers[1] = held.int(),
            Key::BytesAvailable => self.numbers[2] = held.int(),
            Key::PeakBytesInUse => self.numbers[3] = held.int(),
            Key::RequestedBytes => self.numbers[4] = held.int(),
            Key::AllocationBytes => self.numbers[5] = held.int(),
            Key::Addr => self.numbers[6] = held.int(),
            Key::Fragmentation => self.fragmentation = if let Held::Double(share) = held { share } else { 0.0 },
            Key::ModuleName => self.note.module = Some(held.text(names)),
            Key::HloModule => self.hlo_module = Some(texts.number(&held.text(names))),
            Key::ProgramId => self.note.program_id = Some(held.int()),
            Key::CorrelationId => self.correlation_id = held.int(),
            Key::Shape => self.note.shape = Some(held.text(names)),
            Key::ProducerType => self.link[0] = Some(held.int()),
            Key::ProducerId => self.link[1] = Some(held.int()),
            Key::ConsumerType => self.link[2] = Some(held.int()),
            Key::ConsumerId => self.link[3] = Some(held.int()),
        }
    }

    fn memory(&self) -> Option<Memory> {
        let [reserved_bytes, allocated_bytes, available_bytes, peak_bytes, requested_bytes, bytes, address] = self.numbers;
        Some(Memory {
            allocator: self.allocator?,
            reserved_bytes,
            allocated_bytes,
            available_bytes,
            fragmentation: self.fragmentation,
            peak_bytes,
            requested_bytes,
            bytes,
            address,
        })
    }

    fn note(self) -> Note {
        let [producer_type, producer, consumer_type, consumer] = self.link;
        Note { produces: producer_type.zip(producer), consumes: consumer_type.zip(consumer), ..self.note }
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::NamesReader;
    use super::super::space::tests::{bytes, number};
    use super::*;

    fn named(id: i64, name: &str) -> Vec<u8> {
        [number(1, id), bytes(2, &[&bytes(2, &[name.as_bytes()])])].concat()
    }

    fn event(id: i64, offset: i64, duration: i64, stats: &[Vec<u8>]) -> Vec<u8> {
        bytes(4, &[&number(1, id), &number(2, offset), &number(3, duration), &stats.concat()])
    }

    fn with(id: i64, held: Vec<u8>) -> Vec<u8> {
        bytes(4, &[&number(1, id), &held])
    }

    /// Names after events, a negative id, lines that start at different times, one of them without interest.
    fn file() -> Vec<u8> {
        let allocation = [with(1, number(7, 9)), with(2, number(3, 512)), with(3, number(4, 99)), with(4, number(77, 1))];
        let launch = [with(5, bytes(5, &[b"jit_f"])), with(6, number(4, 31)), with(7, number(3, 42))];
        let thread = bytes(3, &[&number(1, -8), &event(2, 5, 0, &allocation), &event(-3, 0, 50, &[]), &number(3, 10)]);
        let driver = bytes(3, &[&event(4, 7, 1, &launch), &number(3, 20)]);
        let idle = bytes(3, &[&number(3, 1), &event(-3, 1, 1, &[])]);
        let names = [(2, "MemoryAllocation"), (-3, "$train.py:1 step"), (4, "cuLaunchKernelEx")].map(|(id, name)| bytes(4, &[&named(id, name)])).concat();
        let stats = [(1, "allocator_name"), (2, "bytes_allocated"), (3, "addr"), (5, "hlo_module"), (6, "correlation_id"), (7, "program_id"), (9, "GPU_0_bfc")];
        let stats = stats.map(|(id, name)| bytes(5, &[&named(id, name)])).concat();
        let kernel = bytes(3, &[&event(1, 0, 1, &[with(6, number(3, 31))])]);
        let gpu = [bytes(2, &[b"/device:GPU:3"]), kernel, bytes(5, &[&named(6, "correlation_id")])].concat();
        [bytes(1, &[&thread, &driver, &idle, &bytes(2, &[b"/host:CPU"]), &names, &stats]), bytes(1, &[&gpu])].concat()
    }

    fn read(file: &[u8], size: usize) -> Events {
        let mut names = NamesReader::default();
        names.feed(file);
        let names = names.finish();
        let mut events = EventsReader::new(&names);
        file.chunks(size).for_each(|chunk| events.feed(chunk));
        events.finish()
    }

    #[test]
    fn what_matters_is_kept_with_absolute_times() {
        let file = file();
        let events = read(&file, usize::MAX);
        assert_eq!((events.lines.len(), events.count, events.broken), (1, 5, 0));
        let line = &events.lines[0];
        assert_eq!((&line.start_ps[..], &line.duration_ps[..]), (&[10_000, 10_005][..], &[50, 0][..]));
        assert_eq!(events.names[line.name[1] as usize].class, Class::Allocation);
        let memory = &line.memory[&1];
        assert_eq!((&events.texts[memory.allocator as usize][..], memory.allocated_bytes, memory.address), ("GPU_0_bfc", 512, 99));
        let launch = &events.launches[0];
        assert_eq!((launch.start_ps, launch.program_id, launch.correlation_id, &events.texts[launch.module as usize][..]), (20_007, Some(42), 31, "jit_f"));
        assert_eq!(events.kernels, HashMap::from([(31, 3)]));
        for size in 1..40 {
            assert_eq!((read(&file, size).lines, read(&file, size).launches), (events.lines.clone(), events.launches.clone()));
        }
    }

    #[test]
    fn names_tell_the_class() {
        assert_eq!(Class::of("CommonPjRtLoadedExecutable::Execute (jit_f)"), Class::Execute("jit_f".to_owned()));
        assert_eq!(Class::of("CommonPjRtLoadedExecutable::ExecuteSharded (jit_f)"), Class::Execute("jit_f".to_owned()));
        assert_eq!(Class::of("CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice"), Class::Helper);
        assert_eq!(Class::of("PjRtStreamExecutorLoadedExecutable::ExecuteHelper"), Class::Helper);
        assert_eq!(Class::of("PjitFunction(<lambda>)"), Class::Pjit("<lambda>".to_owned()));
        assert_eq!(Class::of("hipExtModuleLaunchKernel"), Class::Launch);
        assert_eq!(Class::of("$cuLaunchKernel"), Class::Python);
        let name = Name::of("[2] GpuExecutable::ExecuteThunks");
        assert_eq!((name.class, name.device), (Class::Thunks, Some(2)));
    }
}
