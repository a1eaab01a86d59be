//! One reader on one file, for `make bench` to measure as a process of its own: `readers table|csv|trace|serde_json FILE`.
//!
//! `table` and `trace` are the project's readers of operator_memory.csv and trace_view.json, `csv` and `serde_json` what these crates make of the same
//! file and the same fields in the quickest way that their documentation names. Each prints what it counted, so that nothing is left out.

#![allow(missing_docs, clippy::print_stdout)]

use oomscope::ascend::capture::CaptureReader;
use oomscope::ascend::discover::CaptureFiles;
use oomscope::ascend::trace_view::TraceReader;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::Read;

const PIECE_BYTES: usize = 1 << 20;
const USAGE: &str = "readers table|csv|trace|serde_json FILE (make bench does so)";

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds words of its own.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (Some(reader), Some(file)) = (arguments.next(), arguments.next()) else {
        println!("{USAGE}");
        return Ok(());
    };
    match reader.as_str() {
        "table" => table(&file),
        "csv" => csv_crate(&file),
        "trace" => trace(&file),
        "serde_json" => serde_json_crate(&file),
        _ => Err(USAGE.into()),
    }
}

/// Feeds a file to a reader, piece by piece.
fn pieces(file: &str, mut take: impl FnMut(&[u8])) -> Result<(), Box<dyn Error>> {
    let mut file = File::open(file)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(()),
            read => take(&piece[..read]),
        }
    }
}

fn table(file: &str) -> Result<(), Box<dyn Error>> {
    let mut reader = CaptureReader::new(&CaptureFiles { operator_memory: vec![0], ..CaptureFiles::default() });
    reader.operator_memory.begin("operator_memory.csv");
    pieces(file, |piece| reader.operator_memory.feed(piece))?;
    reader.operator_memory.end();
    let capture = reader.finish().build();
    let blocks: usize = capture.devices.iter().map(|device| device.blocks.len()).sum();
    println!("{blocks} blocks");
    Ok(())
}

/// The cells that the project's reader uses, as serde reads them.
#[derive(Deserialize)]
struct Row<'a> {
    #[serde(rename = "Name")]
    name: &'a str,
    #[serde(rename = "Size(KB)")]
    size: f64,
    #[serde(rename = "Allocation Time(us)")]
    start: f64,
    #[serde(rename = "Release Time(us)")]
    release: Option<f64>,
    #[serde(rename = "Active Release Time(us)")]
    back: Option<f64>,
    #[serde(rename = "Allocation Total Allocated(MB)")]
    allocated: f64,
    #[serde(rename = "Allocation Total Reserved(MB)")]
    reserved: f64,
    #[serde(rename = "Allocation Total Active(MB)")]
    active: f64,
    #[serde(rename = "Release Total Allocated(MB)")]
    release_allocated: Option<f64>,
    #[serde(rename = "Stream Ptr")]
    stream: &'a str,
    #[serde(rename = "Device Type")]
    device: &'a str,
}

fn csv_crate(file: &str) -> Result<(), Box<dyn Error>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_path(file)?;
    let headers = reader.byte_headers()?.clone();
    let mut record = csv::ByteRecord::new();
    let (mut blocks, mut sum, mut names) = (0_u64, 0.0, HashSet::new());
    while reader.read_byte_record(&mut record)? {
        let row: Row = record.deserialize(Some(&headers))?;
        if !names.contains(row.name) {
            names.insert(row.name.to_owned());
        }
        blocks += 1;
        sum += row.size + row.start + row.allocated + row.reserved + row.active;
        sum += [row.release, row.back, row.release_allocated].into_iter().flatten().sum::<f64>();
        sum += (row.stream.len() + row.device.len()) as f64;
    }
    println!("{blocks} rows, {} names, sum {sum}", names.len());
    Ok(())
}

fn trace(file: &str) -> Result<(), Box<dyn Error>> {
    let mut reader = TraceReader::new("trace_view.json");
    pieces(file, |piece| reader.feed(piece))?;
    let trace = reader.finish();
    println!("{} events, {} operators, {} call stacks", trace.events, trace.operators.spans.len(), trace.stacks.len());
    Ok(())
}

/// Text that is copied only where it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    cat: Option<Text<'a>>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    dur: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(rename = "Call stack", borrow)]
    stack: Option<Text<'a>>,
}

fn serde_json_crate(file: &str) -> Result<(), Box<dyn Error>> {
    // From memory: from a reader serde_json is several times slower, as it says itself.
    let bytes = std::fs::read(file)?;
    let events: Vec<Event> = serde_json::from_slice(&bytes)?;
    let operators = events.iter().filter(|event| event.cat.as_ref().is_some_and(|cat| cat.0 == "cpu_op"));
    let timed = operators.clone().filter(|event| event.ts.is_some() && event.dur.is_some()).count();
    let stacks: HashSet<&str> = operators.filter_map(|event| Some(&*event.args.as_ref()?.stack.as_ref()?.0)).collect();
    println!("{} events, {timed} operators, {} call stacks", events.len(), stacks.len());
    Ok(())
}
