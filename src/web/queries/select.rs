//! Which captures of the session are wanted, by the command line's rules.

use crate::ascend::select::{Selection, rank_list};
use crate::web::engine::Engine;
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// The captures that were chosen.
#[derive(Tsify, Serialize)]
pub struct SelectAnswer {
    /// By the numbers of the engine.
    pub captures: Vec<u32>,
    /// By their places in the comparison, those that only a report tells of included.
    pub compared: Vec<u32>,
}

#[wasm_bindgen]
impl Engine {
    /// The captures of a list of ranks (`0,2-5`; empty: all) and a role (None: all). Refused when the list is none.
    pub fn select(&self, ranks: &str, role: Option<String>) -> Result<Ts<SelectAnswer>, JsError> {
        let ranks = if ranks.trim().is_empty() { Vec::new() } else { rank_list(ranks).map_err(|reason| JsError::new(&reason))? };
        let selection = Selection { ranks, role };
        let mut answer = SelectAnswer { captures: Vec::new(), compared: Vec::new() };
        for (place, compared) in self.compared(0).captures.iter().enumerate() {
            if selection.takes(compared.rank, compared.role.as_deref()) {
                answer.compared.push(place as u32);
                answer.captures.extend(compared.capture);
            }
        }
        Ok(answer.into_ts()?)
    }
}
