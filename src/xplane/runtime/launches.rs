//! The launches of kernels, and which execution each is of.

use super::devices::Devices;
use super::execution::Execution;
use super::modules::Modules;
use crate::xplane::events::Events;
use crate::xplane::sweep::Sweep;
use std::collections::HashMap;

/// Launches by device and time.
pub(super) struct Launches {
    by_device: HashMap<i64, Vec<usize>>,
}

impl Launches {
    pub(super) fn of(events: &Events, devices: &Devices) -> Launches {
        let mut by_device: HashMap<i64, Vec<usize>> = HashMap::new();
        for (index, launch) in events.launches.iter().enumerate() {
            // Command buffers hide kernels: where there is one device, it is that.
            if let Some(device) = events.kernels.get(&launch.correlation_id).copied().or(devices.only) {
                by_device.entry(device).or_default().push(index);
            }
        }
        Launches { by_device }
    }

    /// Says of each execution whether it launched anything, and of which program.
    pub(super) fn attach(&self, executions: &mut [(usize, Execution)], sweep: &Sweep, modules: &mut Modules, is_known: bool) {
        let events = modules.events;
        let mut next_start: HashMap<Option<i64>, i64> = HashMap::new();
        for (record, execution) in executions.iter_mut().rev() {
            let until = next_start.insert(execution.device, execution.start_ps).unwrap_or(i64::MAX);
            let launches = execution.device.and_then(|device| self.by_device.get(&device)).map_or(&[][..], |launches| launches);
            let from = launches.partition_point(|&launch| events.launches[launch].start_ps < execution.start_ps);
            let mut window = launches[from..].iter().map(|&launch| &events.launches[launch]).take_while(|launch| launch.start_ps < until);
            let own = window.find(|launch| events.texts[launch.module as usize] == *execution.module);
            let launched = execution.launched == Some(true) || own.is_some();
            execution.launched = is_known.then_some(launched);
            let program_id = sweep.records[*record].program_id.or_else(|| own.and_then(|launch| launch.program_id));
            if let Some(id) = program_id {
                execution.module = modules.numbered(&execution.module, id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::xplane::events::class::Name;
    use crate::xplane::events::stats::Launch;
    use crate::xplane::runtime::test_rows::{EXECUTE, HELPER, With, With::Nothing, gpus, host, plan, run, run_events, told};
    use rustc_hash::FxHashMap;

    #[test]
    fn without_gpu_and_allocator_nothing_is_said_of_launches() {
        let runtime = run(&[&[("PjitFunction(f)", 0, 50, Nothing), (HELPER, 1, 40, Nothing)]], &gpus(0), &[]);
        assert_eq!(told(&runtime), [(None, "jit_f", 1, None, None)]);
    }

    #[test]
    fn a_launch_on_the_same_device_counts_and_tells_the_program() {
        let launch = |start_ps: i64, correlation_id: i64| Launch { start_ps, module: 3, program_id: Some(42), correlation_id };
        let line = |device: i64| [(HELPER, 10 * device, 5, Nothing), ("MemoryAllocation", 10 * device + 1, 0, With::Memory(device, 8, 8, 1))];
        let mut events = host(&[&line(0), &line(1)]);
        events.names.iter_mut().for_each(|name| {
            if name.text == HELPER {
                *name = Name::of(EXECUTE)
            }
        });
        events.texts.push("jit_f".to_owned());
        events.launches = vec![launch(12, 70)];
        events.kernels = FxHashMap::from_iter([(70, 1)]);
        let runtime = run_events(&mut events, &[&line(0), &line(1)], &gpus(2), &[plan("jit_f(42)", 0), plan("jit_f(43)", 0)]);
        assert_eq!(told(&runtime), [(Some(0), "jit_f", 1, Some(false), Some(0)), (Some(1), "jit_f(42)", 1, Some(true), Some(0))]);
    }
}
