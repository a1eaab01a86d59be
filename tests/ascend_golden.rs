//! Known values of real captures, read by the command line.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use serde_json::{Value, json};
use support::{capture, report};

/// The named keys of an object, so that a comparison shows only what it is about.
fn pick(value: &Value, keys: &[&str]) -> Value {
    keys.iter().map(|key| ((*key).to_owned(), value[*key].clone())).collect::<serde_json::Map<_, _>>().into()
}

const PEAK: [&str; 7] = ["time_ns", "total_bytes", "tracked_bytes", "baseline_bytes", "reserved_bytes", "active_bytes", "live_blocks"];

fn bytes(changes: &Value) -> Vec<i64> {
    changes.as_array().unwrap().iter().map(|change| change["bytes"].as_i64().unwrap()).collect()
}

/// Groups and baseline sum to the total, and their blocks to the live ones.
fn assert_sums(device: &Value) {
    let peak = &device["peak"];
    for groups in ["by_operator", "by_stream", "by_size_class"] {
        if peak[groups].is_null() {
            continue;
        }
        let sum = |key: &str| peak[groups].as_array().unwrap().iter().map(|group| group[key].as_i64().unwrap()).sum::<i64>();
        assert_eq!(sum("bytes") + peak["baseline_bytes"].as_i64().unwrap(), peak["total_bytes"].as_i64().unwrap(), "{groups}");
        assert_eq!(sum("blocks"), peak["live_blocks"].as_i64().unwrap(), "{groups}");
    }
}

#[test]
fn a_training_rank() {
    let Some(path) = capture("ascend/st_level2") else { return };
    let report = report(&path);
    let capture = &report["captures"][0];
    assert_eq!(pick(capture, &["source", "role", "rank"]), json!({"source": "st_level2/rank_0_ascend_pt", "role": "st_level2", "rank": 0}));
    assert_eq!(capture["versions"], json!({"torch_npu": "2.7.1", "cann": "8.3.RC1"}));
    let device = &capture["devices"][0];
    assert_eq!(pick(device, &["device", "pool", "blocks"]), json!({"device": "NPU:0", "pool": "PTA", "blocks": 3103}));
    let expected = json!({
        "time_ns": "1764246877390971790", "total_bytes": 10_782_243_840_i64, "tracked_bytes": 6_268_169_216_i64,
        "baseline_bytes": 4_514_074_624_i64, "reserved_bytes": 10_875_830_272_i64, "active_bytes": 10_782_243_840_i64, "live_blocks": 623
    });
    assert_eq!(pick(&device["peak"], &PEAK), expected);
    // 2208.03 MB.
    assert_eq!(device["peak"]["by_operator"][0], json!({"name": "aten::matmul", "bytes": 2_315_284_480_i64, "blocks": 56}));
    assert_eq!(pick(&device["alive_at_end"], &["blocks", "bytes"]), json!({"blocks": 1, "bytes": 512}));
    assert_eq!((bytes(&device["baseline"]["drops"]), bytes(&device["baseline"]["rises"])), (vec![512], vec![]));
    assert_sums(device);
}

#[test]
fn two_small_ranks() {
    let Some(path) = capture("ascend/level0") else { return };
    let report = report(&path);
    let sources: Vec<_> = report["captures"].as_array().unwrap().iter().map(|capture| capture["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["level0/rank0_ascend_pt", "level0/rank1_ascend_pt"]);
    let [pta, ge] = report["captures"][0]["devices"].as_array().unwrap().as_slice() else { panic!("two pools") };
    assert_eq!(pick(&pta["peak"], &["total_bytes", "live_blocks"]), json!({"total_bytes": 1_245_688_832, "live_blocks": 41}));
    assert_eq!(pick(&pta["alive_at_end"], &["blocks", "bytes"]), json!({"blocks": 24, "bytes": 264_920_064}));
    assert_eq!(bytes(&pta["baseline"]["drops"]), [128_512, 512, 512, 1_024, 245_838_336]);
    assert_eq!(bytes(&pta["baseline"]["rises"]), Vec::<i64>::new());
    assert_sums(pta);
    // GE reports the total at a release before the block is taken off: read so, its baseline never moves.
    assert_eq!(pick(ge, &["pool", "blocks"]), json!({"pool": "GE", "blocks": 57}));
    assert_eq!(ge["baseline"], json!({"first_bytes": 65_536, "drops": [], "rises": []}));
    assert_sums(ge);
}

#[test]
fn rows_cut_from_a_larger_file_show_as_baseline() {
    let Some(path) = capture("ascend/rl_insight_sample") else { return };
    let report = report(&path);
    let capture = &report["captures"][0];
    assert_eq!(pick(capture, &["rank", "capture_time"]), json!({"rank": 0, "capture_time": "2026-05-26T08:51:55"}));
    let device = &capture["devices"][0];
    // The device held 19–20 GB; the rows alone say 136 MB.
    assert_eq!(device["peak"]["total_bytes"], 21_116_837_376_i64);
    assert_eq!(bytes(&device["baseline"]["drops"]), [1_059_063_296]);
    let rises = bytes(&device["baseline"]["rises"]);
    assert_eq!(rises.len(), 6);
    assert!((rises.iter().sum::<i64>() - 1_110_451_198).abs() <= 2, "{rises:?}");
    assert!(capture["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == "baseline-rise"));
    assert_sums(device);
}

#[test]
fn stacks_with_their_reasons() {
    let Some(path) = capture("ascend/level0/rank0_ascend_pt") else { return };
    let report = report(&path);
    let counts = json!({"own": 69, "task_queue": 0, "ancestor": 0, "forward": 52, "python": 0, "nearest": 0, "none": 6});
    assert_eq!(report["captures"][0]["stacks"], counts);
    let by_stack = report["captures"][0]["devices"][0]["peak"]["by_stack"].as_array().unwrap();
    let total: i64 = by_stack.iter().map(|group| group["bytes"].as_i64().unwrap()).sum();
    assert_eq!(total, report["captures"][0]["devices"][0]["peak"]["tracked_bytes"]);
    assert_eq!(by_stack[0]["stack"][0], "<string>(1): <module>");
}
