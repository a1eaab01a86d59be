//! What is alive at an instant, or at the end, by group; baseline and groups sum to the total.

use super::rows::{FOLDED, GroupLabel, GroupedRequest, Rest, labels};
use crate::ascend::grouping::{By, Grouping};
use crate::oom::report::known;
use crate::timeline::blocks::OPEN;
use crate::timeline::live;
use crate::timeline::without::peaks_without;
use crate::web::engine::Engine;
use serde::{Deserialize, Serialize};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// Which live set, and how it is told.
#[derive(Tsify, Deserialize)]
pub struct LiveRequest {
    #[serde(flatten)]
    pub grouped: GroupedRequest,
    /// None: what was not released within the capture.
    pub time_ns: Option<f64>,
    /// Whether the peak without each group is wanted.
    pub without: bool,
}

/// A live set.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct LiveAnswer {
    /// The instant, or the last event for what is alive at the end.
    pub time_ns: f64,
    /// Baseline + tracked; None before the first event of this pool.
    pub total_bytes: Option<f64>,
    pub baseline_bytes: Option<f64>,
    pub tracked_bytes: f64,
    pub reserved_bytes: Option<f64>,
    pub active_bytes: Option<f64>,
    pub live_blocks: u32,
    /// None: these blocks cannot be grouped so, for no trace was read.
    pub groups: Option<Vec<LiveGroup>>,
    pub rest: Rest,
}

/// The live blocks of one group.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct LiveGroup {
    pub label: GroupLabel,
    pub bytes: f64,
    pub blocks: u32,
    /// The largest total of the capture if this group did not exist, where it was asked for.
    pub peak_without_bytes: Option<f64>,
}

#[wasm_bindgen]
impl Engine {
    /// The live set of an instant, or of the end, by group; the largest first. Total and baseline are those of all blocks.
    pub fn live(&self, request: Ts<LiveRequest>) -> Result<Ts<LiveAnswer>, JsError> {
        let LiveRequest { grouped, time_ns, without } = request.to_rust()?;
        let (device, opened) = self.device(grouped.capture, grouped.device)?;
        let (blocks, curves) = (&device.blocks, &device.replay.curves);
        let at_ns = time_ns.map_or(OPEN - 1, |time_ns| opened.absolute(time_ns));
        let mut live = if time_ns.is_some() { live::at(blocks, at_ns) } else { live::at_the_end(blocks) };
        let choice = self.choice((grouped.capture, grouped.device), grouped.nearest, &grouped.filter)?;
        choice.iter().for_each(|choice| choice.retain(&mut live));
        let entry = curves.entry_at(at_ns);
        // Nothing is known of them that a filter could go by.
        let folded = blocks.folded.as_deref().filter(|_| choice.is_none());
        let folded = folded.zip(entry).map(|(folded, at)| if time_ns.is_some() { folded.alive(at, FOLDED) } else { folded.open(FOLDED) });
        let folded = folded.filter(|group| group.blocks > 0);
        let (folded_bytes, folded_blocks) = folded.as_ref().map_or((0, 0), |group| (group.bytes, group.blocks));
        let figure = |of: &dyn Fn(usize) -> i64| entry.and_then(|at| known(of(at))).map(|bytes| bytes as f64);
        let mut answer = LiveAnswer {
            time_ns: time_ns.unwrap_or_else(|| entry.map_or(0.0, |at| opened.relative(curves.time_ns[at]))),
            total_bytes: figure(&|at| curves.total_bytes(at)),
            baseline_bytes: figure(&|at| curves.baseline_bytes[at]),
            tracked_bytes: live::bytes_of(blocks, &live).saturating_add(folded_bytes) as f64,
            reserved_bytes: figure(&|at| curves.reserved_bytes[at]),
            active_bytes: figure(&|at| curves.active_bytes[at]),
            live_blocks: live.len() as u32 + folded_blocks as u32,
            groups: None,
            rest: Rest::default(),
        };
        let named = grouped.by != By::Stream || blocks.streams.iter().any(|stream| !stream.is_empty());
        if let Some(mut grouping) = Grouping::of(device, grouped.by, grouped.nearest).filter(|_| named) {
            if let Some(choice) = &choice {
                grouping.set_apart(&choice.takes);
            }
            let mut groups = grouping.groups(blocks, &live);
            if let Some(folded) = folded {
                groups.insert(groups.partition_point(|group| group.bytes >= folded.bytes), folded);
            }
            for rest in groups.drain((grouped.limit as usize).min(groups.len())..) {
                answer.rest.groups += 1;
                answer.rest.bytes += rest.bytes as f64;
                answer.rest.blocks += rest.blocks as u32;
            }
            let keys: Vec<u32> = groups.iter().map(|group| group.key).collect();
            let peaks = if without { peaks_without(blocks, curves, &grouping.key, grouping.len()) } else { Vec::new() };
            let told = labels(device, &opened.lane_of, &grouping, &keys).into_iter().zip(&groups).map(|(label, group)| LiveGroup {
                label,
                bytes: group.bytes as f64,
                blocks: group.blocks as u32,
                peak_without_bytes: match &blocks.folded {
                    Some(folded) if without && group.key == FOLDED => Some(folded.peak_without(curves) as f64),
                    _ => peaks.get(group.key as usize).map(|peak| peak.bytes as f64),
                },
            });
            answer.groups = Some(told.collect());
        }
        Ok(answer.into_ts()?)
    }
}
