//! What is found once and asked for often: which blocks pass the filter, and the order of all blocks.

use super::blocks::BlockSort;
use crate::ascend::choice::{BlockFilter, Choice, Clock};
use crate::web::engine::Engine;
use std::rc::Rc;
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
    answer: Rc<A>,
}

/// Found for the last questions; empty again when a trace brings stacks.
#[derive(Default)]
pub struct Kept {
    choice: Option<Found<(Of, bool, BlockFilter), Choice>>,
    orders: Vec<Found<Sorting, Vec<u32>>>,
    chosen: Option<Found<(Sorting, BlockFilter), Vec<u32>>>,
}

impl Engine {
    /// The blocks that pass a filter; None where all do.
    pub(super) fn choice(&self, of: Of, nearest: bool, filter: &BlockFilter) -> Result<Option<Rc<Choice>>, JsError> {
        let (device, opened) = self.device(of.0, of.1)?;
        if filter.is_all() {
            return Ok(None);
        }
        let key = (of, nearest, filter.clone());
        if let Some(found) = self.kept.borrow().choice.as_ref().filter(|found| found.of == key) {
            return Ok(Some(found.answer.clone()));
        }
        let clock = Clock { first_ns: opened.base_ns, end_ns: self.capture(of.0)?.capture.end_ns };
        let choice = Rc::new(Choice::of(device, filter, nearest, clock));
        self.kept.borrow_mut().choice = Some(Found { of: key, answer: choice.clone() });
        Ok(Some(choice))
    }

    /// The blocks that pass a filter, the smallest figure first.
    pub(super) fn order(&self, of: Of, nearest: bool, sort: BlockSort, filter: &BlockFilter) -> Result<Rc<Vec<u32>>, JsError> {
        let Some(choice) = self.choice(of, nearest, filter)? else { return self.whole_order(of, nearest, sort) };
        let key = ((of, nearest, sort), filter.clone());
        if let Some(found) = self.kept.borrow().chosen.as_ref().filter(|found| found.of == key) {
            return Ok(found.answer.clone());
        }
        let mut chosen = self.whole_order(of, nearest, sort)?.to_vec();
        choice.retain(&mut chosen);
        let chosen = Rc::new(chosen);
        self.kept.borrow_mut().chosen = Some(Found { of: key, answer: chosen.clone() });
        Ok(chosen)
    }

    fn whole_order(&self, of: Of, nearest: bool, sort: BlockSort) -> Result<Rc<Vec<u32>>, JsError> {
        let key = (of, nearest, sort);
        if let Some(found) = self.kept.borrow().orders.iter().find(|found| found.of == key) {
            return Ok(found.answer.clone());
        }
        let capture_end_ns = self.capture(of.0)?.capture.end_ns;
        let order = Rc::new(sort.ascending(self.device(of.0, of.1)?.0, nearest, capture_end_ns));
        let mut kept = self.kept.borrow_mut();
        kept.orders.truncate(ORDERS - 1);
        kept.orders.insert(0, Found { of: key, answer: order.clone() });
        Ok(order)
    }
}
