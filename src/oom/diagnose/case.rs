//! What the rules look at: a module, on the device where it went worst.

use crate::oom::fixes::Fixes;
use crate::xplane::capture::Capture;
use crate::xplane::plan::Plan;
use crate::xplane::runtime::allocator::Allocator;
use crate::xplane::runtime::execution::Execution;
use crate::xplane::runtime::owners::{BEFORE, Owned};
use std::collections::BTreeMap;

/// What the rules look at.
pub struct Case<'a> {
    /// The capture.
    pub capture: &'a Capture,
    /// The module in question.
    pub module: Option<&'a str>,
    pub(super) plan: Option<&'a Plan>,
    pub(super) allocator: Option<&'a Allocator>,
    /// Of the module on the device in question, by start.
    pub(super) executions: Vec<&'a Execution>,
    /// Alive at the last start.
    live: Vec<Owned>,
}

/// The module to speak of where nobody names one: whose last execution launched nothing, else the largest that ran, else the largest plan.
pub fn default_module(capture: &Capture) -> Option<&str> {
    let executions = &capture.runtime.executions;
    let last: BTreeMap<(&str, Option<i64>), &Execution> = executions.iter().map(|execution| ((&execution.module[..], execution.device), execution)).collect();
    let idle = last.values().filter(|execution| execution.launched == Some(false)).max_by_key(|execution| execution.start_ps);
    let by_size = |a: &&Plan, b: &&Plan| a.needed_bytes().cmp(&b.needed_bytes()).then_with(|| b.name.cmp(&a.name));
    let ran = |plan: &&Plan| last.keys().any(|(module, _)| *module == plan.name);
    let largest = || capture.plans.iter().filter(ran).max_by(by_size).or_else(|| capture.plans.iter().max_by(by_size)).map(|plan| &plan.name[..]);
    idle.map(|execution| &execution.module[..]).or_else(largest).or_else(|| executions.last().map(|execution| &execution.module[..]))
}

impl<'a> Case<'a> {
    /// The case of a module, on the device where it went worst: where it launched nothing, else where most was in use.
    pub fn of(capture: &'a Capture, module: Option<&'a str>) -> Case<'a> {
        let by_device = module.map(|module| capture.runtime.by_device(module)).unwrap_or_default();
        let worst = by_device.into_iter().filter(|(_, executions)| !executions.is_empty()).max_by_key(|(device, executions)| {
            let last = executions.last();
            (last.is_some_and(|last| last.launched == Some(false)), last.and_then(|last| last.used_bytes), std::cmp::Reverse(*device))
        });
        let (device, executions) = worst.unwrap_or((None, Vec::new()));
        let gpus = || capture.runtime.allocators.iter().filter(|allocator| allocator.device.is_some());
        let allocator = capture.runtime.allocator(device).or_else(|| gpus().max_by_key(|allocator| allocator.peak_bytes));
        let live = allocator.zip(executions.last()).map(|(allocator, last)| allocator.live_before(last.start_ps)).unwrap_or_default();
        Case { capture, module, plan: module.and_then(|module| capture.plan(module)), allocator, executions, live }
    }

    pub(super) fn capacity(&self) -> Option<i64> {
        self.allocator.map(|allocator| allocator.capacity_bytes)
    }

    pub(super) fn used(&self) -> Option<i64> {
        self.executions.last()?.used_bytes
    }

    /// What an execution adds to what is alive when it starts.
    pub(super) fn adds(&self) -> Option<i64> {
        self.plan.map(|plan| plan.non_aliased_outputs_bytes.saturating_add(plan.temp_bytes))
    }

    /// What must fit: the plan alone, or beside the other arrays where these are known.
    pub(super) fn fixes(&self) -> Fixes {
        let beside = self.used().zip(self.adds()).map(|(used, adds)| used.saturating_add(adds));
        Fixes { wanted_bytes: self.plan.map(Plan::needed_bytes).max(beside), capacity_bytes: self.capacity() }
    }

    /// The largest owner that is not the module's parameters. These are in what was there before, else in the largest group.
    pub(super) fn largest_other(&self) -> Option<Owned> {
        let parameters = self.plan?.parameters.bytes;
        let holder = self.live.iter().position(|owned| owned.owner == BEFORE && owned.bytes >= parameters).unwrap_or(0);
        let others = self
            .live
            .iter()
            .enumerate()
            .map(|(at, owned)| Owned { bytes: owned.bytes - if at == holder { parameters.min(owned.bytes) } else { 0 }, ..owned.clone() });
        others.filter(|owned| owned.bytes > 0).max_by(|a, b| a.bytes.cmp(&b.bytes).then_with(|| b.owner.cmp(&a.owner)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oom::diagnose::test_case::{MIB, capture, plan};

    #[test]
    fn the_module_that_launched_nothing_comes_first() {
        let mut capture = capture(plan(), 900, &[100], true);
        capture.plans.push(Plan { name: "jit_big(2)".to_owned(), temp_bytes: 800 * MIB, ..Plan::default() });
        assert_eq!(default_module(&capture), Some("jit_f(1)"), "the largest that ran");
        capture.runtime.executions.push(Execution { module: "jit_g".into(), launched: Some(false), start_ps: 999, ..Execution::default() });
        assert_eq!(default_module(&capture), Some("jit_g"));
        capture.runtime.executions.clear();
        assert_eq!(default_module(&capture), Some("jit_big(2)"));
    }
}
