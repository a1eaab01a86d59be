//! Splits a JSON file into the elements of its one long array, without reading what is in them.
//!
//! Trace files are an array of events, or an object with such an array as `traceEvents`; several GB, often on one line, sometimes cut.
//! The splitter follows strings and brackets only, 64 bytes at a time, and hands each event on as bytes. Whoever takes them says whether
//! one was an event at all; a broken one costs itself, not the rest: the splitter goes on at the next place that looks like a start.

use super::masks::{BLOCK, masks};

/// An element of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Offset of its first byte in the file.
    pub byte: u64,
    /// From `{` to `}`.
    pub json: &'a [u8],
}

/// How a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With the array's closing bracket.
    Whole,
    /// Between two events, without a closing bracket.
    BetweenEvents,
    /// Inside an event that starts here.
    InsideEvent {
        /// Offset of its first byte.
        byte: u64,
    },
    /// Before any array of events.
    NoEvents,
}

/// No event of a profiler is longer; what grows beyond it has lost its end.
const LONGEST_EVENT: usize = 4 << 20;

/// Splits what it is fed.
#[derive(Default)]
pub struct EventSplitter {
    place: Place,
    prefix: Prefix,
    /// The event that has begun, and what came after it; whole blocks of it have been scanned.
    kept: Vec<u8>,
    /// Offset of `kept`'s first byte.
    kept_byte: u64,
    /// How much of `kept` has been scanned.
    scanned: usize,
    strings: Strings,
    /// Brackets open within the array.
    depth: u32,
    /// Where in `kept` the current event begins.
    start: Option<usize>,
    /// Offsets of events that were no JSON, and of those that lost their end.
    broken: Vec<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    BeforeArray,
    InArray,
    AfterArray,
    Nowhere,
}

impl EventSplitter {
    /// Takes the next bytes of the file and hands every event that is complete to `each`, which answers whether it was one.
    pub fn feed(&mut self, mut chunk: &[u8], each: &mut dyn FnMut(Event) -> bool) {
        if self.place == Place::BeforeArray {
            chunk = self.find_array(chunk);
        }
        if self.place == Place::InArray {
            self.kept.extend_from_slice(chunk);
            self.scan(each);
            let done = self.start.unwrap_or(self.scanned);
            self.kept.drain(..done);
            self.kept_byte += done as u64;
            self.scanned -= done;
            self.start = self.start.map(|start| start - done);
        }
    }

    /// Ends the file.
    pub fn finish(&mut self, each: &mut dyn FnMut(Event) -> bool) -> End {
        // Spaces fill the last block and change nothing.
        self.feed(&[b' '; BLOCK], each);
        // What an event without an end has swallowed may hold whole ones.
        while let (Place::InArray, Some(start)) = (self.place, self.start) {
            let byte = self.kept_byte + start as u64;
            if !self.resume(start, self.kept.len()) {
                return End::InsideEvent { byte };
            }
            self.scan(each);
        }
        match self.place {
            Place::AfterArray => End::Whole,
            Place::InArray => End::BetweenEvents,
            Place::BeforeArray | Place::Nowhere => End::NoEvents,
        }
    }

    /// Offsets of events that were set aside.
    pub fn broken(&self) -> &[u64] {
        &self.broken
    }

    /// Looks for the array in the file's first bytes; answers what comes after its bracket.
    fn find_array<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        for (at, &byte) in chunk.iter().enumerate() {
            match self.prefix.step(byte) {
                Step::More => {}
                Step::Array => {
                    self.kept_byte += at as u64 + 1;
                    self.place = Place::InArray;
                    return &chunk[at + 1..];
                }
                Step::None => {
                    self.place = Place::Nowhere;
                    return &[];
                }
            }
        }
        self.kept_byte += chunk.len() as u64;
        &[]
    }

    /// Scans every whole block that has come.
    fn scan(&mut self, each: &mut dyn FnMut(Event) -> bool) {
        while self.place == Place::InArray && self.kept.len() - self.scanned >= BLOCK {
            let Some(block) = self.kept[self.scanned..].first_chunk::<BLOCK>() else { return };
            let found = masks(block);
            let inside = self.strings.inside(found.quotes, found.backslashes);
            let mut brackets = (found.opening | found.closing) & !inside;
            let base = self.scanned;
            self.scanned += BLOCK;
            while brackets != 0 {
                let bit = brackets.trailing_zeros();
                brackets &= brackets - 1;
                if found.opening >> bit & 1 == 1 {
                    if self.depth == 0 && self.kept[base + bit as usize] == b'{' {
                        self.start = Some(base + bit as usize);
                    }
                    self.depth += 1;
                } else if self.depth == 0 {
                    self.place = Place::AfterArray;
                    break;
                } else {
                    self.depth -= 1;
                    if self.depth == 0 && !self.end_event(base + bit as usize + 1, each) {
                        // The masks of this block are no longer those of the events in it.
                        break;
                    }
                }
            }
            if let Some(start) = self.start.filter(|start| self.scanned - start > LONGEST_EVENT)
                && !self.resume(start, self.scanned)
            {
                self.broken.push(self.kept_byte + start as u64);
                self.skip_to(self.scanned);
            }
        }
    }

    /// Hands an event on. False: it was none, and scanning went back into it.
    fn end_event(&mut self, end: usize, each: &mut dyn FnMut(Event) -> bool) -> bool {
        let Some(start) = self.start.take() else { return true };
        if each(Event { byte: self.kept_byte + start as u64, json: &self.kept[start..end] }) {
            return true;
        }
        if self.resume(start, end) {
            return false;
        }
        self.broken.push(self.kept_byte + start as u64);
        true
    }

    /// Goes on at the first place within a broken event that looks like the start of another; answers whether there is one.
    fn resume(&mut self, start: usize, end: usize) -> bool {
        let Some(next) = next_start(&self.kept[start + 1..end]) else { return false };
        self.broken.push(self.kept_byte + start as u64);
        self.skip_to(start + 1 + next);
        true
    }

    fn skip_to(&mut self, at: usize) {
        self.scanned = at;
        self.strings = Strings::default();
        self.depth = 0;
        self.start = None;
    }
}

/// An element of the array follows a comma and is an object that can be read to its end, with keys that an event has.
fn next_start(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(&text[from..], b"{\"").map(|at| from + at) {
        let after_comma = text[..at].trim_ascii_end().ends_with(b",");
        if after_comma && serde_json::Deserializer::from_slice(&text[at..]).into_iter::<Keys>().next().is_some_and(|read| read.is_ok()) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// Enough of an event to know one.
#[derive(serde::Deserialize)]
#[allow(dead_code)] // Only whether they are there matters.
struct Keys {
    ph: serde::de::IgnoredAny,
    name: serde::de::IgnoredAny,
}

/// Finds the array of events at the start of a file, a byte at a time: that part is short.
#[derive(Default)]
struct Prefix {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// The last string at depth 1, as far as it matters.
    key: Vec<u8>,
}

enum Step {
    More,
    Array,
    None,
}

impl Prefix {
    fn step(&mut self, byte: u8) -> Step {
        const KEY: &[u8] = b"traceEvents";
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ if self.key.len() <= KEY.len() => self.key.push(byte),
                _ => {}
            }
            return Step::More;
        }
        match byte {
            b'"' if self.depth > 0 => {
                self.in_string = true;
                self.key.clear();
            }
            b'[' if self.depth == 0 || (self.depth == 1 && self.key == KEY) => return Step::Array,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 1 => self.depth -= 1,
            b'}' | b']' => return Step::None,
            // A byte order mark.
            0xef | 0xbb | 0xbf | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.depth == 0 => return Step::None,
            _ => {}
        }
        Step::More
    }
}

/// Which bytes lie in strings, across blocks.
#[derive(Debug, Clone, Copy, Default)]
struct Strings {
    /// All ones while a string is open at the block's start.
    open: u64,
    /// The block's first byte is escaped.
    escaped: u64,
}

impl Strings {
    /// The bytes that lie in strings (an opening quote counts, a closing one does not).
    #[inline]
    fn inside(&mut self, quotes: u64, backslashes: u64) -> u64 {
        let escaped = self.escaped_bytes(backslashes);
        let mut inside = quotes & !escaped;
        // Running parity: bit i becomes the parity of bits 0..=i.
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.open;
        self.open = ((inside as i64) >> 63) as u64;
        inside
    }

    /// The bytes that a backslash takes their meaning from.
    #[inline]
    fn escaped_bytes(&mut self, backslashes: u64) -> u64 {
        if backslashes == 0 {
            return std::mem::take(&mut self.escaped);
        }
        let mut escaped = self.escaped;
        let mut left = backslashes & !escaped;
        self.escaped = 0;
        while left != 0 {
            let at = left.trailing_zeros();
            if at == 63 {
                self.escaped = 1;
                break;
            }
            escaped |= 2 << at;
            // The escaped byte is no escape itself.
            left &= !(3u64 << at);
        }
        escaped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    type Seen = (Vec<(u64, String)>, End, Vec<u64>);

    fn split(text: &[u8], cuts: &[usize]) -> Seen {
        let mut seen = Vec::new();
        let mut each = |event: Event| {
            let read = serde_json::from_slice::<Value>(event.json).is_ok();
            if read {
                seen.push((event.byte, String::from_utf8_lossy(event.json).into_owned()));
            }
            read
        };
        let mut splitter = EventSplitter::default();
        let mut from = 0;
        for &cut in cuts.iter().chain([&text.len()]) {
            splitter.feed(&text[from..cut], &mut each);
            from = cut;
        }
        let end = splitter.finish(&mut each);
        (seen, end, splitter.broken().to_vec())
    }

    fn events(text: &str) -> Vec<String> {
        split(text.as_bytes(), &[]).0.into_iter().map(|event| event.1).collect()
    }

    #[test]
    fn arrays_and_trace_events() {
        assert_eq!(events(r#" [{"a":1}, {"b":[{"c":2}]},3,null,["x",{"y":1}],{"d":"]}"}] "#), [r#"{"a":1}"#, r#"{"b":[{"c":2}]}"#, r#"{"d":"]}"}"#]);
        assert_eq!(events(r#"{"schema": {"traceEvents": [1]}, "k": "v", "traceEvents" : [{"a":1}], "z": [{"b":2}]}"#), [r#"{"a":1}"#]);
        assert_eq!(split(b"\xef\xbb\xbf[]", &[]).1, End::Whole);
    }

    #[test]
    fn quotes_and_backslashes_of_every_number() {
        for count in 0..70 {
            let text = format!(r#"[{{"a":"{}"}},{{"b":1}}]"#, r"\\".repeat(count));
            assert_eq!(events(&text).len(), 2, "{count}");
            let text = format!(r#"[{{"a":"{}\"}}"}},{{"b":1}}]"#, "x".repeat(count));
            assert_eq!(events(&text).len(), 2, "{count}");
        }
    }

    #[test]
    fn says_where_a_cut_file_ends() {
        assert_eq!(split(br#"[{"a":1}, {"b": "x"#, &[]).1, End::InsideEvent { byte: 10 });
        assert_eq!(split(br#"[{"a":1}, "#, &[]).1, End::BetweenEvents);
        for text in [&b""[..], b"{}", b"hello", b"<html>", br#"{"traceEvents": {"#] {
            assert_eq!(split(text, &[]).1, End::NoEvents, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_broken_event_costs_itself_only() {
        let good = |n: i32| format!(r#"{{"ph":"X","name":"op{n}","args":{{"k":"v"}}}}"#);
        for broken in [r#"{"ph": }"#, r#"{"ph":"X","name":"no end of the string}"#, r#"{"ph":"X","args":{"k":"#, r#"{"ph":"X""name":"y"}"#] {
            let text = format!("[{}, {}, {}, {}]", good(1), broken, good(2), good(3));
            let (seen, _, lost) = split(text.as_bytes(), &[]);
            assert_eq!(seen.iter().map(|event| event.1.clone()).collect::<Vec<_>>(), [good(1), good(2), good(3)], "{broken}");
            assert_eq!(lost, [1 + good(1).len() as u64 + 2], "{broken}");
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), "[a\\\\\"{}\\[\\],é ]{0,12}".prop_map(Value::from)];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a\"{}]{0,4}", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn equals_serde_json_however_it_is_cut(elements in prop::collection::vec(json(), 0..12), wrapped in any::<bool>(), cuts in prop::collection::vec(0usize..4096, 0..5)) {
            let array = Value::from(elements.clone());
            let text = if wrapped { format!("{{\"m\": [1, \"[\"], \"traceEvents\": {array}}}") } else { array.to_string() };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.sort_unstable();
            let (seen, end, broken) = split(text.as_bytes(), &cuts);
            let expected: Vec<String> = elements.into_iter().filter(Value::is_object).map(|event| event.to_string()).collect();
            prop_assert_eq!(seen.into_iter().map(|event| event.1).collect::<Vec<_>>(), expected);
            prop_assert_eq!((end, broken), (End::Whole, vec![]));
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(prop::sample::select(&b"[]{}\"\\,:aph 1"[..]), 0..300), cut in 0usize..300) {
            let mut text = b"[".to_vec();
            text.extend(bytes);
            let whole = split(&text, &[]);
            prop_assert_eq!(split(&text, &[cut.min(text.len())]), whole);
        }
    }
}
