//! What the command line asks for.

use crate::memory::limit;
use crate::usage::{USAGE, is_option, nearest};
use oomscope::ascend::select::{Selection, rank_list};
use oomscope::export::chart::{Kind, Wanted};
use oomscope::session::Include;
use oomscope::units::Decimal;
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How the report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Text,
    Markdown,
    Json,
}

/// Where something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    StandardOutput,
    File(PathBuf),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::StandardOutput => write!(f, "- (standard output)"),
            Target::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Target {
    fn of(path: PathBuf) -> Target {
        if path == Path::new("-") { Target::StandardOutput } else { Target::File(path) }
    }

    /// The file, where it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Target::StandardOutput => None,
            Target::File(path) => Some(path),
        }
    }
}

#[derive(Debug)]
pub struct Options {
    pub paths: Vec<PathBuf>,
    pub top: usize,
    pub format: Format,
    /// `None`: not named.
    pub out: Option<Target>,
    pub table: Option<Target>,
    pub chart: Option<ChartAsked>,
    /// A page with the captures in it, and what goes along.
    pub html: Option<Target>,
    pub include: Include,
    pub nearest: bool,
    pub selection: Selection,
    /// Of JAX captures.
    pub module: Option<String>,
    /// What captures may take, in bytes.
    pub memory: Option<u64>,
    /// Captures against each other: A, B.
    pub differences: Vec<(String, String)>,
}

impl Options {
    /// Where the report goes; nowhere where something else has standard output.
    pub fn report(&self) -> Option<&Target> {
        let is_taken = [&self.table, &self.html].into_iter().flatten().any(|target| *target == Target::StandardOutput);
        self.out.as_ref().or(if is_taken { None } else { Some(&Target::StandardOutput) })
    }

    /// All that is written, each with the option that asks for it.
    pub fn outputs(&self) -> Vec<(&'static str, &Target)> {
        let chart = self.chart.as_ref().map(|chart| &chart.file);
        let all = [("--out", self.report()), ("--table", self.table.as_ref()), ("--chart", chart), ("--html", self.html.as_ref())];
        all.into_iter().filter_map(|(option, target)| Some((option, target?))).collect()
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartAsked {
    pub file: Target,
    pub is_svg: bool,
    /// What suits the capture, where none is named.
    pub kind: Option<Kind>,
    pub wanted: Wanted,
}

/// What is to be done.
#[derive(Debug)]
pub enum Asked {
    Report(Box<Options>),
    /// This text.
    Print(&'static str),
    /// The built-in samples against their known values.
    SelfTest,
}

/// Reads the command line; the error says what is wrong with it.
pub fn asked(arguments: impl IntoIterator<Item = OsString>) -> Result<Asked, String> {
    use lexopt::prelude::*;
    let mut options = Options {
        paths: Vec::new(),
        top: DEFAULT_TOP,
        format: Format::Text,
        out: None,
        table: None,
        chart: None,
        html: None,
        include: Include { stacks: true, folders: true },
        nearest: false,
        selection: Selection::default(),
        module: None,
        memory: None,
        differences: Vec::new(),
    };
    let mut chart = ChartOptions::default();
    let mut seen = HashSet::new();
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        let option = match argument {
            Value(path) => {
                options.paths.push(path.into());
                continue;
            }
            Short('h') => "help".to_owned(),
            Short('V') => "version".to_owned(),
            Short(letter) => return Err(unknown(&format!("-{letter}"))),
            Long(option) => option.to_owned(),
        };
        match &option[..] {
            "top" => options.top = count(&text(&mut parser, "--top")?)?,
            "rank" => options.selection.ranks = rank_list(&text(&mut parser, "--rank")?).map_err(|error| format!("--rank: {error}"))?,
            "role" => options.selection.role = Some(text(&mut parser, "--role")?),
            "module" => options.module = Some(text(&mut parser, "--module")?),
            "memory" => options.memory = Some(limit(&text(&mut parser, "--memory")?)?),
            "diff" => options.differences.push((text(&mut parser, "--diff")?, text(&mut parser, "--diff A")?)),
            "table" => options.table = Some(table(file(&mut parser, "--table")?)?),
            "chart" => chart.file = Some(file(&mut parser, "--chart")?),
            "chart-kind" => chart.kind = Some(kind(&text(&mut parser, "--chart-kind")?)?),
            "chart-window" => chart.window_ns = Some(window(&text(&mut parser, "--chart-window")?)?),
            "chart-size" => chart.size_px = Some(size(&text(&mut parser, "--chart-size")?)?),
            "chart-theme" => chart.is_dark = Some(is_dark(&text(&mut parser, "--chart-theme")?)?),
            "html" => options.html = Some(html(file(&mut parser, "--html")?)?),
            "without-stacks" => options.include.stacks = false,
            "without-folders" => options.include.folders = false,
            "nearest-stacks" => options.nearest = true,
            "format" => options.format = format(&text(&mut parser, "--format")?)?,
            "out" => options.out = Some(Target::of(file(&mut parser, "--out")?)),
            "self-test" => {}
            "help" => return Ok(Asked::Print(USAGE)),
            "version" => return Ok(Asked::Print(concat!("oomscope ", env!("CARGO_PKG_VERSION"), "\n"))),
            other => return Err(unknown(&format!("--{other}"))),
        }
        // Of two values one would count without a word.
        if !seen.insert(option.clone()) && !MAY_BE_REPEATED.contains(&&option[..]) {
            return Err(format!("--{option} is given twice"));
        }
    }
    if seen.contains("self-test") {
        let alone = seen.len() == 1 && options.paths.is_empty();
        return if alone { Ok(Asked::SelfTest) } else { Err("--self-test stands alone: it reads the built-in samples and nothing else".to_owned()) };
    }
    options.chart = chart.asked()?;
    check(&options, &seen)?;
    Ok(Asked::Report(Box::new(options)))
}

/// Whether the options go together.
fn check(options: &Options, seen: &HashSet<String>) -> Result<(), String> {
    let first_of = |names: &[&'static str]| names.iter().copied().find(|name| seen.contains(*name));
    if options.paths.is_empty() {
        return Err("name a folder or a file to read".to_owned());
    }
    if let Some(option) = first_of(&["without-stacks", "without-folders"]).filter(|_| options.html.is_none()) {
        return Err(format!("--{option} says what stays out of a page; name its file with --html"));
    }
    let to_stdout: Vec<&str> = options.outputs().into_iter().filter(|(_, target)| **target == Target::StandardOutput).map(|(option, _)| option).collect();
    if let [one, other, ..] = to_stdout[..] {
        return Err(format!("{one} and {other} would both go to standard output: name a file for one of them"));
    }
    if let Some(option) = first_of(&["format", "top", "diff"]).filter(|_| options.report().is_none()) {
        let taken = to_stdout.first().copied().unwrap_or_default();
        return Err(format!("--{option} is of the report, and there is none where {taken} - has standard output: name a file for it with --out"));
    }
    Ok(())
}

/// How many rows lists have.
const DEFAULT_TOP: usize = 25;

/// Options that may stand there more than once.
const MAY_BE_REPEATED: [&str; 4] = ["diff", "nearest-stacks", "without-stacks", "without-folders"];

fn unknown(option: &str) -> String {
    let meant = nearest(option).map_or(String::new(), |near| format!("; did you mean {near}?"));
    format!("there is no option {option}{meant}")
}

/// The picture's options, as they come in.
#[derive(Default)]
struct ChartOptions {
    file: Option<PathBuf>,
    kind: Option<Kind>,
    window_ns: Option<(i64, i64)>,
    size_px: Option<(u32, u32)>,
    is_dark: Option<bool>,
}

impl ChartOptions {
    fn asked(self) -> Result<Option<ChartAsked>, String> {
        let ChartOptions { file, kind, window_ns, size_px, is_dark } = self;
        let Some(file) = file else {
            let alone = kind.is_some() || window_ns.is_some() || size_px.is_some() || is_dark.is_some();
            return if alone { Err("--chart-… options say how a picture looks; name its file with --chart".to_owned()) } else { Ok(None) };
        };
        let ends_in = |ending: &str| file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
        if !ends_in("svg") && !ends_in("png") {
            return Err(format!("--chart is a file that ends in .svg or .png, not {}", file.display()));
        }
        let wanted = Wanted { kind: kind.unwrap_or(Kind::Trend), window_ns, size_px: size_px.unwrap_or(DEFAULT_SIZE_PX), is_dark: is_dark.unwrap_or(false) };
        Ok(Some(ChartAsked { is_svg: ends_in("svg"), file: Target::File(file), kind, wanted }))
    }
}

const DEFAULT_SIZE_PX: (u32, u32) = (1280, 720);
/// Smaller pictures have no room for axes, larger ones no use.
const SMALLEST_PX: u32 = 200;
const LARGEST_PX: u32 = 10_000;

fn kind(text: &str) -> Result<Kind, String> {
    match text {
        "trend" => Ok(Kind::Trend),
        "lanes" => Ok(Kind::Lanes),
        "stacked" => Ok(Kind::Stacked),
        "flame" => Ok(Kind::Flame),
        "heap" => Ok(Kind::Heap),
        other => Err(format!("--chart-kind is trend, lanes, stacked, flame or heap, not {other}")),
    }
}

fn window(text: &str) -> Result<(i64, i64), String> {
    let range = text.split_once("..").and_then(|(from, to)| Some((nanoseconds(from)?, nanoseconds(to)?)));
    range
        .filter(|(from, to)| from < to)
        .ok_or_else(|| format!("--chart-window is a stretch of time as in 300ms..1.5s, with s, ms, us or ns and the earlier first, not {text}"))
}

/// Units of time, those first whose names end in another's.
const UNITS_NS: [(&str, u64); 5] = [("ms", 1_000_000), ("us", 1_000), ("µs", 1_000), ("ns", 1), ("s", 1_000_000_000)];

fn nanoseconds(text: &str) -> Option<i64> {
    let text = text.trim();
    let (number, unit) = UNITS_NS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))?;
    Decimal::parse(number.trim_end().as_bytes()).ok()??.times(unit).filter(|ns| *ns >= 0)
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let fits = |side: u32| (SMALLEST_PX..=LARGEST_PX).contains(&side);
    sides
        .filter(|&(width, height)| fits(width) && fits(height))
        .ok_or_else(|| format!("--chart-size is width x height in pixels, {SMALLEST_PX} to {LARGEST_PX} each, as in 1280x720, not {text}"))
}

fn is_dark(text: &str) -> Result<bool, String> {
    match text {
        "light" => Ok(false),
        "dark" => Ok(true),
        other => Err(format!("--chart-theme is light or dark, not {other}")),
    }
}

/// The value of an option. Another option is none: the value was forgotten.
fn value(parser: &mut lexopt::Parser, option: &str, what: &str) -> Result<OsString, String> {
    let value = parser.value().ok().filter(|value| !value.is_empty() && !value.to_str().is_some_and(is_option));
    value.ok_or_else(|| format!("{option} needs a {what} after it"))
}

fn file(parser: &mut lexopt::Parser, option: &str) -> Result<PathBuf, String> {
    value(parser, option, "file").map(PathBuf::from)
}

fn text(parser: &mut lexopt::Parser, option: &str) -> Result<String, String> {
    let value = value(parser, option, "value")?;
    value.into_string().map_err(|value| format!("{option}: {} is no UTF-8 text", value.to_string_lossy()))
}

fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("--top is a number of rows, not {text}"))
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "text" => Ok(Format::Text),
        "markdown" => Ok(Format::Markdown),
        "json" => Ok(Format::Json),
        other => Err(format!("--format is text, markdown or json, not {other}")),
    }
}

fn table(path: PathBuf) -> Result<Target, String> {
    let known = path.extension().is_some_and(|extension| extension == "csv" || extension == "jsonl");
    match Target::of(path) {
        Target::File(path) if !known => Err(format!("--table is a file that ends in .csv or .jsonl, or - for CSV on standard output, not {}", path.display())),
        target => Ok(target),
    }
}

fn html(path: PathBuf) -> Result<Target, String> {
    let known = path.extension().is_some_and(|extension| ["html", "htm"].iter().any(|ending| extension.eq_ignore_ascii_case(ending)));
    match Target::of(path) {
        Target::File(path) if !known => Err(format!("--html is a file that ends in .html or .htm, or - for standard output, not {}", path.display())),
        target => Ok(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(arguments: &[&str]) -> String {
        asked(arguments.iter().map(Into::into)).unwrap_err()
    }

    #[test]
    fn what_is_wrong_is_named_with_its_option() {
        assert_eq!(wrong(&["x", "--top", "abc"]), "--top is a number of rows, not abc");
        assert_eq!(wrong(&["x", "--top", "-1"]), "--top is a number of rows, not -1");
        assert_eq!(wrong(&["x", "--rank", "5-2"]), "--rank: \"5-2\" is no rank and no range of ranks; write 0,2-5");
        assert_eq!(wrong(&["x", "--format", "yaml"]), "--format is text, markdown or json, not yaml");
        assert_eq!(wrong(&["x", "--diff", "a"]), "--diff A needs a value after it");
        assert!(wrong(&["x", "--table", "x.txt"]).contains("ends in .csv or .jsonl"));
        assert_eq!(wrong(&["x", "--html", "x.txt"]), "--html is a file that ends in .html or .htm, or - for standard output, not x.txt");
        for both in [["--table", "--out"], ["--html", "--out"], ["--table", "--html"]] {
            assert!(wrong(&["x", both[0], "-", both[1], "-"]).contains("both go to standard output"), "{both:?}");
        }
        assert!(wrong(&[]).contains("name a folder"));
        assert_eq!(wrong(&["x", "--chart", "a.gif"]), "--chart is a file that ends in .svg or .png, not a.gif");
        assert_eq!(wrong(&["x", "--chart-kind", "pie"]), "--chart-kind is trend, lanes, stacked, flame or heap, not pie");
        assert!(wrong(&["x", "--chart-kind", "lanes"]).contains("name its file with --chart"));
        for window in ["5", "5ms", "5ms..3ms", "1..2", "-1s..2s", "a..b"] {
            assert!(wrong(&["x", "--chart", "a.svg", "--chart-window", window]).starts_with("--chart-window is a stretch"), "{window}");
        }
        for size in ["5", "100x300", "300x99999", "axb"] {
            assert!(wrong(&["x", "--chart", "a.svg", "--chart-size", size]).starts_with("--chart-size is width x height"), "{size}");
        }
        assert_eq!(wrong(&["x", "--chart", "a.svg", "--chart-theme", "grey"]), "--chart-theme is light or dark, not grey");
        assert_eq!(wrong(&["x", "--fromat", "json"]), "there is no option --fromat; did you mean --format?");
        assert_eq!([wrong(&["x", "-x"]), wrong(&["x", "--nonsense"])], ["there is no option -x", "there is no option --nonsense"]);
    }

    #[test]
    fn a_picture_is_asked_for_with_its_window() {
        let line = ["x", "--chart", "a.PNG", "--chart-window", "300ms..1.5s", "--chart-size", "800x400", "--chart-theme", "dark"];
        let Asked::Report(options) = asked(line.map(Into::into)).unwrap() else { return };
        let wanted = Wanted { kind: Kind::Trend, window_ns: Some((300_000_000, 1_500_000_000)), size_px: (800, 400), is_dark: true };
        assert_eq!(options.chart, Some(ChartAsked { file: Target::File("a.PNG".into()), is_svg: false, kind: None, wanted }));
    }

    #[test]
    fn nothing_is_passed_over_in_silence() {
        assert!(wrong(&["x", "--without-stacks"]).contains("name its file with --html"));
        assert!(wrong(&["x", "--without-folders", "--out", "a"]).contains("--without-folders says what stays out of a page"));
        for line in [&["--self-test", "x"][..], &["--top", "3", "--self-test"], &["--self-test", "--nearest-stacks"]] {
            assert!(wrong(line).contains("--self-test stands alone"), "{line:?}");
        }
        assert_eq!(wrong(&["x", "--out", "a", "--out", "b"]), "--out is given twice");
        assert_eq!(wrong(&["x", "--out", "--html", "a.html"]), "--out needs a file after it");
        assert_eq!(wrong(&["x", "--role", ""]), "--role needs a value after it");
        for option in [&["--format", "json"][..], &["--top", "3"], &["--diff", "a", "b"]] {
            let line = [&["x", "--table", "-"], option].concat();
            assert_eq!(
                wrong(&line),
                format!("{} is of the report, and there is none where --table - has standard output: name a file for it with --out", option[0])
            );
        }
    }

    #[test]
    fn what_has_standard_output_leaves_none_for_the_report() {
        for (line, report) in [(&["x"][..], Some(Target::StandardOutput)), (&["x", "--table", "-"], None), (&["x", "--html", "-"], None)] {
            let Asked::Report(options) = asked(line.iter().map(Into::into)).unwrap() else { return };
            assert_eq!(options.report(), report.as_ref());
        }
    }

    #[test]
    fn what_is_asked_for() {
        let line = ["x", "--table", "-", "--out", "r.md", "--format=markdown", "--diff", "a", "b", "--memory", "1.5 GiB"];
        let Asked::Report(options) = asked(line.map(Into::into)).unwrap() else { return };
        assert_eq!(options.memory, Some(3 << 29));
        assert_eq!((options.table, options.out, options.format), (Some(Target::StandardOutput), Some(Target::File("r.md".into())), Format::Markdown));
        assert_eq!(options.differences, [("a".to_owned(), "b".to_owned())]);
    }
}
