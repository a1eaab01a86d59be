//! The names of modules: each kept once, and with the number that tells it from others of its name.

use super::execution::Execution;
use crate::xplane::events::Events;
use crate::xplane::events::class::Class;
use crate::xplane::plan::Plan;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::Arc;

const UNKNOWN_MODULE: &str = "(unknown module)";

/// The names of modules, each kept once.
pub(super) struct Modules<'a> {
    pub(super) events: &'a Events,
    known: FxHashMap<Told, Arc<str>>,
    numbered: FxHashMap<(Arc<str>, i64), Arc<str>>,
}

/// What tells a module's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Told {
    /// A text, by number.
    Text(u32),
    /// The name of an event, by number.
    Event(u32),
    Nothing,
}

impl<'a> Modules<'a> {
    pub(super) fn new(events: &'a Events) -> Modules<'a> {
        Modules { events, known: FxHashMap::default(), numbered: FxHashMap::default() }
    }

    pub(super) fn name(&mut self, told: Told) -> Arc<str> {
        let events = self.events;
        let name = || match told {
            Told::Text(number) => events.texts[number as usize].as_str().into(),
            Told::Event(number) => match &events.names[number as usize].class {
                Class::Execute(module) => module.as_str().into(),
                Class::Pjit(function) => format!("jit_{function}").into(),
                _ => UNKNOWN_MODULE.into(),
            },
            Told::Nothing => UNKNOWN_MODULE.into(),
        };
        self.known.entry(told).or_insert_with(name).clone()
    }

    pub(super) fn numbered(&mut self, name: &Arc<str>, id: i64) -> Arc<str> {
        self.numbered.entry((name.clone(), id)).or_insert_with(|| format!("{name}({id})").into()).clone()
    }
}

/// Gives modules their numbers, and executions theirs.
pub(super) fn name_modules(executions: &mut [(usize, Execution)], plans: &[Plan]) {
    let mut by_name: HashMap<&str, Vec<&Plan>> = HashMap::new();
    plans.iter().for_each(|plan| by_name.entry(plan.bare_name()).or_default().push(plan));
    let whole_names: HashMap<&str, Arc<str>> = plans.iter().map(|plan| (&plan.name[..], plan.name.as_str().into())).collect();
    let mut counts: FxHashMap<(Option<i64>, Arc<str>), u64> = FxHashMap::default();
    for (_, execution) in executions {
        if let Some(plan) = by_name.get(&execution.module[..]).and_then(|plans| plan_of(execution, plans)) {
            execution.module.clone_from(&whole_names[&plan.name[..]]);
        }
        let count = counts.entry((execution.device, execution.module.clone())).or_default();
        *count += 1;
        execution.n = *count;
    }
}

/// Which of the plans of one name an execution is of: the only one, else the only one whose temporary block it asked for.
fn plan_of<'a>(execution: &Execution, plans: &[&'a Plan]) -> Option<&'a Plan> {
    if let [only] = plans[..] {
        return Some(only);
    }
    let mut same = plans.iter().filter(|plan| plan.temp_bytes > 0 && execution.requests.contains(&plan.temp_bytes));
    same.next().filter(|_| same.next().is_none()).copied()
}

#[cfg(test)]
mod tests {
    use crate::xplane::runtime::test_rows::{EXECUTE, With, With::Nothing, gpus, plan, run};

    #[test]
    fn of_modules_of_one_name_the_temporary_block_tells() {
        let rows = [(EXECUTE, 0, 9, Nothing), ("MemoryAllocation", 1, 0, With::Memory(0, 64, 64, 1)), (EXECUTE, 20, 9, Nothing)];
        let runtime = run(&[&rows], &gpus(1), &[plan("jit_f(1)", 64), plan("jit_f(2)", 32)]);
        assert_eq!(runtime.executions.iter().map(|execution| &execution.module[..]).collect::<Vec<_>>(), ["jit_f(1)", "jit_f"]);
    }
}
