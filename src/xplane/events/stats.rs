//! What the stats of an event say: what an allocator reports, and what links threads, modules and devices.

use crate::scan::wire::{Fault, fields};
use crate::timeline::blocks::Interner;
use crate::units::MOST_BYTES;
use crate::xplane::names::PlaneNames;
use crate::xplane::space::{Held, event, stat};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// What an allocator reports with an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// A number in [`super::Events::texts`].
    pub allocator: u32,
    /// Not managed by it, but counted.
    pub reserved_bytes: i64,
    /// In use after the event.
    pub allocated_bytes: i64,
    /// Free after the event.
    pub available_bytes: i64,
    /// 1 − largest free chunk / free.
    pub fragmentation: f64,
    /// The most it ever had in use.
    pub peak_bytes: i64,
    /// Asked for.
    pub requested_bytes: i64,
    /// Given: rounded up.
    pub bytes: i64,
    /// Where.
    pub address: i64,
}

impl Memory {
    /// Whether a machine can have so much: a damaged file holds any number.
    pub(super) fn is_plausible(&self) -> bool {
        let figures = [self.reserved_bytes, self.allocated_bytes, self.available_bytes, self.peak_bytes, self.bytes];
        figures.iter().all(|figure| (0..=MOST_BYTES).contains(figure))
    }
}

/// What else an event says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// `module_name`, a number in [`super::Events::texts`].
    pub module: Option<u32>,
    /// `program_id`.
    pub program_id: Option<i64>,
    /// `shape`, a number in [`super::Events::texts`].
    pub shape: Option<u32>,
    /// `(_pt, _p)`: what another thread goes on with.
    pub produces: Option<(i64, i64)>,
    /// `(_ct, _c)`: what it goes on with.
    pub consumes: Option<(i64, i64)>,
}

/// The launch of a kernel or graph that carries its module's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// When.
    pub start_ps: i64,
    /// A number in [`super::Events::texts`].
    pub module: u32,
    /// Of the module.
    pub program_id: Option<i64>,
    /// What the kernel on the device has too.
    pub correlation_id: i64,
}

/// The stats that are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    AllocatorName,
    BytesReserved,
    BytesAllocated,
    BytesAvailable,
    Fragmentation,
    PeakBytesInUse,
    RequestedBytes,
    AllocationBytes,
    Addr,
    ModuleName,
    HloModule,
    ProgramId,
    CorrelationId,
    Shape,
    ProducerType,
    ProducerId,
    ConsumerType,
    ConsumerId,
}

impl Key {
    fn of(name: &str) -> Option<Key> {
        Some(match name {
            "allocator_name" => Key::AllocatorName,
            "bytes_reserved" => Key::BytesReserved,
            "bytes_allocated" => Key::BytesAllocated,
            "bytes_available" => Key::BytesAvailable,
            "fragmentation" => Key::Fragmentation,
            "peak_bytes_in_use" => Key::PeakBytesInUse,
            "requested_bytes" => Key::RequestedBytes,
            "allocation_bytes" => Key::AllocationBytes,
            "addr" => Key::Addr,
            "module_name" => Key::ModuleName,
            "hlo_module" => Key::HloModule,
            "program_id" => Key::ProgramId,
            "correlation_id" => Key::CorrelationId,
            "shape" => Key::Shape,
            "_pt" => Key::ProducerType,
            "_p" => Key::ProducerId,
            "_ct" => Key::ConsumerType,
            "_c" => Key::ConsumerId,
            _ => return None,
        })
    }
}

/// Which of a plane's stats these are.
pub(crate) fn keys(names: &PlaneNames) -> FxHashMap<i64, Key> {
    names.stats.iter().filter_map(|(&id, name)| Some((id, Key::of(name)?))).collect()
}

/// The stats of one event.
#[derive(Default)]
pub(crate) struct Found {
    allocator: Option<u32>,
    /// But for its allocator.
    memory: Memory,
    hlo_module: Option<u32>,
    correlation_id: i64,
    note: Note,
    /// What it hands on, and what it goes on with: type and id of each.
    link: [Option<i64>; 4],
}

impl Found {
    pub(crate) fn of(message: &[u8], keys: &FxHashMap<i64, Key>, names: &HashMap<i64, String>, texts: &mut Interner) -> Result<Found, Fault> {
        let mut found = Found::default();
        for field in fields(message) {
            let (event::STATS, value) = field? else { continue };
            let (id, held) = stat(value.bytes())?;
            if let (Some(&key), Some(held)) = (keys.get(&id), held) {
                found.put(key, held, names, texts);
            }
        }
        Ok(found)
    }

    fn put(&mut self, key: Key, held: Held, names: &HashMap<i64, String>, texts: &mut Interner) {
        match key {
            Key::AllocatorName => self.allocator = Some(texts.number(&held.text(names))),
            Key::BytesReserved => self.memory.reserved_bytes = held.int(),
            Key::BytesAllocated => self.memory.allocated_bytes = held.int(),
            Key::BytesAvailable => self.memory.available_bytes = held.int(),
            Key::PeakBytesInUse => self.memory.peak_bytes = held.int(),
            Key::RequestedBytes => self.memory.requested_bytes = held.int(),
            Key::AllocationBytes => self.memory.bytes = held.int(),
            Key::Addr => self.memory.address = held.int(),
            Key::Fragmentation => self.memory.fragmentation = if let Held::Double(share) = held { share } else { 0.0 },
            Key::ModuleName => self.note.module = Some(texts.number(&held.text(names))),
            Key::HloModule => self.hlo_module = Some(texts.number(&held.text(names))),
            Key::ProgramId => self.note.program_id = Some(held.int()),
            Key::CorrelationId => self.correlation_id = held.int(),
            Key::Shape => self.note.shape = Some(texts.number(&held.text(names))),
            Key::ProducerType => self.link[0] = Some(held.int()),
            Key::ProducerId => self.link[1] = Some(held.int()),
            Key::ConsumerType => self.link[2] = Some(held.int()),
            Key::ConsumerId => self.link[3] = Some(held.int()),
        }
    }

    /// What an allocator reports.
    pub(super) fn memory(self) -> Option<Memory> {
        Some(Memory { allocator: self.allocator?, ..self.memory })
    }

    /// The launch of a kernel, where it carries its module's name.
    pub(super) fn launch(self, start_ps: i64) -> Option<Launch> {
        Some(Launch { start_ps, module: self.hlo_module?, program_id: self.note.program_id, correlation_id: self.correlation_id })
    }

    /// What else is said, if anything.
    pub(crate) fn note(self) -> Option<Note> {
        let [producer_type, producer, consumer_type, consumer] = self.link;
        let note = Note { produces: producer_type.zip(producer), consumes: consumer_type.zip(consumer), ..self.note };
        (note != Note::default()).then_some(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xplane::space::tests::{bytes, number};

    fn found(stats: &[(&str, Vec<u8>)]) -> Found {
        let names = stats.iter().enumerate().map(|(id, (name, _))| (id as i64, (*name).to_owned())).collect();
        let message: Vec<u8> = stats.iter().enumerate().flat_map(|(id, (_, held))| bytes(event::STATS, &[&number(1, id as i64), held])).collect();
        let plane = PlaneNames { stats: names, ..PlaneNames::default() };
        Found::of(&message, &keys(&plane), &plane.stats, &mut Interner::default()).unwrap()
    }

    #[test]
    fn a_link_is_a_type_and_an_id() {
        let note = found(&[("_pt", number(4, 5)), ("_p", number(4, 6)), ("_c", number(4, 7)), ("flow", number(4, 8))]).note();
        assert_eq!(note, Some(Note { produces: Some((5, 6)), ..Note::default() }));
        assert_eq!(found(&[("_c", number(4, 7)), ("flow", number(4, 8))]).note(), None);
    }

    #[test]
    fn without_an_allocator_nothing_is_reported_and_without_a_module_nothing_launched() {
        let bytes_only = found(&[("allocation_bytes", number(3, 64)), ("correlation_id", number(4, 9))]);
        assert!(bytes_only.memory().is_none());
        let stats = [("allocation_bytes", number(3, 64)), ("allocator_name", bytes(5, &[b"GPU_0_bfc"])), ("bytes_allocated", number(3, 80))];
        assert_eq!(found(&stats).memory(), Some(Memory { bytes: 64, allocated_bytes: 80, ..Memory::default() }));
        assert_eq!(found(&[("correlation_id", number(4, 9))]).launch(3), None);
        let launch = found(&[("correlation_id", number(4, 9)), ("hlo_module", bytes(5, &[b"jit_f"])), ("program_id", number(3, 42))]).launch(3);
        assert_eq!(launch, Some(Launch { start_ps: 3, module: 0, program_id: Some(42), correlation_id: 9 }));
    }
}
