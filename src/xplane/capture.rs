//! One capture: its file in, thrice, each time less of it; plans, events and facts out.

use super::events::reader::EventsReader;
use super::look::Look;
use super::names::{Names, NamesReader};
use super::plan::Plan;
use super::runtime::Runtime;
use super::runtime::draft::Draft;
use super::space::PlaneKind;
use crate::error::{MadeOn, Position, Problem, Warning, Warnings};
use crate::scan::sniff::{HEAD_BYTES, sniff};
use crate::scan::wire::{End, Fault, Selective};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// A capture ready for questions.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// Path of its file below what was opened.
    pub source: String,
    /// The machine it was made on.
    pub host: Option<String>,
    /// Version of jax.
    pub jax: Option<String>,
    /// Version of jaxlib.
    pub jaxlib: Option<String>,
    /// The plans of its modules, by name.
    pub plans: Vec<Plan>,
    /// What happened at run time.
    pub runtime: Runtime,
    /// The memory of each GPU.
    pub hbm_bytes: BTreeMap<i64, i64>,
    /// What it was made on.
    pub made_on: MadeOn,
    /// TensorFlow wrote it.
    pub tensorflow: bool,
    /// It could be read at all.
    pub is_xspace: bool,
    /// What was wrong or missing.
    pub warnings: Vec<Warning>,
}

/// Events are one of so many parts of what is made of them.
const PARTS_OF_MEMORY: u64 = 4;

/// Which reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Little of the file.
    Names,
    /// Nearly all of it.
    Events,
    /// Here and there some of it.
    Look,
}

/// What the first reading found; the others need it.
struct Known {
    source: String,
    head: Vec<u8>,
    names: Names,
    /// It did not reach the end, which was said.
    has_failed: bool,
    warnings: Warnings,
}

/// What the second and third reading found.
#[derive(Default)]
struct Happened {
    runtime: Runtime,
    damage: Vec<(u64, Fault)>,
    broken: u64,
    count: u64,
    is_full: bool,
}

/// The first reading: names and plans, and the first bytes.
#[derive(Default)]
struct FirstReading {
    head: Vec<u8>,
    names: NamesReader,
}

impl Selective for FirstReading {
    fn next(&self) -> Option<Range<u64>> {
        self.names.next()
    }

    fn feed(&mut self, at: u64, bytes: &[u8]) {
        if at == self.head.len() as u64 {
            let missing = HEAD_BYTES - self.head.len();
            self.head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        }
        self.names.feed(at, bytes);
    }
}

impl Known {
    /// Whether there is anything to be found by reading the file again.
    fn has_events(&self) -> bool {
        self.names.planes.iter().any(|plane| matches!(plane.kind(), PlaneKind::Host | PlaneKind::Gpu(_)))
    }
}

impl Capture {
    /// Reads a file, by its path below what was opened: `pass` feeds a reader, thrice at the most.
    pub fn read(source: &str, pass: impl FnMut(&mut dyn Selective) -> Result<(), Problem>) -> Capture {
        Capture::read_within(source, None, pass)
    }

    /// As [`Capture::read`], with so many bytes of memory; without a limit where none is given.
    pub fn read_within(source: &str, memory_bytes: Option<u64>, mut pass: impl FnMut(&mut dyn Selective) -> Result<(), Problem>) -> Capture {
        let reading = Capture::read_by(source, memory_bytes, async |_, reader| pass(reader));
        // Nothing in it waits.
        let mut context = Context::from_waker(Waker::noop());
        let mut reading = pin!(reading);
        loop {
            if let Poll::Ready(capture) = reading.as_mut().poll(&mut context) {
                return capture;
            }
        }
    }

    /// As [`Capture::read_within`], where bytes are waited for.
    pub async fn read_by(source: &str, memory_bytes: Option<u64>, mut pass: impl AsyncFnMut(Pass, &mut dyn Selective) -> Result<(), Problem>) -> Capture {
        let mut first = FirstReading::default();
        let mut warnings = Warnings::default();
        let failure = pass(Pass::Names, &mut first).await.err();
        if let Some(problem) = &failure {
            warnings.push(problem, Position::file(source));
        }
        let known = Known { source: source.to_owned(), head: first.head, names: first.names.finish(), has_failed: failure.is_some(), warnings };
        let mut happened = Happened::default();
        if known.has_events() {
            // What cannot be read was said the first time.
            let mut second = EventsReader::new(&known.names, memory_bytes.map(|bytes| bytes / PARTS_OF_MEMORY));
            let _ = pass(Pass::Events, &mut second).await;
            let mut events = second.finish();
            if events.is_full {
                return Capture::of(known, Happened { is_full: true, ..Happened::default() });
            }
            let draft = Draft::of(&mut events, &known.names, &known.names.plans);
            let mut look = Look::new(&events, &known.names, draft.questions(), draft.windows());
            if look.next().is_some() {
                let _ = pass(Pass::Look, &mut look).await;
            }
            let looked = look.finish();
            happened = Happened { runtime: draft.finish(&events, looked), damage: events.damage, broken: events.broken, count: events.count, is_full: false };
        }
        Capture::of(known, happened)
    }

    /// Puts the readings together.
    fn of(known: Known, happened: Happened) -> Capture {
        let Known { source, head, names, has_failed, mut warnings } = known;
        // A damaged file of another kind may hold something like a plane; its first bytes know better.
        let is_xspace = sniff(&head).is_none() && names.planes.iter().any(|plane| !plane.name.is_empty() || !plane.events.is_empty());
        let kinds: Vec<PlaneKind> = names.planes.iter().map(super::names::PlaneNames::kind).collect();
        // What a part of the file lacks, the whole may have had.
        let is_whole =
            names.damage.is_empty() && happened.damage.is_empty() && happened.broken == 0 && names.broken_names == 0 && !matches!(names.end, Some(End::Cut(_)));
        let made_on = if !is_whole && happened.runtime.allocators.is_empty() {
            MadeOn::Damaged
        } else if kinds.contains(&PlaneKind::Tpu) {
            MadeOn::Tpu
        } else if kinds.iter().any(|kind| matches!(kind, PlaneKind::Gpu(_))) {
            MadeOn::Gpu
        } else {
            MadeOn::Cpu
        };
        let tensorflow = names.text("jax_version").is_none() && names.planes.iter().any(|plane| plane.events.values().any(|name| is_tensorflow(name)));
        // What could not be read is not empty.
        let is_known = is_xspace || !has_failed || (!head.is_empty() && sniff(&head).is_some());
        if is_known {
            say_damage(&mut warnings, &source, &head, &names, &happened, is_xspace);
        }
        if is_xspace {
            if let Some(plane) = twice(names.planes.iter().map(|plane| &plane.name[..]).filter(|name| name.starts_with("/host:"))) {
                warnings.push(&Problem::JoinedCapture { plane: plane.to_owned() }, Position::file(&source));
            }
            if names.plans.is_empty() && is_whole {
                warnings.push(&Problem::NoHloProto { tensorflow }, Position::file(&source));
            }
            if happened.is_full {
                warnings.push(&Problem::EventsTooMany, Position::file(&source));
            } else if happened.runtime.allocators.is_empty() {
                warnings.push(&Problem::NoAllocatorEvents { made_on }, Position::file(&source));
            }
        }
        let hbm = names.planes.iter().filter_map(|plane| match plane.kind() {
            PlaneKind::Gpu(device) => Some((device, *plane.numbers.get("memory_size")?)),
            _ => None,
        });
        Capture {
            hbm_bytes: hbm.collect(),
            host: names.hosts.first().cloned(),
            jax: names.text("jax_version").map(str::to_owned),
            jaxlib: names.text("jaxlib_version").map(str::to_owned),
            source,
            plans: names.plans,
            runtime: happened.runtime,
            made_on,
            tensorflow,
            is_xspace,
            warnings: warnings.finish(),
        }
    }

    /// The plan of a module, by the name with its number.
    pub fn plan(&self, module: &str) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.name == module)
    }
}

/// The first that was there before.
fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = HashSet::new();
    names.into_iter().find(|&name| !seen.insert(name))
}

fn is_tensorflow(name: &str) -> bool {
    name.starts_with("TFE_") || name.starts_with("EagerLocalExecute") || name.starts_with("EagerKernelExecute")
}

fn say_damage(warnings: &mut Warnings, source: &str, head: &[u8], names: &Names, happened: &Happened, is_xspace: bool) {
    let damaged = |reason: String, byte: Option<u64>| (Problem::DamagedFile { reason }, Position { byte, ..Position::file(source) });
    let mut say = |(problem, at): (Problem, Position)| warnings.push(&problem, at);
    if !is_xspace {
        let instead = sniff(head).unwrap_or("nothing in it can be read");
        return say(damaged(format!("this is no XSpace (.xplane.pb): {instead}"), None));
    }
    let mut places: Vec<(u64, Fault)> = names.damage.iter().chain(&happened.damage).copied().collect();
    places.sort_unstable_by_key(|place| place.0);
    places.dedup_by_key(|place| place.0);
    for (byte, fault) in places {
        say(damaged(format!("the file is damaged here ({fault}); the rest of this message was passed over"), Some(byte)));
    }
    if happened.broken > 0 {
        say(damaged(format!("{} of {} events cannot be read and were passed over", happened.broken, happened.count), None));
    }
    if names.broken_names > 0 {
        say(damaged(format!("{} names of events cannot be read; these events were passed over", names.broken_names), None));
    }
    for (module, error) in &names.unread {
        say(damaged(format!("the plan of {module} cannot be read: {error}"), None));
    }
    if let Some(End::Cut(byte)) = names.end {
        say((Problem::CutCapture { planes: names.planes.len() as u64 }, Position { byte: Some(byte), ..Position::file(source) }));
    }
}
