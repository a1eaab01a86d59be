//! What kind of a program it is.

use super::case::Case;
use super::found::{Found, Severity, number, read, text};
use crate::error::Arg;
use crate::oom::fixes::Kind;
use crate::units::human_bytes;
use crate::xplane::plan::Plan;
use rustc_hash::FxHashSet;

/// What op-by-op programs look like.
const EAGER_EXECUTIONS: usize = 20;
const EAGER_MODULES: usize = 5;
const EAGER_PLAN_BELOW_BYTES: i64 = 64 << 20;

pub(super) fn xla_rematerialized(case: &Case) -> Option<Found> {
    let count = case.plan.map(|plan| plan.xla_rematerialized).filter(|&count| count > 0)?;
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Some(Found {
        severity: Severity::Info,
        text: format!("XLA already rematerialized {count} instruction{}: it is at its limit", if count == 1 { "" } else { "s" }),
        args: vec![("count", Arg::Number(count))],
        numbers: vec![number("rematerialized instructions", count, "count", "read")],
        fixes: vec![case.fixes().fix(Kind::ChangeProgram, None)],
    })
}

pub(super) fn no_gradient(case: &Case) -> Option<Found> {
    let plan = case.plan.filter(|plan| !plan.has_gradient)?;
    Some(Found {
        severity: Severity::Info,
        text: format!("{} takes no gradient: it is an evaluation, and the roles of its buffers say nothing", plan.name),
        args: vec![("module", text(&plan.name))],
        numbers: Vec::new(),
        fixes: Vec::new(),
    })
}

pub(super) fn eager(case: &Case) -> Option<Found> {
    let executions = &case.capture.runtime.executions;
    let modules: FxHashSet<&str> = executions.iter().map(|execution| &execution.module[..]).collect();
    let plans: Vec<&Plan> = case.capture.plans.iter().filter(|plan| modules.iter().any(|module| *module == plan.name || *module == plan.bare_name())).collect();
    let largest = plans.iter().map(|plan| plan.needed_bytes()).max().unwrap_or(0);
    if executions.len() < EAGER_EXECUTIONS || modules.len() < EAGER_MODULES || plans.iter().any(|plan| plan.has_gradient) || largest >= EAGER_PLAN_BELOW_BYTES {
        return None;
    }
    let (executed, kinds) = (executions.len() as i64, modules.len() as i64);
    Some(Found {
        severity: Severity::Info,
        text: format!(
            "an op-by-op program: {executed} executions of {kinds} small modules, the largest of {}: read what happened at run time, not the plans",
            human_bytes(largest)
        ),
        args: vec![("executions", Arg::Number(executed)), ("modules", Arg::Number(kinds)), ("largest", Arg::Number(largest))],
        numbers: vec![
            number("executions", executed, "count", "measured"),
            number("modules", kinds, "count", "measured"),
            read("largest plan that ran", largest),
        ],
        fixes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oom::diagnose::test_case::{MIB, capture, plan};
    use crate::xplane::plan::Parameters;
    use crate::xplane::runtime::execution::Execution;

    #[test]
    fn many_executions_of_many_small_modules_are_op_by_op() {
        let mut capture = capture(Plan { has_gradient: false, temp_bytes: 0, parameters: Parameters::default(), ..plan() }, 900, &[100], true);
        for n in 0..19 {
            assert!(eager(&Case::of(&capture, None)).is_none(), "after {n}");
            capture.runtime.executions.push(Execution { module: format!("jit_{}", n % 4).into(), ..Execution::default() });
        }
        assert!(eager(&Case::of(&capture, None)).is_some());
        capture.plans[0].temp_bytes = 64 * MIB;
        assert!(eager(&Case::of(&capture, None)).is_none(), "a large plan ran");
    }
}
