//! Files as they lie: listed below the paths that were asked for, and read in slices, unpacked on the way.

use oomscope::error::Problem;
use oomscope::scan::gzip::{Unpacker, damaged, is_gzip};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Large enough that a read costs little, small enough to be still in the processor's cache when it is looked at.
pub const SLICE_BYTES: usize = 256 << 10;

/// A file below a PATH.
pub struct Listed {
    /// The last component of the PATH and the path below it, with `/`.
    pub name: String,
    pub path: PathBuf,
}

pub fn list(paths: &[PathBuf], say: &mut dyn FnMut(&str)) -> Vec<Listed> {
    let mut files = Vec::new();
    let (mut listed, mut names) = (HashSet::new(), HashMap::new());
    for path in paths {
        let full = match std::fs::canonicalize(path) {
            Ok(full) => full,
            Err(error) => {
                say(&format!("{}: {}", path.display(), plain(&error)));
                continue;
            }
        };
        let last = full.file_name().map_or_else(|| full.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
        // Two PATHs of one name stay apart, as two dropped folders do.
        let times = *names.entry(last.clone()).and_modify(|times| *times += 1).or_insert(1);
        let root = if times == 1 { last } else { format!("{last} ({times})") };
        let mut holds_any = false;
        for entry in walkdir::WalkDir::new(&full).follow_links(true).sort_by_file_name() {
            holds_any |= entry.as_ref().map_or(true, |entry| entry.file_type().is_file());
            match entry {
                // A file that two PATHs lead to is one file.
                Ok(entry) if (entry.file_type().is_file() || (entry.depth() > 0 && in_place_of_a_file(&entry))) && listed.insert(entry.path().to_owned()) => {
                    let below = entry.path().strip_prefix(&full).unwrap_or(entry.path());
                    let parts: Vec<_> = std::iter::once(root.as_str().into()).chain(below.iter().map(|part| part.to_string_lossy())).collect();
                    files.push(Listed { name: parts.join("/"), path: entry.into_path() });
                }
                Ok(_) => {}
                Err(error) => {
                    let place = error.path().unwrap_or(&full).display().to_string();
                    say(&format!("{place}: {}", error.io_error().map_or_else(|| "a link leads back to a folder above it".to_owned(), plain)));
                }
            }
        }
        if !holds_any {
            say(&format!(
                "{}: {}",
                path.display(),
                if full.is_dir() { "no file lies below this folder" } else { "neither a file nor a folder; a stream must be saved first" }
            ));
        }
    }
    files
}

/// Whether it is a pipe or a device, or a folder that is called like a table and holds none: it is told of as what cannot be read, not as missing.
fn in_place_of_a_file(entry: &walkdir::DirEntry) -> bool {
    let name = entry.file_name();
    if entry.file_type().is_dir() { name == "operator_memory.csv" && !entry.path().join(name).exists() } else { true }
}

/// Opens a file; a pipe would keep its reader waiting, and some devices never end.
pub fn open(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_file() { File::open(path) } else { Err(io::ErrorKind::Unsupported.into()) }
}

/// What the system says, in words.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read".to_owned(),
        _ => error.to_string(),
    }
}

/// 0 where the system does not say it.
pub fn bytes_of(file: &Listed) -> u64 {
    std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len())
}

pub fn starts_as_gzip(path: &Path) -> bool {
    let mut start = [0; 2];
    open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok_and(|()| is_gzip(&start))
}

pub fn unreadable(error: &io::Error) -> Problem {
    if error.kind() == io::ErrorKind::Unsupported {
        return Problem::DamagedFile {
            reason: "this is a folder, a pipe or a device, so it was not read; put the file that the profiler wrote in its place".to_owned(),
        };
    }
    Problem::UnreadableFile { reason: error.to_string() }
}

pub fn whole_file(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Problem> {
    if std::fs::metadata(path).map_err(|error| unreadable(&error))?.len() > most_bytes {
        return Err(Problem::DamagedFile { reason: "the file is too large to be what its name says".to_owned() });
    }
    let mut text = Vec::new();
    unpack(path, Unpacker::of_at_most(most_bytes), &mut |bytes| text.extend_from_slice(bytes))?;
    Ok(text)
}

pub fn slices(path: &Path, feed: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
    unpack(path, Unpacker::default(), feed)
}

fn unpack(path: &Path, mut unpacker: Unpacker, feed: &mut dyn FnMut(&[u8])) -> Result<(), Problem> {
    let mut file = open(path).map_err(|error| unreadable(&error))?;
    let mut slice = vec![0; SLICE_BYTES];
    loop {
        match file.read(&mut slice) {
            Ok(0) => return unpacker.finish(feed).map_err(|error| damaged(&error)),
            Ok(read) => unpacker.feed(&slice[..read], feed).map_err(|error| damaged(&error))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
}
