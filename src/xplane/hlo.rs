//! The messages of XLA's hlo.proto and xla_data.proto (package xla) that a memory plan is read from, with the field numbers of
//! openxla/xla. What is not listed is passed over. Names are bytes: one that is no UTF-8 must not cost the module.
//!
//! Instruction ids are `computation id << 32 | local id` in new files and small in old ones: unique in a module either way.

#![allow(missing_docs)] // The names are XLA's.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct HloProto {
    #[prost(message, optional, tag = "1")]
    pub hlo_module: Option<HloModule>,
    #[prost(message, optional, tag = "3")]
    pub buffer_assignment: Option<BufferAssignment>,
}

#[derive(Clone, PartialEq, Message)]
pub struct HloModule {
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    pub computations: Vec<Computation>,
    #[prost(int64, tag = "5")]
    pub id: i64,
    #[prost(int64, tag = "6")]
    pub entry_computation_id: i64,
    #[prost(message, optional, tag = "8")]
    pub input_output_alias: Option<InputOutputAlias>,
    #[prost(message, optional, tag = "17")]
    pub stack_frame_index: Option<StackFrameIndex>,
    #[prost(message, optional, tag = "18")]
    pub buffer_donor: Option<BufferDonor>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Computation {
    #[prost(message, repeated, tag = "2")]
    pub instructions: Vec<Instruction>,
    #[prost(int64, tag = "5")]
    pub id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Instruction {
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub opcode: Vec<u8>,
    #[prost(message, optional, tag = "3")]
    pub shape: Option<Shape>,
    #[prost(message, optional, tag = "7")]
    pub metadata: Option<OpMetadata>,
    #[prost(int64, tag = "9")]
    pub parameter_number: i64,
    #[prost(int64, tag = "35")]
    pub id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct OpMetadata {
    #[prost(bytes = "vec", tag = "2")]
    pub op_name: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    pub source_file: Vec<u8>,
    #[prost(int64, tag = "4")]
    pub source_line: i64,
    #[prost(int64, tag = "15")]
    pub stack_frame_id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(int64, tag = "2")]
    pub element_type: i64,
    #[prost(int64, repeated, tag = "3")]
    pub dimensions: Vec<i64>,
    #[prost(message, repeated, tag = "4")]
    pub tuple_shapes: Vec<Shape>,
    #[prost(message, optional, tag = "5")]
    pub layout: Option<Layout>,
}

#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Layout {
    #[prost(int64, repeated, tag = "1")]
    pub minor_to_major: Vec<i64>,
    #[prost(message, repeated, tag = "6")]
    pub tiles: Vec<Tile>,
    #[prost(int64, tag = "7")]
    pub element_size_in_bits: i64,
    #[prost(int64, tag = "8")]
    pub memory_space: i64,
}

#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Tile {
    #[prost(int64, repeated, tag = "1")]
    pub dimensions: Vec<i64>,
}

/// Ids are 1-based; 0 is none.
#[derive(Clone, PartialEq, Message)]
pub struct StackFrameIndex {
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub file_names: Vec<Vec<u8>>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub function_names: Vec<Vec<u8>>,
    #[prost(message, repeated, tag = "3")]
    pub file_locations: Vec<FileLocation>,
    #[prost(message, repeated, tag = "4")]
    pub stack_frames: Vec<StackFrame>,
}

#[derive(Clone, PartialEq, Message)]
pub struct FileLocation {
    #[prost(int64, tag = "1")]
    pub file_name_id: i64,
    #[prost(int64, tag = "2")]
    pub function_name_id: i64,
    #[prost(int64, tag = "3")]
    pub line: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct StackFrame {
    #[prost(int64, tag = "1")]
    pub file_location_id: i64,
    #[prost(int64, tag = "2")]
    pub parent_frame_id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct InputOutputAlias {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<AliasEntry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct AliasEntry {
    #[prost(int64, tag = "2")]
    pub parameter_number: i64,
    #[prost(int64, repeated, tag = "3")]
    pub parameter_shape_index: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct BufferDonor {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<DonorEntry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DonorEntry {
    #[prost(int64, tag = "1")]
    pub parameter_number: i64,
    #[prost(int64, repeated, tag = "2")]
    pub parameter_shape_index: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
pub struct BufferAssignment {
    #[prost(message, repeated, tag = "1")]
    pub logical_buffers: Vec<LogicalBuffer>,
    #[prost(message, repeated, tag = "2")]
    pub buffer_aliases: Vec<BufferAlias>,
    #[prost(message, repeated, tag = "3")]
    pub buffer_allocations: Vec<BufferAllocation>,
    #[prost(message, repeated, tag = "4")]
    pub heap_simulator_traces: Vec<HeapTrace>,
}

#[derive(Clone, PartialEq, Message)]
pub struct LogicalBuffer {
    #[prost(int64, tag = "1")]
    pub id: i64,
    #[prost(int64, tag = "2")]
    pub size: i64,
    #[prost(message, optional, tag = "3")]
    pub defined_at: Option<Location>,
    #[prost(int64, tag = "4")]
    pub color: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Location {
    #[prost(bytes = "vec", tag = "2")]
    pub instruction_name: Vec<u8>,
    #[prost(int64, repeated, tag = "3")]
    pub shape_index: Vec<i64>,
    #[prost(int64, tag = "4")]
    pub instruction_id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct BufferAlias {
    #[prost(int64, tag = "1")]
    pub source_buffer_id: i64,
    #[prost(message, optional, tag = "2")]
    pub location: Option<Location>,
}

#[derive(Clone, PartialEq, Message)]
pub struct BufferAllocation {
    #[prost(int64, tag = "2")]
    pub size: i64,
    #[prost(bool, tag = "3")]
    pub is_thread_local: bool,
    #[prost(bool, tag = "5")]
    pub is_entry_computation_parameter: bool,
    #[prost(int64, tag = "6")]
    pub parameter_number: i64,
    #[prost(bool, tag = "7")]
    pub maybe_live_out: bool,
    #[prost(int64, tag = "8")]
    pub color: i64,
    #[prost(message, repeated, tag = "9")]
    pub assigned: Vec<Assigned>,
    #[prost(int64, repeated, tag = "10")]
    pub parameter_shape_index: Vec<i64>,
    #[prost(bool, tag = "11")]
    pub is_tuple: bool,
    #[prost(bool, tag = "12")]
    pub is_constant: bool,
    #[prost(bool, tag = "13")]
    pub is_parameter_aliased_with_output: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct Assigned {
    #[prost(int64, tag = "1")]
    pub logical_buffer_id: i64,
    #[prost(int64, tag = "3")]
    pub size: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct HeapTrace {
    #[prost(message, repeated, tag = "1")]
    pub events: Vec<HeapEvent>,
}

#[derive(Clone, PartialEq, Message)]
pub struct HeapEvent {
    #[prost(int64, tag = "1")]
    pub kind: i64,
    #[prost(int64, tag = "2")]
    pub buffer_id: i64,
    #[prost(int64, tag = "5")]
    pub share_with_canonical_id: i64,
}

impl Shape {
    /// The shape at an index into nested tuples; `None` where there is none.
    pub fn at(&self, index: &[i64]) -> Option<&Shape> {
        index.iter().try_fold(self, |shape, &at| shape.tuple_shapes.get(usize::try_from(at).ok()?))
    }

    /// `f32[8,1024]`; a tuple is `(f32[8], s32[])`.
    pub fn text(&self) -> String {
        if self.element_type == TUPLE {
            // Parameter tuples have thousands of parts, and none of them is looked for here.
            const SHOWN: usize = 4;
            let parts: Vec<String> = self.tuple_shapes.iter().take(SHOWN).map(|part| part.text_within_tuple()).collect();
            let more = if self.tuple_shapes.len() > SHOWN { ", …" } else { "" };
            return format!("({}{more})", parts.join(", "));
        }
        self.text_within_tuple()
    }

    fn text_within_tuple(&self) -> String {
        let dimensions: Vec<String> = self.dimensions.iter().map(i64::to_string).collect();
        format!("{}[{}]", element_type(self.element_type), dimensions.join(","))
    }
}

/// The element type of a tuple.
pub const TUPLE: i64 = 13;
/// Bytes, signed and not: what a library asks for as scratch.
pub const BYTE_TYPES: [i64; 2] = [2, 6];

/// `PrimitiveType`, by number.
fn element_type(number: i64) -> &'static str {
    const NAMES: [&str; 34] = [
        "?",
        "pred",
        "s8",
        "s16",
        "s32",
        "s64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "f32",
        "f64",
        "tuple",
        "opaque",
        "c64",
        "bf16",
        "token",
        "c128",
        "f8e5m2",
        "f8e4m3fn",
        "s4",
        "u4",
        "f8e4m3b11fnuz",
        "f8e5m2fnuz",
        "f8e4m3fnuz",
        "s2",
        "u2",
        "f8e4m3",
        "f8e3m4",
        "s1",
        "u1",
        "f4e2m1fn",
        "f8e8m0fnu",
    ];
    usize::try_from(number).ok().and_then(|number| NAMES.get(number)).unwrap_or(&"?")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_or_not_the_numbers_are_the_same() {
        let packed = [0x10, 11, 0x1a, 2, 8, 4];
        let loose = [0x10, 11, 0x18, 8, 0x18, 4, 0xba, 0x3e, 1, 0];
        let shape = Shape::decode(&packed[..]).unwrap();
        assert_eq!(shape, Shape::decode(&loose[..]).unwrap());
        assert_eq!(shape.text(), "f32[8,4]");
    }

    #[test]
    fn tuples_are_indexed_and_written() {
        let scalar = Shape { element_type: 4, ..Shape::default() };
        let pair = Shape {
            element_type: TUPLE,
            tuple_shapes: vec![scalar.clone(), Shape { element_type: 33, dimensions: vec![2], ..Shape::default() }],
            ..Shape::default()
        };
        assert_eq!(pair.text(), "(s32[], f8e8m0fnu[2])");
        assert_eq!((pair.at(&[0]), pair.at(&[2]), pair.at(&[-1]), pair.at(&[0, 0])), (Some(&scalar), None, None, None));
    }
}
