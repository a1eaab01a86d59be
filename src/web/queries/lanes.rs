//! The lanes of a view of the Gantt.

use crate::ascend::grouping::By;
use crate::timeline::lod::NO_LANE;
use crate::web::derived::Laid;
use crate::web::engine::Engine;
use crate::web::messages::LaneSummary;
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// The lanes of a view.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct LanesAnswer {
    /// By bytes at the peak, then volume, then name. None: no trace was read, so there are none of stacks.
    pub lanes: Option<Vec<LaneSummary>>,
}

#[wasm_bindgen]
impl Engine {
    /// The lanes of a view. `by` is a [`By`].
    pub fn lanes(&mut self, capture: u32, device: u32, by: Ts<By>, nearest: bool) -> Result<Ts<LanesAnswer>, JsError> {
        let laid = Laid::new(by.to_rust()?, nearest);
        self.derive(capture, device, |derived, device, _| derived.need_lanes(device, laid))?;
        let (device, opened) = self.device(capture, device)?;
        Ok(LanesAnswer { lanes: opened.derived.lanes(laid).map(|set| set.summaries(device, opened.base_ns)) }.into_ts()?)
    }

    /// The lane of a block in a view; None: it has none.
    pub fn lane_of(&mut self, capture: u32, device: u32, by: Ts<By>, nearest: bool, block: u32) -> Result<Option<u32>, JsError> {
        let laid = Laid::new(by.to_rust()?, nearest);
        self.derive(capture, device, |derived, device, _| derived.need_lanes(device, laid))?;
        let (_, opened) = self.device(capture, device)?;
        Ok(opened.derived.lanes(laid).and_then(|set| set.lane_of.get(block as usize).copied()).filter(|&lane| lane != NO_LANE))
    }
}
