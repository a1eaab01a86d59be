//! Which captures of the session are wanted, by the command line's rules.

use crate::ascend::select::{Selection, rank_list};
use crate::web::engine::Engine;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Engine {
    /// The captures of a list of ranks (`0,2-5`; empty: all) and a role (None: all). Refused when the list is none.
    pub fn select(&self, ranks: &str, role: Option<String>) -> Result<Vec<u32>, JsError> {
        let ranks = if ranks.trim().is_empty() { Vec::new() } else { rank_list(ranks).map_err(|reason| JsError::new(&reason))? };
        let selection = Selection { ranks, role };
        Ok((0..self.captures.len()).filter(|&capture| selection.takes(&self.captures[capture].capture.facts)).map(|capture| capture as u32).collect())
    }
}
