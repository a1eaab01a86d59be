//! The command line's contract: formats, exit statuses, what it says of bad input, and the report's exact bytes.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod support;

use std::fs;
use std::path::Path;
use support::{fixture, folder, oomscope, report};

fn write(path: &Path, text: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn stderr(arguments: &[&str]) -> (Option<i32>, String) {
    let output = oomscope(arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// The snapshot of the schema: `OOMSCOPE_UPDATE=1` writes it anew.
#[test]
fn the_json_is_the_same_to_the_byte() {
    let output = oomscope(&[fixture("ascend_sample").to_str().unwrap(), "--format", "json"]);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ascend_sample.json");
    if std::env::var_os("OOMSCOPE_UPDATE").is_some() {
        fs::write(&golden, &output.stdout).unwrap();
    }
    assert_eq!(String::from_utf8(output.stdout).unwrap(), fs::read_to_string(golden).unwrap());
}

#[test]
fn text_is_the_default_and_says_the_peak() {
    let output = oomscope(&[fixture("ascend_sample").to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    let peak = report(&fixture("ascend_sample"))["captures"][0]["devices"][0]["peak"]["total_bytes"].to_string();
    assert!(output.status.success() && text.contains(&format!("({peak} B)")), "{text}");
}

#[test]
fn out_writes_a_file_and_top_shortens_lists() {
    let out = folder("out").join("report.json");
    let output = oomscope(&[fixture("ascend_sample").to_str().unwrap(), "--format", "json", "--top", "2", "--out", out.to_str().unwrap()]);
    assert!(output.status.success() && output.stdout.is_empty());
    let report: serde_json::Value = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    assert_eq!(report["captures"][0]["devices"][0]["top_by_bytes"].as_array().unwrap().len(), 2);
}

#[test]
fn a_wrong_command_line_is_2() {
    for arguments in [&[][..], &["x", "--format", "yaml"], &["x", "--top", "many"], &["x", "--nonsense"]] {
        let (code, said) = stderr(arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(said.contains("usage: oomscope"), "{said}");
    }
}

#[test]
fn nothing_found_is_1_and_says_what_was_looked_for() {
    let folder = folder("nothing");
    write(&folder.join("notes.txt"), b"x");
    let (code, said) = stderr(&[folder.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(said.contains("looked for operator_memory.csv, *.xplane.pb, reports and saved pages in 1 file (nothing/notes.txt)"), "{said}");
    assert_eq!(stderr(&["no/such/path"]), (Some(1), "oomscope: no/such/path: no such file or folder\n".to_owned()));
}

#[test]
fn what_holds_nothing_is_said_to() {
    let folder = folder("holds-nothing");
    fs::create_dir_all(&folder).unwrap();
    let empty = folder.join("reports");
    write(&empty.join("none.json"), br#"{"schema": "oomscope.report/1", "captures": [], "warnings": []}"#);
    let bare = folder.join("bare");
    fs::create_dir_all(&bare).unwrap();
    for (path, expected) in [(empty.as_path(), "this report holds no capture"), (&bare, "no file lies below this folder")] {
        let (code, said) = stderr(&[path.to_str().unwrap()]);
        assert!(code == Some(1) && said.contains(expected), "{code:?} {said}");
    }
    #[cfg(unix)]
    assert!(stderr(&["/dev/null"]).1.contains("neither a file nor a folder"));
    let jax = fixture("xplane_attention_oom");
    let table = folder.join("table.csv");
    let (_, said) = stderr(&[jax.to_str().unwrap(), "--table", table.to_str().unwrap()]);
    assert!(said.contains("--table: the table has a row for each block of an Ascend capture"), "{said}");
    let (code, said) = stderr(&[jax.to_str().unwrap(), "--diff", "a", "b"]);
    assert!(code == Some(2) && said.contains("only Ascend captures can be compared"), "{said}");
}

#[test]
fn what_cannot_be_read_is_named_with_what_to_do() {
    let folder = folder("unread");
    write(&folder.join("memory.pickle"), b"\x80\x04\x95\x10\x01\0\0\0\0\0\0}\x94(\x8c\x08segments\x94]");
    write(&folder.join("x.db"), b"SQLite format 3\0");
    write(&folder.join("other.db"), b"no database");
    let (code, said) = stderr(&[folder.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(said.contains("unread/memory.pickle: a snapshot of torch's allocator") && said.contains("unread/x.db: this export is not read yet"), "{said}");
    assert!(!said.contains("other.db"), "{said}");
}

#[test]
fn paths_of_one_name_stay_apart_and_a_file_named_twice_counts_once() {
    let folder = folder("named");
    let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB),Device Type";
    for (run, size) in [("a", 1), ("b", 2)] {
        write(&folder.join(run).join("job/x_ascend_pt/operator_memory.csv"), format!("{header}\nx,{size},1,2,1.0,0.5,NPU:0\n").as_bytes());
    }
    let [a, b] = ["a/job", "b/job"].map(|path| folder.join(path).to_str().unwrap().to_owned());
    let output = oomscope(&[&a, &b, &a, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let sources: Vec<_> = report["captures"].as_array().unwrap().iter().map(|capture| capture["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["job (2)/x_ascend_pt", "job/x_ascend_pt"]);
}

#[test]
fn one_capture_against_another() {
    let sample = fixture("ascend_sample");
    let output = oomscope(&[sample.to_str().unwrap(), "--diff", "actor_update:0", "critic_update:0", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let device = &report["differences"][0]["devices"][0];
    let peak = |capture: usize| report["captures"][capture]["devices"][0]["peak"]["total_bytes"].as_i64().unwrap();
    assert_eq!(device["total_bytes"]["difference"].as_i64().unwrap(), peak(2) - peak(0));
    let sum = |groups: &str| device[groups].as_array().unwrap().iter().map(|group| group["difference_bytes"].as_i64().unwrap()).sum::<i64>();
    let without_baseline = peak(2) - peak(0) - device["baseline_bytes"]["difference"].as_i64().unwrap();
    assert_eq!((sum("by_operator"), sum("by_stack")), (without_baseline, without_baseline));
    for format in ["text", "markdown"] {
        let output = oomscope(&[sample.to_str().unwrap(), "--diff", "actor_update:0", "critic_update:0", "--format", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("aten::_log_softmax") && text.contains("gone"), "{text}");
    }
    let (code, said) = stderr(&[sample.to_str().unwrap(), "--diff", "actor_update:0", "nobody"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("--diff: nobody is none of the captures; there are: ascend_sample/actor_update/"), "{said}");
}

#[test]
fn nearest_stacks_are_guesses_that_are_counted() {
    let sample = fixture("ascend_sample");
    let output = oomscope(&[sample.to_str().unwrap(), "--nearest-stacks", "--format", "json"]);
    let guessed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let plain = report(&sample);
    for (with, without) in guessed["captures"].as_array().unwrap().iter().zip(plain["captures"].as_array().unwrap()) {
        let count = |capture: &serde_json::Value, key: &str| capture["stacks"][key].as_u64().unwrap();
        assert!(count(with, "nearest") > 0 && count(without, "nearest") == 0);
        assert_eq!((count(with, "nearest") + count(with, "none"), count(with, "own")), (count(without, "none"), count(without, "own")));
    }
    let text = String::from_utf8(oomscope(&[sample.to_str().unwrap(), "--nearest-stacks"]).stdout).unwrap();
    assert!(text.contains("and a guess for "), "{text}");
}

#[test]
fn a_raw_capture_names_the_command_that_analyses_it() {
    let folder = folder("raw");
    write(&folder.join("h_1_20260526_085155_ascend_pt/PROF_000001/device_0/data"), b"x");
    let (code, said) = stderr(&[folder.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(said.contains("torch_npu.profiler.profiler.analyse(\"raw/h_1_20260526_085155_ascend_pt\")"), "{said}");
}

#[test]
fn what_fails_beside_a_good_capture_is_in_the_report() {
    let folder = folder("beside");
    write(
        &folder.join("good_ascend_pt/operator_memory.csv"),
        b"Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB),Device Type\nx,1,1,2,1.0,0.5,NPU:0\n",
    );
    write(&folder.join("bad_ascend_pt/operator_memory.csv"), b"Name,Size(KB)\nx,1\n");
    let output = oomscope(&[folder.to_str().unwrap(), "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("has no column Allocation Time; it has: Name, Size(KB)"));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["captures"][0]["devices"], serde_json::json!([]));
    assert_eq!(report["captures"][1]["devices"][0]["blocks"], 1);
}

#[test]
fn it_writes_nothing_beside_a_capture() {
    let before = support::files(&fixture("ascend_sample"));
    report(&fixture("ascend_sample"));
    assert_eq!(support::files(&fixture("ascend_sample")), before);
}

#[test]
fn nothing_is_written_over_a_capture() {
    let folder = folder("over");
    let table = folder.join("x_ascend_pt/operator_memory.csv");
    write(&table, b"Name,Size(KB)\n");
    for option in ["--out", "--table"] {
        let (code, said) = stderr(&[folder.to_str().unwrap(), option, table.to_str().unwrap()]);
        assert_eq!(code, Some(2), "{said}");
    }
    assert_eq!(fs::read(table).unwrap(), b"Name,Size(KB)\n");
}

#[test]
fn what_nothing_was_found_for_stays() {
    let out = folder("stays").join("keep.json");
    write(&out, b"kept");
    assert_eq!(stderr(&["no/such/path", "--out", out.to_str().unwrap()]).0, Some(1));
    assert_eq!(fs::read(out).unwrap(), b"kept");
}

#[test]
fn totals_that_are_not_there_are_said_to_be_unknown() {
    let folder = folder("totals");
    let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB),Device Type";
    write(&folder.join("a_ascend_pt/operator_memory.csv"), format!("{header}\nx,1,1,2,,N/A,NPU:0\n").as_bytes());
    write(&folder.join("b_ascend_pt/operator_memory.csv"), format!("{header}\nx,1,1,1,1.0,1.0,NPU:0\n").as_bytes());
    let report = report(&folder);
    let codes = |capture: usize| report["captures"][capture]["warnings"].to_string();
    assert!(codes(0).contains("no-totals") && codes(1).contains("no-blocks"), "{report}");
}

#[test]
fn ranks_and_roles_are_chosen_and_those_there_are_named() {
    let sample = fixture("ascend_sample");
    let output = oomscope(&[sample.to_str().unwrap(), "--rank", "1", "--role", "critic_update", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let captures = report["captures"].as_array().unwrap();
    assert_eq!((captures.len(), &captures[0]["rank"], &captures[0]["role"]), (1, &1.into(), &"critic_update".into()));
    let (code, said) = stderr(&[sample.to_str().unwrap(), "--role", "actor"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("there are: actor_update rank 0, actor_update rank 1, critic_update rank 0, critic_update rank 1"), "{said}");
}

#[test]
fn the_self_test_says_a_line_for_each_sample() {
    let output = oomscope(&["--self-test"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.lines().count() == 5 && said.lines().all(|line| line.starts_with("ok ")), "{said}");
}

/// A picture of the sample, and what was said.
fn chart(name: &str, arguments: &[&str]) -> (Vec<u8>, String) {
    let folder = folder(&format!("chart-{name}"));
    let (file, report) = (folder.join(name), folder.join("report.txt"));
    let sample = fixture("ascend_sample/actor_update");
    let all = [&[sample.to_str().unwrap(), "--out", report.to_str().unwrap(), "--chart", file.to_str().unwrap()], arguments].concat();
    let output = oomscope(&all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (fs::read(file).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn count(svg: &str, what: &str) -> usize {
    svg.matches(what).count()
}

#[test]
fn a_chart_is_svg_with_what_the_report_says() {
    let report = report(&fixture("ascend_sample/actor_update"));
    let peaks = report["captures"].as_array().unwrap().iter().map(|capture| capture["devices"][0]["peak"]["total_bytes"].as_i64().unwrap());
    let peak = oomscope::units::human_bytes(peaks.max().unwrap());
    let (trend, _) = chart("trend.svg", &["--chart-size", "900x400"]);
    let trend = String::from_utf8(trend).unwrap();
    assert!(trend.starts_with("<svg width=\"900\" height=\"400\"") && trend.trim_end().ends_with("</svg>"), "{}", &trend[..200]);
    assert!(trend.contains(&format!("peak {peak} · ")) && trend.contains("actor_update rank"), "{trend}");
    // The same capture is the same picture.
    assert_eq!(chart("again.svg", &["--chart-size", "900x400"]).0, trend.into_bytes());
}

#[test]
fn a_chart_of_lanes_has_the_bars_of_its_window() {
    let bars = |window: &str| {
        let (svg, _) = chart("lanes.svg", &["--chart-kind", "lanes", "--chart-window", window]);
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.contains("aten::matmul") && svg.contains("Blocks by operator"), "{}", &svg[..400]);
        // Those of the first operator's hue, but for the swatch beside its name.
        count(&svg, "fill=\"#1980E7\"") - 1
    };
    let (all, part) = (bars("0s..1s"), bars("0ms..20ms"));
    assert!(all > 30 && part > 10 && part < all, "{all} {part}");
    let (flame, _) = chart("flame.svg", &["--chart-kind", "flame"]);
    let flame = String::from_utf8(flame).unwrap();
    assert!(flame.contains("update_policy") && flame.contains("&lt;module&gt;"), "{flame}");
    let (stacked, _) = chart("stacked.svg", &["--chart-kind", "stacked", "--chart-theme", "dark"]);
    let stacked = String::from_utf8(stacked).unwrap();
    assert!(stacked.contains("#14171C") && count(&stacked, "<rect") > 100);
}

#[test]
fn a_png_has_its_size_and_something_on_it() {
    for kind in ["trend", "lanes", "stacked", "flame"] {
        let (png, said) = chart(&format!("{kind}.png"), &["--chart-kind", kind, "--chart-size", "640x480"]);
        let mut reader = png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (640, 480));
        let colours: std::collections::HashSet<&[u8]> = pixels.chunks(3).collect();
        assert!(colours.len() > 20, "{kind}: {} colours", colours.len());
        assert!(!said.contains("letters"), "{said}");
        assert_eq!(chart(&format!("{kind}.png"), &["--chart-kind", kind, "--chart-size", "640x480"]).0, png);
    }
}

#[test]
fn a_chart_that_cannot_be_is_2_and_says_why() {
    let file = folder("no-chart").join("x.svg");
    let of = |capture: &str, arguments: &[&str]| {
        let path = fixture(capture);
        stderr(&[&[path.to_str().unwrap(), "--chart", file.to_str().unwrap()], arguments].concat())
    };
    let (code, said) = of("ascend_sample", &["--chart-kind", "heap"]);
    assert!(code == Some(2) && said.contains("no JAX module"), "{said}");
    let (code, said) = of("ascend_sample", &["--chart-window", "100s..200s"]);
    assert!(code == Some(2) && said.contains("the window lies beyond the capture, which is"), "{said}");
    let (code, said) = of("ascend_formats/ge", &["--chart-kind", "flame"]);
    assert!(code == Some(2) && said.contains("no call stacks"), "{said}");
    assert!(!file.exists());
    let (code, _) = of("xplane_attention_oom", &["--chart-kind", "heap"]);
    assert!(code == Some(0) && fs::read_to_string(&file).unwrap().contains("Heap over the schedule · jit_train_step(47)"));
    let sample = fixture("xplane_scan_fits");
    let there = fs::canonicalize(fixture("xplane_scan_fits/README.md")).unwrap();
    assert!(stderr(&[sample.to_str().unwrap(), "--chart", there.to_str().unwrap()]).1.contains("ends in .svg or .png"));
}
