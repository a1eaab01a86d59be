//! The session: every capture that was read, and answers to what the page asks.

use super::columns::{self, set};
use super::messages::*;
use crate::ascend::capture::{Capture, Device, Facts, ScannedCapture};
use crate::ascend::discover;
use crate::ascend::trace_view::first_user_frame;
use crate::draw::bars::{LanePaint, paint_lane};
use crate::export::json::json;
use crate::oom::compare::{self, Member, members_of_capture, members_of_report};
use crate::oom::merge::{Identity, Merged, Origin, merge};
use crate::oom::read::{self, ReadReport};
use crate::oom::report::{CaptureReport, Report, ascend_report, known, report, stack_counts};
use crate::timeline::blocks::{OPEN, Total};
use crate::timeline::live::{self, Allocator};
use crate::timeline::overlap;
use crate::timeline::replay::Change;
use crate::timeline::window::{self, Extremes, Lanes, Window};
use js_sys::{Float64Array, Object, Uint8ClampedArray, Uint32Array};
use rayon::prelude::*;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// So many names have a hue of their own; the rest are grey.
const HUES: usize = 12;
/// Links to overlapping blocks beyond these help nobody.
const OVERLAPS_LISTED: usize = 50;
/// Wider or taller pictures than any screen are a mistake of the caller.
const MOST_PIXELS: u64 = 64 << 20;

/// What lies in a list of paths.
#[wasm_bindgen]
pub fn discover(paths: Vec<String>) -> Result<Ts<FoundMessage>, JsError> {
    let reports = read::may_be_reports(&paths).into_iter().map(|index| index as u32).collect();
    Ok(FoundMessage { captures: discover::discover(&paths), reports, sniffed_bytes: read::SNIFFED_BYTES as u32, paths: paths.len() as u32 }.into_ts()?)
}

/// The session.
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine {
    pending: Vec<ScannedCapture>,
    captures: Vec<Opened>,
    reports: Vec<ReadReport>,
}

struct Opened {
    capture: Capture,
    /// What it puts into the comparison of ranks.
    members: Vec<Member>,
    /// What the page shows of it; devices in which nothing lived are not among them.
    devices: Vec<OpenedDevice>,
}

struct OpenedDevice {
    /// Index among the capture's devices.
    device: usize,
    base_ns: i64,
    /// Operators (numbers of `Blocks::names`) in the order of their lanes.
    lane_names: Vec<u32>,
    /// Lane of each operator.
    lane_of: Vec<u32>,
    /// The blocks of each operator, ordered for drawing.
    lanes: Lanes,
}

#[wasm_bindgen]
impl Engine {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Takes what a scanner read.
    pub fn add(&mut self, scanned: &JsValue) -> Result<(), JsError> {
        self.pending.push(columns::from_js(scanned)?);
        Ok(())
    }

    /// Replays everything added since the last call, in parallel where there are threads; answers the new captures.
    pub fn build(&mut self) -> Result<Ts<CaptureSummaries>, JsError> {
        let pending = std::mem::take(&mut self.pending);
        let first = self.captures.len();
        self.captures.par_extend(pending.into_par_iter().map(|scanned| Opened::new(scanned.build())));
        Ok(CaptureSummaries((first..self.captures.len()).map(|index| self.captures[index].summary(index)).collect()).into_ts()?)
    }

    /// Takes what a scanner found in the trace of a capture; answers the capture anew.
    pub fn attach(&mut self, capture: u32, origins: &JsValue) -> Result<Ts<CaptureSummary>, JsError> {
        let origins = columns::origins_from_js(origins)?;
        let opened = self.captures.get_mut(capture as usize).ok_or_else(|| JsError::new("no such capture"))?;
        opened.capture.attach(origins);
        opened.members = members_of_capture(&opened.capture);
        Ok(opened.summary(capture as usize).into_ts()?)
    }

    /// The live set of an instant by call stack, the largest first; empty without a trace.
    pub fn stacks_at(&self, capture: u32, device: u32, time_ns: f64) -> Result<Ts<StackGroups>, JsError> {
        let (device, opened) = self.device(capture, device)?;
        let live = live::at(&device.blocks, opened.base_ns.saturating_add(time_ns as i64));
        let groups = device.stacks.iter().flat_map(|stacks| {
            live::by_key(&device.blocks, &live, &stacks.of_block).into_iter().map(|group| StackGroupSummary {
                stack: stacks.frames(group.key),
                user_frame: stacks.texts.get(group.key as usize).and_then(|text| first_user_frame(text)).map(str::to_owned),
                bytes: group.bytes as f64,
                blocks: group.blocks as u32,
            })
        });
        Ok(StackGroups(groups.collect()).into_ts()?)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Engine::default();
    }

    /// Whether a file whose first bytes these are is a report of ours, to be added with `add_report`.
    pub fn is_report(&self, first: &[u8]) -> bool {
        read::looks_like_report(first)
    }

    /// Takes a report file, whole. What is wrong with it is among the warnings of `comparison`.
    pub fn add_report(&mut self, path: &str, bytes: &[u8]) {
        self.reports.push(read::read_packed(path, bytes));
    }

    /// Every capture that was read or reported, and how their ranks and roles compare: quick, whatever their size.
    pub fn comparison(&self, top: usize) -> Result<Ts<ComparisonSummary>, JsError> {
        Ok(self.compared(top).into_ts()?)
    }

    /// The report on all captures, as JSON.
    pub fn report(&self, top: usize) -> String {
        json(&self.whole_report(top))
    }

    /// What the charts show of a window.
    pub fn frame(&self, request: Ts<ViewRequest>) -> Result<Object, JsError> {
        let request = request.to_rust()?;
        let (device, opened) = self.device(request.capture, request.device)?;
        let (width, height) = (u64::from(request.width_px), u64::from(request.lane_px) * request.lanes.len() as u64);
        if width == 0 || request.lane_px == 0 || width * height > MOST_PIXELS || request.palette.len() <= HUES {
            return Err(JsError::new("no such view"));
        }
        let from_ns = opened.base_ns.saturating_add(request.from_ns as i64);
        let to_ns = opened.base_ns.saturating_add(request.to_ns as i64).max(from_ns.saturating_add(1));
        let window = Window { from_ns, to_ns, width_px: request.width_px };
        let frame = Object::new();
        set(&frame, "from_ns", &request.from_ns.into());
        set(&frame, "to_ns", &request.to_ns.into());
        set(&frame, "width_px", &request.width_px.into());
        curves(&frame, device, window);
        lanes(&frame, device, opened, window, &request);
        Ok(frame)
    }

    /// All that is known of one block.
    pub fn block(&self, capture: u32, device: u32, block: u32) -> Result<Ts<BlockDetail>, JsError> {
        let capture_end_ns = self.capture(capture)?.capture.end_ns;
        let (device, opened) = self.device(capture, device)?;
        let blocks = &device.blocks;
        let index = block as usize;
        if index >= blocks.len() {
            return Err(JsError::new("no such block"));
        }
        let relative = |ns: i64| (ns - opened.base_ns) as f64;
        let end = |index: usize| Some(blocks.end_ns[index]).filter(|&end| end != OPEN).map(relative);
        let overlaps = overlap::of_same_operator(blocks, index);
        let listed = overlaps.iter().take(OVERLAPS_LISTED).map(|&other| OverlapDetail {
            block: other,
            bytes: blocks.size_bytes[other as usize] as f64,
            start_ns: relative(blocks.start_ns[other as usize]),
            end_ns: end(other as usize),
        });
        let detail = BlockDetail {
            block,
            name: blocks.names[blocks.name[index] as usize].clone(),
            lane: opened.lane_of[blocks.name[index] as usize],
            bytes: blocks.size_bytes[index] as f64,
            start_ns: relative(blocks.start_ns[index]),
            end_ns: end(index),
            active_end_ns: known(blocks.active_end_ns[index]).map(relative),
            duration_ns: device.lifetime_ns(index, capture_end_ns) as f64,
            stream: blocks.streams[blocks.stream[index] as usize].clone(),
            device: device.device.clone(),
            line: blocks.line[index],
            origin: device.stacks.as_ref().map(|stacks| OriginDetail {
                reason: stacks.reasons[index].name().to_owned(),
                stack: stacks.frames(stacks.of_block[index]),
                user_frame: stacks.texts.get(stacks.of_block[index] as usize).and_then(|text| first_user_frame(text)).map(str::to_owned),
            }),
            at_allocation: totals(blocks.at_start.get(index)),
            at_release: totals(blocks.at_end.get(index)),
            overlapping: overlaps.len() as u32,
            overlapping_bytes: live::bytes_of(blocks, &overlaps) as f64,
            overlaps: listed.collect(),
        };
        Ok(detail.into_ts()?)
    }

    fn compared(&self, top: usize) -> ComparisonSummary {
        let Merged { captures, warnings } = merge(self.captures.iter().map(|opened| Identity::of_capture(&opened.capture)), &self.reports);
        let members = captures.iter().map(|&origin| match origin {
            Origin::Opened(nth) => self.captures[nth].members.clone(),
            Origin::Read(report, place) => members_of_report(&self.reports[report].captures[place]),
        });
        let comparison = compare::compare(members.collect(), top);
        let listed = captures.iter().map(|&origin| match origin {
            Origin::Opened(nth) => ComparedCapture::opened(nth, &self.captures[nth].capture.facts),
            Origin::Read(report, place) => ComparedCapture::read(&self.reports[report].file, &self.reports[report].captures[place]),
        });
        ComparisonSummary { captures: listed.collect(), comparison, warnings }
    }

    fn whole_report(&self, top: usize) -> Report {
        report(self.captures.iter().map(|opened| ascend_report(&opened.capture, top)), &self.reports, top)
    }

    fn capture(&self, capture: u32) -> Result<&Opened, JsError> {
        self.captures.get(capture as usize).ok_or_else(|| JsError::new("no such capture"))
    }

    fn device(&self, capture: u32, device: u32) -> Result<(&Device, &OpenedDevice), JsError> {
        let opened = self.capture(capture)?;
        let shown = opened.devices.get(device as usize).ok_or_else(|| JsError::new("no such device"))?;
        Ok((&opened.capture.devices[shown.device], shown))
    }
}

impl ComparedCapture {
    fn opened(nth: usize, facts: &Facts) -> ComparedCapture {
        ComparedCapture {
            capture: Some(nth as u32),
            report: None,
            kind: "ascend".to_owned(),
            source: facts.source.clone(),
            role: facts.role.clone(),
            rank: facts.rank,
            capture_time: facts.capture_time.clone(),
            warnings: facts.warnings.clone(),
        }
    }

    fn read(file: &str, capture: &CaptureReport) -> ComparedCapture {
        let (kind, role, rank, capture_time, warnings) = match capture {
            CaptureReport::Ascend(report) => ("ascend", report.role.clone(), report.rank, report.capture_time.clone(), &report.warnings),
            CaptureReport::Xplane(report) => ("xplane", None, None, None, &report.warnings),
        };
        let (source, report) = (capture.source().to_owned(), Some(file.to_owned()));
        ComparedCapture { capture: None, report, kind: kind.to_owned(), source, role, rank, capture_time, warnings: warnings.clone() }
    }
}

impl Opened {
    fn new(capture: Capture) -> Opened {
        let shown = capture.devices.par_iter().enumerate().filter(|(_, device)| device.replay.peak.is_some());
        let devices = shown.map(|(index, device)| OpenedDevice::new(index, device)).collect();
        Opened { members: members_of_capture(&capture), capture, devices }
    }

    fn summary(&self, index: usize) -> CaptureSummary {
        let facts = &self.capture.facts;
        CaptureSummary {
            capture: index as u32,
            source: facts.source.clone(),
            role: facts.role.clone(),
            rank: facts.rank,
            capture_time: facts.capture_time.clone(),
            rows_read: facts.rows_read as u32,
            rows_set_aside: facts.rows_set_aside as u32,
            devices: self.devices.iter().filter_map(|shown| shown.summary(&self.capture)).collect(),
            stacks: stack_counts(&self.capture).map(|counts| StackSummary { found: counts.found() as u32, none: counts.none as u32 }),
            warnings: facts.warnings.clone(),
        }
    }
}

impl OpenedDevice {
    fn new(index: usize, device: &Device) -> OpenedDevice {
        let blocks = &device.blocks;
        let at_peak = device.replay.peak.map(|at| live::by_operator(blocks, &live::at(blocks, device.replay.curves.time_ns[at]))).unwrap_or_default();
        let mut lane_names: Vec<u32> = at_peak.iter().map(|group| group.key).collect();
        let mut listed = vec![false; blocks.names.len()];
        lane_names.iter().for_each(|&name| listed[name as usize] = true);
        lane_names.extend(live::allocators(blocks).iter().map(|allocator| allocator.name).filter(|&name| !listed[name as usize]));
        let mut lane_of = vec![0; blocks.names.len()];
        for (lane, &name) in lane_names.iter().enumerate() {
            lane_of[name as usize] = lane as u32;
        }
        OpenedDevice { device: index, base_ns: blocks.first_ns(), lane_names, lane_of, lanes: Lanes::of(blocks) }
    }

    fn summary(&self, capture: &Capture) -> Option<DeviceSummary> {
        let device = &capture.devices[self.device];
        let (blocks, curves) = (&device.blocks, &device.replay.curves);
        let at = device.replay.peak?;
        let relative = |ns: i64| (ns - self.base_ns) as f64;
        let change = |change: &Change| ChangeSummary { time_ns: relative(change.time_ns), bytes: change.bytes as f64 };
        let live_at_peak = live::at(blocks, curves.time_ns[at]);
        let alive_at_end = live::at_the_end(blocks);
        let by_operator = live::by_operator(blocks, &live_at_peak).into_iter().map(|group| GroupSummary {
            name: blocks.names[group.key as usize].clone(),
            lane: self.lane_of[group.key as usize],
            bytes: group.bytes as f64,
            blocks: group.blocks as u32,
        });
        let mut volumes: Vec<Option<Allocator>> = vec![None; blocks.names.len()];
        live::allocators(blocks).into_iter().for_each(|allocator| {
            let name = allocator.name as usize;
            volumes[name] = Some(allocator);
        });
        let lane = |(lane, &name): (usize, &u32)| LaneSummary {
            name: blocks.names[name as usize].clone(),
            blocks: volumes[name as usize].as_ref().map_or(0, |allocator| allocator.blocks as u32),
            bytes: volumes[name as usize].as_ref().map_or(0.0, |allocator| allocator.bytes as f64),
            hue: lane.min(HUES) as u8,
        };
        Some(DeviceSummary {
            device: device.device.clone(),
            pool: device.pool.name().to_owned(),
            blocks: blocks.len() as u32,
            base_ns: self.base_ns.to_string(),
            end_ns: relative(capture.end_ns),
            peak: PeakSummary {
                time_ns: relative(curves.time_ns[at]),
                total_bytes: curves.total_bytes(at) as f64,
                tracked_bytes: curves.tracked_bytes[at] as f64,
                baseline_bytes: curves.baseline_bytes[at] as f64,
                reserved_bytes: known(curves.reserved_bytes[at]).map(|bytes| bytes as f64),
                active_bytes: known(curves.active_bytes[at]).map(|bytes| bytes as f64),
                live_blocks: live_at_peak.len() as u32,
                by_operator: by_operator.collect(),
            },
            alive_at_end_blocks: alive_at_end.len() as u32,
            alive_at_end_bytes: live::bytes_of(blocks, &alive_at_end) as f64,
            baseline_drops: device.replay.drops.iter().map(change).collect(),
            baseline_rises: device.replay.rises.iter().map(change).collect(),
            lanes: self.lane_names.iter().enumerate().map(lane).collect(),
        })
    }
}

fn totals(total: Total) -> TotalsDetail {
    let figure = |bytes: i64| known(bytes).map(|bytes| bytes as f64);
    TotalsDetail { allocated_bytes: figure(total.allocated_bytes), reserved_bytes: figure(total.reserved_bytes), active_bytes: figure(total.active_bytes) }
}

fn curves(frame: &Object, device: &Device, window: Window) {
    let curves = &device.replay.curves;
    let total = |at: usize| curves.total_bytes(at);
    let values: [(&str, &(dyn Fn(usize) -> i64 + Sync)); 4] = [
        ("total", &total),
        ("baseline", &|at| curves.baseline_bytes[at]),
        ("reserved", &|at| curves.reserved_bytes[at]),
        ("active", &|at| curves.active_bytes[at]),
    ];
    let found: Vec<(&str, Extremes)> = values.into_par_iter().map(|(name, value)| (name, window::extremes(curves, window, value))).collect();
    let mut most: f64 = 0.0;
    for (name, extremes) in &found {
        most = extremes.max.iter().copied().fold(most, f64::max);
        set(frame, &format!("{name}_min"), &Float64Array::from(&extremes.min[..]));
        set(frame, &format!("{name}_max"), &Float64Array::from(&extremes.max[..]));
    }
    set(frame, "y_max", &most.into());
}

fn lanes(frame: &Object, device: &Device, opened: &OpenedDevice, window: Window, request: &ViewRequest) {
    let blocks = &device.blocks;
    let (width, lane_px) = (request.width_px as usize, request.lane_px as usize);
    let mut pixels = vec![0u8; width * lane_px * request.lanes.len() * 4];
    let views: Vec<window::LaneView> = pixels
        .par_chunks_mut((width * lane_px * 4).max(1))
        .zip(&request.lanes)
        .map(|(pixels, &lane)| {
            let Some(&name) = opened.lane_names.get(lane as usize) else {
                return window::LaneView { top: vec![window::NO_BLOCK; width], blocks: 0 };
            };
            let view = window::lane(blocks, opened.lanes.lane(name as usize), window);
            let colour = request.palette[(lane as usize).min(HUES)];
            paint_lane(pixels, blocks, &LanePaint { top: &view.top, colour, height_px: lane_px, selected: request.selected, outline: request.outline });
            view
        })
        .collect();
    let tops: Vec<u32> = views.iter().flat_map(|view| view.top.iter().copied()).collect();
    let counts: Vec<u32> = views.iter().map(|view| view.blocks).collect();
    set(frame, "blocks", &Uint32Array::from(&tops[..]));
    set(frame, "counts", &Uint32Array::from(&counts[..]));
    set(frame, "pixels", &Uint8ClampedArray::from(&pixels[..]));
}
