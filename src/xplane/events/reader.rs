//! Reads the events of every line: fed bytes, cut anywhere.

use super::Events;
use super::class::{Class, Keep};
use super::head::Head;
use super::line::{Line, Stretch};
use super::numbers::Numbers;
use super::stats::{Found, Key, Launch, keys};
use crate::scan::wire::{Action, End, Fault, Selective, Visit, Walker, fields};
use crate::timeline::blocks::Interner;
use crate::xplane::names::{Names, PlaneNames};
use crate::xplane::space::{Held, PlaneKind, event, file, line, note_damage, plane, stat};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A timestamp from here on is one of the calendar (in 1973), not one of a profile.
const ABSOLUTE_FROM_NS: i64 = 100_000_000_000_000_000;
/// So long is a stretch at least.
const STRETCH_BYTES: u64 = 128 << 10;
/// Key of an event within its line: field 4, bytes.
const EVENT_KEY: u8 = (line::EVENTS << 3 | 2) as u8;
const IN_PLANE: usize = 1;
const IN_LINE: usize = 2;

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
    thread: Thread,
    /// Of the events of each name.
    keeps: Vec<Keep>,
    /// What is kept may take so many bytes, and what is kept of earlier lines does.
    most_bytes: u64,
    kept_bytes: u64,
}

/// A plane whose lines are read.
struct Plane<'a> {
    names: &'a PlaneNames,
    kind: PlaneKind,
    keys: FxHashMap<i64, Key>,
    /// A number in [`Names::planes`].
    number: usize,
}

/// The line that is read. Until it ends, times are since its own start.
#[derive(Default)]
struct Thread {
    line: Line,
    start_ns: i64,
    bytes: Range<u64>,
    /// Something on it matters.
    matters: bool,
    /// How many of the launches, the last ones, are its.
    launches: usize,
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
            thread: Thread::default(),
            keeps: Vec::new(),
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

impl Visit for Reading<'_> {
    fn begins(&mut self, depth: usize, field: u32, body: Range<u64>) -> Action {
        match (depth, field) {
            (0, file::PLANES) => {
                self.begin_plane();
                Action::Enter
            }
            (IN_PLANE, plane::LINES) if self.plane.is_some() => {
                self.thread = Thread { bytes: body, ..Thread::default() };
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
            self.thread.begin_stretch(at + (bytes.len() - rest.len()) as u64);
            self.event(&plane, behind, usize::from(*length));
            rest = &behind[usize::from(*length)..];
        }
        self.plane = Some(plane);
        bytes.len() - rest.len()
    }

    fn number(&mut self, depth: usize, field: u32, value: u64) {
        if (depth, field) == (IN_LINE, line::TIMESTAMP_NS) {
            self.thread.start_ns = value.cast_signed();
        }
    }

    fn left(&mut self, depth: usize) {
        match depth {
            IN_PLANE => self.plane = None,
            _ => self.end_line(),
        }
    }

    fn damaged(&mut self, byte: u64, fault: Fault) {
        note_damage(&mut self.events.damage, byte, fault);
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
        let head = Head::of(bytes, length)?;
        let name = self.events.numbers[plane.number].get(head.id);
        // An event without a name still takes its time.
        let Some(&keep) = self.keeps.get(name as usize) else { return Ok(()) };
        self.thread.cover(&head);
        match keep {
            Keep::No if !head.has_stats => Ok(()),
            Keep::Long if !keep.admits(head.duration_ps, false) => Ok(()),
            _ => self.keep(plane, name, &head, &bytes[..length]),
        }
    }

    fn keep(&mut self, plane: &Plane, name: u32, head: &Head, message: &[u8]) -> Result<(), Fault> {
        if self.events.is_full {
            return Ok(());
        }
        let kept = self.keep_event(plane, name, head, message);
        if self.kept_bytes + self.thread.line.bytes() + self.events.launches.len() as u64 * size_of::<Launch>() as u64 > self.most_bytes {
            self.events.is_full = true;
            self.events.lines = Vec::new();
            self.events.launches = Vec::new();
            self.thread = Thread::default();
        }
        kept
    }

    fn keep_event(&mut self, plane: &Plane, name: u32, head: &Head, message: &[u8]) -> Result<(), Fault> {
        let class = &self.events.names[name as usize].class;
        self.thread.matters |= class.keeps_its_line();
        let looks = head.has_stats && class.has_stats();
        let read = if looks { Found::of(message, &plane.keys, &plane.names.stats, &mut self.texts) } else { Ok(Found::default()) };
        let keep = self.keeps[name as usize];
        match (class, read) {
            // What its stats say cannot be read; that it happened can.
            (_, Err(fault)) => {
                if keep.admits(head.duration_ps, false) {
                    self.thread.line.push(head, name);
                }
                return Err(fault);
            }
            (Class::Launch, Ok(found)) => self.launch(found.launch(head.offset_ps)),
            (Class::Allocation | Class::Deallocation, Ok(found)) => return self.thread.line.push_memory(head, name, found.memory()),
            (_, Ok(found)) => {
                let note = found.note();
                if keep.admits(head.duration_ps, note.is_some()) {
                    self.thread.line.push_noted(head, name, note);
                }
            }
        }
        Ok(())
    }

    fn launch(&mut self, launch: Option<Launch>) {
        self.thread.launches += usize::from(launch.is_some());
        self.events.launches.extend(launch);
    }

    /// Adds the line's start to its events, and keeps it if it matters.
    fn end_line(&mut self) {
        let Thread { mut line, start_ns, matters, launches, .. } = std::mem::take(&mut self.thread);
        let start_ps = self.since_zero_ns(start_ns).saturating_mul(1000);
        let first = self.events.launches.len() - launches;
        self.events.launches[first..].iter_mut().for_each(|launch| launch.start_ps = launch.start_ps.saturating_add(start_ps));
        if matters && !self.events.is_full {
            self.kept_bytes += line.bytes();
            line.plane = self.plane.as_ref().map_or(0, |plane| plane.number);
            line.begin_at(start_ps);
            line.sort();
            self.events.lines.push(line);
        }
    }

    fn since_zero_ns(&mut self, timestamp_ns: i64) -> i64 {
        if timestamp_ns < ABSOLUTE_FROM_NS { timestamp_ns } else { timestamp_ns.saturating_sub(*self.zero_ns.get_or_insert(timestamp_ns)) }
    }
}

impl Thread {
    #[inline]
    fn begin_stretch(&mut self, at: u64) {
        match self.line.stretches.last_mut() {
            Some(last) if at - last.bytes.start < STRETCH_BYTES => return,
            Some(last) => last.bytes.end = at,
            None => {}
        }
        let start = if self.line.stretches.is_empty() { self.bytes.start } else { at };
        self.line.stretches.push(Stretch { bytes: start..self.bytes.end, first_start_ps: i64::MAX, last_end_ps: i64::MIN });
    }

    /// Counts an event to the last stretch.
    #[inline]
    fn cover(&mut self, head: &Head) {
        if self.line.stretches.is_empty() {
            self.begin_stretch(self.bytes.start);
        }
        if let Some(stretch) = self.line.stretches.last_mut() {
            stretch.first_start_ps = stretch.first_start_ps.min(head.offset_ps);
            stretch.last_end_ps = stretch.last_end_ps.max(head.offset_ps.saturating_add(head.duration_ps));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xplane::names::NamesReader;
    use crate::xplane::space::tests::{bytes, number};

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
        assert_eq!(events.kernels, FxHashMap::from_iter([(31, 3)]));
        for size in 1..40 {
            assert_eq!((read(&file, size).lines, read(&file, size).launches), (events.lines.clone(), events.launches.clone()));
        }
    }
}
