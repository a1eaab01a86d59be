//! The first reading of a capture: the names of every plane's events and stats, what its planes say of themselves, and the compiled
//! modules' plans. Lines are passed over.

use super::plan::Plan;
use super::space::{METADATA_PLANE, PlaneKind, entry, file, metadata, note_damage, plane, stat};
use crate::scan::wire::{Action, End, Fault, Selective, Visit, Walker, fields};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Between two lines there is little to read.
const WORTH_BYTES: u64 = 256 << 10;

/// What the first reading found.
#[derive(Debug, Default)]
pub struct Names {
    /// In the file's order.
    pub planes: Vec<PlaneNames>,
    /// The machines.
    pub hosts: Vec<String>,
    /// The compiled modules.
    pub plans: Vec<Plan>,
    /// Modules whose plan cannot be read, and why.
    pub unread: Vec<(String, String)>,
    /// How the file ended.
    pub end: Option<End>,
    /// Where it is damaged.
    pub damage: Vec<(u64, Fault)>,
    /// Names and stats that cannot be read.
    pub broken_names: u64,
}

/// What is known of one plane.
#[derive(Debug, Default)]
pub struct PlaneNames {
    /// `/host:CPU`.
    pub name: String,
    /// The names of its events.
    pub events: HashMap<i64, String>,
    /// The names of its stats.
    pub stats: HashMap<i64, String>,
    /// Numbers it says of itself (`memory_size`), by name.
    pub numbers: HashMap<String, i64>,
    /// Texts it says of itself (`jax_version`), by name.
    pub texts: HashMap<String, String>,
}

impl PlaneNames {
    /// What the plane is about.
    pub fn kind(&self) -> PlaneKind {
        PlaneKind::of(&self.name)
    }
}

impl Names {
    /// A number that some plane says of itself.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.planes.iter().find_map(|plane| plane.numbers.get(name).copied())
    }

    /// A text that some plane says of itself.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.planes.iter().find_map(|plane| plane.texts.get(name).map(String::as_str))
    }
}

/// Reads names. Fed slices cut anywhere.
#[derive(Default)]
pub struct NamesReader {
    walker: Walker,
    reading: Reading,
}

#[derive(Default)]
struct Reading {
    names: Names,
    plane: PlaneNames,
    /// Event names with stats, which may be modules: what their stats are called comes later.
    described: Vec<(String, Vec<u8>)>,
    /// What the plane says of itself, for the same reason.
    stats: Vec<u8>,
}

impl Selective for NamesReader {
    fn next(&self) -> Option<Range<u64>> {
        self.walker.next().map(|at| at..at.saturating_add(WORTH_BYTES))
    }

    fn feed(&mut self, at: u64, bytes: &[u8]) {
        self.walker.feed_at(at, bytes, &mut self.reading);
    }
}

impl NamesReader {
    /// What was found.
    pub fn finish(mut self) -> Names {
        let end = self.walker.finish(&mut self.reading);
        self.reading.names.end = Some(end);
        self.reading.names
    }
}

impl Visit for Reading {
    fn begins(&mut self, depth: usize, field: u32, _: Range<u64>) -> Action {
        match (depth, field) {
            (0, file::PLANES) => Action::Enter,
            (0, file::HOSTNAMES) | (1, plane::NAME | plane::EVENT_METADATA | plane::STAT_METADATA | plane::STATS) => Action::Take,
            _ => Action::Skip,
        }
    }

    fn taken(&mut self, depth: usize, field: u32, bytes: &[u8]) {
        let text = || String::from_utf8_lossy(bytes).into_owned();
        let read = match (depth, field) {
            (0, _) => {
                self.names.hosts.push(text());
                Ok(())
            }
            (_, plane::NAME) => {
                self.plane.name = text();
                Ok(())
            }
            (_, plane::EVENT_METADATA) => self.event_name(bytes),
            (_, plane::STAT_METADATA) => self.stat_name(bytes),
            _ => {
                push_message(&mut self.stats, bytes);
                Ok(())
            }
        };
        self.names.broken_names += u64::from(read.is_err());
    }

    fn number(&mut self, _: usize, _: u32, _: u64) {}

    fn left(&mut self, _: usize) {
        let mut found = std::mem::take(&mut self.plane);
        self.describe(&mut found);
        self.modules(&found);
        self.names.planes.push(found);
    }

    fn damaged(&mut self, byte: u64, fault: Fault) {
        note_damage(&mut self.names.damage, byte, fault);
    }
}

impl Reading {
    fn event_name(&mut self, message: &[u8]) -> Result<(), Fault> {
        let (id, described) = entry(message)?;
        let mut name = String::new();
        let mut stats = Vec::new();
        // On a device, each kernel's name has stats that nobody asks for.
        let wanted = matches!(PlaneKind::of(&self.plane.name), PlaneKind::Other | PlaneKind::Host);
        for field in fields(described) {
            match field? {
                (metadata::NAME, value) => name = value.text(),
                (metadata::STATS, value) if wanted => push_message(&mut stats, value.bytes()),
                _ => {}
            }
        }
        if !stats.is_empty() {
            self.described.push((name.clone(), stats));
        }
        self.plane.events.insert(id, name);
        Ok(())
    }

    fn stat_name(&mut self, message: &[u8]) -> Result<(), Fault> {
        let (id, named) = entry(message)?;
        let name = fields(named).map_while(Result::ok).find(|(field, _)| *field == metadata::NAME);
        self.plane.stats.insert(id, name.map_or_else(String::new, |(_, value)| value.text()));
        Ok(())
    }

    /// Reads what the plane says of itself.
    fn describe(&mut self, plane: &mut PlaneNames) {
        for (_, message) in fields(&std::mem::take(&mut self.stats)).map_while(Result::ok) {
            let Ok((id, Some(held))) = stat(message.bytes()) else { continue };
            let Some(name) = plane.stats.get(&id).cloned() else { continue };
            let text = held.text(&plane.stats);
            if text.is_empty() {
                plane.numbers.insert(name, held.int());
            } else {
                plane.texts.insert(name, text);
            }
        }
    }

    /// Reads the plans of the plane's modules, in parallel where there are threads.
    fn modules(&mut self, plane: &PlaneNames) {
        let described = std::mem::take(&mut self.described);
        let read: Vec<_> = described.par_iter().filter_map(|(name, stats)| module(name, stats, plane)).collect();
        for (name, plan) in read {
            match plan {
                Ok(plan) => self.names.plans.push(plan),
                Err(reason) => self.names.unread.push((name, reason)),
            }
        }
        if plane.name == METADATA_PLANE {
            // Their names are the modules': kept in the plans.
            self.names.plans.sort_by(|a, b| a.name.cmp(&b.name));
        }
    }
}

/// The plan of an event name that is a module; `None` for another.
fn module(name: &str, stats: &[u8], plane: &PlaneNames) -> Option<(String, Result<Plan, String>)> {
    let mut proto = None;
    let mut program_id = None;
    for (_, message) in fields(stats).map_while(Result::ok) {
        let Ok((id, Some(held))) = stat(message.bytes()) else { continue };
        match plane.stats.get(&id).map(String::as_str) {
            Some(name) if is_hlo_proto(name) => proto = Some(held),
            Some("program_id") => program_id = Some(held.int()),
            _ => {}
        }
    }
    let bytes = proto?.bytes(&plane.stats);
    Some((name.to_owned(), Plan::read(name, program_id, &bytes)))
}

/// "Hlo Proto", as it is called in one file or another.
fn is_hlo_proto(name: &str) -> bool {
    const NAME: &[u8] = b"hlo proto";
    name.len() == NAME.len()
        && name.bytes().zip(NAME).all(|(byte, &expected)| if byte == b'_' { expected == b' ' } else { byte.eq_ignore_ascii_case(&expected) })
}

/// Appends a message to a list of messages of field 1.
fn push_message(list: &mut Vec<u8>, message: &[u8]) {
    prost::encoding::encode_varint(0x0a, list);
    prost::encoding::encode_varint(message.len() as u64, list);
    list.extend_from_slice(message);
}

#[cfg(test)]
mod tests {
    use super::super::space::tests::{bytes, number};
    use super::*;

    fn named(id: i64, name: &str, stats: &[&[u8]]) -> Vec<u8> {
        let body = [bytes(2, &[name.as_bytes()]), stats.concat()].concat();
        [number(1, id), bytes(2, &[&body])].concat()
    }

    fn file() -> Vec<u8> {
        let modules = [
            bytes(2, &[METADATA_PLANE.as_bytes()]),
            bytes(4, &[&named(-4, "jit_f(7)", &[&bytes(5, &[&number(1, 1), &bytes(6, &[])]), &bytes(5, &[&number(1, 2), &number(4, 7)])])]),
            bytes(4, &[&named(5, "jit_g(8)", &[&bytes(5, &[&number(1, 1), &bytes(6, &[b"\x0b"])])])]),
            bytes(6, &[&number(1, 3), &bytes(5, &[b"0.10.2"])]),
            bytes(5, &[&named(1, "HLO_proto", &[])]),
            bytes(5, &[&named(2, "program_id", &[])]),
            bytes(5, &[&named(3, "jax_version", &[])]),
        ];
        let host = [
            bytes(3, &[b"\xff a line that is passed over"]),
            bytes(4, &[&named(1, "MemoryAllocation", &[])]),
            bytes(4, &[b"\x0b"]),
            bytes(99, &[b"unknown"]),
            bytes(2, &[b"/host:CPU"]),
        ];
        [bytes(1, &[&modules.concat()]), bytes(1, &[&host.concat()]), bytes(4, &[b"worker-3"])].concat()
    }

    fn read<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Names {
        let mut reader = NamesReader::default();
        let mut at = 0;
        for chunk in chunks {
            reader.feed(at, chunk);
            at += chunk.len() as u64;
        }
        reader.finish()
    }

    #[test]
    fn names_come_in_any_order_and_a_broken_module_costs_itself() {
        let file = file();
        let names = read(std::iter::once(&file[..]));
        assert_eq!((&names.hosts[..], names.end, names.broken_names), (&["worker-3".to_owned()][..], Some(End::Whole), 1));
        assert_eq!(names.plans.iter().map(|plan| (&plan.name[..], plan.program_id)).collect::<Vec<_>>(), [("jit_f(7)", Some(7))]);
        assert_eq!((names.unread.len(), &names.unread[0].0[..]), (1, "jit_g(8)"));
        assert_eq!(names.text("jax_version"), Some("0.10.2"));
        assert_eq!((names.planes[1].kind(), names.planes[1].events.get(&1).map(String::as_str)), (PlaneKind::Host, Some("MemoryAllocation")));
        for size in 1..30 {
            assert_eq!(format!("{:?}", read(file.chunks(size)).plans), format!("{:?}", names.plans));
        }
    }

    #[test]
    fn the_stats_name_is_matched_loosely() {
        assert!(["Hlo Proto", "HLO Proto", "hlo_proto"].iter().all(|name| is_hlo_proto(name)));
        assert!(!is_hlo_proto("hlo proto ") && !is_hlo_proto("hlo-proto"));
    }
}
