//! Which of the events that may be executions are some, and which of these stands for each of the others.

use crate::xplane::sweep::{Origin, Record, Sweep};
use std::collections::HashMap;

/// Which records are executions: an Execute with its one part on the same thread counts once; each of several parts counts alone.
pub(super) fn chosen_records(sweep: &Sweep) -> Vec<usize> {
    let records = &sweep.records;
    let mut parts: HashMap<usize, Vec<usize>> = HashMap::new();
    for (index, record) in records.iter().enumerate().filter(|(_, record)| record.is_helper) {
        if let Some(whole) = whole_of(sweep, record) {
            parts.entry(whole).or_default().push(index);
        }
    }
    let stands_alone = |whole: usize| parts.get(&whole).is_none_or(|parts| matches!(parts[..], [part] if records[part].line == records[whole].line));
    let is_chosen = |&index: &usize| {
        let record = &records[index];
        if record.is_helper { whole_of(sweep, record).is_none_or(|whole| !stands_alone(whole)) } else { stands_alone(index) }
    };
    (0..records.len()).filter(is_chosen).collect()
}

/// The Execute that a helper is a part of: around it, or on the thread that began it.
pub(super) fn whole_of(sweep: &Sweep, record: &Record) -> Option<usize> {
    record.parent.or_else(|| origins(sweep, &record.consumes).find_map(|origin| origin.record)).filter(|&whole| !sweep.records[whole].is_helper)
}

/// Where something was begun, and where that was begun.
pub(super) fn origins<'a>(sweep: &'a Sweep, links: &[(i64, i64)]) -> impl Iterator<Item = &'a Origin> {
    const FARTHEST: usize = 4;
    let mut links = links.to_vec();
    let mut steps = 0;
    std::iter::from_fn(move || {
        let origin = links.iter().find_map(|link| sweep.origins.get(link)).filter(|_| steps < FARTHEST)?;
        steps += 1;
        links.clone_from(&origin.consumes);
        Some(origin)
    })
}

/// The execution that stands for each record.
pub(super) struct StandIns(Vec<u32>);

const NO_EXECUTION: u32 = u32::MAX;

impl StandIns {
    /// By the records that are executions, in the executions' order.
    pub(super) fn of(sweep: &Sweep, executions: impl Iterator<Item = usize>) -> StandIns {
        let mut number = vec![NO_EXECUTION; sweep.records.len()];
        executions.enumerate().for_each(|(execution, record)| number[record] = execution as u32);
        let mut found = number.clone();
        for (index, record) in sweep.records.iter().enumerate() {
            let whole = whole_of(sweep, record);
            if number[index] == NO_EXECUTION {
                if let Some(whole) = whole.or(record.parent).filter(|&whole| number[whole] != NO_EXECUTION) {
                    found[index] = number[whole];
                }
            } else if let Some(whole) = whole.filter(|_| record.is_helper) {
                // What an Execute asks for outside of its parts is counted to the first of them.
                if found[whole] == NO_EXECUTION {
                    found[whole] = number[index];
                }
            }
        }
        StandIns(found)
    }

    pub(super) fn get(&self, record: usize) -> Option<usize> {
        self.0.get(record).copied().filter(|&execution| execution != NO_EXECUTION).map(|execution| execution as usize)
    }
}
