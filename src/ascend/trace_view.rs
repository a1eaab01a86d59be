//! trace_view.json: which operator ran when, and from which line.
//!
//! One JSON array, usually on one line, or `{"traceEvents": […]}`. `ts` is µs as a string (or a number), `dur` a number; both as decimal
//! text become nanoseconds. What matters here: `cpu_op` events with their call stacks, the task queue's `enqueue` and `dequeue`, `fwdbwd`
//! flows from a forward operator to its backward one, `python_function` events, and the steps. Everything else is passed over by its bytes.
//!
//! A call stack joins its frames by `;\r\n` and begins with the leaf. Stacks are interned: a trace of 570 MB has some hundred.

use crate::error::{Position, Problem, Warning, Warnings};
use crate::scan::json::{End, Event, EventSplitter};
use crate::timeline::blocks::Interner;
use crate::units::Decimal;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

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

    fn push(&mut self, name: u32, thread: u32, (start_ns, end_ns): (i64, i64)) {
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
    pub enqueued: HashMap<u64, Point>,
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

/// Reads the file.
pub struct TraceReader {
    splitter: EventSplitter,
    events: Events,
    empty: bool,
}

struct Events {
    file: String,
    trace: Trace,
    names: Interner,
    /// Stacks by their JSON text, so that one that was seen is not read again.
    stacks: HashMap<Vec<u8>, u32>,
    threads: Interner,
    flow_starts: HashMap<Vec<u8>, Point>,
    flow_ends: Vec<(Vec<u8>, Point)>,
    warnings: Warnings,
    cat: memmem::Finder<'static>,
    profiler_step: memmem::Finder<'static>,
    optimizer_step: memmem::Finder<'static>,
    escape: memmem::Finder<'static>,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow, default)]
    ph: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    cat: Option<Cow<'a, str>>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    dur: Option<&'a RawValue>,
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow)]
    tid: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<Args<'a>>,
}

#[derive(Deserialize, Default)]
struct Args<'a> {
    #[serde(borrow, rename = "Call stack")]
    stack: Option<&'a RawValue>,
    #[serde(rename = "Sequence number")]
    sequence: Option<i64>,
    #[serde(rename = "Fwd thread id")]
    forward_thread: Option<i64>,
    #[serde(borrow)]
    correlation_id: Option<&'a RawValue>,
}

impl TraceReader {
    /// A reader at the start of a file.
    pub fn new(file: &str) -> TraceReader {
        let events = Events {
            file: file.to_owned(),
            trace: Trace::default(),
            names: Interner::default(),
            stacks: HashMap::new(),
            threads: Interner::default(),
            flow_starts: HashMap::new(),
            flow_ends: Vec::new(),
            warnings: Warnings::default(),
            cat: memmem::Finder::new(b"\"cat\""),
            profiler_step: memmem::Finder::new(b"ProfilerStep#"),
            optimizer_step: memmem::Finder::new(b"Optimizer.step#"),
            escape: memmem::Finder::new(b"\\u00"),
        };
        TraceReader { splitter: EventSplitter::default(), events, empty: true }
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.empty &= chunk.is_empty();
        let events = &mut self.events;
        self.splitter.feed(chunk, &mut |event| events.take(event));
    }

    /// Ends the file.
    pub fn finish(mut self) -> Trace {
        let events = &mut self.events;
        let end = self.splitter.finish(&mut |event| events.take(event));
        let at = |byte| Position { byte: Some(byte), ..Position::file(&self.events.file) };
        let mut problems: Vec<(Problem, Position)> = Vec::new();
        for &byte in self.splitter.broken() {
            problems.push((Problem::DamagedFile { reason: "this event is no JSON; it was set aside".to_owned() }, at(byte)));
        }
        match end {
            End::Whole => {}
            End::BetweenEvents => problems.push((Problem::CutTrace { events: self.events.trace.events }, Position::file(&self.events.file))),
            End::InsideEvent { byte } => problems.push((Problem::CutTrace { events: self.events.trace.events }, at(byte))),
            End::NoEvents => {
                let reason = if self.empty { "the file is empty" } else { "this is no trace: neither a JSON array nor an object with traceEvents" };
                problems.push((Problem::DamagedFile { reason: reason.to_owned() }, Position::file(&self.events.file)));
            }
        }
        problems.iter().for_each(|(problem, at)| self.events.warnings.push(problem, at.clone()));
        self.events.finish()
    }
}

impl Events {
    /// False: the bytes are no JSON.
    fn take(&mut self, event: Event) -> bool {
        self.trace.events += 1;
        if !self.matters(event.json) {
            return true;
        }
        let mended;
        let raw: Raw = match serde_json::from_slice(event.json) {
            Ok(raw) => raw,
            Err(_) => {
                let Some(text) = without_nan(event.json) else { return false };
                mended = text;
                match serde_json::from_slice(&mended) {
                    Ok(raw) => raw,
                    Err(_) => return false,
                }
            }
        };
        if let Err((field, value)) = self.read(&raw) {
            let at = Position { byte: Some(event.byte), ..Position::file(&self.file) }.field(field, value.as_bytes());
            self.warnings.push(&Problem::BadValue { reason: "not a number" }, at);
        }
        true
    }

    /// Tells by its bytes whether an event is worth reading. Escaped letters could spell anything.
    fn matters(&self, json: &[u8]) -> bool {
        let by_category = self.cat.find(json).is_some_and(|at| {
            let value = json[at + 5..].trim_ascii_start();
            let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii_start();
            [&b"\"cpu_op\""[..], b"\"enqueue\"", b"\"dequeue\"", b"\"fwdbwd\"", b"\"python_function\""].iter().any(|category| value.starts_with(category))
        });
        by_category || [&self.profiler_step, &self.optimizer_step, &self.escape].iter().any(|word| word.find(json).is_some())
    }

    /// Takes what an event says; the error names the field that is no number.
    fn read<'a>(&mut self, raw: &Raw<'a>) -> Result<(), (&'static str, &'a str)> {
        let category = raw.cat.as_deref().unwrap_or_default();
        match (raw.ph.as_ref(), category) {
            ("X", "cpu_op") => {
                let span = span(raw)?;
                let (name, thread) = (self.names.number(&raw.name), self.thread(raw));
                let args = raw.args.as_ref();
                let stack = args.and_then(|args| args.stack).map_or(NONE, |stack| self.stack(stack));
                let operators = &mut self.trace.operators;
                operators.spans.push(name, thread, span);
                operators.stack.push(stack);
                operators.sequence.push(args.and_then(|args| args.sequence).unwrap_or(-1));
                operators.backward.push(args.and_then(|args| args.forward_thread).unwrap_or(0) > 0);
                if is_phase(&raw.name) {
                    self.phase(raw, span);
                }
            }
            ("X", "enqueue") => {
                let time_ns = ns("ts", raw.ts)?;
                let point = Point { thread: self.thread(raw), time_ns };
                self.trace.enqueued.insert(correlation(raw)?, point);
            }
            ("X", "dequeue") => {
                let (start_ns, end_ns) = span(raw)?;
                self.trace.dequeues.push(Dequeue { start_ns, end_ns, correlation: correlation(raw)? });
            }
            ("X", "python_function") => {
                let span = span(raw)?;
                let (name, thread) = (self.names.number(&raw.name), self.thread(raw));
                self.trace.python.push(name, thread, span);
            }
            (ph @ ("s" | "f"), "fwdbwd") => {
                let point = Point { time_ns: ns("ts", raw.ts)?, thread: self.thread(raw) };
                let id = raw.id.map_or("", RawValue::get).as_bytes().to_vec();
                if ph == "s" {
                    self.flow_starts.insert(id, point);
                } else {
                    self.flow_ends.push((id, point));
                }
            }
            ("X", _) if is_phase(&raw.name) => self.phase(raw, span(raw)?),
            _ => {}
        }
        Ok(())
    }

    fn phase(&mut self, raw: &Raw, (start_ns, end_ns): (i64, i64)) {
        self.trace.phases.push(Phase { name: raw.name.clone().into_owned(), start_ns, end_ns });
    }

    fn stack(&mut self, json: &RawValue) -> u32 {
        let json = json.get().as_bytes();
        if let Some(&number) = self.stacks.get(json) {
            return number;
        }
        let Ok(text) = serde_json::from_slice::<String>(json) else { return NONE };
        if text.trim().is_empty() {
            return NONE;
        }
        let number = self.trace.stacks.len() as u32;
        self.trace.stacks.push(text);
        self.stacks.insert(json.to_vec(), number);
        number
    }

    fn thread(&mut self, raw: &Raw) -> u32 {
        let text = |value: Option<&'_ RawValue>| value.map_or(String::new(), |value| value.get().to_owned());
        self.threads.number(&format!("{} {}", text(raw.pid), text(raw.tid)))
    }

    fn finish(mut self) -> Trace {
        for (id, end) in &self.flow_ends {
            if let Some(&start) = self.flow_starts.get(id) {
                self.trace.flows.push((start, *end));
            }
        }
        self.trace.phases.sort_by_key(|phase| (phase.start_ns, std::cmp::Reverse(phase.end_ns)));
        self.trace.names = self.names.texts;
        self.trace.warnings = self.warnings.finish();
        self.trace
    }
}

fn is_phase(name: &str) -> bool {
    name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.step#")
}

fn span<'a>(raw: &Raw<'a>) -> Result<(i64, i64), (&'static str, &'a str)> {
    let start_ns = ns("ts", raw.ts)?;
    let length_ns = if raw.dur.is_some() { ns("dur", raw.dur)? } else { 0 };
    Ok((start_ns, start_ns.saturating_add(length_ns.max(0))))
}

/// Microseconds, as a number or as text, to nanoseconds.
fn ns<'a>(field: &'static str, value: Option<&'a RawValue>) -> Result<i64, (&'static str, &'a str)> {
    let text = value.map_or("", RawValue::get);
    let parsed = Decimal::parse(text.trim_matches('"').as_bytes()).ok().flatten();
    parsed.and_then(|decimal| decimal.times(1000)).ok_or((field, text))
}

fn correlation<'a>(raw: &Raw<'a>) -> Result<u64, (&'static str, &'a str)> {
    let text = raw.args.as_ref().and_then(|args| args.correlation_id).map_or("", RawValue::get);
    text.trim_matches('"').parse().map_err(|_| ("correlation_id", text))
}

/// Python's json writes NaN and Infinity, which are no JSON: null takes their place. `None` where there is none.
fn without_nan(json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(json.len());
    let (mut in_string, mut escaped, mut found, mut at) = (false, false, false, 0);
    while at < json.len() {
        let byte = json[at];
        let word = [&b"-Infinity"[..], b"Infinity", b"NaN"].into_iter().find(|word| !in_string && json[at..].starts_with(word));
        if let Some(word) = word {
            out.extend_from_slice(b"null");
            at += word.len();
            found = true;
            continue;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ => {}
        }
        out.push(byte);
        at += 1;
    }
    found.then_some(out)
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
