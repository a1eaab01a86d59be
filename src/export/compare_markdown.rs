//! Ranks and roles side by side, and one capture against another, as Markdown.

use super::inert::code;
use super::markdown::Writer;
use super::stack_label;
use super::words::{figure_name, figures, group_name, member_name, optional_bytes, outlier_rule, signed_bytes};
use crate::oom::compare::{Comparison, Departure, OperatorDeparture, Outlier, RankGroup, RankRow, Spread};
use crate::oom::difference::{ChangeCounts, DeviceDifference, Difference, Figure, Side};
use crate::units::human_bytes;
use std::fmt::{self, Write};

impl Writer {
    pub(super) fn comparison(&mut self, comparison: &Comparison) -> fmt::Result {
        writeln!(self.out, "## Ranks and roles, the largest peak first\n")?;
        let row = |row: &RankRow| {
            let [peak, baseline, gap] = [row.peak_bytes, row.baseline_bytes, row.max_reserved_gap_bytes].map(optional_bytes);
            let alive = row.alive_at_end_blocks.map_or("unknown".to_owned(), |count| format!("{} in {count}", optional_bytes(row.alive_at_end_bytes)));
            let stacks = row.stacks_found.zip(row.stacks_none).map_or(String::new(), |(found, none)| format!("{found} of {}", found.saturating_add(none)));
            let optional = |text: &Option<String>| text.as_deref().map_or(String::new(), code);
            let rank = row.rank.map_or("?".to_owned(), |rank| rank.to_string());
            vec![
                optional(&row.role),
                rank,
                optional(&row.device),
                optional(&row.pool),
                peak,
                baseline,
                gap,
                alive,
                stacks,
                row.warnings.to_string(),
                code(&row.source),
            ]
        };
        let rows = comparison.ranks.iter().map(row).collect();
        let titles =
            ["role", ">rank", "device", "pool", ">peak", ">baseline", ">reserved, not allocated", ">alive at the end", ">call stacks", ">notes", "source"];
        self.table(&titles, rows)?;
        comparison.groups.iter().try_for_each(|group| self.rank_group(group))
    }

    fn rank_group(&mut self, group: &RankGroup) -> fmt::Result {
        writeln!(self.out, "### {}, {}: {} compared\n", code(&group.pool), code(&group_name(group)), group.members)?;
        let row = |(name, spread): (&str, Spread)| {
            let [min, median, max, deviation] = [spread.min, spread.median, spread.max, spread.median_deviation].map(human_bytes);
            vec![name.to_owned(), min, median, max, deviation]
        };
        let rows = figures(group).into_iter().map(row).collect();
        self.table(&["", ">least", ">median", ">most", ">median absolute deviation"], rows)?;
        let Some(outliers) = &group.outliers else { return writeln!(self.out, "Outliers are not looked for among fewer than three.\n") };
        writeln!(self.out, "Outliers, {}: {}.\n", outlier_rule(), if outliers.is_empty() { "none".to_owned() } else { outliers.len().to_string() })?;
        outliers.iter().take(self.top).try_for_each(|outlier| self.outlier(outlier))?;
        self.rest(outliers.len(), "outliers")
    }

    fn outlier(&mut self, outlier: &Outlier) -> fmt::Result {
        let name = code(&member_name(outlier.role.as_deref(), outlier.rank, &outlier.source));
        let departure =
            |departure: &Departure| format!("{} {} ({})", figure_name(departure.figure), human_bytes(departure.value), signed_bytes(departure.difference));
        let departures: Vec<String> = outlier.departures.iter().map(departure).collect();
        writeln!(self.out, "**{name}** ({}): {}.\n", code(&outlier.source), departures.join(", "))?;
        let row = |operator: &OperatorDeparture| {
            vec![signed_bytes(operator.difference_bytes), human_bytes(operator.bytes), human_bytes(operator.median_bytes), code(&operator.name)]
        };
        let rows = outlier.by_operator.iter().take(self.top).map(row).collect();
        self.table(&[">from the median", ">here", ">median", "operator at the peak"], rows)
    }

    pub(super) fn difference(&mut self, difference: &Difference) -> fmt::Result {
        let name = |side: &Side| code(&member_name(side.role.as_deref(), side.rank, &side.source));
        let (a, b) = (&difference.a, &difference.b);
        writeln!(self.out, "## {} against {}, at their peaks\n", name(b), name(a))?;
        writeln!(self.out, "A is {}, B is {}; differences are B less A.\n", code(&a.source), code(&b.source))?;
        difference.devices.iter().try_for_each(|device| self.device_difference(device))
    }

    fn device_difference(&mut self, device: &DeviceDifference) -> fmt::Result {
        writeln!(self.out, "### {}\n", code(&device.pool))?;
        let figure = |name: &str, figure: Figure| vec![name.to_owned(), human_bytes(figure.a), human_bytes(figure.b), signed_bytes(figure.difference)];
        let rows = vec![figure("peak", device.total_bytes), figure("baseline at the peak", device.baseline_bytes)];
        self.table(&["", ">A", ">B", ">difference"], rows)?;
        self.changes("operator", device.by_operator.iter().map(|change| (code(&change.name), change.counts)).collect())?;
        let Some(stacks) = &device.by_stack else { return Ok(()) };
        let labels = stack_label::labels(&stacks.iter().take(self.top).map(|change| &change.stack[..]).collect::<Vec<_>>());
        let label = |nth: usize| labels.get(nth).map_or(String::new(), |label| code(label));
        self.changes("call stack", stacks.iter().enumerate().map(|(nth, change)| (label(nth), change.counts)).collect())
    }

    fn changes(&mut self, what: &str, changes: Vec<(String, ChangeCounts)>) -> fmt::Result {
        let row = |(name, counts): &(String, ChangeCounts)| {
            let [a, b] = [counts.a_bytes, counts.b_bytes].map(human_bytes);
            vec![signed_bytes(counts.difference_bytes), counts.change.to_owned(), a, b, format!("{} → {}", counts.a_blocks, counts.b_blocks), name.clone()]
        };
        let rows = changes.iter().take(self.top).map(row).collect();
        self.table(&[">difference", "change", ">A", ">B", ">blocks", what], rows)?;
        self.rest(changes.len(), &format!("{what}s"))
    }
}
