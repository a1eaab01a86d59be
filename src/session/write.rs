//! Writing a session.

use super::FORMAT;
use super::private::{Folders, without_folders};
use crate::ascend::capture::{Around, Capture, Device, Facts};
use crate::ascend::trace_view::Phase;
use crate::error::Warning;
use crate::oom::read::ReadReport;
use crate::oom::report::CaptureReport;
use crate::timeline::blocks::{Blocks, Totals};
use crate::timeline::folded::Folded;
use crate::timeline::packed::{put, put_varint};
use crate::timeline::replay::{Change, Curves};
use crate::xplane::capture as xplane;
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// A capture of either kind.
pub enum Held<'a> {
    /// An Ascend Profiler folder.
    Ascend(&'a Capture),
    /// A JAX capture.
    Jax(&'a xplane::Capture),
}

/// What of a session others may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Include {
    /// Call stacks of blocks.
    pub stacks: bool,
    /// Folders in paths; without them files keep their names.
    pub folders: bool,
}

/// The text before the columns.
#[derive(Serialize)]
struct Head<'a> {
    captures: Vec<CaptureHead<'a>>,
    reports: Vec<ReportHead<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum CaptureHead<'a> {
    Ascend { facts: &'a Facts, around: &'a Around, phases: &'a [Phase], devices: Vec<DeviceHead<'a>> },
    Xplane(&'a xplane::Capture),
}

#[derive(Serialize)]
struct DeviceHead<'a> {
    device: &'a str,
    pool: &'static str,
    names: &'a [String],
    streams: &'a [String],
    blocks: usize,
    freed: usize,
    /// The different call stacks; null without any.
    stacks: Option<&'a [String]>,
    /// Null where every block is in the columns.
    folded: Option<FoldedHead<'a>>,
}

/// Of a pool of which blocks were folded; its columns follow those of the blocks.
#[derive(Serialize)]
struct FoldedHead<'a> {
    sums: &'a Folded,
    /// Of the curves of all blocks.
    entries: usize,
    drops: &'a [Change],
    rises: &'a [Change],
}

#[derive(Serialize)]
struct ReportHead<'a> {
    file: &'a str,
    captures: &'a [CaptureReport],
    warnings: &'a [Warning],
}

/// Writes captures and reports, packed.
pub fn write(captures: &[Held], reports: &[ReadReport], include: Include) -> io::Result<Vec<u8>> {
    let head = Head {
        captures: captures.iter().map(|capture| capture.head(include)).collect(),
        reports: reports.iter().map(|ReadReport { file, captures, warnings }| ReportHead { file, captures, warnings }).collect(),
    };
    let head = if include.folders { serde_json::to_vec(&head)? } else { bare(&head)? };
    let mut bytes = FORMAT.as_bytes().to_vec();
    put_varint(&mut bytes, head.len() as u128);
    bytes.extend_from_slice(&head);
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&bytes)?;
    for device in captures.iter().flat_map(|capture| capture.devices()) {
        bytes.clear();
        put_blocks(&mut bytes, &device.blocks);
        if let Some(folded) = &device.blocks.folded {
            put_curves(&mut bytes, &device.replay.curves, folded);
        }
        if let Some(stacks) = device.stacks.as_ref().filter(|_| include.stacks) {
            put(&mut bytes, stacks.of_block.iter().map(|&stack| i64::from(stack)));
            put(&mut bytes, stacks.nearest.iter().map(|&stack| i64::from(stack)));
            bytes.extend(stacks.reasons.iter().map(|&reason| reason as u8));
        }
        packer.write_all(&bytes)?;
    }
    packer.finish()
}

/// The head without folders, in whatever text they stand.
fn bare(head: &Head) -> serde_json::Result<Vec<u8>> {
    let mut head = serde_json::to_value(head)?;
    let folders = Folders::of(&head);
    let mut texts = vec![&mut head];
    while let Some(value) = texts.pop() {
        match value {
            Value::String(text) => *text = without_folders(text, &folders),
            Value::Array(values) => texts.extend(values),
            Value::Object(fields) => texts.extend(fields.values_mut()),
            _ => {}
        }
    }
    serde_json::to_vec(&head)
}

impl<'a> Held<'a> {
    fn devices(&self) -> &'a [Device] {
        match self {
            Held::Ascend(capture) => &capture.devices,
            Held::Jax(_) => &[],
        }
    }

    fn head(&self, include: Include) -> CaptureHead<'a> {
        match self {
            Held::Ascend(Capture { facts, around, phases, devices, .. }) => {
                CaptureHead::Ascend { facts, around, phases, devices: devices.iter().map(|device| DeviceHead::of(device, include)).collect() }
            }
            Held::Jax(capture) => CaptureHead::Xplane(capture),
        }
    }
}

impl<'a> DeviceHead<'a> {
    fn of(Device { device, pool, blocks, stacks, replay }: &'a Device, include: Include) -> DeviceHead<'a> {
        DeviceHead {
            device,
            pool: pool.name(),
            names: &blocks.names,
            streams: &blocks.streams,
            blocks: blocks.len(),
            freed: blocks.freed.time_ns.len(),
            stacks: stacks.as_ref().filter(|_| include.stacks).map(|stacks| &stacks.texts[..]),
            folded: blocks.folded.as_deref().map(|sums| FoldedHead { sums, entries: replay.curves.len(), drops: &replay.drops, rises: &replay.rises }),
        }
    }
}

/// The order is the format's: see [`super::read`].
fn put_blocks(bytes: &mut Vec<u8>, blocks: &Blocks) {
    for column in [&blocks.name, &blocks.stream, &blocks.line] {
        put(bytes, column.iter().map(|&number| i64::from(number)));
    }
    for column in [&blocks.size_bytes, &blocks.start_ns, &blocks.end_ns, &blocks.active_end_ns] {
        put(bytes, column.iter().copied());
    }
    put_totals(bytes, &blocks.at_start);
    put_totals(bytes, &blocks.at_end);
    put(bytes, blocks.freed.time_ns.iter().copied());
    put(bytes, blocks.freed.size_bytes.iter().copied());
    put_totals(bytes, &blocks.freed.totals);
}

fn put_curves(bytes: &mut Vec<u8>, curves: &Curves, folded: &Folded) {
    for column in [&curves.time_ns, &curves.tracked_bytes, &curves.baseline_bytes, &curves.reserved_bytes, &curves.active_bytes] {
        put(bytes, column.iter().copied());
    }
    // Where nothing of what was folded lived for any time, nothing of it is ever alive.
    put(bytes, (0..curves.len()).map(|at| folded.alive(at, ()).bytes));
    put(bytes, (0..curves.len()).map(|at| folded.alive(at, ()).blocks as i64));
}

fn put_totals(bytes: &mut Vec<u8>, totals: &Totals) {
    for column in [&totals.allocated_bytes, &totals.reserved_bytes, &totals.active_bytes] {
        put(bytes, column.iter().copied());
    }
    put(bytes, totals.tolerance_millibytes.iter().map(|&number| i64::from(number)));
}
