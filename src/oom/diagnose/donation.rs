//! Parameters whose memory the outputs could take over.

use super::case::Case;
use super::found::{Found, Severity, estimated, is_at_least, read};
use crate::error::Arg;
use crate::oom::fixes::Kind;
use crate::units::human_bytes;
use crate::xplane::plan::Plan;

/// Donation is worth a word from this share of what is needed.
const DONATION_MATTERS_PERMILLE: i64 = 10;

/// Whether it is worth a word.
pub(super) fn donation_matters(plan: &Plan) -> bool {
    plan.donatable_bytes > 0 && is_at_least(plan.donatable_bytes, plan.needed_bytes(), DONATION_MATTERS_PERMILLE)
}

pub(super) fn not_donated(case: &Case) -> Option<Found> {
    let plan = case.plan?;
    let saves = plan.donatable_bytes;
    if !donation_matters(plan) {
        return None;
    }
    let parameters = &plan.parameters;
    let who = if parameters.donated_count == 0 {
        "no parameter is donated".to_owned()
    } else {
        format!("only {} of {} parameters are donated", parameters.donated_count, parameters.count)
    };
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    Some(Found {
        severity: Severity::Warning,
        text: format!("{who}: donating the state can save up to {}", human_bytes(saves)),
        args: vec![("donated", Arg::Number(count(parameters.donated_count))), ("count", Arg::Number(count(parameters.count))), ("saves", Arg::Number(saves))],
        numbers: vec![
            read("parameters", parameters.bytes),
            read("donated", parameters.donated_bytes),
            read("non-aliased outputs", plan.non_aliased_outputs_bytes),
            estimated("can be saved", saves),
        ],
        fixes: vec![case.fixes().fix(Kind::Donate, Some(saves))],
    })
}

#[cfg(test)]
mod tests {
    use crate::oom::diagnose::test_case::{MIB, capture, plan, told};
    use crate::xplane::plan::{Parameters, Plan};

    #[test]
    fn some_parameters_donated_is_said() {
        let parameters = Parameters { bytes: 100 * MIB, count: 4, donated_bytes: 10 * MIB, donated_count: 1, ..Parameters::default() };
        let told = told(&capture(Plan { donatable_bytes: 9 * MIB, parameters, ..plan() }, 900, &[100], true));
        assert_eq!(told[0].text, "only 1 of 4 parameters are donated: donating the state can save up to 9.000 MiB");
    }
}
