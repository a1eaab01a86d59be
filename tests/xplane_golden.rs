//! Known values of JAX captures: computed by an independent program (`expected/*.json` beside the captures), and those that the
//! captures were made to show.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use support::{capture, fixture, oomscope, report};

const MIB: f64 = (1 << 20) as f64;

/// The report on one capture.
fn one(path: &Path) -> Value {
    let mut report = report(path);
    assert_eq!(report["captures"].as_array().unwrap().len(), 1);
    report["captures"][0].take()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn verdict<'a>(capture: &'a Value, code: &str) -> &'a Value {
    list(&capture["diagnosis"]).iter().find(|diagnosis| diagnosis["code"] == code).unwrap_or_else(|| panic!("no {code} in {}", capture["diagnosis"]))
}

fn codes(capture: &Value) -> Vec<&str> {
    list(&capture["diagnosis"]).iter().map(|diagnosis| diagnosis["code"].as_str().unwrap()).collect()
}

fn number(diagnosis: &Value, label: &str) -> i64 {
    let number = list(&diagnosis["numbers"]).iter().find(|number| number["label"] == label).unwrap_or_else(|| panic!("no {label} in {diagnosis}"));
    assert!(["measured", "read", "estimated"].contains(&number["basis"].as_str().unwrap()));
    number["value"].as_i64().unwrap()
}

fn assert_plan(module: &Value, expected: &Value) {
    let heap = &module["heap_peak"];
    let found = json!({
        "non_aliased_outputs": module["non_aliased_outputs_bytes"], "constants": module["constants_bytes"], "thread_local": module["thread_local_bytes"],
        "parameters": module["parameters"]["bytes"], "parameter_count": module["parameters"]["count"],
        "donated": module["parameters"]["donated_bytes"], "donated_count": module["parameters"]["donated_count"],
        "temp": module["temp_bytes"], "needed": module["needed_bytes"],
        "heap_replay_peak": heap["replay_bytes"], "heap_peak": heap["bytes"], "xla_rematerialized": module["xla_rematerialized"],
    });
    for (key, value) in found.as_object().unwrap() {
        assert_eq!(value, &expected[key], "{} {key}", module["name"]);
    }
    // What the buffers say of donation, the module's own table says too.
    assert_eq!(module["parameters"]["aliased_count"], expected["donated_count"]);
    if let Some(roles) = expected.get("roles_bytes") {
        let found: serde_json::Map<String, Value> =
            list(&heap["roles"]).iter().map(|role| (role["role"].as_str().unwrap().to_owned(), role["bytes"].clone())).collect();
        assert_eq!(&Value::Object(found), roles, "{}", module["name"]);
    }
}

/// Milliseconds with three decimals, as the expected values have them.
fn is_about(ns: &Value, ms: &Value) -> bool {
    (ns.as_f64().unwrap() / 1e6 - ms.as_f64().unwrap()).abs() < 0.0011
}

fn assert_runtime(capture: &Value, expected: &Value, on_cpu: bool, all_numbered_together: bool) {
    let allocators: BTreeMap<&str, &Value> = list(&capture["allocators"]).iter().map(|allocator| (allocator["name"].as_str().unwrap(), allocator)).collect();
    assert_eq!(allocators.len(), expected["allocators"].as_object().unwrap().len());
    for (name, expected) in expected["allocators"].as_object().unwrap() {
        let allocator = allocators[&name[..]];
        assert_eq!(
            [&allocator["events"], &allocator["capacity_bytes"], &allocator["peak_bytes"]],
            ["events", "capacity", "peak_in_capture"].map(|key| &expected[key])
        );
    }
    let first_device: Vec<&Value> = list(&capture["executions"]).iter().filter(|execution| execution["device"].as_i64().unwrap_or(0) == 0).collect();
    assert_eq!(first_device.len(), list(&expected["executions"]).len());
    for (execution, expected) in first_device.iter().zip(list(&expected["executions"])) {
        assert_eq!(execution["module"].as_str().unwrap().split('(').next(), expected["module"].as_str());
        assert_eq!(execution["used_at_start_bytes"], expected["used_at_start"]);
        assert!(is_about(&execution["start_ns"], &expected["t_ms"]) && is_about(&execution["duration_ns"], &expected["dur_ms"]), "{execution} {expected}");
        assert_eq!(execution["launched"], if on_cpu { Value::Null } else { expected["launched"].clone() });
        if !all_numbered_together {
            assert_eq!(execution["n"], expected["n"]);
        }
    }
    let seconds: Vec<f64> = list(&capture["retries"]).iter().map(|retry| (retry["duration_ns"].as_f64().unwrap() / 1e8).round() / 10.0).collect();
    assert_eq!(seconds, list(&expected["retries"]).iter().map(|retry| retry["seconds"].as_f64().unwrap()).collect::<Vec<_>>());
    for live in list(&capture["live_at_last_start"]) {
        let sum: i64 = list(&live["groups"]).iter().map(|group| group["bytes"].as_i64().unwrap()).sum();
        assert_eq!(live["used_bytes"].as_i64(), Some(sum), "the groups sum to what is used");
    }
    if let Some(expected) = expected.get("live_at_last_start").filter(|_| !all_numbered_together) {
        let groups = &capture["live_at_last_start"][0]["groups"];
        let found: serde_json::Map<String, Value> =
            list(groups).iter().map(|group| (group["owner"].as_str().unwrap().to_owned(), group["bytes"].clone())).collect();
        assert_eq!(&Value::Object(found), expected);
    }
}

fn assert_expected(name: &str, file: &str) {
    let (Some(file), Some(expected)) = (capture(&format!("xplane/{file}")), capture(&format!("xplane/expected/{name}.json"))) else { return };
    let expected: Value = serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap();
    let capture = one(&file);
    let modules = list(&capture["modules"]);
    assert_eq!(modules.len(), expected["modules"].as_object().unwrap().len());
    for module in modules {
        assert_plan(module, &expected["modules"][module["name"].as_str().unwrap()]);
    }
    assert_runtime(&capture, &expected, name.starts_with("cpu"), name.starts_with("gpu"));
}

#[test]
fn values_of_an_independent_program() {
    for name in ["attention", "eager", "nodonate", "retain", "scan_remat"] {
        assert_expected(&format!("cpu_{name}"), &format!("cpu/{name}/host.xplane.pb"));
    }
    for name in ["attention_oom", "nodonate", "retain", "scan_fits"] {
        assert_expected(&format!("synth_{name}"), &format!("synth/{name}.xplane.pb"));
    }
    assert_expected("gpu_mi300x_jax_conv", "gpu_mi300x/jax_conv.xplane.pb");
}

#[test]
fn a_step_that_does_not_fit() {
    let capture = one(&fixture("xplane_attention_oom"));
    assert_eq!(capture["chosen_module"], "jit_train_step(47)");
    assert_eq!(codes(&capture), ["step-does-not-fit", "allocator-retry", "xla-rematerialized", "capacity-below-hbm"]);
    let first = verdict(&capture, "step-does-not-fit");
    assert_eq!((number(first, "needed"), number(first, "capacity")), (3_092_648_636, 2_995_781_632));
    assert_eq!(number(first, "share of the temporaries"), 795);
    assert!(first["text"].as_str().unwrap().starts_with("the step itself doesn't fit: needs 2.880 GiB > 2.790 GiB"), "{first}");
    let actions: Vec<&str> = list(&first["fixes"]).iter().map(|fix| fix["action"].as_str().unwrap()).collect();
    assert!(actions[0].contains("jax.checkpoint") && actions.iter().any(|action| action.contains("fused attention")), "{actions:?}");
    assert!(list(&first["fixes"]).iter().all(|fix| fix["basis"] == "estimated" && fix["saves_bytes"].as_i64() > Some(0) && fix["fits_after"].is_boolean()));
    assert_eq!(number(verdict(&capture, "xla-rematerialized"), "rematerialized instructions"), 19);
    let retry = &capture["retries"][0];
    assert_eq!((&retry["module"], &retry["execution"], &retry["inferred"]), (&json!("jit_train_step(47)"), &json!(1), &json!(false)));
    assert!(verdict(&capture, "allocator-retry")["text"].as_str().unwrap().contains("longest 10.000 s, launched none"));
    let scores = list(&capture["modules"][0]["heap_peak"]["buffers"]).iter().find(|buffer| buffer["shape"] == "f32[8,8,1024,1024]").unwrap();
    assert_eq!((&scores["function"], &scores["count"], &scores["role"]), (&json!("attention"), &json!(4), &json!("forward")));
    assert!(scores["line"].as_i64() > Some(0) && scores["file"].as_str().unwrap().ends_with(".py"));
}

#[test]
fn residuals_of_a_scan_are_the_forward_passes() {
    let output = oomscope(&[fixture("xplane_scan_fits").to_str().unwrap(), "--format", "json", "--top", "1000"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let heap = &report["captures"][0]["modules"][0]["heap_peak"];
    let sum = |keep: &dyn Fn(&Value) -> bool| {
        list(&heap["buffers"]).iter().filter(|buffer| keep(buffer)).map(|buffer| buffer["bytes"].as_i64().unwrap()).sum::<i64>()
    };
    assert_eq!(sum(&|buffer| buffer["role"] == "forward") as f64 / MIB, 2230.25);
    assert_eq!(sum(&|buffer| buffer["via"] == "while.41") as f64 / MIB, 1218.5);
    assert_eq!(sum(&|_| true), heap["replay_bytes"].as_i64().unwrap());
    assert_eq!(codes(&report["captures"][0]), Vec::<&str>::new());
}

#[test]
fn outputs_that_are_kept() {
    let Some(path) = capture("xplane/synth/retain.xplane.pb") else { return };
    let capture = one(&path);
    let grows = verdict(&capture, "grows-per-execution");
    assert_eq!((number(grows, "growth per execution") as f64 / MIB * 10.0).round(), 1040.0);
    assert_eq!(
        (number(grows, "of the non-aliased outputs"), number(grows, "used at the first start") >> 20, number(grows, "used at the last start") >> 20),
        (1000, 316, 1252)
    );
    assert!(grows["text"].as_str().unwrap().contains("1.00× the non-aliased outputs"));
    let capacity = capture["allocators"][0]["capacity_bytes"].as_i64().unwrap();
    let module = &capture["modules"][0];
    let bytes = |key: &str| module[key].as_i64().unwrap();
    let room = capacity - number(grows, "used at the last start") - bytes("non_aliased_outputs_bytes") - bytes("temp_bytes");
    assert_eq!(number(grows, "more executions"), room / number(grows, "growth per execution"));
    let marked: Vec<&str> =
        list(&capture["between_last_two"]).iter().filter(|event| event["highlight"] == true).map(|event| event["name"].as_str().unwrap()).collect();
    assert_eq!(marked, ["$<unknown> append"]);
    let owners: Vec<&str> = list(&capture["live_at_last_start"][0]["groups"]).iter().map(|group| group["owner"].as_str().unwrap()).collect();
    assert!((1..=9).all(|n| owners.contains(&&format!("outputs of jit_train_step execution {n}")[..])), "{owners:?}");
}

#[test]
fn a_state_that_is_not_donated() {
    let Some(path) = capture("xplane/synth/nodonate.xplane.pb") else { return };
    let capture = one(&path);
    let donate = verdict(&capture, "not-donated");
    assert_eq!(number(donate, "can be saved") >> 20, 1815);
    assert!(donate["text"].as_str().unwrap().starts_with("no parameter is donated"));
    assert_eq!(capture["modules"][0]["temp_bytes"].as_i64().unwrap() >> 20, 9);
    // Temporaries are nothing here: no advice on roles.
    let first = verdict(&capture, "step-does-not-fit");
    assert!(first["args"].get("role").is_none() && !first["text"].as_str().unwrap().contains("temporaries"), "{first}");
}

#[test]
fn op_by_op_programs_are_said_to_be_such() {
    let Some(path) = capture("xplane/cpu/eager/host.xplane.pb") else { return };
    let capture = one(&path);
    assert!(verdict(&capture, "eager")["text"].as_str().unwrap().contains("121 executions"));
    assert!(verdict(&capture, "missing-data")["text"].as_str().unwrap().contains("CPU"));
    assert_eq!(capture["warnings"][0]["code"], "no-allocator-events");
}

#[test]
fn tensorflows_waits_are_inferred() {
    let capture = one(&fixture("xplane_bfc_retry"));
    let allocator = &capture["allocators"][0];
    assert_eq!(
        (&allocator["name"], &allocator["capacity_bytes"], &allocator["device"]),
        (&json!("bfc_cpu_allocator_for_gpu"), &json!(67_108_864), &Value::Null)
    );
    let retries = list(&capture["retries"]);
    assert_eq!(retries.len(), 2);
    assert!(retries.iter().all(|retry| retry["inferred"] == true && retry["module"].is_null() && retry["duration_ns"].as_i64().unwrap() / 100_000_000 == 100));
    assert!(verdict(&capture, "allocator-retry")["text"].as_str().unwrap().contains("probable"));
    assert!(verdict(&capture, "missing-data")["text"].as_str().unwrap().contains("no plan in this capture"));
    assert_eq!(capture["warnings"][0]["code"], "no-hlo-proto");
}

#[test]
fn eight_devices_each_alone() {
    let Some(path) = capture("xplane/gpu_mi300x/jax_conv.xplane.pb") else { return };
    let capture = one(&path);
    for device in 0..8 {
        let own: Vec<&Value> = list(&capture["executions"]).iter().filter(|execution| execution["device"] == device).collect();
        assert_eq!(own.iter().map(|execution| execution["n"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert!(own.iter().all(|execution| execution["module"] == "jit_forward_3d_conv(15)" && execution["launched"] == true));
        let allocator = &capture["allocators"][device];
        assert_eq!((&allocator["capacity_bytes"], &allocator["hbm_bytes"]), (&json!(154_606_239_744i64), &json!(206_141_652_992i64)));
    }
    let live = &capture["live_at_last_start"];
    assert_eq!(list(live).len(), 8);
    let expected = json!([
        {"owner": "outputs of jit_forward_3d_conv execution 4", "bytes": 572_026_880, "blocks": 1},
        {"owner": "allocated before the capture started", "bytes": 7_045_888, "blocks": 0},
    ]);
    assert_eq!(live[0]["groups"], expected);
}

#[test]
fn several_hosts_are_told_the_worst_first() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hosts");
    let _ = std::fs::remove_dir_all(&folder);
    let run = folder.join("plugins/profile/2026_01_01_00_00_00");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::copy(fixture("xplane_scan_fits/scan_fits.xplane.pb"), run.join("a.xplane.pb")).unwrap();
    let packed = std::fs::read(fixture("xplane_attention_oom/attention_oom.xplane.pb")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &packed).unwrap();
    std::fs::write(run.join("b.xplane.pb.gz"), encoder.finish().unwrap()).unwrap();
    let output = oomscope(&[folder.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "2 JAX captures, the worst first");
    assert!(lines[1].contains("b.xplane.pb.gz: the step itself doesn't fit") && lines[2].contains("a.xplane.pb"), "{text}");
    let sources: Vec<Value> = list(&report(&folder)["captures"]).iter().map(|capture| capture["source"].clone()).collect();
    assert_eq!(sources, [json!("hosts/plugins/profile/2026_01_01_00_00_00/a.xplane.pb"), json!("hosts/plugins/profile/2026_01_01_00_00_00/b.xplane.pb.gz")]);
}

#[test]
fn a_module_is_chosen_by_name() {
    let path = fixture("xplane_attention_oom");
    for name in ["jit_eval_step", "jit_eval_step(33)"] {
        let output = oomscope(&[path.to_str().unwrap(), "--format", "json", "--module", name]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let capture = &report["captures"][0];
        assert_eq!(capture["chosen_module"], "jit_eval_step(33)");
        assert!(codes(capture).contains(&"no-gradient"));
        assert_eq!(capture["live_at_last_start"][0]["execution"], 2);
    }
    let output = oomscope(&[path.to_str().unwrap(), "--module", "jit_nothing"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no capture has a module jit_nothing; there are: jit_eval_step(33), jit_train_step(47)"), "{said}");
    assert!(output.status.code() == Some(2) && output.stdout.is_empty());
}

#[test]
fn two_captures_in_one_file_are_told() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("joined_xspace");
    std::fs::create_dir_all(&folder).unwrap();
    let one = std::fs::read(fixture("xplane_bfc_retry").join("bfc_retry.xplane.pb")).unwrap();
    let path = folder.join("joined.xplane.pb");
    std::fs::write(&path, [&one[..], &one].concat()).unwrap();
    let warnings = report(&path)["captures"][0]["warnings"].clone();
    assert_eq!(list(&warnings)[0]["code"], "joined-capture", "{warnings}");
}

#[test]
fn a_file_that_is_no_capture_is_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_xspace");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, b"{\"traceEvents\": []}").unwrap();
    let cases: [(&str, Vec<u8>, &str); 6] = [
        ("empty", Vec::new(), "the file is empty"),
        ("json", b"{\"a\": 1}".to_vec(), "this is JSON"),
        ("packed_json", gzip.finish().unwrap(), "this is JSON"),
        ("page", b"<!DOCTYPE html><html></html>".to_vec(), "this is an HTML page"),
        ("database", b"SQLite format 3\0\x10\0\x01\x01".to_vec(), "this is an SQLite database"),
        ("noise", vec![0xff; 100], "nothing in it can be read"),
    ];
    for (name, bytes, expected) in cases {
        let file = folder.join(format!("{name}.xplane.pb"));
        std::fs::write(&file, bytes).unwrap();
        let output = oomscope(&[file.to_str().unwrap()]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(expected), "{name}: {said}");
    }
    if let Some(file) = capture("xplane/damaged/replaced_bytes.xplane.pb") {
        let output = oomscope(&[file.to_str().unwrap()]);
        assert!(output.status.code() == Some(1) && String::from_utf8(output.stderr).unwrap().contains("U+FFFD"));
    }
}
