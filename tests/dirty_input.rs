//! What is said of files that were damaged on their way: docs/dirty-input.md is what the command line says, to the letter.
//! `OOMSCOPE_UPDATE=1` writes it anew.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod support;

use oomscope::units::human_bytes;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{capture, oomscope};

const INTRODUCTION: &str = "\
# Damaged input, and what is said of it

One small capture with everything that happens to files on their way, made by `fixtures/dirty.mjs`; `tests/dirty_input.rs` keeps
this table true. The page says the same in its *Data quality* panel, in the language that it is shown in. Paths begin at the
capture's folder. Of more than three sentences of one kind the first is shown.

The rule: what cannot be used is set aside, named with file, line, column and value, and costs nothing else.

";

/// Of so many warnings of one kind all are shown.
const SHOWN_OF_A_KIND: usize = 3;

const REAL: &str = "\n## A real one\n\n";

/// The variants, made anew; `None`, said aloud, where there is no Node.js.
fn variants() -> Option<(PathBuf, Vec<(String, String)>)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("dirty-{}", std::thread::current().name().unwrap_or_default()));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dirty.mjs");
    let Ok(output) = Command::new("node").arg(script).arg(&folder).output() else {
        eprintln!("skipped: no Node.js to make damaged captures with");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let text = |variant: &Value, key: &str| variant[key].as_str().unwrap().to_owned();
    Some((folder, list.iter().map(|variant| (text(variant, "name"), text(variant, "what"))).collect()))
}

/// What the command line gives for a folder: the report, where there is a capture, and what goes to standard error.
fn read(folder: &Path) -> (Vec<Value>, String) {
    let output = oomscope(&[folder.to_str().unwrap(), "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let captures = report["captures"].as_array().unwrap().clone();
    let any = captures.iter().any(|capture| !capture["devices"].as_array().unwrap().is_empty());
    assert_eq!(output.status.code(), Some(i32::from(!any)), "{}", folder.display());
    (captures, String::from_utf8(output.stderr).unwrap())
}

fn peak(capture: &Value) -> Option<i64> {
    capture["devices"][0]["peak"]["total_bytes"].as_i64()
}

/// How much of a capture could be used, compared with the clean one.
fn what_is_read(captures: &[Value], clean: &Value) -> String {
    let one = |capture: &Value| {
        let Some(peak_bytes) = peak(capture) else { return "nothing".to_owned() };
        let (read, aside) = (capture["rows"]["read"].as_i64().unwrap(), capture["rows"]["set_aside"].as_i64().unwrap());
        let rows = if aside == 0 { format!("{read} rows") } else { format!("{} of {read} rows", read - aside) };
        let peak = if peak(clean) == Some(peak_bytes) { "the same peak".to_owned() } else { format!("peak {}", human_bytes(peak_bytes)) };
        let all: i64 = capture["stacks"].as_object().map_or(0, |stacks| stacks.values().filter_map(Value::as_i64).sum());
        let stacks = all - capture["stacks"]["none"].as_i64().unwrap_or(0);
        format!("{rows}, {peak}, {stacks} with stacks")
    };
    match captures {
        [] => "nothing".to_owned(),
        [capture] => one(capture),
        captures => format!("{} captures: {}", captures.len(), captures.iter().map(one).collect::<Vec<_>>().join("; ")),
    }
}

/// Every sentence, those of one kind and file together.
fn what_is_said(captures: &[Value], stderr: &str) -> String {
    let warnings = captures.iter().flat_map(|capture| capture["warnings"].as_array().unwrap());
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for warning in warnings {
        let kind = format!("{} {}", warning["code"], warning["file"]);
        let message = warning["message"].as_str().unwrap();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, messages)) => messages.push(message),
            None => kinds.push((kind, vec![message])),
        }
    }
    let mut said: Vec<String> = Vec::new();
    for (_, messages) in kinds {
        let shown = if messages.len() > SHOWN_OF_A_KIND { 1 } else { messages.len() };
        said.extend(messages[..shown].iter().map(|message| (*message).to_owned()));
        if shown < messages.len() {
            said.push(format!("*… and {} more of the kind*", messages.len() - shown));
        }
    }
    if captures.is_empty() {
        said.extend(stderr.lines().map(|line| line.trim_start_matches("oomscope: ").to_owned()));
    }
    said.join("<br>")
}

fn row(name: &str, what: &str, read: &str, said: &str) -> String {
    let said = said.replace(&format!("{name}/actor_update/npu-node-01_437600_20260526085155960_ascend_pt"), "…").replace("ASCEND_PROFILER_OUTPUT/", "");
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;").replace("&lt;br>", "<br>");
    format!("| {} | {} | {} |\n", cell(what), cell(read), cell(&said))
}

const HEADER: &str = "| what happened | what is read | what is said |\n|---|---|---|\n";

#[test]
fn the_table_in_the_docs_is_what_is_said() {
    let Some((folder, variants)) = variants() else { return };
    let (clean, _) = read(&folder.join("clean"));
    assert_eq!(clean[0]["warnings"], Value::Array(vec![]), "the clean capture is clean");
    let mut text = format!("{INTRODUCTION}{HEADER}");
    for (name, what) in &variants {
        let (captures, stderr) = read(&folder.join(name));
        text += &row(name, what, &what_is_read(&captures, &clean[0]), &what_is_said(&captures, &stderr));
    }
    let doc = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/dirty-input.md");
    let written = fs::read_to_string(&doc).unwrap_or_default();
    // The real one stays as it is written where it cannot be read.
    text += REAL;
    match capture("ascend/spreadsheet_damaged") {
        Some(path) => {
            let (captures, stderr) = read(&path);
            let what = "MindStudio Insight's test capture `test_rank_1`: pairs cut, memory_record.csv saved by a spreadsheet";
            text += &format!("{HEADER}{}", row("", what, &what_is_read(&captures, &clean[0]), &what_is_said(&captures, &stderr)));
        }
        None => text += written.split_once(REAL).map_or("", |(_, rest)| rest),
    }
    if std::env::var_os("OOMSCOPE_UPDATE").is_some() {
        fs::write(&doc, &text).unwrap();
    } else {
        let different = text.lines().zip(written.lines()).find(|(now, before)| now != before);
        assert!(text == written, "docs/dirty-input.md is not what is said (OOMSCOPE_UPDATE=1 writes it anew): {different:#?}");
    }
}

/// One bad cell costs one row, and the report says which.
#[test]
fn one_bad_cell_costs_one_row() {
    let Some((folder, variants)) = variants() else { return };
    for name in ["negative-size", "zero-size", "huge-size", "no-size", "word-size", "nan-total", "no-start", "release-first", "too-few-cells", "open-quote"] {
        assert!(variants.iter().any(|(known, _)| known == name));
        let (captures, _) = read(&folder.join(name));
        assert_eq!((captures[0]["rows"]["read"].as_i64(), captures[0]["rows"]["set_aside"].as_i64()), (Some(88), Some(1)), "{name}");
        let lines: Vec<_> = captures[0]["warnings"].as_array().unwrap().iter().filter_map(|warning| warning["line"].as_i64()).collect();
        assert_eq!(lines, [7], "{name}");
    }
}
