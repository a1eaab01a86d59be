//! What changed between two instants A and B.

use super::rows::{FOLDED, GroupLabel, GroupedRequest, labels};
use crate::ascend::grouping::Grouping;
use crate::timeline::between::{Difference, Share, between};
use crate::web::engine::Engine;
use serde::{Deserialize, Serialize};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// Which instants, and how the difference is told.
#[derive(Tsify, Deserialize)]
pub struct BetweenRequest {
    #[serde(flatten)]
    pub grouped: GroupedRequest,
    pub a_ns: f64,
    pub b_ns: f64,
}

/// The difference.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct BetweenAnswer {
    pub a_ns: f64,
    pub b_ns: f64,
    /// Baseline and total at A and B; None before the first event of this pool.
    pub a: Option<InstantTotals>,
    pub b: Option<InstantTotals>,
    pub new: ShareSummary,
    pub freed: ShareSummary,
    pub common: ShareSummary,
    /// None: no trace was read, so they cannot be told by stack.
    pub groups: Option<Vec<DifferenceRow>>,
    /// How many there are.
    pub count: u32,
}

/// The curves at an instant.
#[derive(Tsify, Serialize)]
pub struct InstantTotals {
    pub total_bytes: f64,
    pub baseline_bytes: f64,
}

/// Some blocks.
#[derive(Tsify, Serialize)]
pub struct ShareSummary {
    pub bytes: f64,
    pub blocks: u32,
}

/// One group.
#[derive(Tsify, Serialize)]
pub struct DifferenceRow {
    pub label: GroupLabel,
    pub new: ShareSummary,
    pub freed: ShareSummary,
    pub common: ShareSummary,
    pub net_bytes: f64,
}

impl From<Share> for ShareSummary {
    fn from(share: Share) -> ShareSummary {
        ShareSummary { bytes: share.bytes as f64, blocks: share.blocks as u32 }
    }
}

#[wasm_bindgen]
impl Engine {
    /// The blocks that are new at B, freed since A, and alive at both, by group; the largest change first.
    pub fn between(&self, request: Ts<BetweenRequest>) -> Result<Ts<BetweenAnswer>, JsError> {
        let BetweenRequest { grouped, a_ns, b_ns } = request.to_rust()?;
        let (device, opened) = self.device(grouped.capture, grouped.device)?;
        let (blocks, curves) = (&device.blocks, &device.replay.curves);
        let instants = (opened.absolute(a_ns), opened.absolute(b_ns));
        let totals = |time_ns: i64| {
            let at = curves.entry_at(time_ns)?;
            Some(InstantTotals { total_bytes: curves.total_bytes(at) as f64, baseline_bytes: curves.baseline_bytes[at] as f64 })
        };
        let choice = self.choice((grouped.capture, grouped.device), grouped.nearest, &grouped.filter)?;
        let takes = |block: usize| choice.as_ref().is_none_or(|choice| choice.takes[block]);
        let chosen: Vec<u32> = (0..blocks.len()).map(|block| u32::from(!takes(block))).collect();
        let mut all = between(blocks, &chosen, 2, instants).into_iter().find(|group| group.key == 0).unwrap_or_default();
        // Nothing is known of folded blocks that a filter could go by.
        let folded = blocks.folded.as_deref().filter(|_| choice.is_none()).map(|folded| {
            let alive = |time_ns: i64| curves.entry_at(time_ns).map_or(Share::default(), |at| Share::of(&folded.alive(at, ())));
            Difference::net_of(FOLDED, alive(instants.0), alive(instants.1))
        });
        let folded = folded.filter(|folded| folded.new.blocks + folded.freed.blocks + folded.common.blocks > 0);
        if let Some(folded) = &folded {
            all.add(folded);
        }
        let mut answer = BetweenAnswer {
            a_ns,
            b_ns,
            a: totals(instants.0),
            b: totals(instants.1),
            new: all.new.into(),
            freed: all.freed.into(),
            common: all.common.into(),
            groups: None,
            count: 0,
        };
        if let Some(mut grouping) = Grouping::of(device, grouped.by, grouped.nearest) {
            let apart = choice.as_ref().map(|choice| grouping.set_apart(&choice.takes));
            let mut found = between(blocks, &grouping.key, grouping.len(), instants);
            found.retain(|group| Some(group.key) != apart);
            found.extend(folded);
            found.sort_by_key(Difference::order);
            answer.count = found.len() as u32;
            found.truncate(grouped.limit as usize);
            let keys: Vec<u32> = found.iter().map(|group| group.key).collect();
            let row = |(label, group): (GroupLabel, &Difference)| DifferenceRow {
                label,
                new: group.new.into(),
                freed: group.freed.into(),
                common: group.common.into(),
                net_bytes: group.net_bytes() as f64,
            };
            answer.groups = Some(labels(device, &opened.lane_of, &grouping, &keys).into_iter().zip(&found).map(row).collect());
        }
        Ok(answer.into_ts()?)
    }
}
