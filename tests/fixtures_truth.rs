//! What the generator planted is what the report says: every fixture, and captures made for this test, against the truth.json beside them.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use serde_json::{Value, json};
use std::path::Path;
use support::{fixture, generated, report};

/// Reads the captures of a folder, compares each with its truth, and gives the report.
fn assert_truth(folder: &Path) -> Value {
    let report = report(folder);
    let captures = report["captures"].as_array().unwrap();
    assert!(!captures.is_empty());
    for capture in captures {
        let source = capture["source"].as_str().unwrap();
        let truth = folder.parent().unwrap().join(source).join("truth.json");
        let truth: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap_or_else(|error| panic!("{}: {error}", truth.display()))).unwrap();
        assert_eq!(capture["role"], truth["role"], "{source}");
        assert_eq!(capture["rank"], truth["rank"], "{source}");
        assert_eq!(capture["rows"]["read"], truth["rows"]["total"], "{source}");
        assert_eq!(capture["rows"]["set_aside"], 0, "{source}");
        if !truth["outside_framework"].is_null() {
            assert_eq!(capture["outside_framework"], truth["outside_framework"], "{source}");
        }
        if capture["stacks"].is_object() {
            for (reason, count) in capture["stacks"].as_object().unwrap() {
                assert_eq!(count.as_u64(), truth["stacks"].get(reason).map_or(Some(0), Value::as_u64), "{source} {reason}");
            }
        }
        let devices = capture["devices"].as_array().unwrap();
        assert_eq!(devices.len(), truth["devices"].as_array().unwrap().len(), "{source}");
        for (device, truth) in devices.iter().zip(truth["devices"].as_array().unwrap()) {
            for key in ["device", "pool", "blocks", "unattributed_blocks", "alive_at_end", "baseline"] {
                assert_eq!(device[key], truth[key], "{source} {key}");
            }
            for (key, expected) in truth["peak"].as_object().unwrap() {
                // The fixtures without a trace have a truth about stacks that no file tells.
                if key == "by_stack" && capture["stacks"].is_null() {
                    continue;
                }
                assert_eq!(&device["peak"][key], expected, "{source} peak {key}");
            }
            // The planted group is the one that grows, by as many blocks as it was given in each step.
            if capture["stacks"].is_object() && device["pool"] == "PTA" {
                let planted = &truth["growth"][0];
                let found = device["growth"].as_array().unwrap().iter().find(|growth| growth["name"] == planted["name"] && growth["stack"] == planted["stack"]);
                let counts: Vec<i64> = found.unwrap()["per_step_blocks"].as_array().unwrap().iter().map(|count| count.as_i64().unwrap()).collect();
                let made: Vec<i64> = planted["made_per_step"].as_array().unwrap().iter().map(|count| count.as_i64().unwrap()).collect();
                assert_eq!(counts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>(), made[1..]);
            }
        }
    }
    report
}

/// The codes of a capture's warnings, those left out that only say which files a generated capture has not.
fn codes(capture: &Value) -> Vec<&str> {
    let all = capture["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap());
    all.filter(|code| !["missing-trace", "missing-metadata", "missing-memory-record", "unknown-rank", "missing-column"].contains(code)).collect()
}

#[test]
fn the_sample() {
    assert_truth(&fixture("ascend_sample"));
}

#[test]
fn every_format() {
    for format in ["torch_npu_2023", "mindspore", "msprof", "ge"] {
        let folder = fixture("ascend_formats").join(format);
        assert!(folder.exists());
        assert_truth(&folder);
    }
}

/// Each step keeps 24 MiB more; the largest finding is that group, with as many blocks as each step made of it.
#[test]
fn what_grows_with_every_step() {
    let Some(folder) = generated("growth", "--rows 3000 --steps 6 --seed 3 --trace --trace-detail brief") else { return };
    let report = assert_truth(&folder);
    let [growth] = report["captures"][0]["devices"][0]["growth"].as_array().unwrap().as_slice() else { panic!("one group grows") };
    let counts: Vec<i64> = growth["per_step_blocks"].as_array().unwrap().iter().map(|count| count.as_i64().unwrap()).collect();
    assert_eq!((growth["name"].as_str(), counts), (Some("aten::clone"), vec![1, 2, 3, 4, 5, 6]));
}

/// With modules and without stacks, Python functions lead to operators of the forward pass; nothing leads to those of the backward pass.
#[test]
fn captures_made_with_modules() {
    let Some(folder) = generated("modules", "--rows 480 --steps 3 --seed 5 --trace --modules") else { return };
    let report = assert_truth(&folder);
    let stacks = report["captures"][0]["stacks"].as_object().unwrap();
    let used: Vec<&String> = stacks.iter().filter(|(_, count)| count.as_i64() != Some(0)).map(|(reason, _)| reason).collect();
    assert_eq!(used, ["none", "python"]);
    assert!(stacks["python"].as_i64() > stacks["none"].as_i64());
}

#[test]
fn memory_outside_the_framework() {
    for (name, options) in [
        ("outside", "--seed 21 --outside 1500"),
        ("outside-ge", "--seed 22 --outside 1500 --ge 40"),
        ("outside-2023", "--seed 23 --outside 900 --ge 40 --format torch_npu_2023"),
        ("outside-mindspore", "--seed 24 --outside 4000 --format mindspore"),
    ] {
        let Some(folder) = generated(name, &format!("--rows 900 --steps 3 {options}")) else { return };
        let report = assert_truth(&folder);
        assert_eq!(codes(&report["captures"][0]).iter().filter(|code| **code != "ge-release-only").count(), 0, "{name}");
    }
}

/// `N/A` is an empty cell: nothing is set aside and nothing is warned of.
#[test]
fn mindspores_empty_cells() {
    let Some(folder) = generated("mindspore", "--rows 2000 --steps 4 --seed 9 --format mindspore --outside 300") else { return };
    let report = assert_truth(&folder);
    let capture = &report["captures"][0];
    assert!(capture["source"].as_str().unwrap().ends_with("_ascend_ms"));
    assert_eq!(codes(capture), Vec::<&str>::new());
    assert!(capture["devices"][0]["alive_at_end"]["blocks"].as_i64() > Some(0));
}

/// Totals in KB, a duration in place of the release: the baseline shows just the planted drops.
#[test]
fn msprofs_kilobytes() {
    let Some(folder) = generated("msprof", "--rows 2000 --steps 4 --seed 9 --format msprof") else { return };
    let report = assert_truth(&folder);
    let device = &report["captures"][0]["devices"][0];
    assert_eq!((&device["pool"], &device["baseline"]["rises"]), (&json!("GE"), &json!([])));
}

/// The graph engine's pool beside the framework's, in both versions of the table: its totals at a release still hold the block.
#[test]
fn the_graph_engines_pool() {
    for format in ["torch_npu", "torch_npu_2023"] {
        let Some(folder) = generated(&format!("ge-{format}"), &format!("--rows 600 --steps 2 --seed 13 --ge 120 --format {format}")) else { return };
        let report = assert_truth(&folder);
        assert_eq!(codes(&report["captures"][0]), ["ge-release-only"], "{format}");
    }
}

/// Of 16 ranks of two roles, the one that was made heavier departs from its role, and no other does from its own.
#[test]
fn an_outlier_and_no_other() {
    let options = "--rows 900 --steps 3 --ranks 8 --roles actor_update,critic_update --trace --trace-detail brief --seed 4 --outlier critic_update:3";
    let Some(folder) = generated("outlier", options) else { return };
    let report = assert_truth(&folder);
    assert_eq!(report["captures"].as_array().unwrap().len(), 16);
    let groups = report["comparison"]["groups"].as_array().unwrap().iter();
    let named = groups.map(|group| {
        let outliers = group["outliers"].as_array().unwrap().iter().map(|outlier| (outlier["rank"].clone(), outlier["departures"][0]["figure"].clone()));
        (group["role"].clone(), outliers.collect::<Vec<_>>())
    });
    assert_eq!(
        named.collect::<Vec<_>>(),
        [(json!("actor_update"), vec![]), (json!("critic_update"), vec![(json!(3), json!("peak_bytes"))]), (json!(null), vec![])]
    );
}
