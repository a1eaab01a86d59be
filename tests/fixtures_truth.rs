//! What the generator planted is what the report says: every fixture against the truth.json beside it.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use serde_json::Value;
use std::path::Path;
use support::{fixture, report};

fn assert_truth(folder: &str) {
    let report = report(&fixture(folder));
    let captures = report["captures"].as_array().unwrap();
    assert!(!captures.is_empty());
    for capture in captures {
        let source = capture["source"].as_str().unwrap();
        let parent = fixture(folder);
        let truth = parent.parent().unwrap().join(source).join("truth.json");
        let truth: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap_or_else(|error| panic!("{}: {error}", truth.display()))).unwrap();
        assert_eq!(capture["role"], truth["role"], "{source}");
        assert_eq!(capture["rank"], truth["rank"], "{source}");
        assert_eq!(capture["rows"]["read"], truth["rows"]["total"], "{source}");
        assert_eq!(capture["rows"]["set_aside"], 0, "{source}");
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
}

#[test]
fn the_sample() {
    assert_truth("ascend_sample");
}

#[test]
fn every_format() {
    for format in ["torch_npu_2023", "mindspore", "msprof", "ge"] {
        assert!(Path::new(&fixture("ascend_formats")).join(format).exists());
        assert_truth(&format!("ascend_formats/{format}"));
    }
}
