//! Where the tests find captures, and how they run the command line.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::print_stderr)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A real capture, by its path below the captures' folder; `None`, said aloud, where that is absent.
pub fn capture(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("OOMSCOPE_CAPTURES").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/captures"), PathBuf::from);
    let capture = root.join(path);
    if !capture.exists() {
        eprintln!("skipped: no captures at {} (variable OOMSCOPE_CAPTURES)", root.display());
        return None;
    }
    Some(capture)
}

/// A capture of the project's own.
pub fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}

pub fn oomscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oomscope")).args(arguments).output().unwrap()
}

/// The JSON report on a path.
pub fn report(path: &Path) -> Value {
    let output = oomscope(&[path.to_str().unwrap(), "--format", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Every file below a folder, as (path below its parent, bytes).
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let parent = folder.parent().unwrap();
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    entries.map(|entry| (entry.path().strip_prefix(parent).unwrap().to_str().unwrap().to_owned(), std::fs::read(entry.path()).unwrap())).collect()
}
