//! Problems as values: what is wrong, where, and what to do. Nothing here is printed or thrown; whoever reads a capture collects them.

use crate::units::human_bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many problems of one kind in one file are listed; the rest are counted.
pub(crate) const LISTED_PER_KIND: usize = 1_000;

/// What can be wrong with a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// No trace_view.json lies beside operator_memory.csv.
    MissingTrace {
        /// Whether the profiler was told to take no call stacks.
        off: bool,
    },
    /// No profiler_metadata.json.
    MissingMetadata,
    /// Neither memory_record.csv nor npu_module_mem.csv.
    MissingMemoryRecord,
    /// Neither a file name nor profiler_info says which rank this is.
    UnknownRank,
    /// Several profiler_info files name different ranks.
    DuplicateRank {
        /// The one that was taken.
        taken: i64,
    },
    /// A column is not there. Required ones end the file; without others some figures are unknown.
    MissingColumn {
        /// Whether the file is useless without it.
        required: bool,
        /// The columns there are.
        present: Vec<String>,
    },
    /// A cell cannot be used; its row is set aside.
    BadValue {
        /// Why.
        reason: &'static str,
    },
    /// A time in scientific notation: its digits are gone.
    ImpreciseTime,
    /// Rows without an operator's name; they count. The position is the first one's.
    EmptyName {
        /// How many.
        rows: u64,
    },
    /// Rows whose name is no UTF-8; they count. The position is the first one's.
    NotUtf8 {
        /// How many.
        rows: u64,
    },
    /// Rows that stand in the file twice; they count twice.
    DoubledRows {
        /// How many of them are too many.
        rows: u64,
    },
    /// A row has another number of cells than the header; it is set aside.
    CellCount {
        /// How many it has.
        cells: u64,
        /// How many the header has.
        header: u64,
    },
    /// GE freed memory that was allocated before the capture; its rows have no time.
    GeReleaseOnly {
        /// How many.
        rows: u64,
    },
    /// The file ends inside a row.
    CutFile,
    /// The trace ends before its closing bracket.
    CutTrace {
        /// Events before the end.
        events: u64,
    },
    /// The file, or a part of it, is not what its name says.
    DamagedFile {
        /// What it is instead.
        reason: String,
    },
    /// The baseline rose: rows are missing.
    BaselineRise {
        /// All rises together.
        bytes: i64,
        /// How many.
        count: u64,
        /// Rows that were set aside and may be those.
        set_aside: u64,
    },
    /// A trace without call stacks.
    NoStacks {
        /// Whether the profiler was told to take none.
        off: bool,
    },
    /// No operator of the trace ran while there were blocks.
    ForeignTrace,
    /// The same file lies there packed and unpacked, or twice packed; another one was read.
    DuplicateFile {
        /// The one that was read.
        taken: String,
    },
    /// An export of another kind lies there alone.
    UnsupportedExport {
        /// Whether it is a snapshot of torch's allocator.
        snapshot: bool,
    },
    /// A raw capture that was never analysed.
    NotAnalysed,
    /// A capture folder without operator_memory.csv.
    NoOperatorMemory {
        /// Whether the profiler was told not to record memory.
        off: bool,
    },
    /// No row reports the pool's total.
    NoTotals,
    /// A file without a usable row.
    NoBlocks,
    /// A file vanished, changed or was refused while it was read.
    UnreadableFile {
        /// What the system said.
        reason: String,
    },
    /// A report, or a capture in one, of a later version.
    UnsupportedReport {
        /// What it calls itself.
        what: String,
    },
    /// A report of nothing.
    EmptyReport,
    /// A page of this program in which no captures were saved.
    NoSession,
    /// The same capture was opened twice.
    DuplicateCapture,
    /// Different captures whose paths are the same.
    SameSource,
    /// A JAX capture ends inside a message.
    CutCapture {
        /// Planes begun before the end.
        planes: u64,
    },
    /// Two JAX captures in one file.
    JoinedCapture {
        /// A plane that is there twice.
        plane: String,
    },
    /// A JAX capture without events of an allocator.
    NoAllocatorEvents {
        /// Where it was made, as far as that explains it.
        made_on: MadeOn,
    },
    /// A capture without compiled plans.
    NoHloProto {
        /// Whether TensorFlow wrote it.
        tensorflow: bool,
    },
    /// Small blocks were folded, for memory.
    BlocksFolded {
        /// How many.
        blocks: u64,
        /// Up to which size.
        up_to_bytes: i64,
        /// What they hold at the peak.
        peak_bytes: i64,
    },
    /// Names had no room.
    NamesDropped {
        /// Rows that lost theirs.
        rows: u64,
    },
    /// Texts of call stacks had no room.
    StacksDropped {
        /// Operators that lost theirs.
        operators: u64,
    },
    /// Rows from here on had no room.
    MemoryFull,
    /// What happened at run time has no room.
    EventsTooMany,
    /// More problems of one kind than are listed.
    MoreWarnings {
        /// Their code.
        code: &'static str,
        /// How many were left out.
        count: u64,
    },
}

/// What a JAX capture was made on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MadeOn {
    /// The CPU alone.
    Cpu,
    /// A TPU.
    Tpu,
    /// A GPU.
    Gpu,
    /// The file is cut or damaged: what is missing may have been lost.
    Damaged,
}

impl MadeOn {
    /// As in the report.
    pub fn name(self) -> &'static str {
        match self {
            MadeOn::Cpu => "cpu",
            MadeOn::Tpu => "tpu",
            MadeOn::Gpu => "gpu",
            MadeOn::Damaged => "damaged",
        }
    }

    /// Why there are no events of an allocator, and how to get them.
    pub fn no_allocator_events(self) -> &'static str {
        match self {
            MadeOn::Cpu => "it was made on a CPU, whose memory no allocator of XLA counts: capture on the GPU to see memory at run time",
            MadeOn::Damaged => "the file is cut or damaged, and they may have been in the part that is lost: copy the file again",
            MadeOn::Tpu => "it was made on a TPU, whose allocator writes no events: the plans are all there is",
            MadeOn::Gpu => {
                "it was made on a GPU with host_tracer_level below 2, or with XLA_PYTHON_CLIENT_ALLOCATOR=platform: capture with jax.profiler.ProfileOptions().host_tracer_level = 2 and the default allocator"
            }
        }
    }
}

/// Why a capture may have no compiled plans, and how to get them.
pub fn no_hlo_proto(tensorflow: bool) -> &'static str {
    if tensorflow {
        "TensorFlow writes none"
    } else {
        "the profiler was told not to write it (enable_hlo_proto), or a tool that shortened the file dropped the plane /host:metadata: capture again with jax.profiler.trace"
    }
}

/// Where a problem is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// Path below what was opened.
    pub file: String,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Offset of the first byte concerned.
    pub byte: Option<u64>,
    /// Column or key.
    pub field: Option<String>,
    /// The text found there.
    pub value: Option<String>,
}

impl Position {
    /// A file as a whole.
    pub fn file(file: impl Into<String>) -> Position {
        Position { file: file.into(), ..Position::default() }
    }

    /// A line of a file.
    pub fn line(file: impl Into<String>, line: u64, byte: u64) -> Position {
        Position { file: file.into(), line: Some(line), byte: Some(byte), ..Position::default() }
    }

    /// One field, and the text in it (cut to what a message can hold).
    pub fn field(mut self, field: &str, value: &[u8]) -> Position {
        const SHOWN: usize = 120;
        let text = String::from_utf8_lossy(value.trim_ascii());
        let cut: String = text.chars().take(SHOWN).collect();
        self.value = Some(if cut.len() < text.len() { format!("{cut}…") } else { cut });
        self.field = Some(field.to_owned());
        self
    }
}

/// A part of a message: what a translated sentence is filled with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[serde(untagged)]
pub enum Arg {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// A problem as the report carries it (spec of `oomscope.report/1`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct Warning {
    /// Which kind of problem.
    pub code: String,
    /// Path below what was opened.
    pub file: String,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Offset of the first byte concerned.
    pub byte: Option<u64>,
    /// Column or key.
    pub field: Option<String>,
    /// The text found there.
    pub value: Option<String>,
    /// What the sentence is made of.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "Record<string, Arg>"))]
    pub args: BTreeMap<String, Arg>,
    /// The sentence in English: what is, then what to do.
    pub message: String,
}

impl Warning {
    /// A problem at a place.
    pub fn new(problem: &Problem, at: Position) -> Warning {
        Warning {
            code: problem.code().to_owned(),
            message: problem.message(&at),
            args: problem.args(),
            file: at.file,
            line: at.line,
            byte: at.byte,
            field: at.field,
            value: at.value,
        }
    }
}

impl Problem {
    /// The code of the report's schema.
    pub fn code(&self) -> &'static str {
        match self {
            Problem::MissingTrace { .. } => "missing-trace",
            Problem::MissingMetadata => "missing-metadata",
            Problem::MissingMemoryRecord => "missing-memory-record",
            Problem::UnknownRank => "unknown-rank",
            Problem::DuplicateRank { .. } => "duplicate-rank",
            Problem::MissingColumn { .. } => "missing-column",
            Problem::BadValue { .. } => "bad-value",
            Problem::ImpreciseTime => "imprecise-time",
            Problem::EmptyName { .. } => "empty-name",
            Problem::NotUtf8 { .. } => "not-utf8",
            Problem::DoubledRows { .. } => "doubled-rows",
            Problem::GeReleaseOnly { .. } => "ge-release-only",
            Problem::CutFile | Problem::CutTrace { .. } | Problem::CutCapture { .. } => "cut-file",
            Problem::JoinedCapture { .. } => "joined-capture",
            Problem::NoAllocatorEvents { .. } => "no-allocator-events",
            Problem::NoHloProto { .. } => "no-hlo-proto",
            Problem::DamagedFile { .. } | Problem::CellCount { .. } => "damaged-file",
            Problem::BaselineRise { .. } => "baseline-rise",
            Problem::NoStacks { .. } => "no-stacks",
            Problem::ForeignTrace => "foreign-trace",
            Problem::DuplicateFile { .. } => "duplicate-file",
            Problem::UnsupportedExport { .. } => "unsupported-export",
            Problem::NotAnalysed => "not-analysed",
            Problem::NoOperatorMemory { .. } => "no-operator-memory",
            Problem::NoTotals => "no-totals",
            Problem::NoBlocks => "no-blocks",
            Problem::UnreadableFile { .. } => "unreadable-file",
            Problem::UnsupportedReport { .. } => "unsupported-report",
            Problem::EmptyReport => "empty-report",
            Problem::NoSession => "no-session",
            Problem::DuplicateCapture => "duplicate-capture",
            Problem::SameSource => "same-source",
            Problem::BlocksFolded { .. } => "blocks-folded",
            Problem::NamesDropped { .. } => "names-dropped",
            Problem::StacksDropped { .. } => "stacks-dropped",
            Problem::MemoryFull => "memory-full",
            Problem::EventsTooMany => "events-too-many",
            Problem::MoreWarnings { .. } => "more-warnings",
        }
    }

    fn args(&self) -> BTreeMap<String, Arg> {
        let mut args = BTreeMap::new();
        let mut put = |key: &str, arg| args.insert(key.to_owned(), arg);
        match self {
            Problem::MissingTrace { off: true } | Problem::NoStacks { off: true } | Problem::NoOperatorMemory { off: true } => drop(put("off", Arg::Number(1))),
            Problem::UnsupportedExport { snapshot: true } => drop(put("snapshot", Arg::Number(1))),
            Problem::DuplicateRank { taken } => drop(put("taken", Arg::Number(*taken))),
            Problem::MissingColumn { required, present } => {
                put("required", Arg::Number(i64::from(*required)));
                put("columns", Arg::Text(listed(present)));
            }
            Problem::BadValue { reason } => drop(put("reason", Arg::Text((*reason).to_owned()))),
            Problem::EmptyName { rows }
            | Problem::NotUtf8 { rows }
            | Problem::DoubledRows { rows }
            | Problem::GeReleaseOnly { rows }
            | Problem::NamesDropped { rows } => {
                put("rows", number(*rows));
            }
            Problem::BlocksFolded { blocks, up_to_bytes, peak_bytes } => {
                put("blocks", number(*blocks));
                put("up_to_bytes", Arg::Number(*up_to_bytes));
                put("peak_bytes", Arg::Number(*peak_bytes));
            }
            Problem::CellCount { cells, header } => {
                put("cells", number(*cells));
                put("header", number(*header));
            }
            Problem::DuplicateFile { taken } => drop(put("taken", Arg::Text(taken.clone()))),
            Problem::CutTrace { events } => drop(put("events", number(*events))),
            Problem::StacksDropped { operators } => drop(put("operators", number(*operators))),
            Problem::CutCapture { planes } => drop(put("planes", number(*planes))),
            Problem::JoinedCapture { plane } => drop(put("plane", Arg::Text(plane.clone()))),
            Problem::NoAllocatorEvents { made_on } => drop(put("made_on", Arg::Text(made_on.name().to_owned()))),
            Problem::NoHloProto { tensorflow } => drop(put("tensorflow", Arg::Number(i64::from(*tensorflow)))),
            Problem::DamagedFile { reason } | Problem::UnreadableFile { reason } => drop(put("reason", Arg::Text(reason.clone()))),
            Problem::UnsupportedReport { what } => drop(put("what", Arg::Text(what.clone()))),
            Problem::BaselineRise { bytes, count, set_aside } => {
                put("bytes", Arg::Number(*bytes));
                put("count", number(*count));
                put("set_aside", number(*set_aside));
            }
            Problem::MoreWarnings { code, count } => {
                put("code", Arg::Text((*code).to_owned()));
                put("count", number(*count));
            }
            _ => {}
        }
        args
    }

    fn message(&self, at: &Position) -> String {
        let place = place(at);
        let field = at.field.as_deref().unwrap_or_default();
        let value = at.value.as_deref().unwrap_or_default();
        match self {
            Problem::MissingTrace { off: true } => {
                format!(
                    "{place}: no trace_view.json lies here, and the capture was made with with_stack=False, so there are no call stacks. Profile with with_stack=True, and keep trace_view.json with the capture."
                )
            }
            Problem::MissingTrace { off: false } => {
                format!("{place}: no trace_view.json lies here, so there are no call stacks. Keep it with the capture, and profile with with_stack=True.")
            }
            Problem::MissingMetadata => format!("{place}: no profiler_metadata.json lies here, so the role is taken from the parent folder's name."),
            Problem::MissingMemoryRecord => {
                format!("{place}: neither memory_record.csv nor npu_module_mem.csv lies here, so nothing is known of memory outside the framework.")
            }
            Problem::UnknownRank => format!(
                "{place}: neither the name of a profiler_info_<rank>.json nor its rank_id says which rank this is. Keep profiler_info_<rank>.json with the capture."
            ),
            Problem::DuplicateRank { taken } => {
                format!("{place}: several profiler_info files lie here; rank {taken}, the lowest, was taken. Keep one rank a folder.")
            }
            Problem::MissingColumn { required: true, present } => {
                format!("{place} has no column {field}; it has: {}. Take the file as the profiler wrote it.", listed(present))
            }
            Problem::MissingColumn { required: false, present } => {
                format!("{place} has no column {field}, so that figure is unknown; it has: {}.", listed(present))
            }
            Problem::BadValue { reason } => {
                // A trace has no lines.
                let what = if at.line.is_some() { "row" } else { "event" };
                format!("{place}: {field} is \"{value}\": {reason}. The {what} was set aside.")
            }
            Problem::ImpreciseTime => format!(
                "{place}: {field} is \"{value}\", scientific notation: its digits are gone, so the row was set aside. A spreadsheet saved this file; take the one that the profiler wrote."
            ),
            Problem::EmptyName { rows: 1 } => format!("{place}: one row has no operator's name; it is counted as (unattributed)."),
            Problem::EmptyName { rows } => {
                format!("{place}: {rows} rows, this one first, have no operator's name; they are counted as (unattributed).")
            }
            Problem::NotUtf8 { rows } => {
                format!("{place}: the name is no UTF-8, so some of its letters are lost (rows: {rows}). Take the file as the profiler wrote it.")
            }
            Problem::DoubledRows { rows } => format!(
                "{place}: {rows} rows stand in the file twice, with the same times, size and totals, and count twice. Take the file as the profiler wrote it."
            ),
            Problem::CellCount { cells, header } => {
                let plural = if *cells == 1 { "" } else { "s" };
                format!("{place}: the row has {cells} cell{plural} where the header has {header}; it was set aside.")
            }
            Problem::GeReleaseOnly { rows } => {
                format!(
                    "{place}: memory of GE from before the capture is freed without a time (rows: {rows}); it shows as drops of GE's baseline at the next event."
                )
            }
            Problem::CutFile => format!("{place}: the file ends inside this row; the rows before it were used. Copy the file again."),
            Problem::CutTrace { events } => format!("{place}: the trace ends here, without its closing bracket; the {events} events before it were used."),
            Problem::JoinedCapture { plane } => format!(
                "{place}: the plane {plane} is there twice: two captures were joined into one file, and are read as one. Open the files that the profiler wrote."
            ),
            Problem::CutCapture { .. } => format!("{place}: the file ends here, inside a message; what is whole before it was used. Copy the file again."),
            Problem::NoAllocatorEvents { made_on } => {
                format!("{place}: nothing is known of memory at run time, since the capture has no events of an allocator: {}.", made_on.no_allocator_events())
            }
            Problem::NoHloProto { tensorflow } => {
                format!("{place}: no plan in this capture (no module's Hlo Proto): {}.", no_hlo_proto(*tensorflow))
            }
            Problem::DamagedFile { reason } => format!("{place}: {reason}."),
            Problem::BaselineRise { bytes, count, set_aside } => {
                let aside = match set_aside {
                    0 => String::new(),
                    1 => " One row was set aside and may be what is missing.".to_owned(),
                    rows => format!(" {rows} rows were set aside and may be what is missing."),
                };
                let steps = if *count == 1 { "one step".to_owned() } else { format!("{count} steps") };
                let grown = human_bytes(*bytes);
                format!(
                    "{place}: rows are missing: the reported total grew by {grown} ({bytes} B), in {steps}, that no row explains. It is shown as baseline.{aside}"
                )
            }
            Problem::NoStacks { off: true } => {
                format!(
                    "{place}: the trace holds no call stacks: the capture was made with with_stack=False. Profile with with_stack=True (or with_modules=True)."
                )
            }
            Problem::NoStacks { off: false } => format!("{place}: the trace holds no call stacks. Profile with with_stack=True (or with_modules=True)."),
            Problem::ForeignTrace => {
                format!(
                    "{place}: no operator of this trace ran while there were blocks, so none has a call stack. Take the trace_view.json of this very capture."
                )
            }
            Problem::DuplicateFile { taken } => format!("{place}: {taken} lies here too and was read; this file was not."),
            Problem::UnsupportedExport { snapshot: true } => {
                format!(
                    "{place}: a snapshot of torch's allocator, which is not read yet. Profile with torch_npu.profiler.profile(profile_memory=True, with_stack=True), which writes operator_memory.csv."
                )
            }
            Problem::UnsupportedExport { snapshot: false } => {
                format!("{place}: this export is not read yet. Export text as well: export_type=[ExportType.Text], which writes operator_memory.csv.")
            }
            Problem::NotAnalysed => {
                format!(
                    "{place}: a raw capture that was never analysed. Run this where torch_npu is installed, then open the folder again: torch_npu.profiler.profiler.analyse(\"{}\")",
                    at.file
                )
            }
            Problem::NoOperatorMemory { off: true } => {
                format!("{place}: no operator_memory.csv lies here: the capture was made with profile_memory=False. Profile with profile_memory=True.")
            }
            Problem::NoOperatorMemory { off: false } => format!("{place}: no operator_memory.csv lies here. Profile with profile_memory=True."),
            Problem::NoTotals => {
                format!(
                    "{place}: no row reports the total allocated, so memory from before the capture is unknown: what is shown is the sum of the blocks, not the device's memory."
                )
            }
            Problem::NoBlocks => format!("{place} holds no usable row: there is nothing to show."),
            Problem::UnreadableFile { reason } => {
                // Some browsers end their sentences themselves.
                let reason = reason.trim_end_matches('.');
                format!("{place} could not be read: {reason}. It may have vanished or changed since it was opened; open it again.")
            }
            Problem::UnsupportedReport { what } => {
                format!("{place}: {what} is not read by this version. Open it with a newer one, or report the capture again with this one.")
            }
            Problem::EmptyReport => format!("{place}: this report holds no capture. Report again, from the folder in which the captures lie."),
            Problem::NoSession => format!("{place}: no captures were saved with this page. Open captures in it, then take Export ▸ Save as HTML."),
            Problem::DuplicateCapture => format!("{place}: this capture was opened more than once; it is counted once."),
            Problem::SameSource => {
                format!("{place}: different captures have this path; all are counted. To tell them apart, report each from a folder with a name of its own.")
            }
            Problem::BlocksFolded { blocks, up_to_bytes, peak_bytes } => format!(
                "{place}: for want of memory {blocks} blocks of {} and less are folded: they count in every total, {} of them at the peak, and have no name, stack or line. {ROOM}",
                human_bytes(*up_to_bytes),
                human_bytes(*peak_bytes)
            ),
            Problem::NamesDropped { rows } => {
                format!("{place}: for want of memory {rows} rows lost the operator's name; they are counted as (name dropped). {ROOM}")
            }
            Problem::EventsTooMany => {
                format!("{place}: there is no memory for what happened at run time, so only the plans are told. {ROOM}")
            }
            Problem::StacksDropped { operators } => {
                format!("{place}: for want of memory {operators} operators lost their call stack. {ROOM}")
            }
            Problem::MemoryFull => format!("{place}: there is no memory left for this row and those after it: they are not counted. {ROOM}"),
            Problem::MoreWarnings { code, count } => format!("{place}: {count} more {code} warnings are not listed."),
        }
    }
}

/// What helps where memory is short.
const ROOM: &str = "Open fewer captures at once or allow more memory; the command line takes what it needs unless --memory limits it.";

fn place(at: &Position) -> String {
    match (at.line, at.byte) {
        (Some(line), Some(byte)) => format!("{} line {line} (byte {byte})", at.file),
        (Some(line), None) => format!("{} line {line}", at.file),
        (None, Some(byte)) => format!("{} byte {byte}", at.file),
        (None, None) => at.file.clone(),
    }
}

/// Column names for a message: a damaged header may hold anything.
fn listed(names: &[String]) -> String {
    const NAMES: usize = 40;
    const LENGTH: usize = 60;
    let short = |name: &String| {
        let text: String = name.chars().filter(|c| !c.is_control()).take(LENGTH + 1).collect();
        if text.chars().count() > LENGTH { text.chars().take(LENGTH).chain(['…']).collect() } else { text }
    };
    let more = if names.len() > NAMES { ", …" } else { "" };
    format!("{}{more}", names.iter().take(NAMES).map(short).collect::<Vec<_>>().join(", "))
}

fn number(count: u64) -> Arg {
    Arg::Number(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Collects problems; of many alike it lists the first and counts the rest.
#[derive(Debug, Default)]
pub struct Warnings {
    listed: Vec<Warning>,
    counts: BTreeMap<(String, &'static str), u64>,
}

impl Warnings {
    /// Notes a problem.
    pub fn push(&mut self, problem: &Problem, at: Position) {
        let count = self.counts.entry((at.file.clone(), problem.code())).or_default();
        *count += 1;
        if *count <= LISTED_PER_KIND as u64 {
            self.listed.push(Warning::new(problem, at));
        }
    }

    /// Whether a problem with this code was noted.
    pub fn has(&self, code: &str) -> bool {
        self.counts.keys().any(|(_, noted)| *noted == code)
    }

    /// Notes more of a kind of which as many are listed as ever will be.
    pub fn push_unlisted(&mut self, problem: &Problem, file: &str, count: u64) {
        *self.counts.entry((file.to_owned(), problem.code())).or_default() += count;
    }

    /// All of them, by file, line, byte and code.
    pub fn finish(mut self) -> Vec<Warning> {
        for ((file, code), count) in self.counts {
            let left_out = count.saturating_sub(LISTED_PER_KIND as u64);
            if left_out > 0 {
                self.listed.push(Warning::new(&Problem::MoreWarnings { code, count: left_out }, Position::file(file)));
            }
        }
        sort(&mut self.listed);
        self.listed
    }
}

/// The report's order.
pub fn sort(warnings: &mut [Warning]) {
    warnings.sort_by(|a, b| (&a.file, a.line, a.byte, &a.code).cmp(&(&b.file, b.line, b.byte, &b.code)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_where_what_and_what_to_do() {
        let at = Position::line("r/operator_memory.csv", 7, 812).field("Size(KB)", b"abc");
        let warning = Warning::new(&Problem::BadValue { reason: "not a number" }, at);
        assert_eq!(warning.code, "bad-value");
        assert_eq!(warning.message, "r/operator_memory.csv line 7 (byte 812): Size(KB) is \"abc\": not a number. The row was set aside.");
    }

    #[test]
    fn what_a_browser_says_keeps_one_full_stop() {
        let warning = Warning::new(&Problem::UnreadableFile { reason: "NotReadableError: no permission.".to_owned() }, Position::file("f"));
        assert_eq!(
            warning.message,
            "f could not be read: NotReadableError: no permission. It may have vanished or changed since it was opened; open it again."
        );
    }

    #[test]
    fn many_alike_are_counted() {
        let mut warnings = Warnings::default();
        for line in 0..LISTED_PER_KIND as u64 + 5 {
            warnings.push(&Problem::ImpreciseTime, Position::line("f", line + 2, 0));
        }
        let listed = warnings.finish();
        assert_eq!(listed.len(), LISTED_PER_KIND + 1);
        assert_eq!(listed[0].code, "more-warnings");
        assert_eq!(listed[0].args.get("count"), Some(&Arg::Number(5)));
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        let at = Position::file("f").field("Name", "é".repeat(500).as_bytes());
        assert_eq!(at.value.unwrap().chars().count(), 121);
    }
}
