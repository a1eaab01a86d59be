//! What XLA plans to need for a module, from the buffer assignment in its HloProto, in memory space 0 (the device's own).
//!
//! `needed = parameters + non-aliased outputs + constants + temp`; what threads of a CPU have of their own is listed apart. Donated
//! parameters are those whose memory an output takes.

use super::heap::Replay;
use super::hlo::{BufferAllocation, BufferAssignment, HloModule, HloProto, Layout, Shape, TUPLE};
use super::place;
use super::roles::{Defined, Instructions, Place, Role, is_user_remat, is_xla_remat, user_place};
use crate::units::MOST_BYTES;
use prost::Message;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The memory plan of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// `jit_train_step(47)`.
    pub name: String,
    /// The number behind the name.
    pub program_id: Option<i64>,
    /// What it is called with.
    pub parameters: Parameters,
    /// Outputs with memory of their own, tuple tables included.
    pub non_aliased_outputs_bytes: i64,
    /// See the name.
    pub constants_bytes: i64,
    /// Not part of what is needed.
    pub thread_local_bytes: i64,
    /// What lives only while it runs.
    pub temp_bytes: i64,
    /// Other memory spaces and what is planned in them (5: the host's).
    pub other_spaces: Vec<(i64, i64)>,
    /// Instructions that XLA computes again to save memory.
    pub xla_rematerialized: u64,
    /// Whether JAX took a gradient in it.
    pub has_gradient: bool,
    /// What donating more parameters could save: those that match an output of type, dimensions and layout.
    pub donatable_bytes: i64,
    /// The sizes of the outputs with memory of their own, the largest first.
    pub output_bytes: Vec<i64>,
    /// The simulation of its temporary memory; `None` without one.
    pub heap: Option<HeapPeak>,
}

/// What a module is called with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// All of them.
    pub bytes: i64,
    /// How many arrays.
    pub count: u64,
    /// Whose memory an output takes.
    pub donated_bytes: i64,
    /// How many arrays.
    pub donated_count: u64,
    /// As the module's own table of aliases counts them.
    pub aliased_count: u64,
    /// Given away by the caller for any use.
    pub donor_count: u64,
}

/// The instant of the schedule at which most is held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapPeak {
    /// By the replay: temporaries alone.
    pub replay_bytes: i64,
    /// By role, in the order of [`Role::ALL`].
    pub roles: [i64; 4],
    /// Equal buffers together, the largest first.
    pub buffers: Vec<PeakBuffers>,
    /// Held over the schedule, one series a trace, and after which event most is.
    pub curves: Vec<Curve>,
    /// Buffers with two equal trailing dimensions.
    pub square: Square,
}

/// What is held over the schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// After each event.
    pub held_bytes: Vec<i64>,
    /// Where that is most.
    #[serde(default, deserialize_with = "place::maybe")]
    pub peak: Option<usize>,
}

impl Curve {
    /// The most that is held.
    pub fn peak_bytes(&self) -> i64 {
        self.peak.map_or(0, |peak| self.held_bytes[peak])
    }

    /// The least and the most that is held in each of so many equal parts of the schedule.
    pub fn extremes(&self, columns: usize) -> (Vec<i64>, Vec<i64>) {
        let events = self.held_bytes.len();
        let part = |column: usize| {
            let first = column * events / columns;
            let last = ((column + 1) * events / columns).max(first + 1).min(events);
            let held = self.held_bytes.get(first..last).unwrap_or_default().iter().copied();
            (held.clone().min().unwrap_or(0), held.max().unwrap_or(0))
        };
        (0..columns).map(part).unzip()
    }
}

/// What attention's scores may be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Square {
    /// All of them.
    pub bytes: i64,
    /// How many.
    pub count: u64,
}

/// Equal buffers that live at the peak: of one shape, role and line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeakBuffers {
    /// The instruction that defines the largest.
    pub name: String,
    /// `f32[8,1024]`.
    pub shape: String,
    /// All of them.
    pub bytes: i64,
    /// How many.
    pub count: u64,
    /// What they are for.
    pub role: Role,
    /// Through which loop or instruction that is known.
    pub via: Option<String>,
    /// JAX's scopes.
    pub op_name: String,
    /// The user's line.
    pub place: Option<Place>,
    /// From the line that asked to the outermost frame.
    pub stack: Vec<Place>,
    /// The user asked for it to be computed again.
    pub user_remat: bool,
    /// Two equal trailing dimensions.
    pub is_square: bool,
}

/// Whether a machine can have so much, all buffers together, those that share memory counted each: a damaged file holds any number.
fn is_plausible(assignment: &BufferAssignment) -> bool {
    let allocations = assignment.buffer_allocations.iter().map(|allocation| allocation.size);
    let mut sizes = allocations.chain(assignment.logical_buffers.iter().map(|buffer| buffer.size));
    sizes.try_fold(0i64, |sum, size| (0..=MOST_BYTES).contains(&size).then(|| sum.saturating_add(size))).is_some_and(|sum| sum <= MOST_BYTES)
}

impl Plan {
    /// Reads the plan of a module. `name` is the one the capture gives it.
    pub fn read(name: &str, program_id: Option<i64>, proto: &[u8]) -> Result<Plan, String> {
        let HloProto { hlo_module, buffer_assignment } = HloProto::decode(proto).map_err(|error| error.to_string())?;
        let (module, assignment) = (hlo_module.unwrap_or_default(), buffer_assignment.unwrap_or_default());
        if !is_plausible(&assignment) {
            return Err("its buffers are larger than any device".to_owned());
        }
        let instructions = Instructions::of(&module, &assignment);
        let mut plan = Plan { program_id: program_id.or_else(|| number_behind(name)), name: name.to_owned(), ..Plan::default() };
        plan.sum(&assignment);
        plan.look_at_instructions(&module);
        plan.donatable_bytes = donatable(&module, &assignment, &instructions);
        plan.heap = heap_peak(&assignment, &instructions);
        Ok(plan)
    }

    /// What the device must have room for.
    pub fn needed_bytes(&self) -> i64 {
        [self.parameters.bytes, self.non_aliased_outputs_bytes, self.constants_bytes, self.temp_bytes].into_iter().fold(0, i64::saturating_add)
    }

    /// What is held at the peak of the schedule: with what is not temporary.
    pub fn heap_peak_bytes(&self) -> Option<i64> {
        let heap = self.heap.as_ref()?;
        Some(self.needed_bytes().saturating_sub(self.temp_bytes).saturating_add(heap.replay_bytes))
    }

    /// The name without the program's number.
    pub fn bare_name(&self) -> &str {
        bare_name(&self.name)
    }

    fn sum(&mut self, assignment: &BufferAssignment) {
        let mut spaces: BTreeMap<i64, i64> = BTreeMap::new();
        let add = |sum: &mut i64, bytes: i64| *sum = sum.saturating_add(bytes);
        for allocation in &assignment.buffer_allocations {
            let bytes = allocation.size.max(0);
            match Kind::of(allocation) {
                Kind::OtherSpace => add(spaces.entry(allocation.color).or_default(), bytes),
                Kind::Parameter { donated } => {
                    add(&mut self.parameters.bytes, bytes);
                    self.parameters.count += 1;
                    if donated {
                        add(&mut self.parameters.donated_bytes, bytes);
                        self.parameters.donated_count += 1;
                    }
                }
                Kind::ThreadLocal => add(&mut self.thread_local_bytes, bytes),
                Kind::Output => {
                    add(&mut self.non_aliased_outputs_bytes, bytes);
                    self.output_bytes.push(bytes);
                }
                Kind::Constant => add(&mut self.constants_bytes, bytes),
                Kind::Temp => add(&mut self.temp_bytes, bytes),
            }
        }
        self.output_bytes.sort_unstable_by(|a, b| b.cmp(a));
        self.other_spaces = spaces.into_iter().collect();
    }

    fn look_at_instructions(&mut self, module: &HloModule) {
        let contains = |text: &[u8], part: &str| memchr::memmem::find(text, part.as_bytes()).is_some();
        for instruction in module.computations.iter().flat_map(|computation| &computation.instructions) {
            self.xla_rematerialized += u64::from(is_xla_remat(&String::from_utf8_lossy(&instruction.name)));
            let scopes = instruction.metadata.as_ref().map_or(&[][..], |metadata| &metadata.op_name);
            self.has_gradient |= contains(scopes, "jvp(") || contains(scopes, "transpose(");
        }
        self.parameters.aliased_count = module.input_output_alias.as_ref().map_or(0, |alias| alias.entries.len() as u64);
        self.parameters.donor_count = module.buffer_donor.as_ref().map_or(0, |donor| donor.entries.len() as u64);
    }
}

/// `jit_f(47)` without its number.
pub fn bare_name(name: &str) -> &str {
    if number_behind(name).is_some() { name.rsplit_once('(').map_or(name, |(bare, _)| bare) } else { name }
}

fn number_behind(name: &str) -> Option<i64> {
    name.strip_suffix(')')?.rsplit_once('(')?.1.parse().ok()
}

/// What an allocation is for. Exclusive, so that the sums are.
enum Kind {
    OtherSpace,
    Parameter { donated: bool },
    ThreadLocal,
    Output,
    Constant,
    Temp,
}

impl Kind {
    fn of(allocation: &BufferAllocation) -> Kind {
        if allocation.color != 0 {
            Kind::OtherSpace
        } else if allocation.is_entry_computation_parameter {
            Kind::Parameter { donated: allocation.maybe_live_out || allocation.is_parameter_aliased_with_output }
        } else if allocation.is_thread_local {
            Kind::ThreadLocal
        } else if allocation.maybe_live_out {
            Kind::Output
        } else if allocation.is_constant {
            Kind::Constant
        } else {
            Kind::Temp
        }
    }
}

/// What makes two arrays exchangeable.
#[derive(PartialEq, Eq, Hash)]
struct Form<'a> {
    element_type: i64,
    dimensions: &'a [i64],
    layout: Option<Layout>,
}

impl Form<'_> {
    fn of(shape: &Shape) -> Option<Form<'_>> {
        let layout = shape.layout.clone().map(|layout| Layout { memory_space: 0, ..layout });
        (shape.element_type != TUPLE).then_some(Form { element_type: shape.element_type, dimensions: &shape.dimensions, layout })
    }
}

/// Parameters that are not donated, matched one to one with outputs that have memory of their own.
fn donatable(module: &HloModule, assignment: &BufferAssignment, instructions: &Instructions) -> i64 {
    let entry = module.computations.iter().find(|computation| computation.id == module.entry_computation_id);
    let parameters: HashMap<i64, &Shape> = entry
        .iter()
        .flat_map(|entry| &entry.instructions)
        .filter(|instruction| &instruction.opcode[..] == b"parameter")
        .filter_map(|instruction| Some((instruction.parameter_number, instruction.shape.as_ref()?)))
        .collect();
    let mut free: HashMap<Form, u64> = HashMap::new();
    for allocation in &assignment.buffer_allocations {
        if let Kind::Parameter { donated: false } = Kind::of(allocation)
            && let Some(form) = parameters.get(&allocation.parameter_number).and_then(|shape| shape.at(&allocation.parameter_shape_index)).and_then(Form::of)
        {
            *free.entry(form).or_default() += 1;
        }
    }
    let mut bytes: i64 = 0;
    for allocation in assignment.buffer_allocations.iter().filter(|allocation| matches!(Kind::of(allocation), Kind::Output) && !allocation.is_tuple) {
        let whole = allocation.assigned.iter().filter(|assigned| assigned.size == allocation.size);
        let forms = whole.filter_map(|assigned| Form::of(instructions.shape(assigned.logical_buffer_id)?));
        for form in forms {
            if let Some(count) = free.get_mut(&form).filter(|count| **count > 0) {
                *count -= 1;
                bytes = bytes.saturating_add(allocation.size);
                break;
            }
        }
    }
    bytes
}

/// Replays every trace of a temporary allocation; `None` when there is none.
fn heap_peak(assignment: &BufferAssignment, instructions: &Instructions) -> Option<HeapPeak> {
    // The trace's own number of its allocation is not to be trusted: the buffer of its first event tells.
    let mut holds: HashMap<i64, &BufferAllocation> = HashMap::new();
    for allocation in &assignment.buffer_allocations {
        holds.extend(allocation.assigned.iter().map(|assigned| (assigned.logical_buffer_id, allocation)));
    }
    let is_temp = |buffer: i64| match holds.get(&buffer) {
        Some(allocation) => matches!(Kind::of(allocation), Kind::Temp),
        None => instructions.buffer(buffer).is_none_or(|buffer| buffer.color == 0),
    };
    let size = |buffer: i64| instructions.buffer(buffer).map_or(0, |buffer| buffer.size.max(0));
    let mut peak = HeapPeak::default();
    let mut folded = Folded::default();
    for trace in &assignment.heap_simulator_traces {
        if !trace.events.first().is_some_and(|first| is_temp(first.buffer_id)) {
            continue;
        }
        let replay = Replay::of(trace, size);
        peak.replay_bytes = peak.replay_bytes.saturating_add(replay.peak_bytes());
        for live in &replay.live {
            let told = instructions.role(live);
            let bytes = size(live.canonical);
            let sum = &mut peak.roles[told.role as usize];
            *sum = sum.saturating_add(bytes);
            let defined = instructions.defined(live.shown, told.through.as_ref());
            folded.add(defined, bytes, told.role, told.through.map(|through| through.via));
        }
        peak.curves.push(Curve { held_bytes: replay.held_bytes, peak: replay.peak });
    }
    peak.buffers = folded.finish();
    for buffers in peak.buffers.iter().filter(|buffers| buffers.is_square) {
        peak.square.bytes = peak.square.bytes.saturating_add(buffers.bytes);
        peak.square.count += buffers.count;
    }
    (!peak.curves.is_empty()).then_some(peak)
}

/// What makes buffers equal.
#[derive(PartialEq, Eq, Hash)]
struct Alike {
    shape: String,
    role: Role,
    via: Option<String>,
    op_name: String,
    line: Option<(String, i64)>,
}

/// Equal buffers together.
#[derive(Default)]
struct Folded {
    rows: Vec<PeakBuffers>,
    largest: Vec<i64>,
    row_of: HashMap<Alike, usize>,
}

impl Folded {
    fn add(&mut self, defined: Defined, bytes: i64, role: Role, via: Option<String>) {
        let place = user_place(&defined.stack).cloned();
        let line = place.as_ref().map(|place| (place.file.clone(), place.line));
        let key = Alike { shape: defined.shape.clone(), role, via: via.clone(), op_name: defined.op_name.clone(), line };
        if let Some(&at) = self.row_of.get(&key) {
            let row = &mut self.rows[at];
            row.bytes = row.bytes.saturating_add(bytes);
            row.count += 1;
            if bytes > self.largest[at] {
                self.largest[at] = bytes;
                row.name = defined.name;
            }
            return;
        }
        self.row_of.insert(key, self.rows.len());
        self.largest.push(bytes);
        self.rows.push(PeakBuffers {
            user_remat: is_user_remat(&defined.op_name),
            name: defined.name,
            shape: defined.shape,
            bytes,
            count: 1,
            role,
            via,
            op_name: defined.op_name,
            place,
            stack: defined.stack,
            is_square: defined.is_square,
        });
    }

    fn finish(mut self) -> Vec<PeakBuffers> {
        self.rows.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (&a.name, &a.shape, &a.op_name).cmp(&(&b.name, &b.shape, &b.op_name))));
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::super::hlo::{Assigned, Computation, HeapEvent, HeapTrace, Instruction, Location, LogicalBuffer};
    use super::*;

    #[test]
    fn no_extreme_of_the_heap_is_lost() {
        let held_bytes: Vec<i64> = (0..1000).map(|event| if event == 617 { 9 } else { event % 3 }).collect();
        let curve = Curve { held_bytes, peak: Some(617) };
        for columns in [1, 7, 999, 1000, 4000] {
            let (min, max) = curve.extremes(columns);
            assert_eq!((min.len(), max.len()), (columns, columns));
            assert_eq!((min.iter().min(), max.iter().max()), (Some(&0), Some(&curve.peak_bytes())), "{columns}");
        }
        assert_eq!(Curve::default().extremes(2), (vec![0, 0], vec![0, 0]));
    }

    fn allocation(size: i64, set: impl FnOnce(&mut BufferAllocation)) -> BufferAllocation {
        let mut allocation = BufferAllocation { size, ..BufferAllocation::default() };
        set(&mut allocation);
        allocation
    }

    /// One parameter of 64 B that is not donated, an output of its form, one of another, a temporary of two buffers.
    fn proto() -> HloProto {
        let array = |dimensions: &[i64]| Some(Shape { element_type: 11, dimensions: dimensions.to_vec(), ..Shape::default() });
        let instruction = |id: i64, opcode: &str, dimensions: &[i64]| Instruction {
            id,
            name: format!("{opcode}.{id}").into(),
            opcode: opcode.into(),
            shape: array(dimensions),
            ..Instruction::default()
        };
        let instructions =
            vec![instruction(1, "parameter", &[16]), instruction(2, "add", &[16]), instruction(3, "dot", &[4, 4]), instruction(4, "fusion", &[2, 8, 8])];
        let buffer = |id: i64, size: i64| LogicalBuffer { id, size, defined_at: Some(Location { instruction_id: id, ..Location::default() }), color: 0 };
        let assigned = |buffer: i64, size: i64| Assigned { logical_buffer_id: buffer, size };
        HloProto {
            hlo_module: Some(HloModule { computations: vec![Computation { instructions, id: 9 }], entry_computation_id: 9, ..HloModule::default() }),
            buffer_assignment: Some(BufferAssignment {
                logical_buffers: vec![buffer(1, 64), buffer(2, 64), buffer(3, 64), buffer(4, 512)],
                buffer_allocations: vec![
                    allocation(64, |a| a.is_entry_computation_parameter = true),
                    allocation(64, |a| (a.maybe_live_out, a.assigned) = (true, vec![assigned(2, 64)])),
                    allocation(64, |a| (a.maybe_live_out, a.assigned) = (true, vec![assigned(3, 64)])),
                    allocation(16, |a| (a.maybe_live_out, a.is_tuple) = (true, true)),
                    allocation(600, |a| a.assigned = vec![assigned(4, 512)]),
                    allocation(4, |a| a.is_constant = true),
                    allocation(12, |a| a.is_thread_local = true),
                    allocation(1000, |a| a.color = 5),
                ],
                heap_simulator_traces: vec![HeapTrace { events: vec![HeapEvent { kind: 0, buffer_id: 4, share_with_canonical_id: 0 }] }],
                ..BufferAssignment::default()
            }),
        }
    }

    #[test]
    fn what_is_needed_and_what_could_be_donated() {
        let plan = Plan::read("jit_f(7)", None, &proto().encode_to_vec()).unwrap();
        assert_eq!((plan.program_id, plan.bare_name()), (Some(7), "jit_f"));
        assert_eq!((plan.parameters.bytes, plan.non_aliased_outputs_bytes, plan.constants_bytes, plan.thread_local_bytes), (64, 144, 4, 12));
        assert_eq!((plan.temp_bytes, plan.needed_bytes(), &plan.other_spaces[..]), (600, 812, &[(5, 1000)][..]));
        assert_eq!((plan.donatable_bytes, &plan.output_bytes[..]), (64, &[64, 64, 16][..]));
        let heap = plan.heap.as_ref().unwrap();
        assert_eq!((heap.replay_bytes, heap.roles, plan.heap_peak_bytes()), (512, [0, 0, 0, 512], Some(724)));
        assert_eq!((heap.square.bytes, heap.square.count, &heap.buffers[0].shape[..]), (512, 1, "f32[2,8,8]"));
    }

    #[test]
    fn an_empty_module_is_a_plan_of_nothing() {
        let plan = Plan::read("x", None, &[]).unwrap();
        assert_eq!((plan.needed_bytes(), plan.heap.is_none(), plan.program_id), (0, true, None));
        assert!(Plan::read("x", None, &[0x0b]).is_err());
        let mut huge = proto();
        huge.buffer_assignment.as_mut().unwrap().buffer_allocations[0].size = i64::MAX;
        assert!(Plan::read("x", None, &huge.encode_to_vec()).unwrap_err().contains("larger than any device"));
    }
}
