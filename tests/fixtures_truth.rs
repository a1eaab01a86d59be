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
        let devices = capture["devices"].as_array().unwrap();
        assert_eq!(devices.len(), truth["devices"].as_array().unwrap().len(), "{source}");
        for (device, truth) in devices.iter().zip(truth["devices"].as_array().unwrap()) {
            for key in ["device", "pool", "blocks", "unattributed_blocks", "alive_at_end", "baseline"] {
                assert_eq!(device[key], truth[key], "{source} {key}");
            }
            for (key, expected) in truth["peak"].as_object().unwrap().iter().filter(|(key, _)| *key != "by_stack") {
                assert_eq!(&device["peak"][key], expected, "{source} peak {key}");
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
