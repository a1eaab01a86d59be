//! operator_memory.csv: one row a block.
//!
//! Written by torch_npu (15 columns now, 10 in 2023), MindSpore (the same 15, empty cells `N/A`) and msprof (`Device_id` first, totals in
//! KB). Columns are found by name, never by position; the unit is read from the name. Times are decimal µs with a trailing TAB, often
//! quoted. What cannot be used is set aside, counted and named; the other rows count.
//!
//! Rows named `cann::…` are blocks of GE, another pool with totals of its own. GE reports the total at a release *before* the block is
//! taken off it: read so, the baseline of real captures is constant. Memory that it frees without a captured allocation comes in rows
//! of negative size, in torch_npu's files without any time. msprof's table is GE's too, whatever the names; it has a Duration instead
//! of a release time.

use super::budget::{Budget, DROPPED_NAME, Folder, TextRoom};
use super::table::{Column, Numbered, Refused, TableReader, TableRows, Texts, bytes, decimal, number, optional, scaled_exactly};
use crate::error::{Position, Problem, Warning, Warnings};
use crate::scan::csv::Cells;
use crate::timeline::blocks::{Block, Blocks, BlocksBuilder, OPEN, Total, UNKNOWN};
use crate::timeline::replay::Replay;
use crate::units::{MOST_BYTES, MOST_DECIMALS, MOST_NS, MOST_TOTAL_BYTES};

/// A block of more than this is damage.
const LARGEST_BLOCK_BYTES: i64 = 1 << 40;
/// From so many decimals on a file prints its totals in full.
const FULL_DECIMALS: u8 = 8;
/// Marks a tolerance whose total is a whole number of bytes, until it is known whether the file prints totals in full.
const WHOLE: u32 = 1 << 31;

/// Whose pool a block lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pool {
    /// PyTorch's (or MindSpore's) allocator.
    Pta,
    /// The graph engine's.
    Ge,
}

impl Pool {
    /// As the profiler's files name it.
    pub fn name(self) -> &'static str {
        match self {
            Pool::Pta => "PTA",
            Pool::Ge => "GE",
        }
    }

    /// The inverse of [`Pool::name`].
    pub fn from_name(name: &str) -> Option<Pool> {
        [Pool::Pta, Pool::Ge].into_iter().find(|pool| pool.name() == name)
    }
}

/// The blocks of one pool of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceBlocks {
    /// `NPU:0`; not the rank.
    pub device: String,
    /// The pool.
    pub pool: Pool,
    /// Its blocks.
    pub blocks: Blocks,
    /// That of all blocks, where some were folded.
    pub replay: Option<Replay>,
}

/// What the file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperatorMemory {
    /// By device, then pool.
    pub devices: Vec<DeviceBlocks>,
    /// Rows read, without the header.
    pub rows_read: u64,
    /// Of these, rows that could not be used.
    pub rows_set_aside: u64,
    /// What was wrong.
    pub warnings: Vec<Warning>,
}

/// Reads the file; msprof's slices one after the other.
pub type OperatorMemoryReader = TableReader<Rows>;

/// The rows of the file, as they come in.
pub struct Rows {
    devices: Vec<DeviceRows>,
    /// Where the last row went: rows of one device follow each other.
    latest: usize,
    /// The sizes of all blocks together.
    all_bytes: i64,
    most_decimals: u8,
    empty_names: Noted,
    broken_names: Noted,
    ge_releases: u64,
    folder: Folder,
    names_room: TextRoom,
    /// Rows whose name had no room.
    dropped_names: u64,
}

impl Default for Rows {
    fn default() -> Self {
        Rows::within(None)
    }
}

/// The rows of one pool of one device.
struct DeviceRows {
    device: String,
    /// As the latest of these rows has it.
    raw_device: Vec<u8>,
    pool: Pool,
    builder: BlocksBuilder,
    names: Texts,
    streams: Texts,
}

/// How many rows have something to be noted, and where the first one is.
#[derive(Default)]
struct Noted {
    rows: u64,
    line: u64,
    byte: u64,
}

impl Noted {
    fn note(&mut self, cells: &Cells) {
        if self.rows == 0 {
            (self.line, self.byte) = (cells.line, cells.byte);
        }
        self.rows += 1;
    }

    /// The problem and its place, once for a file.
    fn take(&mut self, file: &str, problem: impl Fn(u64) -> Problem, warnings: &mut Warnings) {
        let Noted { rows, line, byte } = std::mem::take(self);
        if rows > 0 {
            warnings.push(&problem(rows), Position { field: Some("Name".to_owned()), ..Position::line(file, line, byte) });
        }
    }
}

impl OperatorMemoryReader {
    /// The columns and what was wrong.
    pub fn finish(mut self) -> OperatorMemory {
        let rows = std::mem::take(&mut self.rows);
        let full = rows.most_decimals >= FULL_DECIMALS;
        let mut devices: Vec<DeviceBlocks> = rows.devices.into_iter().map(|rows| rows.finish(full)).collect();
        devices.sort_by(|a, b| (&a.device, a.pool).cmp(&(&b.device, b.pool)));
        for folded in devices.iter().filter(|device| device.blocks.folded.is_some()) {
            self.warnings.push(&folded_problem(folded), Position::file(format!("{} ({} {})", self.file, folded.device, folded.pool.name())));
        }
        if rows.dropped_names > 0 {
            self.warnings.push(&Problem::NamesDropped { rows: rows.dropped_names }, Position::file(&self.file));
        }
        // Of what could not be read nobody knows what it holds.
        if devices.is_empty() && !self.file.is_empty() && !self.warnings.has("unreadable-file") {
            self.warnings.push(&Problem::NoBlocks, Position::file(&self.file));
        }
        OperatorMemory { devices, rows_read: self.rows_read, rows_set_aside: self.rows_set_aside, warnings: self.warnings.finish() }
    }
}

impl DeviceRows {
    /// `full`: the file prints totals in full.
    fn finish(self, full: bool) -> DeviceBlocks {
        let (mut blocks, folding) = self.builder.finish_folding();
        let columns = [&mut blocks.at_start, &mut blocks.at_end, &mut blocks.freed.totals];
        for tolerance in columns.into_iter().flat_map(|totals| &mut totals.tolerance_millibytes) {
            *tolerance = settled(*tolerance, full);
        }
        let folding = folding.filter(|folding| folding.blocks() > 0);
        let replay = folding.map(|folding| folding.finish(&mut blocks, |tolerance| settled(tolerance, full)));
        DeviceBlocks { device: self.device, pool: self.pool, blocks, replay }
    }
}

/// In a file that prints totals in full, a whole number of bytes is exact.
fn settled(tolerance: u32, full: bool) -> u32 {
    if full && tolerance & WHOLE != 0 { 0 } else { tolerance & !WHOLE }
}

/// What was folded, and how much of it there is at the peak.
fn folded_problem(DeviceBlocks { blocks, replay, .. }: &DeviceBlocks) -> Problem {
    let peak = replay.as_ref().and_then(|replay| replay.peak).unwrap_or(usize::MAX);
    let folded = blocks.folded.as_deref();
    Problem::BlocksFolded {
        blocks: folded.map_or(0, |folded| folded.blocks),
        up_to_bytes: folded.map_or(0, |folded| folded.up_to_bytes),
        peak_bytes: folded.map_or(0, |folded| folded.alive(peak, ()).bytes),
    }
}

impl TableRows for Rows {
    type Columns = Columns;

    fn columns(&self, names: &[String]) -> Result<Columns, Vec<&'static str>> {
        Columns::find(names)
    }

    fn absent(columns: &Columns) -> &[&'static str] {
        &columns.absent
    }

    fn make_room(&mut self, rows: usize) {
        if let Some(latest) = self.devices.get_mut(self.latest) {
            latest.builder.reserve(self.folder.room_for(rows));
        }
    }

    fn full(&self) -> Option<Problem> {
        self.folder.is_full.then_some(Problem::MemoryFull)
    }

    fn end(&mut self, file: &str, warnings: &mut Warnings) {
        self.empty_names.take(file, |rows| Problem::EmptyName { rows }, warnings);
        self.broken_names.take(file, |rows| Problem::NotUtf8 { rows }, warnings);
        let ge_releases = std::mem::take(&mut self.ge_releases);
        if ge_releases > 0 {
            warnings.push(&Problem::GeReleaseOnly { rows: ge_releases }, Position::file(file));
        }
    }

    fn row<'a>(&mut self, columns: &'a Columns, cells: &Cells) -> Result<(), Refused<'a>> {
        let name = bytes(cells, Some(&columns.name));
        let pool = if name.starts_with(b"cann::") || columns.is_msprof() { Pool::Ge } else { Pool::Pta };
        let device = bytes(cells, columns.device.as_ref());
        if !cells.terminated && self.devices.iter().any(|known| known.raw_device.len() > device.len() && known.raw_device.starts_with(device)) {
            return Err(Refused::row(Problem::CutFile));
        }

        let size_bytes = number(&columns.size, cells, MOST_BYTES)?;
        let start_ns = number(&columns.start, cells, MOST_NS)?;
        let end_ns = columns.end_ns(cells, start_ns)?;
        let active_end_ns = optional(columns.active_end.as_ref(), cells, MOST_NS)?;
        let at_start = self.total(&columns.at_start, cells)?;
        let mut at_end = self.total(&columns.at_end, cells)?;
        let line = u32::try_from(cells.line).unwrap_or(u32::MAX);

        let refuse = |column: &'a Column, reason| Err(column.refuse(cells, Problem::BadValue { reason }));
        let Some(size_bytes) = size_bytes else { return refuse(&columns.size, "a block needs a size") };
        if pool == Pool::Ge && at_end.allocated_bytes != UNKNOWN {
            at_end.allocated_bytes -= size_bytes.abs();
        }
        // What ends a block that has no release of its own is its return to the pool; the release totals belong to that event.
        let end_ns = end_ns.or(active_end_ns);
        match (start_ns, end_ns) {
            (None, Some(time_ns)) if pool == Pool::Ge && size_bytes < 0 => {
                self.device(device, pool).builder.push_freed(time_ns, -size_bytes, at_end);
            }
            (None, None) if pool == Pool::Ge && size_bytes < 0 => self.ge_releases += 1,
            (None, _) => return refuse(&columns.start, "a block needs an allocation time"),
            (Some(_), _) if size_bytes <= 0 => return refuse(&columns.size, "an allocation is larger than 0"),
            (Some(_), _) if size_bytes > LARGEST_BLOCK_BYTES => return refuse(&columns.size, "no block is that large"),
            (Some(_), _) if size_bytes > MOST_TOTAL_BYTES - self.all_bytes => return refuse(&columns.size, "no capture has blocks of so many bytes in all"),
            (Some(start_ns), Some(end)) if end < start_ns => return refuse(columns.end.column(), "the release lies before the allocation"),
            (Some(start_ns), _) => {
                self.all_bytes += size_bytes;
                self.device(device, pool);
                let known = &mut self.devices[self.latest];
                let room = &mut self.names_room;
                let numbered = match known.names.known(name) {
                    Some(numbered) => numbered,
                    None if name.is_empty() || room.takes(name) => known.names.number(name, |name| known.builder.name(name)),
                    None => {
                        self.dropped_names += 1;
                        Numbered { number: known.builder.name(DROPPED_NAME), broken: false }
                    }
                };
                let stream = known.streams.number(bytes(cells, columns.stream.as_ref()), |stream| known.builder.stream(stream));
                known.builder.push(&Block {
                    name: numbered.number,
                    stream: stream.number,
                    size_bytes,
                    start_ns,
                    end_ns: end_ns.unwrap_or(OPEN),
                    active_end_ns: active_end_ns.unwrap_or(UNKNOWN),
                    line,
                    at_start,
                    at_end,
                });
                if name.is_empty() {
                    self.empty_names.note(cells);
                }
                if numbered.broken {
                    self.broken_names.note(cells);
                }
                if self.folder.is_due() {
                    self.fold();
                }
            }
        }
        Ok(())
    }
}

impl Rows {
    /// With so much memory; without a limit where none is given.
    pub fn within(budget: Option<Budget>) -> Rows {
        Rows {
            devices: Vec::new(),
            latest: 0,
            all_bytes: 0,
            most_decimals: 0,
            empty_names: Noted::default(),
            broken_names: Noted::default(),
            ge_releases: 0,
            folder: Folder::new(budget.map(Budget::for_blocks)),
            names_room: TextRoom::new(budget.map(Budget::for_names)),
            dropped_names: 0,
        }
    }

    fn fold(&mut self) {
        let mut pools: Vec<&mut BlocksBuilder> = self.devices.iter_mut().map(|device| &mut device.builder).collect();
        self.folder.look(&mut pools);
    }

    fn device(&mut self, raw: &[u8], pool: Pool) -> &mut DeviceRows {
        if !self.devices.get(self.latest).is_some_and(|latest| latest.raw_device == raw && latest.pool == pool) {
            let device = String::from_utf8_lossy(raw);
            self.latest = self.devices.iter().position(|known| known.device == device && known.pool == pool).unwrap_or_else(|| {
                let (names, streams, mut builder) = (Texts::default(), Texts::default(), BlocksBuilder::default());
                if self.folder.up_to_bytes > 0 {
                    builder.fold(self.folder.up_to_bytes);
                }
                self.devices.push(DeviceRows { device: device.into_owned(), raw_device: Vec::new(), pool, builder, names, streams });
                self.devices.len() - 1
            });
            self.devices[self.latest].raw_device = raw.to_vec();
        }
        &mut self.devices[self.latest]
    }

    fn total<'a>(&mut self, columns: &'a TotalColumns, cells: &Cells) -> Result<Total, Refused<'a>> {
        let mut total = Total { reserved_bytes: optional(columns.reserved.as_ref(), cells, MOST_BYTES)?.unwrap_or(UNKNOWN), ..Total::UNKNOWN };
        total.active_bytes = optional(columns.active.as_ref(), cells, MOST_BYTES)?.unwrap_or(UNKNOWN);
        if let Some(allocated) = decimal(&columns.allocated, cells)? {
            self.most_decimals = self.most_decimals.max(allocated.decimals());
            let (bytes, whole) = scaled_exactly(&columns.allocated, cells, allocated, MOST_BYTES)?;
            total.allocated_bytes = bytes;
            total.tolerance_millibytes = columns.tolerance_millibytes[usize::from(allocated.decimals())] | if whole { WHOLE } else { 0 };
            if total.allocated_bytes < 0 {
                return Err(columns.allocated.refuse(cells, Problem::BadValue { reason: "a total is not negative" }));
            }
        }
        Ok(total)
    }
}

struct TotalColumns {
    allocated: Column,
    reserved: Option<Column>,
    active: Option<Column>,
    /// Of a total with so many decimals: half a unit of the last one, rounded up.
    tolerance_millibytes: [u32; MOST_DECIMALS + 1],
}

impl TotalColumns {
    fn new(allocated: Column, reserved: Option<Column>, active: Option<Column>) -> TotalColumns {
        let mut tolerance_millibytes = [0; MOST_DECIMALS + 1];
        for (decimals, tolerance) in (0..).zip(&mut tolerance_millibytes) {
            *tolerance = (allocated.unit * 500).div_ceil(10u64.pow(decimals)) as u32;
        }
        TotalColumns { allocated, reserved, active, tolerance_millibytes }
    }
}

/// What tells when a block was freed.
enum Release {
    Time(Column),
    /// msprof: how long it lived.
    Duration(Column),
}

impl Release {
    fn column(&self) -> &Column {
        match self {
            Release::Time(column) | Release::Duration(column) => column,
        }
    }
}

/// Where the cells of a row stand.
pub struct Columns {
    name: Column,
    size: Column,
    start: Column,
    end: Release,
    active_end: Option<Column>,
    at_start: TotalColumns,
    at_end: TotalColumns,
    stream: Option<Column>,
    device: Option<Column>,
    /// Columns without which some figure is unknown.
    absent: Vec<&'static str>,
}

impl Columns {
    /// Finds the columns by name; the error lists the required ones that are not there.
    fn find(names: &[String]) -> Result<Columns, Vec<&'static str>> {
        let find = |wanted: &str| Column::find(names, wanted);
        let mut missing = Vec::new();
        let mut require = |wanted: &'static str| {
            // msprof calls the name "Operator".
            let found = find(&wanted.to_ascii_lowercase()).or_else(|| if wanted == "Name" { find("operator") } else { None });
            if found.is_none() {
                missing.push(wanted);
            }
            found
        };
        let found = (
            require("Name"),
            require("Size"),
            require("Allocation Time"),
            find("duration")
                .filter(|_| find("release time").is_none() && find("device_id").is_some())
                .map(Release::Duration)
                .or_else(|| require("Release Time").map(Release::Time)),
            require("Allocation Total Allocated"),
            require("Release Total Allocated"),
        );
        let (Some(name), Some(size), Some(start), Some(end), Some(allocated), Some(released)) = found else { return Err(missing) };
        let columns = Columns {
            name,
            size,
            start,
            end,
            active_end: find("active release time"),
            at_start: TotalColumns::new(allocated, find("allocation total reserved"), find("allocation total active")),
            at_end: TotalColumns::new(released, find("release total reserved"), find("release total active")),
            stream: find("stream ptr"),
            device: find("device type").or_else(|| find("device")),
            absent: Vec::new(),
        };
        let mut absent = Vec::new();
        if columns.at_start.reserved.is_none() {
            absent.push("Allocation Total Reserved");
        }
        if columns.at_start.active.is_none() {
            absent.push("Allocation Total Active");
        }
        if columns.stream.is_none() {
            absent.push("Stream Ptr");
        }
        Ok(Columns { absent, ..columns })
    }
}

impl Columns {
    fn is_msprof(&self) -> bool {
        matches!(self.end, Release::Duration(_))
    }

    fn end_ns(&self, cells: &Cells, start_ns: Option<i64>) -> Result<Option<i64>, Refused<'_>> {
        let end = number(self.end.column(), cells, MOST_NS)?;
        Ok(match &self.end {
            Release::Time(_) => end,
            Release::Duration(_) => start_ns.zip(end).map(|(start, duration)| (start + duration).min(MOST_NS)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: &str = "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n";

    fn read(text: &[u8]) -> OperatorMemory {
        let mut reader = OperatorMemoryReader::default();
        reader.begin("f.csv");
        reader.feed(text);
        reader.end();
        reader.finish()
    }

    #[test]
    fn what_could_not_be_read_is_not_called_empty() {
        let mut reader = OperatorMemoryReader::default();
        reader.begin("f.csv");
        reader.fail(&Problem::UnreadableFile { reason: "no permission".to_owned() }, Position::file("f.csv"));
        reader.end();
        assert_eq!(reader.finish().warnings.iter().map(|warning| &warning.code[..]).collect::<Vec<_>>(), ["unreadable-file"]);
    }

    fn rows(rows: &str) -> OperatorMemory {
        read(format!("{NOW}{rows}").as_bytes())
    }

    fn codes(memory: &OperatorMemory) -> Vec<&str> {
        memory.warnings.iter().map(|warning| warning.code.as_str()).collect()
    }

    const GOOD: &str = "aten::add,0.5,\"10.001\t\",20.000\t,19.5\t,9.999,9.5,1.00048828125,2.0,1.00048828125,1.0,2.0,1.0,6,NPU:0\n";

    #[test]
    fn a_row_is_a_block() {
        let memory = rows(GOOD);
        assert!(memory.warnings.is_empty(), "{:?}", memory.warnings);
        let device = &memory.devices[0];
        assert_eq!((device.device.as_str(), device.pool), ("NPU:0", Pool::Pta));
        let blocks = &device.blocks;
        assert_eq!((&blocks.names, &blocks.streams), (&vec!["aten::add".to_owned()], &vec!["6".to_owned()]));
        assert_eq!((blocks.size_bytes[0], blocks.start_ns[0], blocks.end_ns[0], blocks.active_end_ns[0], blocks.line[0]), (512, 10_001, 20_000, 19_500, 2));
        assert_eq!(blocks.at_start.get(0), Total { allocated_bytes: 1_049_088, reserved_bytes: 2 << 20, active_bytes: 1_049_088, tolerance_millibytes: 0 });
    }

    #[test]
    fn a_block_without_release_ends_when_it_is_back_in_the_pool_or_not_at_all() {
        let memory = rows("a,0.5,10,,19.5,,,1,2,1,1,2,1,6,NPU:0\na,0.5,11,,,,,1,2,1,,,,6,NPU:0\n");
        assert_eq!(memory.devices[0].blocks.end_ns, [19_500, OPEN]);
        assert_eq!(memory.devices[0].blocks.at_end.allocated_bytes, [1 << 20, UNKNOWN]);
    }

    #[test]
    fn ge_has_a_pool_of_its_own_and_frees_without_allocation() {
        let memory = rows(&format!("cann::x,-4,,30.0,,,,,,,5.0,6.0,,,NPU:0\n{GOOD}cann::y,4,10,30.0,,,,9.0,9.0,,5.0,6.0,,,NPU:0\n"));
        assert!(memory.warnings.is_empty(), "{:?}", memory.warnings);
        let pools: Vec<_> = memory.devices.iter().map(|device| (device.pool, device.blocks.len())).collect();
        assert_eq!(pools, [(Pool::Pta, 1), (Pool::Ge, 1)]);
        let ge = &memory.devices[1].blocks;
        assert_eq!((&ge.freed.size_bytes[..], &ge.freed.time_ns[..]), (&[4096][..], &[30_000][..]));
        // The total at a release still holds the block.
        assert_eq!((ge.at_end.allocated_bytes[0], ge.freed.totals.allocated_bytes[0]), ((5 << 20) - 4096, (5 << 20) - 4096));
    }

    #[test]
    fn ge_rows_without_any_time_are_counted() {
        let memory = rows(&format!("cann::,-4,,,,,,,,,5.0,6.0,,,NPU:0\n{GOOD}"));
        assert_eq!((codes(&memory), memory.rows_set_aside, memory.devices.len()), (vec!["ge-release-only"], 0, 1));
    }

    #[test]
    fn columns_are_found_by_name_and_unit() {
        let text = "Device_id,Operator,Size(KB),Allocation Time(us),Duration(us),Allocation Total Allocated(KB),Allocation Total Reserved(KB),Release Total Allocated(KB),Release Total Reserved(KB),Device\n0,x,1,1,2,8,16,7,16,NPU:3\n";
        let memory = read(text.as_bytes());
        let absent: Vec<_> = memory.warnings.iter().map(|warning| (warning.code.as_str(), warning.field.as_deref().unwrap())).collect();
        assert_eq!(absent, [("missing-column", "Allocation Total Active"), ("missing-column", "Stream Ptr")]);
        assert_eq!((memory.devices[0].device.as_str(), memory.devices[0].pool, memory.devices[0].blocks.end_ns[0]), ("NPU:3", Pool::Ge, 3_000));
        assert_eq!(memory.devices[0].blocks.at_start.allocated_bytes, [8192]);
    }

    #[test]
    fn a_missing_required_column_is_named_with_those_there_are() {
        let memory = read(b"Name,Size(KB),Allocation Time(us)\nx,1,2\n");
        assert_eq!(codes(&memory), ["no-blocks", "missing-column", "missing-column", "missing-column"]);
        assert_eq!(memory.warnings[1].field.as_deref(), Some("Release Time"));
        assert!(memory.warnings[1].message.contains("it has: Name, Size(KB), Allocation Time(us)"));
    }

    #[test]
    fn bad_cells_are_set_aside_with_line_and_value() {
        let memory = rows(&format!(
            "x,abc,1,2,,,,1,1,1,1,1,1,6,NPU:0\n{GOOD}y,1,1.69512E+15,2,,,,1,1,1,1,1,1,6,NPU:0\nz,1,5,2,,,,1,1,1,1,1,1,6,NPU:0\nv,-1,,2,,,,1,1,1,1,1,1,6,NPU:0\nw,1\n"
        ));
        assert_eq!((memory.rows_read, memory.rows_set_aside), (6, 5));
        assert_eq!(codes(&memory), ["bad-value", "imprecise-time", "bad-value", "bad-value", "damaged-file"]);
        let first = &memory.warnings[0];
        assert_eq!((first.line, first.field.as_deref(), first.value.as_deref()), (Some(2), Some("Size(KB)"), Some("abc")));
        assert_eq!(memory.warnings[1].value.as_deref(), Some("1.69512E+15"));
        assert_eq!(memory.devices[0].blocks.len(), 1);
    }

    #[test]
    fn joined_files_and_decimal_commas_are_told() {
        let memory = rows(&format!("{GOOD}{NOW}{GOOD}x,\"1,5\",1,2,,,,1,1,1,1,1,1,6,NPU:0\n"));
        let reasons: Vec<_> =
            memory.warnings.iter().map(|warning| (warning.line, warning.message.contains("joined"), warning.message.contains("comma"))).collect();
        assert_eq!(reasons, [(Some(3), true, false), (Some(5), false, true)]);
    }

    #[test]
    fn a_cut_last_row_is_set_aside() {
        for cut in ["aten::mul,0.5,11", "aten::mul,0.5,11,12,12,1,1,1,2,1,1,2,1,6,NPU:"] {
            let memory = rows(&format!("{GOOD}{cut}"));
            assert_eq!((codes(&memory), memory.rows_set_aside), (vec!["cut-file"], 1), "{cut}");
        }
        // Only the line end is missing: nothing is lost.
        assert!(rows(GOOD.trim_end()).warnings.is_empty());
    }

    #[test]
    fn rows_without_a_name_count() {
        let memory = rows(&format!("{GOOD}{}{}", GOOD.replace("aten::add", ""), GOOD.replace("aten::add", " ")));
        assert_eq!((codes(&memory), memory.warnings[0].line, memory.devices[0].blocks.len()), (vec!["empty-name"], Some(3), 3));
        assert!(memory.warnings[0].message.contains("2 rows, this one first,"), "{}", memory.warnings[0].message);
    }

    #[test]
    fn a_name_in_another_encoding_counts_and_is_said() {
        let mut text = NOW.as_bytes().to_vec();
        text.extend(b"\xcb\xe3\xd7\xd3");
        text.extend(&GOOD.as_bytes()[9..]);
        let memory = read(&text);
        assert_eq!((codes(&memory), memory.warnings[0].line, memory.devices[0].blocks.len()), (vec!["not-utf8"], Some(2), 1));
    }

    #[test]
    fn a_first_line_without_cells_is_no_header() {
        for (first, word) in [(NOW.replace(',', ";"), "semicolons"), (NOW.replace(',', "\t"), "tabs"), ("# saved on Tuesday\n".to_owned(), "no header")] {
            let memory = read(format!("{first}{GOOD}").as_bytes());
            assert_eq!(codes(&memory), ["damaged-file", "no-blocks"], "{word}");
            assert!(memory.warnings[0].message.contains(word), "{}", memory.warnings[0].message);
        }
    }

    #[test]
    fn mindspore_writes_na() {
        let memory = rows("x,0.5,10,N/A,N/A,N/A,N/A,1,2,1,N/A,N/A,N/A,N/A,NPU:0\n");
        assert!(memory.warnings.is_empty());
        assert_eq!(memory.devices[0].blocks.end_ns, [OPEN]);
    }

    #[test]
    fn few_decimals_are_known_within_half_a_unit() {
        let tolerance = |text: &str| rows(text).devices[0].blocks.at_start.tolerance_millibytes[0];
        assert_eq!(tolerance("x,1,1,2,,,,19071.60547,1,1,1,1,1,6,NPU:0\n"), 5_243);
        assert_eq!(tolerance("x,1,1,2,,,,4304.0,1,1,1.00048828125,1,1,6,NPU:0\n"), 0);
        assert_eq!(tolerance("x,1,1,2,,,,4304.0,1,1,1.0,1,1,6,NPU:0\n"), 52_428_800);
    }

    #[test]
    fn other_formats_are_named() {
        for (bytes, word) in
            [(&b"{\"a\":1}"[..], "JSON"), (b"\xff\xfeN\0a\0", "UTF-16"), (b"N\0a\0", "UTF-16"), (b"<html>", "HTML"), (b"PK\x03\x04", "zip"), (b"", "empty")]
        {
            let memory = read(bytes);
            assert_eq!(memory.warnings[0].code, "damaged-file", "{word}");
            assert!(memory.warnings[0].message.contains(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_columns(text in "[a1.,\t\"N/A\r\n]{0,120}", cuts in prop::collection::vec(0usize..1000, 0..6)) {
            let whole = format!("{NOW}{GOOD}{text}");
            let bytes = whole.as_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let mut reader = OperatorMemoryReader::default();
            reader.begin("f.csv");
            let mut from = 0;
            for to in cuts {
                reader.feed(&bytes[from..to]);
                from = to;
            }
            reader.end();
            prop_assert_eq!(reader.finish(), read(bytes));
        }
    }
}
