//! The protobuf wire format, walked without knowing a schema: over a whole message, or over a file fed in slices cut anywhere.
//!
//! A file is never taken at its word: a length is bounded by the bytes that its enclosing message has left, nothing is allocated before
//! the bytes are there, and depth is bounded by what a visitor enters. Where a message is damaged, the walk goes on behind it.

use std::fmt;
use std::ops::Range;

/// More nesting than any reader here enters.
const DEEPEST: usize = 8;
/// The longest key and number: two varints.
const LONGEST_HEAD: usize = 20;

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A number of more than ten bytes.
    LongNumber,
    /// Field number 0, or one too large.
    FieldNumber,
    /// Of the eight wire types, groups (3, 4) are not used by these formats and 6, 7 are none.
    WireType,
    /// A value reaches beyond its message.
    Length,
    /// Deeper than a reader goes.
    Depth,
    /// A size or a time that no capture has.
    Implausible,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Fault::LongNumber => "a number has more than ten bytes",
            Fault::FieldNumber => "a field's number is none",
            Fault::WireType => "a field is of no known wire type",
            Fault::Length => "a value reaches beyond the message it is in",
            Fault::Depth => "messages are nested too deep",
            Fault::Implausible => "a size or a time is larger than any capture's",
        })
    }
}

/// A field's value as it is on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Wire types 0, 1 and 5. A double is its bits.
    Number(u64),
    /// Wire type 2: text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// A signed number (int32, int64: the two's complement of 64 bits); 0 where it is none.
    pub fn int(self) -> i64 {
        if let Value::Number(number) = self { number.cast_signed() } else { 0 }
    }

    /// The bytes; none where it is a number.
    pub fn bytes(self) -> &'a [u8] {
        if let Value::Bytes(bytes) = self { bytes } else { &[] }
    }

    /// The text, with U+FFFD for what is no UTF-8.
    pub fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

/// The fields of a message, in order. The first fault ends it.
pub fn fields(message: &[u8]) -> Fields<'_> {
    Fields { rest: message }
}

/// See [`fields`].
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Fault>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    #[inline]
    fn field(&mut self) -> Result<(u32, Value<'a>), Fault> {
        match head(self.rest)? {
            None => Err(Fault::Length),
            Some(Head { field, body: Body::Number(number), length }) => {
                self.rest = &self.rest[length..];
                Ok((field, Value::Number(number)))
            }
            Some(Head { field, body: Body::Bytes(bytes), length }) => {
                let rest = &self.rest[length..];
                let (value, rest) = usize::try_from(bytes).ok().and_then(|bytes| rest.split_at_checked(bytes)).ok_or(Fault::Length)?;
                self.rest = rest;
                Ok((field, Value::Bytes(value)))
            }
        }
    }
}

/// The numbers of a repeated field: packed or one of many.
pub fn numbers(value: Value) -> impl Iterator<Item = u64> {
    let (single, mut packed) = match value {
        Value::Number(number) => (Some(number), &[][..]),
        Value::Bytes(bytes) => (None, bytes),
    };
    single.into_iter().chain(std::iter::from_fn(move || {
        let (number, length) = varint(packed).ok()??;
        packed = &packed[length..];
        Some(number)
    }))
}

/// A key and what follows it: a number, or the length of bytes.
struct Head {
    field: u32,
    body: Body,
    /// Of key and number.
    length: usize,
}

enum Body {
    Number(u64),
    Bytes(u64),
}

/// `None`: the bytes end within it.
#[inline]
fn head(bytes: &[u8]) -> Result<Option<Head>, Fault> {
    let Some((key, key_length)) = varint(bytes)? else { return Ok(None) };
    let field = u32::try_from(key >> 3).ok().filter(|&field| field > 0 && field < 1 << 29).ok_or(Fault::FieldNumber)?;
    let rest = &bytes[key_length..];
    let fixed = |body: Option<(u64, usize)>| Ok(body.map(|(number, length)| Head { field, body: Body::Number(number), length: key_length + length }));
    match key & 7 {
        0 => fixed(varint(rest)?),
        1 => fixed(rest.first_chunk().map(|bytes| (u64::from_le_bytes(*bytes), 8))),
        5 => fixed(rest.first_chunk().map(|bytes| (u64::from(u32::from_le_bytes(*bytes)), 4))),
        2 => Ok(varint(rest)?.map(|(bytes, length)| Head { field, body: Body::Bytes(bytes), length: key_length + length })),
        _ => Err(Fault::WireType),
    }
}

/// A number and how many bytes it has; `None`: the bytes end within it.
#[inline]
pub fn varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, Fault> {
    const LONGEST: usize = 10;
    if let Some(&word) = bytes.first_chunk()
        && let Some(short) = short_varint(u64::from_le_bytes(word))
    {
        return Ok(Some(short));
    }
    let mut number = 0u64;
    for (at, &byte) in bytes.iter().take(LONGEST).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Ok(Some((number, at + 1)));
        }
    }
    if bytes.len() < LONGEST { Ok(None) } else { Err(Fault::LongNumber) }
}

/// A number of at most eight bytes, all at once: eight groups of seven bits are pushed together pair by pair.
#[inline]
fn short_varint(word: u64) -> Option<(u64, usize)> {
    let last = !word & 0x8080_8080_8080_8080;
    if last == 0 {
        return None;
    }
    let sevens = word & (last ^ (last - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
    let fourteens = (sevens & 0x007f_007f_007f_007f) | (sevens & 0x7f00_7f00_7f00_7f00) >> 1;
    let halves = (fourteens & 0x0000_3fff_0000_3fff) | (fourteens & 0x3fff_0000_3fff_0000) >> 2;
    Some(((halves & 0x0fff_ffff) | (halves & 0x0fff_ffff_0000_0000) >> 4, last.trailing_zeros() as usize / 8 + 1))
}

/// A reader that does not look at all of a file.
pub trait Selective {
    /// What it looks at next, from its first byte on as much as is worth reading at once; `None`: it has seen enough. May reach beyond the
    /// file's end.
    fn next(&self) -> Option<Range<u64>>;
    /// Takes bytes from there. Where bytes can only be had in order, all of them may be given.
    fn feed(&mut self, at: u64, bytes: &[u8]);
}

/// Feeds a reader from a file any part of which can be read: `fetch` hands over the first bytes of a range, or all.
pub fn feed_selectively<E>(reader: &mut dyn Selective, size: u64, mut fetch: impl FnMut(Range<u64>, &mut dyn FnMut(&[u8])) -> Result<(), E>) -> Result<(), E> {
    while let Some(range) = reader.next().filter(|range| range.start < size) {
        fetch(range.start..range.end.min(size), &mut |bytes| reader.feed(range.start, bytes))?;
    }
    // What was passed over last ends with the file.
    reader.feed(size, &[]);
    Ok(())
}

/// What to do with a field of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Pass over it.
    Skip,
    /// It is a message: walk its fields.
    Enter,
    /// Hand it over when it is whole.
    Take,
}

/// What a walk over a file tells. Depth 0 is the file's own message.
pub trait Visit {
    /// A field of bytes begins; where they lie in the file.
    fn begins(&mut self, depth: usize, field: u32, body: Range<u64>) -> Action;
    /// A field that was to be taken is whole.
    fn taken(&mut self, depth: usize, field: u32, bytes: &[u8]);
    /// A number.
    fn number(&mut self, depth: usize, field: u32, value: u64);
    /// A message that was entered has ended, whole or not; `depth` is that of its fields.
    fn left(&mut self, depth: usize);
    /// The message being walked is damaged here; what is left of it is passed over.
    fn damaged(&mut self, byte: u64, fault: Fault);
    /// May take whole fields off the front of a message's bytes, which lie `at` in the file, faster than one by one; answers how many bytes
    /// it took.
    fn hurry(&mut self, _depth: usize, _at: u64, _bytes: &[u8]) -> usize {
        0
    }
}

/// Walks a file that is fed in slices.
#[derive(Debug, Default)]
pub struct Walker {
    /// Where each message that was entered ends.
    ends: Vec<u64>,
    /// Bytes walked.
    at: u64,
    /// The beginning of a head or of a field being taken.
    held: Vec<u8>,
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At a key.
    #[default]
    Head,
    /// Passing over bytes.
    Skip { left: u64 },
    /// Holding bytes until a field is whole.
    Take { field: u32, left: u64 },
    /// The outermost message is damaged: nothing behind it can be found.
    Lost,
}

/// How a file ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a whole message.
    Whole,
    /// Within a message, at this byte.
    Cut(u64),
    /// It was given up before.
    Lost,
}

impl Walker {
    /// Where the next byte is that is looked at; `None`: no byte is.
    pub fn next(&self) -> Option<u64> {
        match self.state {
            State::Skip { left } => Some(self.at + left),
            State::Head | State::Take { .. } => Some(self.at + self.held.len() as u64),
            State::Lost => None,
        }
    }

    /// Takes bytes from where the next one is looked at; see [`Selective::feed`].
    pub fn feed_at(&mut self, at: u64, bytes: &[u8], visit: &mut impl Visit) {
        if let State::Skip { left } = self.state {
            let passed = at.saturating_sub(self.at).min(left);
            self.at += passed;
            self.state = State::Skip { left: left - passed };
            self.settle();
            self.leave(visit);
        }
        self.feed(bytes, visit);
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, mut bytes: &[u8], visit: &mut impl Visit) {
        while !bytes.is_empty() {
            let used = match self.state {
                State::Head => self.head(bytes, visit),
                State::Skip { left } => self.skip(bytes, left),
                State::Take { field, left } => self.take(bytes, field, left, visit),
                State::Lost => return,
            };
            bytes = &bytes[used..];
            self.leave(visit);
        }
    }

    /// Ends the file.
    pub fn finish(mut self, visit: &mut impl Visit) -> End {
        let cut = !self.ends.is_empty() || !self.held.is_empty() || self.state != State::Head;
        while self.ends.pop().is_some() {
            visit.left(self.ends.len() + 1);
        }
        match (self.state, cut) {
            (State::Lost, _) => End::Lost,
            (_, true) => End::Cut(self.at + self.held.len() as u64),
            (_, false) => End::Whole,
        }
    }

    fn head(&mut self, bytes: &[u8], visit: &mut impl Visit) -> usize {
        if self.held.is_empty() {
            let hurried = visit.hurry(self.ends.len(), self.at, self.within(bytes));
            if hurried > 0 {
                self.at += hurried as u64;
                return hurried;
            }
            return match head(self.within(bytes)) {
                Ok(Some(head)) => {
                    let length = head.length;
                    self.begin(head, visit);
                    length
                }
                Ok(None) => self.hold_head(bytes, visit),
                Err(fault) => self.fault(self.at, fault, visit),
            };
        }
        let held = self.held.len();
        let more = bytes.len().min(LONGEST_HEAD - held);
        self.held.extend_from_slice(&bytes[..more]);
        let joined = std::mem::take(&mut self.held);
        match head(self.within(&joined)) {
            Ok(Some(head)) => {
                let length = head.length;
                self.begin(head, visit);
                length - held
            }
            Ok(None) if self.within(&joined).len() == joined.len() => {
                self.held = joined;
                more
            }
            found => {
                let start = self.at;
                self.at += held as u64;
                self.fault(start, found.err().unwrap_or(Fault::Length), visit)
            }
        }
    }

    /// A head that the slice does not hold to its end.
    fn hold_head(&mut self, bytes: &[u8], visit: &mut impl Visit) -> usize {
        if self.within(bytes).len() < bytes.len() {
            return self.fault(self.at, Fault::Length, visit);
        }
        self.held.extend_from_slice(bytes);
        bytes.len()
    }

    /// The part of the bytes that belongs to the message being walked.
    fn within<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let left = self.ends.last().map_or(u64::MAX, |end| end - self.at);
        &bytes[..bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX))]
    }

    fn begin(&mut self, head: Head, visit: &mut impl Visit) {
        let depth = self.ends.len();
        let start = self.at;
        self.at += head.length as u64;
        let left = match head.body {
            Body::Number(number) => return visit.number(depth, head.field, number),
            Body::Bytes(left) => left,
        };
        // Only the outermost message has no length of its own: how long the file is, its end tells.
        let most = self.ends.last().map_or(u64::MAX, |&end| end) - self.at;
        if left > most {
            self.fault(start, Fault::Length, visit);
            return;
        }
        match visit.begins(depth, head.field, self.at..self.at + left) {
            Action::Skip => self.state = State::Skip { left },
            Action::Take if left == 0 => visit.taken(depth, head.field, &[]),
            Action::Take => self.state = State::Take { field: head.field, left },
            Action::Enter if depth < DEEPEST => self.ends.push(self.at + left),
            Action::Enter => {
                visit.damaged(start, Fault::Depth);
                self.state = State::Skip { left };
            }
        }
        self.settle();
    }

    fn skip(&mut self, bytes: &[u8], left: u64) -> usize {
        let used = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        self.at += used as u64;
        self.state = State::Skip { left: left - used as u64 };
        self.settle();
        used
    }

    fn take(&mut self, bytes: &[u8], field: u32, left: u64, visit: &mut impl Visit) -> usize {
        let depth = self.ends.len();
        let missing = left - self.held.len() as u64;
        let used = bytes.len().min(usize::try_from(missing).unwrap_or(usize::MAX));
        if (used as u64) < missing {
            self.held.extend_from_slice(&bytes[..used]);
            return used;
        }
        if self.held.is_empty() {
            visit.taken(depth, field, &bytes[..used]);
        } else {
            self.held.extend_from_slice(&bytes[..used]);
            visit.taken(depth, field, &std::mem::take(&mut self.held));
        }
        self.at += left;
        self.state = State::Head;
        used
    }

    /// Gives up what is left of the message being walked. Uses no more bytes: they are passed over next.
    fn fault(&mut self, start: u64, fault: Fault, visit: &mut impl Visit) -> usize {
        visit.damaged(start, fault);
        self.state = self.ends.last().map_or(State::Lost, |end| State::Skip { left: end - self.at });
        self.settle();
        0
    }

    fn settle(&mut self) {
        if self.state == (State::Skip { left: 0 }) {
            self.state = State::Head;
        }
    }

    fn leave(&mut self, visit: &mut impl Visit) {
        while self.state == State::Head && self.held.is_empty() && self.ends.last() == Some(&self.at) {
            self.ends.pop();
            visit.left(self.ends.len() + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    struct Leaf {
        #[prost(int64, tag = "1")]
        id: i64,
        #[prost(string, tag = "2")]
        name: String,
        #[prost(double, tag = "3")]
        share: f64,
        #[prost(int64, repeated, tag = "4")]
        packed: Vec<i64>,
        #[prost(int64, repeated, packed = "false", tag = "5")]
        loose: Vec<i64>,
        #[prost(fixed32, tag = "16")]
        fixed: u32,
    }

    #[derive(Clone, PartialEq, Message)]
    struct Tree {
        #[prost(message, repeated, tag = "1")]
        trees: Vec<Tree>,
        #[prost(message, repeated, tag = "2")]
        leaves: Vec<Leaf>,
        #[prost(bytes = "vec", tag = "2000")]
        unknown: Vec<u8>,
    }

    /// What a walk saw: enters field 1, takes field 2, passes over the rest.
    #[derive(Debug, Default, PartialEq)]
    struct Seen {
        leaves: Vec<Leaf>,
        trees: usize,
        left: usize,
        damaged: Vec<(u64, Fault)>,
    }

    impl Visit for Seen {
        fn begins(&mut self, _: usize, field: u32, _: Range<u64>) -> Action {
            self.trees += usize::from(field == 1);
            match field {
                1 => Action::Enter,
                2 => Action::Take,
                _ => Action::Skip,
            }
        }
        fn taken(&mut self, _: usize, _: u32, bytes: &[u8]) {
            self.leaves.push(by_hand(bytes));
        }
        fn number(&mut self, _: usize, _: u32, _: u64) {}
        fn left(&mut self, _: usize) {
            self.left += 1;
        }
        fn damaged(&mut self, byte: u64, fault: Fault) {
            self.damaged.push((byte, fault));
        }
    }

    fn by_hand(bytes: &[u8]) -> Leaf {
        let mut leaf = Leaf::default();
        for (field, value) in fields(bytes).map_while(Result::ok) {
            match field {
                1 => leaf.id = value.int(),
                2 => leaf.name = value.text(),
                3 => leaf.share = f64::from_bits(value.int().cast_unsigned()),
                4 => leaf.packed.extend(numbers(value).map(u64::cast_signed)),
                5 => leaf.loose.extend(numbers(value).map(u64::cast_signed)),
                16 => leaf.fixed = u32::try_from(value.int()).unwrap(),
                _ => {}
            }
        }
        leaf
    }

    fn walk<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Seen, End) {
        let (mut seen, mut walker) = (Seen::default(), Walker::default());
        chunks.into_iter().for_each(|chunk| walker.feed(chunk, &mut seen));
        let end = walker.finish(&mut seen);
        (seen, end)
    }

    fn leaves(tree: &Tree, out: &mut Vec<Leaf>) -> usize {
        let below: usize = tree.trees.iter().map(|tree| 1 + leaves(tree, out)).sum();
        out.extend(tree.leaves.iter().cloned());
        below
    }

    fn leaf() -> impl Strategy<Value = Leaf> {
        let lists = (prop::collection::vec(any::<i64>(), 0..4), prop::collection::vec(any::<i64>(), 0..4));
        (any::<i64>(), ".{0,8}", -1e9f64..1e9, lists, any::<u32>()).prop_map(|(id, name, share, (packed, loose), fixed)| Leaf {
            id,
            name,
            share,
            packed,
            loose,
            fixed,
        })
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let node = (prop::collection::vec(leaf(), 0..3), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(leaves, unknown)| Tree {
            trees: Vec::new(),
            leaves,
            unknown,
        });
        node.prop_recursive(4, 16, 4, |inner| {
            (prop::collection::vec(inner, 0..4), prop::collection::vec(leaf(), 0..2)).prop_map(|(trees, leaves)| Tree { trees, leaves, unknown: Vec::new() })
        })
    }

    proptest! {
        #[test]
        fn the_walk_sees_what_prost_wrote_wherever_it_is_cut(tree in tree(), size in 1usize..40) {
            let bytes = tree.encode_to_vec();
            let (whole, end) = walk([&bytes[..]]);
            let mut expected = Vec::new();
            let trees = leaves(&tree, &mut expected);
            prop_assert_eq!((whole.trees, whole.left, end), (trees, trees, End::Whole));
            prop_assert_eq!(&whole.leaves, &expected);
            prop_assert_eq!(walk(bytes.chunks(size)), (whole, End::Whole));
        }

        #[test]
        fn damage_ends_and_is_told_the_same_however_it_is_cut(tree in tree(), flips in prop::collection::vec((any::<u16>(), 0u8..8), 1..4), size in 1usize..40) {
            let mut bytes = tree.encode_to_vec();
            for (at, bit) in flips {
                if !bytes.is_empty() {
                    let at = usize::from(at) % bytes.len();
                    bytes[at] ^= 1 << bit;
                }
            }
            let whole = walk([&bytes[..]]);
            prop_assert_eq!(whole.0.trees, whole.0.left + whole.0.damaged.iter().filter(|damaged| damaged.1 == Fault::Depth).count());
            prop_assert_eq!(format!("{:?}", walk(bytes.chunks(size))), format!("{whole:?}"));
        }

        #[test]
        fn a_cut_file_gives_what_is_whole(tree in tree(), cut in any::<u16>()) {
            let bytes = tree.encode_to_vec();
            let cut = usize::from(cut) % (bytes.len() + 1);
            let (part, end) = walk([&bytes[..cut]]);
            let (whole, _) = walk([&bytes[..]]);
            prop_assert!(part.damaged.is_empty() && whole.leaves.starts_with(&part.leaves));
            if let End::Cut(at) = end {
                prop_assert_eq!(at, cut as u64);
            }
        }
    }

    #[test]
    fn a_length_that_lies_costs_only_its_message() {
        // Field 1 with 4 bytes, in which field 2 claims 100; then a good leaf.
        let bytes = [0x0a, 4, 0x12, 100, 0, 0, 0x12, 2, 0x08, 7];
        let (seen, end) = walk([&bytes[..]]);
        assert_eq!((seen.damaged, end), (vec![(2, Fault::Length)], End::Whole));
        assert_eq!(seen.leaves, [Leaf { id: 7, ..Leaf::default() }]);
    }

    #[test]
    fn a_length_beyond_the_file_is_a_cut_and_allocates_nothing() {
        let bytes = [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2];
        assert_eq!(walk([&bytes[..]]).1, End::Cut(12));
    }

    #[test]
    fn nesting_is_bounded() {
        let mut bytes = Vec::new();
        for _ in 0..30 {
            bytes = [&[0x0a, bytes.len() as u8][..], &bytes].concat();
        }
        let (seen, end) = walk([&bytes[..]]);
        assert_eq!((seen.damaged.len(), seen.damaged[0].1, end), (1, Fault::Depth, End::Whole));
    }

    #[test]
    fn groups_and_other_wire_types_are_faults() {
        for byte in [0x0b, 0x0c, 0x0e, 0x0f] {
            assert_eq!(fields(&[byte]).next(), Some(Err(Fault::WireType)));
            assert_eq!(walk([&[byte, 1][..]]).1, End::Lost);
        }
        assert_eq!(fields(&[0x00, 1]).next(), Some(Err(Fault::FieldNumber)));
        assert_eq!(fields(&[0x08; 1]).next(), Some(Err(Fault::Length)));
        assert_eq!(fields(&[0xff; 12]).next(), Some(Err(Fault::LongNumber)));
    }
}
