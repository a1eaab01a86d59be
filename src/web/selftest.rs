//! The self-test of the command line, in the page: the page brings the bytes.

use super::messages::CheckedSummary;
use crate::selftest::{Checked, SAMPLES, Sample};
use js_sys::{Array, Uint8Array};
use tsify::{Ts, Tsify};
use wasm_bindgen::prelude::*;

/// The files that a self-test reads, as below `fixtures/`.
#[wasm_bindgen]
pub fn self_test_files() -> Vec<String> {
    SAMPLES.iter().flat_map(|sample| sample.files).map(|&file| file.to_owned()).collect()
}

/// Reads every sample and compares; of a file that is not there, nothing can be equal. `contents` are the files' bytes, in the order of
/// [`self_test_files`].
#[wasm_bindgen]
pub fn self_test(contents: &Array) -> Result<Vec<Ts<CheckedSummary>>, JsError> {
    let bytes: Vec<Vec<u8>> = contents.iter().map(|bytes| bytes.dyn_into::<Uint8Array>().map(|bytes| bytes.to_vec()).unwrap_or_default()).collect();
    let mut rest = bytes.iter().map(Vec::as_slice);
    let mut rows = Vec::new();
    for sample in &SAMPLES {
        let contents: Vec<&[u8]> = sample.files.iter().map(|_| rest.next().unwrap_or_default()).collect();
        rows.extend(sample.check(&contents).into_iter().map(|checked| summary(sample, checked)));
    }
    rows.into_iter().map(|row| Ok(row.into_ts()?)).collect()
}

fn summary(sample: &Sample, checked: Checked) -> CheckedSummary {
    CheckedSummary {
        sample: sample.code.to_owned(),
        equal: checked.is_equal(),
        figure: checked.figure.to_owned(),
        expected: checked.expected.to_owned(),
        found: checked.found,
    }
}
