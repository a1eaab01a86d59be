//! The part of the text report on a JAX/XLA capture: verdicts first, then what they rest on.

use super::inert::printable;
use super::text::{SHOWN, more, notes_text};
use crate::oom::xplane_report::{BufferReport, Diagnosis, ExecutionReport, Fix, HostEvents, LiveReport, ModuleReport, XplaneReport, folded};
use crate::units::{human_bytes, human_ns};
use std::fmt::{self, Write};

pub(super) fn xplane_text(out: &mut String, capture: &XplaneReport) -> fmt::Result {
    writeln!(out, "{}", printable(&capture.source))?;
    let version = |name: &str, version: &Option<String>| version.as_ref().map_or(String::new(), |version| format!("; {name} {}", printable(version)));
    let host = capture.host.as_ref().map_or("host unknown".to_owned(), |host| format!("host {}", printable(host)));
    writeln!(
        out,
        "  {host}{}{}; {}, {}",
        version("jax", &capture.versions.jax),
        version("jaxlib", &capture.versions.jaxlib),
        counted(capture.modules.len() as u64, "module"),
        counted(capture.executions.len() as u64, "execution")
    )?;
    for diagnosis in &capture.diagnosis {
        verdict_text(out, diagnosis)?;
    }
    if capture.diagnosis.is_empty() && !capture.modules.is_empty() {
        writeln!(out, "  nothing stands out")?;
    }
    let chosen = capture.modules.iter().find(|module| Some(&module.name) == capture.chosen_module.as_ref());
    if let Some(module) = chosen {
        plan_text(out, module)?;
    }
    runtime_text(out, capture)?;
    other_modules_text(out, capture)?;
    notes_text(out, &capture.warnings)?;
    writeln!(out)
}

/// All hosts of a job, the worst first.
pub(super) fn hosts_text(out: &mut String, captures: &[&XplaneReport]) -> fmt::Result {
    if captures.len() < 2 {
        return Ok(());
    }
    writeln!(out, "{} JAX captures, the worst first", captures.len())?;
    for capture in worst_first(captures) {
        let verdict = capture.diagnosis.first().map_or("no verdict", |diagnosis| &diagnosis.text);
        let severity = capture.diagnosis.first().map_or("", |diagnosis| &diagnosis.severity);
        writeln!(out, "  {severity:<8} {}: {}", printable(&capture.source), printable(verdict))?;
    }
    writeln!(out)
}

/// By the gravest verdict, then by how many of that kind there are, then by the most memory that was ever in use.
pub(super) fn worst_first<'a>(captures: &[&'a XplaneReport]) -> Vec<&'a XplaneReport> {
    let key = |capture: &XplaneReport| {
        let of = |severity: &str| capture.diagnosis.iter().filter(|diagnosis| diagnosis.severity == severity).count();
        (of("error"), of("warning"), capture.allocators.iter().map(|allocator| allocator.peak_bytes).max())
    };
    let mut sorted = captures.to_vec();
    sorted.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| a.source.cmp(&b.source)));
    sorted
}

fn verdict_text(out: &mut String, diagnosis: &Diagnosis) -> fmt::Result {
    writeln!(out, "  {:<8} {}", diagnosis.severity, printable(&diagnosis.text))?;
    for fix in &diagnosis.fixes {
        fix_text(out, fix)?;
    }
    if let Some(fix) = diagnosis.fixes.first() {
        writeln!(out, "             confirm: {}", fix.confirm)?;
    }
    Ok(())
}

fn fix_text(out: &mut String, fix: &Fix) -> fmt::Result {
    let saves = fix.saves_bytes.map_or(String::new(), |bytes| format!("; saves about {}", human_bytes(bytes)));
    let fits = match fix.fits_after {
        Some(true) => ", then it fits",
        Some(false) => ", not enough alone",
        None => "",
    };
    writeln!(out, "           → {}{saves}{fits} (cost: {})", fix.action, fix.cost)
}

fn plan_text(out: &mut String, module: &ModuleReport) -> fmt::Result {
    let row = |out: &mut String, bytes: i64, what: &str| writeln!(out, "    {:>11}  {what}", human_bytes(bytes));
    let parameters = &module.parameters;
    writeln!(out, "  plan of {}", printable(&module.name))?;
    let donated = format!("{} of {} donated, {}", parameters.donated_count, parameters.count, human_bytes(parameters.donated_bytes));
    row(out, parameters.bytes, &format!("parameters ({donated}): weights and optimizer state"))?;
    row(out, module.non_aliased_outputs_bytes, "outputs with memory of their own")?;
    row(out, module.constants_bytes, "constants")?;
    row(out, module.temp_bytes, "temporaries: activations and gradients")?;
    row(out, module.needed_bytes, &format!("needed ({} B)", module.needed_bytes))?;
    for space in &module.other_spaces {
        row(out, space.bytes, &format!("in memory space {}", space.memory_space))?;
    }
    let Some(heap) = &module.heap_peak else { return Ok(()) };
    writeln!(
        out,
        "  at the peak of its schedule {} ({} B), {} of it temporaries; the plan's own fragmentation {}",
        human_bytes(heap.bytes),
        heap.bytes,
        human_bytes(heap.replay_bytes),
        human_bytes(heap.plan_fragmentation_bytes)
    )?;
    for role in heap.roles.iter().filter(|role| role.bytes > 0) {
        row(out, role.bytes, role_label(&role.role))?;
    }
    if heap.square.count > 0 {
        row(out, heap.square.bytes, &format!("in {} with two equal trailing dimensions: attention's scores?", counted(heap.square.count, "buffer")))?;
    }
    writeln!(out, "  the buffers alive then")?;
    for buffer in heap.buffers.iter().take(SHOWN) {
        writeln!(out, "    {:>11}  {}", human_bytes(buffer.bytes), buffer_text(buffer))?;
    }
    more(out, heap.buffers.len(), "in the JSON report")
}

fn role_label(role: &str) -> &str {
    match role {
        "forward" => "forward: kept for the backward pass (activations)",
        "backward" => "backward: gradients and what they are made of",
        "workspace" => "workspace: scratch of library calls",
        _ => "other",
    }
}

fn buffer_text(buffer: &BufferReport) -> String {
    let count = if buffer.count > 1 { format!("{} × ", buffer.count) } else { String::new() };
    let via = buffer.via.as_ref().map_or(String::new(), |via| format!(" via {}", printable(via)));
    let place = match (&buffer.file, buffer.line, &buffer.function) {
        (Some(file), Some(line), Some(function)) => format!("  {}:{line} {}", printable(file), printable(function)),
        (Some(file), Some(line), None) => format!("  {}:{line}", printable(file)),
        _ => String::new(),
    };
    let remat = if buffer.user_remat { ", checkpointed" } else { "" };
    format!("{count}{} {}, {}{via}{remat}{place}", printable(&buffer.shape), printable(&buffer.name), buffer.role)
}

fn runtime_text(out: &mut String, capture: &XplaneReport) -> fmt::Result {
    for allocator in &capture.allocators {
        writeln!(
            out,
            "  {}: capacity {} ({} B), {}, peak {}, {} before the first of them",
            printable(&allocator.name),
            human_bytes(allocator.capacity_bytes),
            allocator.capacity_bytes,
            counted(allocator.events, "event"),
            human_bytes(allocator.peak_bytes),
            human_bytes(allocator.peak_before_first_execution_bytes)
        )?;
    }
    let of_chosen: Vec<&ExecutionReport> = capture.executions.iter().filter(|execution| Some(&*execution.module) == capture.chosen_module.as_deref()).collect();
    if let Some(module) = capture.chosen_module.as_ref().filter(|_| !of_chosen.is_empty()) {
        writeln!(out, "  executions of {} ({}), the last ones", printable(module), of_chosen.len())?;
        let first = of_chosen.len().saturating_sub(SHOWN);
        of_chosen[first..].iter().try_for_each(|execution| execution_text(out, execution))?;
    }
    for retry in &capture.retries {
        let (probably, inferred) = if retry.inferred { ("probably ", " (inferred)") } else { ("", "") };
        let whose = retry.module.as_ref().map_or(String::new(), |module| format!(" in {} execution {}", printable(module), retry.execution.unwrap_or(0)));
        writeln!(out, "  {probably}waited for memory{inferred}: {} at {}{whose}", human_ns(retry.duration_ns), human_ns(retry.start_ns))?;
    }
    capture.live_at_last_start.iter().try_for_each(|live| live_text(out, live))?;
    if !capture.between_last_two.is_empty() {
        writeln!(out, "  between the last two executions ({}; * may keep arrays)", counted(capture.between_last_two.len() as u64, "host event"))?;
        let folded = folded(&capture.between_last_two);
        let (marked, others): (Vec<&HostEvents>, Vec<&HostEvents>) = folded.iter().partition(|events| events.first.highlight);
        marked.iter().chain(&others).take(SHOWN).try_for_each(|events| between_text(out, events))?;
        more(out, folded.len(), "in the JSON report")?;
    }
    Ok(())
}

fn between_text(out: &mut String, events: &HostEvents) -> fmt::Result {
    let mark = if events.first.highlight { "*" } else { " " };
    let times = if events.count > 1 { format!(" × {}", events.count) } else { String::new() };
    writeln!(out, "    {:>11}  {mark} {}{times}", human_ns(events.duration_ns), printable(&events.first.name))?;
    // The innermost says most.
    events.first.frames.iter().rev().try_for_each(|frame| writeln!(out, "                   in {}", printable(frame)))
}

fn execution_text(out: &mut String, execution: &ExecutionReport) -> fmt::Result {
    let device = execution.device.map_or(String::new(), |device| format!("GPU {device} "));
    let launched = if execution.launched == Some(false) { ", launched nothing" } else { "" };
    let used = execution.used_at_start_bytes.map_or(String::new(), |bytes| format!(", {} used at its start", human_bytes(bytes)));
    writeln!(out, "    {:>11}  {device}n {}, took {}{used}{launched}", human_ns(execution.start_ns), execution.n, human_ns(execution.duration_ns))
}

fn live_text(out: &mut String, live: &LiveReport) -> fmt::Result {
    let device = live.device.map_or(String::new(), |device| format!(" on GPU {device}"));
    writeln!(out, "  alive at the start of execution {}{device}: {} ({} B)", live.execution, human_bytes(live.used_bytes), live.used_bytes)?;
    for group in live.groups.iter().take(SHOWN) {
        let blocks = if group.blocks > 0 { format!(" in {}", counted(group.blocks, "block")) } else { String::new() };
        writeln!(out, "    {:>11}  {}{blocks}", human_bytes(group.bytes), printable(&group.owner))?;
    }
    more(out, live.groups.len(), "in the JSON report")
}

fn other_modules_text(out: &mut String, capture: &XplaneReport) -> fmt::Result {
    let others: Vec<&ModuleReport> = capture.modules.iter().filter(|module| Some(&module.name) != capture.chosen_module.as_ref()).collect();
    if others.is_empty() {
        return Ok(());
    }
    writeln!(out, "  other modules")?;
    for module in others.iter().take(SHOWN) {
        writeln!(out, "    {:>11}  {}, {}", human_bytes(module.needed_bytes), printable(&module.name), counted(module.executions, "execution"))?;
    }
    more(out, others.len(), "in the JSON report")
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn capture(source: &str, severity: &str) -> XplaneReport {
        let diagnosis = Diagnosis {
            code: "near-limit".to_owned(),
            severity: severity.to_owned(),
            text: format!("verdict of {source}"),
            args: BTreeMap::new(),
            numbers: Vec::new(),
            fixes: Vec::new(),
        };
        XplaneReport { source: source.to_owned(), diagnosis: vec![diagnosis], ..XplaneReport::default() }
    }

    #[test]
    fn the_worst_host_comes_first() {
        let (a, b, c) = (capture("a", "info"), capture("b", "error"), capture("c", "warning"));
        let mut out = String::new();
        hosts_text(&mut out, &[&a, &b, &c]).unwrap();
        let order: Vec<usize> = ["of b", "of c", "of a"].iter().map(|text| out.find(text).unwrap()).collect();
        assert!(order.is_sorted(), "{out}");
        out.clear();
        hosts_text(&mut out, &[&a]).unwrap();
        assert!(out.is_empty());
    }

    #[test]
    fn a_capture_without_anything_is_a_page_too() {
        let mut out = String::new();
        xplane_text(&mut out, &XplaneReport { source: "a\u{1b}[2J".to_owned(), ..XplaneReport::default() }).unwrap();
        assert_eq!(out, "a\u{fffd}[2J\n  host unknown; 0 modules, 0 executions\n\n");
    }
}
