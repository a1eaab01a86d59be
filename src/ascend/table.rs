//! A CSV table of the profiler: its header found, its rows taken or set aside, each with its reason.

use crate::error::{Position, Problem, Warnings};
use crate::scan::csv::{Cells, CsvReader, Row};
use crate::units::{Decimal, DecimalError, KIB, MIB};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Columns that grow as they are filled are copied over and over: after so many rows room is made for the rest of the file.
const ROWS_OF_ESTIMATE: u64 = 4096;
/// So many bytes tell a CSV file from another format.
const HEAD_BYTES: usize = 4;

/// What makes sense of a table.
pub trait TableRows {
    /// Where the cells of a row stand.
    type Columns;

    /// Finds the columns by their names; the error lists required ones that are not there.
    fn columns(&self, names: &[String]) -> Result<Self::Columns, Vec<&'static str>>;

    /// Columns that are not there and without which some figure is unknown.
    fn absent(_columns: &Self::Columns) -> &[&'static str] {
        &[]
    }

    /// Takes a row.
    fn row<'a>(&mut self, columns: &'a Self::Columns, cells: &Cells) -> Result<(), Refused<'a>>;

    /// Makes room for so many more rows like the latest one.
    fn make_room(&mut self, _rows: usize) {}

    /// Why no further row has room.
    fn full(&self) -> Option<Problem> {
        None
    }

    /// Ends a file.
    fn end(&mut self, _file: &str, _warnings: &mut Warnings) {}
}

/// Reads one or more files of a table.
pub struct TableReader<R: TableRows> {
    csv: CsvReader,
    /// The first bytes of the file, held back until they tell whether it is CSV at all.
    head: Vec<u8>,
    header: Option<Header<R::Columns>>,
    /// The rest of this file cannot be read.
    hopeless: bool,
    /// At which of its rows room is made for the others.
    estimate_at: u64,
    /// Bytes of the file being read, for a caller that knows.
    pub file_bytes: u64,
    /// Path of the file being read.
    pub file: String,
    /// What was made of the rows.
    pub rows: R,
    /// Rows read, without headers.
    pub rows_read: u64,
    /// Of these, rows that could not be used.
    pub rows_set_aside: u64,
    /// What was wrong.
    pub warnings: Warnings,
}

struct Header<C> {
    columns: C,
    cells: usize,
}

impl<R: TableRows + Default> Default for TableReader<R> {
    fn default() -> Self {
        TableReader {
            csv: CsvReader::new(),
            head: Vec::new(),
            header: None,
            hopeless: false,
            estimate_at: 0,
            file_bytes: 0,
            file: String::new(),
            rows: R::default(),
            rows_read: 0,
            rows_set_aside: 0,
            warnings: Warnings::default(),
        }
    }
}

impl<R: TableRows> TableReader<R> {
    /// Starts the next file.
    pub fn begin(&mut self, file: &str) {
        self.csv = CsvReader::new();
        self.head.clear();
        self.header = None;
        // A further file has no more room than the one before.
        self.hopeless = self.rows.full().is_some();
        self.file_bytes = 0;
        self.estimate_at = self.rows_read + ROWS_OF_ESTIMATE;
        self.file = file.to_owned();
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, mut chunk: &[u8]) {
        if self.head.len() < HEAD_BYTES {
            let (head, rest) = chunk.split_at(chunk.len().min(HEAD_BYTES - self.head.len()));
            self.head.extend_from_slice(head);
            chunk = rest;
            if self.head.len() < HEAD_BYTES {
                return;
            }
            if let Some(reason) = other_format(&self.head) {
                return self.damaged(reason);
            }
            self.read(&self.head.clone());
        }
        self.read(chunk);
    }

    /// Ends the file.
    pub fn end(&mut self) {
        if self.head.len() < HEAD_BYTES {
            self.read(&self.head.clone());
        }
        let mut csv = std::mem::take(&mut self.csv);
        csv.finish(&mut |row| self.take(row));
        if self.header.is_none() && !self.hopeless {
            self.damaged("the file is empty");
        }
        self.rows.end(&self.file, &mut self.warnings);
    }

    /// Notes that the file could not be read on.
    pub fn fail(&mut self, problem: &Problem, at: Position) {
        self.warnings.push(problem, at);
        self.hopeless = true;
    }

    fn read(&mut self, bytes: &[u8]) {
        if self.hopeless {
            return;
        }
        // Out of the way while its rows are taken.
        let mut csv = std::mem::take(&mut self.csv);
        csv.feed(bytes, &mut |row| self.take(row));
        self.csv = csv;
    }

    fn take(&mut self, row: Row) {
        if self.hopeless {
            return;
        }
        match row {
            Row::Bad { reason, .. } if self.header.is_none() => self.damaged(&format!("the header cannot be read: {reason}")),
            Row::Bad { line, byte, reason } => {
                self.rows_read += 1;
                self.set_aside(&Problem::DamagedFile { reason: format!("{reason}; the row was set aside") }, Position::line(&self.file, line, byte));
            }
            Row::Cells(cells) => {
                let Some(header) = &self.header else { return self.take_header(&cells) };
                self.rows_read += 1;
                if let Err(Refused(refused)) = take_cells(&mut self.rows, header, &cells) {
                    let at = Position::line(&self.file, cells.line, cells.byte);
                    let at = refused.column.map_or(at.clone(), |column| at.field(&column.name, &refused.value));
                    let problem = refused.problem;
                    self.set_aside(&problem, at);
                }
                if let Some(problem) = self.rows.full() {
                    let at = Position::line(&self.file, cells.line, cells.byte);
                    return self.fail(&problem, at);
                }
                if self.rows_read == self.estimate_at {
                    self.rows.make_room((self.file_bytes.saturating_sub(cells.byte) / (cells.byte / ROWS_OF_ESTIMATE).max(1)) as usize);
                }
            }
        }
    }

    fn take_header(&mut self, cells: &Cells) {
        let names: Vec<String> = (0..cells.len()).map(|i| String::from_utf8_lossy(cells.get(i)).trim().to_owned()).collect();
        if let Some(reason) = no_header(&names) {
            return self.damaged(reason);
        }
        let (missing, required) = match self.rows.columns(&names) {
            Ok(columns) => {
                let absent = R::absent(&columns).to_vec();
                self.header = Some(Header { columns, cells: cells.len() });
                (absent, false)
            }
            Err(missing) => {
                self.hopeless = true;
                (missing, true)
            }
        };
        for name in missing {
            let at = Position { field: Some(name.to_owned()), ..Position::line(&self.file, cells.line, cells.byte) };
            self.warnings.push(&Problem::MissingColumn { required, present: names.clone() }, at);
        }
    }

    fn set_aside(&mut self, problem: &Problem, at: Position) {
        self.rows_set_aside += 1;
        self.warnings.push(problem, at);
    }

    fn damaged(&mut self, reason: &str) {
        self.fail(&Problem::DamagedFile { reason: reason.to_owned() }, Position::file(&self.file));
    }
}

fn take_cells<'a, R: TableRows>(rows: &mut R, header: &'a Header<R::Columns>, cells: &Cells) -> Result<(), Refused<'a>> {
    let extra = (header.cells..cells.len()).any(|i| !cells.get(i).trim_ascii().is_empty());
    if cells.len() < header.cells && !cells.terminated {
        return Err(Refused::row(Problem::CutFile));
    }
    if cells.len() < header.cells || extra {
        return Err(Refused::row(Problem::CellCount { cells: cells.len() as u64, header: header.cells as u64 }));
    }
    rows.row(&header.columns, cells)
}

/// Why a row is set aside. In a box: nearly every answer is another.
pub struct Refused<'a>(Box<Refusal<'a>>);

struct Refusal<'a> {
    problem: Problem,
    column: Option<&'a Column>,
    value: Vec<u8>,
}

impl Refused<'_> {
    /// The row as a whole.
    pub fn row(problem: Problem) -> Refused<'static> {
        Refused(Box::new(Refusal { problem, column: None, value: Vec::new() }))
    }
}

/// A file that is something else, by its first bytes.
fn other_format(start: &[u8]) -> Option<&'static str> {
    const UTF_16: &str = "the text is UTF-16; save it as UTF-8, or take the file that the profiler wrote";
    match start {
        [b'P', b'K', 3, 4, ..] => Some("this is a zip archive or a spreadsheet; take the file that the profiler wrote"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(UTF_16),
        [a, 0, b, 0] | [0, a, 0, b] if *a > 0 && *b > 0 => Some(UTF_16),
        [b'{' | b'[', ..] => Some("this is JSON, not CSV; take the file that the profiler wrote"),
        [0x89, b'P', b'N', b'G'] | [0, ..] | [_, 0, ..] | [_, _, 0, ..] | [_, _, _, 0, ..] => Some("this is no text; take the file that the profiler wrote"),
        [b'<', ..] => Some("this is HTML or XML, not CSV; take the file that the profiler wrote"),
        _ => None,
    }
}

/// What a first line is that holds no cells.
fn no_header(names: &[String]) -> Option<&'static str> {
    let [only] = names else { return None };
    match only.as_str() {
        text if text.contains(';') => Some("semicolons stand between the cells, as some spreadsheets write them; take the file that the profiler wrote"),
        text if text.contains('\t') => Some("tabs stand between the cells; take the file that the profiler wrote"),
        _ => Some("the first line is no header; take the file that the profiler wrote"),
    }
}

/// A cell that is text; empty where there is no such column.
#[inline]
pub fn bytes<'a>(cells: &Cells<'a>, column: Option<&Column>) -> &'a [u8] {
    column.map_or(b"", |column| cells.get(column.at).trim_ascii())
}

/// Numbers of the texts of a column. Rows repeat them: one that was seen is known by its bytes.
#[derive(Default)]
pub struct Texts {
    numbers: FxHashMap<Vec<u8>, Numbered>,
}

/// A text's number, and whether it is no UTF-8.
#[derive(Clone, Copy)]
pub struct Numbered {
    /// As `intern` gave it.
    pub number: u32,
    /// Its bytes are no UTF-8.
    pub broken: bool,
}

impl Texts {
    /// The number of a text that was seen.
    #[inline]
    pub fn known(&self, bytes: &[u8]) -> Option<Numbered> {
        self.numbers.get(bytes).copied()
    }

    /// The number of a text; `intern` is asked for that of a new one.
    #[inline]
    pub fn number(&mut self, bytes: &[u8], intern: impl FnOnce(&str) -> u32) -> Numbered {
        if let Some(&known) = self.numbers.get(bytes) {
            return known;
        }
        let text = String::from_utf8_lossy(bytes);
        let new = Numbered { number: intern(&text), broken: matches!(text, Cow::Owned(_)) };
        self.numbers.insert(bytes.to_vec(), new);
        new
    }
}

/// A cell as it is written; `None` where it is empty.
#[inline(always)]
pub fn decimal<'a>(column: &'a Column, cells: &Cells) -> Result<Option<Decimal>, Refused<'a>> {
    let (text, length) = cells.and_beyond(column.at);
    Decimal::parse_before(text, length).map_err(|error| column.no_number(cells, error))
}

/// A cell in nanoseconds or bytes; `None` where it is empty.
#[inline]
pub fn number<'a>(column: &'a Column, cells: &Cells, most: i64) -> Result<Option<i64>, Refused<'a>> {
    decimal(column, cells)?.map(|decimal| scaled(column, cells, decimal, most)).transpose()
}

/// The number in nanoseconds or bytes.
#[inline]
pub fn scaled<'a>(column: &'a Column, cells: &Cells, decimal: Decimal, most: i64) -> Result<i64, Refused<'a>> {
    scaled_exactly(column, cells, decimal, most).map(|(value, _)| value)
}

/// As [`scaled`], and whether nothing was rounded.
#[inline]
pub fn scaled_exactly<'a>(column: &'a Column, cells: &Cells, decimal: Decimal, most: i64) -> Result<(i64, bool), Refused<'a>> {
    let in_range = |&(value, _): &(i64, bool)| value.unsigned_abs() <= most.unsigned_abs() && !(column.is_time && value < 0);
    decimal.times_exactly(column.unit).filter(in_range).ok_or_else(|| column.refuse(cells, Problem::BadValue { reason: "out of range" }))
}

/// As [`number`], of a column that may not be there.
#[inline]
pub fn optional<'a>(column: Option<&'a Column>, cells: &Cells, most: i64) -> Result<Option<i64>, Refused<'a>> {
    column.map_or(Ok(None), |column| number(column, cells, most))
}

/// A column that is there.
pub struct Column {
    /// As the header writes it.
    name: String,
    /// Which cell of a row.
    pub at: usize,
    /// How many nanoseconds or bytes one of its units is.
    pub unit: u64,
    is_time: bool,
}

impl Column {
    /// The column of a name, in lower case and without its unit.
    pub fn find(names: &[String], wanted: &str) -> Option<Column> {
        names.iter().enumerate().find_map(|(at, name)| Column::read(name, at, wanted))
    }

    #[cold]
    fn no_number<'a>(&'a self, cells: &Cells, error: DecimalError) -> Refused<'a> {
        let value = cells.get(self.at);
        let problem = match error {
            DecimalError::Scientific if self.is_time => Problem::ImpreciseTime,
            DecimalError::Scientific => Problem::BadValue { reason: "scientific notation: its digits are gone" },
            DecimalError::NotANumber if value.trim_ascii() == self.name.as_bytes() => {
                Problem::BadValue { reason: "the header stands here once more: two files were joined" }
            }
            DecimalError::NotANumber if memchr::memchr(b',', value).is_some() => {
                Problem::BadValue { reason: "a comma in a number, as some spreadsheets write it; take the file that the profiler wrote" }
            }
            DecimalError::NotANumber => Problem::BadValue { reason: "not a number" },
            DecimalError::OutOfRange => Problem::BadValue { reason: "out of range" },
        };
        self.refuse(cells, problem)
    }

    /// Refuses this column's cell.
    pub fn refuse<'a>(&'a self, cells: &Cells, problem: Problem) -> Refused<'a> {
        Refused(Box::new(Refusal { problem, column: Some(self), value: cells.get(self.at).to_vec() }))
    }

    /// Reads `Size(KB)`: `wanted` is the part before the unit, in lower case.
    fn read(name: &str, at: usize, wanted: &str) -> Option<Column> {
        let lower = name.to_ascii_lowercase();
        let (before, unit) = match lower.split_once('(') {
            Some((before, rest)) => (before.trim_end(), rest.trim_end().strip_suffix(')')?),
            None => (lower.as_str(), ""),
        };
        let (unit, is_time) = match unit.trim() {
            "" => (1, false),
            "b" => (1, false),
            "kb" => (KIB, false),
            "mb" => (MIB, false),
            "ns" => (1, true),
            "us" => (1_000, true),
            "ms" => (1_000_000, true),
            _ => return None,
        };
        (before == wanted).then(|| Column { name: name.to_owned(), at, unit, is_time })
    }
}
