//! The third reading of a capture: a closer look at the few stretches of threads where it matters what happens around something: who asked
//! for memory where no execution did, and what the host did between the last two executions of a module.

use super::events::Events;
use super::events::class::Class;
use super::events::head::Head;
use super::events::line::Stretch;
use super::events::stats::{Found, Key, keys};
use super::names::Names;
use super::runtime::between::{Between, HostEvent};
use super::space::line;
use super::sweep::Question;
use crate::scan::wire::{Selective, fields};
use crate::timeline::blocks::Interner;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Of the events between two executions so many are kept.
const MOST_BETWEEN: usize = 10_000;
/// So many Python functions around an event are told, the innermost.
const MOST_FRAMES: usize = 8;
const NOBODY: &str = "(no event around it)";

/// The time between the last two executions of a module on a device.
#[derive(Debug, Clone)]
pub struct Window {
    /// The thread of the call.
    pub line: usize,
    /// The module.
    pub module: Arc<str>,
    /// The device.
    pub device: Option<i64>,
    /// When the one ended.
    pub from_ps: i64,
    /// When the other began.
    pub to_ps: i64,
}

/// What the look found.
#[derive(Debug, Default)]
pub struct Looked {
    /// Who asked for memory, by number.
    pub owners: Vec<String>,
    /// The owner of each question.
    pub answers: Vec<u32>,
    /// By the order of the windows.
    pub between: Vec<Between>,
}

/// Looks at the stretches that matter.
pub struct Look<'a> {
    events: &'a Events,
    names: &'a Names,
    lines: Vec<LineLook>,
    windows: Vec<Window>,
    /// By their place in the file.
    wanted: Vec<Wanted>,
    next: usize,
    /// The beginning of the stretch that is next.
    held: Vec<u8>,
    keys: HashMap<usize, FxHashMap<i64, Key>>,
    texts: Interner,
    answers: Answers,
}

struct Wanted {
    line: usize,
    stretch: Stretch,
    /// What begins before that is complete when this stretch is read.
    complete_until_ps: i64,
}

/// An event that is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) start_ps: i64,
    pub(super) duration_ps: i64,
    pub(super) name: u32,
    /// A text, by number.
    pub(super) shape: Option<u32>,
}

impl Seen {
    fn end_ps(&self) -> i64 {
        self.start_ps.saturating_add(self.duration_ps)
    }
}

struct Answers {
    owners: Interner,
    of: Vec<u32>,
}

impl<'a> Look<'a> {
    /// Asks about so many allocations and times.
    pub fn new(events: &'a Events, names: &'a Names, questions: &[Question], windows: Vec<Window>) -> Look<'a> {
        let mut lines: Vec<LineLook> = events.lines.iter().map(|_| LineLook::default()).collect();
        for (number, question) in questions.iter().enumerate() {
            lines[question.line].questions.push((question.start_ps, number as u32));
        }
        for (number, window) in windows.iter().enumerate() {
            if let Some(line) = lines.get_mut(window.line) {
                line.windows.push(WindowLook { number, from_ps: window.from_ps, to_ps: window.to_ps, ..WindowLook::default() });
            }
        }
        lines.iter_mut().for_each(LineLook::prepare);
        let mut owners = Interner::default();
        let answers = Answers { of: vec![owners.number(NOBODY); questions.len()], owners };
        let wanted = wanted(events, &lines);
        let texts = Interner::default();
        Look { events, names, lines, windows, wanted, next: 0, held: Vec::new(), keys: HashMap::new(), texts, answers }
    }

    /// What was found.
    pub fn finish(mut self) -> Looked {
        // The file may end within a stretch.
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.read(&held);
        }
        for line in 0..self.lines.len() {
            self.complete(line, i64::MAX);
        }
        let mut found: Vec<(usize, WindowLook)> = self.lines.into_iter().flat_map(|line| line.windows).map(|window| (window.number, window)).collect();
        found.sort_by_key(|(number, _)| *number);
        let between = found.into_iter().map(|(number, look)| {
            let Window { module, device, .. } = self.windows[number].clone();
            let event = |event: Inside| HostEvent {
                start_ps: event.start_ps,
                duration_ps: event.duration_ps,
                name: self.events.names[event.name as usize].text.clone(),
                highlight: event.highlight,
                frames: event.frames.iter().map(|&name| self.events.names[name as usize].text.clone()).collect(),
            };
            Between { module, device, events: look.chosen().into_iter().map(event).collect() }
        });
        Looked { between: between.collect(), owners: self.answers.owners.texts, answers: self.answers.of }
    }

    /// Takes the events of the stretch that is next.
    fn read(&mut self, bytes: &[u8]) {
        let Some(Wanted { line, complete_until_ps, .. }) = self.wanted.get(self.next) else { return };
        let (line, complete_until_ps) = (*line, *complete_until_ps);
        let thread = &self.events.lines[line];
        let plane = &self.names.planes[thread.plane];
        let numbers = &self.events.numbers[thread.plane];
        let keys = self.keys.entry(thread.plane).or_insert_with(|| keys(plane));
        let is_asked = !self.lines[line].questions.is_empty();
        for (_, value) in fields(bytes).map_while(Result::ok).filter(|(field, _)| *field == line::EVENTS) {
            let Ok(head) = Head::of(value.bytes(), value.bytes().len()) else { continue };
            let name = numbers.get(head.id);
            let Some(named) = self.events.names.get(name as usize) else { continue };
            let mut seen = Seen { start_ps: head.offset_ps.saturating_add(thread.begin_ps), duration_ps: head.duration_ps, name, shape: None };
            if !self.lines[line].concerns(seen.start_ps, seen.end_ps()) {
                continue;
            }
            if is_asked && head.has_stats && named.class.has_stats() {
                seen.shape = Found::of(value.bytes(), keys, &plane.stats, &mut self.texts).ok().and_then(|found| found.note()?.shape);
            }
            self.lines[line].waiting.push(seen);
        }
        self.next += 1;
        self.complete(line, complete_until_ps);
    }

    #[cfg(test)]
    pub(super) fn see(&mut self, line: usize, seen: Seen, shape: Option<&str>) {
        let shape = shape.map(|shape| self.texts.number(shape));
        if self.lines[line].concerns(seen.start_ps, seen.end_ps()) {
            self.lines[line].waiting.push(Seen { shape, ..seen });
        }
    }

    fn complete(&mut self, line: usize, until_ps: i64) {
        self.lines[line].complete(until_ps, self.events, &self.texts, &mut self.answers);
    }
}

impl Selective for Look<'_> {
    fn next(&self) -> Option<Range<u64>> {
        let bytes = &self.wanted.get(self.next)?.stretch.bytes;
        Some(bytes.start + self.held.len() as u64..bytes.end)
    }

    fn feed(&mut self, mut at: u64, mut bytes: &[u8]) {
        while let Some(Wanted { stretch, .. }) = self.wanted.get(self.next) {
            let (from, until) = (stretch.bytes.start + self.held.len() as u64, stretch.bytes.end);
            let before = usize::try_from(from.saturating_sub(at)).unwrap_or(usize::MAX).min(bytes.len());
            (at, bytes) = (at + before as u64, &bytes[before..]);
            let missing = usize::try_from(until.saturating_sub(from)).unwrap_or(usize::MAX);
            if bytes.len() < missing {
                self.held.extend_from_slice(bytes);
                return;
            }
            let (own, rest) = bytes.split_at(missing);
            if self.held.is_empty() {
                self.read(own);
            } else {
                self.held.extend_from_slice(own);
                let held = std::mem::take(&mut self.held);
                self.read(&held);
            }
            (at, bytes) = (at + missing as u64, rest);
        }
    }
}

/// The stretches in which something is asked.
fn wanted(events: &Events, lines: &[LineLook]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (index, (line, look)) in events.lines.iter().zip(lines).enumerate() {
        let first = wanted.len();
        let concerned = line.stretches.iter().filter(|stretch| look.concerns(stretch.first_start_ps, stretch.last_end_ps));
        wanted.extend(concerned.map(|stretch| Wanted { line: index, stretch: stretch.clone(), complete_until_ps: i64::MAX }));
        let mut least = i64::MAX;
        for each in wanted[first..].iter_mut().rev() {
            each.complete_until_ps = least;
            least = least.min(each.stretch.first_start_ps);
        }
    }
    wanted
}

/// What is asked about one thread.
#[derive(Default)]
struct LineLook {
    windows: Vec<WindowLook>,
    /// When, and which; by time.
    questions: Vec<(i64, u32)>,
    /// The times at which something is asked: apart from each other, by time.
    spans: Vec<(i64, i64)>,
    /// Events that others may come before.
    waiting: Vec<Seen>,
    /// Questions answered.
    answered: usize,
    /// Windows that have begun.
    begun: usize,
    /// Those of them that have not ended.
    active: Vec<usize>,
    open: Vec<Open>,
}

/// An event that has not ended.
struct Open {
    end_ps: i64,
    name: u32,
    shape: Option<u32>,
}

impl LineLook {
    fn prepare(&mut self) {
        self.questions.sort_unstable();
        self.windows.retain(|window| window.from_ps <= window.to_ps);
        self.windows.sort_by_key(|window| (window.from_ps, window.number));
        let asked = self.questions.iter().map(|&(time, _)| (time, time));
        let mut spans: Vec<(i64, i64)> = asked.chain(self.windows.iter().map(|window| (window.from_ps, window.to_ps))).collect();
        spans.sort_unstable();
        for (from, to) in spans {
            match self.spans.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => self.spans.push((from, to)),
            }
        }
    }

    /// Whether something is asked of this time.
    fn concerns(&self, from_ps: i64, to_ps: i64) -> bool {
        let begun = self.spans.partition_point(|span| span.0 <= to_ps);
        begun > 0 && self.spans[begun - 1].1 >= from_ps
    }

    fn complete(&mut self, until_ps: i64, events: &Events, texts: &Interner, answers: &mut Answers) {
        // An event comes after those it is in; those of one time keep the file's order.
        self.waiting.sort_by_key(|seen| (seen.start_ps, -seen.duration_ps));
        let complete = if until_ps == i64::MAX { self.waiting.len() } else { self.waiting.partition_point(|seen| seen.start_ps < until_ps) };
        let waiting = self.waiting.split_off(complete);
        for seen in std::mem::replace(&mut self.waiting, waiting) {
            self.event(&seen, events, texts, answers);
        }
    }

    fn event(&mut self, seen: &Seen, events: &Events, texts: &Interner, answers: &mut Answers) {
        let class = &events.names[seen.name as usize].class;
        while self.open.last().is_some_and(|open| open.end_ps <= seen.start_ps) {
            self.open.pop();
        }
        while self.questions.get(self.answered).is_some_and(|&(time, _)| time < seen.start_ps) {
            self.answered += 1;
        }
        if *class == Class::Allocation
            && let Some(&(_, number)) = self.questions.get(self.answered).filter(|&&(time, _)| time == seen.start_ps)
        {
            self.answered += 1;
            if let Some(owner) = self.owner(seen.start_ps, events, texts) {
                answers.of[number as usize] = answers.owners.number(&owner);
            }
        }
        self.between(seen, events);
        if !matches!(class, Class::Allocation | Class::Deallocation) {
            self.open.push(Open { end_ps: seen.end_ps(), name: seen.name, shape: seen.shape });
        }
    }

    /// Open events, the innermost first. Events of a thread may overlap without being nested: those that have ended are none.
    fn around(&self, time_ps: i64) -> impl Iterator<Item = &Open> {
        self.open.iter().rev().filter(move |open| open.end_ps > time_ps)
    }

    /// Who asked for memory: a transfer from the host, else another of its events, else a Python function.
    fn owner(&self, time_ps: i64, events: &Events, texts: &Interner) -> Option<String> {
        let class = |open: &&Open| &events.names[open.name as usize].class;
        let transfer = self.around(time_ps).find(|open| *class(open) == Class::FromHost);
        let found = transfer.or_else(|| self.around(time_ps).find(|open| *class(open) != Class::Python)).or_else(|| self.around(time_ps).next())?;
        let name = &events.names[found.name as usize].text;
        Some(found.shape.map_or_else(|| name.clone(), |shape| format!("{name}({})", texts.texts[shape as usize])))
    }

    fn between(&mut self, seen: &Seen, events: &Events) {
        while self.windows.get(self.begun).is_some_and(|window| window.from_ps <= seen.start_ps) {
            self.active.push(self.begun);
            self.begun += 1;
        }
        if self.active.is_empty() {
            return;
        }
        self.active.retain(|&window| self.windows[window].to_ps > seen.start_ps);
        let end_ps = seen.end_ps();
        let highlight = may_keep(&events.names[seen.name as usize].text);
        let frames = || {
            let functions = self.around(end_ps.saturating_sub(1)).map(|open| open.name);
            let mut frames: Vec<u32> = functions.filter(|&name| events.names[name as usize].class == Class::Python).take(MOST_FRAMES).collect();
            frames.reverse();
            frames
        };
        let frames = if highlight { frames() } else { Vec::new() };
        for &window in &self.active {
            let window = &mut self.windows[window];
            if end_ps <= window.to_ps {
                window.event(seen, highlight, &frames);
            }
        }
    }
}

/// What is found in a window: the outermost events that lie wholly in it, and at any depth those that may keep arrays.
#[derive(Default)]
struct WindowLook {
    number: usize,
    from_ps: i64,
    to_ps: i64,
    /// Up to where outermost events reach.
    covered_ps: Option<i64>,
    highlighted: Vec<Inside>,
    others: Vec<Inside>,
}

struct Inside {
    start_ps: i64,
    duration_ps: i64,
    name: u32,
    highlight: bool,
    frames: Vec<u32>,
}

impl WindowLook {
    fn event(&mut self, seen: &Seen, highlight: bool, frames: &[u32]) {
        let outermost = self.covered_ps.is_none_or(|covered| seen.start_ps >= covered);
        self.covered_ps = self.covered_ps.max(Some(seen.end_ps()));
        let list = if highlight { &mut self.highlighted } else { &mut self.others };
        if (outermost || highlight) && list.len() < MOST_BETWEEN {
            list.push(Inside { start_ps: seen.start_ps, duration_ps: seen.duration_ps, name: seen.name, highlight, frames: frames.to_vec() });
        }
    }

    fn chosen(self) -> Vec<Inside> {
        let WindowLook { mut highlighted, mut others, .. } = self;
        others.truncate(MOST_BETWEEN - highlighted.len());
        highlighted.append(&mut others);
        highlighted.sort_by_key(|event| (event.start_ps, -event.duration_ps));
        highlighted
    }
}

/// Whether an event may be what keeps arrays from one execution to the next.
fn may_keep(name: &str) -> bool {
    matches!(name, "$<unknown> append" | "$builtins append") || ["setdefault", "__setitem__", "device_put"].iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::super::events::class::Name;
    use super::super::events::line::Line;
    use super::super::events::numbers::Numbers;
    use super::super::names::PlaneNames;
    use super::super::space::tests::{bytes, number};
    use super::*;

    /// A thread's events: of (name, start, duration), in the order of the file; and where each lies in it.
    fn thread(rows: &[(&str, i64, i64)]) -> (Events, Names, Vec<u8>) {
        let names: Vec<Name> = rows.iter().map(|(name, ..)| Name::of(name)).collect();
        let plane = PlaneNames { events: rows.iter().enumerate().map(|(id, (name, ..))| (id as i64, (*name).to_owned())).collect(), ..PlaneNames::default() };
        let mut known = Vec::new();
        let numbers = Numbers::of(&plane, &mut known);
        let mut file = Vec::new();
        let mut stretches = Vec::new();
        for (id, &(_, start_ps, duration_ps)) in rows.iter().enumerate() {
            let from = file.len() as u64;
            file.extend(bytes(line::EVENTS, &[&number(1, id as i64), &number(2, start_ps), &number(3, duration_ps)]));
            stretches.push(Stretch { bytes: from..file.len() as u64, first_start_ps: start_ps, last_end_ps: start_ps + duration_ps });
        }
        let events = Events { names, lines: vec![Line { stretches, ..Line::default() }], numbers: vec![numbers], ..Events::default() };
        (events, Names { planes: vec![plane], ..Names::default() }, file)
    }

    /// What is found, fed in pieces of so many bytes, and how many bytes were looked at.
    fn looked(rows: &[(&str, i64, i64)], size: usize) -> (Looked, usize) {
        let (events, names, file) = thread(rows);
        let windows = vec![Window { line: 0, module: "jit_f".into(), device: None, from_ps: 100, to_ps: 200 }];
        let questions = [Question { line: 0, start_ps: 55 }, Question { line: 0, start_ps: 5 }];
        let mut look = Look::new(&events, &names, &questions, windows);
        let mut seen = 0;
        while let Some(range) = look.next() {
            let piece = &file[range.start as usize..(range.end as usize).min(range.start as usize + size)];
            seen += piece.len();
            look.feed(range.start, piece);
        }
        (look.finish(), seen)
    }

    const ROWS: [(&str, i64, i64); 10] = [
        ("$train.py:1 <module>", 0, 1000),
        ("MemoryAllocation", 5, 0),
        ("$numpy:3 idle", 20, 10),
        ("BufferFromHostBuffer", 50, 20),
        ("MemoryAllocation", 55, 0),
        ("$train.py:9 keep", 110, 50),
        ("$<unknown> append", 120, 1),
        ("$late.py:1 late", 190, 20),
        ("$numpy:3 idle", 300, 10),
        ("$numpy:3 idle", 320, 10),
    ];

    #[test]
    fn only_what_is_asked_is_looked_at_wherever_it_is_cut() {
        let (_, _, file) = thread(&ROWS);
        for size in [1, 3, 1000] {
            let (found, seen) = looked(&ROWS, size);
            let owners: Vec<&str> = found.answers.iter().map(|&owner| &found.owners[owner as usize][..]).collect();
            assert_eq!(owners, ["BufferFromHostBuffer", "$train.py:1 <module>"]);
            let told: Vec<(&str, bool)> = found.between[0].events.iter().map(|event| (&event.name[..], event.highlight)).collect();
            assert_eq!(told, [("$train.py:9 keep", false), ("$<unknown> append", true)]);
            assert_eq!(found.between[0].events[1].frames, ["$train.py:1 <module>", "$train.py:9 keep"]);
            assert!(seen < file.len());
        }
    }

    #[test]
    fn the_order_of_events_does_not_matter() {
        let mut rows = ROWS;
        rows.reverse();
        let (there, back) = (looked(&ROWS, 1000).0, looked(&rows, 1000).0);
        assert_eq!((there.between, there.owners[there.answers[0] as usize].clone()), (back.between, back.owners[back.answers[0] as usize].clone()));
    }
}
