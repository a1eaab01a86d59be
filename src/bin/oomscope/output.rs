//! Where a report and a table go.

use crate::options::Target;
use oomscope::ascend::capture::Capture;
use oomscope::export::table;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

pub fn write_report(out: &Target, text: &str) -> Result<(), String> {
    match out {
        Target::File(path) => std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display())),
        Target::StandardOutput => to_stdout(text).map_err(|error| error.to_string()),
    }
}

/// A reader that has seen enough (`| head`) is no failure.
pub fn to_stdout(text: &str) -> io::Result<()> {
    io::stdout().lock().write_all(text.as_bytes()).or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

pub fn write_table(target: &Target, captures: &[Capture], nearest: bool) -> Result<(), String> {
    let name = target.file().map_or("standard output".to_owned(), |path| path.display().to_string());
    let failed = |error: io::Error| format!("{name}: {error}");
    let mut out: Box<dyn Write> = match target {
        Target::StandardOutput => Box::new(io::stdout().lock()),
        Target::File(path) => Box::new(File::create(path).map_err(failed)?),
    };
    let mut out = io::BufWriter::with_capacity(1 << 20, &mut out);
    let lines = target.file().and_then(Path::extension).is_some_and(|extension| extension == "jsonl");
    if !lines {
        out.write_all(table::header().as_bytes()).map_err(failed)?;
    }
    let captures: Vec<&Capture> = captures.iter().collect();
    for place in table::order(&captures) {
        let row = table::row(&captures, &place, nearest);
        let line = if lines { table::json_row(&row) } else { table::csv_row(&row) };
        out.write_all(line.as_bytes()).map_err(failed)?;
    }
    out.flush().map_err(failed)
}
