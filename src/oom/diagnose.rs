//! The verdicts on a JAX capture: rules as data, each with its condition, its sentence and its fixes. Every figure says whether it was
//! measured (events of the run), read (the compiled plan) or estimated (arithmetic on these).

pub mod case;
mod donation;
mod fit;
mod found;
mod growth;
mod missing;
mod others;
pub mod pool;
mod program;
#[cfg(test)]
mod test_case;

use super::xplane_report::Diagnosis;
use crate::error::Arg;
use case::Case;
use found::{Found, Severity};
use std::collections::BTreeMap;

struct Rule {
    code: &'static str,
    find: fn(&Case) -> Option<Found>,
}

/// In the order in which verdicts of one severity are told.
const RULES: [Rule; 14] = [
    Rule { code: "step-does-not-fit", find: fit::step_does_not_fit },
    Rule { code: "fits-alone", find: fit::fits_alone },
    Rule { code: "grows-per-execution", find: growth::grows },
    Rule { code: "not-donated", find: donation::not_donated },
    Rule { code: "other-live-arrays", find: others::other_live_arrays },
    Rule { code: "allocator-retry", find: pool::allocator_retry },
    Rule { code: "fragmentation", find: pool::fragmentation },
    Rule { code: "xla-rematerialized", find: program::xla_rematerialized },
    Rule { code: "near-limit", find: fit::near_limit },
    Rule { code: "capacity-below-hbm", find: pool::capacity_below_hbm },
    Rule { code: "no-gradient", find: program::no_gradient },
    Rule { code: "eager", find: program::eager },
    Rule { code: "missing-data", find: missing::no_allocator_events },
    Rule { code: "missing-data", find: missing::no_plans },
];

/// The verdicts, the gravest first.
pub fn diagnose(case: &Case) -> Vec<Diagnosis> {
    let mut found: Vec<(Severity, Diagnosis)> = RULES.iter().filter_map(|rule| Some(told(rule, (rule.find)(case)?))).collect();
    found.sort_by_key(|(severity, _)| *severity);
    found.into_iter().map(|(_, diagnosis)| diagnosis).collect()
}

fn told(rule: &Rule, found: Found) -> (Severity, Diagnosis) {
    let Found { severity, text, args, numbers, fixes } = found;
    let args: BTreeMap<String, Arg> = args.into_iter().map(|(key, arg)| (key.to_owned(), arg)).collect();
    (severity, Diagnosis { code: rule.code.to_owned(), severity: severity.name().to_owned(), text, args, numbers, fixes })
}

#[cfg(test)]
mod tests {
    use super::test_case::{MIB, capture, codes, plan, told};
    use crate::xplane::plan::Plan;

    #[test]
    fn what_fits_is_not_remarked_upon() {
        assert_eq!(codes(&capture(plan(), 900, &[100, 100, 100], true)), Vec::<String>::new());
    }

    #[test]
    fn verdicts_are_sorted_by_severity_and_then_as_the_rules_are() {
        let capture = capture(Plan { donatable_bytes: 50 * MIB, xla_rematerialized: 3, ..plan() }, 300, &[280], false);
        let told = told(&capture);
        let severities: Vec<&str> = told.iter().map(|diagnosis| &diagnosis.severity[..]).collect();
        assert!(severities.is_sorted_by_key(|severity| ["error", "warning", "info"].iter().position(|name| name == severity)), "{severities:?}");
        assert!(told.iter().flat_map(|diagnosis| &diagnosis.numbers).all(|number| ["measured", "read", "estimated"].contains(&&number.basis[..])));
    }
}
