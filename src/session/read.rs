//! Reading a session. It may come from anywhere: nothing in it is believed that would break what comes after.

use super::{FORMAT, OLDER};
use crate::ascend::capture::{Around, Capture, Facts, ScannedCapture};
use crate::ascend::operator_memory::{DeviceBlocks, Pool};
use crate::ascend::stacks::{Reason, Stacks};
use crate::ascend::table::MOST_BYTES;
use crate::ascend::trace_view::Phase;
use crate::error::Warning;
use crate::oom::read::{ReadReport, captures_of};
use crate::scan::gzip::Unpacker;
use crate::timeline::blocks::{Blocks, Freed, OPEN, Totals, UNKNOWN};
use crate::timeline::folded::Folded;
use crate::timeline::packed::Columns;
use crate::timeline::replay::{Change, Curves, Replay};
use crate::xplane::capture as xplane;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Instants beyond this are no times of a capture: 2116 in nanoseconds.
const MOST_NS: i64 = 1 << 62;

/// No sum of blocks is larger.
const MOST_TOTAL_BYTES: i64 = 1 << 61;

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
    blocks: usize,
    freed: usize,
    stacks: Option<Vec<String>>,
    #[serde(default)]
    folded: Option<FoldedHead>,
}

#[derive(Deserialize)]
struct FoldedHead {
    sums: Box<Folded>,
    entries: usize,
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
    unpacker.feed(packed, &mut keep).and_then(|()| unpacker.finish(&mut keep)).map_err(|error| error.to_string())?;
    let Some(rest) = OLDER.iter().chain([&FORMAT]).find_map(|format| bytes.strip_prefix(format.as_bytes())) else {
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let name = String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned();
        return Err(format!("its format is {name:?}, and this program knows {}; a newer one may read it", FORMAT.trim_end()));
    };
    let mut columns = Columns::new(rest);
    let length = usize::try_from(columns.varint()?).unwrap_or(usize::MAX);
    let text = columns.bytes(length)?;
    let head: Head = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let captures = head.captures.into_iter().map(|capture| kept(capture, &mut columns)).collect::<Result<_, _>>()?;
    let reports = head.reports.into_iter().map(|ReportHead { file, captures, warnings }| captures_of(file, text, &captures, warnings));
    Ok(Session { captures, reports: reports.collect() })
}

fn kept(head: CaptureHead, columns: &mut Columns) -> Result<Kept, String> {
    match head {
        CaptureHead::Xplane(capture) => {
            let owners_are_there = capture.runtime.allocators.iter().all(|pool| pool.changes.iter().all(|change| (change.owner as usize) < pool.owners.len()));
            if owners_are_there { Ok(Kept::Jax(capture)) } else { Err("an owner is missing".to_owned()) }
        }
        CaptureHead::Ascend { facts, around, phases, devices } => {
            let mut stacks = Vec::with_capacity(devices.len());
            let mut scanned = Vec::with_capacity(devices.len());
            for head in devices {
                let mut blocks = blocks(&head, columns)?;
                let replay = head.folded.map(|folded| replay(folded, &mut blocks, columns)).transpose()?;
                stacks.push(head.stacks.map(|texts| stacks_of(texts, head.blocks, columns)).transpose()?);
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
    let (count, freed) = (head.blocks, head.freed);
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
    // Only stacks have blocks without one.
    let all_named = blocks.name.iter().chain(&blocks.stream).all(|&number| number != u32::MAX);
    let instants = |times: &[i64], open: i64| times.iter().all(|&time| time == open || (-MOST_NS..=MOST_NS).contains(&time));
    let sizes = |sizes: &[i64], open: i64| sizes.iter().all(|&bytes| bytes == open || (-MOST_BYTES..=MOST_BYTES).contains(&bytes));
    let all_totals = [&blocks.at_start, &blocks.at_end, &blocks.freed.totals];
    let is_sound = all_named
        && blocks.size_bytes.iter().chain(&blocks.freed.size_bytes).all(|&bytes| 0 < bytes && bytes <= MOST_BYTES)
        && instants(&blocks.start_ns, 0)
        && instants(&blocks.end_ns, OPEN)
        && blocks.start_ns.iter().zip(&blocks.end_ns).all(|(start, end)| start <= end)
        && instants(&blocks.active_end_ns, UNKNOWN)
        && instants(&blocks.freed.time_ns, 0)
        && all_totals.iter().all(|of| [&of.allocated_bytes, &of.reserved_bytes, &of.active_bytes].iter().all(|column| sizes(column, UNKNOWN)));
    if is_sound { Ok(blocks) } else { Err("a column holds what no capture holds".to_owned()) }
}

/// The curves of all blocks, of which some were folded.
fn replay(FoldedHead { sums, entries, drops, rises }: FoldedHead, blocks: &mut Blocks, columns: &mut Columns) -> Result<Replay, String> {
    let curves = Curves {
        time_ns: columns.take(entries)?,
        tracked_bytes: columns.take(entries)?,
        baseline_bytes: columns.take(entries)?,
        reserved_bytes: columns.take(entries)?,
        active_bytes: columns.take(entries)?,
    };
    let folded = Folded { alive_bytes: columns.take(entries)?, alive_blocks: columns.take_u32(entries, usize::MAX)?, ..*sums };
    let are_bytes = |column: &[i64], unknown: i64| column.iter().all(|&bytes| bytes == unknown || (-MOST_TOTAL_BYTES..=MOST_TOTAL_BYTES).contains(&bytes));
    // What is drawn finds the instants of every block among those of the curves.
    let has = |time_ns: i64| curves.time_ns.binary_search(&time_ns).is_ok();
    let mut spans = blocks.start_ns.iter().zip(&blocks.end_ns).filter(|(start, end)| start != end);
    let is_sound = curves.time_ns.is_sorted_by(|a, b| a < b)
        && curves.time_ns.iter().all(|time| (-MOST_NS..=MOST_NS).contains(time))
        && are_bytes(&curves.tracked_bytes, 0)
        && are_bytes(&curves.baseline_bytes, 0)
        && are_bytes(&curves.reserved_bytes, UNKNOWN)
        && are_bytes(&curves.active_bytes, UNKNOWN)
        && are_bytes(&folded.alive_bytes, 0)
        && spans.all(|(&start, &end)| has(start) && (end == OPEN || has(end)))
        && drops.iter().chain(&rises).all(|change| (0..=MOST_TOTAL_BYTES).contains(&change.bytes) && (-MOST_NS..=MOST_NS).contains(&change.time_ns))
        && is_sound(&folded);
    if !is_sound {
        return Err("the curves hold what no capture holds".to_owned());
    }
    blocks.folded = Some(Box::new(folded));
    Ok(Replay { peak: curves.peak(), curves, drops, rises })
}

fn is_sound(folded: &Folded) -> bool {
    let are_bytes = |bytes: i64| (0..=MOST_TOTAL_BYTES).contains(&bytes);
    folded.up_to_bytes > 0
        && folded.open_blocks.max(folded.unnamed_blocks) <= folded.blocks
        && folded.blocks <= u64::from(u32::MAX)
        && [folded.up_to_bytes, folded.bytes, folded.largest_bytes, folded.open_bytes].into_iter().all(are_bytes)
        && (folded.first_ns == OPEN || (-MOST_NS..=MOST_NS).contains(&folded.first_ns))
        && (folded.last_ns == UNKNOWN || (-MOST_NS..=MOST_NS).contains(&folded.last_ns))
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
