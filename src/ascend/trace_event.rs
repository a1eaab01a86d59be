//! One event of a trace: what of it matters.
//!
//! Profilers write events in one plain shape: an object of strings and numbers, in `args` another. Such an event is read in one go over
//! its bytes, and left as soon as its category says that it does not matter; a call stack that was seen before is known by its bytes.
//! Whatever is not that plain (an escaped name, an exponent, nesting, damage) is read by serde_json, which also says what is no JSON.

use crate::scan::masks::bare_length;
use memchr::{memchr, memmem};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The fields that matter, all of them UTF-8; numbers and instants as the file writes them, "" where there is none.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields<'a> {
    pub phase: Cow<'a, [u8]>,
    pub name: Cow<'a, [u8]>,
    pub category: Cow<'a, [u8]>,
    pub ts: &'a [u8],
    pub dur: Option<&'a [u8]>,
    pub pid: &'a [u8],
    pub tid: &'a [u8],
    pub id: &'a [u8],
    pub stack: StackText<'a>,
    pub sequence: Option<i64>,
    pub forward_thread: Option<i64>,
    pub correlation: &'a [u8],
}

/// A call stack.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum StackText<'a> {
    #[default]
    None,
    /// The number that [`KnownStacks`] has for it.
    Known(u32),
    /// Its JSON text.
    New(&'a [u8]),
}

/// Numbers of call stacks by their JSON text, so that one that was seen is not read again.
pub type KnownStacks = FxHashMap<Vec<u8>, u32>;

/// Steps, and steps of an optimizer.
pub fn is_step(name: &[u8]) -> bool {
    STEPS.iter().any(|step| name.starts_with(step.as_bytes()))
}

const STEPS: [&str; 2] = ["ProfilerStep#", "Optimizer.step#"];

/// Whether events of a category matter, whatever their names.
fn is_category(text: &[u8]) -> bool {
    matches!(text, b"cpu_op" | b"enqueue" | b"dequeue" | b"fwdbwd" | b"python_function")
}

/// What an event turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Its fields have been read; it has so many bytes.
    Plain(usize),
    /// As [`Shape::Plain`], with nothing in it that matters.
    PlainNoMatter(usize),
    /// It does not matter; it was not read to its end.
    NoMatter,
    /// Another shape, or cut.
    Unusual,
}

/// Reads the fields of an event of the plain shape that the text begins with.
pub fn plain<'a>(text: &'a [u8], known: &KnownStacks, fields: &mut Fields<'a>) -> Shape {
    let mut cursor = Cursor { json: text, at: 0 };
    match cursor.event(fields, known) {
        Some(true) if fields.matter() => Shape::Plain(cursor.at),
        Some(true) => Shape::PlainNoMatter(cursor.at),
        Some(false) => Shape::NoMatter,
        None => Shape::Unusual,
    }
}

// Its methods are one function, so that the place in the text stays in a register.
struct Cursor<'a> {
    json: &'a [u8],
    at: usize,
}

/// Which fields have been seen: serde_json refuses the second of a name.
#[derive(Default)]
struct Seen(u16);

impl Seen {
    #[inline(always)]
    fn first(&mut self, field: u16) -> Option<()> {
        let bit = 1 << field;
        let first = self.0 & bit == 0;
        self.0 |= bit;
        first.then_some(())
    }
}

impl<'a> Cursor<'a> {
    /// False: it does not matter and was left. `None`: not of the plain shape.
    fn event(&mut self, fields: &mut Fields<'a>, known: &KnownStacks) -> Option<bool> {
        let mut seen = Seen::default();
        self.take(b'{')?;
        loop {
            let key = self.key()?;
            match key {
                b"ph" => {
                    seen.first(0)?;
                    fields.phase = Cow::Borrowed(self.bare()?);
                }
                b"name" => {
                    seen.first(1)?;
                    fields.name = Cow::Borrowed(self.bare()?);
                }
                b"cat" => {
                    seen.first(2)?;
                    fields.category = Cow::Borrowed(self.bare()?);
                }
                b"ts" => {
                    seen.first(3)?;
                    fields.ts = self.scalar()?;
                }
                b"dur" => {
                    seen.first(4)?;
                    fields.dur = Some(self.scalar()?);
                }
                b"pid" => {
                    seen.first(5)?;
                    fields.pid = self.scalar()?;
                }
                b"tid" => {
                    seen.first(6)?;
                    fields.tid = self.scalar()?;
                }
                b"id" => {
                    seen.first(7)?;
                    fields.id = self.scalar()?;
                }
                b"args" => {
                    seen.first(8)?;
                    // Most of an event is its args: time to leave.
                    const NAME_AND_CATEGORY: u16 = 0b110;
                    if seen.0 & NAME_AND_CATEGORY == NAME_AND_CATEGORY && !fields.matter() {
                        return Some(false);
                    }
                    self.args(fields, known)?;
                }
                _ => self.skip()?,
            }
            if !self.goes_on()? {
                break;
            }
        }
        Some(true)
    }

    #[inline(always)]
    fn args(&mut self, fields: &mut Fields<'a>, known: &KnownStacks) -> Option<()> {
        let mut seen = Seen::default();
        self.spaces();
        self.take(b'{')?;
        self.spaces();
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            match self.key()? {
                b"Call stack" => {
                    seen.first(0)?;
                    fields.stack = self.stack(known)?;
                }
                b"Sequence number" => {
                    seen.first(1)?;
                    fields.sequence = Some(self.integer()?);
                }
                b"Fwd thread id" => {
                    seen.first(2)?;
                    fields.forward_thread = Some(self.integer()?);
                }
                b"correlation_id" => {
                    seen.first(3)?;
                    fields.correlation = self.scalar()?;
                }
                _ => self.skip()?,
            }
            if !self.goes_on()? {
                return Some(());
            }
        }
    }

    /// After a value: whether another comes.
    #[inline(always)]
    fn goes_on(&mut self) -> Option<bool> {
        self.spaces();
        let byte = self.peek();
        self.at += 1;
        match byte {
            b',' => Some(true),
            b'}' => Some(false),
            _ => None,
        }
    }

    #[inline(always)]
    fn key(&mut self) -> Option<&'a [u8]> {
        self.spaces();
        let key = self.bare()?;
        self.spaces();
        self.take(b':')?;
        self.spaces();
        Some(key)
    }

    /// A string without anything that needs a look: its bytes.
    #[inline(always)]
    fn bare(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let start = self.at;
        self.at += bare_length(&self.json[start..]);
        let end = self.at;
        self.take(b'"')?;
        Some(&self.json[start..end])
    }

    /// A number or a string, as it is written.
    #[inline(always)]
    fn scalar(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        match self.peek() {
            b'"' => self.bare().map(drop)?,
            _ => self.number()?,
        }
        Some(&self.json[start..self.at])
    }

    #[inline(always)]
    fn number(&mut self) -> Option<()> {
        let _ = self.take(b'-');
        let whole = self.digits();
        // A zero in front is no JSON.
        if whole.is_empty() || (whole.len() > 1 && whole[0] == b'0') {
            return None;
        }
        if self.take(b'.').is_some() && self.digits().is_empty() {
            return None;
        }
        (!matches!(self.peek(), b'e' | b'E')).then_some(())
    }

    #[inline(always)]
    fn digits(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        &self.json[start..self.at]
    }

    fn integer(&mut self) -> Option<i64> {
        let text = self.scalar()?;
        // To serde_json "-0" is no integer.
        if text.starts_with(b"-0") { None } else { std::str::from_utf8(text).ok()?.parse().ok() }
    }

    fn stack(&mut self, known: &KnownStacks) -> Option<StackText<'a>> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            let quote = self.at + memchr(b'"', &self.json[self.at..])?;
            self.at = quote + 1;
            let backslashes = self.json[start..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
            if backslashes % 2 == 0 {
                break;
            }
        }
        let text = &self.json[start..self.at];
        if let Some(&number) = known.get(text) {
            return Some(StackText::Known(number));
        }
        serde_json::from_slice::<&RawValue>(text).ok().map(|_| StackText::New(text))
    }

    /// Passes over a string, a number or a word.
    #[inline(always)]
    fn skip(&mut self) -> Option<()> {
        match self.peek() {
            b'"' => self.skip_string(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            self.at += bare_length(&self.json[self.at..]);
            match (self.peek(), self.json.get(self.at + 1)?) {
                (b'"', _) => {
                    self.at += 1;
                    return Some(());
                }
                (b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
                _ => return None,
            }
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let found = self.json[self.at..].starts_with(word);
        self.at += word.len();
        found.then_some(())
    }

    #[inline(always)]
    fn spaces(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn take(&mut self, byte: u8) -> Option<()> {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found.then_some(())
    }

    /// Zero at the end, which nothing here looks for.
    #[inline(always)]
    fn peek(&self) -> u8 {
        self.json.get(self.at).copied().unwrap_or(0)
    }
}

impl Fields<'_> {
    fn matter(&self) -> bool {
        is_category(&self.category) || is_step(&self.name)
    }
}

/// Reads events that are not plain.
pub struct AnyShape {
    category: memmem::Finder<'static>,
    words: [memmem::Finder<'static>; 3],
}

impl Default for AnyShape {
    fn default() -> Self {
        // Escaped letters could spell anything.
        AnyShape { category: memmem::Finder::new(b"\"cat\""), words: [STEPS[0], STEPS[1], "\\u00"].map(memmem::Finder::new) }
    }
}

impl AnyShape {
    /// Tells by its bytes whether an event is worth reading.
    pub fn matters(&self, json: &[u8]) -> bool {
        let by_category = self.category.find(json).is_some_and(|at| {
            let value = json[at + 5..].trim_ascii_start();
            let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii_start();
            let text = value.strip_prefix(b"\"").unwrap_or_default();
            is_category(&text[..memchr(b'"', text).unwrap_or(0)])
        });
        by_category || self.words.iter().any(|word| word.find(json).is_some())
    }
}

/// Reads an event of any shape; `None` where it is no JSON. `mended` is room for its text without NaN.
pub fn any_shape<'a>(json: &'a [u8], mended: &'a mut Vec<u8>) -> Option<Fields<'a>> {
    match serde_json::from_slice::<Raw>(json) {
        Ok(raw) => Some(raw.fields()),
        Err(_) => {
            *mended = without_nan(json)?;
            serde_json::from_slice::<Raw>(mended).ok().map(Raw::fields)
        }
    }
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

impl<'a> Raw<'a> {
    fn fields(self) -> Fields<'a> {
        let raw = |value: &'a RawValue| value.get().as_bytes();
        let text = |value: Option<&'a RawValue>| value.map_or(b"".as_slice(), raw);
        let args = self.args.unwrap_or_default();
        Fields {
            phase: bytes(self.ph),
            name: bytes(self.name),
            category: bytes(self.cat.unwrap_or_default()),
            ts: text(self.ts),
            dur: self.dur.map(raw),
            pid: text(self.pid),
            tid: text(self.tid),
            id: text(self.id),
            stack: args.stack.map_or(StackText::None, |stack| StackText::New(raw(stack))),
            sequence: args.sequence,
            forward_thread: args.forward_thread,
            correlation: text(args.correlation_id),
        }
    }
}

fn bytes(text: Cow<str>) -> Cow<[u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn serde(json: &[u8]) -> Option<Fields<'_>> {
        serde_json::from_slice::<Raw>(json).ok().map(Raw::fields)
    }

    /// That both ways say the same of an event.
    fn compare(json: &[u8]) {
        let mut fields = Fields::default();
        match plain(json, &KnownStacks::default(), &mut fields) {
            Shape::Plain(length) => assert_eq!(Some(fields), serde(&json[..length]), "{}", String::from_utf8_lossy(json)),
            Shape::PlainNoMatter(length) => assert!(serde(&json[..length]).is_some_and(|fields| !fields.matter()), "{}", String::from_utf8_lossy(json)),
            Shape::NoMatter => assert!(serde(json).is_none_or(|fields| !fields.matter()), "{}", String::from_utf8_lossy(json)),
            Shape::Unusual => {}
        }
    }

    const OP: &str = r#"{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": "17.400", "dur": 162.66, "cat": "cpu_op", "args": {"Sequence number": 7, "Fwd thread id": 0, "Input Dims": "1,2;\r\n3", "Call stack": "b.py(2): g;\r\na.py(1): f"}}"#;

    #[test]
    fn a_profilers_events_are_plain() {
        let mut fields = Fields::default();
        assert_eq!(plain(OP.as_bytes(), &KnownStacks::default(), &mut fields), Shape::Plain(OP.len()));
        assert_eq!((&*fields.name, fields.ts, fields.dur, fields.sequence), (&b"aten::add"[..], &b"\"17.400\""[..], Some(&b"162.66"[..]), Some(7)));
        let StackText::New(text) = fields.stack else { panic!("no stack") };
        let known = KnownStacks::from_iter([(text.to_vec(), 3)]);
        assert_eq!(plain(OP.as_bytes(), &known, &mut fields), Shape::Plain(OP.len()));
        assert_eq!(fields.stack, StackText::Known(3));
        compare(OP.as_bytes());
        assert_eq!(plain(OP.replace("cpu_op", "kernel").as_bytes(), &known, &mut Fields::default()), Shape::NoMatter);
    }

    #[test]
    fn every_byte_of_an_event_may_be_another() {
        for at in 0..OP.len() {
            for byte in [b'"', b'\\', b'{', b'}', b',', b'0', b' ', 0, 0xff] {
                let mut json = OP.as_bytes().to_vec();
                json[at] = byte;
                compare(&json);
            }
            compare(&OP.as_bytes()[..at]);
        }
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "-?[0-9]{1,3}(\\.[0-9]{0,2})?([eE][0-9])?",
            4 => "\"[a-zA-Z0-9\\\\ \"é]{0,10}\"",
            1 => prop::sample::select(vec!["null", "true", "false", "{}", "[1]", "NaN", r#""\ud800""#, r#""a\u0041""#, r#""cpu_op""#, r#""ProfilerStep#1""#]).prop_map(str::to_owned),
        ]
    }

    fn object(keys: &'static [&'static str]) -> impl Strategy<Value = String> {
        let space = prop::sample::select(vec!["", " ", "\n "]);
        let pair = (prop::sample::select(keys), value(), space).prop_map(|(key, value, space)| format!("{space}\"{key}\":{space}{value}{space}"));
        prop::collection::vec(pair, 0..8).prop_map(|pairs| format!("{{{}}}", pairs.join(",")))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn both_ways_say_the_same(
            event in object(&["ph", "name", "cat", "ts", "dur", "pid", "tid", "id", "other"]),
            args in object(&["Call stack", "Sequence number", "Fwd thread id", "correlation_id", "other"]),
            category in prop::sample::select(vec!["cpu_op", "kernel", "enqueue"]), first in any::<bool>(),
        ) {
            let args = format!("\"args\":{args},\"cat\":\"{category}\"");
            let inside = &event[1..event.len() - 1];
            let parts = if first { [args.as_str(), inside] } else { [inside, args.as_str()] };
            compare(format!("{{{}}}", parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")).as_bytes());
            compare(event.as_bytes());
        }
    }
}
