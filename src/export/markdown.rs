//! The report as Markdown, for an issue or a chat: the figures of the text report as tables. Long lists end with what the rest holds.

use super::inert::code;
use super::stack_label;
use super::words::{blocks, first_of, member_name, optional_bytes, outside_rows, setup_facts, since, stacks_found};
use crate::error::Warning;
use crate::oom::report::{
    AllocatorReport, AscendReport, BaselineReport, CaptureReport, ChangeReport, ComponentReport, DeviceReport, GrowthReport, Report, StackGroup,
};
use crate::oom::xplane_report::XplaneReport;
use crate::units::{human_bytes, human_ns};
use std::fmt::{self, Write};

/// The report; of every list the first `top`, but for the ranks, which are all there.
pub fn markdown(report: &Report, top: usize) -> String {
    let mut writer = Writer { out: String::new(), top };
    // Writing to a String cannot fail.
    let _ = writer.report(report);
    writer.out
}

pub(super) struct Writer {
    pub(super) out: String,
    pub(super) top: usize,
}

/// A row of a table.
pub(super) type Cells = Vec<String>;

impl Writer {
    fn report(&mut self, report: &Report) -> fmt::Result {
        writeln!(self.out, "# Memory report\n")?;
        report.differences.iter().try_for_each(|difference| self.difference(difference))?;
        report.comparison.iter().try_for_each(|comparison| self.comparison(comparison))?;
        self.hosts(&xplanes(report))?;
        for capture in &report.captures {
            match capture {
                CaptureReport::Ascend(capture) => self.ascend(capture)?,
                CaptureReport::Xplane(capture) => self.xplane(capture)?,
            }
        }
        self.notes("## Notes on the files", &report.warnings)
    }

    /// A table; right-aligned columns are those whose title begins with `>`.
    pub(super) fn table(&mut self, titles: &[&str], rows: Vec<Cells>) -> fmt::Result {
        let cells: Vec<&str> = titles.iter().map(|title| title.trim_start_matches('>')).collect();
        let lines: Vec<&str> = titles.iter().map(|title| if title.starts_with('>') { "---:" } else { "---" }).collect();
        writeln!(self.out, "| {} |\n| {} |", cells.join(" | "), lines.join(" | "))?;
        for row in rows {
            writeln!(self.out, "| {} |", row.join(" | "))?;
        }
        writeln!(self.out)
    }

    /// The first `top` groups, then the rest as one row.
    fn groups(&self, groups: Vec<(String, i64, u64)>, what: &str) -> Vec<Cells> {
        let rest = groups.get(self.top..).unwrap_or_default();
        let (bytes, count) = rest.iter().fold((0, 0), |(bytes, count): (i64, u64), group| (bytes.saturating_add(group.1), count.saturating_add(group.2)));
        let rest = (!rest.is_empty()).then(|| (format!("{} more {what}", rest.len()), bytes, count));
        let row = |(name, bytes, count): (String, i64, u64)| vec![human_bytes(bytes), bytes.to_string(), count.to_string(), name];
        groups.into_iter().take(self.top).chain(rest).map(row).collect()
    }

    pub(super) fn rest(&mut self, count: usize, what: &str) -> fmt::Result {
        if count > self.top { writeln!(self.out, "{} more {what} are in the JSON report.\n", count - self.top) } else { Ok(()) }
    }

    fn ascend(&mut self, capture: &AscendReport) -> fmt::Result {
        writeln!(self.out, "## {}\n", code(&member_name(capture.role.as_deref(), capture.rank, &capture.source)))?;
        let mut facts: Vec<(String, String)> = vec![("source".to_owned(), capture.source.clone())];
        facts.extend(capture.capture_time.iter().map(|time| ("captured".to_owned(), time.clone())));
        facts.extend(capture.versions.torch_npu.iter().map(|version| ("torch_npu".to_owned(), version.clone())));
        facts.extend(capture.versions.cann.iter().map(|version| ("CANN".to_owned(), version.clone())));
        facts.extend(capture.facts.iter().flat_map(setup_facts));
        let mut rows: Vec<Cells> = facts.iter().map(|(name, value)| vec![code(name), code(value)]).collect();
        rows.push(vec!["rows".to_owned(), format!("{}, {} set aside", capture.rows.read, capture.rows.set_aside)]);
        rows.extend(capture.stacks.iter().map(|counts| vec!["call stacks".to_owned(), stacks_found(counts)]));
        self.table(&["fact", "value"], rows)?;
        for device in &capture.devices {
            self.device(device, first_of(&capture.devices))?;
        }
        if let Some(outside) = outside_rows(capture.outside_framework.as_deref()) {
            writeln!(self.out, "### Outside the framework at the peak\n")?;
            let row = |component: &ComponentReport, what: String| vec![human_bytes(component.reserved_bytes), component.reserved_bytes.to_string(), what];
            let mut rows: Vec<Cells> =
                outside.total.iter().map(|total| row(total, "all that the process holds beyond the framework's pools".to_owned())).collect();
            rows.extend(outside.components.iter().take(self.top).map(|component| row(component, format!("of it {}", code(&component.component)))));
            let apart = |component: &str| format!("set apart: {}, which contains the framework's pool", code(component));
            rows.extend(outside.application.iter().map(|application| row(application, apart(&application.component))));
            self.table(&[">reserved", ">bytes", "what"], rows)?;
            self.rest(outside.components.len(), "components")?;
        }
        self.notes("### Notes", &capture.warnings)
    }

    fn device(&mut self, device: &DeviceReport, first_ns: i64) -> fmt::Result {
        let peak = &device.peak;
        writeln!(self.out, "### {} {}: peak {}\n", code(&device.device), code(&device.pool), human_bytes(peak.total_bytes))?;
        let at = format!("{} after the first event ({} ns)", since(first_ns, &peak.time_ns), code(&peak.time_ns));
        writeln!(
            self.out,
            "At {at}, with {} alive; {} in all, {} without an operator's name.\n",
            blocks(peak.live_blocks),
            blocks(device.blocks),
            device.unattributed_blocks
        )?;
        let figure = |name: &str, bytes: Option<i64>| vec![name.to_owned(), optional_bytes(bytes), bytes.map_or(String::new(), |bytes| bytes.to_string())];
        let rows = vec![
            figure("total", Some(peak.total_bytes)),
            figure("baseline: allocated before the capture", Some(peak.baseline_bytes)),
            figure("blocks of the capture", Some(peak.tracked_bytes)),
            figure("reserved, as reported", peak.reserved_bytes),
            figure("active, as reported", peak.active_bytes),
            figure("reserved and not allocated, at most", device.max_reserved_gap_bytes),
        ];
        self.table(&["at the peak", ">size", ">bytes"], rows)?;
        self.peak_by_operator(device)?;
        self.peak_by_stack(device)?;
        let streams = peak.by_stream.iter().flatten().map(|group| (code(&group.stream), group.bytes, group.blocks)).collect::<Vec<_>>();
        if !streams.is_empty() {
            let rows = self.groups(streams, "streams");
            self.table(&[">size", ">bytes", ">blocks", "stream"], rows)?;
        }
        let classes = peak.by_size_class.iter().map(|group| (human_bytes(group.up_to_bytes), group.bytes, group.blocks)).collect();
        let rows = self.groups(classes, "size classes");
        self.table(&[">size", ">bytes", ">blocks", "blocks of at most"], rows)?;
        self.alive_at_end(device)?;
        self.baseline(first_ns, &device.baseline)?;
        self.growth(device)?;
        self.allocators(device)
    }

    fn peak_by_operator(&mut self, device: &DeviceReport) -> fmt::Result {
        let peak = &device.peak;
        writeln!(self.out, "#### At the peak, by operator\n")?;
        let groups = peak.by_operator.iter().map(|group| (code(&group.name), group.bytes, group.blocks)).collect();
        let rows = summed(self.groups(groups, "operators"), device);
        self.table(&[">size", ">bytes", ">blocks", "operator"], rows)
    }

    fn peak_by_stack(&mut self, device: &DeviceReport) -> fmt::Result {
        let Some(groups) = &device.peak.by_stack else { return Ok(()) };
        writeln!(self.out, "#### At the peak, by call stack\n\nThe first user frame from the leaf; → the leaf and ← callers where several share it.\n")?;
        let labels = stack_label::labels(&groups.iter().take(self.top).map(|group| &group.stack[..]).collect::<Vec<_>>());
        let group = |(nth, group): (usize, &StackGroup)| {
            let guessed = if group.nearest_blocks > 0 { format!(" ({} by guess)", group.nearest_blocks) } else { String::new() };
            (labels.get(nth).map_or(String::new(), |label| code(label)) + &guessed, group.bytes, group.blocks)
        };
        let rows = summed(self.groups(groups.iter().enumerate().map(group).collect(), "call stacks"), device);
        self.table(&[">size", ">bytes", ">blocks", "call stack"], rows)
    }

    fn alive_at_end(&mut self, device: &DeviceReport) -> fmt::Result {
        let alive = &device.alive_at_end;
        writeln!(self.out, "#### Alive at the end: {}, {}\n", blocks(alive.blocks), human_bytes(alive.bytes))?;
        if alive.by_operator.is_empty() {
            return Ok(());
        }
        let rows = self.groups(alive.by_operator.iter().map(|group| (code(&group.name), group.bytes, group.blocks)).collect(), "operators");
        self.table(&[">size", ">bytes", ">blocks", "operator"], rows)
    }

    fn baseline(&mut self, first_ns: i64, baseline: &BaselineReport) -> fmt::Result {
        let (drops, rises) = (&baseline.drops, &baseline.rises);
        writeln!(self.out, "#### Baseline: {} at first, {} drops, {} rises\n", human_bytes(baseline.first_bytes), drops.len(), rises.len())?;
        let drops = drops.iter().map(|change| ("drop: memory from before the capture, freed in it", change));
        let changes: Vec<_> = drops.chain(rises.iter().map(|change| ("rise: rows are missing", change))).collect();
        if changes.is_empty() {
            return Ok(());
        }
        let row = |&(what, change): &(&str, &ChangeReport)| {
            vec![since(first_ns, &change.time_ns), human_bytes(change.bytes), change.bytes.to_string(), what.to_owned()]
        };
        let rows = changes.iter().take(self.top).map(row).collect();
        self.table(&[">time", ">size", ">bytes", "change"], rows)?;
        self.rest(changes.len(), "changes")
    }

    fn growth(&mut self, device: &DeviceReport) -> fmt::Result {
        let Some(groups) = device.growth.as_ref().filter(|groups| !groups.is_empty()) else { return Ok(()) };
        writeln!(
            self.out,
            "#### Grows with every step\n\nEqual blocks alive at the end of each step. Those that were all freed before the capture ended come last, named so.\n"
        )?;
        let row = |group: &GrowthReport| {
            let counts: Vec<String> = group.per_step_blocks.iter().take(self.top).map(i64::to_string).collect();
            let rest = if group.per_step_blocks.len() > self.top { ", …" } else { "" };
            let freed = if group.is_freed_later() { ", freed later" } else { "" };
            vec![
                human_bytes(group.size_bytes),
                format!("{}{rest}{freed}", counts.join(", ")),
                code(&group.name),
                code(&stack_label::labels(&[&group.stack]).concat()),
            ]
        };
        let rows = groups.iter().take(self.top).map(row).collect();
        self.table(&[">size of each", "blocks", "operator", "call stack"], rows)
    }

    fn allocators(&mut self, device: &DeviceReport) -> fmt::Result {
        writeln!(self.out, "#### Allocated over the whole capture\n")?;
        let row = |allocator: &AllocatorReport| {
            let lifetime = human_ns(allocator.mean_lifetime_ns);
            vec![human_bytes(allocator.bytes), allocator.blocks.to_string(), human_bytes(allocator.largest_bytes), lifetime, code(&allocator.name)]
        };
        let rows = device.top_by_bytes.iter().take(self.top).map(row).collect();
        self.table(&[">together", ">blocks", ">largest", ">mean lifetime", "operator"], rows)
    }

    pub(super) fn notes(&mut self, title: &str, warnings: &[Warning]) -> fmt::Result {
        if warnings.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "{title}\n")?;
        for warning in warnings.iter().take(self.top) {
            writeln!(self.out, "* {}", code(&warning.message))?;
        }
        writeln!(self.out)?;
        self.rest(warnings.len(), "notes")
    }
}

/// Its JAX captures.
pub(super) fn xplanes(report: &Report) -> Vec<&XplaneReport> {
    report.captures.iter().filter_map(|capture| if let CaptureReport::Xplane(capture) = capture { Some(&**capture) } else { None }).collect()
}

/// With the rows that make groups of blocks the device's memory.
fn summed(mut rows: Vec<Cells>, device: &DeviceReport) -> Vec<Cells> {
    let peak = &device.peak;
    let row = |bytes: i64, count: u64, name: &str| {
        vec![human_bytes(bytes), bytes.to_string(), if count > 0 { count.to_string() } else { String::new() }, name.to_owned()]
    };
    rows.insert(0, row(peak.baseline_bytes, 0, "baseline: allocated before the capture"));
    rows.push(row(peak.total_bytes, peak.live_blocks, "**total**"));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oom::read::read;
    use crate::oom::report::report;

    /// Every table's rows have as many cells as its title, and what is in code spans is nothing else.
    fn assert_tables(text: &str) {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let mut title: Option<usize> = None;
        for line in text.lines() {
            if line.starts_with('|') {
                assert_eq!(cells(line), *title.get_or_insert(cells(line)), "{line}");
            } else {
                title = None;
            }
        }
    }

    #[test]
    fn a_files_text_stays_text() {
        let evil = "a|b`c <script>\n# x [y](http://z) \u{202e}";
        let device = format!(
            r#"{{"device": {evil:?}, "pool": "PTA", "blocks": 2, "unattributed_blocks": 0, "first_ns": "1", "last_ns": "9",
            "peak": {{"time_ns": "5", "total_bytes": 10, "tracked_bytes": 7, "baseline_bytes": 3, "reserved_bytes": null, "active_bytes": null, "live_blocks": 2,
            "by_operator": [{{"name": {evil:?}, "bytes": 5, "blocks": 1}}, {{"name": "b", "bytes": 2, "blocks": 1}}],
            "by_stack": [{{"stack": [{evil:?}], "bytes": 7, "blocks": 2}}], "by_stream": [{{"stream": {evil:?}, "bytes": 7, "blocks": 2}}],
            "by_size_class": [{{"up_to_bytes": 512, "bytes": 7, "blocks": 2}}]}},
            "alive_at_end": {{"blocks": 1, "bytes": 5, "by_operator": [{{"name": {evil:?}, "bytes": 5, "blocks": 1}}]}},
            "baseline": {{"first_bytes": 3, "drops": [{{"time_ns": "4", "bytes": 1}}], "rises": []}}, "max_reserved_gap_bytes": null,
            "growth": [{{"name": {evil:?}, "stack": [{evil:?}], "size_bytes": 4, "per_step_blocks": [1, 2, 3]}}],
            "top_by_bytes": [{{"name": {evil:?}, "blocks": 1, "bytes": 5, "largest_bytes": 5, "mean_lifetime_ns": 7}}]}}"#
        )
        .replace("\\u{202e}", "\\u202e");
        let capture = |rank: i64| {
            format!(
                r#"{{"kind": "ascend", "source": "s{rank}", "role": {evil:?}, "rank": {rank}, "capture_time": null, "versions": {{"torch_npu": {evil:?}, "cann": null}},
                "rows": {{"read": 1, "set_aside": 0}}, "devices": [{device}], "stacks": {{"own": 1, "task_queue": 0, "ancestor": 0, "forward": 0, "python": 0,
                "nearest": 0, "none": 1}}, "outside_framework": [{{"component": {evil:?}, "time_ns": "5", "reserved_bytes": 9}}], "warnings": []}}"#
            )
            .replace("\\u{202e}", "\\u202e")
        };
        let text = format!(r#"{{"schema": "oomscope.report/1", "captures": [{}, {}, {}]}}"#, capture(0), capture(1), capture(2));
        let read = read("r.json", text.as_bytes());
        assert!(read.warnings.is_empty(), "{:?}", read.warnings);
        let mut whole = report([], &[read], 1);
        whole.differences.extend(crate::oom::difference::difference(&whole, 0, 1));
        let written = markdown(&whole, 1);
        assert_tables(&written);
        assert!(written.contains("``a\\|b`c <script>\u{fffd}# x [y](http://z) \u{fffd}``"), "{written}");
        assert!(!written.contains('\u{202e}') && !written.contains("\n# x"));
        assert!(written.contains("| 2 B | 2 | 1 | 1 more operators |") && written.contains("| 10 B | 10 | 2 | **total** |"), "{written}");
    }
}
