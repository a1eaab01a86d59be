//! Many ranks: reports read back, ranks and roles side by side, what is there twice.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod support;

use flate2::{Compression, write::GzEncoder};
use oomscope::export::json::json;
use oomscope::oom::read;
use oomscope::oom::report::report as whole_report;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use support::{capture, fixture, folder, oomscope, report};

fn json_of(arguments: &[&str]) -> Vec<u8> {
    let output = oomscope(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What the generator makes of these options, in a folder of the test's own.
fn generated(name: &str, options: &[&str]) -> PathBuf {
    let out = folder(name).join("job");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/generate.mjs");
    let made = Command::new("node").arg(script).args(["--out", text(&out)]).args(options).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    out
}

#[test]
fn a_report_read_back_is_the_same_to_the_byte() {
    let captures = [Some(fixture("ascend_sample")), Some(fixture("ascend_formats")), capture("ascend")];
    for (nth, path) in captures.into_iter().flatten().enumerate() {
        let first = json_of(&[text(&path)]);
        let file = folder(&format!("again{nth}")).join("report.json");
        fs::write(&file, &first).unwrap();
        assert!(json_of(&[text(&file)]) == first, "{}", path.display());
        // Packed, too, and not under a name of its own.
        let packed = folder(&format!("packed{nth}")).join("report.json");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&first).unwrap();
        fs::write(&packed, encoder.finish().unwrap()).unwrap();
        assert!(json_of(&[text(&packed)]) == first, "{}, packed", path.display());
        assert_eq!(read::sniff(&first[..first.len().min(read::SNIFFED_BYTES)]), Some(read::Sniffed::Report));
    }
}

/// Of a folder's other files nothing is said; of one that was asked for by name it is said that it was not read.
#[test]
fn a_file_that_was_named_does_not_vanish() {
    let of_tests = folder("named");
    let (notes, packed) = (of_tests.join("notes.txt"), of_tests.join("broken.json.gz"));
    fs::write(&notes, "nothing\n").unwrap();
    fs::write(&packed, b"\x1f\x8b\x08").unwrap();
    let sample = fixture("ascend_sample");
    let said = |arguments: &[&str]| String::from_utf8(oomscope(&[arguments, &["--format", "json"]].concat()).stderr).unwrap();
    assert_eq!(said(&[text(&sample), text(&notes), text(&packed)]).lines().filter(|line| line.ends_with(": notes.txt, broken.json.gz")).count(), 1);
    assert!(!said(&[text(&sample), text(&of_tests)]).contains("notes.txt"));
}

/// A pipe is neither waited for nor called missing, nor is a folder in the table's place.
#[test]
fn what_is_no_file_is_told_as_such() {
    let of_tests = folder("no_file");
    let output = |name: &str| {
        let output = of_tests.join(name).join("ASCEND_PROFILER_OUTPUT");
        fs::create_dir_all(&output).unwrap();
        output
    };
    fs::create_dir_all(output("a_ascend_pt").join("operator_memory.csv")).unwrap();
    let pipe = output("b_ascend_pt").join("operator_memory.csv");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        fs::create_dir_all(&pipe).unwrap();
    }
    let report: Value = serde_json::from_slice(&oomscope(&[text(&of_tests), "--format", "json"]).stdout).unwrap();
    let captures = report["captures"].as_array().unwrap();
    assert_eq!(captures.len(), 2);
    for capture in captures {
        let told: Vec<&str> = capture["warnings"].as_array().unwrap().iter().map(|warning| warning["message"].as_str().unwrap()).collect();
        assert!(told.iter().any(|message| message.contains("operator_memory.csv: this is a folder, a pipe or a device")), "{told:#?}");
        assert!(!told.iter().any(|message| message.contains("profile_memory=True")), "{told:#?}");
    }
}

#[test]
fn sixteen_ranks_of_two_roles_name_the_planted_outlier() {
    let job = generated("sixteen", &["--rows", "600", "--ranks", "8", "--roles", "actor_update,critic_update", "--outlier", "actor_update:5"]);
    let whole = report(&job);
    let comparison = &whole["comparison"];
    assert_eq!(comparison["ranks"].as_array().unwrap().len(), 16);
    let actors = comparison["groups"].as_array().unwrap().iter().find(|group| group["role"] == "actor_update").unwrap();
    let outliers = actors["outliers"].as_array().unwrap();
    assert_eq!((outliers.len(), &outliers[0]["rank"], &outliers[0]["departures"][0]["figure"]), (1, &5.into(), &"peak_bytes".into()), "{actors:#}");
    let peak_of = |rank: i64| {
        comparison["ranks"].as_array().unwrap().iter().find(|row| row["role"] == "actor_update" && row["rank"] == rank).unwrap()["peak_bytes"].clone()
    };
    assert_eq!(outliers[0]["departures"][0]["value"], peak_of(5));
    // The generator says which capture it made heavier, and by how much its blocks grew.
    let truth = |rank: usize| -> Value { serde_json::from_slice(&fs::read(truths(&job, "actor_update").swap_remove(rank)).unwrap()).unwrap() };
    assert_eq!((&truth(5)["outlier"], &truth(4)["outlier"]), (&true.into(), &false.into()));
    assert_eq!(truth(5)["devices"][0]["peak"]["total_bytes"], peak_of(5));
    let said = String::from_utf8(oomscope(&[text(&job)]).stdout).unwrap();
    assert!(
        said.contains("outliers: 1 (more than 3 × the median absolute deviation and more than 5 % from the median)\n      actor_update rank 5\n"),
        "{said}"
    );
}

fn truths(job: &Path, role: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(job.join(role)).unwrap().map(|entry| entry.unwrap().path().join("truth.json")).collect();
    found.sort();
    found
}

#[test]
fn a_folder_of_256_reports_is_one_report() {
    let sample = String::from_utf8(json_of(&[text(&fixture("ascend_sample")), "--rank", "0", "--role", "actor_update"])).unwrap();
    let folder = folder("cluster");
    let peak = report(&fixture("ascend_sample"))["captures"][0]["devices"][0]["peak"]["total_bytes"].as_i64().unwrap();
    for rank in 0..256 {
        let one = sample
            .replace("437600", &format!("{}", 437_600 + rank))
            .replace("\"rank\": 0,", &format!("\"rank\": {rank},"))
            .replace(&format!("\"total_bytes\": {peak},"), &format!("\"total_bytes\": {},", if rank == 77 { peak * 2 } else { peak + rank % 3 }));
        fs::write(folder.join(format!("rank-{rank}.json")), one).unwrap();
    }
    let start = Instant::now();
    let whole: Value = serde_json::from_slice(&json_of(&[text(&folder)])).unwrap();
    eprintln!("256 reports of {} bytes each: {:?}", sample.len(), start.elapsed());
    assert_eq!((whole["captures"].as_array().unwrap().len(), &whole["warnings"]), (256, &serde_json::json!([])));
    let group = &whole["comparison"]["groups"][0];
    assert_eq!((&group["members"], &group["peak_bytes"]["median"], &group["peak_bytes"]["max"]), (&256.into(), &(peak + 1).into(), &(peak * 2).into()));
    assert_eq!((group["outliers"].as_array().unwrap().len(), &group["outliers"][0]["rank"]), (1, &77.into()));
    assert_eq!(whole["comparison"]["ranks"][0]["rank"], 77);
    // Ranks are chosen among reports as among captures.
    let some: Value = serde_json::from_slice(&json_of(&[text(&folder), "--rank", "3,70-79"])).unwrap();
    assert_eq!(some["captures"].as_array().unwrap().len(), 11);
}

#[test]
fn reports_join_captures_and_nothing_counts_twice() {
    let folder = folder("joined");
    let sample = fixture("ascend_sample");
    fs::write(folder.join("a.json"), json_of(&[text(&sample), "--rank", "0"])).unwrap();
    fs::write(folder.join("foreign.json"), b"{\"schema\": 1}").unwrap();
    fs::write(folder.join("damaged.json"), b"{\n  \"schema\": \"oomscope.report/1\",\n  \"captures\": [}").unwrap();
    fs::write(folder.join("later.json"), b"{\"schema\": \"oomscope.report/9\", \"captures\": []}").unwrap();
    let output = oomscope(&[text(&folder), text(&sample), "--rank", "0", "--format", "json"]);
    let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(whole["captures"].as_array().unwrap().len(), 2);
    let found: Vec<_> = whole["warnings"].as_array().unwrap().iter().map(|warning| (warning["code"].as_str().unwrap(), warning["line"].as_i64())).collect();
    assert_eq!(found, [("duplicate-capture", None), ("duplicate-capture", None), ("damaged-file", Some(3)), ("unsupported-report", Some(1))]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("joined/damaged.json line 3 (byte 50): this is no report of schema oomscope.report/1: expected value"), "{said}");
    let text = String::from_utf8(oomscope(&[text(&folder.join("a.json"))]).stdout).unwrap();
    assert!(text.contains("actor_update rank 0 PTA") && text.contains("outliers: not looked for among fewer than three"), "{text}");
}

#[test]
fn a_shorter_list_of_a_report_read_back_is_that_of_the_captures() {
    let sample = fixture("ascend_sample");
    let long = read::read("r.json", &json_of(&[text(&sample)]));
    assert_eq!(json(&whole_report([], &[long], 3)).into_bytes(), json_of(&[text(&sample), "--top", "3"]));
}
