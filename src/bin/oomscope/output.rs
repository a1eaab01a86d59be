//! Where report, table, picture and page go: files get their names only when all of them are whole.

use crate::options::Target;
use crate::place::resolved;
use oomscope::ascend::capture::Capture;
use oomscope::export::table;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Large enough that a write costs little.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes something.
pub type Writer<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

/// Something that is to be written.
pub struct Output<'a> {
    pub target: &'a Target,
    pub write: Writer<'a>,
}

/// A file that is written beside its place. Where it is not put there, nothing is left of it.
struct Draft {
    temporary: PathBuf,
    /// Without links.
    path: PathBuf,
}

impl Draft {
    /// An empty one, and its file. `None`: what stands there is a device or a pipe, or its folder takes no new file: it is written to as it is.
    fn begin(path: &Path) -> io::Result<Option<(Draft, File)>> {
        let path = resolved(path)?;
        let there = match std::fs::metadata(&path) {
            Ok(there) if !there.is_file() && !there.is_dir() => return Ok(None),
            // What may not be written to may not be replaced either.
            Ok(there) => OpenOptions::new().write(true).open(&path).map(|_| Some(there))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut nth = 0;
        loop {
            let temporary = path.with_file_name(format!(".oomscope-{}-{nth}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    let draft = Draft { temporary, path };
                    there.map_or(Ok(()), |there| file.set_permissions(there.permissions()))?;
                    return Ok(Some((draft, file)));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => nth += 1,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && there.is_some() => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn put(&self) -> io::Result<()> {
        std::fs::rename(&self.temporary, &self.path)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // What was put in its place is not there any more.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

/// Whether these can be written, before anything is read for them.
pub fn check_writable(targets: &[(&str, &Target)]) -> Result<(), String> {
    for (option, target) in targets {
        if let Err(error) = target.file().map_or(Ok(None), Draft::begin) {
            return Err(format!("{option} {target}: {error}; nothing was written"));
        }
    }
    Ok(())
}

/// Writes all: whole files first, then what is no file and cannot be taken back. The error says what there is now and what there is not.
pub fn write_all(outputs: &[Output]) -> Result<(), String> {
    let mut drafts = Vec::new();
    let mut streams = Vec::new();
    let mut written = Vec::new();
    for output in outputs {
        let begun = output.target.file().map_or(Ok(None), Draft::begin).map_err(|error| failed(output, &error, &written, outputs))?;
        let Some((draft, mut file)) = begun else {
            streams.push(output);
            continue;
        };
        write_to(&mut file, output).map_err(|error| failed(output, &error, &written, outputs))?;
        drafts.push((output, draft));
    }
    for (output, draft) in &drafts {
        draft.put().map_err(|error| failed(output, &error, &written, outputs))?;
        written.push(output.target);
    }
    for output in streams {
        to_stream(output).map_err(|error| failed(output, &error, &written, outputs))?;
        written.push(output.target);
    }
    Ok(())
}

fn failed(output: &Output, error: &io::Error, written: &[&Target], all: &[Output]) -> String {
    let names = |targets: Vec<&Target>| targets.iter().map(|target| target.to_string()).collect::<Vec<_>>().join(", ");
    let done = if written.is_empty() { "nothing was written".to_owned() } else { format!("written: {}", names(written.to_vec())) };
    let missing: Vec<&Target> = all.iter().map(|output| output.target).filter(|target| !written.contains(target)).collect();
    let not_done = if all.len() > 1 { format!("; not written: {}", names(missing)) } else { String::new() };
    format!("{}: {error}; {done}{not_done}", output.target)
}

fn write_to(file: &mut dyn Write, output: &Output) -> io::Result<()> {
    let mut buffered = io::BufWriter::with_capacity(BUFFER_BYTES, file);
    (output.write)(&mut buffered)?;
    buffered.flush()
}

fn to_stream(output: &Output) -> io::Result<()> {
    let written = match output.target {
        Target::StandardOutput => write_to(&mut io::stdout().lock(), output),
        Target::File(path) => write_to(&mut File::create(path)?, output),
    };
    unless_enough(written)
}

/// A reader that has seen enough (`| head`) is no failure.
fn unless_enough(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

pub fn to_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    unless_enough(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// One row a block.
pub fn write_table(out: &mut dyn Write, captures: &[Capture], nearest: bool, is_lines: bool) -> io::Result<()> {
    if !is_lines {
        out.write_all(table::header().as_bytes())?;
    }
    let captures: Vec<&Capture> = captures.iter().collect();
    for place in table::order(&captures) {
        let row = table::row(&captures, &place, nearest);
        let line = if is_lines { table::json_row(&row) } else { table::csv_row(&row) };
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}
