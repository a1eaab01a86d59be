//! What else is alive beside the module's parameters.

use super::case::Case;
use super::found::{Found, Severity, estimated, is_at_least, measured, read, text};
use super::growth::keeps_outputs;
use crate::error::Arg;
use crate::oom::fixes::Kind;
use crate::units::human_bytes;
use crate::xplane::runtime::execution::is_output_of;
use crate::xplane::runtime::owners::BEFORE;

/// Other arrays matter from this share of the capacity.
const OTHERS_MATTER_PERMILLE: i64 = 100;

pub(super) fn other_live_arrays(case: &Case) -> Option<Found> {
    let (plan, capacity, used) = (case.plan?, case.capacity()?, case.used()?);
    let others = used.saturating_sub(plan.parameters.bytes);
    if !is_at_least(others, capacity, OTHERS_MATTER_PERMILLE) {
        return None;
    }
    let largest = case.largest_other()?;
    // That each execution leaves its outputs was said: they are one cause.
    if keeps_outputs(case) && case.module.is_some_and(|module| is_output_of(&largest.owner, module)) {
        return None;
    }
    let fixes = case.fixes();
    let came_before = largest.owner == BEFORE;
    let first = if came_before { fixes.fix(Kind::ProfileEarlier, None) } else { fixes.fix(Kind::StreamFromHost, Some(largest.bytes)) };
    Some(Found {
        severity: Severity::Warning,
        text: format!(
            "other live arrays take {} of the room; the largest group, {}, came from: {}",
            human_bytes(others),
            human_bytes(largest.bytes),
            largest.owner
        ),
        args: vec![("others", Arg::Number(others)), ("bytes", Arg::Number(largest.bytes)), ("owner", text(&largest.owner))],
        numbers: vec![
            measured("used at the last start", used),
            read("parameters", plan.parameters.bytes),
            estimated("other arrays", others),
            measured("largest other group", largest.bytes),
        ],
        fixes: vec![first, fixes.fix(Kind::SmallerType, Some(largest.bytes / 2))],
    })
}
