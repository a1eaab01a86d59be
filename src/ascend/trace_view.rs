//! trace_view.json: which operator ran when, and from which line.
//!
//! One JSON array, usually on one line, or `{"traceEvents": […]}`. `ts` is µs as a string (or a number), `dur` a number; both as decimal
//! text become nanoseconds. What matters here: `cpu_op` events with their call stacks, the task queue's `enqueue` and `dequeue`, `fwdbwd`
//! flows from a forward operator to its backward one, `python_function` events, and the steps. Everything else is passed over by its bytes.
//!
//! A call stack joins its frames by `;\r\n` and begins with the leaf. Stacks are interned: a trace of 570 MB has some hundred.

use super::budget::{Budget, TextRoom};
use super::trace_event::{AnyShape, Fields, KnownStacks, Shape, StackText, any_shape, is_step, plain};
use super::trace_parts::{BadValue, TracePart, Whole};
use crate::error::Warning;
use crate::scan::json::{self, Begun, Event, EventSplitter};
use crate::timeline::blocks::Interner;
use crate::units::{Decimal, MOST_NS};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// No stack, no sequence number.
pub const NONE: u32 = u32::MAX;

/// Events with a beginning and an end, as columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// Number of [`Trace::names`].
    pub name: Vec<u32>,
    /// Number of a thread.
    pub thread: Vec<u32>,
    /// When it began.
    pub start_ns: Vec<i64>,
    /// When it ended.
    pub end_ns: Vec<i64>,
}

impl Spans {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    pub(super) fn push(&mut self, name: u32, thread: u32, (start_ns, end_ns): (i64, i64)) {
        self.name.push(name);
        self.thread.push(thread);
        self.start_ns.push(start_ns);
        self.end_ns.push(end_ns);
    }
}

/// The operators that ran on the host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operators {
    /// Which, where and when.
    pub spans: Spans,
    /// Number of [`Trace::stacks`], or [`NONE`].
    pub stack: Vec<u32>,
    /// The autograd sequence number; negative for none.
    pub sequence: Vec<i64>,
    /// Whether it is a backward operator (`Fwd thread id` above 0).
    pub backward: Vec<bool>,
}

/// A point on a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Number of a thread.
    pub thread: u32,
    /// When.
    pub time_ns: i64,
}

/// Work handed from one thread to another through torch_npu's task queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dequeue {
    /// When it began.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
    /// Which enqueue it belongs to.
    pub correlation: u64,
}

/// A step or an optimizer step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// `ProfilerStep#12`, `Optimizer.step#Adam.step`.
    pub name: String,
    /// When it began.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
}

/// What a trace says about memory's origin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Names of operators and Python functions, by number.
    pub names: Vec<String>,
    /// Call stacks as the file writes them, by number.
    pub stacks: Vec<String>,
    /// Operators.
    pub operators: Operators,
    /// Python functions: captures made with modules instead of stacks.
    pub python: Spans,
    /// Where each piece of queued work came from, by correlation id.
    pub enqueued: FxHashMap<u64, Point>,
    /// Work taken off the queue.
    pub dequeues: Vec<Dequeue>,
    /// From a forward operator to its backward one.
    pub flows: Vec<(Point, Point)>,
    /// Steps, by start.
    pub phases: Vec<Phase>,
    /// Events read, those of no interest included.
    pub events: u64,
    /// What was wrong.
    pub warnings: Vec<Warning>,
}

/// Reads the file, or a range of its bytes.
pub struct TraceReader {
    file: String,
    /// What the texts of stacks may take.
    stack_bytes: Option<u64>,
    splitter: EventSplitter,
    events: Events,
}

/// What the events say.
#[derive(Default)]
struct Events {
    part: TracePart,
    names: Interner,
    threads: Interner,
    stacks: Interner,
    known_stacks: KnownStacks,
    stacks_room: TextRoom,
    /// The text that tells the latest event's thread, and its number.
    thread: (Vec<u8>, u32),
    any_shape: AnyShape,
}

impl TraceReader {
    /// A reader at the start of a file.
    pub fn new(file: &str) -> TraceReader {
        TraceReader { file: file.to_owned(), stack_bytes: None, splitter: EventSplitter::default(), events: Events::default() }
    }

    /// With so much memory; without a limit where none is given. Not for a range, which knows little of what was before.
    pub fn within(self, budget: Option<Budget>) -> TraceReader {
        let stack_bytes = budget.map(Budget::for_stacks);
        let events = Events { stacks_room: TextRoom::new(stack_bytes), ..self.events };
        TraceReader { stack_bytes, events, ..self }
    }

    /// A reader of the events that begin in a range of the file; see [`EventSplitter::range`].
    pub fn range(file: &str, range: Range<u64>, exact: bool) -> TraceReader {
        TraceReader { splitter: EventSplitter::range(range, exact), ..TraceReader::new(file) }
    }

    /// With another limit to an event's bytes.
    #[cfg(test)]
    pub(super) fn with_longest(self, longest: usize) -> TraceReader {
        TraceReader { splitter: self.splitter.with_longest(longest), ..self }
    }

    /// Room for the next bytes of the file.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        self.splitter.room(bytes)
    }

    /// Takes the bytes that were put into the room.
    pub fn filled(&mut self, bytes: usize) {
        self.splitter.filled(bytes, &mut self.events);
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.splitter.feed(chunk, &mut self.events);
    }

    /// Whether nothing that could follow matters.
    pub fn is_done(&self) -> bool {
        self.splitter.is_done()
    }

    /// Ends the file.
    pub fn finish(self) -> Trace {
        let mut whole = Whole::new(&self.file, self.stack_bytes);
        whole.append(self.finish_part());
        whole.finish()
    }

    /// Notes that the file could not be read on.
    pub fn fail(&mut self, failure: Warning) {
        self.events.part.failure = Some(failure);
    }

    /// Ends the range.
    pub fn finish_part(self) -> TracePart {
        let mut events = self.events;
        let ended = self.splitter.finish(&mut events);
        TracePart { ended, names: events.names.texts, threads: events.threads.texts, stacks: events.stacks.texts, ..events.part }
    }
}

impl json::Events for Events {
    fn begins(&mut self, byte: u64, text: &[u8]) -> Begun {
        let mut fields = Fields::default();
        let length = match plain(text, &self.known_stacks, &mut fields) {
            Shape::Plain(length) => {
                self.read(byte, &fields);
                length
            }
            Shape::PlainNoMatter(length) => length,
            Shape::NoMatter => return Begun::Unwanted,
            Shape::Unusual => return Begun::Unknown,
        };
        self.part.events += 1;
        Begun::Taken(length)
    }

    /// False: the bytes are no JSON.
    fn take(&mut self, event: Event) -> bool {
        self.part.events += 1;
        if event.unwanted {
            return true;
        }
        let mut mended = Vec::new();
        let mut fields = Fields::default();
        match plain(event.json, &self.known_stacks, &mut fields) {
            Shape::Plain(_) => {}
            Shape::PlainNoMatter(_) | Shape::NoMatter => return true,
            Shape::Unusual if !self.any_shape.matters(event.json) => return true,
            Shape::Unusual => match any_shape(event.json, &mut mended) {
                Some(read) => fields = read,
                None => return false,
            },
        }
        self.read(event.byte, &fields);
        true
    }
}

impl Events {
    /// Takes what an event says, or notes the field that is no number.
    fn read(&mut self, byte: u64, event: &Fields) {
        if let Err((field, value)) = self.fields(event) {
            self.part.bad_values.push(BadValue { byte, field, value: String::from_utf8_lossy(value).into_owned() });
        }
    }

    fn fields<'a>(&mut self, event: &Fields<'a>) -> Result<(), (Field, &'a [u8])> {
        match (event.phase.as_ref(), event.category.as_ref()) {
            (b"X", b"cpu_op") => {
                let span = span(event)?;
                let (name, thread) = (self.names.number_of(&event.name), self.thread(event));
                let stack = self.stack(event.stack);
                let operators = &mut self.part.operators;
                operators.spans.push(name, thread, span);
                operators.stack.push(stack);
                operators.sequence.push(event.sequence.unwrap_or(-1));
                operators.backward.push(event.forward_thread.unwrap_or(0) > 0);
                if is_step(&event.name) {
                    self.phase(event, span);
                }
            }
            (b"X", b"enqueue") => {
                let time_ns = ns(Field::Ts, event.ts)?;
                let point = Point { thread: self.thread(event), time_ns };
                self.part.enqueued.push((correlation(event)?, point));
            }
            (b"X", b"dequeue") => {
                let (start_ns, end_ns) = span(event)?;
                self.part.dequeues.push(Dequeue { start_ns, end_ns, correlation: correlation(event)? });
            }
            (b"X", b"python_function") => {
                let span = span(event)?;
                let (name, thread) = (self.names.number_of(&event.name), self.thread(event));
                self.part.python.push(name, thread, span);
            }
            (ph @ (b"s" | b"f"), b"fwdbwd") => {
                let point = Point { time_ns: ns(Field::Ts, event.ts)?, thread: self.thread(event) };
                let flows = if ph == b"s" { &mut self.part.flow_starts } else { &mut self.part.flow_ends };
                flows.push((String::from_utf8_lossy(event.id).into_owned(), point));
            }
            (b"X", _) if is_step(&event.name) => self.phase(event, span(event)?),
            _ => {}
        }
        Ok(())
    }

    fn phase(&mut self, event: &Fields, (start_ns, end_ns): (i64, i64)) {
        self.part.phases.push(Phase { name: String::from_utf8_lossy(&event.name).into_owned(), start_ns, end_ns });
    }

    fn stack(&mut self, stack: StackText) -> u32 {
        let json = match stack {
            StackText::None => return NONE,
            StackText::Known(number) => return number,
            StackText::New(json) => json,
        };
        if let Some(&number) = self.known_stacks.get(json) {
            return number;
        }
        let text = serde_json::from_slice::<String>(json).unwrap_or_default();
        let number = match () {
            () if text.trim().is_empty() => NONE,
            () if self.stacks.known(text.as_bytes()).is_some() || self.stacks_room.takes(text.as_bytes()) => self.stacks.number(&text),
            () => {
                self.part.dropped_stacks += 1;
                return NONE;
            }
        };
        self.known_stacks.insert(json.to_vec(), number);
        number
    }

    fn thread(&mut self, event: &Fields) -> u32 {
        let (text, number) = &mut self.thread;
        if text.strip_prefix(event.pid).and_then(|rest| rest.strip_prefix(b" ")).is_none_or(|rest| rest != event.tid) {
            text.clear();
            text.extend_from_slice(event.pid);
            text.push(b' ');
            text.extend_from_slice(event.tid);
            *number = self.threads.number_of(text);
        }
        *number
    }
}

/// A field that must be a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Field {
    /// When an event began.
    Ts,
    /// How long it took.
    Dur,
    /// Which piece of queued work it belongs to.
    Correlation,
}

impl Field {
    /// All of them, in the order of their numbers.
    pub const ALL: [Field; 3] = [Field::Ts, Field::Dur, Field::Correlation];

    /// As the file names it.
    pub fn name(self) -> &'static str {
        match self {
            Field::Ts => "ts",
            Field::Dur => "dur",
            Field::Correlation => "correlation_id",
        }
    }
}

fn span<'a>(event: &Fields<'a>) -> Result<(i64, i64), (Field, &'a [u8])> {
    let start_ns = ns(Field::Ts, event.ts)?;
    let length_ns = event.dur.map_or(Ok(0), |dur| ns(Field::Dur, dur))?;
    Ok((start_ns, (start_ns + length_ns.max(0)).min(MOST_NS)))
}

/// Microseconds, as a number or as text, to nanoseconds.
fn ns(field: Field, text: &[u8]) -> Result<i64, (Field, &[u8])> {
    let parsed = Decimal::parse(unquoted(text)).ok().flatten();
    let in_range = |ns: &i64| (-MOST_NS..=MOST_NS).contains(ns);
    parsed.and_then(|decimal| decimal.times(1000)).filter(in_range).ok_or((field, text))
}

fn correlation<'a>(event: &Fields<'a>) -> Result<u64, (Field, &'a [u8])> {
    let text = std::str::from_utf8(unquoted(event.correlation)).unwrap_or_default();
    text.parse().map_err(|_| (Field::Correlation, event.correlation))
}

fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// The frames of a stack, leaf first.
pub fn frames(stack: &str) -> impl DoubleEndedIterator<Item = &str> {
    stack.split(';').map(str::trim).filter(|frame| !frame.is_empty())
}

/// From the leaf, the first frame that is nobody's library.
pub fn first_user_frame(stack: &str) -> Option<&str> {
    frames(stack).find(|frame| is_user_frame(frame))
}

/// Whether no part of a frame's path is `site-packages`, `torch` or `torch_npu`: parts, so that `torchtitan` is the user's own.
pub fn is_user_frame(frame: &str) -> bool {
    const LIBRARIES: [&str; 3] = ["site-packages", "torch", "torch_npu"];
    let path = frame.split('(').next().unwrap_or(frame);
    !path.split(['/', '\\']).any(|part| LIBRARIES.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Position, Problem};

    fn read(text: &str) -> Trace {
        let mut reader = TraceReader::new("t.json");
        reader.feed(text.as_bytes());
        reader.finish()
    }

    const OP: &str = r#"{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": "1736405443863674.400", "dur": 162.66, "cat": "cpu_op", "args": {"Sequence number": 7, "Fwd thread id": 0, "Call stack": "b.py(2): g;\r\na.py(1): f"}}"#;

    #[test]
    fn operators_keep_their_times_to_the_nanosecond() {
        let trace = read(&format!("[{OP}]"));
        assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
        let operators = &trace.operators;
        assert_eq!((operators.spans.start_ns[0], operators.spans.end_ns[0]), (1_736_405_443_863_674_400, 1_736_405_443_863_837_060));
        assert_eq!((operators.sequence[0], operators.backward[0], operators.stack[0]), (7, false, 0));
        assert_eq!(trace.stacks, ["b.py(2): g;\r\na.py(1): f"]);
        assert_eq!(frames(&trace.stacks[0]).rev().collect::<Vec<_>>(), ["a.py(1): f", "b.py(2): g"]);
    }

    #[test]
    fn what_could_not_be_read_is_not_called_empty() {
        for (text, codes) in [("", &["unreadable-file"][..]), ("x", &["unreadable-file"]), ("[", &["cut-file", "unreadable-file"])] {
            let mut reader = TraceReader::new("t.json");
            reader.feed(text.as_bytes());
            let problem = Problem::UnreadableFile { reason: "no permission".to_owned() };
            reader.fail(Warning::new(&problem, Position::file("t.json")));
            assert_eq!(reader.finish().warnings.iter().map(|warning| &warning.code[..]).collect::<Vec<_>>(), codes, "{text:?}");
        }
    }

    #[test]
    fn equal_stacks_are_kept_once() {
        let trace = read(&format!("[{OP},{OP}]"));
        assert_eq!((trace.stacks.len(), trace.operators.stack), (1, vec![0, 0]));
    }

    #[test]
    fn numbers_for_text_nan_and_escaped_keys() {
        let trace = read(
            r#"{"traceEvents": [{"ph":"X","name":"NaN","cat":"cpu_op","ts":1736405443863674.5,"dur":1,"args":{"x":NaN,"y":-Infinity,"Call\u0020stack":"f.py(1): f","s":"NaN"}}, {"ph":"M","name":"x"},{"ph":"X","name":"ProfilerStep#50","ts":"5.000","dur":2.0}]}"#,
        );
        assert!(trace.warnings.is_empty(), "{:?}", trace.warnings);
        assert_eq!((trace.names, trace.stacks), (vec!["NaN".to_owned()], vec!["f.py(1): f".to_owned()]));
        assert_eq!(trace.operators.spans.start_ns, [1_736_405_443_863_674_500]);
        assert_eq!(trace.phases, [Phase { name: "ProfilerStep#50".to_owned(), start_ns: 5_000, end_ns: 7_000 }]);
    }

    #[test]
    fn queue_and_flows() {
        let trace = read(
            r#"[{"ph":"X","name":"Enqueue","pid":1,"tid":2,"ts":"5.0","dur":1,"cat":"enqueue","args":{"correlation_id":8}},
            {"ph":"X","name":"Dequeue@x","pid":1,"tid":3,"ts":"7.0","dur":2,"cat":"dequeue","args":{"correlation_id":8}},
            {"ph":"f","bp":"e","name":"fwdbwd","id":4,"pid":1,"tid":9,"ts":"20.0","cat":"fwdbwd"},
            {"ph":"s","bp":"e","name":"fwdbwd","id":4,"pid":1,"tid":2,"ts":"6.0","cat":"fwdbwd"},{"ph":"s","name":"fwdbwd","id":5,"ts":"6.0","cat":"fwdbwd"}]"#,
        );
        assert_eq!(trace.enqueued.get(&8).map(|point| point.time_ns), Some(5_000));
        assert_eq!(trace.dequeues, [Dequeue { start_ns: 7_000, end_ns: 9_000, correlation: 8 }]);
        assert_eq!(trace.flows.iter().map(|(from, to)| (from.time_ns, to.time_ns)).collect::<Vec<_>>(), [(6_000, 20_000)]);
    }

    #[test]
    fn trouble_is_named_with_its_byte() {
        let text = format!("[{OP}, {{\"ph\": \"X\", \"cat\": \"cpu_op\", }}, {OP}, {{\"ph\":\"X\",\"name\":\"y\",\"cat\":\"cpu_op\",\"ts\":\"soon\"}}, {OP}");
        let trace = read(&text);
        assert_eq!(trace.operators.spans.len(), 3);
        let said: Vec<_> = trace.warnings.iter().map(|warning| (warning.code.as_str(), warning.byte.is_some())).collect();
        assert_eq!(said, [("cut-file", false), ("damaged-file", true), ("bad-value", true)]);
        assert_eq!(read("<html>").warnings[0].code, "damaged-file");
        assert!(read("").warnings[0].message.contains("empty"));
    }

    #[test]
    fn user_frames_are_nobodys_library() {
        let stack = "/x/site-packages/torch/nn.py(1): f;\r\n/x/torch_npu/y.py(2): g;\n/x/torchtitan/train.py(3): main;/x/a.py(4): top";
        assert_eq!(first_user_frame(stack), Some("/x/torchtitan/train.py(3): main"));
        assert_eq!(first_user_frame("torch/a.py(1): f"), None);
    }
}
