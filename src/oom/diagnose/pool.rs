//! The allocator's pool: waits, fragmentation, its size.

use super::case::Case;
use super::found::{Found, Severity, estimated, is_at_least, measured, number, permille, read, share};
use crate::error::Arg;
use crate::oom::fixes::Kind;
use crate::units::{human_bytes, human_ns};
use crate::xplane::plan::Plan;
use crate::xplane::runtime::execution::Execution;

/// A pool below this share of the device's memory was limited by somebody.
const POOL_OF_HBM_PERMILLE: i64 = 600;

pub(super) fn allocator_retry(case: &Case) -> Option<Found> {
    let runtime = &case.capture.runtime;
    let longest_ps = runtime.retries.iter().map(|retry| retry.duration_ps).max()?;
    let idle = runtime.retries.iter().filter(|retry| retry.execution.is_some_and(|execution| runtime.executions[execution].launched == Some(false))).count();
    let count = runtime.retries.len();
    let inferred = runtime.retries.iter().filter(|retry| retry.inferred).count();
    let longest_ns = longest_ps.div_euclid(1000);
    let whole = |count: usize| Arg::Number(count as i64);
    let mut numbers = vec![
        number("waits for memory", count as i64, "count", if inferred == count { "estimated" } else { "measured" }),
        number("longest", longest_ns, "ns", "measured"),
    ];
    if idle > 0 {
        numbers.push(number("launched none", idle as i64, "count", "measured"));
    }
    Some(Found {
        severity: if idle > 0 { Severity::Error } else { Severity::Warning },
        text: waits_text(count, idle, inferred, longest_ns),
        args: vec![("count", whole(count)), ("idle", whole(idle)), ("inferred", whole(inferred)), ("longest_ns", Arg::Number(longest_ns))],
        numbers,
        fixes: Vec::new(),
    })
}

fn waits_text(count: usize, idle: usize, inferred: usize, longest_ns: i64) -> String {
    let probable = if inferred == count { "probable " } else { "" };
    let waits = if count == 1 { format!("1 {probable}wait") } else { format!("{count} {probable}waits") };
    let launched = match (idle, count) {
        (0, _) => String::new(),
        (idle, count) if idle == count => ", launched none".to_owned(),
        (idle, _) => format!(", {idle} launched none"),
    };
    let basis = match inferred {
        0 => String::new(),
        inferred if inferred == count => " (inferred from how long it took: this version writes no AllocatorRetry event)".to_owned(),
        inferred => format!(" ({inferred} inferred from how long they took)"),
    };
    format!("AllocatorRetry: {waits} for memory, longest {}{launched}{basis}", human_ns(longest_ns))
}

pub(super) fn fragmentation(case: &Case) -> Option<Found> {
    let (plan, allocator) = (case.plan?, case.allocator?);
    let execution = case.executions.iter().rev().find(|execution| execution.launched == Some(false))?;
    let request = failed_request(plan, execution);
    let waits = case.capture.runtime.retries.iter().filter(|retry| retry.device == execution.device && retry.start_ps >= execution.start_ps);
    let asked_ps = waits.map(|retry| retry.start_ps).min().unwrap_or(execution.start_ps).max(execution.start_ps.saturating_add(1));
    let before = allocator.last_before(asked_ps)?;
    let largest = before.largest_free_bytes;
    if request > before.available_bytes || request <= largest {
        return None;
    }
    Some(Found {
        severity: Severity::Warning,
        text: format!(
            "fragmentation: {} were free, but not in one piece: the largest was {}, and {} were asked for",
            human_bytes(before.available_bytes),
            human_bytes(largest),
            human_bytes(request)
        ),
        args: vec![("available", Arg::Number(before.available_bytes)), ("largest", Arg::Number(largest)), ("request", Arg::Number(request))],
        numbers: vec![measured("free", before.available_bytes), estimated("largest free chunk", largest), read("asked for", request)],
        fixes: vec![case.fixes().fix(Kind::Defragment, None)],
    })
}

/// What an execution that launched nothing asked for in vain: an output it did not get, else its temporary block.
pub fn failed_request(plan: &Plan, execution: &Execution) -> i64 {
    let mut missing = plan.output_bytes.clone();
    for request in &execution.requests {
        if let Some(at) = missing.iter().position(|output| output == request) {
            missing.remove(at);
        }
    }
    if execution.requests.len() >= plan.output_bytes.len() || missing.is_empty() { plan.temp_bytes } else { missing[0] }
}

pub(super) fn capacity_below_hbm(case: &Case) -> Option<Found> {
    let (allocator, capacity) = (case.allocator?, case.capacity()?);
    let hbm = *case.capture.hbm_bytes.get(&allocator.device?)?;
    if is_at_least(capacity, hbm, POOL_OF_HBM_PERMILLE) {
        return None;
    }
    let part = permille(capacity, hbm);
    let fixes = case.fixes();
    Some(Found {
        severity: Severity::Info,
        text: format!(
            "the pool has {} of the device's {} ({}): XLA_PYTHON_CLIENT_MEM_FRACTION was set, which the capture does not record; raising it helps only if the GPU really has room",
            human_bytes(capacity),
            human_bytes(hbm),
            share(part)
        ),
        args: vec![("capacity", Arg::Number(capacity)), ("hbm", Arg::Number(hbm)), ("permille", Arg::Number(part))],
        numbers: vec![measured("capacity", capacity), measured("memory of the device", hbm), number("share", part, "permille", "estimated")],
        fixes: vec![fixes.fix(Kind::RaisePool, None)],
    })
}

#[cfg(test)]
mod tests {
    use crate::oom::diagnose::test_case::{MIB, capture, codes, plan, told};
    use crate::xplane::plan::Plan;
    use crate::xplane::runtime::retries::Retry;

    #[test]
    fn a_wait_is_graver_where_nothing_was_launched() {
        for (launched, severity) in [(true, "warning"), (false, "error")] {
            let mut capture = capture(plan(), 900, &[100], launched);
            capture.runtime.retries.push(Retry { device: Some(0), start_ps: 50, duration_ps: 10, execution: Some(0), inferred: false });
            let told = told(&capture);
            assert_eq!((&told[0].code[..], &told[0].severity[..]), ("allocator-retry", severity));
        }
    }

    #[test]
    fn fragmentation_is_a_request_between_the_largest_chunk_and_what_is_free() {
        // 500 free, 250 of them in one piece: the temporary block of 200 would have found its place, one of 300 not.
        let with_temp = |temp: i64, requests: Vec<i64>| {
            let mut capture = capture(Plan { temp_bytes: temp * MIB, ..plan() }, 600, &[100], false);
            capture.runtime.executions[0].requests = requests;
            codes(&capture).contains(&"fragmentation".to_owned())
        };
        assert!(!with_temp(200, vec![10 * MIB]) && with_temp(300, vec![10 * MIB]));
        assert!(!with_temp(300, Vec::new()), "the output of 10 MiB was asked for first");
    }
}
