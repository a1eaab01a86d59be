//! One capture: its files in, blocks and facts out; then the replay.

use super::budget::Budget;
use super::discover::CaptureFiles;
use super::operator_memory::{self, DeviceBlocks, OperatorMemory, OperatorMemoryReader, Pool};
use super::profiler_info::{self, Setup};
use super::reserved::{Reserved, ReservedReader};
use super::stacks::{Stacks, stacks};
use super::trace_view::{Phase, Trace};
use crate::error::{self, Position, Problem, Warning, Warnings};
use crate::timeline::blocks::{Blocks, OPEN, UNKNOWN};
use crate::timeline::replay::Replay;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Reads the files of one capture. The caller has the bytes; the order of the files does not matter.
pub struct CaptureReader {
    facts: Facts,
    /// operator_memory.csv.
    pub operator_memory: OperatorMemoryReader,
    /// memory_record.csv, where there is one.
    pub memory_record: Option<ReservedReader>,
    /// npu_module_mem.csv, where there is one.
    pub module_memory: Option<ReservedReader>,
    info_rank: Option<i64>,
    warnings: Warnings,
}

/// What a capture is, without its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Path of its folder below what was opened.
    pub source: String,
    /// From profiler_metadata, else the parent folder's name.
    pub role: Option<String>,
    /// From the name of profiler_info_<rank>.json, else its `rank_id`.
    pub rank: Option<i64>,
    /// ISO 8601 without a zone, from the folder's name.
    pub capture_time: Option<String>,
    /// Version of torch_npu.
    pub torch_npu: Option<String>,
    /// Version of CANN.
    pub cann: Option<String>,
    /// How it was made; `None` without either file that says it.
    pub setup: Option<Setup>,
    /// Rows of operator_memory.csv.
    pub rows_read: u64,
    /// Of these, rows that could not be used.
    pub rows_set_aside: u64,
    /// What was wrong or missing.
    pub warnings: Vec<Warning>,
}

/// A capture as it was read: facts and columns, nothing derived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedCapture {
    /// What it is.
    pub facts: Facts,
    /// Its blocks.
    pub devices: Vec<DeviceBlocks>,
    /// What lies around the blocks.
    pub around: Around,
}

/// What a capture says beside its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Around {
    /// From memory_record.csv; `None` without one.
    pub memory_record: Option<Vec<Reserved>>,
    /// From npu_module_mem.csv; `None` without one.
    pub module_memory: Option<Vec<Reserved>>,
}

/// What the trace of a capture says of its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    /// By device: where its blocks come from.
    pub stacks: Vec<Stacks>,
    /// Steps, by start.
    pub phases: Vec<Phase>,
    /// What was wrong with the trace.
    pub warnings: Vec<Warning>,
}

impl Origins {
    /// Finds where the blocks of a capture come from.
    pub fn of(capture: &ScannedCapture, trace: Trace) -> Origins {
        let mut warnings = trace.warnings.clone();
        let at = || Position::file(&capture.facts.source);
        if trace.stacks.is_empty() && trace.python.is_empty() && (trace.events > 0 || warnings.is_empty()) {
            let off = capture.facts.setup.as_ref().is_some_and(Setup::stacks_were_off);
            warnings.push(Warning::new(&Problem::NoStacks { off }, at()));
        }
        if is_foreign(&trace, &capture.devices) {
            warnings.push(Warning::new(&Problem::ForeignTrace, at()));
        }
        let stacks = capture.devices.iter().map(|device| stacks(&device.blocks, &trace)).collect();
        Origins { stacks, phases: trace.phases, warnings }
    }
}

/// Whether a trace has operators, and all of them ran before the first block or after the last.
fn is_foreign(trace: &Trace, devices: &[DeviceBlocks]) -> bool {
    let first_ns = devices.iter().map(|device| device.blocks.first_ns()).min();
    let last_ns = devices.iter().map(|device| device.blocks.last_ns()).max();
    let spans = &trace.operators.spans;
    match (first_ns, last_ns) {
        (Some(first_ns), Some(last_ns)) => {
            !spans.is_empty() && (spans.end_ns.iter().all(|&end| end < first_ns) || spans.start_ns.iter().all(|&start| start > last_ns))
        }
        _ => false,
    }
}

/// A capture ready for questions.
#[derive(Debug)]
pub struct Capture {
    /// What it is.
    pub facts: Facts,
    /// The latest instant in its memory files; what was not released lives to here.
    pub end_ns: i64,
    /// By device, then pool.
    pub devices: Vec<Device>,
    /// What lies around the blocks.
    pub around: Around,
    /// Steps, by start; empty without a trace.
    pub phases: Vec<Phase>,
}

/// One pool of one device, replayed.
#[derive(Debug)]
pub struct Device {
    /// `NPU:0`.
    pub device: String,
    /// The pool.
    pub pool: Pool,
    /// Its blocks.
    pub blocks: Blocks,
    /// Its curves, peak and baseline.
    pub replay: Replay,
    /// Where its blocks come from; `None` without a trace.
    pub stacks: Option<Stacks>,
}

impl CaptureReader {
    /// A reader for a capture that was found.
    pub fn new(files: &CaptureFiles) -> CaptureReader {
        let facts = Facts {
            source: files.source.clone(),
            role: files.role.clone(),
            rank: files.rank,
            capture_time: files.capture_time.clone(),
            torch_npu: None,
            cann: None,
            setup: None,
            rows_read: 0,
            rows_set_aside: 0,
            warnings: files.warnings.clone(),
        };
        CaptureReader {
            facts,
            operator_memory: OperatorMemoryReader::default(),
            memory_record: None,
            module_memory: None,
            info_rank: None,
            warnings: Warnings::default(),
        }
    }

    /// From now on the capture may take so much memory; before its tables are read.
    pub fn within(&mut self, budget: Budget) {
        self.operator_memory.rows = operator_memory::Rows::within(Some(budget));
    }

    /// Takes profiler_info_<rank>.json.
    pub fn profiler_info(&mut self, file: &str, text: &[u8]) {
        match profiler_info::profiler_info(text) {
            Ok(info) => {
                self.info_rank = info.rank;
                self.facts.torch_npu = info.torch_npu;
                self.facts.cann = info.cann;
                // What the metadata said, if it came first, stays.
                let known = self.facts.setup.take().unwrap_or_default();
                self.facts.setup = Some(Setup { environment: known.environment, distributed: known.distributed, ..info.setup });
                self.explain();
            }
            Err(reason) => self.fail(&Problem::DamagedFile { reason }, Position::file(file)),
        }
    }

    /// Takes profiler_metadata.json.
    pub fn profiler_metadata(&mut self, file: &str, text: &[u8]) {
        match profiler_info::profiler_metadata(text) {
            Ok(metadata) => {
                self.facts.role = metadata.role.or(self.facts.role.take());
                let setup = self.facts.setup.get_or_insert_default();
                setup.environment = metadata.environment;
                setup.distributed = metadata.distributed;
            }
            Err(reason) => self.fail(&Problem::DamagedFile { reason }, Position::file(file)),
        }
    }

    /// What is missing is missing because it was switched off, where it was.
    fn explain(&mut self) {
        let Some(setup) = &self.facts.setup else { return };
        for warning in &mut self.facts.warnings {
            let problem = match warning.code.as_str() {
                "missing-trace" => Problem::MissingTrace { off: setup.stacks_were_off() },
                "no-operator-memory" => Problem::NoOperatorMemory { off: setup.profile_memory == Some(false) },
                _ => continue,
            };
            *warning = Warning::new(&problem, Position::file(std::mem::take(&mut warning.file)));
        }
    }

    /// Notes a file beside operator_memory.csv that could not be read.
    pub fn fail(&mut self, problem: &Problem, at: Position) {
        self.warnings.push(problem, at);
    }

    /// What is known of the capture so far: rank and role once the side files are in.
    pub fn facts(&self) -> Facts {
        Facts { rank: self.facts.rank.or(self.info_rank), ..self.facts.clone() }
    }

    /// The capture.
    pub fn finish(mut self) -> ScannedCapture {
        let OperatorMemory { devices, rows_read, rows_set_aside, warnings } = self.operator_memory.finish();
        let mut facts = self.facts;
        facts.rank = facts.rank.or(self.info_rank);
        facts.rows_read = rows_read;
        facts.rows_set_aside = rows_set_aside;
        if facts.rank.is_none() && !devices.is_empty() {
            self.warnings.push(&Problem::UnknownRank, Position::file(&facts.source));
        }
        facts.warnings.extend(warnings);
        let mut around = Around::default();
        let series = |reader: Option<ReservedReader>, facts: &mut Facts| {
            let file = reader?.finish();
            facts.warnings.extend(file.warnings);
            Some(file.series)
        };
        around.memory_record = series(self.memory_record, &mut facts);
        around.module_memory = series(self.module_memory, &mut facts);
        facts.warnings.extend(self.warnings.finish());
        ScannedCapture { facts, devices, around }
    }
}

impl Capture {
    /// Takes what the trace says.
    pub fn attach(&mut self, origins: Origins) {
        for (device, stacks) in self.devices.iter_mut().zip(origins.stacks) {
            device.stacks = Some(stacks);
        }
        self.phases = origins.phases;
        self.facts.warnings.extend(origins.warnings);
        error::sort(&mut self.facts.warnings);
    }

    /// The first event of all its devices; 0 when there is none.
    pub fn first_ns(&self) -> i64 {
        self.devices.iter().map(|device| device.blocks.first_ns()).filter(|&first| first != OPEN).min().unwrap_or(0)
    }

    /// The profiler's steps, by end.
    pub fn steps(&self) -> Vec<&Phase> {
        let mut steps: Vec<&Phase> = self.phases.iter().filter(|phase| phase.name.starts_with("ProfilerStep#")).collect();
        steps.sort_by_key(|step| step.end_ns);
        steps
    }

    /// When each step ended, ascending.
    pub fn step_ends_ns(&self) -> Vec<i64> {
        self.steps().into_iter().map(|step| step.end_ns).collect()
    }
}

impl ScannedCapture {
    /// Replays every pool, in parallel where there are threads.
    pub fn build(self) -> Capture {
        let ScannedCapture { mut facts, devices, around } = self;
        let sampled = around.memory_record.iter().chain(&around.module_memory).flatten().filter_map(|series| series.time_ns.last().copied());
        let end_ns = devices.iter().map(|device| device.blocks.last_ns()).chain(sampled).max().unwrap_or(UNKNOWN);
        let devices: Vec<Device> = devices.into_par_iter().map(Device::build).collect();
        let place = |device: &Device| Position::file(format!("{} ({} {})", facts.source, device.device, device.pool.name()));
        let mut found = Vec::new();
        for device in &devices {
            let totals = [&device.blocks.at_start, &device.blocks.at_end, &device.blocks.freed.totals];
            if totals.iter().all(|totals| totals.allocated_bytes.iter().all(|&bytes| bytes == UNKNOWN)) {
                found.push(Warning::new(&Problem::NoTotals, place(device)));
            }
            if device.replay.peak.is_none() {
                found.push(Warning::new(&Problem::NoBlocks, place(device)));
            }
        }
        facts.warnings.append(&mut found);
        for device in devices.iter().filter(|device| !device.replay.rises.is_empty()) {
            let bytes = device.replay.rises.iter().fold(0i64, |sum, rise| sum.saturating_add(rise.bytes));
            let problem = match device.blocks.doubled() {
                0 => Problem::BaselineRise { bytes, count: device.replay.rises.len() as u64, set_aside: facts.rows_set_aside },
                rows => Problem::DoubledRows { rows },
            };
            facts.warnings.push(Warning::new(&problem, Position::file(format!("{} ({} {})", facts.source, device.device, device.pool.name()))));
        }
        error::sort(&mut facts.warnings);
        Capture { facts, end_ns, devices, phases: Vec::new(), around }
    }
}

impl Device {
    fn build(scanned: DeviceBlocks) -> Device {
        let DeviceBlocks { device, pool, blocks, replay } = scanned;
        let replay = replay.unwrap_or_else(|| Replay::of(&blocks));
        Device { device, pool, blocks, replay, stacks: None }
    }

    /// How long a block lived: to its release, or to the capture's end.
    pub fn lifetime_ns(&self, block: usize, capture_end_ns: i64) -> i64 {
        let end_ns = self.blocks.end_ns[block];
        let end_ns = if end_ns == OPEN { capture_end_ns } else { end_ns };
        end_ns.saturating_sub(self.blocks.start_ns[block])
    }
}

#[cfg(test)]
mod tests {
    use super::super::discover::discover;
    use super::*;

    fn capture(path: &str, info: &[u8], metadata: &[u8]) -> Capture {
        let mut reader = CaptureReader::new(&discover(&[path])[0]);
        reader.profiler_info("info", info);
        reader.profiler_metadata("metadata", metadata);
        reader.operator_memory.begin(path);
        reader
            .operator_memory
            .feed(b"Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB),Device Type\n");
        reader.operator_memory.feed(b"x,1,1,3,0.5,0.5,NPU:0\nx,1,2,,2.5,,NPU:0\n");
        reader.operator_memory.end();
        reader.finish().build()
    }

    #[test]
    fn the_metadata_role_and_the_info_rank_fill_what_names_do_not_tell() {
        let capture = capture("job/folder/x_ascend_pt/operator_memory.csv", br#"{"rank_id":"5","torch_npu_version":"2.9.0"}"#, br#"{"role":"actor"}"#);
        assert_eq!((capture.facts.role.as_deref(), capture.facts.rank, capture.facts.torch_npu.as_deref()), (Some("actor"), Some(5), Some("2.9.0")));
        assert_eq!(capture.devices[0].lifetime_ns(1, capture.end_ns), 1_000);
    }

    #[test]
    fn a_trace_of_another_time_is_named() {
        let path = "job/x_ascend_pt/operator_memory.csv";
        let mut reader = CaptureReader::new(&discover(&[path])[0]);
        reader.operator_memory.begin(path);
        reader
            .operator_memory
            .feed(b"Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB)\nx,1,10,30,1.5,0.5\n");
        reader.operator_memory.end();
        let scanned = reader.finish();
        let codes = |ts: u32| {
            let mut trace = super::super::trace_view::TraceReader::new("t");
            let event = format!(r#"[{{"ph":"X","cat":"cpu_op","name":"x","ts":{ts},"dur":4,"args":{{"Call stack":"a.py(1): f"}}}}]"#);
            trace.feed(event.as_bytes());
            Origins::of(&scanned, trace.finish()).warnings.into_iter().map(|warning| warning.code).collect::<Vec<_>>()
        };
        assert_eq!((codes(5), codes(6), codes(30), codes(31)), (vec!["foreign-trace".to_owned()], vec![], vec![], vec!["foreign-trace".to_owned()]));
    }

    #[test]
    fn what_was_switched_off_is_said_to_have_been() {
        let capture =
            capture("x_ascend_pt/operator_memory.csv", br#"{"config": {"common_config": {"with_stack": false}}}"#, br#"{"ENV_VARIABLES": {"A": "b"}}"#);
        let missing = capture.facts.warnings.iter().find(|warning| warning.code == "missing-trace").unwrap();
        assert!(missing.message.contains("was made with with_stack=False") && missing.args.contains_key("off"), "{missing:?}");
        assert_eq!(capture.facts.setup.unwrap().environment.len(), 1);
        let mut reader = CaptureReader::new(&discover(&["x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"])[0]);
        reader.profiler_info("info", br#"{"config": {"common_config": {"profile_memory": false}}}"#);
        assert!(reader.finish().facts.warnings[0].message.contains("was made with profile_memory=False"));
    }

    #[test]
    fn damaged_side_files_cost_their_facts_only() {
        let capture = capture("job/folder/x_ascend_pt/operator_memory.csv", b"<html>", b"");
        assert_eq!((capture.facts.role.as_deref(), capture.facts.rank, capture.devices.len()), (Some("folder"), None, 1));
        let codes: Vec<_> = capture.facts.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes.iter().filter(|code| **code == "damaged-file").count(), 2);
        assert!(codes.contains(&"unknown-rank") && codes.contains(&"baseline-rise"));
    }
}
