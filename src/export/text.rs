//! The report as plain text, for a terminal.

use super::compare_text::{comparison_text, difference_text};
use super::inert::{name, printable};
use super::markdown::xplanes;
use super::stack_label;
use super::words::{OutsideRows, blocks, first_of, optional_bytes, outside_rows, setup_facts, since, stacks_found};
use super::xplane_text::{hosts_text, xplane_text};
use crate::error::Warning;
use crate::oom::report::{AscendReport, CaptureReport, ChangeReport, DeviceReport, GrowthReport, OperatorGroup, PeakReport, Report};
use crate::units::human_bytes;
use std::fmt::{self, Write};

/// How many groups of a list a terminal shows; the JSON has all.
pub(super) const SHOWN: usize = 10;

/// A page of text per capture.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    // The answer before the evidence.
    let _ = report.differences.iter().try_for_each(|difference| difference_text(&mut out, difference));
    let _ = report.comparison.iter().try_for_each(|comparison| comparison_text(&mut out, comparison));
    let _ = hosts_text(&mut out, &xplanes(report));
    for capture in &report.captures {
        // Writing to a String cannot fail.
        let _ = match capture {
            CaptureReport::Ascend(capture) => ascend_text(&mut out, capture),
            CaptureReport::Xplane(capture) => xplane_text(&mut out, capture),
        };
    }
    let _ = notes_text(&mut out, &report.warnings);
    out
}

fn ascend_text(out: &mut String, capture: &AscendReport) -> fmt::Result {
    writeln!(out, "{}", printable(&capture.source))?;
    let rank = capture.rank.map_or("rank unknown".to_owned(), |rank| format!("rank {rank}"));
    let role = capture.role.as_deref().map_or(String::new(), |role| format!(", role {}", name(role)));
    let time = capture.capture_time.as_deref().map_or(String::new(), |time| format!(", captured {time}"));
    writeln!(out, "  {rank}{role}{time}; {} rows, {} set aside", capture.rows.read, capture.rows.set_aside)?;
    if let Some(counts) = &capture.stacks {
        writeln!(out, "  {}", stacks_found(counts))?;
    }
    if let Some(setup) = &capture.facts {
        let facts: Vec<String> = setup_facts(setup).into_iter().map(|(setting, value)| format!("{}={}", name(&setting), name(&value))).collect();
        writeln!(out, "  made with {}", if facts.is_empty() { "settings that no file names".to_owned() } else { facts.join(" ") })?;
    }
    for device in &capture.devices {
        device_text(out, device, first_of(&capture.devices))?;
    }
    if let Some(outside) = outside_rows(capture.outside_framework.as_deref()) {
        outside_text(out, &outside)?;
    }
    notes_text(out, &capture.warnings)?;
    writeln!(out)
}

pub(super) fn notes_text(out: &mut String, warnings: &[Warning]) -> fmt::Result {
    if warnings.is_empty() {
        return Ok(());
    }
    writeln!(out, "  notes ({})", warnings.len())?;
    for warning in warnings.iter().take(SHOWN) {
        writeln!(out, "    {}", printable(&warning.message))?;
    }
    more(out, warnings.len(), "in the JSON report")
}

fn device_text(out: &mut String, device: &DeviceReport, first_ns: i64) -> fmt::Result {
    let peak = &device.peak;
    let since_start = |time_ns: &str| since(first_ns, time_ns);
    writeln!(out, "  {} {}: {}", name(&device.device), device.pool, blocks(device.blocks))?;
    writeln!(
        out,
        "    peak {} ({} B) at {} ({} ns), {} blocks live",
        human_bytes(peak.total_bytes),
        peak.total_bytes,
        since_start(&peak.time_ns),
        peak.time_ns,
        peak.live_blocks
    )?;
    let gap = device.max_reserved_gap_bytes.map_or(String::new(), |bytes| format!("; at most {} reserved and not allocated", human_bytes(bytes)));
    writeln!(out, "    reserved {}, active {} (as reported){gap}", optional_bytes(peak.reserved_bytes), optional_bytes(peak.active_bytes))?;
    writeln!(out, "    {:>11}  baseline: allocated before the capture", human_bytes(peak.baseline_bytes))?;
    groups_text(out, &peak.by_operator)?;
    stacks_text(out, peak)?;
    let alive = &device.alive_at_end;
    writeln!(out, "    alive at the end: {}, {} ({} B)", blocks(alive.blocks), human_bytes(alive.bytes), alive.bytes)?;
    groups_text(out, &alive.by_operator)?;
    changes_text(out, "drops (memory from before the capture, freed in it)", &device.baseline.drops, since_start)?;
    changes_text(out, "rises (rows are missing)", &device.baseline.rises, since_start)?;
    growth_text(out, device.growth.as_deref().unwrap_or_default())
}

fn groups_text(out: &mut String, groups: &[OperatorGroup]) -> fmt::Result {
    for group in groups.iter().take(SHOWN) {
        writeln!(out, "    {:>11}  {} in {}", human_bytes(group.bytes), name(&group.name), blocks(group.blocks))?;
    }
    more(out, groups.len(), "operators")
}

/// By the line that asked, with the rows that make it sum to the peak.
fn stacks_text(out: &mut String, peak: &PeakReport) -> fmt::Result {
    let Some(groups) = &peak.by_stack else { return Ok(()) };
    writeln!(out, "    the same by call stack (the first user frame from the leaf; → the leaf, ← callers, where several share it)")?;
    writeln!(out, "    {:>11}  baseline: allocated before the capture", human_bytes(peak.baseline_bytes))?;
    let labels = stack_label::labels(&groups.iter().take(SHOWN).map(|group| &group.stack[..]).collect::<Vec<_>>());
    for (group, label) in groups.iter().zip(&labels).take(SHOWN) {
        let guessed = if group.nearest_blocks > 0 { format!(" ({} by guess)", group.nearest_blocks) } else { String::new() };
        writeln!(out, "    {:>11}  {} in {}{guessed}", human_bytes(group.bytes), printable(label), blocks(group.blocks))?;
    }
    if let Some(rest) = groups.get(SHOWN..).filter(|rest| !rest.is_empty()) {
        let bytes = rest.iter().fold(0, |sum: i64, group| sum.saturating_add(group.bytes));
        writeln!(out, "    {:>11}  {} more call stacks", human_bytes(bytes), rest.len())?;
    }
    writeln!(out, "    {:>11}  total at the peak", human_bytes(peak.total_bytes))
}

fn growth_text(out: &mut String, groups: &[GrowthReport]) -> fmt::Result {
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "    grows with every step: equal blocks alive at the end of each; those that were freed later come last")?;
    for group in groups.iter().take(SHOWN) {
        let counts: Vec<String> = group.per_step_blocks.iter().take(SHOWN).map(i64::to_string).collect();
        let rest = if group.per_step_blocks.len() > SHOWN { ", …" } else { "" };
        let frame = stack_label::labels(&[&group.stack]).concat();
        let freed = if group.is_freed_later() { " (freed later)" } else { "" };
        writeln!(out, "    {:>11}  {} at {}: {}{rest}{freed}", human_bytes(group.size_bytes), name(&group.name), printable(&frame), counts.join(", "))?;
    }
    more(out, groups.len(), "in the JSON report")
}

fn outside_text(out: &mut String, outside: &OutsideRows) -> fmt::Result {
    writeln!(out, "  outside the framework at the peak: {}", optional_bytes(outside.total.map(|total| total.reserved_bytes)))?;
    for component in outside.components.iter().take(SHOWN) {
        writeln!(out, "    {:>11}  of it {}", human_bytes(component.reserved_bytes), name(&component.component))?;
    }
    more(out, outside.components.len(), "in the JSON report")?;
    let Some(application) = outside.application else { return Ok(()) };
    writeln!(out, "    {:>11}  set apart: {}, which contains the framework's pool", human_bytes(application.reserved_bytes), name(&application.component))
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

pub(super) fn more(out: &mut String, count: usize, where_: &str) -> fmt::Result {
    if count > SHOWN { writeln!(out, "                 {} more {where_}", count - SHOWN) } else { Ok(()) }
}
