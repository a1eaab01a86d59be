//! What the command line asks for.

use oomscope::ascend::select::{Selection, rank_list};
use oomscope::export::chart::{Kind, Wanted};
use oomscope::session::Include;
use oomscope::units::Decimal;
use std::path::{Path, PathBuf};

pub const USAGE: &str = "\
usage: oomscope PATH... [--rank LIST] [--role NAME] [--module NAME] [--top N] [--diff A B]
                [--nearest-stacks] [--format text|markdown|json] [--out FILE] [--table FILE.csv|FILE.jsonl]
                [--chart FILE.svg|FILE.png [--chart-kind KIND] [--chart-window FROM..TO] [--chart-size WxH] [--chart-theme light|dark]]
                [--html FILE [--without-stacks] [--without-folders]]
       oomscope --self-test

PATH is an Ascend Profiler folder, a JAX capture (*.xplane.pb), a report of schema oomscope.report/1 (made with --format json, perhaps on
another machine), a page saved with captures in it (--html), or a folder: searched for everything of these below it.

  --rank LIST      only these ranks, as in 0,2-5
  --role NAME      only this role
  --module NAME    of a JAX capture, the module to speak of, as in jit_train_step or jit_train_step(47)
  --top N          how many rows the lists without an end of their own hold (25)
  --diff A B       also what is new, gone and changed in B against A, at their peaks; each is the path of a capture as the report
                   names it, or the end of it, ROLE:RANK, or the file of a report; may be given again
  --nearest-stacks stacks for blocks without one: that of the last operator of the name, however long ago, a guess; the table's
                   stacks then all go by that rule, which is RL-Insight's
  --format FORMAT  text (for a terminal), markdown (for an issue), or json (schema oomscope.report/1); text
  --out FILE       where the report goes; - is standard output, the default
  --table FILE     RL-Insight's table, one row a block: CSV, or JSON Lines when FILE ends in .jsonl; - is CSV on standard output
  --chart FILE     a picture: SVG or PNG, by the ending of FILE. Of several captures, of the one with the highest peak; --rank and --role
                   choose others
  --chart-kind K   trend (memory over time), lanes (blocks by operator), stacked (blocks stacked by size), flame (what is alive at the
                   peak, by call stack) or heap (of a JAX module over its schedule); trend, and heap where there is no more
  --chart-window   FROM..TO, since the capture's first event, as in 300ms..1.5s; units are s, ms, us and ns; all of it
  --chart-size     width and height in pixels, as in 1280x720
  --chart-theme    light or dark; light
  --html FILE      the page with these captures in it: one file that opens anywhere, without the captures
  --without-stacks, --without-folders
                   what of them stays out of that file: call stacks; the folders in paths
  --memory SIZE    how much memory the captures may take, as in 2GiB or 500MiB; what has no room is folded or dropped, with a word: the
                   smallest blocks first, then names; no limit
  --self-test      reads the samples that are built in and compares them with their known values
  --version, --help

Exit status: 0 at least one capture gave a report, 1 none did, 2 the command line is wrong.
";

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
    pub out: Target,
    pub table: Option<Target>,
    pub chart: Option<ChartAsked>,
    /// A page with the captures in it, and what goes along.
    pub html: Option<PathBuf>,
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

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartAsked {
    pub file: PathBuf,
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
pub fn asked(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Asked, String> {
    use lexopt::prelude::*;
    let mut options = Options {
        paths: Vec::new(),
        top: 25,
        format: Format::Text,
        out: Target::StandardOutput,
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
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Value(path) => options.paths.push(path.into()),
            Long("top") => options.top = count(&text(&mut parser, "--top")?)?,
            Long("rank") => options.selection.ranks = rank_list(&text(&mut parser, "--rank")?).map_err(|error| format!("--rank: {error}"))?,
            Long("role") => options.selection.role = Some(text(&mut parser, "--role")?),
            Long("module") => options.module = Some(text(&mut parser, "--module")?),
            Long("memory") => options.memory = Some(memory(&text(&mut parser, "--memory")?)?),
            Long("diff") => options.differences.push((text(&mut parser, "--diff")?, text(&mut parser, "--diff A")?)),
            Long("table") => options.table = Some(table(parser.value().map_err(|error| error.to_string())?.into())?),
            Long("chart") => chart.file = Some(parser.value().map_err(|_| "--chart needs a file after it".to_owned())?.into()),
            Long("chart-kind") => chart.kind = Some(kind(&text(&mut parser, "--chart-kind")?)?),
            Long("chart-window") => chart.window_ns = Some(window(&text(&mut parser, "--chart-window")?)?),
            Long("chart-size") => chart.size_px = Some(size(&text(&mut parser, "--chart-size")?)?),
            Long("chart-theme") => chart.is_dark = Some(is_dark(&text(&mut parser, "--chart-theme")?)?),
            Long("html") => options.html = Some(parser.value().map_err(|_| "--html needs a file after it")?.into()),
            Long("without-stacks") => options.include.stacks = false,
            Long("without-folders") => options.include.folders = false,
            Long("nearest-stacks") => options.nearest = true,
            Long("format") => options.format = format(&text(&mut parser, "--format")?)?,
            Long("out") => options.out = Target::of(parser.value().map_err(|error| error.to_string())?.into()),
            Long("self-test") => return Ok(Asked::SelfTest),
            Short('h') | Long("help") => return Ok(Asked::Print(USAGE)),
            Short('V') | Long("version") => return Ok(Asked::Print(concat!("oomscope ", env!("CARGO_PKG_VERSION"), "\n"))),
            _ => return Err(argument.unexpected().to_string()),
        }
    }
    options.chart = chart.asked()?;
    if options.paths.is_empty() {
        return Err("name a folder or a file to read".to_owned());
    }
    if options.table == Some(Target::StandardOutput) && options.out == Target::StandardOutput {
        return Err("report and table would both go to standard output: name a file for one of them, with --out or --table".to_owned());
    }
    let chart = options.chart.as_ref().map(|chart| Target::File(chart.file.clone()));
    if chart.is_some() && (chart == options.table || chart.as_ref() == Some(&options.out)) {
        return Err("the picture would be written to the file of something else: name another for one of them".to_owned());
    }
    if options.table.as_ref().is_some_and(|table| *table == options.out) {
        return Err("report and table would both be written to one file: name another for one of them, with --out or --table".to_owned());
    }
    Ok(Asked::Report(Box::new(options)))
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
        Ok(Some(ChartAsked { is_svg: ends_in("svg"), file, kind, wanted }))
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

/// Units of memory, those first whose names end in another's.
const UNITS_BYTES: [(&str, u64); 7] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("B", 1)];

fn memory(text: &str) -> Result<u64, String> {
    let parts = UNITS_BYTES.iter().find_map(|(name, unit)| Some((text.trim().strip_suffix(name)?, *unit)));
    let bytes = parts.and_then(|(number, unit)| Decimal::parse(number.trim_end().as_bytes()).ok()??.times(unit));
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok()).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| format!("--memory is a size as in 2GiB, with KiB, MiB, GiB, kB, MB, GB or B, not {text}"))
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

fn text(parser: &mut lexopt::Parser, option: &str) -> Result<String, String> {
    let value = parser.value().map_err(|_| format!("{option} needs a value after it"))?;
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
        for memory in ["2", "-1GiB", "0B", "GiB", "2 TB", "99999999999GiB"] {
            assert!(wrong(&["x", "--memory", memory]).starts_with("--memory is a size"), "{memory}");
        }
        assert_eq!(wrong(&["x", "--diff", "a"]), "--diff A needs a value after it");
        assert!(wrong(&["x", "--table", "x.txt"]).contains("ends in .csv or .jsonl"));
        assert!(wrong(&["x", "--table", "-"]).contains("both go to standard output"));
        assert!(wrong(&["x", "--table", "a.csv", "--out", "a.csv"]).contains("one file"));
        assert!(wrong(&["x", "--table", "-", "--out", "-"]).contains("both go to standard output"));
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
        assert!(wrong(&["x", "--chart", "a.svg", "--out", "a.svg"]).contains("file of something else"));
    }

    #[test]
    fn a_picture_is_asked_for_with_its_window() {
        let line = ["x", "--chart", "a.PNG", "--chart-window", "300ms..1.5s", "--chart-size", "800x400", "--chart-theme", "dark"];
        let Asked::Report(options) = asked(line.map(Into::into)).unwrap() else { return };
        let wanted = Wanted { kind: Kind::Trend, window_ns: Some((300_000_000, 1_500_000_000)), size_px: (800, 400), is_dark: true };
        assert_eq!(options.chart, Some(ChartAsked { file: "a.PNG".into(), is_svg: false, kind: None, wanted }));
    }

    #[test]
    fn what_is_asked_for() {
        let line = ["x", "--table", "-", "--out", "r.md", "--format=markdown", "--diff", "a", "b", "--memory", "1.5 GiB"];
        let Asked::Report(options) = asked(line.map(Into::into)).unwrap() else { return };
        assert_eq!(options.memory, Some(3 << 29));
        assert_eq!((options.table, options.out, options.format), (Some(Target::StandardOutput), Target::File("r.md".into()), Format::Markdown));
        assert_eq!(options.differences, [("a".to_owned(), "b".to_owned())]);
    }
}
