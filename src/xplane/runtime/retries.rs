//! Waits for memory.

use super::devices::Devices;
use super::execution::Execution;
use super::records::StandIns;
use crate::xplane::events::class::WAIT_AT_LEAST_PS;
use crate::xplane::place;
use crate::xplane::sweep::Sweep;
use serde::{Deserialize, Serialize};

/// A wait for memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// `None`: nothing tells.
    pub device: Option<i64>,
    /// When it began.
    pub start_ps: i64,
    /// How long it took.
    pub duration_ps: i64,
    /// The execution it is in, by index.
    #[serde(default, deserialize_with = "place::maybe")]
    pub execution: Option<usize>,
    /// No event says so.
    pub inferred: bool,
}

pub(super) fn retries(sweep: &Sweep, executions: &[Execution], stand_in: &StandIns, devices: &Devices) -> Vec<Retry> {
    let mut retries: Vec<Retry> = sweep
        .waits
        .iter()
        .map(|wait| {
            let execution = wait.record.and_then(|record| stand_in.get(record));
            let device = execution.and_then(|execution| executions[execution].device).or_else(|| devices.of_allocator(wait.allocator));
            Retry { device, start_ps: wait.start_ps, duration_ps: wait.duration_ps, execution, inferred: wait.inferred }
        })
        .collect();
    // Older plugins have no event for it: an execution that takes as long and launches nothing waited.
    for (index, execution) in executions.iter().enumerate() {
        let duration_ps = execution.end_ps.saturating_sub(execution.start_ps);
        let told = || retries.iter().any(|retry| retry.execution == Some(index));
        if execution.launched == Some(false) && duration_ps >= WAIT_AT_LEAST_PS && !told() {
            retries.push(Retry { device: execution.device, start_ps: execution.start_ps, duration_ps, execution: Some(index), inferred: true });
        }
    }
    retries.sort_by_key(|retry| (retry.start_ps, retry.device));
    retries
}

#[cfg(test)]
mod tests {
    use crate::xplane::runtime::test_rows::{EXECUTE, With, With::Nothing, gpus, run};

    #[test]
    fn waits_are_events_or_inferred() {
        let second = 1_000_000_000_000;
        let rows = [
            (EXECUTE, 0, 10 * second, Nothing),
            ("AllocatorRetry::AllocateRaw", 5, 9 * second, Nothing),
            (EXECUTE, 11 * second, 10 * second, Nothing),
            (EXECUTE, 30 * second, second, Nothing),
        ];
        let runtime = run(&[&rows], &gpus(1), &[]);
        let waits: Vec<_> = runtime.retries.iter().map(|retry| (retry.execution, retry.duration_ps / second, retry.inferred, retry.device)).collect();
        assert_eq!(waits, [(Some(0), 9, false, Some(0)), (Some(1), 10, true, Some(0))]);

        let tensorflow = [
            ("EagerExecute", 0, 10 * second, Nothing),
            ("KernelAndDeviceFunc::Run", 1, 10 * second - 2, Nothing),
            ("EagerExecute", 11 * second, 10 * second, Nothing),
            ("MemoryAllocation", 12 * second, 0, With::Memory(0, 8, 8, 1)),
            ("$sleep", 30 * second, 10 * second, Nothing),
        ];
        let runtime = run(&[&tensorflow], &gpus(0), &[]);
        assert_eq!(runtime.retries.iter().map(|retry| (retry.start_ps, retry.inferred)).collect::<Vec<_>>(), [(1, true)]);
    }
}
