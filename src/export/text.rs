//! The report as plain text, for a terminal.

use super::xplane_text::{hosts_text, xplane_text};
use crate::ascend::trace_view::is_user_frame;
use crate::error::Warning;
use crate::oom::compare::{Comparison, OUTLIER_DEVIATIONS, OUTLIER_PERCENT, Outlier, RankGroup, RankRow, Spread};
use crate::oom::report::{AscendReport, CaptureReport, ChangeReport, DeviceReport, OperatorGroup, Report, StackGroup};
use crate::oom::xplane_report::XplaneReport;
use crate::units::{human_bytes, human_ns};
use std::fmt::{self, Write};

/// How many groups of a list a terminal shows; the JSON has all.
pub(super) const SHOWN: usize = 10;
/// How many operators say why a rank departs from the others.
const OPERATORS_OF_AN_OUTLIER: usize = 5;

/// A page of text per capture.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let xplanes: Vec<&XplaneReport> =
        report.captures.iter().filter_map(|capture| if let CaptureReport::Xplane(capture) = capture { Some(&**capture) } else { None }).collect();
    let _ = hosts_text(&mut out, &xplanes);
    for capture in &report.captures {
        // Writing to a String cannot fail.
        let _ = match capture {
            CaptureReport::Ascend(capture) => ascend_text(&mut out, capture),
            CaptureReport::Xplane(capture) => xplane_text(&mut out, capture),
        };
    }
    let _ = report.comparison.as_ref().map_or(Ok(()), |comparison| comparison_text(&mut out, comparison));
    let _ = notes_text(&mut out, &report.warnings);
    out
}

fn comparison_text(out: &mut String, comparison: &Comparison) -> fmt::Result {
    let ranks = &comparison.ranks;
    writeln!(out, "ranks and roles, the largest peak first (of equal ones by path)")?;
    writeln!(out, "  {:>11} {:>11} {:>11} {:>11}", "peak", "baseline", "held free", "alive")?;
    let optional = |bytes: Option<i64>| bytes.map_or("unknown".to_owned(), human_bytes);
    for row in ranks.iter().take(SHOWN) {
        let [peak, baseline, gap, alive] = [row.peak_bytes, row.baseline_bytes, row.max_reserved_gap_bytes, row.alive_at_end_bytes].map(optional);
        let pool = row.pool.as_deref().map_or("nothing usable".to_owned(), printable);
        writeln!(out, "  {peak:>11} {baseline:>11} {gap:>11} {alive:>11}  {} {pool}", member_name(row.role.as_deref(), row.rank, &row.source))?;
    }
    more(out, ranks.len(), "ranks")?;
    for group in &comparison.groups {
        group_text(out, group, ranks)?;
    }
    writeln!(out)
}

fn group_text(out: &mut String, group: &RankGroup, ranks: &[RankRow]) -> fmt::Result {
    let role = match (&group.role, group.across_roles) {
        (_, true) => "all roles".to_owned(),
        (Some(role), _) => printable(role),
        (None, _) => "role unknown".to_owned(),
    };
    writeln!(out, "  {}, {role}: {} compared", printable(&group.pool), group.members)?;
    let figures = [
        ("peak", &group.peak_bytes),
        ("baseline at the peak", &group.baseline_bytes),
        ("most held free", &group.max_reserved_gap_bytes),
        ("alive at the end", &group.alive_at_end_bytes),
    ];
    for (name, spread) in figures.into_iter().filter_map(|(name, spread)| Some((name, (*spread)?))) {
        let Spread { min, median, max, .. } = spread;
        writeln!(out, "    {name:<20}  min {}, median {}, max {}", human_bytes(min), human_bytes(median), human_bytes(max))?;
    }
    let rule = format!("more than {OUTLIER_DEVIATIONS} × the median absolute deviation and more than {OUTLIER_PERCENT} % from the median");
    match group.outliers.as_deref() {
        None => writeln!(out, "    outliers: not looked for among fewer than three"),
        Some([]) => writeln!(out, "    outliers: none ({rule})"),
        Some(outliers) => {
            writeln!(out, "    outliers: {} ({rule})", outliers.len())?;
            for outlier in outliers.iter().take(SHOWN) {
                outlier_text(out, outlier, &ranks[outlier.row as usize])?;
            }
            more(out, outliers.len(), "in the JSON report")
        }
    }
}

fn outlier_text(out: &mut String, outlier: &Outlier, row: &RankRow) -> fmt::Result {
    writeln!(out, "      {}", member_name(row.role.as_deref(), row.rank, &row.source))?;
    for departure in &outlier.departures {
        let name = match departure.figure {
            "peak_bytes" => "peak",
            "baseline_bytes" => "baseline at the peak",
            "max_reserved_gap_bytes" => "most held free",
            _ => "alive at the end",
        };
        writeln!(out, "        {name}: {}, {} from the median", human_bytes(departure.value), signed_bytes(departure.difference))?;
    }
    for operator in outlier.by_operator.iter().take(OPERATORS_OF_AN_OUTLIER) {
        writeln!(out, "        {:>12}  {}", signed_bytes(operator.difference_bytes), printable(&operator.name))?;
    }
    Ok(())
}

/// As people speak of a rank; the path where that says nothing.
fn member_name(role: Option<&str>, rank: Option<i64>, source: &str) -> String {
    match (role, rank) {
        (Some(role), Some(rank)) => format!("{} rank {rank}", printable(role)),
        (None, Some(rank)) => format!("rank {rank}"),
        _ => printable(source),
    }
}

fn signed_bytes(bytes: i64) -> String {
    if bytes > 0 { format!("+{}", human_bytes(bytes)) } else { human_bytes(bytes) }
}

fn ascend_text(out: &mut String, capture: &AscendReport) -> fmt::Result {
    writeln!(out, "{}", printable(&capture.source))?;
    let rank = capture.rank.map_or("rank unknown".to_owned(), |rank| format!("rank {rank}"));
    let role = capture.role.as_deref().map_or(String::new(), |role| format!(", role {}", printable(role)));
    let time = capture.capture_time.as_deref().map_or(String::new(), |time| format!(", captured {time}"));
    writeln!(out, "  {rank}{role}{time}; {} rows, {} set aside", capture.rows.read, capture.rows.set_aside)?;
    if let Some(stacks) = &capture.stacks {
        let found = stacks.found();
        writeln!(out, "  call stacks for {found} of {}", blocks(found + stacks.none))?;
    }
    for device in &capture.devices {
        device_text(out, device)?;
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

fn device_text(out: &mut String, device: &DeviceReport) -> fmt::Result {
    let peak = &device.peak;
    let since_start = |time_ns: &str| human_ns(time_ns.parse::<i64>().unwrap_or(0).saturating_sub(device.first_ns.parse::<i64>().unwrap_or(0)));
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

pub(super) fn more(out: &mut String, count: usize, where_: &str) -> fmt::Result {
    if count > SHOWN { writeln!(out, "                 {} more {where_}", count - SHOWN) } else { Ok(()) }
}

/// A file's text without control characters: it must not steer a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_text_cannot_steer_a_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
