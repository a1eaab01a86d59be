//! The session: every capture that was read, and answers to what the page asks.

use super::columns;
use super::derived::{Derived, lane_summaries, lanes_of};
use super::jax;
use super::messages::*;
use super::queries::kept::Kept;
use super::queries::table::TableJob;
use crate::ascend::capture::{Capture, Device, ScannedCapture};
use crate::ascend::discover;
use crate::ascend::grouping::{By, Grouping};
use crate::ascend::reserved::Outside;
use crate::ascend::trace_view::Phase;
use crate::draw::hues::hues;
use crate::export::json::json;
use crate::export::markdown::markdown;
use crate::export::text::text;
use crate::oom::charts;
use crate::oom::compare::{self, Member, members_of_capture, members_of_report};
use crate::oom::difference::{Difference, between};
use crate::oom::merge::{Identity, Merged, Origin, merge};
use crate::oom::read::{self, ReadReport, Sniffed};
use crate::oom::report::{AscendReport, CaptureReport, Report, ascend_report, folded_at, known, report, stack_counts};
use crate::oom::xplane_report::{Wanted, xplane_report};
use crate::session::{self, Held, Include, Session};
use crate::timeline::live::{self, Group};
use crate::timeline::lod::listed::Listed;
use crate::timeline::replay::Change;
use crate::xplane::capture::Capture as Jax;
use crate::xplane::discover as xplanes;
use rayon::prelude::*;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// What lies in a list of paths.
#[wasm_bindgen]
pub fn discover(paths: Vec<String>) -> Result<Ts<FoundMessage>, JsError> {
    let captures = discover::discover(&paths);
    let reports = read::worth_a_look(&paths, &captures).into_iter().map(|index| index as u32).collect();
    Ok(FoundMessage { captures, xplanes: xplanes::discover(&paths), reports, sniffed_bytes: read::SNIFFED_BYTES as u32, paths: paths.len() as u32 }
        .into_ts()?)
}

/// The session. What it can be asked stands in [`super::queries`].
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine {
    pending: Vec<Scanned>,
    pub(super) captures: Vec<Opened>,
    reports: Vec<ReadReport>,
    /// A table on its way out.
    pub(super) table: Option<TableJob>,
    /// The hues that operators have in all captures.
    hues: HashMap<String, u8>,
    /// What was found for the last questions about all blocks of a device, and may be asked for again.
    pub(super) kept: RefCell<Kept>,
}

/// What a scanner handed over.
enum Scanned {
    Ascend(Box<ScannedCapture>),
    Jax(Box<Jax>),
}

pub(super) struct Opened {
    /// What the charts show; of a JAX capture, its allocators as devices.
    pub(super) capture: Capture,
    /// The JAX capture itself.
    pub(super) jax: Option<Box<Jax>>,
    /// What it puts into the comparison of ranks.
    members: Vec<Member>,
    /// What the page shows of it; devices in which nothing lived are not among them.
    devices: Vec<OpenedDevice>,
}

pub(super) struct OpenedDevice {
    /// Index among the capture's devices.
    device: usize,
    /// The zero of every instant that the page is told: the first event of the whole capture, so that its devices compare.
    pub(super) base_ns: i64,
    /// Operators (numbers of `Blocks::names`) in the order of their lanes.
    operators: Vec<Listed>,
    /// Lane of each operator.
    pub(super) lane_of: Vec<u32>,
    /// Hue of each lane.
    pub(super) hues: Vec<u8>,
    /// What the process holds beyond the framework's pools; empty when that was not sampled.
    pub(super) outside: Outside,
    /// Indices, once they are needed.
    pub(super) derived: Derived,
}

#[wasm_bindgen]
impl Engine {
    #[wasm_bindgen(constructor)]
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Takes what a scanner read.
    pub fn add(&mut self, scanned: &JsValue) -> Result<(), JsError> {
        let scanned = match jax::from_js(scanned)? {
            Some(jax) => Scanned::Jax(jax),
            None => Scanned::Ascend(Box::new(columns::from_js(scanned)?)),
        };
        self.pending.push(scanned);
        Ok(())
    }

    /// Replays everything added since the last call, in parallel where there are threads; answers the new captures.
    pub fn build(&mut self) -> Result<Ts<CaptureSummaries>, JsError> {
        let pending = std::mem::take(&mut self.pending);
        let first = self.captures.len();
        self.captures.par_extend(pending.into_par_iter().map(Opened::of));
        self.captures[first..].iter_mut().for_each(|opened| opened.colour(&mut self.hues));
        Ok(CaptureSummaries((first..self.captures.len()).map(|index| self.captures[index].summary(index)).collect()).into_ts()?)
    }

    /// Takes what a scanner found in the trace of a capture; answers the capture anew.
    pub fn attach(&mut self, capture: u32, origins: &JsValue) -> Result<Ts<CaptureSummary>, JsError> {
        let origins = columns::origins_from_js(origins)?;
        let opened = self.captures.get_mut(capture as usize).ok_or_else(|| JsError::new("no such capture"))?;
        opened.capture.attach(origins);
        opened.devices.iter_mut().for_each(|device| device.derived.forget_stacks());
        self.kept.take();
        opened.members = members_of_capture(&opened.capture);
        Ok(opened.summary(capture as usize).into_ts()?)
    }

    /// Everything in one file, for a saved page.
    pub fn saved(&self, stacks: bool, folders: bool) -> Result<Vec<u8>, JsError> {
        let held = self.captures.iter().map(|opened| opened.jax.as_deref().map_or(Held::Ascend(&opened.capture), Held::Jax));
        Ok(session::write(&held.collect::<Vec<_>>(), &self.reports, Include { stacks, folders })?)
    }

    /// The page with such a file in it.
    pub fn saved_page(&self, page: &str, packed: &[u8], view: &str) -> Result<Vec<u8>, JsError> {
        session::page::with_session(page, packed, view).map_err(|error| JsError::new(&error))
    }

    /// Takes such a file; answers the captures in it.
    pub fn open_saved(&mut self, packed: &[u8]) -> Result<Ts<CaptureSummaries>, JsError> {
        let session = session::read(packed).map_err(|error| JsError::new(&error))?;
        self.clear();
        Ok(CaptureSummaries(self.take(session)).into_ts()?)
    }

    /// Takes a saved page, whole; answers the captures in it. What is wrong with it is among the warnings of `comparison`.
    pub fn add_page(&mut self, path: &str, bytes: &[u8]) -> Result<Ts<SavedPage>, JsError> {
        let captures = self.take(session::page::open(path, bytes));
        Ok(SavedPage { captures, view: session::page::view_of(bytes) }.into_ts()?)
    }

    /// What this instance holds of the machine's memory, in bytes.
    pub fn memory(&self) -> f64 {
        const PAGE_BYTES: f64 = 65536.0;
        std::arch::wasm32::memory_size(0) as f64 * PAGE_BYTES
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Engine::default();
    }

    /// What a file is whose first bytes these are: `report`, `page`, or an export that cannot be read, `other`; None where it is nothing known.
    pub fn sniff(&self, first: &[u8]) -> Option<String> {
        let kind = read::sniff(first)?;
        let name = match kind {
            Sniffed::Report => "report",
            Sniffed::Page => "page",
            Sniffed::Database | Sniffed::Snapshot => "other",
        };
        Some(name.to_owned())
    }

    /// Takes a report file, whole, or the first bytes of an export that cannot be read. What is wrong with it is among the warnings of `comparison`.
    pub fn add_report(&mut self, path: &str, bytes: &[u8]) {
        self.reports.push(read::read_packed(path, bytes));
    }

    /// Every capture that was read or reported, and how their ranks and roles compare: quick, whatever their size.
    pub fn comparison(&self, top: usize) -> Result<Ts<ComparisonSummary>, JsError> {
        Ok(self.compared(top).into_ts()?)
    }

    /// Two captures at their peaks, by their places in the list of `comparison`: what is new, gone and changed in B against A.
    pub fn difference(&self, a: u32, b: u32) -> Result<Ts<Difference>, JsError> {
        let Merged { captures, .. } = merge(self.captures.iter().map(Opened::identity), &self.reports);
        let report = |place: u32| -> Option<AscendReport> {
            let capture = match *captures.get(place as usize)? {
                Origin::Opened(nth) => self.captures[nth].report(0),
                Origin::Read(report, place) => self.reports[report].captures[place].clone(),
            };
            if let CaptureReport::Ascend(report) = capture { Some(*report) } else { None }
        };
        let (side_a, side_b) = report(a).zip(report(b)).ok_or_else(|| JsError::new("no such capture"))?;
        Ok(between((a as usize, &side_a), (b as usize, &side_b)).into_ts()?)
    }

    /// The report as plain text.
    pub fn text(&self, top: usize) -> String {
        text(&self.whole_report(top))
    }

    /// The report as Markdown; of every list the first `top`.
    pub fn markdown(&self, top: usize) -> String {
        markdown(&self.whole_report(top), top)
    }

    /// The report on all captures, as JSON.
    pub fn report(&self, top: usize) -> String {
        json(&self.whole_report(top))
    }

    fn take(&mut self, Session { captures, reports }: Session) -> Vec<CaptureSummary> {
        let first = self.captures.len();
        self.reports.extend(reports);
        self.captures.par_extend(captures.into_par_iter().map(Opened::again));
        self.captures[first..].iter_mut().for_each(|opened| opened.colour(&mut self.hues));
        (first..self.captures.len()).map(|index| self.captures[index].summary(index)).collect()
    }

    pub(super) fn compared(&self, top: usize) -> ComparisonSummary {
        let Merged { captures, warnings } = merge(self.captures.iter().map(Opened::identity), &self.reports);
        let members = captures.iter().map(|&origin| match origin {
            Origin::Opened(nth) => self.captures[nth].members.clone(),
            Origin::Read(report, place) => members_of_report(&self.reports[report].captures[place]),
        });
        let comparison = compare::compare(members.collect(), top);
        let listed = captures.iter().map(|&origin| match origin {
            Origin::Opened(nth) => ComparedCapture::opened(nth, &self.captures[nth]),
            Origin::Read(report, place) => ComparedCapture::read(&self.reports[report].file, &self.reports[report].captures[place]),
        });
        ComparisonSummary { captures: listed.collect(), comparison, warnings }
    }

    fn whole_report(&self, top: usize) -> Report {
        report(self.captures.iter().map(|opened| opened.report(top)), &self.reports, top)
    }

    pub(super) fn capture(&self, capture: u32) -> Result<&Opened, JsError> {
        self.captures.get(capture as usize).ok_or_else(|| JsError::new("no such capture"))
    }

    /// Makes sure of indices of a device: `need` says which.
    pub(super) fn derive(&mut self, capture: u32, device: u32, need: impl FnOnce(&mut Derived, &Device, &Outside)) -> Result<(), JsError> {
        let Opened { capture, devices, .. } = self.captures.get_mut(capture as usize).ok_or_else(|| JsError::new("no such capture"))?;
        let shown = devices.get_mut(device as usize).ok_or_else(|| JsError::new("no such device"))?;
        need(&mut shown.derived, &capture.devices[shown.device], &shown.outside);
        Ok(())
    }

    pub(super) fn device(&self, capture: u32, device: u32) -> Result<(&Device, &OpenedDevice), JsError> {
        let opened = self.capture(capture)?;
        let shown = opened.devices.get(device as usize).ok_or_else(|| JsError::new("no such device"))?;
        Ok((&opened.capture.devices[shown.device], shown))
    }
}

impl ComparedCapture {
    fn opened(nth: usize, opened: &Opened) -> ComparedCapture {
        let facts = &opened.capture.facts;
        ComparedCapture {
            capture: Some(nth as u32),
            report: None,
            kind: opened.kind().to_owned(),
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
    fn of(scanned: Scanned) -> Opened {
        match scanned {
            Scanned::Jax(jax) => Opened::new(charts::charts_of(&jax), Some(jax)),
            Scanned::Ascend(scanned) => Opened::ascend(scanned.build()),
        }
    }

    fn again(kept: session::Kept) -> Opened {
        match kept {
            session::Kept::Ascend(capture) => Opened::ascend(*capture),
            session::Kept::Jax(jax) => Opened::new(charts::charts_of(&jax), Some(jax)),
        }
    }

    /// Ranks and roles, which compare, are Ascend's.
    fn ascend(capture: Capture) -> Opened {
        Opened { members: members_of_capture(&capture), ..Opened::new(capture, None) }
    }

    fn new(capture: Capture, jax: Option<Box<Jax>>) -> Opened {
        let shown = capture.devices.par_iter().enumerate().filter(|(_, device)| device.replay.peak.is_some());
        let devices = shown.map(|(index, device)| OpenedDevice::new(index, device, &capture)).collect();
        Opened { members: Vec::new(), capture, jax, devices }
    }

    /// Gives the operators of its devices their hues.
    fn colour(&mut self, known: &mut HashMap<String, u8>) {
        for shown in &mut self.devices {
            let names = &self.capture.devices[shown.device].blocks.names;
            let listed: Vec<&str> = shown.operators.iter().map(|lane| names[lane.key as usize].as_str()).collect();
            shown.hues = hues(&listed, known);
        }
    }

    /// As the report names it.
    fn kind(&self) -> &'static str {
        if self.jax.is_some() { "xplane" } else { "ascend" }
    }

    fn report(&self, top: usize) -> CaptureReport {
        match &self.jax {
            Some(jax) => xplane_report(jax, &Wanted { top, ..Wanted::default() }),
            None => ascend_report(&self.capture, top),
        }
    }

    fn identity(&self) -> Identity {
        match self.jax.as_deref() {
            Some(jax) => Identity::of_jax(jax),
            None => Identity::of_capture(&self.capture),
        }
    }

    /// Steps and optimizer steps; of a JAX capture, the executions on the device.
    fn phases(&self, device: usize) -> Cow<'_, [Phase]> {
        self.jax.as_ref().map_or_else(|| Cow::Borrowed(&self.capture.phases[..]), |jax| Cow::Owned(charts::phases_of(jax, device)))
    }

    fn summary(&self, index: usize) -> CaptureSummary {
        let facts = &self.capture.facts;
        CaptureSummary {
            capture: index as u32,
            kind: self.kind().to_owned(),
            source: facts.source.clone(),
            role: facts.role.clone(),
            rank: facts.rank,
            capture_time: facts.capture_time.clone(),
            facts: facts.setup.clone(),
            torch_npu: facts.torch_npu.clone(),
            cann: facts.cann.clone(),
            rows_read: facts.rows_read as u32,
            rows_set_aside: facts.rows_set_aside as u32,
            devices: self.devices.iter().filter_map(|shown| shown.summary(self)).collect(),
            stacks: stack_counts(&self.capture)
                .filter(|_| self.jax.is_none())
                .map(|counts| StackSummary { found: counts.found() as u32, none: counts.none as u32 }),
            warnings: facts.warnings.clone(),
        }
    }
}

impl OpenedDevice {
    fn new(index: usize, device: &Device, capture: &Capture) -> OpenedDevice {
        let operators = Grouping::of(device, By::Operator, false).map(|grouping| lanes_of(device, &grouping)).unwrap_or_default();
        let mut lane_of = vec![0; device.blocks.names.len()];
        for (lane, of) in operators.iter().enumerate() {
            lane_of[of.key as usize] = lane as u32;
        }
        let outside = Outside::of(capture.around.memory_record.as_deref().unwrap_or_default(), &device.device);
        OpenedDevice { device: index, base_ns: capture.first_ns(), operators, lane_of, hues: Vec::new(), outside, derived: Derived::default() }
    }

    /// An instant as the page is told it.
    pub(super) fn relative(&self, ns: i64) -> f64 {
        (ns - self.base_ns) as f64
    }

    /// The inverse of [`OpenedDevice::relative`].
    pub(super) fn absolute(&self, relative_ns: f64) -> i64 {
        self.base_ns.saturating_add(relative_ns as i64)
    }

    fn summary(&self, opened: &Opened) -> Option<DeviceSummary> {
        let capture = &opened.capture;
        let device = &capture.devices[self.device];
        let (blocks, curves) = (&device.blocks, &device.replay.curves);
        let at = device.replay.peak?;
        let relative = |ns: i64| self.relative(ns);
        let change = |change: &Change| ChangeSummary { time_ns: relative(change.time_ns), bytes: change.bytes as f64 };
        let live_at_peak = live::at(blocks, curves.time_ns[at]);
        let alive_at_end = live::at_the_end(blocks);
        let folded = blocks.folded.as_deref();
        let at_peak = folded_at(device, at);
        let open = folded.map_or(Group { key: (), bytes: 0, blocks: 0 }, |folded| folded.open(()));
        let group =
            |Group { key: (name, lane), bytes, blocks }: Group<(String, Option<u32>)>| GroupSummary { name, lane, bytes: bytes as f64, blocks: blocks as u32 };
        let by_operator = live::by_operator(blocks, &live_at_peak).into_iter();
        let mut by_operator: Vec<_> =
            by_operator.map(|group| group.renamed(|key| (blocks.names[key as usize].clone(), Some(self.lane_of[key as usize])))).collect();
        let live_blocks = live_at_peak.len() as u32 + at_peak.as_ref().map_or(0, |group| group.blocks as u32);
        if let Some(at_peak) = at_peak {
            let place = by_operator.partition_point(|group| group.bytes >= at_peak.bytes);
            by_operator.insert(place, at_peak.renamed(|name| (name, None)));
        }
        let grouping = Grouping::of(device, By::Operator, false)?;
        Some(DeviceSummary {
            device: device.device.clone(),
            // An allocator of JAX is its own pool, by name.
            pool: if opened.jax.is_some() { String::new() } else { device.pool.name().to_owned() },
            blocks: blocks.count() as u32,
            folded: folded.map(|folded| FoldedSummary { up_to_bytes: folded.up_to_bytes as f64, blocks: folded.blocks as u32, bytes: folded.bytes as f64 }),
            base_ns: self.base_ns.to_string(),
            end_ns: relative(capture.end_ns),
            has_outside: !self.outside.time_ns.is_empty(),
            peak: PeakSummary {
                time_ns: relative(curves.time_ns[at]),
                total_bytes: curves.total_bytes(at) as f64,
                tracked_bytes: curves.tracked_bytes[at] as f64,
                baseline_bytes: curves.baseline_bytes[at] as f64,
                reserved_bytes: known(curves.reserved_bytes[at]).map(|bytes| bytes as f64),
                active_bytes: known(curves.active_bytes[at]).map(|bytes| bytes as f64),
                live_blocks,
                by_operator: by_operator.into_iter().map(group).collect(),
            },
            alive_at_end_blocks: (alive_at_end.len() as u64 + open.blocks) as u32,
            alive_at_end_bytes: live::bytes_of(blocks, &alive_at_end).saturating_add(open.bytes) as f64,
            baseline_drops: device.replay.drops.iter().map(change).collect(),
            baseline_rises: device.replay.rises.iter().map(change).collect(),
            waits: opened.jax.as_ref().map_or_else(Vec::new, |jax| jax::waits_of(jax, self.device, self.base_ns)),
            phases: opened.phases(self.device).iter().map(|phase| phase_summary(phase, self.base_ns)).collect(),
            lanes: lane_summaries(device, &grouping, &self.operators, &self.hues, self.base_ns),
        })
    }
}

pub(super) fn phase_summary(phase: &Phase, base_ns: i64) -> PhaseSummary {
    PhaseSummary { name: phase.name.clone(), from_ns: (phase.start_ns - base_ns) as f64, to_ns: (phase.end_ns - base_ns) as f64 }
}
