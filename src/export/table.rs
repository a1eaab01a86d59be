//! The table of RL-Insight: one row a block, its columns in its order, so that scripts written for it go on working.
//!
//! A block that was not released has the duration 0.0; a stack keeps the file's own separators, and its top is the text before the first
//! one. Rows are sorted by start, as the number that is printed, and keep the order of their files where that is equal.

use crate::ascend::capture::{Capture, Device};
use crate::ascend::trace_view::NONE;
use crate::timeline::blocks::{OPEN, UNKNOWN};
use crate::units::{KIB, MIB};
use serde::Serialize;

/// The columns.
pub const COLUMNS: [&str; 12] = [
    "name",
    "role",
    "rank_id",
    "call_stack",
    "call_stack_top",
    "size_kb",
    "start_time_ms",
    "duration_ms",
    "total_allocated_mb",
    "total_reserved_mb",
    "total_active_mb",
    "device_type",
];

const SEPARATOR: &str = ";\r\n";

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)] // The columns are RL-Insight's.
pub struct Row<'a> {
    pub name: &'a str,
    pub role: &'a str,
    pub rank_id: Option<i64>,
    pub call_stack: &'a str,
    pub call_stack_top: &'a str,
    pub size_kb: f64,
    pub start_time_ms: f64,
    pub duration_ms: f64,
    pub total_allocated_mb: f64,
    pub total_reserved_mb: f64,
    pub total_active_mb: f64,
    pub device_type: &'a str,
}

/// Where a row comes from.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    start_ms: f64,
    capture: u32,
    line: u32,
    device: u32,
    block: u32,
}

/// The rows of some captures in their order.
pub fn order(captures: &[&Capture]) -> Vec<Place> {
    let mut order: Vec<Place> = Vec::new();
    for (capture, of) in captures.iter().enumerate() {
        for (device, of) in of.devices.iter().enumerate() {
            let blocks = &of.blocks;
            let place = |block: usize| Place {
                start_ms: start_ms(blocks.start_ns[block]),
                capture: capture as u32,
                line: blocks.line[block],
                device: device as u32,
                block: block as u32,
            };
            order.extend((0..blocks.len()).map(place));
        }
    }
    let within = |place: &Place| (place.capture, place.line, place.device, place.block);
    order.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms).then_with(|| within(a).cmp(&within(b))));
    order
}

/// A row of the captures that [`order`] was given. `nearest` takes RL-Insight's own rule for stacks in place of ours.
pub fn row<'a>(captures: &[&'a Capture], place: &Place, nearest: bool) -> Row<'a> {
    let capture = captures[place.capture as usize];
    row_of(capture, &capture.devices[place.device as usize], place.block as usize, place.start_ms, nearest)
}

fn row_of<'a>(capture: &'a Capture, device: &'a Device, block: usize, start_time_ms: f64, nearest: bool) -> Row<'a> {
    let blocks = &device.blocks;
    let stack = device.stacks.as_ref().map_or("", |stacks| {
        let number = if nearest { stacks.nearest[block] } else { stacks.of_block[block] };
        if number == NONE { "" } else { &stacks.texts[number as usize] }
    });
    let total = blocks.at_start.get(block);
    let megabytes = |bytes: i64| if bytes == UNKNOWN { 0.0 } else { as_printed(bytes as f64 / MIB as f64, total.tolerance_millibytes) };
    let end_ns = blocks.end_ns[block];
    Row {
        name: &blocks.names[blocks.name[block] as usize],
        role: capture.facts.role.as_deref().unwrap_or_default(),
        rank_id: capture.facts.rank,
        call_stack: stack,
        call_stack_top: stack.split(SEPARATOR).next().unwrap_or_default(),
        size_kb: blocks.size_bytes[block] as f64 / KIB as f64,
        start_time_ms,
        duration_ms: if end_ns == OPEN { 0.0 } else { (end_ns - blocks.start_ns[block]) as f64 / 1e6 },
        total_allocated_mb: megabytes(total.allocated_bytes),
        total_reserved_mb: megabytes(total.reserved_bytes),
        total_active_mb: megabytes(total.active_bytes),
        device_type: &device.device,
    }
}

/// Through the text of microseconds, as RL-Insight does: dividing nanoseconds would round otherwise.
fn start_ms(ns: i64) -> f64 {
    let microseconds: f64 = format!("{}.{:03}", ns / 1000, ns % 1000).parse().unwrap_or(f64::NAN);
    microseconds / 1000.0
}

/// A total that the file printed with few digits, with just these digits.
fn as_printed(megabytes: f64, tolerance_millibytes: u32) -> f64 {
    if tolerance_millibytes == 0 {
        return megabytes;
    }
    let decimals = (0..=18u32).find(|&decimals| (MIB * 500).div_ceil(10u64.pow(decimals)) as u32 == tolerance_millibytes).unwrap_or(18) as usize;
    format!("{megabytes:.decimals$}").parse().unwrap_or(megabytes)
}

/// The first line of the CSV.
pub fn header() -> String {
    COLUMNS.join(",") + "\n"
}

/// A row as CSV. Text that a spreadsheet would take for a formula gets an apostrophe before it.
pub fn csv_row(row: &Row) -> String {
    let rank = row.rank_id.map_or(String::new(), |rank| rank.to_string());
    let cells = [
        text_cell(row.name),
        text_cell(row.role),
        rank,
        text_cell(row.call_stack),
        text_cell(row.call_stack_top),
        row.size_kb.to_string(),
        row.start_time_ms.to_string(),
        row.duration_ms.to_string(),
        row.total_allocated_mb.to_string(),
        row.total_reserved_mb.to_string(),
        row.total_active_mb.to_string(),
        text_cell(row.device_type),
    ];
    cells.join(",") + "\n"
}

/// A row as a line of JSON.
pub fn json_row(row: &Row) -> String {
    // Text and finite numbers: nothing that JSON cannot say.
    serde_json::to_string(row).unwrap_or_default() + "\n"
}

/// A text as a cell of CSV, no formula to a spreadsheet.
pub fn text_cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if guard.is_empty() && !text.contains([',', '"', '\n', '\r']) { text.to_owned() } else { format!("\"{guard}{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_disarmed_and_separators_quoted() {
        assert_eq!(text_cell("=1+1"), "\"'=1+1\"");
        assert_eq!(text_cell("a;\r\nb"), "\"a;\r\nb\"");
        assert_eq!(text_cell("say \"x\",y"), "\"say \"\"x\"\",y\"");
        assert_eq!(text_cell("aten::add"), "aten::add");
    }

    #[test]
    fn totals_are_as_the_file_prints_them() {
        assert_eq!(as_printed(19_071.605_470_657, 5_243), 19_071.605_47);
        assert_eq!(as_printed(19_071.576_171_875, 0), 19_071.576_171_875);
    }

    #[test]
    fn starts_round_as_rl_insight_rounds() {
        assert_eq!(start_ms(1_779_785_515_596_661_500), 1_779_785_515_596_661.5f64 / 1000.0);
    }
}
