//! What the host did between two executions.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::sync::Arc;

/// What the host did between the last two executions of a module on a device, on the thread of the call: the outermost events that lie
/// wholly in between, and at any depth those that may be what keeps arrays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    /// See [`super::execution::Execution::module`].
    pub module: Arc<str>,
    /// See [`super::execution::Execution::device`].
    pub device: Option<i64>,
    /// By start.
    pub events: Vec<HostEvent>,
}

/// What the host did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostEvent {
    /// When it began.
    pub start_ps: i64,
    /// How long it took.
    pub duration_ps: i64,
    /// `$train.py:41 next_batch`.
    pub name: String,
    /// It may be what keeps arrays.
    pub highlight: bool,
    /// The Python functions around it, the innermost last; told where it may be what keeps arrays.
    pub frames: Vec<String>,
}

impl Between {
    /// At most so many events, those first that may be what keeps arrays; by start.
    pub fn first(&self, most: usize) -> Vec<HostEvent> {
        let (mut highlighted, mut others): (Vec<&HostEvent>, Vec<&HostEvent>) = self.events.iter().partition(|event| event.highlight);
        highlighted.truncate(most);
        others.truncate(most - highlighted.len());
        highlighted.append(&mut others);
        highlighted.sort_by_key(|event| (event.start_ps, Reverse(event.duration_ps)));
        highlighted.into_iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_keep_arrays_comes_before_others_and_all_by_start() {
        let event = |start_ps: i64, highlight: bool| HostEvent { start_ps, duration_ps: 1, name: String::new(), highlight, frames: Vec::new() };
        let events = [(10, false), (20, false), (30, true), (40, true)].map(|(start_ps, highlight)| event(start_ps, highlight));
        let between = Between { module: "jit_f(7)".into(), device: None, events: events.into() };
        let first = |most| between.first(most).iter().map(|event| event.start_ps).collect::<Vec<_>>();
        assert_eq!([first(0), first(1), first(3), first(9)], [vec![], vec![30], vec![10, 30, 40], vec![10, 20, 30, 40]]);
    }
}
