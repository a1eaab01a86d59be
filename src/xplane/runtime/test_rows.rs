//! Captures for tests: threads as rows of events, and what all three readings make of them.

use super::Runtime;
use super::allocator::Allocator;
use super::draft::Draft;
use crate::xplane::events::Events;
use crate::xplane::events::class::{Keep, Name};
use crate::xplane::events::line::Line;
use crate::xplane::events::stats::{Memory, Note};
use crate::xplane::look::{Look, Seen};
use crate::xplane::names::{Names, PlaneNames};
use crate::xplane::plan::Plan;

/// What stands behind an event's name and times.
#[derive(Clone, Copy)]
pub(super) enum With {
    Nothing,
    /// In use after it, bytes, address; of 1000 on the given GPU.
    Memory(i64, i64, i64, i64),
    Shape(&'static str),
    Links(Option<i64>, Option<i64>),
}
use With::Nothing;

pub(super) type Row = (&'static str, i64, i64, With);

/// What the second reading keeps of such lines.
pub(super) fn host(lines: &[&[Row]]) -> Events {
    let mut events = Events { texts: (0..3).map(|device| format!("GPU_{device}_bfc")).collect(), ..Events::default() };
    for rows in lines {
        let mut line = Line::default();
        for &(name, start_ps, duration_ps, with) in *rows {
            let number = events.names.len() as u32;
            events.names.push(Name::of(name));
            let has_note = matches!(with, With::Links(..) | With::Shape(_));
            if !Keep::of(&events.names[number as usize]).admits(duration_ps, has_note) {
                continue;
            }
            let index = line.start_ps.len() as u32;
            line.start_ps.push(start_ps);
            line.duration_ps.push(duration_ps);
            line.name.push(number);
            match with {
                Nothing | With::Shape(_) => {}
                With::Links(produces, consumes) => {
                    let link = |id: Option<i64>| id.map(|id| (5, id));
                    line.notes.0.push((index, Note { produces: link(produces), consumes: link(consumes), ..Note::default() }));
                }
                With::Memory(device, allocated_bytes, bytes, address) => {
                    let memory = Memory {
                        allocator: device as u32,
                        reserved_bytes: 0,
                        allocated_bytes,
                        available_bytes: 1000 - allocated_bytes,
                        fragmentation: 0.25,
                        peak_bytes: 900,
                        requested_bytes: bytes,
                        bytes,
                        address,
                    };
                    line.memory.0.push((index, memory));
                }
            }
        }
        events.lines.push(line);
    }
    events
}

/// All three readings of such lines.
pub(super) fn run(lines: &[&[Row]], names: &Names, plans: &[Plan]) -> Runtime {
    run_events(&mut host(lines), lines, names, plans)
}

pub(super) fn run_events(events: &mut Events, lines: &[&[Row]], names: &Names, plans: &[Plan]) -> Runtime {
    let draft = Draft::of(events, names, plans);
    let mut look = Look::new(events, names, draft.questions(), draft.windows());
    let mut name = 0;
    for (line, rows) in lines.iter().enumerate() {
        for &(_, start_ps, duration_ps, with) in *rows {
            look.see(line, Seen { start_ps, duration_ps, name, shape: None }, if let With::Shape(shape) = with { Some(shape) } else { None });
            name += 1;
        }
    }
    let looked = look.finish();
    draft.finish(events, looked)
}

pub(super) fn gpus(count: i64) -> Names {
    let planes = (0..count).map(|device| PlaneNames { name: format!("/device:GPU:{device}"), ..PlaneNames::default() });
    Names { planes: planes.collect(), ..Names::default() }
}

pub(super) fn plan(name: &str, temp_bytes: i64) -> Plan {
    Plan { name: name.to_owned(), temp_bytes, ..Plan::default() }
}

pub(super) fn link(produces: Option<i64>, consumes: Option<i64>) -> With {
    With::Links(produces, consumes)
}

/// Device, module, number, launched, used.
pub(super) type Told<'a> = (Option<i64>, &'a str, u64, Option<bool>, Option<i64>);

pub(super) fn told(runtime: &Runtime) -> Vec<Told<'_>> {
    runtime.executions.iter().map(|execution| (execution.device, &execution.module[..], execution.n, execution.launched, execution.used_bytes)).collect()
}

pub(super) fn owned(allocator: &Allocator, time_ps: i64) -> Vec<(String, i64, u64)> {
    allocator.live_before(time_ps).into_iter().map(|owned| (owned.owner, owned.bytes, owned.blocks)).collect()
}

pub(super) const EXECUTE: &str = "CommonPjRtLoadedExecutable::Execute (jit_f)";
pub(super) const HELPER: &str = "CommonPjRtLoadedExecutable::ExecuteHelperOnSingleDevice";
