//! The filter in words, and what passes it.

use super::jump::SomeRequest;
use super::rows::stack_label;
use crate::ascend::grouping::frame_numbers;
use crate::web::engine::Engine;
use serde::Serialize;
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// The blocks that pass, and the words for what a filter knows by numbers; None where it does not ask for it, or while no trace is read.
#[derive(Tsify, Serialize)]
#[tsify(missing_as_null)]
pub struct ChosenAnswer {
    pub blocks: u32,
    pub bytes: f64,
    /// Empty: blocks without a name.
    pub operator: Option<String>,
    pub stream: Option<String>,
    /// Empty: blocks without a stack.
    pub user_frame: Option<String>,
    /// The frame by which the stack is known; empty: blocks without one.
    pub stack: Option<String>,
    /// All its frames, outermost first.
    pub stack_frames: Vec<String>,
    /// The frames that stacks begin with, outermost first.
    pub beneath: Vec<String>,
}

#[wasm_bindgen]
impl Engine {
    /// What passes a filter.
    pub fn chosen(&self, of: Ts<SomeRequest>) -> Result<Ts<ChosenAnswer>, JsError> {
        let SomeRequest { capture, device, nearest, filter } = of.to_rust()?;
        let choice = self.choice((capture, device), nearest, &filter)?;
        let (device, _) = self.device(capture, device)?;
        let blocks = &device.blocks;
        let (count, bytes) = match choice {
            Some(choice) => (choice.blocks, choice.bytes),
            None => (blocks.len(), blocks.size_bytes.iter().fold(0, |sum: i64, &bytes| sum.saturating_add(bytes))),
        };
        let text = |of: &[String], number: Option<u32>| number.and_then(|number| of.get(number as usize).cloned());
        let stacks = device.stacks.as_ref();
        let label = stacks.zip(filter.stack).map(|(stacks, number)| stack_label(stacks.texts.get(number as usize).map_or("", String::as_str), number, None));
        let answer = ChosenAnswer {
            blocks: count as u32,
            bytes: bytes as f64,
            operator: text(&blocks.names, filter.operator),
            stream: text(&blocks.streams, filter.stream),
            user_frame: stacks.and_then(|stacks| text(&frame_numbers(stacks).1, filter.user_frame)),
            stack: label.as_ref().map(|label| label.text.clone()),
            stack_frames: label.map(|label| label.stack).unwrap_or_default(),
            beneath: stacks.zip(filter.beneath).map_or(Vec::new(), |(stacks, beneath)| beneath.of(&stacks.texts).into_iter().map(str::to_owned).collect()),
        };
        Ok(answer.into_ts()?)
    }
}
