//! RL-Insight's table of all captures, in parts: as one text it could be larger than a string may be.

use crate::ascend::capture::Capture;
use crate::export::table::{self, Place};
use crate::web::engine::Engine;
use wasm_bindgen::prelude::*;

/// A part ends with the first row beyond this.
const PART_BYTES: usize = 8 << 20;

/// A table on its way out.
pub struct TableJob {
    order: Vec<Place>,
    next: usize,
    lines: bool,
    nearest: bool,
}

#[wasm_bindgen]
impl Engine {
    /// Begins a table: JSON Lines, or CSV. `nearest` takes RL-Insight's own rule for the stacks.
    pub fn table_begin(&mut self, lines: bool, nearest: bool) {
        let order = table::order(&self.all());
        self.table = Some(TableJob { order, next: 0, lines, nearest });
    }

    /// Its next part, UTF-8; empty when there is no more.
    pub fn table_next(&mut self) -> Vec<u8> {
        let Some(mut job) = self.table.take() else { return Vec::new() };
        let mut part = if job.next == 0 && !job.lines { table::header() } else { String::new() };
        let captures = self.all();
        while job.next < job.order.len() && part.len() < PART_BYTES {
            let row = table::row(&captures, &job.order[job.next], job.nearest);
            part += &if job.lines { table::json_row(&row) } else { table::csv_row(&row) };
            job.next += 1;
        }
        drop(captures);
        self.table = Some(job).filter(|job| job.next < job.order.len());
        part.into_bytes()
    }

    fn all(&self) -> Vec<&Capture> {
        // The report's order: captures arrive here in the order in which they were read.
        let mut all: Vec<&Capture> = self.captures.iter().map(|opened| &opened.capture).collect();
        all.sort_by(|a, b| a.facts.source.cmp(&b.facts.source));
        all
    }
}
