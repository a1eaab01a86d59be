//! A real capture of eight devices from which the launches of one are removed: that one alone launched nothing.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use oomscope::scan::wire::{Value, fields};
use prost::encoding::encode_varint;
use std::collections::HashSet;
use std::path::Path;
use support::{capture, report};

/// The device whose launches are removed.
const REMOVED: i64 = 5;

fn put(out: &mut Vec<u8>, field: u32, value: Value) {
    match value {
        Value::Number(number) => {
            encode_varint(u64::from(field) << 3, out);
            encode_varint(number, out);
        }
        Value::Bytes(bytes) => {
            encode_varint(u64::from(field) << 3 | 2, out);
            encode_varint(bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
    }
}

fn all(message: &[u8], wanted: u32) -> impl Iterator<Item = Value<'_>> {
    fields(message).map(Result::unwrap).filter(move |(field, _)| *field == wanted).map(|(_, value)| value)
}

fn int(message: &[u8], field: u32) -> i64 {
    all(message, field).last().map_or(0, Value::int)
}

/// A message without the parts of one field that are not kept. Doubles are not rewritten: they only stand deeper.
fn filtered(message: &[u8], field: u32, keep: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, value) in fields(message).map(Result::unwrap) {
        if number != field {
            put(&mut out, number, value);
        } else if let Some(kept) = keep(value.bytes()) {
            put(&mut out, number, Value::Bytes(&kept));
        }
    }
    out
}

fn plane_name(plane: &[u8]) -> String {
    all(plane, 2).last().unwrap().text()
}

/// The numbers of the names for which something holds, in a map of names.
fn named(plane: &[u8], map: u32, holds: &dyn Fn(&str) -> bool) -> HashSet<i64> {
    let entry = |entry: Value| (int(entry.bytes(), 1), all(all(entry.bytes(), 2).last().unwrap().bytes(), 2).last().map_or(String::new(), Value::text));
    all(plane, map).map(entry).filter(|(_, name)| holds(name)).map(|(id, _)| id).collect()
}

fn number_stat(event: &[u8], stat: &HashSet<i64>) -> Option<i64> {
    all(event, 4).find(|held| stat.contains(&int(held.bytes(), 1))).map(|held| int(held.bytes(), 3) + int(held.bytes(), 4))
}

fn without_launches(space: &[u8]) -> Vec<u8> {
    let device = format!("/device:GPU:{REMOVED}");
    let own = all(space, 1).find(|plane| plane_name(plane.bytes()) == device).unwrap().bytes();
    let correlation = named(own, 5, &|name| name == "correlation_id");
    let kernels: HashSet<i64> = all(own, 3).flat_map(|line| all(line.bytes(), 4)).filter_map(|event| number_stat(event.bytes(), &correlation)).collect();
    filtered(space, 1, &mut |plane| {
        if plane_name(plane) != "/host:CPU" {
            return Some(plane.to_vec());
        }
        let thunks = named(plane, 4, &|name| name.ends_with("::ExecuteThunks") || name.ends_with(":XLA GPU module"));
        let launches = named(plane, 4, &|name| name.starts_with("hip") && name.contains("Launch"));
        let allocations = named(plane, 4, &|name| name == "MemoryAllocation");
        let (correlation, allocator) = (named(plane, 5, &|name| name == "correlation_id"), named(plane, 5, &|name| name == "allocator_name"));
        let its_allocator = named(plane, 5, &|name| name == format!("GPU_{REMOVED}_bfc"));
        let helpers = named(plane, 4, &|name| name.ends_with("::ExecuteHelper"));
        Some(filtered(plane, 3, &mut |line| {
            let events = || all(line, 4);
            let allocates = |event: Value| {
                allocations.contains(&int(event.bytes(), 1))
                    && all(event.bytes(), 4).any(|held| allocator.contains(&int(held.bytes(), 1)) && its_allocator.contains(&int(held.bytes(), 7)))
            };
            let executes = events().any(|event| helpers.contains(&int(event.bytes(), 1))) && events().any(allocates);
            let is_its = |event: &[u8]| {
                let name = int(event, 1);
                (executes && thunks.contains(&name)) || (launches.contains(&name) && number_stat(event, &correlation).is_some_and(|id| kernels.contains(&id)))
            };
            Some(filtered(line, 4, &mut |event| (!is_its(event)).then(|| event.to_vec())))
        }))
    })
}

#[test]
fn the_device_without_launches_alone_launched_nothing() {
    let Some(path) = capture("xplane/gpu_mi300x/jax_conv.xplane.pb") else { return };
    let original = std::fs::read(path).unwrap();
    let changed = without_launches(&original);
    assert!(changed.len() < original.len());
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one_device_idle.xplane.pb");
    std::fs::write(&copy, changed).unwrap();
    let report = report(&copy);
    let capture = &report["captures"][0];
    let executions = capture["executions"].as_array().unwrap();
    assert_eq!(executions.len(), 40);
    for execution in executions {
        assert_eq!(execution["launched"].as_bool(), Some(execution["device"] != REMOVED), "{execution}");
    }
    assert_eq!((&capture["modules"][0]["launched"], &capture["chosen_module"]), (&false.into(), &"jit_forward_3d_conv(15)".into()));
}
