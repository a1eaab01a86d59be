//! What happened at run time, put together: from what the first two readings found, then from what the third adds.

use super::Runtime;
use super::allocator::{allocator_of, allocators};
use super::devices::Devices;
use super::execution::Execution;
use super::launches::Launches;
use super::modules::{Modules, name_modules};
use super::records::{StandIns, chosen_records};
use super::retries::retries;
use crate::xplane::events::Events;
use crate::xplane::events::line::Line;
use crate::xplane::look::{Looked, Window};
use crate::xplane::names::Names;
use crate::xplane::plan::Plan;
use crate::xplane::sweep::{Point, Question, Sweep};
use std::collections::BTreeMap;

/// What is known before the third reading.
pub struct Draft {
    runtime: Runtime,
    points: Vec<Point>,
    questions: Vec<Question>,
    stand_in: StandIns,
}

impl Draft {
    /// Puts together what the first two readings found.
    pub fn of(events: &mut Events, names: &Names, plans: &[Plan]) -> Draft {
        let sweep = Sweep::of(events);
        // There may be millions.
        events.lines.iter_mut().for_each(Line::forget);
        let events = &*events;
        let devices = Devices::of(events, names, &sweep);
        let chosen = chosen_records(&sweep);
        let mut modules = Modules::new(events);
        let mut executions: Vec<(usize, Execution)> = chosen.iter().map(|&record| (record, Execution::of(&sweep, record, &devices, &mut modules))).collect();
        executions.sort_by_key(|(record, execution)| (execution.start_ps, execution.device, *record));
        let launches = Launches::of(events, &devices);
        let is_known = !devices.gpus.is_empty() || !sweep.points.is_empty();
        launches.attach(&mut executions, &sweep, &mut modules, is_known);
        name_modules(&mut executions, plans);
        let stand_in = StandIns::of(&sweep, executions.iter().map(|(record, _)| *record));
        let executions: Vec<Execution> = executions.into_iter().map(|(_, execution)| execution).collect();
        let retries = retries(&sweep, &executions, &stand_in, &devices);
        let Sweep { points, questions, .. } = sweep;
        Draft { runtime: Runtime { executions, retries, ..Runtime::default() }, points, questions, stand_in }
    }

    /// What the third reading has to say of allocations.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What it has to look at: between the last two executions of each module on each device.
    pub fn windows(&self) -> Vec<Window> {
        let mut last_two: BTreeMap<(&str, Option<i64>), [Option<&Execution>; 2]> = BTreeMap::new();
        for execution in &self.runtime.executions {
            let pair = last_two.entry((&execution.module, execution.device)).or_default();
            *pair = [pair[1], Some(execution)];
        }
        let window = |pair: [Option<&Execution>; 2]| {
            let [Some(before), Some(after)] = pair else { return None };
            Some(Window { line: after.caller, module: after.module.clone(), device: after.device, from_ps: before.end_ps, to_ps: after.start_ps })
        };
        last_two.into_values().filter_map(window).collect()
    }

    /// With what the third reading found.
    pub fn finish(self, events: &Events, looked: Looked) -> Runtime {
        let Draft { mut runtime, points, stand_in, .. } = self;
        runtime.allocators = allocators(&points, &events.texts, &runtime.executions, &stand_in, &looked);
        for execution in &mut runtime.executions {
            execution.used_bytes = allocator_of(&runtime.allocators, execution.device).and_then(|allocator| allocator.used_before(execution.start_ps));
        }
        runtime.between = looked.between;
        runtime
    }
}

#[cfg(test)]
mod tests {
    use crate::timeline::replay::Replay;
    use crate::xplane::runtime::owners::BEFORE;
    use crate::xplane::runtime::test_rows::{EXECUTE, HELPER, With, With::Nothing, gpus, owned, plan, run, told};

    #[test]
    fn one_execution_on_one_device_and_what_it_leaves() {
        let rows = [
            ("BufferFromHostBuffer", 0, 10, With::Shape("s32[8]")),
            ("MemoryAllocation", 5, 0, With::Memory(0, 130, 30, 1)),
            ("PjitFunction(f)", 20, 50, Nothing),
            (EXECUTE, 21, 40, Nothing),
            (HELPER, 22, 38, Nothing),
            ("MemoryAllocation", 23, 0, With::Memory(0, 150, 20, 2)),
            ("[0] GpuExecutable::ExecuteThunks", 24, 5, Nothing),
            ("MemoryAllocation", 25, 0, With::Memory(0, 190, 40, 3)),
            ("MemoryDeallocation", 30, 0, With::Memory(0, 150, 40, 3)),
            ("MemoryDeallocation", 80, 0, With::Memory(0, 140, 10, 77)),
            ("$train.py:3 keep", 90, 20, Nothing),
            ("$<unknown> append", 95, 1, Nothing),
            (EXECUTE, 120, 5, Nothing),
        ];
        let runtime = run(&[&rows], &gpus(1), &[plan("jit_f(7)", 40)]);
        assert_eq!(told(&runtime), [(Some(0), "jit_f(7)", 1, Some(true), Some(130)), (Some(0), "jit_f(7)", 2, Some(false), Some(140))]);
        let allocator = runtime.allocator(Some(0)).unwrap();
        assert_eq!((allocator.capacity_bytes, allocator.peak_bytes, allocator.first_peak_bytes), (1000, 190, 900));
        let expected = [(BEFORE.to_owned(), 90, 0), ("BufferFromHostBuffer(s32[8])".to_owned(), 30, 1), ("outputs of jit_f execution 1".to_owned(), 20, 1)];
        assert_eq!(owned(allocator, 120), expected);
        let between = |most| runtime.between("jit_f(7)", Some(0), most).into_iter().map(|event| event.name).collect::<Vec<_>>();
        assert_eq!(between(9), ["MemoryDeallocation", "$train.py:3 keep", "$<unknown> append"]);
        assert_eq!(between(1), ["$<unknown> append"]);
        let blocks = allocator.blocks(&runtime.executions);
        assert_eq!((blocks.len(), blocks.freed.time_ns.len()), (3, 1));
        let named = |block: usize| (blocks.names[blocks.name[block] as usize].as_str(), blocks.size_bytes[block]);
        assert_eq!((named(1), named(2)), (("outputs of jit_f execution 1", 20), ("temporaries of jit_f execution 1", 40)));
        let replay = Replay::of(&blocks);
        assert_eq!((replay.curves.total_bytes(replay.peak.unwrap()), replay.rises.len()), (190, 0));
    }
}
