//! All blocks of a device as a table: pages of it in the order of any column, and the same as CSV.

use crate::ascend::capture::Device;
use crate::ascend::choice::BlockFilter;
use crate::ascend::grouping::{headline, stack_of};
use crate::ascend::trace_view::NONE;
use crate::export::table::text_cell;
use crate::timeline::blocks::OPEN;
use crate::timeline::order::{ascending, ranks};
use crate::web::engine::{Engine, OpenedDevice};
use serde::{Deserialize, Serialize};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// By which column the blocks are sorted.
#[derive(Tsify, Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum BlockSort {
    Operator,
    Bytes,
    Start,
    End,
    Lifetime,
    Stream,
    UserFrame,
    Line,
}

/// Which blocks, in which order, and which page of them.
#[derive(Tsify, Deserialize)]
pub struct BlocksRequest {
    pub capture: u32,
    pub device: u32,
    /// Blocks without a stack get the one of the last operator of their name: a guess.
    pub nearest: bool,
    #[serde(default)]
    pub filter: BlockFilter,
    pub sort: BlockSort,
    /// The smallest first.
    pub ascending: bool,
    pub from: u32,
    pub count: u32,
    /// A block whose place is asked for.
    pub find: Option<u32>,
}

/// A page of the table.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct BlocksAnswer {
    /// How many blocks pass the filter.
    pub total: u32,
    /// Their sizes together.
    pub bytes: f64,
    /// The place of the first row.
    pub from: u32,
    pub rows: Vec<BlockRow>,
    /// The place of the block that was asked for; None where it does not pass.
    pub found: Option<u32>,
}

/// A block in the table.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct BlockRow {
    pub block: u32,
    /// The lane of its operator.
    pub lane: u32,
    pub bytes: f64,
    pub start_ns: f64,
    /// None: not released within the capture.
    pub end_ns: Option<f64>,
    /// To the release, or to the capture's end.
    pub lifetime_ns: f64,
    pub stream: String,
    /// The frame by which its stack is known; empty: none.
    pub user_frame: String,
    /// Of the file.
    pub line: u32,
}

impl BlockSort {
    /// All blocks, the smallest figure first; what has none comes last.
    pub(super) fn ascending(self, device: &Device, nearest: bool, capture_end_ns: i64) -> Vec<u32> {
        let blocks = &device.blocks;
        let by_text = |texts: &[&str], number: &(dyn Fn(usize) -> u32 + Sync)| {
            let ranks = ranks(texts);
            ascending(blocks, |block| ranks.get(number(block) as usize).copied().unwrap_or(i64::MAX))
        };
        match self {
            BlockSort::Operator => by_text(&borrowed(&blocks.names), &|block| blocks.name[block]),
            BlockSort::Stream => by_text(&borrowed(&blocks.streams), &|block| blocks.stream[block]),
            BlockSort::Bytes => ascending(blocks, |block| blocks.size_bytes[block]),
            BlockSort::Start => ascending(blocks, |block| blocks.start_ns[block]),
            BlockSort::End => ascending(blocks, |block| blocks.end_ns[block]),
            BlockSort::Lifetime => ascending(blocks, |block| device.lifetime_ns(block, capture_end_ns)),
            BlockSort::Line => ascending(blocks, |block| i64::from(blocks.line[block])),
            BlockSort::UserFrame => {
                let frames: Vec<&str> = device.stacks.iter().flat_map(|stacks| &stacks.texts).map(|text| headline(text)).collect();
                by_text(&frames, &|block| stack_number(device, block, nearest))
            }
        }
    }
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn stack_number(device: &Device, block: usize, nearest: bool) -> u32 {
    device.stacks.as_ref().map_or(NONE, |stacks| stack_of(stacks, block, nearest))
}

fn user_frame(device: &Device, block: usize, nearest: bool) -> &str {
    let stacks = device.stacks.as_ref().map_or(&[][..], |stacks| &stacks.texts);
    stacks.get(stack_number(device, block, nearest) as usize).map_or("", |text| headline(text))
}

#[wasm_bindgen]
impl Engine {
    /// A page of the blocks.
    pub fn blocks(&self, request: Ts<BlocksRequest>) -> Result<Ts<BlocksAnswer>, JsError> {
        let request = request.to_rust()?;
        let (order, bytes) = self.table_of(&request)?;
        let (device, opened) = self.device(request.capture, request.device)?;
        let capture_end_ns = self.capture(request.capture)?.capture.end_ns;
        let page = Page { order: &order, ascending: request.ascending };
        let rows = page.blocks(request.from, request.count).map(|block| row(device, opened, block, request.nearest, capture_end_ns));
        let answer = BlocksAnswer {
            total: order.len() as u32,
            bytes: bytes as f64,
            from: request.from,
            rows: rows.collect(),
            found: request.find.and_then(|wanted| page.place_of(wanted)),
        };
        Ok(answer.into_ts()?)
    }

    /// The same page as lines of CSV, exact: bytes, and nanoseconds since the capture's first event. Before the first one stands the header.
    pub fn blocks_csv(&self, request: Ts<BlocksRequest>) -> Result<Vec<u8>, JsError> {
        let request = request.to_rust()?;
        let (order, _) = self.table_of(&request)?;
        let (device, opened) = self.device(request.capture, request.device)?;
        let capture_end_ns = self.capture(request.capture)?.capture.end_ns;
        let mut text = if request.from == 0 { CSV_HEADER.to_owned() } else { String::new() };
        for block in (Page { order: &order, ascending: request.ascending }).blocks(request.from, request.count) {
            let row = row(device, opened, block, request.nearest, capture_end_ns);
            let name = text_cell(&device.blocks.names[device.blocks.name[block as usize] as usize]);
            let end = row.end_ns.map_or(String::new(), |ns| ns.to_string());
            let (stream, frame) = (text_cell(&row.stream), text_cell(&row.user_frame));
            text += &format!("{name},{},{},{end},{},{stream},{frame},{}\n", row.bytes, row.start_ns, row.lifetime_ns, row.line);
        }
        Ok(text.into_bytes())
    }

    fn table_of(&self, request: &BlocksRequest) -> Result<(std::sync::Arc<Vec<u32>>, i64), JsError> {
        let of = (request.capture, request.device);
        let order = self.order(of, request.nearest, request.sort, &request.filter)?;
        let all = || self.device(of.0, of.1).map(|(device, _)| device.blocks.size_bytes.iter().fold(0, |sum: i64, &bytes| sum.saturating_add(bytes)));
        let bytes = match self.choice(of, request.nearest, &request.filter)? {
            Some(choice) => choice.bytes,
            None => all()?,
        };
        Ok((order, bytes))
    }
}

const CSV_HEADER: &str = "operator,bytes,start_ns,end_ns,lifetime_ns,stream,first_user_frame,line\n";

/// An order read from either end.
struct Page<'a> {
    order: &'a [u32],
    ascending: bool,
}

impl Page<'_> {
    fn blocks(&self, from: u32, count: u32) -> impl Iterator<Item = u32> {
        let length = self.order.len();
        let place = move |nth: usize| if self.ascending { nth } else { length - 1 - nth };
        (from as usize..length.min(from.saturating_add(count) as usize)).map(move |nth| self.order[place(nth)])
    }

    fn place_of(&self, block: u32) -> Option<u32> {
        let place = self.order.iter().position(|&other| other == block)?;
        Some(if self.ascending { place } else { self.order.len() - 1 - place } as u32)
    }
}

fn row(device: &Device, opened: &OpenedDevice, block: u32, nearest: bool, capture_end_ns: i64) -> BlockRow {
    let (blocks, at) = (&device.blocks, block as usize);
    BlockRow {
        block,
        lane: opened.lane_of[blocks.name[at] as usize],
        bytes: blocks.size_bytes[at] as f64,
        start_ns: opened.relative(blocks.start_ns[at]),
        end_ns: Some(blocks.end_ns[at]).filter(|&end| end != OPEN).map(|end| opened.relative(end)),
        lifetime_ns: device.lifetime_ns(at, capture_end_ns) as f64,
        stream: blocks.streams[blocks.stream[at] as usize].clone(),
        user_frame: user_frame(device, at, nearest).to_owned(),
        line: blocks.line[at],
    }
}
