//! A trace read in parts: ranges of bytes that workers read without knowing of each other, put together so that nothing tells how many
//! they were.
//!
//! A part begins at an event that its reader guessed and says at which event it ended ([`crate::scan::json`]). It counts when the part
//! before it ended at that very event; where the guess was another, what lies between, or the range, is read again.

use super::budget::{Budget, TextRoom};
use super::trace_view::{Dequeue, Field, NONE, Operators, Phase, Point, Spans, Trace};
use crate::error::{LISTED_PER_KIND, Position, Problem, Warning, Warnings};
use crate::scan::json::{End, Ended, Found, LONGEST_EVENT, Tail, Why};
use crate::timeline::blocks::Interner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// What the events that begin in a range of the file say. Numbers of names, stacks and threads are the part's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TracePart {
    /// Where it began and ended.
    pub ended: Ended,
    /// Why it ended before its range did.
    pub failure: Option<Warning>,
    /// Events, those of no interest included.
    pub events: u64,
    /// By number.
    pub names: Vec<String>,
    /// By number.
    pub stacks: Vec<String>,
    /// By number.
    pub threads: Vec<String>,
    /// See [`Trace`].
    pub operators: Operators,
    /// See [`Trace`].
    pub python: Spans,
    /// See [`Trace`]; of two with one id the later counts.
    pub enqueued: Vec<(u64, Point)>,
    /// See [`Trace`].
    pub dequeues: Vec<Dequeue>,
    /// By id as the file writes it; of two with one id the later counts.
    pub flow_starts: Vec<(String, Point)>,
    /// By id as the file writes it.
    pub flow_ends: Vec<(String, Point)>,
    /// In the file's order.
    pub phases: Vec<Phase>,
    /// Events that were set aside.
    pub bad_values: BadValues,
    /// Operators whose stack had no room.
    pub dropped_stacks: u64,
}

/// A field that is no number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadValue {
    /// Where the event begins.
    pub byte: u64,
    /// Which field.
    pub field: Field,
    /// What it says.
    pub value: String,
}

/// The first bad values, and how many there are: a damaged file may hold millions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadValues {
    /// As many as will be listed.
    pub listed: Vec<BadValue>,
    /// Those beyond.
    pub unlisted: u64,
}

impl BadValues {
    /// Adds one.
    pub fn push(&mut self, value: BadValue) {
        if self.listed.len() < LISTED_PER_KIND { self.listed.push(value) } else { self.unlisted += 1 }
    }
}

/// Cuts a file into at most `most` ranges, none of them small; the last has no end, for the file may have grown.
pub fn ranges(file_bytes: u64, most: usize) -> Vec<Range<u64>> {
    /// Below this a worker costs more than it saves.
    const LEAST_BYTES: u64 = 32 << 20;
    let count = (file_bytes / LEAST_BYTES).clamp(1, most.max(1) as u64);
    let cut = |nth: u64| if nth == count { u64::MAX } else { file_bytes / count * nth };
    (0..count).map(|nth| cut(nth)..cut(nth + 1)).collect()
}

/// Puts parts together, each given with its range. `read` reads a range that begins exactly at an event: it is called where a guess was wrong.
pub fn join(
    file: &str,
    budget: Option<Budget>,
    parts: impl IntoIterator<Item = (Range<u64>, TracePart)>,
    read: &mut dyn FnMut(Range<u64>) -> TracePart,
) -> Trace {
    let mut joiner = Joiner::new(file, budget);
    for (range, part) in parts {
        joiner.add(range, part);
        while let Some(range) = joiner.missing() {
            joiner.read_again(read(range));
        }
    }
    joiner.finish()
}

/// Puts parts together as they come, in any order: what follows on what is there needs to wait no longer.
pub struct Joiner {
    whole: Whole,
    /// Parts of ranges that come later, by the ranges' starts.
    waiting: BTreeMap<u64, (Range<u64>, TracePart)>,
    /// Start of the range that comes next.
    next: u64,
}

impl Joiner {
    /// For the ranges of a file, which must cover it from its start. With so much memory; without a limit where none is given.
    pub fn new(file: &str, budget: Option<Budget>) -> Joiner {
        Joiner { whole: Whole::new(file, budget.map(Budget::for_stacks)), waiting: BTreeMap::new(), next: 0 }
    }

    /// Takes the part of a range.
    pub fn add(&mut self, range: Range<u64>, part: TracePart) {
        self.waiting.insert(range.start, (range, part));
    }

    /// Joins what it can; the answer is a range, exactly from an event on, that must be [read again](Self::read_again) first.
    pub fn missing(&mut self) -> Option<Range<u64>> {
        while let Some((range, part)) = self.waiting.remove(&self.next) {
            match self.whole.next {
                Next::Start => self.whole.append(part),
                Next::Nothing => {}
                Next::Event(byte) => match part.ended.first {
                    Some(first) if byte < first => {
                        self.waiting.insert(range.start, (range, part));
                        return Some(byte..first);
                    }
                    Some(first) if byte == first => self.whole.append(part),
                    _ if byte < range.end => {
                        self.next = range.end;
                        return Some(byte..range.end);
                    }
                    _ => {}
                },
            }
            self.next = range.end;
        }
        None
    }

    /// Takes what was missing.
    pub fn read_again(&mut self, part: TracePart) {
        self.whole.append(part);
    }

    /// The trace.
    pub fn finish(self) -> Trace {
        self.whole.finish()
    }
}

/// The trace as far as its parts have been put together.
pub(super) struct Whole {
    file: String,
    next: Next,
    part: TracePart,
    names: Interner,
    stacks: Interner,
    threads: Interner,
    stacks_room: TextRoom,
}

/// What must come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The file's start.
    Start,
    /// The event that begins here.
    Event(u64),
    /// The file has ended.
    Nothing,
}

impl Whole {
    pub(super) fn new(file: &str, stack_bytes: Option<u64>) -> Whole {
        Whole {
            file: file.to_owned(),
            next: Next::Start,
            part: TracePart::default(),
            names: Interner::default(),
            stacks: Interner::default(),
            threads: Interner::default(),
            stacks_room: TextRoom::new(stack_bytes),
        }
    }

    /// Adds the part that follows.
    pub(super) fn append(&mut self, mut part: TracePart) {
        self.next = match part.ended.end {
            End::Next { byte } if part.failure.is_none() => Next::Event(byte),
            _ => Next::Nothing,
        };
        let numbers = |texts: &[String], interner: &mut Interner| texts.iter().map(|text| interner.number(text)).collect::<Vec<u32>>();
        let names = numbers(&part.names, &mut self.names);
        let has_room = |text: &str, stacks: &Interner, room: &mut TextRoom| stacks.known(text.as_bytes()).is_some() || room.takes(text.as_bytes());
        let number = |text: &String| if has_room(text, &self.stacks, &mut self.stacks_room) { self.stacks.number(text) } else { NONE };
        let stacks: Vec<u32> = part.stacks.iter().map(number).collect();
        let is_dropped = |stack: &&u32| stacks.get(**stack as usize) == Some(&NONE);
        part.dropped_stacks += part.operators.stack.iter().filter(is_dropped).count() as u64;
        let threads = numbers(&part.threads, &mut self.threads);
        let renumber = |numbers: &mut [u32], by: &[u32]| numbers.iter_mut().for_each(|number| *number = by.get(*number as usize).copied().unwrap_or(NONE));
        for spans in [&mut part.operators.spans, &mut part.python] {
            renumber(&mut spans.name, &names);
            renumber(&mut spans.thread, &threads);
        }
        renumber(&mut part.operators.stack, &stacks);
        let points = part.flow_starts.iter_mut().chain(&mut part.flow_ends).map(|(_, point)| point).chain(part.enqueued.iter_mut().map(|(_, point)| point));
        points.for_each(|point| renumber(std::slice::from_mut(&mut point.thread), &threads));

        let whole = &mut self.part;
        whole.ended.end = part.ended.end;
        // Only the file's start tells it.
        whole.ended.wrapped |= part.ended.wrapped;
        whole.ended.tail = part.ended.tail;
        whole.ended.broken.append(&mut part.ended.broken);
        whole.failure = part.failure;
        whole.events += part.events;
        whole.dropped_stacks += part.dropped_stacks;
        whole.operators.append(part.operators);
        whole.python.append(part.python);
        append(&mut whole.enqueued, part.enqueued);
        append(&mut whole.dequeues, part.dequeues);
        append(&mut whole.flow_starts, part.flow_starts);
        append(&mut whole.flow_ends, part.flow_ends);
        append(&mut whole.phases, part.phases);
        part.bad_values.listed.into_iter().for_each(|value| whole.bad_values.push(value));
        whole.bad_values.unlisted += part.bad_values.unlisted;
    }

    /// The trace.
    pub(super) fn finish(self) -> Trace {
        let warnings = self.warnings();
        let part = self.part;
        let flow_starts: rustc_hash::FxHashMap<String, Point> = part.flow_starts.into_iter().collect();
        let mut phases = part.phases;
        phases.sort_by_key(|phase| (phase.start_ns, std::cmp::Reverse(phase.end_ns)));
        Trace {
            names: self.names.texts,
            stacks: self.stacks.texts,
            operators: part.operators,
            python: part.python,
            enqueued: part.enqueued.into_iter().collect(),
            dequeues: part.dequeues,
            flows: part.flow_ends.into_iter().filter_map(|(id, end)| Some((*flow_starts.get(&id)?, end))).collect(),
            phases,
            events: part.events,
            warnings,
        }
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Warnings::default();
        let part = &self.part;
        let at = |byte| Position { byte: Some(byte), ..Position::file(&self.file) };
        let damaged = |reason: &str| Problem::DamagedFile { reason: reason.to_owned() };
        let bad_value = Problem::BadValue { reason: "not a number" };
        for BadValue { byte, field, value } in &part.bad_values.listed {
            warnings.push(&bad_value, at(*byte).field(field.name(), value.as_bytes()));
        }
        warnings.push_unlisted(&bad_value, &self.file, part.bad_values.unlisted);
        let mib = LONGEST_EVENT >> 20;
        let endless = format!("this event has no end within {mib} MiB, longer than profilers write; it was set aside");
        let too_large = format!("this event is longer than {mib} MiB, longer than profilers write; it was set aside");
        for broken in &part.ended.broken {
            let reason = match broken.why {
                Why::NoJson => "this event is no JSON; it was set aside",
                Why::Endless => &endless,
                Why::TooLarge => &too_large,
            };
            warnings.push(&damaged(reason), at(broken.byte));
        }
        if let Some(Tail { byte, what }) = part.ended.tail[usize::from(part.ended.wrapped)] {
            warnings.push(&damaged(if what == Found::Trace { MORE_TRACE } else { NO_TRACE }), at(byte));
        }
        if part.dropped_stacks > 0 {
            warnings.push(&Problem::StacksDropped { operators: part.dropped_stacks }, Position::file(&self.file));
        }
        let cut = Problem::CutTrace { events: part.events };
        match part.ended.end {
            End::Whole | End::Next { .. } => {}
            // What could not be read is not empty, nor something else.
            End::Empty | End::NoEvents if part.failure.is_some() => {}
            End::BetweenEvents => warnings.push(&cut, Position::file(&self.file)),
            End::InsideEvent { byte } => warnings.push(&cut, at(byte)),
            End::Empty => warnings.push(&damaged("the file is empty"), Position::file(&self.file)),
            End::NoEvents => {
                warnings.push(&damaged("this is no trace: neither a JSON array nor an object with traceEvents"), Position::file(&self.file));
            }
        }
        let mut warnings = warnings.finish();
        warnings.extend(part.failure.clone());
        warnings
    }
}

const MORE_TRACE: &str = "the trace ends before this place, but more of it, or another one, follows and was not read; take the file that the profiler wrote";
const NO_TRACE: &str = "the trace ends before this place, and what follows is none of it and was not read; take the file that the profiler wrote";

/// As `extend`, without a copy where there was nothing.
fn append<T>(whole: &mut Vec<T>, mut part: Vec<T>) {
    if whole.is_empty() { *whole = part } else { whole.append(&mut part) }
}

impl Spans {
    fn append(&mut self, part: Spans) {
        append(&mut self.name, part.name);
        append(&mut self.thread, part.thread);
        append(&mut self.start_ns, part.start_ns);
        append(&mut self.end_ns, part.end_ns);
    }
}

impl Operators {
    fn append(&mut self, part: Operators) {
        self.spans.append(part.spans);
        append(&mut self.stack, part.stack);
        append(&mut self.sequence, part.sequence);
        append(&mut self.backward, part.backward);
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace_view::TraceReader;
    use super::*;
    use proptest::prelude::*;

    /// Small, so that events are too large for it.
    const LONGEST: usize = 700;

    fn whole(text: &[u8]) -> Trace {
        let mut reader = TraceReader::new("t.json").with_longest(LONGEST);
        reader.feed(text);
        reader.finish()
    }

    /// Reads a range as a worker does: from its start until it is done, in slices.
    fn part(text: &[u8], range: Range<u64>, exact: bool) -> TracePart {
        let mut reader = TraceReader::range("t.json", range.clone(), exact).with_longest(LONGEST);
        for slice in text[range.start as usize..].chunks(97) {
            if reader.is_done() {
                break;
            }
            reader.feed(slice);
        }
        reader.finish_part()
    }

    /// The trace by ranges, and how often something was read again.
    fn by_ranges(text: &[u8], cuts: &[u64]) -> (Trace, usize) {
        by_ranges_within(None, text, cuts)
    }

    fn by_ranges_within(budget: Option<Budget>, text: &[u8], cuts: &[u64]) -> (Trace, usize) {
        let bounds = [&[0], cuts, &[u64::MAX]].concat();
        let ranges = bounds.windows(2).map(|pair| pair[0]..pair[1]);
        let mut again = 0;
        let mut read = |range| {
            again += 1;
            part(text, range, true)
        };
        let trace = join("t.json", budget, ranges.map(|range| (range.clone(), part(text, range, false))), &mut read);
        (trace, again)
    }

    /// What has no room does not depend on who reads it.
    #[test]
    fn stacks_beyond_their_room_are_dropped_and_counted() {
        let text = format!("[{}]", (0..200).map(operator).collect::<Vec<_>>().join(", "));
        let budget = Some(Budget { bytes: 8 * 300 });
        let mut reader = TraceReader::new("t.json").within(budget);
        reader.feed(text.as_bytes());
        let whole = reader.finish();
        assert_eq!(whole.stacks.len(), 1);
        let dropped = whole.operators.stack.iter().filter(|&&stack| stack == NONE).count();
        assert!(whole.warnings[0].code == "stacks-dropped" && whole.warnings[0].message.contains(&format!(" {dropped} operators")), "{:?}", whole.warnings);
        assert_eq!((dropped, by_ranges_within(budget, text.as_bytes(), &[1000, 9000]).0), (133, whole));
    }

    fn operator(nth: usize) -> String {
        let stack = nth % 3;
        format!(
            r#"{{"ph":"X","name":"op{}","pid":1,"tid":{},"ts":"{nth}.5","dur":1,"cat":"cpu_op","args":{{"Call stack":"{stack}.py(1): f;\r\n\"x\"\\"}}}}"#,
            nth % 5,
            nth % 2
        )
    }

    #[test]
    fn a_clean_file_is_read_once_by_any_number_of_workers() {
        let text = format!("[{}]", (0..200).map(operator).collect::<Vec<_>>().join(", "));
        let one = whole(text.as_bytes());
        assert_eq!((one.operators.spans.len(), one.stacks.len(), one.names.len(), one.warnings.len()), (200, 3, 5, 0));
        for count in 1..=8u64 {
            let cuts: Vec<u64> = (1..count).map(|nth| text.len() as u64 * nth / count).collect();
            let (trace, again) = by_ranges(text.as_bytes(), &cuts);
            assert_eq!(trace, one, "{count} ranges");
            assert_eq!(again, 0, "{count} ranges");
        }
    }

    #[test]
    fn a_wrong_guess_is_read_again() {
        // What looks like events lies in one.
        let inner = r#"{"ph":"X","name":"inner","cat":"cpu_op","ts":1,"dur":1}"#;
        let outer = format!(r#"{{"ph":"X","name":"outer","cat":"cpu_op","ts":1,"dur":9,"args":{{"list":[0, {inner}, {inner}]}}}}"#);
        let text = format!("[{}, {outer}, {}]", operator(1), operator(2));
        let (trace, again) = by_ranges(text.as_bytes(), &[text.find("list").unwrap() as u64]);
        assert_eq!((trace, again), (whole(text.as_bytes()), 1));
    }

    #[test]
    fn what_is_too_large_and_what_stands_behind_is_told_with_its_byte() {
        let large = format!(r#"{{"ph":"X","name":"{}","ts":1}}"#, "x".repeat(LONGEST));
        let (first, behind) = (format!("[{}, ", operator(1)), format!("[{}]", operator(3)));
        let text = format!("{first}{large}, {}]{behind}", operator(2));
        let trace = whole(text.as_bytes());
        let told: Vec<_> = trace.warnings.iter().map(|warning| (warning.code.as_str(), warning.byte)).collect();
        let bytes = [first.len(), text.len() - behind.len()].map(|byte| ("damaged-file", Some(byte as u64)));
        assert_eq!((trace.operators.spans.len(), told), (2, bytes.to_vec()), "{:?}", trace.warnings);
        assert!(trace.warnings[0].message.contains("longer than 4 MiB") && trace.warnings[1].message.contains("another one, follows"), "{:?}", trace.warnings);
        for cut in (0..text.len() as u64).step_by(7) {
            assert_eq!(by_ranges(text.as_bytes(), &[cut]).0, trace, "{cut}");
        }
    }

    #[test]
    fn ranges_cover_the_file_and_are_not_small() {
        assert_eq!(ranges(10, 4), vec![0..u64::MAX]);
        assert_eq!(ranges(70 << 20, 4), vec![0..35 << 20, 35 << 20..u64::MAX]);
        let many = ranges(5 << 30, 4);
        assert_eq!((many.len(), many[1].end - many[1].start), (4, 5 << 28));
    }

    #[test]
    fn no_more_bad_values_are_kept_than_are_listed() {
        let bad = (0..LISTED_PER_KIND + 9).map(|_| r#"{"ph":"X","name":"x","cat":"cpu_op","ts":"soon"}"#).collect::<Vec<_>>().join(",");
        let text = format!("[{bad}]");
        let one = whole(text.as_bytes());
        assert_eq!((one.warnings.len(), one.warnings[0].code.as_str()), (LISTED_PER_KIND + 1, "more-warnings"));
        assert_eq!(by_ranges(text.as_bytes(), &[20_000, 30_000]).0, one);
    }

    fn event() -> impl Strategy<Value = String> {
        let ugly = r#"{"ph":"X","name":"a\"b","cat":"cpu_op","ts":"#;
        prop_oneof![
            6 => (0usize..30).prop_map(operator),
            1 => (0u32..4, 0u32..9, prop::sample::select(vec!["s", "f"])).prop_map(|(id, ts, ph)| format!(r#"{{"ph":"{ph}","id":{id},"name":"fwdbwd","cat":"fwdbwd","ts":{ts},"tid":{ts}}}"#)),
            1 => (0u32..4, prop::sample::select(vec!["enqueue", "dequeue"])).prop_map(|(id, cat)| format!(r#"{{"ph":"X","name":"q","cat":"{cat}","ts":{id},"args":{{"correlation_id":{id}}}}}"#)),
            1 => Just(r#"{"ph":"X","name":"ProfilerStep#1","ts":1,"dur":2}"#.to_owned()),
            1 => Just(r#"{"ph":"X","name":"n","cat":"cpu_op","ts":1,"args":{"x":NaN,"y":[{"z":"}"}]}}"#.to_owned()),
            1 => Just(format!("{ugly}\"no end}}")),
            1 => Just(format!("{ugly}\"soon\"}}")),
            1 => Just(format!("{ugly} }}")),
            1 => (LONGEST - 40..3 * LONGEST, prop::sample::select(vec!["\"}", "\"", ""])).prop_map(|(size, end)| format!(r#"{{"ph":"X","name":"{}{end}"#, "x".repeat(size))),
            1 => "[]\\[{}\"\\\\,: 1]{0,6}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn the_number_of_workers_changes_nothing(
            events in prop::collection::vec(event(), 0..40), wrapped in any::<bool>(), cut in 0usize..8000,
            cuts in prop::collection::vec(0u64..8000, 0..8), behind in prop::sample::select(vec!["", "\n\0", "[{}]", "<html>", ", {}]"]), space in prop::sample::select(vec![", ", ",\n", ","]),
        ) {
            let array = format!("[{}]", events.join(space));
            let text = if wrapped { format!(r#"{{"a": [{{"ph":1}}, {{"ph":"X","name":"m"}}], "traceEvents": {array}, "z": [{{"ph":1,"name":2}}]}}{behind}"#) } else { array + behind };
            let text = &text.as_bytes()[..text.len().min(cut.max(text.len() / 2))];
            let mut cuts: Vec<u64> = cuts.into_iter().map(|cut| cut % (text.len() as u64 + 1)).collect();
            cuts.sort_unstable();
            prop_assert_eq!(by_ranges(text, &cuts).0, whole(text));
        }
    }
}
