//! XSpace of xplane.proto (package tensorflow.profiler): what the readings of a file share.
//!
//! A plane's names stand behind its lines, and without them nothing tells which of millions of events matter. So the names (and the plans)
//! are read first, jumping over the lines; then the events that matter; then what was around some of these. No reading keeps what it does
//! not need.
//!
//! | message | fields used |
//! |---|---|
//! | XSpace | 1 planes · 4 hostnames |
//! | XPlane | 2 name · 3 lines · 4 event_metadata (map) · 5 stat_metadata (map) · 6 stats |
//! | XLine | 1 id · 2 name · 3 timestamp_ns · 4 events |
//! | XEvent | 1 metadata_id · 2 offset_ps · 3 duration_ps · 4 stats |
//! | XStat | 1 metadata_id · 2 double · 3 uint64 · 4 int64 · 5 str · 6 bytes · 7 ref_value · 8 compressed_str |
//! | XEventMetadata | 2 name · 5 stats |
//! | XStatMetadata | 2 name |

use crate::scan::wire::{Fault, Value, fields};
use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

/// XSpace, the file's own message.
pub mod file {
    #![allow(missing_docs)]
    pub const PLANES: u32 = 1;
    pub const HOSTNAMES: u32 = 4;
}

/// XPlane.
pub mod plane {
    #![allow(missing_docs)]
    pub const NAME: u32 = 2;
    pub const LINES: u32 = 3;
    pub const EVENT_METADATA: u32 = 4;
    pub const STAT_METADATA: u32 = 5;
    pub const STATS: u32 = 6;
}

/// XLine.
pub mod line {
    #![allow(missing_docs)]
    pub const ID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const TIMESTAMP_NS: u32 = 3;
    pub const EVENTS: u32 = 4;
}

/// XEvent.
pub mod event {
    #![allow(missing_docs)]
    pub const METADATA_ID: u32 = 1;
    pub const OFFSET_PS: u32 = 2;
    pub const DURATION_PS: u32 = 3;
    pub const STATS: u32 = 4;
}

/// XEventMetadata and XStatMetadata.
pub mod metadata {
    #![allow(missing_docs)]
    pub const NAME: u32 = 2;
    pub const STATS: u32 = 5;
}

/// So many places of damage are told; the first ones say enough.
const MOST_DAMAGE: usize = 20;
/// More than any string that is kept here unpacks to.
const MOST_UNPACKED_BYTES: u64 = 1 << 30;

/// What a stat holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held<'a> {
    /// A double, by its bits.
    Double(f64),
    /// A number.
    Int(i64),
    /// Text or bytes.
    Bytes(&'a [u8]),
    /// The number of the stat whose name is the text.
    Ref(i64),
    /// Packed with gzip.
    Packed(&'a [u8]),
}

/// One XStat: the number of its name, and what it holds.
pub fn stat(message: &[u8]) -> Result<(i64, Option<Held<'_>>), Fault> {
    let (mut name, mut held) = (0, None);
    for field in fields(message) {
        let (field, value) = field?;
        match field {
            1 => name = value.int(),
            2 => held = Some(Held::Double(f64::from_bits(value.int().cast_unsigned()))),
            3 | 4 => held = Some(Held::Int(value.int())),
            5 | 6 => held = Some(Held::Bytes(value.bytes())),
            7 => held = Some(Held::Ref(value.int())),
            8 => held = Some(Held::Packed(value.bytes())),
            _ => {}
        }
    }
    Ok((name, held))
}

impl<'a> Held<'a> {
    /// The number; 0 where it is none.
    pub fn int(self) -> i64 {
        if let Held::Int(number) = self { number } else { 0 }
    }

    /// The bytes, unpacked; names of stats stand for themselves.
    pub fn bytes(self, names: &'a HashMap<i64, String>) -> Cow<'a, [u8]> {
        match self {
            Held::Bytes(bytes) => Cow::Borrowed(bytes),
            Held::Ref(number) => Cow::Borrowed(names.get(&number).map_or(&[][..], |name| name.as_bytes())),
            Held::Packed(bytes) => {
                let mut unpacked = Vec::new();
                // What a damaged archive still gives may be enough; the reader of it judges.
                let _ = GzDecoder::new(bytes).take(MOST_UNPACKED_BYTES).read_to_end(&mut unpacked);
                Cow::Owned(unpacked)
            }
            Held::Int(_) | Held::Double(_) => Cow::Borrowed(&[]),
        }
    }

    /// The text.
    pub fn text(self, names: &'a HashMap<i64, String>) -> String {
        String::from_utf8_lossy(&self.bytes(names)).into_owned()
    }
}

/// An entry of a map: its key and the message behind it.
pub fn entry(message: &[u8]) -> Result<(i64, &[u8]), Fault> {
    let (mut key, mut value) = (0, &[][..]);
    for field in fields(message) {
        match field? {
            (1, number) => key = number.int(),
            (2, Value::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Ok((key, value))
}

/// Notes where a file is damaged.
pub fn note_damage(damage: &mut Vec<(u64, Fault)>, byte: u64, fault: Fault) {
    if damage.len() < MOST_DAMAGE {
        damage.push((byte, fault));
    }
}

/// What a plane is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneKind {
    /// `/host:CPU`: what the host did.
    Host,
    /// `/device:GPU:0`: what ran on a GPU.
    Gpu(i64),
    /// `/device:TPU:0`.
    Tpu,
    /// Modules, the task's environment, others.
    Other,
}

impl PlaneKind {
    /// By the plane's name.
    pub fn of(name: &str) -> PlaneKind {
        match name.strip_prefix("/device:GPU:").map(str::parse) {
            Some(Ok(device)) => PlaneKind::Gpu(device),
            _ if name.starts_with("/device:TPU") => PlaneKind::Tpu,
            _ if name.starts_with("/host:") && name != METADATA_PLANE => PlaneKind::Host,
            _ => PlaneKind::Other,
        }
    }
}

/// The plane of the compiled modules.
pub const METADATA_PLANE: &str = "/host:metadata";

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    /// A varint field.
    pub(crate) fn number(field: u32, value: i64) -> Vec<u8> {
        let mut out = Vec::new();
        prost::encoding::encode_varint(u64::from(field << 3), &mut out);
        prost::encoding::encode_varint(value.cast_unsigned(), &mut out);
        out
    }

    /// A field of bytes, made of parts.
    pub(crate) fn bytes(field: u32, parts: &[&[u8]]) -> Vec<u8> {
        let body = parts.concat();
        let mut out = Vec::new();
        prost::encoding::encode_varint(u64::from(field << 3 | 2), &mut out);
        prost::encoding::encode_varint(body.len() as u64, &mut out);
        out.extend(body);
        out
    }

    #[test]
    fn stats_of_every_kind() {
        let names = HashMap::from([(9, "jit_f".to_owned())]);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"packed").unwrap();
        let cases = [
            ([number(1, 3), bytes(5, &[b"text"])].concat(), "text"),
            ([bytes(6, &[b"bytes"]), number(1, 3)].concat(), "bytes"),
            ([number(1, 3), number(7, 9)].concat(), "jit_f"),
            ([number(1, 3), bytes(8, &[&packed.finish().unwrap()]), number(77, 1)].concat(), "packed"),
        ];
        for (message, expected) in cases {
            let (name, held) = stat(&message).unwrap();
            assert_eq!((name, &held.unwrap().text(&names)[..]), (3, expected));
        }
        assert_eq!(stat(&[number(1, -2), number(4, -5)].concat()).unwrap(), (-2, Some(Held::Int(-5))));
        assert_eq!(stat(&[0x11, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]).unwrap(), (0, Some(Held::Double(1.0))));
        assert!(stat(&[0x0b]).is_err());
    }

    #[test]
    fn planes_by_name() {
        assert_eq!(PlaneKind::of("/device:GPU:12"), PlaneKind::Gpu(12));
        assert_eq!(PlaneKind::of("/host:CPU"), PlaneKind::Host);
        assert_eq!(PlaneKind::of(METADATA_PLANE), PlaneKind::Other);
        assert_eq!(PlaneKind::of("/device:GPU:x"), PlaneKind::Other);
    }
}
