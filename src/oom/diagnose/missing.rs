//! What a capture lacks.

use super::case::Case;
use super::found::{Found, Severity, text};
use crate::error::{MadeOn, no_hlo_proto};

pub(super) fn no_allocator_events(case: &Case) -> Option<Found> {
    let capture = case.capture;
    if !capture.is_xspace || !capture.runtime.allocators.is_empty() {
        return None;
    }
    let why = capture.made_on.no_allocator_events();
    let sentence = format!("nothing to say about memory at run time, since the capture has no events of an allocator: {why}");
    Some(missing(sentence, "allocator-events", capture.made_on.name()))
}

pub(super) fn no_plans(case: &Case) -> Option<Found> {
    let capture = case.capture;
    if !capture.is_xspace || !capture.plans.is_empty() || capture.made_on == MadeOn::Damaged {
        return None;
    }
    let why = no_hlo_proto(capture.tensorflow);
    let sentence = format!("nothing to say about plans, since there is no plan in this capture: {why}");
    Some(missing(sentence, "hlo-proto", if capture.tensorflow { "tensorflow" } else { "jax" }))
}

fn missing(sentence: String, what: &str, why: &str) -> Found {
    Found { severity: Severity::Info, text: sentence, args: vec![("what", text(what)), ("why", text(why))], numbers: Vec::new(), fixes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oom::diagnose::test_case::{capture, plan};

    #[test]
    fn only_an_xspace_lacks_something_and_a_damaged_one_may_have_had_plans() {
        let mut bare = capture(plan(), 900, &[], true);
        bare.plans.clear();
        bare.runtime.allocators.clear();
        let codes = |capture: &_| {
            let case = Case::of(capture, None);
            (no_allocator_events(&case).is_some(), no_plans(&case).is_some())
        };
        assert_eq!(codes(&bare), (true, true));
        bare.made_on = MadeOn::Damaged;
        assert_eq!(codes(&bare), (true, false));
        bare.is_xspace = false;
        assert_eq!(codes(&bare), (false, false));
    }
}
