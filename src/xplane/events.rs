//! The second reading of a capture: of every line of the host what matters for memory, and which device a launch went to.
//!
//! An event's absolute time is its line's timestamp and its own offset together: lines of one plane start at different times. Times here
//! are picoseconds since the profile's start where timestamps are absolute, else since their own zero. Lines on which nothing of memory or
//! of an execution happens are given up when they end.
//!
//! Nearly all of a line's events only say what the host did around the others. They are not kept: of stretches of bytes it is noted when
//! their events began and ended, so that a third reading can look at the few where that is asked (`look.rs`).

use super::names::{Names, PlaneNames};
use super::space::{Held, PlaneKind, event, file, line, plane, stat};
use super::sweep::WAIT_AT_LEAST_PS;
use crate::scan::wire::{Action, End, Fault, Selective, Visit, Walker, fields, varint};
use crate::timeline::blocks::Interner;
use std::collections::HashMap;
use std::ops::Range;

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
    pub(super) fn has_stats(&self) -> bool {
        !matches!(self, Class::Python | Class::Retry | Class::Pjit(_) | Class::Other)
    }
}

/// Which events of a name are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    All,
    /// Those whose stats say something.
    Noted,
    /// Those that may be a wait for memory.
    Long,
    No,
}

impl Keep {
    fn of(name: &Name) -> Keep {
        match name.class {
            _ if name.device.is_some() => Keep::All,
            Class::Python | Class::Launch => Keep::No,
            Class::Other => Keep::Long,
            Class::Execution => Keep::Noted,
            _ => Keep::All,
        }
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
    #[cfg(test)]
    pub(super) fn is_kept(&self, duration_ps: i64, has_note: bool) -> bool {
        match Keep::of(self) {
            Keep::All => true,
            Keep::Noted => has_note,
            Keep::Long => duration_ps >= WAIT_AT_LEAST_PS,
            Keep::No => false,
        }
    }

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
    /// `module_name`, a number in [`Events::texts`].
    pub module: Option<u32>,
    /// `program_id`.
    pub program_id: Option<i64>,
    /// `shape`, a number in [`Events::texts`].
    pub shape: Option<u32>,
    /// `(_pt, _p)`: what another thread goes on with.
    pub produces: Option<(i64, i64)>,
    /// `(_ct, _c)`: what it goes on with.
    pub consumes: Option<(i64, i64)>,
}

/// One thread of the host: the events that are kept, as columns, by start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// When each event began.
    pub start_ps: Vec<i64>,
    /// How long it took.
    pub duration_ps: Vec<i64>,
    /// A number in [`Events::names`].
    pub name: Vec<u32>,
    /// By event.
    pub memory: ByEvent<Memory>,
    /// By event.
    pub notes: ByEvent<Note>,
    /// All its events, in the file.
    pub stretches: Vec<Stretch>,
    /// Its plane, a number in [`Names::planes`].
    pub plane: usize,
    /// What to add to the times of its events.
    pub begin_ps: i64,
    /// How many of the launches are its.
    launches: usize,
}

/// What only some events have: their numbers ascend.
#[derive(Debug, Clone, PartialEq)]
pub struct ByEvent<T>(pub Vec<(u32, T)>);

impl<T> Default for ByEvent<T> {
    fn default() -> Self {
        ByEvent(Vec::new())
    }
}

impl<T> ByEvent<T> {
    /// What an event has.
    pub fn get(&self, event: usize) -> Option<&T> {
        let at = self.0.binary_search_by_key(&event, |(event, _)| *event as usize).ok()?;
        Some(&self.0[at].1)
    }

    fn renumber(&mut self, moved: &[u32]) {
        self.0.iter_mut().for_each(|(event, _)| *event = moved[*event as usize]);
        self.0.sort_by_key(|(event, _)| *event);
    }
}

/// Some successive events of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Where they lie in the file.
    pub bytes: Range<u64>,
    /// When the first of them begins.
    pub first_start_ps: i64,
    /// When the last of them to end ends.
    pub last_end_ps: i64,
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
    /// Names of allocators and modules, and shapes.
    pub texts: Vec<String>,
    /// How the events of each plane are named.
    pub numbers: Vec<Numbers>,
    /// Events read.
    pub count: u64,
    /// Events that could not be read.
    pub broken: u64,
    /// Where the file is damaged.
    pub damage: Vec<(u64, Fault)>,
    /// What matters had no room: nothing of it is here.
    pub is_full: bool,
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
    line_bytes: Range<u64>,
    /// Of the events of each name.
    keeps: Vec<Keep>,
    keep: bool,
    /// What is kept may take so many bytes, and what is kept of earlier lines does.
    most_bytes: u64,
    kept_bytes: u64,
}

/// A plane whose lines are read.
struct Plane<'a> {
    names: &'a PlaneNames,
    kind: PlaneKind,
    keys: HashMap<i64, Key>,
    /// A number in [`Names::planes`].
    number: usize,
}

/// The numbers of a plane's event names: ids are small as a rule, and there are millions of events.
#[derive(Debug, Default)]
pub struct Numbers {
    small: Vec<u32>,
    others: HashMap<i64, u32>,
}

const NO_NAME: u32 = u32::MAX;

impl Numbers {
    pub(super) fn of(names: &PlaneNames, known: &mut Vec<Name>) -> Numbers {
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

    /// The number of an event's name in [`Events::names`], by its metadata id.
    #[inline]
    pub fn get(&self, id: i64) -> u32 {
        let small = usize::try_from(id).ok().and_then(|small| self.small.get(small));
        small.or_else(|| self.others.get(&id)).copied().unwrap_or(NO_NAME)
    }
}

/// The stats that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
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

impl Selective for EventsReader<'_> {
    fn next(&self) -> Option<Range<u64>> {
        self.walker.next().map(|at| at..u64::MAX)
    }

    fn feed(&mut self, at: u64, bytes: &[u8]) {
        self.walker.feed_at(at, bytes, &mut self.reading);
    }
}

impl<'a> EventsReader<'a> {
    /// A reader for the file that these names are of.
    /// `most_bytes`: what is kept may take; without a limit where none is given.
    pub fn new(names: &'a Names, most_bytes: Option<u64>) -> EventsReader<'a> {
        let reading = Reading {
            names,
            zero_ns: names.number("profile_start_time"),
            events: Events::default(),
            texts: Interner::default(),
            next_plane: 0,
            plane: None,
            line: Line::default(),
            line_start_ns: 0,
            line_bytes: 0..0,
            keeps: Vec::new(),
            keep: false,
            most_bytes: most_bytes.unwrap_or(u64::MAX),
            kept_bytes: 0,
        };
        EventsReader { walker: Walker::default(), reading }
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

/// Key of an event within its line: field 4, bytes.
const EVENT_KEY: u8 = (line::EVENTS << 3 | 2) as u8;
/// Key of a stat within its event: field 4, bytes.
const STATS_KEY: u8 = (event::STATS << 3 | 2) as u8;
/// So long is a stretch at least.
const STRETCH_BYTES: u64 = 128 << 10;

impl Visit for Reading<'_> {
    fn begins(&mut self, depth: usize, field: u32, body: Range<u64>) -> Action {
        match (depth, field) {
            (0, file::PLANES) => {
                self.begin_plane();
                Action::Enter
            }
            (IN_PLANE, plane::LINES) if self.plane.is_some() => {
                self.line = Line::default();
                self.line_start_ns = 0;
                self.line_bytes = body;
                self.keep = false;
                Action::Enter
            }
            (IN_LINE, line::EVENTS) => Action::Take,
            _ => Action::Skip,
        }
    }

    fn taken(&mut self, _: usize, _: u32, bytes: &[u8]) {
        if let Some(plane) = self.plane.take() {
            self.event(&plane, bytes, bytes.len());
            self.plane = Some(plane);
        }
    }

    fn hurry(&mut self, depth: usize, at: u64, bytes: &[u8]) -> usize {
        if depth != IN_LINE {
            return 0;
        }
        let Some(plane) = self.plane.take() else { return 0 };
        let mut rest = bytes;
        while let [EVENT_KEY, length @ 0..0x80, behind @ ..] = rest
            && usize::from(*length) <= behind.len()
        {
            self.begin_stretch(at + (bytes.len() - rest.len()) as u64);
            self.event(&plane, behind, usize::from(*length));
            rest = &behind[usize::from(*length)..];
        }
        self.plane = Some(plane);
        bytes.len() - rest.len()
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
        let number = self.next_plane;
        let names = self.names.planes.get(number);
        self.next_plane += 1;
        self.plane = names.and_then(|names| {
            let kind = names.kind();
            let numbers = match kind {
                PlaneKind::Host => Numbers::of(names, &mut self.events.names),
                PlaneKind::Gpu(_) => Numbers::default(),
                PlaneKind::Tpu | PlaneKind::Other => return None,
            };
            self.keeps.extend(self.events.names[self.keeps.len()..].iter().map(Keep::of));
            self.events.numbers.resize_with(number, Numbers::default);
            self.events.numbers.push(numbers);
            Some(Plane { names, kind, keys: keys(names), number })
        });
    }

    #[inline]
    fn begin_stretch(&mut self, at: u64) {
        match self.line.stretches.last_mut() {
            Some(last) if at - last.bytes.start < STRETCH_BYTES => return,
            Some(last) => last.bytes.end = at,
            None => {}
        }
        let start = if self.line.stretches.is_empty() { self.line_bytes.start } else { at };
        self.line.stretches.push(Stretch { bytes: start..self.line_bytes.end, first_start_ps: i64::MAX, last_end_ps: i64::MIN });
    }

    #[inline]
    fn event(&mut self, plane: &Plane, bytes: &[u8], length: usize) {
        self.events.count += 1;
        let read = if let PlaneKind::Gpu(device) = plane.kind { self.kernel(plane, device, &bytes[..length]) } else { self.host_event(plane, bytes, length) };
        self.events.broken += u64::from(read.is_err());
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

    #[inline]
    fn host_event(&mut self, plane: &Plane, bytes: &[u8], length: usize) -> Result<(), Fault> {
        let Head { id, offset_ps, duration_ps, has_stats } = Head::of(bytes, length)?;
        let name = self.events.numbers[plane.number].get(id);
        // An event without a name still takes its time.
        let Some(&keep) = self.keeps.get(name as usize) else { return Ok(()) };
        if self.line.stretches.is_empty() {
            self.begin_stretch(self.line_bytes.start);
        }
        if let Some(stretch) = self.line.stretches.last_mut() {
            stretch.first_start_ps = stretch.first_start_ps.min(offset_ps);
            stretch.last_end_ps = stretch.last_end_ps.max(offset_ps.saturating_add(duration_ps));
        }
        match keep {
            Keep::No if !has_stats => Ok(()),
            Keep::Long if duration_ps < WAIT_AT_LEAST_PS => Ok(()),
            _ => self.keep(plane, name, (offset_ps, duration_ps), has_stats.then_some(&bytes[..length])),
        }
    }

    fn keep(&mut self, plane: &Plane, name: u32, at: (i64, i64), stats: Option<&[u8]>) -> Result<(), Fault> {
        if self.events.is_full {
            return Ok(());
        }
        let kept = self.keep_event(plane, name, at, stats);
        if self.kept_bytes + self.line.bytes() + self.events.launches.len() as u64 * size_of::<Launch>() as u64 > self.most_bytes {
            self.events.is_full = true;
            self.events.lines = Vec::new();
            self.events.launches = Vec::new();
            self.line = Line::default();
        }
        kept
    }

    fn keep_event(&mut self, plane: &Plane, name: u32, (offset_ps, duration_ps): (i64, i64), stats: Option<&[u8]>) -> Result<(), Fault> {
        let named = &self.events.names[name as usize];
        self.keep |= named.class.keeps_its_line();
        let is_launch = named.class == Class::Launch;
        let is_memory = matches!(named.class, Class::Allocation | Class::Deallocation);
        let keep = self.keeps[name as usize];
        let read = match stats.filter(|_| named.class.has_stats()) {
            Some(message) => Found::of(message, &plane.keys, &plane.names.stats, &mut self.texts),
            None => Ok(Found::default()),
        };
        let index = self.line.start_ps.len() as u32;
        let push = |line: &mut Line| {
            line.start_ps.push(offset_ps);
            line.duration_ps.push(duration_ps);
            line.name.push(name);
        };
        let found = match read {
            Ok(found) => found,
            // What its stats say cannot be read; that it happened can.
            Err(fault) => {
                if matches!(keep, Keep::All | Keep::Long) {
                    push(&mut self.line);
                }
                return Err(fault);
            }
        };
        if is_launch {
            if let Some(module) = found.hlo_module {
                // Its line's start is added when the line ends.
                let launch = Launch { start_ps: offset_ps, module, program_id: found.note.program_id, correlation_id: found.correlation_id };
                self.events.launches.push(launch);
                self.line.launches += 1;
            }
            return Ok(());
        }
        if is_memory {
            push(&mut self.line);
            if let Some(memory) = found.memory() {
                if !memory.is_plausible() {
                    return Err(Fault::Implausible);
                }
                self.line.memory.0.push((index, memory));
            }
            return Ok(());
        }
        let note = found.note();
        let has_note = note != Note::default();
        if keep == Keep::All || keep == Keep::Long || (keep == Keep::Noted && has_note) {
            push(&mut self.line);
            if has_note {
                self.line.notes.0.push((index, note));
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
        if self.keep && !self.events.is_full {
            self.kept_bytes += line.bytes();
            line.begin_ps = start_ps;
            line.plane = self.plane.as_ref().map_or(0, |plane| plane.number);
            line.start_ps.iter_mut().for_each(|start| *start = start.saturating_add(start_ps));
            for stretch in &mut line.stretches {
                stretch.first_start_ps = stretch.first_start_ps.saturating_add(start_ps);
                stretch.last_end_ps = stretch.last_end_ps.saturating_add(start_ps);
            }
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

    /// What its events take.
    fn bytes(&self) -> u64 {
        const EVENT_BYTES: usize = 2 * size_of::<i64>() + size_of::<u32>();
        let (memory, notes) = (self.memory.0.len() * size_of::<(u32, Memory)>(), self.notes.0.len() * size_of::<(u32, Note)>());
        (self.start_ps.len() * EVENT_BYTES + memory + notes + self.stretches.len() * size_of::<Stretch>()) as u64
    }

    /// Gives up what is known of single events.
    pub(super) fn forget(&mut self) {
        *self = Line { stretches: std::mem::take(&mut self.stretches), plane: self.plane, begin_ps: self.begin_ps, ..Line::default() };
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
        let mut moved = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| moved[from as usize] = to as u32);
        self.memory.renumber(&moved);
        self.notes.renumber(&moved);
    }
}

/// What an event's first fields say.
pub(super) struct Head {
    pub(super) id: i64,
    pub(super) offset_ps: i64,
    pub(super) duration_ps: i64,
    pub(super) has_stats: bool,
}

impl Head {
    /// Of the message that the first `length` bytes are; the others only make reading faster.
    #[inline]
    pub(super) fn of(bytes: &[u8], length: usize) -> Result<Head, Fault> {
        let head = Head::plain(bytes, length).map_or_else(|| Head::any(&bytes[..length]), Ok)?;
        if head.offset_ps.unsigned_abs().max(head.duration_ps.unsigned_abs()) > LONGEST_PS { Err(Fault::Implausible) } else { Ok(head) }
    }

    /// Nearly every event is written so: id, offset, duration, then stats or nothing.
    #[inline]
    fn plain(bytes: &[u8], length: usize) -> Option<Head> {
        let mut at = 0;
        let mut next = |field: u32| {
            if at >= length || u32::from(*bytes.get(at)?) != field << 3 {
                return Some(0);
            }
            let (number, taken) = varint(&bytes[at + 1..]).ok()??;
            at += 1 + taken;
            Some(number.cast_signed())
        };
        let (id, offset_ps, duration_ps) = (next(event::METADATA_ID)?, next(event::OFFSET_PS)?, next(event::DURATION_PS)?);
        let has_stats = at < length;
        while at < length {
            let [STATS_KEY, stat @ 0..0x80] = *bytes.get(at..at + 2)? else { return None };
            at += 2 + usize::from(stat);
        }
        (at == length).then_some(Head { id, offset_ps, duration_ps: duration_ps.max(0), has_stats })
    }

    fn any(message: &[u8]) -> Result<Head, Fault> {
        let mut head = Head { id: 0, offset_ps: 0, duration_ps: 0, has_stats: false };
        for field in fields(message) {
            let (field, value) = field?;
            match field {
                event::METADATA_ID => head.id = value.int(),
                event::OFFSET_PS => head.offset_ps = value.int(),
                event::DURATION_PS => head.duration_ps = value.int().max(0),
                event::STATS => head.has_stats = true,
                _ => {}
            }
        }
        Ok(head)
    }
}

/// The stats that are looked at.
pub(super) fn keys(names: &PlaneNames) -> HashMap<i64, Key> {
    names.stats.iter().filter_map(|(&id, name)| Some((id, Key::of(name)?))).collect()
}

/// The stats of one event.
#[derive(Default)]
pub(super) struct Found {
    allocator: Option<u32>,
    numbers: [i64; 7],
    fragmentation: f64,
    hlo_module: Option<u32>,
    correlation_id: i64,
    note: Note,
    link: [Option<i64>; 4],
}

impl Found {
    pub(super) fn of(message: &[u8], keys: &HashMap<i64, Key>, names: &HashMap<i64, String>, texts: &mut Interner) -> Result<Found, Fault> {
        let mut found = Found::default();
        for field in fields(message) {
            let (event::STATS, value) = field? else { continue };
            let (id, held) = stat(value.bytes())?;
            if let (Some(&key), Some(held)) = (keys.get(&id), held) {
                found.put(key, held, names, texts);
            }
        }
        Ok(found)
    }

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
            Key::ModuleName => self.note.module = Some(texts.number(&held.text(names))),
            Key::HloModule => self.hlo_module = Some(texts.number(&held.text(names))),
            Key::ProgramId => self.note.program_id = Some(held.int()),
            Key::CorrelationId => self.correlation_id = held.int(),
            Key::Shape => self.note.shape = Some(texts.number(&held.text(names))),
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

    pub(super) fn note(self) -> Note {
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
        names.feed(0, file);
        let names = names.finish();
        let mut events = EventsReader::new(&names, None);
        let mut at = 0;
        for chunk in file.chunks(size) {
            events.feed(at, chunk);
            at += chunk.len() as u64;
        }
        events.finish()
    }

    #[test]
    fn what_matters_is_kept_with_absolute_times() {
        let file = file();
        let events = read(&file, usize::MAX);
        assert_eq!((events.lines.len(), events.count, events.broken), (1, 5, 0));
        let line = &events.lines[0];
        assert_eq!((&line.start_ps[..], &line.duration_ps[..]), (&[10_005][..], &[0][..]));
        assert_eq!(events.names[line.name[0] as usize].class, Class::Allocation);
        assert_eq!((line.stretches.len(), line.stretches[0].first_start_ps, line.stretches[0].last_end_ps), (1, 10_000, 10_050));
        let memory = line.memory.get(0).unwrap();
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
