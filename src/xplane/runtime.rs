//! What happened at run time: the allocators, the executions of modules on devices, the waits for memory, who owned what, and what the host
//! did in between.

pub mod allocator;
pub mod between;
mod blocks;
mod devices;
pub mod draft;
pub mod execution;
mod launches;
mod modules;
pub mod owners;
mod records;
pub mod retries;
#[cfg(test)]
mod test_rows;

use allocator::{Allocator, allocator_of};
use between::{Between, HostEvent};
use execution::Execution;
use retries::Retry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happened at run time.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// By name.
    pub allocators: Vec<Allocator>,
    /// By start.
    pub executions: Vec<Execution>,
    /// By start.
    pub retries: Vec<Retry>,
    /// What the host did between the last two executions of each module on each device.
    pub between: Vec<Between>,
}

impl Runtime {
    /// The allocator of a device.
    pub fn allocator(&self, device: Option<i64>) -> Option<&Allocator> {
        allocator_of(&self.allocators, device)
    }

    /// The executions of a module, by device.
    pub fn by_device(&self, module: &str) -> BTreeMap<Option<i64>, Vec<&Execution>> {
        let mut devices: BTreeMap<Option<i64>, Vec<&Execution>> = BTreeMap::new();
        for execution in self.executions.iter().filter(|execution| &*execution.module == module) {
            devices.entry(execution.device).or_default().push(execution);
        }
        devices
    }

    /// What the host did between the last two executions of a module on a device; where there is more than `most`, those first that may
    /// be what keeps arrays.
    pub fn between(&self, module: &str, device: Option<i64>, most: usize) -> Vec<HostEvent> {
        let found = self.between.iter().find(|between| &*between.module == module && between.device == device);
        found.map_or_else(Vec::new, |between| between.first(most))
    }
}
