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

/// Captures that the project's generator makes for a test; `None`, said aloud, where there is no Node.js.
pub fn generated(name: &str, options: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    let mut node = Command::new("node");
    node.arg(root.join("fixtures/generate.mjs")).arg("--out").arg(&folder).args(options.split_whitespace());
    let Ok(output) = node.output() else {
        eprintln!("skipped: no Node.js to generate captures with");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(folder)
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

/// A folder of one test alone, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
