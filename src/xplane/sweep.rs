//! One pass over the kept events of each thread, in order, with those that are open: which execution an allocation belongs to, what an
//! execution shows of itself, and how threads hand on to each other.

use super::events::Events;
use super::events::class::{Class, Name, WAIT_AT_LEAST_PS};
use super::events::line::Line;
use super::events::stats::Memory;
use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;

/// What the pass gives.
#[derive(Debug, Default)]
pub struct Sweep {
    /// Events that may be executions, by thread, then start.
    pub records: Vec<Record>,
    /// What the allocators said, by thread, then time.
    pub points: Vec<Point>,
    /// Waits for memory.
    pub waits: Vec<Wait>,
    /// Allocations that no execution asked for.
    pub questions: Vec<Question>,
    /// Where what a thread goes on with was begun.
    pub origins: FxHashMap<(i64, i64), Origin>,
}

/// An allocation of which a closer look must tell who asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// Its thread.
    pub line: usize,
    /// When it began.
    pub start_ps: i64,
}

/// An event that may be an execution.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its thread.
    pub line: usize,
    /// When it began.
    pub start_ps: i64,
    /// When it ended.
    pub end_ps: i64,
    /// The name that tells its module, by number.
    pub module: Option<u32>,
    /// The module that its thunks tell, a text by number.
    pub thunks_module: Option<u32>,
    /// The name that tells the function whose call it is in, by number.
    pub function: Option<u32>,
    /// From the events in it.
    pub program_id: Option<i64>,
    /// From `[n]` in a name in it.
    pub device: Option<i64>,
    /// Of the allocations in it, by number.
    pub allocator: Option<u32>,
    /// Kernels were launched in it.
    pub launched: bool,
    /// The allocator waited in it.
    pub waited: bool,
    /// What was asked of the allocator in it.
    pub requests: Vec<i64>,
    /// The record it is in.
    pub parent: Option<usize>,
    /// What it goes on with.
    pub consumes: Vec<(i64, i64)>,
    /// It is the part of an execution on one device.
    pub is_helper: bool,
}

/// An event of an allocator.
#[derive(Debug, Clone)]
pub struct Point {
    /// When.
    pub time_ps: i64,
    /// What it said.
    pub memory: Memory,
    /// It gave memory; otherwise it took some back.
    pub is_allocation: bool,
    /// Who asked.
    pub owner: Owner,
}

/// Who asked for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// An execution, by record.
    Record(usize),
    /// Another event: a number in [`Sweep::questions`].
    Asked(u32),
    /// Nobody: memory was taken back.
    Nobody,
}

/// The allocator waiting for memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// When it began.
    pub start_ps: i64,
    /// How long it took.
    pub duration_ps: i64,
    /// The execution it is in.
    pub record: Option<usize>,
    /// Of the thread, by number.
    pub allocator: Option<u32>,
    /// No event says so.
    pub inferred: bool,
}

/// Where something was begun that another thread goes on with.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The thread.
    pub line: usize,
    /// The name that tells the function whose call it is in, by number.
    pub function: Option<u32>,
    /// The execution it is in.
    pub record: Option<usize>,
    /// What it goes on with itself.
    pub consumes: Vec<(i64, i64)>,
}

/// An event that has not ended.
struct Open {
    end_ps: i64,
    event: usize,
    name: u32,
    record: Option<usize>,
}

/// A wait in vain takes no longer.
const WAIT_AT_MOST_PS: i64 = 11_000_000_000_000;

impl Sweep {
    /// Passes over all threads.
    pub fn of(events: &Events) -> Sweep {
        let mut sweep = Sweep::default();
        let notes = events.lines.iter().flat_map(|line| &line.notes.0);
        let consumed = notes.filter_map(|(_, note)| note.consumes).collect();
        for (index, line) in events.lines.iter().enumerate() {
            let first = sweep.records.len();
            let mut pass = Pass { names: &events.names, line, index, open: Vec::new(), sweep: &mut sweep, consumed: &consumed };
            (0..line.start_ps.len()).for_each(|event| pass.event(event));
            if sweep.records.len() == first && !line.memory.0.is_empty() {
                sweep.waits.extend(inferred_waits(&events.names, line));
            }
        }
        sweep
    }
}

struct Pass<'a> {
    names: &'a [Name],
    line: &'a Line,
    index: usize,
    open: Vec<Open>,
    sweep: &'a mut Sweep,
    /// What some thread goes on with.
    consumed: &'a FxHashSet<(i64, i64)>,
}

impl Pass<'_> {
    #[inline]
    fn event(&mut self, event: usize) {
        let start_ps = self.line.start_ps[event];
        while self.open.last().is_some_and(|open| open.end_ps <= start_ps) {
            self.open.pop();
        }
        let name = self.line.name[event];
        let named = &self.names[name as usize];
        let mut record = None;
        match &named.class {
            Class::Python | Class::Other | Class::Pjit(_) | Class::FromHost => {}
            Class::Allocation | Class::Deallocation => return self.memory(event, named.class == Class::Allocation),
            Class::Execute(_) => record = Some(self.record(event, Some(name), false)),
            Class::Helper => record = Some(self.record(event, None, true)),
            Class::Retry => self.wait(event),
            Class::Thunks | Class::XlaModule | Class::Launch | Class::Execution => {}
        }
        if let Some(inside) = record.or_else(|| self.innermost()) {
            self.evidence(inside, event, named);
        }
        self.origin(event, record);
        self.open.push(Open { end_ps: self.line.end_ps(event), event, name, record });
    }

    /// Open events, the innermost first. Events of a thread may overlap without being nested: those that have ended are none.
    fn around(&self, event: usize) -> impl Iterator<Item = &Open> {
        let start_ps = self.line.start_ps[event];
        self.open.iter().rev().filter(move |open| open.end_ps > start_ps)
    }

    fn innermost(&self) -> Option<usize> {
        self.open.iter().rev().find_map(|open| open.record)
    }

    fn function(&self, event: usize) -> Option<u32> {
        self.around(event).map(|open| open.name).find(|&name| matches!(self.names[name as usize].class, Class::Pjit(_)))
    }

    fn consumed(&self, event: usize) -> Vec<(i64, i64)> {
        let own = self.line.notes.get(event).and_then(|note| note.consumes);
        let around = self.around(event).filter_map(|open| self.line.notes.get(open.event)?.consumes);
        own.into_iter().chain(around).collect()
    }

    fn record(&mut self, event: usize, module: Option<u32>, is_helper: bool) -> usize {
        self.sweep.records.push(Record {
            line: self.index,
            start_ps: self.line.start_ps[event],
            end_ps: self.line.end_ps(event),
            module,
            function: self.function(event),
            parent: self.innermost(),
            consumes: self.consumed(event),
            is_helper,
            ..Record::default()
        });
        self.sweep.records.len() - 1
    }

    /// What an event within an execution shows of it.
    fn evidence(&mut self, inside: usize, event: usize, named: &Name) {
        let note = self.line.notes.get(event);
        let record = &mut self.sweep.records[inside];
        record.device = record.device.or(named.device);
        if matches!(named.class, Class::Thunks | Class::XlaModule) {
            record.launched = true;
            record.thunks_module = record.thunks_module.or_else(|| note.and_then(|note| note.module));
        }
        if let Some(note) = note {
            record.program_id = record.program_id.or(note.program_id);
            record.consumes.extend(note.consumes);
        }
    }

    fn memory(&mut self, event: usize, is_allocation: bool) {
        let Some(memory) = self.line.memory.get(event).cloned() else { return };
        let record = self.innermost();
        if let Some(record) = record.map(|record| &mut self.sweep.records[record]) {
            record.allocator = record.allocator.or(Some(memory.allocator));
            if is_allocation {
                record.requests.push(memory.requested_bytes);
            }
        }
        let owner = match record {
            Some(record) => Owner::Record(record),
            None if is_allocation => {
                self.sweep.questions.push(Question { line: self.index, start_ps: self.line.start_ps[event] });
                Owner::Asked(self.sweep.questions.len() as u32 - 1)
            }
            None => Owner::Nobody,
        };
        self.sweep.points.push(Point { time_ps: self.line.start_ps[event], memory, is_allocation, owner });
    }

    fn wait(&mut self, event: usize) {
        let record = self.innermost();
        if let Some(record) = record {
            self.sweep.records[record].waited = true;
        }
        let duration_ps = self.line.duration_ps[event];
        self.sweep.waits.push(Wait { start_ps: self.line.start_ps[event], duration_ps, record, allocator: allocator_of(self.line), inferred: false });
    }

    fn origin(&mut self, event: usize, record: Option<usize>) {
        if let Some(link) = self.line.notes.get(event).and_then(|note| note.produces).filter(|link| self.consumed.contains(link)) {
            let origin =
                Origin { line: self.index, function: self.function(event), record: record.or_else(|| self.innermost()), consumes: self.consumed(event) };
            self.sweep.origins.insert(link, origin);
        }
    }
}

/// The allocator whose events a thread has, the first of several.
fn allocator_of(line: &Line) -> Option<u32> {
    line.memory.0.first().map(|(_, memory)| memory.allocator)
}

/// On a thread that allocates and executes nothing (TensorFlow): the innermost events as long as a wait in vain, without an allocation.
fn inferred_waits(names: &[Name], line: &Line) -> Vec<Wait> {
    let is_long = |event: usize| (WAIT_AT_LEAST_PS..=WAIT_AT_MOST_PS).contains(&line.duration_ps[event]);
    let class = |event: usize| &names[line.name[event] as usize].class;
    let long: Vec<usize> = (0..line.start_ps.len()).filter(|&event| is_long(event) && *class(event) != Class::Python).collect();
    let within = |inner: usize, outer: usize| line.start_ps[outer] <= line.start_ps[inner] && line.end_ps(inner) <= line.end_ps(outer);
    let mut gave: Vec<i64> =
        line.memory.0.iter().map(|&(event, _)| event as usize).filter(|&event| *class(event) == Class::Allocation).map(|event| line.start_ps[event]).collect();
    gave.sort_unstable();
    let gives = |event: usize| {
        let first = gave.partition_point(|&time| time < line.start_ps[event]);
        gave.get(first).is_some_and(|&time| time < line.end_ps(event))
    };
    let innermost = long.iter().enumerate().filter(|&(at, &event)| long.get(at + 1).is_none_or(|&next| !within(next, event)));
    innermost
        .filter(|&(_, &event)| *class(event) != Class::Retry && !gives(event))
        .map(|(_, &event)| Wait {
            start_ps: line.start_ps[event],
            duration_ps: line.duration_ps[event],
            record: None,
            allocator: allocator_of(line),
            inferred: true,
        })
        .collect()
}
