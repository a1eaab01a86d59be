//! A JAX capture as the linked charts show it: an allocator is a device, owners of its blocks are operators, executions are phases.

use crate::ascend::capture::{Around, Capture, Device, Facts};
use crate::ascend::operator_memory::Pool;
use crate::ascend::trace_view::Phase;
use crate::timeline::replay::Replay;
use crate::xplane::capture;
use crate::xplane::runtime::allocator::Allocator;
use crate::xplane::runtime::execution::Execution;

/// What the linked charts show of it: an allocator as a device, owners as operators.
pub fn charts_of(jax: &capture::Capture) -> Capture {
    let runtime = &jax.runtime;
    let device = |allocator: &Allocator| {
        let blocks = allocator.blocks(&runtime.executions);
        Device { device: allocator.name.clone(), pool: Pool::Pta, replay: Replay::of(&blocks), blocks, stacks: None }
    };
    let devices: Vec<Device> = runtime.allocators.iter().map(device).collect();
    let end_ns = devices.iter().map(|device| device.blocks.last_ns()).max().unwrap_or(0);
    let facts = Facts {
        source: jax.source.clone(),
        role: jax.host.clone(),
        rank: None,
        capture_time: None,
        torch_npu: None,
        cann: None,
        setup: None,
        rows_read: runtime.allocators.iter().map(|allocator| allocator.changes.len() as u64).sum(),
        rows_set_aside: 0,
        warnings: jax.warnings.clone(),
    };
    Capture { facts, end_ns, devices, around: Around::default(), phases: Vec::new() }
}

/// The executions on an allocator's device, as phases.
pub fn phases_of(jax: &capture::Capture, allocator: usize) -> Vec<Phase> {
    let device = jax.runtime.allocators.get(allocator).and_then(|allocator| allocator.device);
    let own = jax.runtime.executions.iter().filter(|execution| execution.device.is_none() || device.is_none() || execution.device == device);
    let phase = |execution: &Execution| Phase {
        name: format!("{} {}", execution.module, execution.n),
        start_ns: execution.start_ps.div_euclid(1000),
        end_ns: execution.end_ps.div_euclid(1000),
    };
    own.map(phase).collect()
}
