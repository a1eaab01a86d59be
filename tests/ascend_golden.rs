//! Known values of real captures, read by the command line.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use oomscope::ascend::operator_memory::{OperatorMemoryReader, Pool};
use oomscope::ascend::stacks::{Reason, stacks};
use oomscope::ascend::trace_view::{NONE, TraceReader, first_user_frame};
use serde_json::{Value, json};
use std::path::Path;
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

/// Of a capture's framework blocks those to which RL-Insight gives a stack that their operator does not carry: line of operator_memory.csv,
/// name, first user frame of the stack it gives (the last operator of the name that carries one, however long ago), and ours with its
/// reason. That `nearest` is its rule is what the tests in tests/parity show.
fn not_theirs(folder: &Path) -> Vec<(u32, String, String, String)> {
    let output = folder.join("ASCEND_PROFILER_OUTPUT");
    let read = |name: &str| std::fs::read(output.join(name)).unwrap();
    let mut table = OperatorMemoryReader::default();
    table.begin("operator_memory.csv");
    table.feed(&read("operator_memory.csv"));
    table.end();
    let mut trace = TraceReader::new("trace_view.json");
    trace.feed(&read("trace_view.json"));
    let trace = trace.finish();
    let devices = table.finish().devices;
    let device = devices.iter().find(|device| device.pool == Pool::Pta).unwrap();
    let found = stacks(&device.blocks, &trace);
    let frame = |stack: u32| found.texts.get(stack as usize).and_then(|text| first_user_frame(text)).unwrap_or("-").to_owned();
    let row = |block: usize| {
        let name = device.blocks.names[device.blocks.name[block] as usize].clone();
        let ours = format!("{} {}", found.reasons[block].name(), frame(found.of_block[block]));
        (device.blocks.line[block], name, frame(found.nearest[block]), ours)
    };
    let wrong = |&block: &usize| found.nearest[block] != NONE && found.reasons[block] != Reason::Own;
    (0..device.blocks.len()).filter(wrong).map(row).collect()
}

#[test]
fn the_stacks_that_rl_insight_gets_wrong() {
    let Some(path) = capture("ascend/level0/rank0_ascend_pt") else { return };
    const SCRIPT: &str = "/home/user00001/imagenet_script/main.py";
    let accuracy = format!("{SCRIPT}(536): accuracy");
    let train = format!("{SCRIPT}(355): train");
    let row = |line: u32, name: &str, theirs: &str, ours: &str| (line, name.to_owned(), theirs.to_owned(), ours.to_owned());
    let expected = [
        // The gradient of the loss: made by nll_loss_backward, whose forward operator was called at that very line. They get there by
        // chance: the last aten::ones with a stack was called below that line too, 8.457 ms before.
        row(52, "aten::ones", &train, &format!("forward {train}")),
        // Gradients of the bias, made by AddmmBackward0 on the autograd thread: aten::sum itself and what is around it carry neither a stack
        // nor a sequence number. The sum in accuracy() that they are given had ended 5.1 to 7.0 ms before.
        row(57, "aten::sum", &accuracy, "not-carried -"),
        row(58, "aten::sum", &accuracy, "not-carried -"),
        row(62, "aten::sum", &accuracy, "not-carried -"),
        row(63, "aten::sum", &accuracy, "not-carried -"),
        row(69, "aten::sum", &accuracy, "not-carried -"),
        row(70, "aten::sum", &accuracy, "not-carried -"),
    ];
    assert_eq!(not_theirs(&path), expected);
}
