//! Whether the step fits: alone, beside the other arrays, and how near it comes to the limit.

use super::case::Case;
use super::donation::donation_matters;
use super::found::{Found, Severity, estimated, is_at_least, measured, number, permille, read, share, text};
use crate::error::Arg;
use crate::oom::fixes::{Fixes, Kind};
use crate::oom::xplane_report::Fix;
use crate::units::human_bytes;
use crate::xplane::plan::{HeapPeak, Plan};
use crate::xplane::roles::Role;
use std::cmp::Reverse;

/// A role that fills so much of the temporaries is what to change.
const MAIN_ROLE_PERMILLE: i64 = 500;
/// With less temporary memory than this share of what is needed, roles explain little.
const TEMP_MATTERS_PERMILLE: i64 = 200;
/// What checkpointing frees of what the forward pass keeps: the blocks' inputs stay.
const CHECKPOINT_SAVES_PERMILLE: i64 = 800;
/// A margin below this share of the capacity is small.
const NEAR_LIMIT_PERMILLE: i64 = 50;

pub(super) fn step_does_not_fit(case: &Case) -> Option<Found> {
    let (plan, capacity) = (case.plan?, case.capacity()?);
    let needed = plan.needed_bytes();
    if needed <= capacity {
        return None;
    }
    let mut found = Found {
        severity: Severity::Error,
        text: format!("the step itself doesn't fit: needs {} > {}", human_bytes(needed), human_bytes(capacity)),
        args: vec![("needed", Arg::Number(needed)), ("capacity", Arg::Number(capacity))],
        numbers: vec![read("needed", needed), measured("capacity", capacity)],
        fixes: Vec::new(),
    };
    // The cheapest of all fixes, where it is one.
    if donation_matters(plan) {
        found.fixes.push(case.fixes().fix(Kind::Donate, Some(plan.donatable_bytes)));
    }
    role_advice(case, plan, &mut found);
    Some(found)
}

/// Names the role that fills the temporaries, and what helps against it.
fn role_advice(case: &Case, plan: &Plan, found: &mut Found) {
    let heap = plan.heap.as_ref().filter(|_| is_at_least(plan.temp_bytes, plan.needed_bytes(), TEMP_MATTERS_PERMILLE));
    let Some(heap) = heap else {
        return found.fixes.push(case.fixes().fix(Kind::Fsdp, Some((plan.needed_bytes() - plan.temp_bytes) / 2)));
    };
    let Some((role, bytes)) = main_role(heap) else { return };
    let part = permille(bytes, heap.replay_bytes);
    let what = match role {
        Role::Forward => "kept by the forward pass for the backward pass",
        Role::Backward => "the backward pass's own",
        Role::Workspace => "scratch of library calls",
        Role::Other => "of no role that is known",
    };
    found.text = format!("{}; {} of the temporaries at their peak is {what}", found.text, share(part));
    found.args.extend([("role", text(role.name())), ("permille", Arg::Number(part))]);
    found.numbers.extend([
        read("temporaries at their peak", heap.replay_bytes),
        read(role.name(), bytes),
        number("share of the temporaries", part, "permille", "estimated"),
    ]);
    let square = heap.square.bytes;
    if role == Role::Forward && square > 0 {
        found.numbers.push(read("buffers with two equal trailing dimensions", square));
    }
    found.fixes.extend(role_fixes(case.fixes(), role, bytes, square));
}

/// The role that fills the temporaries, with its bytes.
fn main_role(heap: &HeapPeak) -> Option<(Role, i64)> {
    let largest = Role::ALL.into_iter().zip(heap.roles).max_by_key(|(role, bytes)| (*bytes, Reverse(*role)));
    largest.filter(|(_, bytes)| is_at_least(*bytes, heap.replay_bytes, MAIN_ROLE_PERMILLE))
}

/// What helps against so many bytes of a role. `square`: of buffers with two equal trailing dimensions.
fn role_fixes(fixes: Fixes, role: Role, bytes: i64, square: i64) -> Vec<Fix> {
    let kept = (i128::from(bytes) * i128::from(CHECKPOINT_SAVES_PERMILLE) / 1000) as i64;
    // Half the sequence: square buffers shrink to a quarter, the others to a half.
    let narrow = square.min(bytes);
    let shorter = narrow / 4 * 3 + (bytes - narrow) / 2;
    let helps = match role {
        Role::Forward => vec![(Kind::Checkpoint, Some(kept)), (Kind::MicroBatch, Some(bytes / 2)), (Kind::ShorterSequence, Some(shorter))],
        Role::Backward => vec![(Kind::Fsdp, Some(bytes / 2)), (Kind::MicroBatch, None), (Kind::NarrowGradients, Some(bytes / 2))],
        Role::Workspace => vec![(Kind::SmallerWorkspace, None)],
        Role::Other => vec![(Kind::MicroBatch, Some(bytes / 2))],
    };
    let fused = (role == Role::Forward && square > 0).then_some((Kind::FusedAttention, Some(square)));
    helps.into_iter().chain(fused).map(|(kind, saves)| fixes.fix(kind, saves)).collect()
}

pub(super) fn fits_alone(case: &Case) -> Option<Found> {
    let (plan, capacity, used, adds) = (case.plan?, case.capacity()?, case.used()?, case.adds()?);
    let wanted = used.saturating_add(adds);
    if plan.needed_bytes() > capacity || wanted <= capacity {
        return None;
    }
    let fixes = Fixes { wanted_bytes: Some(wanted), capacity_bytes: Some(capacity) };
    let mut found = Found {
        severity: Severity::Error,
        text: format!(
            "the step fits alone, not beside the other arrays: {} used at its start + {} > {}",
            human_bytes(used),
            human_bytes(adds),
            human_bytes(capacity)
        ),
        args: vec![("used", Arg::Number(used)), ("adds", Arg::Number(adds)), ("capacity", Arg::Number(capacity))],
        numbers: vec![measured("used at the last start", used), read("outputs and temporaries", adds), measured("capacity", capacity)],
        fixes: Vec::new(),
    };
    if let Some(other) = case.largest_other() {
        found.text = format!("{}; the largest other is {}, {}", found.text, human_bytes(other.bytes), other.owner);
        found.args.extend([("owner", text(&other.owner)), ("bytes", Arg::Number(other.bytes))]);
        found.numbers.push(measured("largest other group", other.bytes));
        found.fixes.push(fixes.fix(Kind::StreamFromHost, Some(other.bytes)));
        found.fixes.push(fixes.fix(Kind::SmallerType, Some(other.bytes / 2)));
    }
    Some(found)
}

pub(super) fn near_limit(case: &Case) -> Option<Found> {
    let (plan, capacity) = (case.plan?, case.capacity()?);
    let wanted = case.used().zip(case.adds()).map(|(used, adds)| used.saturating_add(adds)).unwrap_or(0).max(plan.needed_bytes());
    let margin = capacity.saturating_sub(wanted);
    if margin < 0 || is_at_least(margin, capacity, NEAR_LIMIT_PERMILLE) {
        return None;
    }
    Some(Found {
        severity: Severity::Warning,
        text: format!(
            "the step fits with {} to spare: the allocator needs its temporaries in one block, so that fragmentation alone can make it fail",
            human_bytes(margin)
        ),
        args: vec![("margin", Arg::Number(margin))],
        numbers: vec![estimated("wanted", wanted), measured("capacity", capacity), estimated("margin", margin)],
        fixes: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oom::diagnose::diagnose;
    use crate::oom::diagnose::test_case::{MIB, capture, codes, plan, told, value};

    #[test]
    fn the_main_role_picks_the_advice() {
        let told = told(&capture(plan(), 300, &[], true));
        assert_eq!((&told[0].code[..], &told[0].severity[..], told[0].fixes.len()), ("step-does-not-fit", "error", 4));
        assert_eq!((value(&told[0], "share of the temporaries"), told[0].fixes[0].saves_bytes.map(|bytes| bytes / MIB)), (750, Some(120)));
        assert!(told[0].fixes.iter().all(|fix| fix.fits_after == Some(true)));
        // Half the sequence: the square buffers shrink to a quarter, the others to a half.
        assert_eq!(told[0].fixes[2].saves_bytes, Some((30 + 55) * MIB));
        let mut backward = plan();
        backward.heap.as_mut().unwrap().roles = [30 * MIB, 150 * MIB, 0, 20 * MIB];
        let told = diagnose(&Case::of(&capture(backward, 300, &[], true), Some("jit_f(1)")));
        assert!(told[0].fixes[0].action.contains("FSDP"));
    }

    #[test]
    fn a_step_that_fits_alone_only() {
        let told = told(&capture(plan(), 400, &[250], true));
        assert_eq!(told.iter().map(|diagnosis| &diagnosis.code[..]).collect::<Vec<_>>(), ["fits-alone", "other-live-arrays", "capacity-below-hbm"]);
        // 250 in use, of which 100 are the parameters.
        assert!(told[0].text.contains("the largest other is 150.0 MiB, outputs of jit_g execution 1"), "{}", told[0].text);
    }

    #[test]
    fn near_the_limit_is_five_per_cent() {
        assert!(codes(&capture(plan(), 320, &[100], true)).contains(&"near-limit".to_owned()));
        assert!(!codes(&capture(plan(), 330, &[100], true)).contains(&"near-limit".to_owned()));
        assert!(!codes(&capture(plan(), 309, &[100], true)).contains(&"near-limit".to_owned()), "that does not fit");
    }
}
