//! Whether each execution leaves more than the one before.

use super::case::Case;
use super::found::{Found, Severity, measured, number, permille, read};
use crate::error::Arg;
use crate::oom::fixes::{Fixes, Kind};
use crate::units::human_bytes;
use crate::xplane::plan::Plan;
use crate::xplane::runtime::execution::Execution;
use std::ops::RangeInclusive;

/// So many executions show a trend.
const GROWTH_EXECUTIONS: usize = 3;
/// Growth below this is noise, and so is growth below this share of the capacity.
const GROWTH_AT_LEAST_BYTES: i64 = 1 << 20;
const GROWTH_AT_LEAST_PERMILLE: i64 = 1;
/// So many of the differences must be growth.
const GROWING_PERMILLE: usize = 800;
/// Growth by as much as the outputs: between these shares of them.
const SAME_AS_OUTPUTS_PERMILLE: RangeInclusive<i64> = 900..=1100;

pub(super) fn grows(case: &Case) -> Option<Found> {
    let (plan, capacity, used) = (case.plan?, case.capacity()?, case.used()?);
    let grown = growth(&case.executions, capacity)?;
    let first = case.executions.first()?.used_bytes?;
    let ratio = of_outputs(grown, plan);
    let left = capacity.saturating_sub(used).saturating_sub(case.adds()?);
    let more = left.div_euclid(grown).max(0);
    let keeps = SAME_AS_OUTPUTS_PERMILLE.contains(&ratio);
    let cause = if keeps { "the program keeps each step's outputs" } else { "cause unclear" };
    let fixes = Fixes { wanted_bytes: used.checked_add(case.adds()?), capacity_bytes: Some(capacity) };
    let kept = used.saturating_sub(first);
    Some(Found {
        severity: Severity::Warning,
        text: format!(
            "grows by {} per execution = {}.{:02}× the non-aliased outputs, used {} → {}: {cause}; room for {more} more",
            human_bytes(grown),
            (ratio + 5) / 1000,
            (ratio + 5) % 1000 / 10,
            human_bytes(first),
            human_bytes(used)
        ),
        args: vec![
            ("grown", Arg::Number(grown)),
            ("ratio_permille", Arg::Number(ratio)),
            ("first", Arg::Number(first)),
            ("last", Arg::Number(used)),
            ("keeps", Arg::Number(i64::from(keeps))),
            ("more", Arg::Number(more)),
        ],
        numbers: vec![
            measured("growth per execution", grown),
            number("of the non-aliased outputs", ratio, "permille", "estimated"),
            measured("used at the first start", first),
            measured("used at the last start", used),
            read("non-aliased outputs", plan.non_aliased_outputs_bytes),
            number("more executions", more, "count", "estimated"),
        ],
        fixes: vec![fixes.fix(Kind::DropReference, Some(kept)), fixes.fix(Kind::ReduceInside, Some(kept)), fixes.fix(Kind::DeviceGet, Some(kept))],
    })
}

/// The lower median of the growth from one execution to the next, without the first difference; `None` where it is none.
fn growth(executions: &[&Execution], capacity: i64) -> Option<i64> {
    let used: Vec<i64> = executions.iter().filter_map(|execution| execution.used_bytes).collect();
    if used.len() < GROWTH_EXECUTIONS {
        return None;
    }
    let mut grown: Vec<i64> = used.windows(2).skip(1).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    grown.sort_unstable();
    let growing = grown.iter().filter(|&&bytes| bytes > 0).count();
    let median = *grown.get((grown.len() - 1) / 2)?;
    let at_least = GROWTH_AT_LEAST_BYTES.max(capacity / 1000 * GROWTH_AT_LEAST_PERMILLE);
    (median >= at_least && growing * 1000 >= grown.len() * GROWING_PERMILLE).then_some(median)
}

/// How much of the non-aliased outputs that is, in thousandths.
fn of_outputs(grown: i64, plan: &Plan) -> i64 {
    let ratio = permille(grown, plan.non_aliased_outputs_bytes);
    if plan.non_aliased_outputs_bytes > 0 { ratio + i64::from(permille(grown.saturating_mul(10), plan.non_aliased_outputs_bytes) % 10 >= 5) } else { ratio }
}

/// Whether use grows by as much as each execution gives back.
pub(super) fn keeps_outputs(case: &Case) -> bool {
    let ratio = case.plan.zip(case.capacity()).and_then(|(plan, capacity)| Some(of_outputs(growth(&case.executions, capacity)?, plan)));
    ratio.is_some_and(|ratio| SAME_AS_OUTPUTS_PERMILLE.contains(&ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oom::diagnose::test_case::{MIB, capture, plan, told, value};

    #[test]
    fn growth_needs_three_executions_and_skips_the_first_difference() {
        let capture = capture(plan(), 900, &[100, 300, 310, 320, 330], true);
        let told = told(&capture);
        let grows = told.iter().find(|diagnosis| diagnosis.code == "grows-per-execution").unwrap();
        assert_eq!((value(grows, "growth per execution"), value(grows, "of the non-aliased outputs"), value(grows, "more executions")), (10 * MIB, 1000, 36));
        let executions: Vec<&Execution> = capture.runtime.executions.iter().collect();
        assert_eq!((growth(&executions[..2], 900 * MIB), growth(&executions[..3], 900 * MIB)), (None, Some(10 * MIB)));
        assert_eq!(growth(&executions, 20_000 * MIB), None, "0.1 % of the capacity is noise");
    }

    #[test]
    fn growth_that_is_not_the_outputs_is_unclear() {
        let told = told(&capture(plan(), 900, &[100, 300, 305, 310], true));
        let grows = told.iter().find(|diagnosis| diagnosis.code == "grows-per-execution").unwrap();
        assert!(grows.text.contains("0.50×") && grows.text.contains("cause unclear"), "{}", grows.text);
    }
}
