//! Finds the captures in a list of paths.
//!
//! ```text
//! <any depth>/[role/]<host>_<pid>_<time>_ascend_pt/
//!     profiler_info_<rank>.json | profiler_info.json
//!     profiler_metadata.json
//!     ASCEND_PROFILER_OUTPUT/operator_memory.csv, trace_view.json, memory_record.csv, npu_module_mem.csv
//! PROF_<…>/mindstudio_profiler_output/operator_memory_<…>[_slice_N].csv          (msprof)
//! ```
//!
//! (torch_npu's profiler and msprof write these layouts.) Loose files that were picked one by one make a capture too.

use crate::error::{Position, Problem, Warning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const OUTPUT_FOLDERS: [&str; 2] = ["ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output"];

/// The files of one capture, as indices into the list of paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct CaptureFiles {
    /// Path of the capture's folder below what was opened.
    pub source: String,
    /// The role, if only the parent folder tells it.
    pub role: Option<String>,
    /// When it was captured, from the folder's name.
    pub capture_time: Option<String>,
    /// The rank, from the name of profiler_info_<rank>.json.
    pub rank: Option<i64>,
    /// operator_memory.csv, or msprof's slices of it in order; empty when there is none.
    pub operator_memory: Vec<usize>,
    /// profiler_info_<rank>.json.
    pub profiler_info: Option<usize>,
    /// profiler_metadata.json.
    pub profiler_metadata: Option<usize>,
    /// trace_view.json.
    pub trace: Option<usize>,
    /// memory_record.csv.
    pub memory_record: Option<usize>,
    /// npu_module_mem.csv.
    pub npu_module_mem: Option<usize>,
    /// What is missing or unclear.
    pub warnings: Vec<Warning>,
}

impl CaptureFiles {
    /// All files that are read of it.
    pub fn files(&self) -> impl Iterator<Item = usize> {
        let others = [self.profiler_info, self.profiler_metadata, self.trace, self.memory_record, self.npu_module_mem];
        self.operator_memory.iter().copied().chain(others.into_iter().flatten())
    }
}

/// What lies in one folder, before it is known what that means.
#[derive(Default)]
struct Folder {
    files: CaptureFiles,
    infos: Vec<(Option<i64>, usize)>,
    /// `.db` exports.
    databases: Vec<usize>,
    /// `PROF_*` or `FRAMEWORK` below it: the raw data of a capture.
    raw: bool,
    /// An output folder below it.
    analysed: bool,
    /// Tables, when they are no slices of one.
    tables: Vec<usize>,
    /// Files that lie there packed, too: the one that is not read, and the one that is.
    twice: Vec<(usize, usize)>,
}

impl Folder {
    /// Takes a file of which there is one; an unpacked one is preferred.
    fn put(&mut self, slot: fn(&mut CaptureFiles) -> &mut Option<usize>, index: usize, packed: bool) {
        let slot = slot(&mut self.files);
        match *slot {
            Some(before) if packed => self.twice.push((index, before)),
            Some(before) => {
                self.twice.push((before, index));
                *slot = Some(index);
            }
            None => *slot = Some(index),
        }
    }

    /// Leaves a packed table out that lies there unpacked.
    fn drop_packed_tables<P: AsRef<str>>(&mut self, paths: &[P]) {
        let tables = std::mem::take(&mut self.tables);
        let unpacked = |index: usize| tables.iter().copied().find(|&other| Some(paths[other].as_ref()) == paths[index].as_ref().strip_suffix(".gz"));
        for &index in &tables {
            match unpacked(index) {
                Some(other) => self.twice.push((index, other)),
                None => self.tables.push(index),
            }
        }
    }
}

/// Finds every capture, sorted by source. A folder that looks like one but cannot be opened is listed too, with a warning that says why.
///
/// ```
/// let found = oomscope::ascend::discover::discover(&["job/actor/h_1_20260526_085155_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv"]);
/// assert_eq!(found[0].role.as_deref(), Some("actor"));
/// assert_eq!(found[0].capture_time.as_deref(), Some("2026-05-26T08:51:55"));
/// ```
pub fn discover<P: AsRef<str>>(paths: &[P]) -> Vec<CaptureFiles> {
    let mut folders: BTreeMap<&str, Folder> = BTreeMap::new();
    for (index, path) in paths.iter().enumerate() {
        place(&mut folders, path.as_ref(), index);
    }
    let with_tables: Vec<&str> = folders.iter().filter(|(_, folder)| !folder.tables.is_empty()).map(|(&path, _)| path).collect();
    // msprof's tables lie inside PROF_*: the folder above it is then no raw capture.
    folders.retain(|path, folder| !folder.raw || !folder.tables.is_empty() || !with_tables.iter().any(|table| is_below(table, path)));
    let mut captures: Vec<CaptureFiles> = folders.into_iter().flat_map(|(path, folder)| captures_of(path, folder, paths)).collect();
    captures.sort_by(|a, b| a.source.cmp(&b.source));
    captures
}

/// Notes one path in the folder of its capture.
fn place<'a>(folders: &mut BTreeMap<&'a str, Folder>, path: &'a str, index: usize) {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    // Some tools unpack a file into a folder of its name.
    let parent = if last(parent) == name { parent.rsplit_once('/').map_or("", |(above, _)| above) } else { parent };
    if let Some(raw) = raw_capture(path) {
        folders.entry(raw).or_default().raw = true;
    }
    let in_output = OUTPUT_FOLDERS.contains(&last(parent));
    // A dropped output folder stands for its capture; a table of msprof belongs to the PROF folder above.
    let home = if in_output { parent.rsplit_once('/').map_or(parent, |(above, _)| above) } else { parent };
    let mut note = |add: &dyn Fn(&mut Folder)| add(folders.entry(home).or_default());
    if last(parent) == OUTPUT_FOLDERS[0] {
        note(&|folder| folder.analysed = true);
    }
    let packed = name.ends_with(".gz");
    match name {
        "profiler_metadata.json" => note(&|folder| folder.files.profiler_metadata = Some(index)),
        "trace_view.json" | "trace_view.json.gz" => note(&|folder| folder.put(|files| &mut files.trace, index, packed)),
        "memory_record.csv" | "memory_record.csv.gz" => note(&|folder| folder.put(|files| &mut files.memory_record, index, packed)),
        "npu_module_mem.csv" | "npu_module_mem.csv.gz" => note(&|folder| folder.put(|files| &mut files.npu_module_mem, index, packed)),
        _ if is_operator_memory(name) => note(&|folder| folder.tables.push(index)),
        _ if name.starts_with("ascend_") && name.ends_with(".db") => note(&|folder| folder.databases.push(index)),
        _ => {
            if let Some(rank) = info_rank(name) {
                note(&|folder| folder.infos.push((rank, index)));
            }
        }
    }
}

/// Turns a folder into its captures: none where nothing in it speaks of a capture.
fn captures_of<P: AsRef<str>>(path: &str, mut folder: Folder, paths: &[P]) -> Vec<CaptureFiles> {
    folder.drop_packed_tables(paths);
    let mut files = std::mem::take(&mut folder.files);
    let name = last(path);
    let looks_like_one = name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms") || (folder.analysed && !folder.raw) || !folder.databases.is_empty();
    if folder.tables.is_empty() && !folder.raw && !looks_like_one {
        return Vec::new();
    }
    files.source = path.to_owned();
    files.capture_time = capture_time(name);
    files.role = path.rsplit_once('/').map(|(above, _)| last(above).to_owned());
    take_info(&mut files, folder.infos, paths);
    for (index, other) in folder.twice {
        let problem = Problem::DuplicateFile { taken: last(paths[other].as_ref()).to_owned() };
        files.warnings.push(Warning::new(&problem, Position::file(paths[index].as_ref())));
    }
    if folder.tables.is_empty() {
        let (problem, at) = match folder.databases.first() {
            Some(&database) => (Problem::UnsupportedExport { snapshot: false }, paths[database].as_ref()),
            None if folder.raw && !folder.analysed => (Problem::NotAnalysed, path),
            None => (Problem::NoOperatorMemory { off: false }, path),
        };
        files.warnings.push(Warning::new(&problem, Position::file(at)));
        return vec![files];
    }
    tables(folder.tables, paths).into_iter().map(|operator_memory| with_table(&files, operator_memory, paths)).collect()
}

/// The slices of one table stay together, in order; any other table beside it is a capture of its own.
fn tables<P: AsRef<str>>(mut indices: Vec<usize>, paths: &[P]) -> Vec<Vec<usize>> {
    indices.sort_by_key(|&index| slice_of(last(paths[index].as_ref())));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in indices {
        let (stem, slice) = slice_of(last(paths[index].as_ref()));
        match groups.last_mut() {
            Some(group) if slice.is_some() && slice_of(last(paths[group[0]].as_ref())).0 == stem => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    groups
}

fn with_table<P: AsRef<str>>(files: &CaptureFiles, operator_memory: Vec<usize>, paths: &[P]) -> CaptureFiles {
    let mut files = CaptureFiles { operator_memory, ..files.clone() };
    // Loose files have no folder to be named after.
    if files.source.is_empty() {
        files.source = paths[files.operator_memory[0]].as_ref().to_owned();
    }
    let missing = [
        (files.trace.is_none(), Problem::MissingTrace { off: false }),
        (files.profiler_metadata.is_none(), Problem::MissingMetadata),
        (files.memory_record.is_none() && files.npu_module_mem.is_none(), Problem::MissingMemoryRecord),
    ];
    for (_, problem) in missing.iter().filter(|(is_missing, _)| *is_missing) {
        files.warnings.push(Warning::new(problem, Position::file(&files.source)));
    }
    files
}

fn take_info<P: AsRef<str>>(files: &mut CaptureFiles, mut infos: Vec<(Option<i64>, usize)>, paths: &[P]) {
    // A name without a rank comes after those with one.
    infos.sort_by_key(|&(rank, index)| (rank.is_none(), rank, index));
    let Some(&(rank, index)) = infos.first() else { return };
    files.rank = rank;
    files.profiler_info = Some(index);
    if let (Some(taken), 2..) = (rank, infos.len()) {
        files.warnings.push(Warning::new(&Problem::DuplicateRank { taken }, Position::file(paths[index].as_ref())));
    }
}

/// The folder of a raw capture that holds this path: the one above `PROF_*` or `FRAMEWORK`.
fn raw_capture(path: &str) -> Option<&str> {
    let mut start = 0;
    for part in path.split('/') {
        let is_folder = start + part.len() < path.len();
        if is_folder && (part.starts_with("PROF_") || part == "FRAMEWORK") {
            let above = path[..start].trim_end_matches('/');
            // A dropped PROF_* folder is all there is.
            return Some(if above.is_empty() { &path[..start + part.len()] } else { above });
        }
        start += part.len() + 1;
    }
    None
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn is_operator_memory(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    name == "operator_memory.csv" || (name.starts_with("operator_memory_") && name.ends_with(".csv"))
}

/// `operator_memory_2024_slice_3.csv` → (`operator_memory_2024`, 3).
fn slice_of(name: &str) -> (&str, Option<u64>) {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let stem = name.strip_suffix(".csv").unwrap_or(name);
    match stem.rsplit_once("_slice_").map(|(before, number)| (before, number.parse())) {
        Some((before, Ok(number))) => (before, Some(number)),
        _ => (stem, None),
    }
}

/// `profiler_info_3.json` → `Some(Some(3))`, `profiler_info.json` → `Some(None)`, another file → `None`.
fn info_rank(name: &str) -> Option<Option<i64>> {
    let middle = name.strip_prefix("profiler_info")?.strip_suffix(".json")?;
    if middle.is_empty() { Some(None) } else { middle.strip_prefix('_')?.parse().ok().filter(|&rank| rank >= 0).map(Some) }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `…_20260526_085155_…` or `…_20260526085155123_…` → ISO 8601 without a zone.
fn capture_time(folder: &str) -> Option<String> {
    let parts: Vec<&str> = folder.split('_').collect();
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().enumerate().rev().find_map(|(at, part)| {
        let joined = match parts.get(at + 1) {
            Some(time) if digits(part, 8) && digits(time, 6) => format!("{part}{time}"),
            _ if digits(part, 14) || digits(part, 17) => (*part).to_owned(),
            _ => return None,
        };
        iso(&joined)
    })
}

fn iso(digits: &str) -> Option<String> {
    let number = |from: usize, to: usize| digits[from..to].parse::<u32>().ok();
    let valid = (1..=12).contains(&number(4, 6)?) && (1..=31).contains(&number(6, 8)?) && number(8, 10)? < 24 && number(10, 12)? < 60 && number(12, 14)? < 61;
    let fraction = if digits.len() > 14 { format!(".{}", &digits[14..]) } else { String::new() };
    let date = format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..8]);
    valid.then(|| format!("{date}T{}:{}:{}{fraction}", &digits[8..10], &digits[10..12], &digits[12..14]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(capture: &CaptureFiles) -> Vec<&str> {
        capture.warnings.iter().map(|warning| warning.code.as_str()).collect()
    }

    #[test]
    fn a_folder_of_roles_and_ranks() {
        let paths = [
            "job/ref/b_2_20260526085155123_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
            "job/actor/a_1_20260526_085155_ascend_pt/profiler_info_4.json",
            "job/actor/a_1_20260526_085155_ascend_pt/profiler_metadata.json",
            "job/actor/a_1_20260526_085155_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
            "job/actor/a_1_20260526_085155_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
            "job/notes.txt",
        ];
        let found = discover(&paths);
        assert_eq!(found.len(), 2);
        let actor = &found[0];
        assert_eq!(actor.source, "job/actor/a_1_20260526_085155_ascend_pt");
        assert_eq!((actor.role.as_deref(), actor.rank, &actor.operator_memory[..], actor.trace), (Some("actor"), Some(4), &[3][..], Some(4)));
        assert_eq!(codes(actor), ["missing-memory-record"]);
        assert_eq!(found[1].capture_time.as_deref(), Some("2026-05-26T08:51:55.123"));
        assert_eq!(codes(&found[1]), ["missing-trace", "missing-metadata", "missing-memory-record"]);
    }

    #[test]
    fn the_parent_counts_only_inside_what_was_opened() {
        let found = discover(&["rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv"]);
        assert_eq!((found[0].source.as_str(), found[0].role.as_deref()), ("rank0_ascend_pt", None));
        let found = discover(&["ASCEND_PROFILER_OUTPUT/operator_memory.csv"]);
        assert_eq!(found[0].source, "ASCEND_PROFILER_OUTPUT");
    }

    #[test]
    fn loose_files_make_one_capture() {
        let found = discover(&["trace_view.json", "operator_memory.csv", "profiler_info_2.json"]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].source.as_str(), found[0].rank, found[0].trace), ("operator_memory.csv", Some(2), Some(0)));
    }

    #[test]
    fn two_info_files_warn_and_the_lower_rank_is_taken() {
        let found = discover(&["r/profiler_info_7.json", "r/profiler_info_2.json", "r/operator_memory.csv"]);
        assert_eq!(found[0].rank, Some(2));
        assert!(codes(&found[0]).contains(&"duplicate-rank"));
    }

    #[test]
    fn raw_captures_and_other_exports_are_named() {
        let found = discover(&["x_ascend_pt/PROF_000001/device_0/data", "x_ascend_pt/FRAMEWORK/torch.memory_usage", "x_ascend_pt/profiler_info_0.json"]);
        assert_eq!((found.len(), codes(&found[0])), (1, vec!["not-analysed"]));
        assert!(found[0].warnings[0].message.contains("analyse(\"x_ascend_pt\")"));
        let found = discover(&["x_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db", "x_ascend_pt/PROF_1/d"]);
        assert_eq!(codes(&found[0]), ["unsupported-export"]);
        let found = discover(&["x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"]);
        assert_eq!(codes(&found[0]), ["no-operator-memory"]);
        assert_eq!(codes(&discover(&["PROF_1/host/data"])[0]), ["not-analysed"]);
    }

    #[test]
    fn an_analysed_capture_keeps_its_raw_folders() {
        let found = discover(&["x_ascend_pt/PROF_1/device_0/data", "x_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv"]);
        assert_eq!((found.len(), found[0].operator_memory.len()), (1, 1));
    }

    #[test]
    fn msprof_slices_stay_together() {
        let output = "PROF_1/mindstudio_profiler_output/operator_memory_2024";
        let paths = [format!("{output}_slice_10.csv"), format!("{output}_slice_2.csv")];
        let found = discover(&paths);
        assert_eq!((found[0].source.as_str(), &found[0].operator_memory[..]), ("PROF_1", &[1, 0][..]));
        let found = discover(&paths.map(|path| format!("job/{path}")));
        assert_eq!((found.len(), found[0].source.as_str()), (1, "job/PROF_1"));
    }

    #[test]
    fn packed_tables_are_tables() {
        let found = discover(&["r_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv.gz", "r_ascend_pt/ASCEND_PROFILER_OUTPUT/memory_record.csv.gz"]);
        assert_eq!((&found[0].operator_memory[..], found[0].memory_record), (&[0][..], Some(1)));
    }

    #[test]
    fn of_a_file_and_its_archive_one_is_read_and_the_other_named() {
        let paths = ["operator_memory.csv.gz", "operator_memory.csv", "trace_view.json", "trace_view.json.gz"];
        let found = discover(&paths.map(|name| format!("r_ascend_pt/ASCEND_PROFILER_OUTPUT/{name}")));
        assert_eq!((found.len(), &found[0].operator_memory[..], found[0].trace), (1, &[1][..], Some(2)));
        let twice: Vec<_> = found[0].warnings.iter().filter(|warning| warning.code == "duplicate-file").map(|warning| warning.file.as_str()).collect();
        assert_eq!(twice, ["r_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json.gz", "r_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv.gz"]);
    }

    #[test]
    fn a_folder_named_like_the_file_in_it_is_no_folder() {
        let found = discover(&["r_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv/operator_memory.csv", "r_ascend_pt/profiler_info_3.json"]);
        assert_eq!((found.len(), found[0].source.as_str(), found[0].rank), (1, "r_ascend_pt", Some(3)));
    }

    #[test]
    fn nothing_of_interest() {
        assert!(discover(&["a/b.txt", "c.xplane.pb", "trace_view.json"]).is_empty());
        assert!(discover::<&str>(&[]).is_empty());
    }

    #[test]
    fn a_time_must_be_one() {
        assert_eq!(capture_time("h_437675_20269926_085155_ascend_pt"), None);
        assert_eq!(capture_time("h_20260526_ascend_pt"), None);
    }
}
