//! The part of the Markdown report on JAX/XLA captures.

use super::inert::code;
use super::markdown::{Cells, Writer};
use super::xplane_text::worst_first;
use crate::oom::xplane_report::{
    BufferReport, Diagnosis, ExecutionReport, Fix, HeapPeakReport, HostEventReport, HostEvents, ModuleReport, OwnerReport, XplaneReport, folded,
};
use crate::units::{human_bytes, human_ns};
use std::fmt::{self, Write};

impl Writer {
    /// All hosts of a job, the worst first.
    pub(super) fn hosts(&mut self, captures: &[&XplaneReport]) -> fmt::Result {
        if captures.len() < 2 {
            return Ok(());
        }
        writeln!(self.out, "## JAX captures, the worst first\n")?;
        let verdict =
            |capture: &XplaneReport| capture.diagnosis.first().map_or((String::new(), String::new()), |first| (first.severity.clone(), code(&first.text)));
        let row = |capture: &&XplaneReport| {
            let (severity, text) = verdict(capture);
            vec![severity, code(&capture.source), text]
        };
        self.table(&["", "capture", "verdict"], worst_first(captures).iter().map(row).collect())
    }

    pub(super) fn xplane(&mut self, capture: &XplaneReport) -> fmt::Result {
        writeln!(self.out, "## {}\n", code(&capture.source))?;
        for verdict in &capture.diagnosis {
            self.verdict(verdict)?;
        }
        if !capture.diagnosis.is_empty() {
            writeln!(self.out)?;
        }
        let mut facts: Vec<Cells> = Vec::new();
        let mut fact = |name: &str, value: &Option<String>| facts.extend(value.iter().map(|value| vec![name.to_owned(), code(value)]));
        fact("host", &capture.host);
        fact("jax", &capture.versions.jax);
        fact("jaxlib", &capture.versions.jaxlib);
        fact("module", &capture.chosen_module);
        if !facts.is_empty() {
            self.table(&["fact", "value"], facts)?;
        }
        if let Some(module) = capture.modules.iter().find(|module| Some(&module.name) == capture.chosen_module.as_ref()) {
            self.plan(module)?;
        }
        self.run_time(capture)?;
        self.modules(&capture.modules)?;
        self.notes("### Notes", &capture.warnings)
    }

    fn verdict(&mut self, verdict: &Diagnosis) -> fmt::Result {
        writeln!(self.out, "* **{}**: {}", code(&verdict.severity), code(&verdict.text))?;
        for Fix { action, saves_bytes, fits_after, cost, .. } in &verdict.fixes {
            let saves = saves_bytes.map_or(String::new(), |bytes| format!(", saves about {}", human_bytes(bytes)));
            let fits = match fits_after {
                Some(true) => ", then it fits",
                Some(false) => ", not enough alone",
                None => "",
            };
            writeln!(self.out, "  * {}{saves}{fits} (cost: {})", code(action), code(cost))?;
        }
        if let Some(fix) = verdict.fixes.first() {
            writeln!(self.out, "  * confirm: {}", code(&fix.confirm))?;
        }
        Ok(())
    }

    fn plan(&mut self, module: &ModuleReport) -> fmt::Result {
        writeln!(self.out, "### Plan of {}\n", code(&module.name))?;
        let row = |what: &str, bytes: i64| vec![what.to_owned(), human_bytes(bytes), bytes.to_string()];
        let parameters = &module.parameters;
        let mut rows = vec![
            row(&format!("parameters, {}: weights and optimizer state", parameters.count), parameters.bytes),
            row(&format!("of these donated, {}", parameters.donated_count), parameters.donated_bytes),
            row("outputs with memory of their own", module.non_aliased_outputs_bytes),
            row("constants", module.constants_bytes),
            row("temporaries: activations and gradients", module.temp_bytes),
            row("**needed**", module.needed_bytes),
        ];
        rows.extend(module.other_spaces.iter().map(|space| row(&format!("in memory space {}", space.memory_space), space.bytes)));
        self.table(&["planned", ">size", ">bytes"], rows)?;
        module.heap_peak.iter().try_for_each(|heap| self.heap(heap))
    }

    fn heap(&mut self, heap: &HeapPeakReport) -> fmt::Result {
        writeln!(self.out, "### At the peak of its schedule: {}, {} of it temporaries\n", human_bytes(heap.bytes), human_bytes(heap.replay_bytes))?;
        let row = |what: &str, bytes: i64| vec![what.to_owned(), human_bytes(bytes), bytes.to_string()];
        let mut rows: Vec<Cells> = heap.roles.iter().filter(|role| role.bytes > 0).map(|role| row(&code(&role.role), role.bytes)).collect();
        rows.push(row("lost to the plan's own fragmentation", heap.plan_fragmentation_bytes));
        self.table(&["role", ">size", ">bytes"], rows)?;
        let row = |buffer: &BufferReport| {
            let via = buffer.via.as_ref().map_or(String::new(), |via| format!(" via {}", code(via)));
            let place = buffer.file.as_ref().map_or(String::new(), |file| code(&format!("{file}:{}", buffer.line.unwrap_or(0))));
            vec![human_bytes(buffer.bytes), buffer.count.to_string(), code(&buffer.shape), format!("{}{via}", code(&buffer.role)), place, code(&buffer.name)]
        };
        let rows = heap.buffers.iter().take(self.top).map(row).collect();
        self.table(&[">size", ">count", "shape", "role", "line", "instruction"], rows)?;
        self.rest(heap.buffers.len(), "buffers")
    }

    fn run_time(&mut self, capture: &XplaneReport) -> fmt::Result {
        if !capture.allocators.is_empty() {
            writeln!(self.out, "### Run time\n")?;
            let rows = capture.allocators.iter().map(|allocator| {
                let hbm = allocator.hbm_bytes.map_or("unknown".to_owned(), human_bytes);
                vec![code(&allocator.name), human_bytes(allocator.capacity_bytes), hbm, human_bytes(allocator.peak_bytes), allocator.events.to_string()]
            });
            self.table(&["allocator", ">capacity", ">device", ">peak", ">events"], rows.collect())?;
        }
        let of_chosen: Vec<&ExecutionReport> =
            capture.executions.iter().filter(|execution| Some(&*execution.module) == capture.chosen_module.as_deref()).collect();
        if !of_chosen.is_empty() {
            let row = |execution: &&ExecutionReport| {
                let launched = execution.launched.map_or("unknown", |launched| if launched { "yes" } else { "**no**" });
                let used = execution.used_at_start_bytes.map_or("unknown".to_owned(), human_bytes);
                vec![
                    device_name(execution.device),
                    execution.n.to_string(),
                    human_ns(execution.start_ns),
                    human_ns(execution.duration_ns),
                    used,
                    launched.to_owned(),
                ]
            };
            let first = of_chosen.len().saturating_sub(self.top);
            self.table(&["device", ">execution", ">start", ">took", ">used at its start", "launched"], of_chosen[first..].iter().map(row).collect())?;
            self.rest(of_chosen.len(), "earlier executions")?;
        }
        if !capture.retries.is_empty() {
            let rows = capture.retries.iter().take(self.top).map(|retry| {
                let whose = retry.module.as_ref().map_or(String::new(), |module| format!("{} execution {}", code(module), retry.execution.unwrap_or(0)));
                let basis = if retry.inferred { "inferred" } else { "an event" };
                vec![device_name(retry.device), human_ns(retry.start_ns), human_ns(retry.duration_ns), whose, basis.to_owned()]
            });
            self.table(&["waited on", ">start", ">for", "in", "known by"], rows.collect())?;
            self.rest(capture.retries.len(), "waits")?;
        }
        for live in &capture.live_at_last_start {
            writeln!(self.out, "Alive on {} when execution {} began: {}.\n", device_name(live.device), live.execution, human_bytes(live.used_bytes))?;
            let row = |group: &OwnerReport| {
                let blocks = if group.blocks > 0 { group.blocks.to_string() } else { String::new() };
                vec![human_bytes(group.bytes), group.bytes.to_string(), blocks, code(&group.owner)]
            };
            self.table(&[">size", ">bytes", ">blocks", "owner"], live.groups.iter().take(self.top).map(row).collect())?;
            self.rest(live.groups.len(), "owners")?;
        }
        if !capture.between_last_two.is_empty() {
            writeln!(self.out, "Between the last two executions; those marked may keep arrays.\n")?;
            let folded = folded(&capture.between_last_two);
            let row = |events: &HostEvents| {
                let HostEventReport { start_ns, name, highlight, frames, .. } = events.first;
                let around: Vec<String> = frames.iter().rev().map(|frame| code(frame)).collect();
                let marked = if *highlight { "●" } else { "" }.to_owned();
                vec![human_ns(*start_ns), events.count.to_string(), human_ns(events.duration_ns), marked, code(name), around.join(" in ")]
            };
            self.table(&[">start", ">times", ">took", "marked", "host event", "in"], folded.iter().take(self.top).map(row).collect())?;
            self.rest(folded.len(), "host events")?;
        }
        Ok(())
    }

    fn modules(&mut self, modules: &[ModuleReport]) -> fmt::Result {
        if modules.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "### All modules\n")?;
        let row =
            |module: &ModuleReport| vec![human_bytes(module.needed_bytes), human_bytes(module.temp_bytes), module.executions.to_string(), code(&module.name)];
        self.table(&[">needs", ">temporary", ">executions", "module"], modules.iter().take(self.top).map(row).collect())?;
        self.rest(modules.len(), "modules")
    }
}

fn device_name(device: Option<i64>) -> String {
    device.map_or_else(|| "unknown".to_owned(), |device| format!("GPU {device}"))
}

#[cfg(test)]
mod tests {
    use super::super::markdown::markdown;
    use crate::oom::report::{CaptureReport, report};
    use crate::oom::xplane_report::{Diagnosis, Fix, ModuleReport, XplaneReport};
    use std::collections::BTreeMap;

    fn capture(source: &str, severity: &str) -> CaptureReport {
        let fix = Fix {
            code: String::new(),
            action: "half the batch".to_owned(),
            saves_bytes: Some(1 << 20),
            fits_after: Some(true),
            cost: "time".to_owned(),
            basis: "estimated".to_owned(),
            confirm: "look".to_owned(),
        };
        let (code, text) = ("near-limit".to_owned(), format!("verdict | of {source}"));
        let diagnosis = Diagnosis { code, severity: severity.to_owned(), text, args: BTreeMap::new(), numbers: Vec::new(), fixes: vec![fix] };
        CaptureReport::Xplane(Box::new(XplaneReport { source: source.to_owned(), diagnosis: vec![diagnosis], ..XplaneReport::default() }))
    }

    #[test]
    fn the_worst_host_comes_first_and_fixes_say_what_they_save() {
        let text = markdown(&report([capture("a", "info"), capture("b", "error")], &[], 25), 25);
        let hosts = text.find("## JAX captures, the worst first").unwrap();
        assert!(text[hosts..].find("`b`").unwrap() < text[hosts..].find("`a`").unwrap(), "{text}");
        assert!(
            text.contains("* **`error`**: `verdict \\| of b`") && text.contains("  * `half the batch`, saves about 1.000 MiB, then it fits (cost: `time`)"),
            "{text}"
        );
    }

    #[test]
    fn the_plan_of_the_chosen_module_is_a_table() {
        let module = ModuleReport {
            name: "jit_f(1)".to_owned(),
            program_id: Some(1),
            executions: 0,
            launched: None,
            parameters: Default::default(),
            non_aliased_outputs_bytes: 0,
            constants_bytes: 0,
            thread_local_bytes: 0,
            temp_bytes: 2048,
            needed_bytes: 2048,
            other_spaces: Vec::new(),
            xla_rematerialized: 0,
            has_gradient: false,
            heap_peak: None,
        };
        let capture = XplaneReport { source: "a".to_owned(), chosen_module: Some(module.name.clone()), modules: vec![module], ..XplaneReport::default() };
        let text = markdown(&report([CaptureReport::Xplane(Box::new(capture))], &[], 25), 25);
        assert!(text.contains("| **needed** | 2.000 KiB | 2048 |") && !text.contains("worst first"), "{text}");
    }
}
