//! Allocators and their events.
//!
//! `capacity = reserved + allocated + available`, constant over a capture. What was in use before its first event has no allocation: it is
//! what is used less what is tracked.

use super::execution::{Execution, outputs_of};
use super::records::StandIns;
use crate::timeline::blocks::Interner;
use crate::xplane::events::stats::Memory;
use crate::xplane::look::Looked;
use crate::xplane::sweep::{Owner, Point};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An allocator and its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocator {
    /// `GPU_0_bfc`.
    pub name: String,
    /// The device in its name.
    pub device: Option<i64>,
    /// What it manages.
    pub capacity_bytes: i64,
    /// The most in use within the capture.
    pub peak_bytes: i64,
    /// The most in use ever, as its first event says.
    pub first_peak_bytes: i64,
    /// By time.
    pub changes: Vec<Change>,
    /// Who asked for memory, by number.
    pub owners: Vec<String>,
}

/// Memory given or taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenChange", into = "WrittenChange")]
pub struct Change {
    /// When.
    pub time_ps: i64,
    /// How much.
    pub bytes: i64,
    /// Where.
    pub address: i64,
    /// In use after it.
    pub allocated_bytes: i64,
    /// Free after it.
    pub available_bytes: i64,
    /// The largest request that could be met after it.
    pub largest_free_bytes: i64,
    /// Who asked, by number; `None`: it was taken back.
    pub owner: Option<u32>,
}

/// As a session has it: the owner of what was taken back is a 0 that means nothing.
#[derive(Serialize, Deserialize)]
struct WrittenChange {
    time_ps: i64,
    is_allocation: bool,
    bytes: i64,
    address: i64,
    allocated_bytes: i64,
    available_bytes: i64,
    largest_free_bytes: i64,
    owner: u32,
}

impl From<WrittenChange> for Change {
    fn from(written: WrittenChange) -> Change {
        let WrittenChange { time_ps, is_allocation, bytes, address, allocated_bytes, available_bytes, largest_free_bytes, owner } = written;
        Change { time_ps, bytes, address, allocated_bytes, available_bytes, largest_free_bytes, owner: is_allocation.then_some(owner) }
    }
}

impl From<Change> for WrittenChange {
    fn from(change: Change) -> WrittenChange {
        let Change { time_ps, bytes, address, allocated_bytes, available_bytes, largest_free_bytes, owner } = change;
        let is_allocation = owner.is_some();
        WrittenChange { time_ps, is_allocation, bytes, address, allocated_bytes, available_bytes, largest_free_bytes, owner: owner.unwrap_or(0) }
    }
}

impl Change {
    fn before_bytes(&self) -> i64 {
        if self.owner.is_some() { self.allocated_bytes.saturating_sub(self.bytes) } else { self.allocated_bytes.saturating_add(self.bytes) }
    }
}

impl Allocator {
    /// In use before an instant.
    pub fn used_before(&self, time_ps: i64) -> Option<i64> {
        match self.last_before(time_ps) {
            Some(change) => Some(change.allocated_bytes),
            None => self.changes.first().map(Change::before_bytes),
        }
    }

    /// The last event before an instant.
    pub fn last_before(&self, time_ps: i64) -> Option<&Change> {
        self.changes[..self.changes.partition_point(|change| change.time_ps < time_ps)].last()
    }
}

/// The allocator of a device, the largest of several.
pub(super) fn allocator_of(allocators: &[Allocator], device: Option<i64>) -> Option<&Allocator> {
    let device = device?;
    allocators.iter().filter(|allocator| allocator.device == Some(device)).max_by_key(|allocator| allocator.capacity_bytes)
}

/// `GPU_0_bfc` → 0.
pub(super) fn device_of_allocator(name: &str) -> Option<i64> {
    name.strip_prefix("GPU_")?.split_once('_')?.0.parse().ok()
}

/// Groups the events of the allocators, and names the owners.
pub(super) fn allocators(points: &[Point], texts: &[String], executions: &[Execution], stand_in: &StandIns, looked: &Looked) -> Vec<Allocator> {
    let mut by_name: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
    for point in points {
        by_name.entry(&texts[point.memory.allocator as usize]).or_default().push(point);
    }
    by_name.into_iter().map(|(name, points)| allocator(name, points, executions, stand_in, looked)).collect()
}

fn allocator(name: &str, mut points: Vec<&Point>, executions: &[Execution], stand_in: &StandIns, looked: &Looked) -> Allocator {
    points.sort_by_key(|point| point.time_ps);
    let mut owners = Interner::default();
    let owner = |point: &Point| match point.owner {
        Owner::Asked(question) => looked.owners[looked.answers[question as usize] as usize].clone(),
        Owner::Nobody => String::new(),
        Owner::Record(record) => stand_in.get(record).map_or_else(String::new, |number| outputs_of(&executions[number])),
    };
    let changes: Vec<Change> = points
        .iter()
        .map(|point| Change {
            time_ps: point.time_ps,
            bytes: point.memory.bytes,
            address: point.memory.address,
            allocated_bytes: point.memory.allocated_bytes,
            available_bytes: point.memory.available_bytes,
            largest_free_bytes: largest_free(&point.memory),
            owner: point.is_allocation.then(|| owners.number(&owner(point))),
        })
        .collect();
    let capacity =
        |point: &&Point| [point.memory.reserved_bytes, point.memory.allocated_bytes, point.memory.available_bytes].into_iter().fold(0, i64::saturating_add);
    Allocator {
        name: name.to_owned(),
        device: device_of_allocator(name),
        capacity_bytes: points.iter().map(capacity).max().unwrap_or(0),
        peak_bytes: changes.iter().map(|change| change.allocated_bytes).max().unwrap_or(0),
        first_peak_bytes: points.first().map_or(0, |point| point.memory.peak_bytes),
        changes,
        owners: owners.texts,
    }
}

/// `free × (1 − fragmentation)`
fn largest_free(memory: &Memory) -> i64 {
    (memory.available_bytes as f64 * (1.0 - memory.fragmentation.clamp(0.0, 1.0))).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_is_in_the_name() {
        assert_eq!(["GPU_12_bfc", "GPU_x_bfc", "GPU_0", "cpu_0_bfc"].map(device_of_allocator), [Some(12), None, None, None]);
    }

    #[test]
    fn what_was_in_use_is_what_the_event_before_says() {
        let change =
            |time_ps, owner, allocated_bytes| Change { time_ps, bytes: 10, address: 1, allocated_bytes, available_bytes: 0, largest_free_bytes: 0, owner };
        let changes = vec![change(5, Some(0), 40), change(7, None, 30)];
        let (name, capacity_bytes, peak_bytes, first_peak_bytes) = (String::new(), 100, 40, 40);
        let allocator = Allocator { name, device: None, capacity_bytes, peak_bytes, first_peak_bytes, changes, owners: Vec::new() };
        assert_eq!([0, 5, 6, 7, 8].map(|time_ps| allocator.used_before(time_ps)), [30, 30, 40, 40, 30].map(Some));
    }
}
