//! What the engine derives of a device when it is first asked for, and keeps.

use super::messages::LaneSummary;
use super::queries::rows::labels;
use crate::ascend::capture::Device;
use crate::ascend::choice::{BlockFilter, Choice};
use crate::ascend::grouping::{By, Grouping};
use crate::ascend::reserved::Outside;
use crate::draw::hues::HUES;
use crate::timeline::blocks::UNKNOWN;
use crate::timeline::held::Held;
use crate::timeline::lod::NO_LANE;
use crate::timeline::lod::curves::CurveIndex;
use crate::timeline::lod::lanes::Lanes;
use crate::timeline::lod::listed::{Listed, listed};
use crate::timeline::lod::sizes::SizeIndex;
use crate::timeline::lod::skyline::Skyline;
use std::sync::Arc;

/// Indices over the curves of a device.
pub struct CurveSet {
    pub total: CurveIndex,
    pub baseline: CurveIndex,
    pub reserved: CurveIndex,
    pub active: CurveIndex,
    pub reserved_gap: CurveIndex,
    pub active_gap: CurveIndex,
    pub outside: CurveIndex,
}

impl CurveSet {
    fn of(device: &Device, outside: &Outside) -> CurveSet {
        let curves = &device.replay.curves;
        let index = |value: &(dyn Fn(usize) -> i64 + Sync)| CurveIndex::of(curves.len(), value);
        CurveSet {
            total: index(&|at| curves.total_bytes(at)),
            baseline: index(&|at| curves.baseline_bytes[at]),
            reserved: index(&|at| curves.reserved_bytes[at]),
            active: index(&|at| curves.active_bytes[at]),
            reserved_gap: index(&|at| curves.reserved_gap_bytes(at)),
            active_gap: index(&|at| curves.active_gap_bytes(at)),
            outside: CurveIndex::of(outside.time_ns.len(), |at| outside.bytes.get(at).copied().unwrap_or(UNKNOWN)),
        }
    }
}

/// How the blocks of a device lie on lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Laid {
    pub by: By,
    /// Blocks without a stack get the one of the last operator of their name: a guess.
    pub nearest: bool,
}

impl Laid {
    pub const BY_OPERATOR: Laid = Laid { by: By::Operator, nearest: false };

    /// The guess tells only where stacks do.
    pub fn new(by: By, nearest: bool) -> Laid {
        Laid { by, nearest: nearest && matches!(by, By::Stack | By::UserFrame) }
    }
}

/// The lanes of a device, numbered in the order in which they are listed.
pub struct LaneSet {
    laid: Laid,
    /// The lane of each block.
    pub lane_of: Vec<u32>,
    pub listed: Vec<Listed>,
    pub lanes: Lanes,
    pub skyline: Skyline,
}

impl LaneSet {
    fn of(device: &Device, laid: Laid) -> Option<LaneSet> {
        let grouping = Grouping::of(device, laid.by, laid.nearest)?;
        let blocks = &device.blocks;
        let time_ns = &device.replay.curves.time_ns[..];
        let listed = lanes_of(device, &grouping);
        let mut lane_of_key = vec![NO_LANE; grouping.len()];
        for (lane, of) in listed.iter().enumerate() {
            lane_of_key[of.key as usize] = lane as u32;
        }
        let lane_of: Vec<u32> = grouping.key.iter().map(|&key| lane_of_key[key as usize]).collect();
        let lanes = Lanes::of(blocks, time_ns, &lane_of, listed.len());
        let skyline = Skyline::of(blocks, time_ns, &lanes);
        Some(LaneSet { laid, lane_of, listed, lanes, skyline })
    }

    /// The lanes as the page lists them.
    pub fn summaries(&self, device: &Device, base_ns: i64) -> Vec<LaneSummary> {
        match Grouping::of(device, self.laid.by, self.laid.nearest) {
            Some(grouping) => lane_summaries(device, &grouping, &self.listed, &[], base_ns),
            None => Vec::new(),
        }
    }
}

/// The lanes of a grouping in their order.
pub fn lanes_of(device: &Device, grouping: &Grouping) -> Vec<Listed> {
    let peak_ns = device.replay.peak.map_or(UNKNOWN, |at| device.replay.curves.time_ns[at]);
    listed(&device.blocks, &grouping.key, &grouping.labels, peak_ns)
}

/// The same as the page lists them. `hues`: of each lane; those beyond are grey.
pub fn lane_summaries(device: &Device, grouping: &Grouping, listed: &[Listed], hues: &[u8], base_ns: i64) -> Vec<LaneSummary> {
    let keys: Vec<u32> = listed.iter().map(|lane| lane.key).collect();
    let told = labels(device, &[], grouping, &keys).into_iter().zip(listed).enumerate();
    told.map(|(lane, (label, of))| LaneSummary {
        key: of.key,
        name: label.text,
        stack: label.stack,
        blocks: of.blocks as u32,
        bytes: of.bytes as f64,
        peak_bytes: of.peak_bytes as f64,
        first_ns: (of.first_ns - base_ns) as f64,
        hue: hues.get(lane).copied().unwrap_or(HUES as u8),
    })
    .collect()
}

/// The blocks that a filter takes, known by the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Only {
    pub filter: BlockFilter,
    /// Blocks without a stack get a guessed one.
    pub nearest: bool,
}

/// What the charts show of some blocks.
pub struct Narrowed {
    only: Only,
    takes: Arc<Choice>,
    pub held: Held,
    pub curve: CurveIndex,
    /// The lanes of a view with these blocks alone on them.
    lanes: Option<(Laid, Lanes, Skyline)>,
    /// By the instants of `held`.
    sizes: Option<SizeIndex>,
}

impl Narrowed {
    fn of(device: &Device, only: Only, takes: Arc<Choice>) -> Narrowed {
        let held = Held::of(&device.blocks, device.replay.curves.time_ns.first().copied(), &takes.takes);
        let curve = CurveIndex::of(held.bytes.len(), |at| held.bytes[at]);
        Narrowed { only, takes, held, curve, lanes: None, sizes: None }
    }
}

/// Blocks by size, and the instants that this index goes by.
pub type Sized<'a> = (&'a SizeIndex, &'a [i64]);

/// See the module.
#[derive(Default)]
pub struct Derived {
    curves: Option<CurveSet>,
    /// Of all ways to lay the blocks on lanes, operators, and the one that was last asked for.
    operators: Option<LaneSet>,
    others: Option<LaneSet>,
    /// Of the filter that was last asked for.
    narrowed: Option<Narrowed>,
    sizes: Option<SizeIndex>,
}

impl Derived {
    /// What is known of the stacks changed.
    pub fn forget_stacks(&mut self) {
        self.others = None;
        self.narrowed = None;
    }

    /// From now on what is needed is needed of these blocks alone.
    pub fn narrow(&mut self, device: &Device, only: &Only, takes: Arc<Choice>) {
        if self.narrowed(only).is_none() {
            self.narrowed = None;
            self.narrowed = Some(Narrowed::of(device, only.clone(), takes));
        }
    }

    /// All blocks are shown again.
    pub fn widen(&mut self) {
        self.narrowed = None;
    }

    /// `None` of all blocks, or where nobody needed it.
    pub fn narrowed(&self, only: &Only) -> Option<&Narrowed> {
        self.narrowed.as_ref().filter(|narrowed| narrowed.only == *only)
    }

    /// The lanes as they are drawn; `None` where nobody needed them, or where there are none such.
    pub fn drawn(&self, laid: Laid, only: &Only) -> Option<(&Lanes, &Skyline)> {
        if only.filter.is_all() {
            return self.lanes(laid).map(|set| (&set.lanes, &set.skyline));
        }
        let (of, lanes, skyline) = self.narrowed(only)?.lanes.as_ref()?;
        (*of == laid).then_some((lanes, skyline))
    }

    pub fn need_curves(&mut self, device: &Device, outside: &Outside) {
        self.curves.get_or_insert_with(|| CurveSet::of(device, outside));
    }

    pub fn need_lanes(&mut self, device: &Device, laid: Laid) {
        let place = if laid == Laid::BY_OPERATOR { &mut self.operators } else { &mut self.others };
        if place.as_ref().is_none_or(|set| set.laid != laid) {
            // The old one goes first: two would be too much.
            *place = None;
            *place = LaneSet::of(device, laid);
        }
    }

    /// The same, and what [`Derived::drawn`] answers.
    pub fn need_drawn(&mut self, device: &Device, laid: Laid, only: &Only) {
        self.need_lanes(device, laid);
        let known = only.filter.is_all() || self.drawn(laid, only).is_some();
        let Some((set, narrowed)) = self.lanes(laid).zip(self.narrowed(only)).filter(|_| !known) else { return };
        let (blocks, time_ns) = (&device.blocks, &device.replay.curves.time_ns[..]);
        let lane_of: Vec<u32> = set.lane_of.iter().zip(&narrowed.takes.takes).map(|(&lane, &takes)| if takes { lane } else { NO_LANE }).collect();
        let lanes = Lanes::of(blocks, time_ns, &lane_of, set.listed.len());
        let skyline = Skyline::of(blocks, time_ns, &lanes);
        if let Some(narrowed) = &mut self.narrowed {
            narrowed.lanes = Some((laid, lanes, skyline));
        }
    }

    pub fn need_sizes(&mut self, device: &Device, only: &Only) {
        if only.filter.is_all() {
            self.sizes.get_or_insert_with(|| SizeIndex::of(&device.blocks, &device.replay.curves.time_ns, |_| true));
        } else if let Some(Narrowed { takes, held, sizes, .. }) = self.narrowed.as_mut().filter(|narrowed| narrowed.only == *only) {
            sizes.get_or_insert_with(|| SizeIndex::of(&device.blocks, &held.time_ns, |block| takes.takes[block]));
        }
    }

    /// `None` where nobody needed them.
    pub fn curves(&self) -> Option<&CurveSet> {
        self.curves.as_ref()
    }

    /// `None` where nobody needed them, or where there are none such.
    pub fn lanes(&self, laid: Laid) -> Option<&LaneSet> {
        [&self.operators, &self.others].into_iter().flatten().find(|set| set.laid == laid)
    }

    /// `None` where nobody needed them.
    pub fn sizes<'a>(&'a self, device: &'a Device, only: &Only) -> Option<Sized<'a>> {
        if only.filter.is_all() {
            return self.sizes.as_ref().map(|sizes| (sizes, &device.replay.curves.time_ns[..]));
        }
        let Narrowed { sizes, held, .. } = self.narrowed(only)?;
        sizes.as_ref().map(|sizes| (sizes, &held.time_ns[..]))
    }
}
