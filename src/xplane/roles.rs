//! What a temporary buffer is for: kept by the forward pass for the backward pass, the backward pass's own, a library's scratch, or
//! something else; and which line of Python asked for it.
//!
//! JAX writes its scopes into op_name: `jvp(` for the forward half of a gradient, `transpose(` for the backward half. A buffer that a loop
//! fills (a scan's stacked residuals) is defined outside these scopes; the instructions that share its memory carry them.

use super::heap::Live;
use super::hlo::{BYTE_TYPES, BufferAssignment, HloModule, Instruction, Location, LogicalBuffer, OpMetadata, Shape, StackFrameIndex};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    /// Kept by the forward pass for the backward pass.
    Forward,
    /// The backward pass's own: gradients and what they are made of.
    Backward,
    /// Scratch of a library call.
    Workspace,
    /// None of these.
    Other,
}

impl Role {
    /// In the report's order.
    pub const ALL: [Role; 4] = [Role::Forward, Role::Backward, Role::Workspace, Role::Other];

    /// As in the report.
    pub fn name(self) -> &'static str {
        match self {
            Role::Forward => "forward",
            Role::Backward => "backward",
            Role::Workspace => "workspace",
            Role::Other => "other",
        }
    }

    fn of_scope(op_name: &str) -> Option<Role> {
        if op_name.contains("transpose(") {
            Some(Role::Backward)
        } else if op_name.contains("jvp(") {
            Some(Role::Forward)
        } else {
            None
        }
    }
}

/// Whether the user asked for this to be computed again (`jax.checkpoint`).
pub fn is_user_remat(op_name: &str) -> bool {
    op_name.contains("checkpoint") || op_name.contains("rematted_computation")
}

/// Whether XLA made an instruction by rematerializing another: its **name** ends in `.remat`, digits, and perhaps a number of its own.
///
/// ```
/// use oomscope::xplane::roles::is_xla_remat;
/// assert!(is_xla_remat("fusion.12.remat2.1") && is_xla_remat("broadcast.remat"));
/// assert!(!is_xla_remat("fusion.12") && !is_xla_remat("rematted_computation.3"));
/// ```
pub fn is_xla_remat(name: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((_, after)) = name.rsplit_once(".remat") else { return false };
    match after.split_once('.') {
        None => is_number(after),
        Some((digits, number)) => is_number(digits) && !number.is_empty() && is_number(number),
    }
}

/// What a live buffer is for, and how that is known.
pub struct Told<'a> {
    /// What for.
    pub role: Role,
    /// Where its own instruction does not tell.
    pub through: Option<Through<'a>>,
}

/// How the role of a buffer is known through those that share its memory.
pub struct Through<'a> {
    /// The loop that fills it, else the instruction.
    pub via: String,
    /// The instruction whose scope tells.
    by: &'a Instruction,
}

/// A line of Python.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// As it was recorded.
    pub file: String,
    /// From 1; 0 where it is unknown.
    pub line: i64,
    /// The function it is in.
    pub function: String,
}

/// What is known of the instruction that defines a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    /// `fusion.12`.
    pub name: String,
    /// `f32[8,1024]`.
    pub shape: String,
    /// Its last two dimensions are equal, as those of attention's scores are.
    pub is_square: bool,
    /// JAX's scopes.
    pub op_name: String,
    /// From the line that asked to the outermost frame.
    pub stack: Vec<Place>,
}

/// The instructions of a module, by what the buffers name.
pub struct Instructions<'a> {
    by_id: HashMap<i64, &'a Instruction>,
    by_name: HashMap<&'a [u8], &'a Instruction>,
    buffers: HashMap<i64, &'a LogicalBuffer>,
    aliases: HashMap<i64, Vec<&'a Location>>,
    frames: Option<&'a StackFrameIndex>,
}

impl<'a> Instructions<'a> {
    /// Indexes a module.
    pub fn of(module: &'a HloModule, assignment: &'a BufferAssignment) -> Instructions<'a> {
        let all = || module.computations.iter().flat_map(|computation| &computation.instructions);
        let mut aliases: HashMap<i64, Vec<&Location>> = HashMap::new();
        for alias in &assignment.buffer_aliases {
            if let Some(location) = &alias.location {
                aliases.entry(alias.source_buffer_id).or_default().push(location);
            }
        }
        Instructions {
            by_id: all().filter(|instruction| instruction.id != 0).map(|instruction| (instruction.id, instruction)).collect(),
            by_name: all().map(|instruction| (&instruction.name[..], instruction)).collect(),
            buffers: assignment.logical_buffers.iter().map(|buffer| (buffer.id, buffer)).collect(),
            aliases,
            frames: module.stack_frame_index.as_ref(),
        }
    }

    /// A buffer by its id.
    pub fn buffer(&self, id: i64) -> Option<&'a LogicalBuffer> {
        self.buffers.get(&id).copied()
    }

    /// The instruction at a location: by id, since names may be empty.
    fn at(&self, location: &Location) -> Option<&'a Instruction> {
        let by_name = || self.by_name.get(&location.instruction_name[..]).copied();
        if location.instruction_id == 0 { by_name() } else { self.by_id.get(&location.instruction_id).copied().or_else(by_name) }
    }

    fn definer(&self, buffer: i64) -> Option<&'a Instruction> {
        self.at(self.buffer(buffer)?.defined_at.as_ref()?)
    }

    /// The shape of a buffer.
    pub fn shape(&self, buffer: i64) -> Option<&'a Shape> {
        let location = self.buffer(buffer)?.defined_at.as_ref()?;
        self.at(location)?.shape.as_ref()?.at(&location.shape_index)
    }

    /// What a live buffer is for.
    pub fn role(&self, live: &Live) -> Told<'a> {
        let definer = self.definer(live.shown);
        if definer.is_some_and(|definer| &definer.opcode[..] == b"custom-call")
            && self.shape(live.shown).is_some_and(|shape| BYTE_TYPES.contains(&shape.element_type))
        {
            return Told { role: Role::Workspace, through: None };
        }
        if let Some(role) = definer.and_then(|definer| Role::of_scope(&op_name(definer))) {
            return Told { role, through: None };
        }
        let sharing = self.sharing(live);
        let of_role = |role| sharing.iter().find(|instruction| Role::of_scope(&op_name(instruction)) == Some(role));
        let found = of_role(Role::Forward).map(|by| (Role::Forward, by)).or_else(|| of_role(Role::Backward).map(|by| (Role::Backward, by)));
        let Some((role, &by)) = found else { return Told { role: Role::Other, through: None } };
        let via = sharing.iter().find(|instruction| &instruction.opcode[..] == b"while").map_or(by, |instruction| instruction);
        Told { role, through: Some(Through { via: lossy(&via.name).into_owned(), by }) }
    }

    /// The instructions that write the memory of a live buffer, the nearest first.
    fn sharing(&self, live: &Live) -> Vec<&'a Instruction> {
        let buffers: Vec<i64> = [live.shown, live.canonical].into_iter().chain(live.sharers.iter().copied()).collect();
        let definers = buffers.iter().filter_map(|&buffer| self.definer(buffer));
        let locations = buffers.iter().filter_map(|buffer| self.aliases.get(buffer)).flatten().filter_map(|location| self.at(location));
        definers.chain(locations).collect()
    }

    /// What is known of the instruction that defines a buffer. Where it has no line (a loop's storage), that of the one that tells the role.
    pub fn defined(&self, buffer: i64, through: Option<&Through>) -> Defined {
        let shape = self.shape(buffer);
        let definer = self.definer(buffer);
        let metadata = definer.and_then(|definer| definer.metadata.as_ref());
        Defined {
            name: definer.map_or_else(String::new, |definer| lossy(&definer.name).into_owned()),
            shape: shape.map_or_else(String::new, Shape::text),
            is_square: shape.is_some_and(is_square),
            op_name: definer.map_or_else(String::new, |definer| op_name(definer).into_owned()),
            stack: metadata
                .into_iter()
                .chain(through.and_then(|through| through.by.metadata.as_ref()))
                .map(|metadata| self.stack(metadata))
                .find(|stack| !stack.is_empty())
                .unwrap_or_default(),
        }
    }

    fn stack(&self, metadata: &OpMetadata) -> Vec<Place> {
        // A damaged index may go round in a circle.
        const DEEPEST: usize = 256;
        let mut stack = Vec::new();
        let mut next = metadata.stack_frame_id;
        while let Some((place, parent)) = self.frames.and_then(|index| frame(index, next)) {
            stack.push(place);
            next = parent;
            if stack.len() == DEEPEST {
                break;
            }
        }
        if stack.is_empty() && !metadata.source_file.is_empty() {
            stack.push(Place { file: lossy(&metadata.source_file).into_owned(), line: metadata.source_line, function: String::new() });
        }
        stack
    }
}

/// The first frame that is neither a library's nor JAX's own; the innermost where all are.
pub fn user_place(stack: &[Place]) -> Option<&Place> {
    stack.iter().find(|place| is_user_file(&place.file)).or(stack.first())
}

fn is_user_file(file: &str) -> bool {
    const LIBRARIES: [&str; 5] = ["/site-packages/", "/dist-packages/", "/jax/_src/", "/jax/experimental/", "/jaxlib/"];
    let file = file.replace('\\', "/");
    !file.starts_with('<') && !LIBRARIES.iter().any(|library| file.contains(library))
}

fn frame(index: &StackFrameIndex, id: i64) -> Option<(Place, i64)> {
    fn item<T>(list: &[T], id: i64) -> Option<&T> {
        list.get(usize::try_from(id.checked_sub(1)?).ok()?)
    }
    let frame = item(&index.stack_frames, id)?;
    let location = item(&index.file_locations, frame.file_location_id)?;
    let name = |names: &[Vec<u8>], id| item(names, id).map_or_else(String::new, |name| lossy(name).into_owned());
    let file = name(&index.file_names, location.file_name_id);
    Some((Place { file, line: location.line, function: name(&index.function_names, location.function_name_id) }, frame.parent_frame_id))
}

/// Attention's scores are `[batch, heads, sequence, sequence]`, or have the first two as one.
fn is_square(shape: &Shape) -> bool {
    const AT_LEAST_DIMENSIONS: usize = 3;
    matches!(shape.dimensions[..], [.., a, b] if a == b && a > 1) && shape.dimensions.len() >= AT_LEAST_DIMENSIONS
}

fn op_name(instruction: &Instruction) -> Cow<'_, str> {
    instruction.metadata.as_ref().map_or(Cow::Borrowed(""), |metadata| lossy(&metadata.op_name))
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::hlo::{BufferAlias, Computation, FileLocation, StackFrame};
    use super::*;

    fn instruction(id: i64, name: &str, opcode: &str, op_name: &str) -> Instruction {
        Instruction {
            id,
            name: name.into(),
            opcode: opcode.into(),
            shape: Some(Shape { element_type: 6, dimensions: vec![4, 4], ..Shape::default() }),
            metadata: Some(OpMetadata { op_name: op_name.into(), stack_frame_id: 2, ..OpMetadata::default() }),
            ..Instruction::default()
        }
    }

    fn module() -> (HloModule, BufferAssignment) {
        let instructions = vec![
            instruction(1, "broadcast.1", "broadcast", "jit(f)"),
            instruction(2, "while.2", "while", "jit(f)/while"),
            instruction(3, "dus.3", "dynamic-update-slice", "jit(f)/jvp()/while/body"),
            instruction(4, "fusion.4", "fusion", "jit(f)/transpose(jvp())/dot"),
            instruction(5, "cudnn.5", "custom-call", "jit(f)/jvp()/conv"),
        ];
        let index = StackFrameIndex {
            file_names: vec![b"/x/site-packages/flax/nn.py".to_vec(), b"/home/me/jax/train.py".to_vec()],
            function_names: vec![b"dense".to_vec(), b"step".to_vec()],
            file_locations: vec![
                FileLocation { file_name_id: 2, function_name_id: 2, line: 41 },
                FileLocation { file_name_id: 1, function_name_id: 1, line: 7 },
            ],
            stack_frames: vec![StackFrame { file_location_id: 1, parent_frame_id: 0 }, StackFrame { file_location_id: 2, parent_frame_id: 1 }],
        };
        let module = HloModule { computations: vec![Computation { instructions, id: 1 }], stack_frame_index: Some(index), ..HloModule::default() };
        let buffer = |id: i64| LogicalBuffer { id: id * 10, size: 1, defined_at: Some(Location { instruction_id: id, ..Location::default() }), color: 0 };
        let alias = BufferAlias { source_buffer_id: 20, location: Some(Location { instruction_name: b"dus.3".to_vec(), ..Location::default() }) };
        (module, BufferAssignment { logical_buffers: (1..=5).map(buffer).collect(), buffer_aliases: vec![alias], ..BufferAssignment::default() })
    }

    fn role(shown: i64, canonical: i64, sharers: &[i64]) -> (Role, Option<String>) {
        let (module, assignment) = module();
        let told = Instructions::of(&module, &assignment).role(&Live { canonical, shown, sharers: sharers.to_vec() });
        (told.role, told.through.map(|through| through.via))
    }

    #[test]
    fn a_scope_tells_and_a_loop_is_named() {
        assert_eq!(role(40, 40, &[]), (Role::Backward, None));
        assert_eq!(role(50, 50, &[]), (Role::Workspace, None));
        assert_eq!(role(10, 10, &[]), (Role::Other, None));
        assert_eq!(role(10, 10, &[20]), (Role::Forward, Some("while.2".to_owned())));
        assert_eq!(role(10, 40, &[]), (Role::Backward, Some("fusion.4".to_owned())));
    }

    #[test]
    fn the_users_line_is_found_behind_a_library() {
        let (module, assignment) = module();
        let defined = Instructions::of(&module, &assignment).defined(40, None);
        assert_eq!((&defined.name[..], &defined.shape[..], defined.stack.len()), ("fusion.4", "u8[4,4]", 2));
        let place = user_place(&defined.stack).unwrap();
        assert_eq!((&place.file[..], place.line, &place.function[..]), ("/home/me/jax/train.py", 41, "step"));
    }

    #[test]
    fn a_circle_of_frames_ends() {
        let (mut module, assignment) = module();
        module.stack_frame_index.as_mut().unwrap().stack_frames[0].parent_frame_id = 2;
        assert_eq!(Instructions::of(&module, &assignment).defined(40, None).stack.len(), 256);
    }
}
