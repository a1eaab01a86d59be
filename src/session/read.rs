//! Reading a session. It may come from anywhere: nothing in it is believed that would break what comes after.

use super::{FORMAT, OLDER, sound};
use crate::ascend::capture::{Around, Capture, Facts, ScannedCapture};
use crate::ascend::operator_memory::{DeviceBlocks, Pool};
use crate::ascend::stacks::{Reason, Stacks};
use crate::ascend::trace_view::Phase;
use crate::error::Warning;
use crate::oom::read::{ReadReport, captures_of};
use crate::scan::gzip::Unpacker;
use crate::timeline::blocks::{Blocks, Freed, Totals};
use crate::timeline::folded::Folded;
use crate::timeline::packed::Columns;
use crate::timeline::replay::{Change, Curves, Replay};
use crate::xplane::capture as xplane;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What was saved.
#[derive(Debug)]
pub struct Session {
    /// As they were opened.
    pub captures: Vec<Kept>,
    /// As they were read.
    pub reports: Vec<ReadReport>,
}

/// A capture of either kind.
#[derive(Debug)]
pub enum Kept {
    /// An Ascend Profiler folder.
    Ascend(Box<Capture>),
    /// A JAX capture.
    Jax(Box<xplane::Capture>),
}

#[derive(Deserialize)]
struct Head<'a> {
    captures: Vec<CaptureHead>,
    #[serde(borrow)]
    reports: Vec<ReportHead<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CaptureHead {
    Ascend { facts: Box<Facts>, around: Around, phases: Vec<Phase>, devices: Vec<DeviceHead> },
    Xplane(Box<xplane::Capture>),
}

#[derive(Deserialize)]
struct DeviceHead {
    device: String,
    pool: String,
    names: Vec<String>,
    streams: Vec<String>,
    blocks: u64,
    freed: u64,
    stacks: Option<Vec<String>>,
    #[serde(default)]
    folded: Option<FoldedHead>,
}

#[derive(Deserialize)]
struct FoldedHead {
    sums: Box<Folded>,
    entries: u64,
    drops: Vec<Change>,
    rises: Vec<Change>,
}

#[derive(Deserialize)]
struct ReportHead<'a> {
    file: String,
    #[serde(borrow)]
    captures: Vec<&'a RawValue>,
    warnings: Vec<Warning>,
}

/// Reads a packed session; the error says what is wrong with it.
pub fn read(packed: &[u8]) -> Result<Session, String> {
    let mut bytes = Vec::new();
    let mut unpacker = Unpacker::default();
    let mut keep = |unpacked: &[u8]| bytes.extend_from_slice(unpacked);
    unpacker.feed(packed, &mut keep).and_then(|()| unpacker.finish(&mut keep)).map_err(|error| damaged(&error.to_string()))?;
    let Some(rest) = OLDER.iter().chain([&FORMAT]).find_map(|format| bytes.strip_prefix(format.as_bytes())) else {
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let name = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
        return Err(format!("its format is {name:?}, and this program knows {}; a newer one may read it", FORMAT.trim_end()));
    };
    unpacked(rest).map_err(|reason| damaged(&reason))
}

/// What is wrong and what to do.
pub(super) fn damaged(reason: &str) -> String {
    format!("the captures in this page are cut or damaged ({reason}). Copy the file again")
}

fn unpacked(bytes: &[u8]) -> Result<Session, String> {
    let mut columns = Columns::new(bytes);
    let bytes = usize::try_from(columns.varint()?).unwrap_or(usize::MAX);
    let text = columns.bytes(bytes)?;
    let head: Head = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let captures = head.captures.into_iter().map(|capture| kept(capture, &mut columns)).collect::<Result<_, _>>()?;
    let reports = head.reports.into_iter().map(|ReportHead { file, captures, warnings }| captures_of(file, text, &captures, warnings));
    Ok(Session { captures, reports: reports.collect() })
}

/// Of columns. More than there is memory for are not there either, and refused alike on every machine.
fn length(entries: u64) -> usize {
    usize::try_from(entries).unwrap_or(usize::MAX)
}

fn kept(head: CaptureHead, columns: &mut Columns) -> Result<Kept, String> {
    match head {
        CaptureHead::Xplane(capture) => {
            sound::jax(&capture)?;
            Ok(Kept::Jax(capture))
        }
        CaptureHead::Ascend { facts, around, phases, devices } => {
            sound::around(&around)?;
            sound::phases(&phases)?;
            let mut stacks = Vec::with_capacity(devices.len());
            let mut scanned = Vec::with_capacity(devices.len());
            for head in devices {
                let mut blocks = blocks(&head, columns)?;
                let replay = head.folded.map(|folded| replay(folded, &mut blocks, columns)).transpose()?;
                stacks.push(head.stacks.map(|texts| stacks_of(texts, length(head.blocks), columns)).transpose()?);
                let pool = Pool::from_name(&head.pool).ok_or_else(|| format!("there is no pool {:?}", head.pool))?;
                scanned.push(DeviceBlocks { device: head.device, pool, blocks: Blocks { names: head.names, streams: head.streams, ..blocks }, replay });
            }
            let mut capture = ScannedCapture { facts: Facts::default(), devices: scanned, around }.build();
            // What building warns of is among what was saved.
            capture.facts = *facts;
            capture.phases = phases;
            capture.devices.iter_mut().zip(stacks).for_each(|(device, stacks)| device.stacks = stacks);
            Ok(Kept::Ascend(Box::new(capture)))
        }
    }
}

fn blocks(head: &DeviceHead, columns: &mut Columns) -> Result<Blocks, String> {
    let (count, freed) = (length(head.blocks), length(head.freed));
    let blocks = Blocks {
        name: columns.take_u32(count, head.names.len())?,
        stream: columns.take_u32(count, head.streams.len())?,
        line: columns.take_u32(count, usize::MAX)?,
        size_bytes: columns.take(count)?,
        start_ns: columns.take(count)?,
        end_ns: columns.take(count)?,
        active_end_ns: columns.take(count)?,
        at_start: totals(columns, count)?,
        at_end: totals(columns, count)?,
        freed: Freed { time_ns: columns.take(freed)?, size_bytes: columns.take(freed)?, totals: totals(columns, freed)? },
        names: Vec::new(),
        streams: Vec::new(),
        folded: None,
    };
    sound::blocks(&blocks)?;
    Ok(blocks)
}

/// The curves of all blocks, of which some were folded.
fn replay(FoldedHead { sums, entries, drops, rises }: FoldedHead, blocks: &mut Blocks, columns: &mut Columns) -> Result<Replay, String> {
    let entries = length(entries);
    let curves = Curves {
        time_ns: columns.take(entries)?,
        tracked_bytes: columns.take(entries)?,
        baseline_bytes: columns.take(entries)?,
        reserved_bytes: columns.take(entries)?,
        active_bytes: columns.take(entries)?,
    };
    let folded = Folded { alive_bytes: columns.take(entries)?, alive_blocks: columns.take_u32(entries, usize::MAX)?, ..*sums };
    sound::curves(&curves, &folded, &drops, &rises, blocks)?;
    blocks.folded = Some(Box::new(folded));
    Ok(Replay { peak: curves.peak(), curves, drops, rises })
}

fn totals(columns: &mut Columns, count: usize) -> Result<Totals, String> {
    Ok(Totals {
        allocated_bytes: columns.take(count)?,
        reserved_bytes: columns.take(count)?,
        active_bytes: columns.take(count)?,
        tolerance_millibytes: columns.take_u32(count, usize::MAX)?,
    })
}

fn stacks_of(texts: Vec<String>, blocks: usize, columns: &mut Columns) -> Result<Stacks, String> {
    let of_block = columns.take_u32(blocks, texts.len())?;
    let nearest = columns.take_u32(blocks, texts.len())?;
    let reason = |&number: &u8| Reason::ALL.get(usize::from(number)).copied().ok_or_else(|| format!("there is no reason {number}"));
    let reasons = columns.bytes(blocks)?.iter().map(reason).collect::<Result<_, _>>()?;
    Ok(Stacks { texts, of_block, reasons, nearest })
}
