//! Modules running on devices.

use super::devices::Devices;
use super::modules::{Modules, Told};
use super::records::{origins, whole_of};
use crate::xplane::place;
use crate::xplane::plan::bare_name;
use crate::xplane::sweep::{Record, Sweep};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A module running on a device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// `None`: nothing tells.
    pub device: Option<i64>,
    /// `jit_train_step(47)`; without the number where it is unknown.
    pub module: Arc<str>,
    /// Counted from 1 for each device and module.
    pub n: u64,
    /// When it began.
    pub start_ps: i64,
    /// When the host was through with it.
    pub end_ps: i64,
    /// Whether its kernels were launched; `None` where that cannot be known.
    pub launched: Option<bool>,
    /// In use on its device when it began.
    pub used_bytes: Option<i64>,
    /// What it asked of the allocator.
    pub requests: Vec<i64>,
    /// The thread of the call.
    #[serde(deserialize_with = "place::one")]
    pub caller: usize,
}

impl Execution {
    /// What is known of the execution that a record is; its number and what was in use are not.
    pub(super) fn of(sweep: &Sweep, index: usize, devices: &Devices, modules: &mut Modules) -> Execution {
        let record = &sweep.records[index];
        // The part on the device tells what its Execute does not.
        let parts = sweep.records.iter().enumerate().skip(index + 1).take_while(|(_, part)| part.line == record.line && part.start_ps < record.end_ps);
        let parts: Vec<&Record> = parts.filter(|(_, part)| part.parent == Some(index)).map(|(_, part)| part).collect();
        let all = || std::iter::once(record).chain(parts.iter().copied());
        let whole = whole_of(sweep, record).map(|whole| &sweep.records[whole]);
        let begun = || origins(sweep, &record.consumes);
        let function = || record.function.or_else(|| begun().find_map(|origin| origin.function)).map(Told::Event);
        let own = record.module.or_else(|| whole.and_then(|whole| whole.module)).map(Told::Event);
        let told = own.or_else(|| all().find_map(|part| part.thunks_module).map(Told::Text)).or_else(function).unwrap_or(Told::Nothing);
        let caller =
            if record.function.is_some() { record.line } else { begun().find(|origin| origin.function.is_some()).map_or(record.line, |origin| origin.line) };
        Execution {
            device: all().find_map(|part| devices.told(part)).or_else(|| devices.of_record(record)),
            module: modules.name(told),
            start_ps: record.start_ps,
            end_ps: record.end_ps,
            launched: Some(all().any(|part| part.launched)),
            requests: all().flat_map(|part| part.requests.iter().copied()).collect(),
            caller,
            ..Execution::default()
        }
    }
}

/// What an execution allocated and freed.
pub(super) fn temporaries_of(execution: &Execution) -> String {
    format!("temporaries of {} execution {}", bare_name(&execution.module), execution.n)
}

/// The owner of what an execution allocated and did not free.
pub fn outputs_of(execution: &Execution) -> String {
    format!("outputs of {} execution {}", bare_name(&execution.module), execution.n)
}

/// Whether an owner is that of the outputs of some execution of a module.
pub fn is_output_of(owner: &str, module: &str) -> bool {
    owner.starts_with(&format!("outputs of {} execution ", bare_name(module)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xplane::runtime::test_rows::{EXECUTE, HELPER, With, With::Nothing, gpus, link, plan, run, told};

    #[test]
    fn outputs_are_known_by_their_owner() {
        let outputs = outputs_of(&Execution { module: "jit_f(7)".into(), n: 12, ..Execution::default() });
        assert_eq!([is_output_of(&outputs, "jit_f(7)"), is_output_of(&outputs, "jit_g(7)")], [true, false]);
    }

    #[test]
    fn several_devices_are_linked_and_numbered_apart() {
        let worker = |device: i64, start: i64, thunks: bool| {
            let name = if thunks { "GpuExecutable::ExecuteThunks" } else { "Handle inputs" };
            vec![(HELPER, start, 10, link(None, Some(1))), ("MemoryAllocation", start + 1, 0, With::Memory(device, 8, 8, 1)), (name, start + 2, 2, Nothing)]
        };
        let (first, second) = (worker(0, 10, true), worker(1, 12, false));
        let caller = [("PjitFunction(f)", 0, 50, Nothing), (EXECUTE, 1, 40, link(Some(1), None))];
        let runtime = run(&[&caller, &first, &second], &gpus(2), &[plan("jit_f(7)", 0)]);
        assert_eq!(told(&runtime), [(Some(0), "jit_f(7)", 1, Some(true), Some(0)), (Some(1), "jit_f(7)", 1, Some(false), Some(0))]);
        assert!(runtime.executions.iter().all(|execution| execution.caller == 0));
    }

    #[test]
    fn the_classic_helper_gets_its_module_through_its_link() {
        let caller = [("PjitFunction(f)", 0, 50, Nothing), ("PjRtStreamExecutorLoadedExecutable::Execute", 1, 40, link(Some(9), None))];
        let worker = [
            ("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 5, 20, Nothing),
            ("PjRtStreamExecutorLoadedExecutable::EnqueueExecution", 6, 10, link(None, Some(9))),
            ("MemoryAllocation", 7, 0, With::Memory(2, 16, 16, 5)),
        ];
        let runtime = run(&[&caller, &worker], &gpus(3), &[]);
        assert_eq!(told(&runtime), [(Some(2), "jit_f", 1, Some(false), Some(0))]);
    }
}
