//! Which device something is about.

use super::allocator::device_of_allocator;
use crate::xplane::events::Events;
use crate::xplane::names::Names;
use crate::xplane::space::PlaneKind;
use crate::xplane::sweep::{Record, Sweep};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Which devices there are, and what a thread is about.
pub(super) struct Devices<'a> {
    texts: &'a [String],
    pub(super) gpus: Vec<i64>,
    /// Where there is one alone.
    pub(super) only: Option<i64>,
    /// Threads whose executions are all on one device.
    of_line: FxHashMap<usize, Option<i64>>,
}

impl<'a> Devices<'a> {
    pub(super) fn of(events: &'a Events, names: &Names, sweep: &Sweep) -> Devices<'a> {
        let gpus: Vec<i64> = names.planes.iter().filter_map(|plane| if let PlaneKind::Gpu(device) = plane.kind() { Some(device) } else { None }).collect();
        let allocators: BTreeSet<u32> = sweep.points.iter().map(|point| point.memory.allocator).collect();
        let of_allocators = allocators.into_iter().filter_map(|allocator| device_of_allocator(&events.texts[allocator as usize]));
        let all: Vec<i64> = gpus.iter().copied().chain(of_allocators).collect::<BTreeSet<i64>>().into_iter().collect();
        let mut devices = Devices { texts: &events.texts, gpus, only: if let [only] = all[..] { Some(only) } else { None }, of_line: FxHashMap::default() };
        for record in &sweep.records {
            let Some(device) = devices.told(record) else { continue };
            let known = devices.of_line.entry(record.line).or_insert(Some(device));
            if *known != Some(device) {
                *known = None;
            }
        }
        devices
    }

    pub(super) fn of_allocator(&self, allocator: Option<u32>) -> Option<i64> {
        device_of_allocator(self.texts.get(allocator? as usize)?)
    }

    /// What the events in an execution tell.
    pub(super) fn told(&self, record: &Record) -> Option<i64> {
        record.device.or_else(|| self.of_allocator(record.allocator))
    }

    pub(super) fn of_record(&self, record: &Record) -> Option<i64> {
        self.told(record).or_else(|| self.of_line.get(&record.line).copied().flatten()).or(self.only)
    }
}
