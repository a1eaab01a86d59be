//! Splits a JSON file into the elements of its one long array, without reading what is in them.
//!
//! Trace files are an array of events, or an object with such an array as `traceEvents`; several GB, often on one line, sometimes cut.
//! The splitter follows strings and brackets only, 64 bytes at a time, and hands each event on as bytes. Whoever takes them says whether
//! one was an event at all; a broken one costs itself, not the rest: the splitter goes on at the next place that looks like a start. One
//! that is too large is passed over without being kept, to its end or to such a place in it, whichever comes first.
//! A taker that can read an event at its first byte is asked first, and spares the splitter the way to its end ([`Events::begins`]).
//!
//! Of a file that several readers share, a splitter can take a range of bytes: the events that begin in it. What comes before a range is
//! not known to it, so it guesses the first event by the look of it and says where that was ([`Ended::first`]). Between two events nothing
//! but the place matters, so the guess is right where the splitter before it ended at that very byte, and from there on both see the same.

use super::masks::{BLOCK, json_masks, running_parity};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// An element of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Offset of its first byte in the file.
    pub byte: u64,
    /// From `{` to `}`.
    pub json: &'a [u8],
    /// That it does not matter was said when it began.
    pub unwanted: bool,
}

/// Takes events.
pub trait Events {
    /// An event begins here and goes on, as far as it has come; what follows it is there too.
    fn begins(&mut self, _byte: u64, _text: &[u8]) -> Begun {
        Begun::Unknown
    }

    /// A whole event, unless it was taken when it began; answers whether it was one.
    fn take(&mut self, event: Event) -> bool;
}

/// What was made of the beginning of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// It was taken: valid JSON of so many bytes.
    Taken(usize),
    /// It does not matter.
    Unwanted,
    /// It must be seen as a whole.
    Unknown,
}

impl<F: FnMut(Event) -> bool> Events for F {
    fn take(&mut self, event: Event) -> bool {
        self(event)
    }
}

/// How a file, or the range of it, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Before its first byte.
    Empty,
    /// Before any array of events; a range: without anything that looks like one.
    NoEvents,
    /// A range: with this event, which is the next range's.
    Next {
        /// Offset of its first byte.
        byte: u64,
    },
}

/// What a splitter says at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Offset of the first event of a range; `None` where there was none, and for a whole file.
    pub first: Option<u64>,
    /// How it ended.
    pub end: End,
    /// What was set aside.
    pub broken: Vec<Broken>,
    /// Whether the array lies in an object: known to who read the file's start.
    pub wrapped: bool,
    /// What follows the array and is no part of the file, if the array is all there is, and if it lies in an object.
    pub tail: [Option<Tail>; 2],
}

impl Default for Ended {
    fn default() -> Self {
        Ended { first: None, end: End::NoEvents, broken: Vec::new(), wrapped: false, tail: [None; 2] }
    }
}

/// Something in the place of an event that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// Offset of its first byte.
    pub byte: u64,
    /// Why it is none.
    pub why: Why,
}

/// Why something is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// It is no JSON.
    NoJson,
    /// It had no end within [`LONGEST_EVENT`], and another begins in it.
    Endless,
    /// It is longer than [`LONGEST_EVENT`].
    TooLarge,
}

/// No event of a profiler is longer; what grows beyond it has lost its end, as a rule.
pub const LONGEST_EVENT: usize = 4 << 20;

/// Splits what it is fed.
pub struct EventSplitter {
    place: Place,
    prefix: Prefix,
    /// What is not done with yet, then room for more.
    buffer: Vec<u8>,
    /// Offset of the buffer's first byte in the file.
    byte: u64,
    /// How much of the buffer has come.
    filled: usize,
    /// How much of that is no part of the file: spaces at its end.
    padding: usize,
    /// How much of that has been scanned: whole blocks.
    scanned: usize,
    strings: Strings,
    /// Brackets open within the array.
    depth: u32,
    /// Where in the buffer the current event begins.
    start: Option<usize>,
    /// Offset of an event that does not matter.
    unwanted: Option<u64>,
    /// Events that begin here or later are not this splitter's.
    until: u64,
    first: Option<u64>,
    broken: Vec<Broken>,
    /// An event that is passed over.
    large: Large,
    tail: Tails,
    /// [`LONGEST_EVENT`].
    longest: usize,
}

/// An event that is too large to be kept.
#[derive(Default)]
struct Large {
    /// Offset of its first byte.
    byte: u64,
    /// Up to here in the buffer no other begins in it.
    looked: usize,
    /// The text before that ends with a comma.
    after_comma: bool,
    /// Where in the buffer it ends by its brackets, as soon as that is known.
    end: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    BeforeArray,
    /// In a range, before its first event.
    BeforeEvent,
    InArray,
    /// In an event that is too large.
    InLarge,
    /// Behind the array, where nothing of another trace may stand.
    AfterArray,
    /// All that matters was seen.
    Done,
    /// At an event that is the next range's.
    Next(u64),
    Nowhere,
}

impl Default for EventSplitter {
    fn default() -> Self {
        EventSplitter::at(Place::BeforeArray, 0, u64::MAX)
    }
}

impl EventSplitter {
    /// For the events that begin within a range of the file's bytes. It is fed from the range's start, and on until it [is done](Self::is_done).
    /// `exact` says that an event begins at the range's very start; a range from 0 begins with the file.
    pub fn range(range: Range<u64>, exact: bool) -> EventSplitter {
        match (range.start, exact) {
            (0, false) => EventSplitter::at(Place::BeforeArray, 0, range.end),
            (start, false) => EventSplitter::at(Place::BeforeEvent, start, range.end),
            (start, true) => EventSplitter { first: Some(start), ..EventSplitter::at(Place::InArray, start, range.end) },
        }
    }

    fn at(place: Place, byte: u64, until: u64) -> EventSplitter {
        EventSplitter {
            place,
            prefix: Prefix::default(),
            buffer: Vec::new(),
            byte,
            filled: 0,
            padding: 0,
            scanned: 0,
            strings: Strings::default(),
            depth: 0,
            start: None,
            unwanted: None,
            until,
            first: None,
            broken: Vec::new(),
            large: Large::default(),
            tail: Tails::default(),
            longest: LONGEST_EVENT,
        }
    }

    /// With another limit than [`LONGEST_EVENT`].
    #[cfg(test)]
    pub(crate) fn with_longest(self, longest: usize) -> EventSplitter {
        EventSplitter { longest, ..self }
    }

    /// Room for the next bytes of the file, so that they need not be copied.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        let done = match self.place {
            Place::InLarge => self.scanned.min(self.large.looked),
            _ => self.start.unwrap_or(self.scanned),
        };
        self.buffer.copy_within(done..self.filled, 0);
        self.byte += done as u64;
        self.filled -= done;
        self.scanned -= done;
        self.start = self.start.map(|start| start - done);
        if self.place == Place::InLarge {
            self.large.looked -= done;
            self.large.end = self.large.end.map(|end| end - done);
        }
        if self.buffer.len() < self.filled + bytes {
            self.buffer.resize(self.filled + bytes, 0);
        }
        &mut self.buffer[self.filled..self.filled + bytes]
    }

    /// Takes the bytes that were put into the [room](Self::room) and hands every event that is complete to `each`, which answers whether
    /// it was one.
    pub fn filled(&mut self, bytes: usize, each: &mut dyn Events) {
        self.filled += bytes;
        self.advance(false, each);
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, chunk: &[u8], each: &mut dyn Events) {
        self.room(chunk.len()).copy_from_slice(chunk);
        self.filled(chunk.len(), each);
    }

    /// Whether nothing that could follow matters.
    pub fn is_done(&self) -> bool {
        matches!(self.place, Place::Done | Place::Next(_) | Place::Nowhere)
    }

    /// Ends the file, or the range.
    pub fn finish(mut self, each: &mut dyn Events) -> Ended {
        if self.place == Place::BeforeArray && self.byte + self.filled as u64 == 0 {
            return Ended { end: End::Empty, ..Ended::default() };
        }
        // Spaces fill the last block and change nothing.
        self.room(BLOCK).fill(b' ');
        self.filled += BLOCK;
        self.padding = BLOCK;
        self.advance(true, each);
        let end = self.end(each);
        Ended { first: self.first, end, broken: self.broken, wrapped: self.prefix.depth == 1, tail: self.tail.odd }
    }

    fn end(&mut self, each: &mut dyn Events) -> End {
        // What an event without an end has swallowed may hold whole ones.
        while let (Place::InArray, Some(start)) = (self.place, self.start) {
            let byte = self.byte + start as u64;
            if !self.resume(start, self.filled) {
                return End::InsideEvent { byte };
            }
            self.advance(true, each);
        }
        match self.place {
            Place::AfterArray | Place::Done => End::Whole,
            Place::InArray => End::BetweenEvents,
            Place::InLarge => End::InsideEvent { byte: self.large.byte },
            Place::Next(byte) => End::Next { byte },
            Place::BeforeArray | Place::BeforeEvent | Place::Nowhere => End::NoEvents,
        }
    }

    fn advance(&mut self, last: bool, each: &mut dyn Events) {
        match self.place {
            Place::BeforeArray => self.find_array(),
            Place::BeforeEvent => self.find_event(last),
            _ => {}
        }
        loop {
            if self.place == Place::InArray {
                self.scan(each);
            }
            if self.place != Place::InLarge || !self.pass_over(last) {
                break;
            }
        }
        if self.place == Place::AfterArray {
            self.look_behind();
        }
        if self.is_done() {
            self.scanned = self.filled;
            self.start = None;
        }
    }

    /// Looks at what follows the array.
    fn look_behind(&mut self) {
        // Whether there is an object around the array is known to who read the file's start.
        let wanted = if self.first.is_some() { [true; 2] } else { [self.prefix.depth == 0, self.prefix.depth == 1] };
        for at in self.scanned..self.filled {
            self.tail.step(self.byte + at as u64, self.buffer[at]);
            if (0..2).all(|which| !wanted[which] || self.tail.odd[which].is_some()) {
                self.place = Place::Done;
                break;
            }
        }
        self.scanned = self.filled;
    }

    /// Looks for the array in the file's first bytes.
    fn find_array(&mut self) {
        while let Some(&byte) = self.buffer[..self.filled].get(self.scanned) {
            self.scanned += 1;
            match self.prefix.step(byte) {
                Step::More => {}
                Step::Array => return self.place = Place::InArray,
                Step::None => return self.place = Place::Nowhere,
            }
        }
    }

    /// Looks for the first event of a range.
    fn find_event(&mut self, last: bool) {
        let text = &self.buffer[self.scanned..self.filled];
        match next_start(text, text.len(), false, !last, self.longest) {
            Look::Found(at) => {
                self.scanned += at;
                let byte = self.byte + self.scanned as u64;
                self.first = Some(byte).filter(|&byte| byte < self.until);
                self.place = if self.first.is_some() { Place::InArray } else { Place::Nowhere };
            }
            Look::Unfinished(_) => {}
            Look::None => {
                // The comma before an event is part of its look.
                let seen = text.trim_ascii_end().len().saturating_sub(1);
                self.scanned += seen;
                if self.byte + self.scanned as u64 >= self.until {
                    self.place = Place::Nowhere;
                }
            }
        }
    }

    /// Scans every whole block that has come.
    fn scan(&mut self, each: &mut dyn Events) {
        while self.place == Place::InArray {
            if self.taken_at_once(each) {
                continue;
            }
            if self.filled - self.scanned < BLOCK {
                return;
            }
            let base = self.scanned;
            let Some(block) = self.buffer[base..].first_chunk::<BLOCK>() else { return };
            let found = json_masks(block);
            let inside = self.strings.inside(found.quotes, found.backslashes);
            let mut brackets = (found.opening | found.closing) & !inside;
            self.scanned += BLOCK;
            while brackets != 0 {
                let bit = brackets.trailing_zeros();
                brackets &= brackets - 1;
                let at = base + bit as usize;
                if found.opening >> bit & 1 == 1 {
                    if self.depth == 0 && self.buffer[at] == b'{' {
                        if self.byte + at as u64 >= self.until {
                            self.place = Place::Next(self.byte + at as u64);
                            break;
                        }
                        self.start = Some(at);
                    }
                    self.depth += 1;
                } else if self.depth == 0 {
                    self.end_array(at);
                    break;
                } else {
                    self.depth -= 1;
                    if self.depth == 0 && !self.end_event(at + 1, each) {
                        // The masks of this block are no longer those of the events in it.
                        break;
                    }
                }
            }
            if let Some(start) = self.start.filter(|start| self.scanned.min(self.filled - self.padding) > start + self.longest && self.place == Place::InArray)
            {
                self.give_up(start, None);
            }
        }
    }

    /// Between two events: whether another follows and is taken by its beginning.
    fn taken_at_once(&mut self, each: &mut dyn Events) -> bool {
        if self.depth > 0 || self.strings != Strings::default() {
            return false;
        }
        let text = &self.buffer[self.scanned..self.filled];
        let near = &text[..text.len().min(BLOCK)];
        let Some(before) = near.iter().position(|byte| !matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t')) else { return false };
        let byte = self.byte + (self.scanned + before) as u64;
        let text = &text[before..];
        if text[0] != b'{' || byte >= self.until || self.unwanted == Some(byte) {
            return false;
        }
        match each.begins(byte, &text[..text.len().min(self.longest)]) {
            Begun::Taken(length) => {
                self.scanned += before + length;
                return true;
            }
            Begun::Unwanted => self.unwanted = Some(byte),
            Begun::Unknown => {}
        }
        false
    }

    /// Hands an event on. False: it was none, and scanning went back into it.
    fn end_event(&mut self, end: usize, each: &mut dyn Events) -> bool {
        let Some(start) = self.start.take() else { return true };
        if end - start > self.longest {
            self.give_up(start, Some(end));
            return false;
        }
        let byte = self.byte + start as u64;
        if each.take(Event { byte, json: &self.buffer[start..end], unwanted: self.unwanted == Some(byte) }) {
            return true;
        }
        if self.resume(start, end) {
            return false;
        }
        self.set_aside(byte, Why::NoJson);
        true
    }

    /// The array's closing bracket, or a brace that closes nothing.
    fn end_array(&mut self, at: usize) {
        let is_brace = self.buffer[at] == b'}';
        self.place = if is_brace { Place::Done } else { Place::AfterArray };
        if is_brace {
            self.tail.odd = [Some(Tail { byte: self.byte + at as u64, what: Found::Other }); 2];
        }
        self.scanned = at + 1;
        self.start = None;
    }

    /// Leaves an event that is too long to be one; where it ends may be known.
    fn give_up(&mut self, start: usize, end: Option<usize>) {
        self.large = Large { byte: self.byte + start as u64, looked: start + 1, after_comma: false, end };
        self.start = None;
        self.place = Place::InLarge;
    }

    /// Passes over an event that is too large: to its end by its brackets, or to the first place in it that looks like the start of another,
    /// since what is too large has often lost its end. Answers whether that was found.
    fn pass_over(&mut self, last: bool) -> bool {
        self.find_end_of_large();
        let Large { byte, looked, after_comma, end } = self.large;
        // What brackets say is known so far.
        let until = end.unwrap_or(self.scanned);
        let text = &self.buffer[looked..self.filled];
        let (next, why) = match (next_start(text, until - looked, after_comma, !last, self.longest), end) {
            (Look::Found(at), _) => (looked + at, Why::Endless),
            (Look::Unfinished(at), _) => {
                self.large.after_comma = ends_with_comma(&text[..at], after_comma);
                self.large.looked += at;
                return false;
            }
            (Look::None, Some(end)) => (end, Why::TooLarge),
            (Look::None, None) => {
                self.large.after_comma = ends_with_comma(&text[..until - looked], after_comma);
                self.large.looked = until;
                return false;
            }
        };
        self.set_aside(byte, why);
        self.place = Place::InArray;
        self.skip_to(next);
        true
    }

    /// Follows strings and brackets through what has come.
    fn find_end_of_large(&mut self) {
        while self.large.end.is_none() && self.filled - self.scanned >= BLOCK {
            let Some(block) = self.buffer[self.scanned..].first_chunk::<BLOCK>() else { return };
            let found = json_masks(block);
            let inside = self.strings.inside(found.quotes, found.backslashes);
            let mut brackets = (found.opening | found.closing) & !inside;
            while brackets != 0 && self.large.end.is_none() {
                let bit = brackets.trailing_zeros();
                brackets &= brackets - 1;
                if found.opening >> bit & 1 == 1 {
                    self.depth += 1;
                } else {
                    self.depth -= 1;
                    self.large.end = (self.depth == 0).then_some(self.scanned + bit as usize + 1);
                }
            }
            self.scanned += BLOCK;
        }
    }

    fn set_aside(&mut self, byte: u64, why: Why) {
        self.broken.push(Broken { byte, why });
    }

    /// Goes on at the first place within a broken event that looks like the start of another; answers whether there is one.
    fn resume(&mut self, start: usize, end: usize) -> bool {
        let text = &self.buffer[start + 1..end];
        let Look::Found(next) = next_start(text, text.len(), false, false, self.longest) else { return false };
        self.set_aside(self.byte + start as u64, Why::NoJson);
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

/// What a look for the start of an event gives.
enum Look {
    /// One is here.
    Found(usize),
    /// Here is what may be one, once more of it has come.
    Unfinished(usize),
    None,
}

/// An element of the array follows a comma and is an object that can be read to its end, with keys that an event has. It begins before
/// `until`, and has no more bytes than the longest has.
fn next_start(text: &[u8], until: usize, after_comma: bool, more_comes: bool, longest: usize) -> Look {
    for at in memchr::memchr_iter(b'{', &text[..until]) {
        if !ends_with_comma(&text[..at], after_comma) {
            continue;
        }
        let event = &text[at..text.len().min(at + longest)];
        let unfinished = match event[1..].trim_ascii_start() {
            [b'"', ..] => match serde_json::Deserializer::from_slice(event).into_iter::<Keys>().next() {
                Some(Ok(_)) => return Look::Found(at),
                // A number that is cut is wrong to serde_json.
                Some(Err(error)) => error.is_eof() || matches!(event.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E')),
                None => false,
            },
            rest => rest.is_empty(),
        };
        if unfinished && more_comes && event.len() < longest {
            return Look::Unfinished(at);
        }
    }
    Look::None
}

/// Whether a comma stands last in the text, or before it where it is blank.
fn ends_with_comma(text: &[u8], before: bool) -> bool {
    text.trim_ascii_end().last().map_or(before, |&byte| byte == b',')
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

/// Something behind the array that is no part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// Offset of its first byte.
    pub byte: u64,
    /// What it looks like.
    pub what: Found,
}

/// What may stand behind an array of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Found {
    /// More events, or another array of them.
    Trace,
    /// Anything else.
    Other,
}

/// Follows what stands behind the array, for an array that is all there is and for one in an object.
#[derive(Default)]
struct Tails {
    odd: [Option<Tail>; 2],
    rest: RestOfObject,
}

/// How far the object around the array has come.
#[derive(Default, Clone, Copy)]
enum RestOfObject {
    /// Behind the array.
    #[default]
    Value,
    /// Behind a comma after it.
    Comma,
    /// In other keys.
    Keys {
        /// Objects and arrays open below the object itself.
        depth: u64,
        string: bool,
        escaped: bool,
    },
    /// Behind its end.
    Closed,
}

impl Tails {
    fn step(&mut self, byte: u64, value: u8) {
        // Editors and crashes pad with these.
        let is_blank = matches!(value, b' ' | b'\t' | b'\r' | b'\n' | 0);
        let what = if matches!(value, b'[' | b'{' | b',') { Found::Trace } else { Found::Other };
        let tail = Some(Tail { byte, what });
        if self.odd[0].is_none() && !is_blank {
            self.odd[0] = tail;
        }
        if self.odd[1].is_none() {
            match self.rest.next(value, is_blank) {
                Some(rest) => self.rest = rest,
                None => self.odd[1] = tail,
            }
        }
    }
}

impl RestOfObject {
    /// `None`: this cannot stand here.
    fn next(self, value: u8, is_blank: bool) -> Option<RestOfObject> {
        use RestOfObject::{Closed, Comma, Keys, Value};
        Some(match (self, value) {
            (Keys { depth, string: true, escaped }, _) => Keys { depth, string: escaped || value != b'"', escaped: !escaped && value == b'\\' },
            (Keys { depth, .. }, b'"') => Keys { depth, string: true, escaped: false },
            (Keys { depth, .. }, b'{' | b'[') => Keys { depth: depth + 1, string: false, escaped: false },
            (Keys { depth: 0, .. }, b'}') | (Value, b'}') => Closed,
            (Keys { depth: 0, .. }, b']') => return None,
            (Keys { depth, .. }, b'}' | b']') => Keys { depth: depth - 1, string: false, escaped: false },
            (Keys { .. }, _) => self,
            (_, _) if is_blank => self,
            (Value, b',') => Comma,
            (Comma, b'"') => Keys { depth: 0, string: true, escaped: false },
            _ => return None,
        })
    }
}

/// Which bytes lie in strings, across blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
        let inside = running_parity(quotes & !escaped) ^ self.open;
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

    type Seen = (Vec<(u64, String)>, End, Vec<Broken>, Option<Tail>);

    /// Small, so that tests meet it.
    const LONGEST: usize = 600;

    fn whole_file() -> EventSplitter {
        EventSplitter::default().with_longest(LONGEST)
    }

    /// Feeds a splitter from its start on, cut at each place; `from` is where the text begins in the file.
    fn feed(mut splitter: EventSplitter, text: &[u8], cuts: &[usize]) -> (Vec<(u64, String)>, Ended) {
        let mut seen = Vec::new();
        let mut each = |event: Event| {
            let read = serde_json::from_slice::<Value>(event.json).is_ok();
            if read {
                seen.push((event.byte, String::from_utf8_lossy(event.json).into_owned()));
            }
            read
        };
        let mut from = 0;
        for &cut in cuts.iter().chain([&text.len()]) {
            splitter.feed(&text[from..cut], &mut each);
            from = cut;
        }
        let ended = splitter.finish(&mut each);
        (seen, ended)
    }

    /// Takes whatever serde_json can read from its beginning; but every third such event does not matter, and every third it leaves.
    #[derive(Default)]
    struct Eager {
        seen: Vec<(u64, String)>,
    }

    impl Events for Eager {
        fn begins(&mut self, byte: u64, text: &[u8]) -> Begun {
            let mut values = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
            match (values.next(), byte % 3) {
                (Some(Ok(_)), 0) => {
                    self.seen.push((byte, String::from_utf8_lossy(&text[..values.byte_offset()]).into_owned()));
                    Begun::Taken(values.byte_offset())
                }
                (Some(Ok(_)), 1) => Begun::Unwanted,
                _ => Begun::Unknown,
            }
        }

        fn take(&mut self, event: Event) -> bool {
            let read = serde_json::from_slice::<Value>(event.json).is_ok();
            assert!(read || !event.unwanted);
            if read {
                self.seen.push((event.byte, String::from_utf8_lossy(event.json).into_owned()));
            }
            read
        }
    }

    fn split(text: &[u8], cuts: &[usize]) -> Seen {
        let (seen, ended) = feed(whole_file(), text, cuts);
        (seen, ended.end, ended.broken, ended.tail[usize::from(ended.wrapped)])
    }

    /// Splits by ranges that know nothing of each other, and puts together what fits; a range whose guess was wrong is read again.
    fn split_by_ranges(text: &[u8], cuts: &[usize]) -> Seen {
        let range = |from: usize, until: usize, exact| {
            let until = if until == text.len() { u64::MAX } else { until as u64 };
            feed(EventSplitter::range(from as u64..until, exact).with_longest(LONGEST), &text[from..], &[])
        };
        let (mut seen, mut ended) = range(0, cuts.first().copied().unwrap_or(text.len()), false);
        let (mut broken, wrapped) = (ended.broken, ended.wrapped);
        for (nth, &cut) in cuts.iter().enumerate() {
            let End::Next { byte } = ended.end else { break };
            let until = cuts.get(nth + 1).copied().unwrap_or(text.len());
            let (mut more, mut then) = range(cut, until, false);
            if then.first != Some(byte) {
                if byte as usize >= until {
                    continue;
                }
                (more, then) = range(byte as usize, until, true);
            }
            seen.append(&mut more);
            broken.append(&mut then.broken);
            ended = then;
        }
        (seen, ended.end, broken, ended.tail[usize::from(wrapped)])
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
        assert_eq!(split(b"", &[]).1, End::Empty);
        for text in [&b"{}"[..], b" ", b"hello", b"<html>", br#"{"traceEvents": {"#] {
            assert_eq!(split(text, &[]).1, End::NoEvents, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn a_broken_event_costs_itself_only() {
        let good = |n: i32| format!(r#"{{"ph":"X","name":"op{n}","args":{{"k":"v"}}}}"#);
        for broken in [r#"{"ph": }"#, r#"{"ph":"X","name":"no end of the string}"#, r#"{"ph":"X","args":{"k":"#, r#"{"ph":"X""name":"y"}"#] {
            let text = format!("[{}, {}, {}, {}]", good(1), broken, good(2), good(3));
            let (seen, _, lost, _) = split(text.as_bytes(), &[]);
            assert_eq!(seen.iter().map(|event| event.1.clone()).collect::<Vec<_>>(), [good(1), good(2), good(3)], "{broken}");
            assert_eq!(lost, [Broken { byte: 1 + good(1).len() as u64 + 2, why: Why::NoJson }], "{broken}");
        }
    }

    #[test]
    fn an_event_without_an_end_is_told_from_one_that_is_no_json() {
        let good = r#"{"ph":"X","name":"op"}"#;
        let long = format!(r#"{{"ph":"X","name":"{}"}}"#, "x".repeat(LONGEST_EVENT));
        for (long, why) in [(&long[..], Why::TooLarge), (&long[..long.len() - 2], Why::Endless)] {
            let text = format!("[{good}, {long}, {good}]");
            let (seen, ended) = feed(EventSplitter::default(), text.as_bytes(), &[1 << 20, 3 << 20]);
            assert_eq!((seen.len(), ended.end), (2, End::Whole));
            assert_eq!(ended.broken, [Broken { byte: good.len() as u64 + 3, why }]);
        }
    }

    #[test]
    fn an_event_that_is_too_large_costs_itself_only() {
        let good = r#"{"ph":"X","name":"op"}"#;
        for inside in [
            format!(r#""{}""#, "x, {[\\\"".repeat(300)),
            format!("[{}]", "[{\"ph\": 2}, {\"k\": 1}], ".repeat(99) + "0"),
            format!("{}1{}", "[".repeat(900), "]".repeat(900)),
        ] {
            let text = format!(r#"[{{"ph":"X","name":{inside}}}, {good}, {good}]"#);
            for step in [1, 63, 64, 65, 500, 5000] {
                let cuts: Vec<usize> = (0..text.len()).step_by(step).collect();
                let (seen, end, broken, tail) = split(text.as_bytes(), &cuts);
                assert_eq!((seen.len(), end, broken, tail), (2, End::Whole, vec![Broken { byte: 1, why: Why::TooLarge }], None), "{step}");
            }
            // It is not kept.
            let mut splitter = whole_file();
            let part = "x".repeat(4096);
            splitter.feed(b"[{\"ph\":\"X\",\"name\":\"", &mut |_: Event| true);
            (0..100).for_each(|_| splitter.feed(part.as_bytes(), &mut |_: Event| true));
            assert!(splitter.buffer.len() < 3 * part.len(), "{}", splitter.buffer.len());
            assert_eq!(splitter.finish(&mut |_: Event| true).end, End::InsideEvent { byte: 1 });
        }
    }

    #[test]
    fn what_stands_behind_the_array_is_told() {
        let tail = |text: &str| split(text.as_bytes(), &[]).3.map(|tail| (tail.byte, tail.what));
        for fine in [
            "[{}] \r\n\t\0\0",
            "[",
            "[{}",
            r#"{"traceEvents": [{}]}"#,
            r#"{"traceEvents": [], "a": {"b": ["]\"\\"]}, "c": 1 } "#,
            r#"{"traceEvents": [], "a": ["#,
            r#"{"traceEvents": []"#,
        ] {
            assert_eq!(tail(fine), None, "{fine}");
        }
        assert_eq!(tail("[{}]\n<html>"), Some((5, Found::Other)));
        assert_eq!(tail("[{}][{}]"), Some((4, Found::Trace)));
        assert_eq!(tail("[{}]{}]"), Some((4, Found::Trace)));
        assert_eq!(tail("[{}], \"a\": 1}"), Some((4, Found::Trace)));
        assert_eq!(tail("[{}}, {}]"), Some((3, Found::Other)));
        assert_eq!(tail(r#"{"traceEvents": [{}], {}]}"#), Some((22, Found::Trace)));
        assert_eq!(tail(r#"{"traceEvents": []}{"traceEvents": []}"#), Some((19, Found::Trace)));
        assert_eq!(tail(r#"{"traceEvents": [], "a": 1]}"#), Some((26, Found::Other)));
    }

    /// What a profiler writes, with what makes it hard to split.
    fn event() -> impl Strategy<Value = String> {
        let value = prop_oneof![Just("1".to_owned()), Just("NaN".to_owned()), json().prop_map(|value| value.to_string())];
        let size = prop_oneof![6 => Just(0), 1 => LONGEST - 60..LONGEST + 80, 1 => Just(3 * LONGEST)];
        (value, size, any::<bool>()).prop_map(|(value, size, whole)| {
            let end = if whole || size == 0 { "\"}" } else { "" };
            format!(r#"{{"ph":"X","name":"op","args":{value},"z":"{}{end}"#, "x".repeat(size))
        })
    }

    /// What may stand behind an array.
    fn behind() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "",
            "",
            "]",
            "]",
            "}",
            "] \n\0",
            "]}",
            "], \"a\": {\"b\": [1, \"}\"]}}",
            "][{\"ph\":\"X\",\"name\":\"n\"}]",
            "] <html>",
            "]}{",
        ])
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
            let (seen, ended) = feed(EventSplitter::default(), text.as_bytes(), &cuts);
            let (end, broken, tail) = (ended.end, ended.broken, ended.tail[usize::from(ended.wrapped)]);
            let expected: Vec<String> = elements.into_iter().filter(Value::is_object).map(|event| event.to_string()).collect();
            prop_assert_eq!(seen.into_iter().map(|event| event.1).collect::<Vec<_>>(), expected);
            prop_assert_eq!((end, broken, tail), (End::Whole, vec![], None));
        }

        #[test]
        fn taking_events_by_their_beginning_changes_nothing(
            parts in prop::collection::vec(prop_oneof![3 => event(), 1 => "[]\\[{}\"\\\\,:aph 1]{0,8}", 1 => Just(" ".repeat(200))], 0..14), cuts in prop::collection::vec(0usize..9000, 0..8), behind in behind(),
        ) {
            let text = format!("[{}{behind}", parts.join(", "));
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.sort_unstable();
            let mut eager = Eager::default();
            let mut splitter = whole_file();
            let mut from = 0;
            for &cut in cuts.iter().chain([&text.len()]) {
                splitter.feed(&text.as_bytes()[from..cut], &mut eager);
                from = cut;
            }
            let ended = splitter.finish(&mut eager);
            prop_assert_eq!((eager.seen, ended.end, ended.broken, ended.tail[0]), split(text.as_bytes(), &[]));
        }

        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(prop::sample::select(&b"[]{}\"\\,:aph 1"[..]), 0..300), cut in 0usize..300) {
            let mut text = b"[".to_vec();
            text.extend(bytes);
            let whole = split(&text, &[]);
            prop_assert_eq!(split(&text, &[cut.min(text.len())]), whole);
        }

        #[test]
        fn ranges_see_what_one_reader_sees(
            parts in prop::collection::vec(prop_oneof![3 => event(), 1 => "[]\\[{}\"\\\\,:aph 1]{0,8}"], 0..14), cuts in prop::collection::vec(0usize..9000, 0..8),
            behind in behind(), wrapped in any::<bool>(),
        ) {
            let text = format!("{}[{}{behind}", if wrapped { "{\"traceEvents\": " } else { "" }, parts.join(", "));
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.sort_unstable();
            let whole = split(text.as_bytes(), &[]);
            prop_assert_eq!(&split(text.as_bytes(), &cuts), &whole);
            prop_assert_eq!(split_by_ranges(text.as_bytes(), &cuts), whole);
        }
    }
}
