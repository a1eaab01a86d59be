//! What the panels share: how a question names its grouping, and how a group is told.

use crate::ascend::capture::Device;
use crate::ascend::choice::BlockFilter;
use crate::ascend::grouping::{By, Grouping, distinctions, headline};
use crate::ascend::trace_view::{first_user_frame, frames};
use serde::{Deserialize, Serialize};
use tsify::Tsify;

/// Of which device, by what, and how many groups are told at most.
#[derive(Tsify, Deserialize)]
pub struct GroupedRequest {
    pub capture: u32,
    pub device: u32,
    pub by: By,
    /// Blocks without a stack get the one of the last operator of their name: a guess.
    pub nearest: bool,
    pub limit: u32,
    /// Only blocks that pass count.
    #[serde(default)]
    pub filter: BlockFilter,
}

/// What names a group.
#[derive(Tsify, Serialize, Default)]
#[tsify(missing_as_null)]
pub struct GroupLabel {
    /// What a filter knows the group by.
    pub number: u32,
    /// The operator, the frame (of a stack: its first user frame, else its leaf) or the stream; empty for none. Of a size class, its bytes.
    pub text: String,
    /// The operator's lane.
    pub lane: Option<u32>,
    /// Of a stack: its frames, outermost first.
    pub stack: Vec<String>,
    pub user_frame: Option<String>,
    /// Of a stack: the frame that tells it from others of the same text, where there are.
    pub distinction: Option<String>,
    /// Of the blocks that were folded: up to which size.
    pub folded_up_to: Option<f64>,
}

/// The groups that were not told, together.
#[derive(Tsify, Serialize, Default)]
pub struct Rest {
    pub groups: u32,
    pub bytes: f64,
    pub blocks: u32,
}

/// The key of the folded blocks among groups.
pub(super) const FOLDED: u32 = u32::MAX;

/// The labels of some groups, in their order; [`FOLDED`] may be among the keys. `lane_of`: the lanes of the operators.
pub(in crate::web) fn labels(device: &Device, lane_of: &[u32], grouping: &Grouping, keys: &[u32]) -> Vec<GroupLabel> {
    let texts: Vec<&str> = keys.iter().map(|&key| grouping.labels.get(key as usize).map_or("", AsRef::as_ref)).collect();
    let plain = |(text, number): (&str, u32)| GroupLabel { number, text: text.to_owned(), ..GroupLabel::default() };
    let mut labels: Vec<GroupLabel> = match grouping.by {
        By::Operator => texts.into_iter().zip(keys).map(|(text, &key)| GroupLabel { lane: lane_of.get(key as usize).copied(), ..plain((text, key)) }).collect(),
        By::Stack => texts.iter().zip(keys).zip(distinctions(&texts)).map(|((text, &key), distinction)| stack_label(text, key, distinction)).collect(),
        By::UserFrame | By::Stream | By::SizeClass => texts.into_iter().zip(keys.iter().copied()).map(plain).collect(),
    };
    if let Some((label, folded)) = keys.iter().position(|&key| key == FOLDED).and_then(|at| labels.get_mut(at)).zip(device.blocks.folded.as_deref()) {
        let text = if grouping.by == By::SizeClass { folded.up_to_bytes.to_string() } else { folded.label() };
        *label = GroupLabel { number: FOLDED, text, folded_up_to: Some(folded.up_to_bytes as f64), ..GroupLabel::default() };
    }
    labels
}

/// The label of a stack as the trace writes it.
pub(super) fn stack_label(stack: &str, number: u32, distinction: Option<&str>) -> GroupLabel {
    GroupLabel {
        number,
        text: headline(stack).to_owned(),
        lane: None,
        stack: frames(stack).rev().map(str::to_owned).collect(),
        user_frame: first_user_frame(stack).map(str::to_owned),
        distinction: distinction.map(str::to_owned),
        folded_up_to: None,
    }
}
