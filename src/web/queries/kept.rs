//! What is found once and asked for often: which blocks pass the filter, the order of all blocks, the tree of call stacks.

use super::blocks::BlockSort;
use super::flame::FlameOf;
use crate::ascend::choice::{BlockFilter, Choice, Clock};
use crate::ascend::flame::Flame;
use crate::web::derived::Only;
use crate::web::engine::Engine;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

/// So many orders are kept: whoever sorts by one column goes back to another.
const ORDERS: usize = 3;

/// A device of a capture.
pub(in crate::web) type Of = (u32, u32);

/// A device, whether stacks are guessed, and a column.
type Sorting = (Of, bool, BlockSort);

/// Found for a question.
struct Found<Q, A> {
    of: Q,
    answer: Arc<A>,
}

/// Found for the last questions; empty again when a trace brings stacks.
#[derive(Default)]
pub struct Kept {
    choice: Option<Found<(Of, bool, BlockFilter), Choice>>,
    orders: Vec<Found<Sorting, Vec<u32>>>,
    chosen: Option<Found<(Sorting, BlockFilter), Vec<u32>>>,
    flame: Option<Found<FlameOf, Flame>>,
}

impl Engine {
    /// Lets the charts of a device know the blocks that they show, where that is not all of them.
    pub(super) fn narrow(&mut self, of: Of, only: &Only) -> Result<(), JsError> {
        let choice = self.choice(of, only.nearest, &only.filter)?;
        self.derive(of.0, of.1, |derived, device, _| match choice {
            Some(choice) => derived.narrow(device, only, choice),
            None => derived.widen(),
        })
    }

    /// The blocks that pass a filter; None where all do.
    pub(super) fn choice(&self, of: Of, nearest: bool, filter: &BlockFilter) -> Result<Option<Arc<Choice>>, JsError> {
        let (device, opened) = self.device(of.0, of.1)?;
        if filter.is_all() {
            return Ok(None);
        }
        let key = (of, nearest, filter.clone());
        if let Some(found) = self.kept.borrow().choice.as_ref().filter(|found| found.of == key) {
            return Ok(Some(found.answer.clone()));
        }
        let clock = Clock { first_ns: opened.base_ns, end_ns: self.capture(of.0)?.capture.end_ns };
        let choice = Arc::new(Choice::of(device, filter, nearest, clock));
        self.kept.borrow_mut().choice = Some(Found { of: key, answer: choice.clone() });
        Ok(Some(choice))
    }

    /// The blocks that pass a filter, the smallest figure first.
    pub(super) fn order(&self, of: Of, nearest: bool, sort: BlockSort, filter: &BlockFilter) -> Result<Arc<Vec<u32>>, JsError> {
        let Some(choice) = self.choice(of, nearest, filter)? else { return self.whole_order(of, nearest, sort) };
        let key = ((of, nearest, sort), filter.clone());
        if let Some(found) = self.kept.borrow().chosen.as_ref().filter(|found| found.of == key) {
            return Ok(found.answer.clone());
        }
        let mut chosen = self.whole_order(of, nearest, sort)?.to_vec();
        choice.retain(&mut chosen);
        let chosen = Arc::new(chosen);
        self.kept.borrow_mut().chosen = Some(Found { of: key, answer: chosen.clone() });
        Ok(chosen)
    }

    fn whole_order(&self, of: Of, nearest: bool, sort: BlockSort) -> Result<Arc<Vec<u32>>, JsError> {
        let key = (of, nearest, sort);
        if let Some(found) = self.kept.borrow().orders.iter().find(|found| found.of == key) {
            return Ok(found.answer.clone());
        }
        let capture_end_ns = self.capture(of.0)?.capture.end_ns;
        let order = Arc::new(sort.ascending(self.device(of.0, of.1)?.0, nearest, capture_end_ns));
        let mut kept = self.kept.borrow_mut();
        kept.orders.truncate(ORDERS - 1);
        kept.orders.insert(0, Found { of: key, answer: order.clone() });
        Ok(order)
    }

    /// The tree of call stacks.
    pub(super) fn flame_of(&self, wanted: &FlameOf) -> Result<Arc<Flame>, JsError> {
        if let Some(found) = self.kept.borrow().flame.as_ref().filter(|found| found.of == *wanted) {
            return Ok(found.answer.clone());
        }
        let (device, opened) = self.device(wanted.of.0, wanted.of.1)?;
        let choice = self.choice(wanted.of, wanted.nearest, &wanted.filter)?;
        let flame = Arc::new(wanted.make(device, opened, choice.as_deref()));
        self.kept.borrow_mut().flame = Some(Found { of: wanted.clone(), answer: flame.clone() });
        Ok(flame)
    }
}
