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
        assert!(said.ends_with("\noomscope --help lists the options\n") && said.lines().count() == 2, "{said}");
    }
    assert!(stderr(&["x", "--fromat", "json"]).1.starts_with("oomscope: there is no option --fromat; did you mean --format?\n"));
    let help = String::from_utf8(oomscope(&["--help"]).stdout).unwrap();
    let usage = &help[..help.find("\n\n").unwrap()];
    for line in help.lines().filter_map(|line| line.strip_prefix("  --")) {
        let option = line.split([' ', ',']).next().unwrap();
        assert!(usage.contains(&format!("--{option}")), "the synopsis lacks --{option}");
    }
}

#[test]
fn two_outputs_are_never_one_file() {
    let folder = folder("one-file");
    let sample = fixture("ascend_sample/actor_update");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::create_dir(folder.join("below")).unwrap();
    write(&folder.join("there.csv"), b"kept");
    let mut pairs = vec![
        ("--out", path("a.svg"), "--chart", path("below/../a.svg")),
        ("--out", path("a.csv"), "--table", path("./a.csv")),
        ("--out", path("there.csv"), "--table", path("there.csv")),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("there.csv", folder.join("link.csv")).unwrap();
        std::os::unix::fs::symlink("nowhere.csv", folder.join("dangling.csv")).unwrap();
        std::os::unix::fs::symlink(".", folder.join("again")).unwrap();
        fs::hard_link(folder.join("there.csv"), folder.join("hard.txt")).unwrap();
        pairs.extend([
            ("--out", path("link.csv"), "--table", path("there.csv")),
            ("--out", path("hard.txt"), "--table", path("there.csv")),
            ("--out", path("nowhere.csv"), "--table", path("dangling.csv")),
            ("--out", path("again/a.svg"), "--chart", path("a.svg")),
        ]);
    }
    let before = support::files(&folder);
    for (one, first, other, second) in &pairs {
        let (code, said) = stderr(&[sample.to_str().unwrap(), one, first, other, second]);
        assert!(code == Some(2) && said.ends_with("are one file: name another for one of them\n"), "{first} {second}: {code:?} {said}");
    }
    assert_eq!(support::files(&folder), before);
    // Standard output may be a file, too.
    #[cfg(target_os = "linux")]
    {
        let table = path("there.csv");
        let stdout = fs::OpenOptions::new().append(true).open(&table).unwrap();
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_oomscope"));
        let output = program.args([sample.to_str().unwrap(), "--table", &table]).stdout(stdout).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(support::files(&folder), before);
        // Nothing is lost where nothing is kept.
        assert_eq!(stderr(&[sample.to_str().unwrap(), "--table", "-", "--out", "/dev/null"]).0, Some(0));
    }
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let folder = folder("whole");
    let sample = fixture("ascend_sample/actor_update");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| stderr(&[&[sample.to_str().unwrap()], arguments].concat());
    write(&folder.join("old.csv"), b"old");
    let (table, nowhere) = (path("old.csv"), path("no/report.txt"));
    let (code, said) = run(&["--table", &table, "--out", &nowhere]);
    assert!(code == Some(1) && said.contains(&format!("--out {nowhere}: ")) && said.contains("nothing was written"), "{said}");
    assert!(run(&["--out", &path("folder/")]).1.contains("nothing was written"));
    // What turns out wrong later leaves nothing either.
    for wrong in [&["--diff", "a", "b"][..], &["--chart", &path("x.svg"), "--chart-window", "100s..200s"]] {
        assert_eq!(run(&[&["--table", &table, "--out", &path("report.txt")], wrong].concat()).0, Some(2));
    }
    assert_eq!(support::files(&folder), [("whole/old.csv".to_owned(), b"old".to_vec())]);
    #[cfg(target_os = "linux")]
    {
        let (code, said) = run(&["--table", &table, "--out", "/dev/full"]);
        assert_eq!(code, Some(1));
        assert!(said.contains("/dev/full: No space left on device") && said.contains(&format!("; written: {table}; not written: /dev/full")), "{said}");
        // A link goes on leading to the file, and the file goes on being as private.
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&table, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink("old.csv", folder.join("link.csv")).unwrap();
        assert_eq!(run(&["--table", &path("link.csv"), "--out", &path("report.txt")]).0, Some(0));
        assert!(fs::read_to_string(&table).unwrap().lines().count() > 100 && folder.join("link.csv").is_symlink());
        assert_eq!(fs::metadata(&table).unwrap().permissions().mode() & 0o777, 0o600);
        let names: Vec<String> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
    }
}

#[test]
fn standard_output_is_for_one_of_them() {
    let sample = fixture("ascend_sample/actor_update");
    let output = oomscope(&[sample.to_str().unwrap(), "--table", "-"]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty() && table.starts_with("name,") && !table.contains("notes ("), "{}", &table[..80]);
    let (code, said) = stderr(&[sample.to_str().unwrap(), "--table", "-", "--out", "-"]);
    assert!(code == Some(2) && said.contains("--out and --table would both go to standard output"), "{said}");
    // Nothing to report: the exit status says so as it does with a report.
    assert_eq!(stderr(&["no/such/path", "--table", "-"]).0, Some(1));
}

/// A reader that has seen enough, as `head` has, ends the program without a word.
#[test]
fn who_reads_no_further_is_no_failure() {
    use std::io::Read;
    let sample = fixture("ascend_sample");
    for arguments in [&["--table", "-"][..], &["--table", "-", "--out", "/dev/null"], &["--format", "json"], &["--help"]] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_oomscope"));
        let pipes = program.arg(&sample).args(arguments).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), &said[..]), (Some(0), ""), "{arguments:?}");
    }
}

/// For root there is nothing that may not be read.
#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_not_called_empty() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("locked");
    let header = "Name,Size(KB),Allocation Time(us),Release Time(us),Allocation Total Allocated(MB),Release Total Allocated(MB),Device Type";
    let files = ["m.xplane.pb", "a_ascend_pt/operator_memory.csv", "b_ascend_pt/trace_view.json"].map(|name| folder.join(name));
    write(&folder.join("b_ascend_pt/operator_memory.csv"), format!("{header}\nx,1,1,2,1.0,0.5,NPU:0\n").as_bytes());
    for file in &files {
        write(file, b"x");
        fs::set_permissions(file, fs::Permissions::from_mode(0o000)).unwrap();
    }
    if fs::read(&files[0]).is_ok() {
        return;
    }
    let output = oomscope(&[folder.to_str().unwrap(), "--format", "json"]);
    let said = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
    for name in ["m.xplane.pb", "operator_memory.csv", "trace_view.json"] {
        assert!(said.contains(&format!("{name} could not be read: Permission denied")), "{name}: {said}");
    }
    assert!(!said.contains("is empty") && !said.contains("this is no") && !said.contains("no usable row"), "{said}");
}

/// What a capture lacks is said once to whoever sees the report beside it.
#[cfg(target_os = "linux")]
#[test]
fn notes_are_said_once_on_one_screen() {
    let folder = folder("once");
    write(&folder.join("bad_ascend_pt/operator_memory.csv"), b"Name,Size(KB)\nx,1\n");
    write(&folder.join("memory.pickle"), b"\x80\x04\x95\x10\x01\0\0\0\0\0\0}\x94(\x8c\x08segments\x94]");
    let screen = folder.join("screen.txt");
    let told = |format: &str| {
        let file = fs::File::create(&screen).unwrap();
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_oomscope"));
        let arguments = [folder.to_str().unwrap(), "--format", format];
        let code = program.args(arguments).stdout(file.try_clone().unwrap()).stderr(file).status().unwrap().code();
        let text = fs::read_to_string(&screen).unwrap();
        (code, count(&text, "has no column Allocation Time"), count(&text, "a snapshot of torch"))
    };
    assert_eq!((told("text"), told("markdown")), ((Some(1), 1, 1), (Some(1), 1, 1)));
    // Apart, each has them.
    assert!(stderr(&[folder.to_str().unwrap()]).1.contains("has no column Allocation Time"));
}

#[test]
fn what_memory_took_is_said_in_every_format() {
    let sample = fixture("ascend_sample/actor_update");
    for format in ["text", "markdown", "json"] {
        let (code, said) = stderr(&[sample.to_str().unwrap(), "--memory", "20K", "--format", format]);
        assert!(code == Some(0) && said.contains(" blocks are folded") && said.contains("--memory allows too little for more"), "{format}: {said}");
        assert!(stderr(&[sample.to_str().unwrap(), "--memory", "1g", "--format", format]).1.is_empty());
    }
    let jax = fixture("xplane_attention_oom");
    let said = stderr(&[jax.to_str().unwrap(), "--memory", "1kb", "--format", "json"]).1;
    assert!(said.contains("only the plans are told, not what happened at run time: --memory allows too little"), "{said}");
    let (code, said) = stderr(&["x", "--memory", "512"]);
    assert!(code == Some(2) && said.contains("512 has no unit: 512MiB or 512GiB, say"), "{said}");
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
    assert!(code == Some(2) && said.contains("heap is of the plan of a JAX module, and no capture here has one"), "{said}");
    assert!(said.contains("there are trend, lanes, stacked and flame"), "{said}");
    let sample = fixture("ascend_sample");
    let (code, said) = stderr(&[sample.to_str().unwrap(), "--module", "nope"]);
    assert_eq!((code, &said[..]), (Some(2), "oomscope: --module nope: modules are what JAX captures have, and none was read here\n"));
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
