//! Small captures whose values are known: whether this build reads them as it should, on the machine where it runs. The caller has the
//! bytes; the values stand here.

use crate::ascend::capture::{Capture, CaptureReader, Origins};
use crate::ascend::discover::{CaptureFiles, discover};
use crate::ascend::trace_view::TraceReader;
use crate::oom::report::{CaptureReport, ascend_report, report};
use crate::oom::xplane_report::{Wanted, xplane_report};
use crate::xplane::capture as xplane;
use crate::xplane::discover as xplanes;
use serde_json::Value;

/// A capture with values that are known.
pub struct Sample {
    /// By which a page names it in its reader's language.
    pub code: &'static str,
    /// What it is.
    pub name: &'static str,
    /// Its files, as below `fixtures/`.
    pub files: &'static [&'static str],
    /// Where in its report (a JSON pointer below the capture), and what is there.
    known: &'static [(&'static str, &'static str)],
}

/// One value of a sample's report, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Where it stands in the report, as a JSON pointer below the capture.
    pub figure: &'static str,
    /// What it should be.
    pub expected: &'static str,
    /// What it is.
    pub found: String,
}

impl Checked {
    /// Whether it is as it should be.
    pub fn is_equal(&self) -> bool {
        self.found == self.expected
    }
}

/// Every sample.
pub const SAMPLES: [Sample; 5] = [
    Sample {
        code: "ascend-step",
        name: "Ascend: a training step with call stacks",
        files: &[
            "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/profiler_info_0.json",
            "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/profiler_metadata.json",
            "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
            "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        ],
        known: &[
            ("/role", "\"actor_update\""),
            ("/rank", "0"),
            ("/rows/read", "480"),
            ("/devices/0/peak/time_ns", "\"1779785516002422500\""),
            ("/devices/0/peak/total_bytes", "32645835264"),
            ("/devices/0/peak/baseline_bytes", "18832436736"),
            ("/devices/0/peak/live_blocks", "62"),
            ("/devices/0/alive_at_end/bytes", "75582976"),
            ("/devices/0/growth/0/name", "\"aten::clone\""),
            ("/stacks/own", "279"),
            ("/stacks/forward", "179"),
        ],
    },
    Sample {
        code: "ascend-ge",
        name: "Ascend: a second pool, of the graph engine",
        files: &["ascend_formats/ge/actor_update/npu-node-01_437600_20260526085155960_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv"],
        known: &[
            ("/rows/read", "112"),
            ("/devices/0/pool", "\"PTA\""),
            ("/devices/0/peak/total_bytes", "29544069632"),
            ("/devices/1/pool", "\"GE\""),
            ("/devices/1/peak/total_bytes", "96665600"),
        ],
    },
    Sample {
        code: "jax-oom",
        name: "JAX: a step that does not fit",
        files: &["xplane_attention_oom/attention_oom.xplane.pb"],
        known: &[
            ("/chosen_module", "\"jit_train_step(47)\""),
            ("/modules/0/needed_bytes", "3092648636"),
            ("/modules/0/temp_bytes", "2891288856"),
            ("/modules/0/heap_peak/bytes", "2841248164"),
            ("/modules/0/heap_peak/roles/0/bytes", "2098036736"),
            ("/modules/0/heap_peak/roles/1/bytes", "536608768"),
            ("/modules/0/xla_rematerialized", "19"),
            ("/allocators/0/capacity_bytes", "2995781632"),
            ("/executions/2/launched", "false"),
            ("/retries/0/inferred", "false"),
            ("/live_at_last_start/0/used_bytes", "205553664"),
            ("/diagnosis/0/code", "\"step-does-not-fit\""),
            ("/diagnosis/1/code", "\"allocator-retry\""),
        ],
    },
    Sample {
        code: "jax-scan",
        name: "JAX: a step with a scan that fits",
        files: &["xplane_scan_fits/scan_fits.xplane.pb"],
        known: &[
            ("/modules/0/needed_bytes", "3252712104"),
            ("/modules/0/heap_peak/roles/0/bytes", "2338586624"),
            ("/modules/0/heap_peak/buffers/0/via", "\"while.41\""),
            ("/executions/3/n", "4"),
            ("/executions/3/used_at_start_bytes", "708846080"),
            ("/diagnosis", "[]"),
        ],
    },
    Sample {
        code: "tf-retry",
        name: "TensorFlow: an allocator that waits",
        files: &["xplane_bfc_retry/bfc_retry.xplane.pb"],
        known: &[
            ("/allocators/0/name", "\"bfc_cpu_allocator_for_gpu\""),
            ("/allocators/0/capacity_bytes", "67108864"),
            ("/retries/0/inferred", "true"),
            ("/retries/1/inferred", "true"),
            ("/warnings/0/code", "\"no-hlo-proto\""),
        ],
    },
];

/// The samples' files, inside the program.
#[cfg(feature = "cli")]
const BUNDLED: [(&str, &[u8]); 8] = {
    macro_rules! bundled {
        ($($file:literal),* $(,)?) => { [$(($file, include_bytes!(concat!("../fixtures/", $file)))),*] };
    }
    bundled![
        "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/profiler_info_0.json",
        "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/profiler_metadata.json",
        "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
        "ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        "ascend_formats/ge/actor_update/npu-node-01_437600_20260526085155960_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
        "xplane_attention_oom/attention_oom.xplane.pb",
        "xplane_scan_fits/scan_fits.xplane.pb",
        "xplane_bfc_retry/bfc_retry.xplane.pb",
    ]
};

/// Checks every sample: a line each, and whether all are as they should be.
#[cfg(feature = "cli")]
pub fn self_test() -> (Vec<String>, bool) {
    let bundled = |file: &&str| BUNDLED.iter().find(|(name, _)| name == file).map_or(&b""[..], |(_, bytes)| bytes);
    let mut all_good = true;
    let line = |sample: &Sample| {
        let checked = sample.check(&sample.files.iter().map(bundled).collect::<Vec<_>>());
        let wrong: Vec<String> = checked
            .iter()
            .filter(|checked| !checked.is_equal())
            .map(|Checked { figure, expected, found }| format!("{figure} is {found}, not {expected}"))
            .collect();
        all_good &= wrong.is_empty();
        if wrong.is_empty() { format!("ok      {}: {} values", sample.name, checked.len()) } else { format!("FAILED  {}: {}", sample.name, wrong.join("; ")) }
    };
    let lines = SAMPLES.iter().map(line).collect();
    (lines, all_good)
}

impl Sample {
    /// Reads the sample from the bytes of its files, in their order, and compares.
    pub fn check(&self, contents: &[&[u8]]) -> Vec<Checked> {
        let captures: Vec<CaptureReport> = xplanes::discover(self.files)
            .iter()
            .map(|found| xplane_report(&read_xplane(&found.source, contents[found.file]), &Wanted { top: TOP, ..Wanted::default() }))
            .chain(discover(self.files).iter().map(|found| ascend_report(&read_ascend(found, self.files, contents), TOP)))
            .collect();
        let report = serde_json::to_value(report(captures, &[], TOP)).unwrap_or_default();
        let capture = &report["captures"][0];
        let found = |pointer: &str| capture.pointer(pointer).unwrap_or(&Value::Null).to_string();
        self.known.iter().map(|&(figure, expected)| Checked { figure, expected, found: found(figure) }).collect()
    }
}

const TOP: usize = 25;

fn read_xplane(source: &str, bytes: &[u8]) -> xplane::Capture {
    xplane::Capture::read(source, |reader| {
        reader.feed(0, bytes);
        Ok(())
    })
}

fn read_ascend(found: &CaptureFiles, names: &[&str], contents: &[&[u8]]) -> Capture {
    let mut reader = CaptureReader::new(found);
    if let Some(index) = found.profiler_info {
        reader.profiler_info(names[index], contents[index]);
    }
    if let Some(index) = found.profiler_metadata {
        reader.profiler_metadata(names[index], contents[index]);
    }
    for &index in &found.operator_memory {
        reader.operator_memory.begin(names[index]);
        reader.operator_memory.feed(contents[index]);
        reader.operator_memory.end();
    }
    let scanned = reader.finish();
    let origins = found.trace.map(|index| {
        let mut trace = TraceReader::new(names[index]);
        trace.feed(contents[index]);
        Origins::of(&scanned, trace.finish())
    });
    let mut capture = scanned.build();
    capture.attach(origins.unwrap_or_default());
    capture
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn contents(sample: &Sample) -> Vec<Vec<u8>> {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        sample.files.iter().map(|file| std::fs::read(fixtures.join(file)).unwrap()).collect()
    }

    #[test]
    #[cfg(feature = "cli")]
    fn what_is_bundled_is_as_it_should_be() {
        let (lines, all) = self_test();
        assert!(all && lines.len() == SAMPLES.len(), "{lines:#?}");
    }

    #[test]
    fn a_wrong_value_is_named() {
        let sample = Sample { known: &[("/modules", "[]"), ("/retries/0/module", "\"x\"")], ..SAMPLES[4] };
        let bytes = contents(&sample);
        let found = sample.check(&bytes.iter().map(|bytes| &bytes[..]).collect::<Vec<_>>());
        let wrong: Vec<&Checked> = found.iter().filter(|checked| !checked.is_equal()).collect();
        assert_eq!(wrong, [&Checked { figure: "/retries/0/module", expected: "\"x\"", found: "null".to_owned() }]);
    }

    #[test]
    fn a_sample_that_cannot_be_read_is_wrong() {
        for sample in &SAMPLES {
            assert!(sample.check(&vec![&b""[..]; sample.files.len()]).iter().any(|checked| !checked.is_equal()), "{}", sample.name);
        }
    }
}
