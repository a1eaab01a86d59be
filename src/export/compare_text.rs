//! Ranks and roles side by side, and one capture against another, as plain text.

use super::inert::{name, printable};
use super::stack_label;
use super::text::{SHOWN, more};
use super::words::{blocks, figure_name, figures, group_name, member_name, optional_bytes, outlier_rule, signed_bytes};
use crate::oom::compare::{Comparison, Outlier, RankGroup};
use crate::oom::difference::{ChangeCounts, DeviceDifference, Difference, Side};
use crate::units::human_bytes;
use std::fmt::{self, Write};

/// How many operators say why a rank departs from the others.
const OPERATORS_OF_AN_OUTLIER: usize = 5;

/// The comparison of all ranks.
pub(super) fn comparison_text(out: &mut String, comparison: &Comparison) -> fmt::Result {
    writeln!(out, "ranks and roles, the largest peak first (of equal ones by path)")?;
    writeln!(out, "  {:>11} {:>11} {:>11} {:>11}", "peak", "baseline", "unallocated", "alive")?;
    for row in comparison.ranks.iter().take(SHOWN) {
        let [peak, baseline, gap, alive] = [row.peak_bytes, row.baseline_bytes, row.max_reserved_gap_bytes, row.alive_at_end_bytes].map(optional_bytes);
        let pool = row.pool.as_deref().map_or("nothing usable".to_owned(), printable);
        writeln!(out, "  {peak:>11} {baseline:>11} {gap:>11} {alive:>11}  {} {pool}", member_name(row.role.as_deref(), row.rank, &row.source))?;
    }
    more(out, comparison.ranks.len(), "ranks")?;
    for group in &comparison.groups {
        group_text(out, group)?;
    }
    writeln!(out)
}

fn group_text(out: &mut String, group: &RankGroup) -> fmt::Result {
    if group.members == 1 {
        return writeln!(out, "  {}, {}: one, nothing to compare it with", printable(&group.pool), group_name(group));
    }
    writeln!(out, "  {}, {}: {} compared", printable(&group.pool), group_name(group), group.members)?;
    for (name, spread) in figures(group) {
        writeln!(out, "    {name:<30}  min {}, median {}, max {}", human_bytes(spread.min), human_bytes(spread.median), human_bytes(spread.max))?;
    }
    match group.outliers.as_deref() {
        None => writeln!(out, "    outliers: not looked for among fewer than three"),
        Some([]) => writeln!(out, "    outliers: none ({})", outlier_rule()),
        Some(outliers) => {
            writeln!(out, "    outliers: {} ({})", outliers.len(), outlier_rule())?;
            for outlier in outliers.iter().take(SHOWN) {
                outlier_text(out, outlier)?;
            }
            more(out, outliers.len(), "in the JSON report")
        }
    }
}

fn outlier_text(out: &mut String, outlier: &Outlier) -> fmt::Result {
    writeln!(out, "      {}", member_name(outlier.role.as_deref(), outlier.rank, &outlier.source))?;
    for departure in &outlier.departures {
        writeln!(out, "        {}: {}, {} from the median", figure_name(departure.figure), human_bytes(departure.value), signed_bytes(departure.difference))?;
    }
    for operator in outlier.by_operator.iter().take(OPERATORS_OF_AN_OUTLIER) {
        writeln!(out, "        {:>12}  {} at the peak", signed_bytes(operator.difference_bytes), name(&operator.name))?;
    }
    Ok(())
}

/// One capture against another.
pub(super) fn difference_text(out: &mut String, difference: &Difference) -> fmt::Result {
    let side = |side: &Side| format!("{} ({})", member_name(side.role.as_deref(), side.rank, &side.source), printable(&side.source));
    writeln!(out, "at their peaks, B less A\n  A  {}\n  B  {}", side(&difference.a), side(&difference.b))?;
    for device in &difference.devices {
        device_text(out, device)?;
    }
    writeln!(out)
}

fn device_text(out: &mut String, device: &DeviceDifference) -> fmt::Result {
    let side = |device: &Option<String>| device.as_deref().map_or("nothing".to_owned(), name);
    writeln!(out, "  {}: {} against {}", printable(&device.pool), side(&device.b_device), side(&device.a_device))?;
    for (what, figure) in [("peak", device.total_bytes), ("baseline at the peak", device.baseline_bytes)] {
        writeln!(out, "    {:>12}  {what}: {} → {}", signed_bytes(figure.difference), human_bytes(figure.a), human_bytes(figure.b))?;
    }
    changes_text(out, "by operator", device.by_operator.iter().map(|change| (name(&change.name), change.counts)).collect())?;
    let Some(stacks) = &device.by_stack else { return Ok(()) };
    // Changed ones come first, so these are the ones that are shown.
    let labels = stack_label::labels(&stacks.iter().take(SHOWN).map(|change| &change.stack[..]).collect::<Vec<_>>());
    let label = |nth: usize| labels.get(nth).map_or(String::new(), |label| printable(label));
    changes_text(out, "by call stack", stacks.iter().enumerate().map(|(nth, change)| (label(nth), change.counts)).collect())
}

fn changes_text(out: &mut String, what: &str, changes: Vec<(String, ChangeCounts)>) -> fmt::Result {
    let changed: Vec<_> = changes.iter().filter(|(_, counts)| counts.difference_bytes != 0 || counts.difference_blocks != 0).collect();
    writeln!(out, "    {what}: {} changed, {} as they were", changed.len(), changes.len() - changed.len())?;
    for (name, counts) in changed.iter().take(SHOWN) {
        let (before, after) = (blocks(counts.a_blocks), blocks(counts.b_blocks));
        let how = match counts.change {
            "new" => format!("new: {after}"),
            "gone" => format!("gone: {before}"),
            _ => format!("{before} → {after}"),
        };
        writeln!(out, "    {:>12}  {name}, {how}", signed_bytes(counts.difference_bytes))?;
    }
    more(out, changed.len(), "in the JSON report")
}
