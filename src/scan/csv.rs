//! CSV, a line at a time.
//!
//! No profiler writes a line end inside a cell, so a line end always ends a row: an unclosed quote spoils its own row and nothing after
//! it, and every row has a line number and a byte offset. Where quotes only enclose whole cells, a line is split at the commas outside
//! them, 64 bytes at a time; any other line is read by csv-core.

use super::masks::{BLOCK, csv_masks, running_parity};
use csv_core::{ReadRecordResult, Reader};

/// Longer lines are no rows of any profiler; they are skipped without being kept.
const LONGEST_LINE: usize = 1 << 20;

/// Splits what it is fed into rows.
pub struct CsvReader {
    /// Made when it is first needed: its table takes time.
    core: Option<Box<Reader>>,
    /// The start of a line whose end has not come yet.
    partial: Vec<u8>,
    /// How much has gone by of a line that is too long.
    skipped: Option<u64>,
    line: u64,
    byte: u64,
    /// Where the cells of a row stand.
    bounds: Vec<Bounds>,
    /// What csv-core makes of a line.
    cells: Vec<u8>,
    ends: Vec<usize>,
}

/// From where to where a cell goes.
type Bounds = (u32, u32);

/// What a line turned out to be.
pub enum Row<'a> {
    /// Cells.
    Cells(Cells<'a>),
    /// Not a row: why, in words.
    Bad {
        /// From 1.
        line: u64,
        /// Where the line starts.
        byte: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// The cells of one row, unquoted.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    /// From 1.
    pub line: u64,
    /// Where the line starts.
    pub byte: u64,
    /// False for a last line without a line end: it may have been cut.
    pub terminated: bool,
    text: &'a [u8],
    bounds: &'a [Bounds],
}

impl<'a> Cells<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// One cell; empty where the row has no such cell.
    pub fn get(&self, index: usize) -> &'a [u8] {
        self.bounds.get(index).map_or(b"", |&(start, end)| &self.text[start as usize..end as usize])
    }

    /// What follows from one cell's first byte on, and the cell's length: short numbers are read faster where more bytes may be read.
    #[inline]
    pub fn and_beyond(&self, index: usize) -> (&'a [u8], usize) {
        self.bounds.get(index).map_or((b"", 0), |&(start, end)| (&self.text[start as usize..], (end - start) as usize))
    }
}

impl Default for CsvReader {
    fn default() -> Self {
        CsvReader::new()
    }
}

impl CsvReader {
    /// A reader at the start of a file.
    pub fn new() -> CsvReader {
        CsvReader { core: None, partial: Vec::new(), skipped: None, line: 1, byte: 0, bounds: Vec::new(), cells: Vec::new(), ends: Vec::new() }
    }

    /// Takes the next bytes of the file and hands every row that is complete to `each`.
    pub fn feed(&mut self, mut chunk: &[u8], each: &mut dyn FnMut(Row)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end + 1);
            if self.partial.is_empty() && self.skipped.is_none() {
                self.row(line, true, each);
            } else {
                self.keep(line);
                let whole = std::mem::take(&mut self.partial);
                self.row(&whole, true, each);
                self.partial = whole;
                self.partial.clear();
            }
            chunk = rest;
        }
        self.keep(chunk);
    }

    /// Ends the file: a last line without a line end is a row too.
    pub fn finish(&mut self, each: &mut dyn FnMut(Row)) {
        if !self.partial.is_empty() || self.skipped.is_some() {
            let whole = std::mem::take(&mut self.partial);
            self.row(&whole, false, each);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        if self.skipped.is_some() || self.partial.len() + part.len() > LONGEST_LINE {
            // Its length still counts for the offsets of what follows.
            *self.skipped.get_or_insert(0) += (self.partial.len() + part.len()) as u64;
            self.partial.clear();
        } else {
            self.partial.extend_from_slice(part);
        }
    }

    fn row(&mut self, line: &[u8], terminated: bool, each: &mut dyn FnMut(Row)) {
        let (number, byte) = (self.line, self.byte);
        self.line += 1;
        let skipped = self.skipped.take();
        self.byte += line.len() as u64 + skipped.unwrap_or(0);
        if skipped.is_some() || line.len() > LONGEST_LINE {
            return each(Row::Bad { line: number, byte, reason: "the line is longer than 1 MiB" });
        }
        let mut text = line.strip_suffix(b"\n").unwrap_or(line);
        text = text.strip_suffix(b"\r").unwrap_or(text);
        if number == 1 {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        if text.is_empty() {
            return;
        }
        let shape = self.split(text);
        if shape.returns {
            return each(Row::Bad { line: number, byte, reason: "a carriage return stands inside the row: lines must end with a line feed" });
        }
        if shape.quotes % 2 == 1 {
            return each(Row::Bad { line: number, byte, reason: "a quote is not closed" });
        }
        let mut cells = text;
        if shape.quotes > 0 && !self.unquote(text) {
            self.split_by_core(text);
            cells = &self.cells;
        }
        each(Row::Cells(Cells { line: number, byte, terminated, text: cells, bounds: &self.bounds }));
    }

    /// Splits a line at the commas outside quotes.
    fn split(&mut self, text: &[u8]) -> Shape {
        self.bounds.clear();
        let mut shape = Shape { quotes: 0, returns: false };
        let (mut start, mut open) = (0, 0);
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        for (nth, block) in blocks.iter().chain([&last]).enumerate() {
            let found = csv_masks(block);
            shape.returns |= found.returns != 0;
            let mut commas = found.commas;
            if found.quotes | open != 0 {
                shape.quotes += found.quotes.count_ones();
                let inside = running_parity(found.quotes) ^ open;
                open = ((inside as i64) >> 63) as u64;
                commas &= !inside;
            }
            while commas != 0 {
                let comma = (nth * BLOCK) as u32 + commas.trailing_zeros();
                self.bounds.push((start, comma));
                start = comma + 1;
                commas &= commas - 1;
            }
        }
        self.bounds.push((start, text.len() as u32));
        shape
    }

    /// Takes off the quotes that enclose cells; false where there are others.
    fn unquote(&mut self, text: &[u8]) -> bool {
        self.bounds.iter_mut().all(|(start, end)| {
            let cell = &text[*start as usize..*end as usize];
            let bare = match cell {
                [b'"', inside @ .., b'"'] => {
                    *start += 1;
                    *end -= 1;
                    inside
                }
                _ => cell,
            };
            memchr::memchr(b'"', bare).is_none()
        })
    }

    fn split_by_core(&mut self, text: &[u8]) {
        self.cells.resize(text.len().max(64), 0);
        self.ends.resize(self.ends.capacity().max(32), 0);
        // Not Reader::default(): that one leaves its table unbuilt and hangs.
        let core = self.core.get_or_insert_with(|| Box::new(Reader::new()));
        core.reset();
        let (mut input, mut written, mut cells) = (text, 0, 0);
        loop {
            let (result, read, wrote, ended) = core.read_record(input, &mut self.cells[written..], &mut self.ends[cells..]);
            input = &input[read..];
            written += wrote;
            cells += ended;
            match result {
                // Once the line is used up, the next, empty call tells csv-core that the row ends.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::Record | ReadRecordResult::End => break,
            }
        }
        let starts = [0].iter().chain(&self.ends[..cells]);
        self.bounds.clear();
        self.bounds.extend(starts.zip(&self.ends[..cells]).map(|(&start, &end)| (start as u32, end as u32)));
    }
}

/// What is in a line.
struct Shape {
    quotes: u32,
    returns: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Seen = Vec<(u64, u64, bool, Vec<String>)>;

    fn rows(chunks: &[&[u8]]) -> Seen {
        let mut seen = Seen::new();
        let mut each = |row: Row| match row {
            Row::Cells(cells) => {
                let texts = (0..cells.len()).map(|i| String::from_utf8_lossy(cells.get(i)).into_owned()).collect();
                seen.push((cells.line, cells.byte, cells.terminated, texts));
            }
            Row::Bad { line, byte, reason } => seen.push((line, byte, false, vec![format!("bad: {reason}")])),
        };
        let mut reader = CsvReader::new();
        for chunk in chunks {
            reader.feed(chunk, &mut each);
        }
        reader.finish(&mut each);
        seen
    }

    fn texts(text: &str) -> Vec<Vec<String>> {
        rows(&[text.as_bytes()]).into_iter().map(|row| row.3).collect()
    }

    #[test]
    fn reads_quotes_tabs_crlf_and_bom() {
        assert_eq!(texts("\u{feff}a,b\r\n\"1.5\t\",\"x\"\"y\"\r\n"), [["a", "b"], ["1.5\t", "x\"y"]]);
        assert_eq!(texts("a,,\n"), [["a", "", ""]]);
    }

    #[test]
    fn knows_lines_and_offsets() {
        let seen = rows(&[b"a\r\n\r\nbc,d\ne"]);
        let places: Vec<_> = seen.iter().map(|row| (row.0, row.1, row.2)).collect();
        assert_eq!(places, [(1, 0, true), (3, 5, true), (4, 10, false)]);
    }

    #[test]
    fn an_unclosed_quote_spoils_one_row() {
        assert_eq!(texts("a,\"b\nc,d\n"), [vec!["bad: a quote is not closed"], vec!["c", "d"]]);
    }

    #[test]
    fn a_lone_carriage_return_spoils_its_row() {
        let bad = "bad: a carriage return stands inside the row: lines must end with a line feed";
        assert_eq!(texts("\"a\",b\rc,d\ne,f\n"), [vec![bad], vec!["e", "f"]]);
        assert_eq!(texts("a,b\rc,d"), [[bad]]);
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let long = vec![b'x'; LONGEST_LINE + 7];
        let seen = rows(&[b"a\n", &long, &long, b"\nb\n"]);
        assert_eq!((seen[1].1, &seen[1].3[..]), (2, &["bad: the line is longer than 1 MiB".to_owned()][..]));
        assert_eq!((seen[2].0, seen[2].1), (3, 2 + 2 * long.len() as u64 + 1));
    }

    #[test]
    fn more_cells_than_expected() {
        assert_eq!(texts(&vec!["c"; 500].join(","))[0].len(), 500);
    }

    proptest! {
        #[test]
        fn lines_split_as_csv_core_splits_them(text in "([ab,\\t \"]{1,3}|\"[ab,]{0,4}\",|[a-c]{30}){1,12}") {
            let mut reader = CsvReader::new();
            let shape = reader.split(text.as_bytes());
            if shape.quotes.is_multiple_of(2) && (shape.quotes == 0 || reader.unquote(text.as_bytes())) {
                let cells = |text: &[u8], bounds: &[Bounds]| bounds.iter().map(|&(start, end)| text[start as usize..end as usize].to_vec()).collect::<Vec<_>>();
                let quick = cells(text.as_bytes(), &reader.bounds);
                reader.split_by_core(text.as_bytes());
                prop_assert_eq!(cells(&reader.cells, &reader.bounds), quick);
            }
        }

        #[test]
        fn any_cut_gives_the_same_rows(text in "[ab,\"\\r\\n\t]{0,60}", cut in 0usize..60, cut2 in 0usize..60) {
            let bytes = text.as_bytes();
            let (a, b) = (cut.min(bytes.len()), cut2.min(bytes.len()));
            let (a, b) = (a.min(b), a.max(b));
            prop_assert_eq!(rows(&[bytes]), rows(&[&bytes[..a], &bytes[a..b], &bytes[b..]]));
        }
    }
}
