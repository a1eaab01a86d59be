//! The report as plain text, for a terminal.

use crate::ascend::trace_view::is_user_frame;
use crate::error::Warning;
use crate::oom::report::{AscendReport, CaptureReport, ChangeReport, DeviceReport, OperatorGroup, Report, StackGroup};
use crate::oom::xplane_report::XplaneReport;
use crate::units::{human_bytes, human_ns};
use std::fmt::{self, Display, Write};

/// How many groups of a list a terminal shows; the JSON has all.
const SHOWN: usize = 10;

/// A page of text per capture.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    for capture in &report.captures {
        // Writing to a String cannot fail.
        let _ = match capture {
            CaptureReport::Ascend(capture) => ascend_text(&mut out, capture),
            CaptureReport::Xplane(capture) => xplane_text(&mut out, capture),
        };
    }
    out
}

fn ascend_text(out: &mut String, capture: &AscendReport) -> fmt::Result {
    writeln!(out, "{}", printable(&capture.source))?;
    let rank = capture.rank.map_or("rank unknown".to_owned(), |rank| format!("rank {rank}"));
    let role = capture.role.as_deref().map_or(String::new(), |role| format!(", role {}", printable(role)));
    let time = capture.capture_time.as_deref().map_or(String::new(), |time| format!(", captured {time}"));
    writeln!(out, "  {rank}{role}{time}; {} rows, {} set aside", capture.rows.read, capture.rows.set_aside)?;
    if let Some(stacks) = &capture.stacks {
        let found = stacks.own + stacks.task_queue + stacks.ancestor + stacks.forward + stacks.python;
        writeln!(out, "  call stacks for {found} of {}", blocks(found + stacks.none))?;
    }
    for device in &capture.devices {
        device_text(out, device)?;
    }
    notes_text(out, &capture.warnings)?;
    writeln!(out)
}

fn xplane_text(out: &mut String, capture: &XplaneReport) -> fmt::Result {
    writeln!(out, "{}", printable(&capture.source))?;
    notes_text(out, &capture.warnings)?;
    writeln!(out)
}

fn notes_text(out: &mut String, warnings: &[Warning]) -> fmt::Result {
    if warnings.is_empty() {
        return Ok(());
    }
    writeln!(out, "  notes ({})", warnings.len())?;
    for warning in warnings.iter().take(SHOWN) {
        writeln!(out, "    {}", printable(&warning.message))?;
    }
    more(out, warnings.len(), "in the JSON report")
}

fn device_text(out: &mut String, device: &DeviceReport) -> fmt::Result {
    let peak = &device.peak;
    let since_start = |time_ns: &str| human_ns(time_ns.parse::<i64>().unwrap_or(0) - device.first_ns.parse::<i64>().unwrap_or(0));
    writeln!(out, "  {} {}: {}", printable(&device.device), device.pool, blocks(device.blocks))?;
    writeln!(
        out,
        "    peak {} ({} B) at {} ({} ns), {} blocks live",
        human_bytes(peak.total_bytes),
        peak.total_bytes,
        since_start(&peak.time_ns),
        peak.time_ns,
        peak.live_blocks
    )?;
    let optional = |bytes: Option<i64>| bytes.map_or("unknown".to_owned(), human_bytes);
    writeln!(out, "    reserved {}, active {} (as reported)", optional(peak.reserved_bytes), optional(peak.active_bytes))?;
    writeln!(out, "    {:>11}  baseline: allocated before the capture", human_bytes(peak.baseline_bytes))?;
    groups_text(out, &peak.by_operator)?;
    stacks_text(out, peak.by_stack.as_deref().unwrap_or_default())?;
    let alive = &device.alive_at_end;
    writeln!(out, "    alive at the end: {}, {} ({} B)", blocks(alive.blocks), human_bytes(alive.bytes), alive.bytes)?;
    groups_text(out, &alive.by_operator)?;
    changes_text(out, "drops (memory from before the capture, freed in it)", &device.baseline.drops, since_start)?;
    changes_text(out, "rises (rows are missing)", &device.baseline.rises, since_start)
}

fn groups_text(out: &mut String, groups: &[OperatorGroup]) -> fmt::Result {
    for group in groups.iter().take(SHOWN) {
        writeln!(out, "    {:>11}  {} in {}", human_bytes(group.bytes), printable(&group.name), blocks(group.blocks))?;
    }
    more(out, groups.len(), "operators")
}

/// By the line that asked: the first frame, from the leaf, that is no library's.
fn stacks_text(out: &mut String, groups: &[StackGroup]) -> fmt::Result {
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "    the same by call stack (first user frame)")?;
    for group in groups.iter().take(SHOWN) {
        let frame = group.stack.iter().rev().find(|frame| is_user_frame(frame)).or(group.stack.last());
        let frame = frame.map_or("(no call stack)", String::as_str);
        writeln!(out, "    {:>11}  {} in {}", human_bytes(group.bytes), printable(frame), blocks(group.blocks))?;
    }
    more(out, groups.len(), "call stacks")
}

/// "1 block", "2 blocks".
fn blocks(count: u64) -> String {
    format!("{count} block{}", if count == 1 { "" } else { "s" })
}

fn changes_text(out: &mut String, what: &str, changes: &[ChangeReport], since_start: impl Fn(&str) -> String) -> fmt::Result {
    if changes.is_empty() {
        return Ok(());
    }
    writeln!(out, "    baseline {what}: {}", changes.len())?;
    for change in changes.iter().take(SHOWN) {
        writeln!(out, "    {:>11}  {} B at {}", human_bytes(change.bytes), change.bytes, since_start(&change.time_ns))?;
    }
    more(out, changes.len(), "in the JSON report")
}

fn more(out: &mut String, count: usize, where_: &str) -> fmt::Result {
    if count > SHOWN { writeln!(out, "                 {} more {where_}", count - SHOWN) } else { Ok(()) }
}

/// A file's text without control characters: it must not steer a terminal.
fn printable(text: &str) -> impl Display {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_text_cannot_steer_a_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\n").to_string(), "a\u{fffd}[2Jb\u{fffd}");
    }
}
