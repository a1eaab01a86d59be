//! Which file a path leads to: two spellings, links and standard output can all be one.

use crate::files::Listed;
use crate::options::Target;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Links that lead to links end here, where they lead in a circle.
const MOST_LINKS: usize = 40;

/// A path without links and detours. The file need not be there; its folder must be.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    if path.to_string_lossy().ends_with(std::path::is_separator) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(full) = std::fs::canonicalize(&path) {
            return Ok(full);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
        match std::fs::read_link(&path) {
            // To a file that is not there.
            Ok(link) => path = folder.join(link),
            Err(_) => {
                let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
                return Ok(std::fs::canonicalize(folder)?.join(name));
            }
        }
    }
    Err(io::Error::other("links lead to each other"))
}

/// What makes two outputs one.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Volume and number of what is there.
    #[cfg(unix)]
    There(u64, u64),
    /// What is not there yet, or on a system that numbers no files.
    Path(PathBuf),
}

#[cfg(unix)]
fn there(path: &Path) -> Option<Place> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).ok()?;
    Some(Place::There(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn there(_: &Path) -> Option<Place> {
    None
}

/// A terminal and /dev/null take any number of outputs.
#[cfg(unix)]
fn takes_any(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device())
}

#[cfg(not(unix))]
fn takes_any(_: &Path) -> bool {
    false
}

/// Where standard output and standard error may have been sent to a file.
const STANDARD_OUTPUT: &str = "/dev/fd/1";
const STANDARD_ERROR: &str = "/dev/fd/2";

/// Whether standard output and standard error are read together: on one terminal, in one file.
pub fn is_one_screen() -> bool {
    let [output, errors] = [STANDARD_OUTPUT, STANDARD_ERROR].map(|path| there(Path::new(path)));
    (output.is_some() && output == errors) || (io::stdout().is_terminal() && io::stderr().is_terminal())
}

/// `None`: nothing is lost there, or nobody can tell.
fn place(path: &Path) -> Option<Place> {
    if takes_any(path) { None } else { there(path).or_else(|| Some(Place::Path(folded(resolved(path).ok()?)))) }
}

/// Some systems take large and small letters in names for one.
fn folded(path: PathBuf) -> PathBuf {
    if cfg!(any(windows, target_os = "macos")) { path.to_string_lossy().to_lowercase().into() } else { path }
}

fn place_of(target: &Target) -> Option<Place> {
    match target {
        Target::StandardOutput if cfg!(unix) => place(Path::new(STANDARD_OUTPUT)).filter(|place| !matches!(place, Place::Path(_))),
        Target::StandardOutput => None,
        Target::File(path) => place(path),
    }
}

/// Says which two outputs are one file, where any are.
pub fn twice(outputs: &[(&str, &Target)]) -> Option<String> {
    let places: Vec<_> = outputs.iter().filter_map(|(option, target)| Some((option, target, place_of(target)?))).collect();
    let pairs = places.iter().enumerate().flat_map(|(nth, one)| places[..nth].iter().map(move |other| (other, one)));
    let ((one, path, _), (other, also, _)) = pairs.into_iter().find(|(one, other)| one.2 == other.2)?;
    Some(format!("{one} {path} and {other} {also} are one file: name another for one of them"))
}

/// Says which output is one of the files to read, where any is.
pub fn over(outputs: &[(&str, &Target)], files: &[Listed]) -> Option<String> {
    let places: Vec<_> = outputs.iter().filter(|(_, target)| target.file().is_some()).filter_map(|(_, target)| Some((target, place_of(target)?))).collect();
    let read = |wanted: &Place| files.iter().any(|file| place(&file.path).as_ref() == Some(wanted));
    let (target, _) = places.iter().find(|(_, place)| read(place))?;
    Some(format!("{target} is one of the files to read; nothing is written over a capture"))
}
