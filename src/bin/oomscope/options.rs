//! What the command line asks for.

use oomscope::ascend::select::{Selection, rank_list};
use std::path::{Path, PathBuf};

pub const USAGE: &str = "\
usage: oomscope PATH... [--rank LIST] [--role NAME] [--module NAME] [--top N] [--diff A B]
                [--nearest-stacks] [--format text|markdown|json] [--out FILE] [--table FILE.csv|FILE.jsonl]
       oomscope --self-test

PATH is an Ascend Profiler folder, a JAX capture (*.xplane.pb), a report of schema oomscope.report/1 (made with --format json, perhaps on
another machine), or a folder: searched for everything of these below it.

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
    pub nearest: bool,
    pub selection: Selection,
    /// Of JAX captures.
    pub module: Option<String>,
    /// Captures against each other: A, B.
    pub differences: Vec<(String, String)>,
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
        nearest: false,
        selection: Selection::default(),
        module: None,
        differences: Vec::new(),
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Value(path) => options.paths.push(path.into()),
            Long("top") => options.top = count(&text(&mut parser, "--top")?)?,
            Long("rank") => options.selection.ranks = rank_list(&text(&mut parser, "--rank")?).map_err(|error| format!("--rank: {error}"))?,
            Long("role") => options.selection.role = Some(text(&mut parser, "--role")?),
            Long("module") => options.module = Some(text(&mut parser, "--module")?),
            Long("diff") => options.differences.push((text(&mut parser, "--diff")?, text(&mut parser, "--diff A")?)),
            Long("table") => options.table = Some(table(parser.value().map_err(|error| error.to_string())?.into())?),
            Long("nearest-stacks") => options.nearest = true,
            Long("format") => options.format = format(&text(&mut parser, "--format")?)?,
            Long("out") => options.out = Target::of(parser.value().map_err(|error| error.to_string())?.into()),
            Long("self-test") => return Ok(Asked::SelfTest),
            Short('h') | Long("help") => return Ok(Asked::Print(USAGE)),
            Short('V') | Long("version") => return Ok(Asked::Print(concat!("oomscope ", env!("CARGO_PKG_VERSION"), "\n"))),
            _ => return Err(argument.unexpected().to_string()),
        }
    }
    if options.paths.is_empty() {
        return Err("name a folder or a file to read".to_owned());
    }
    if options.table == Some(Target::StandardOutput) && options.out == Target::StandardOutput {
        return Err("report and table would both go to standard output: name a file for one of them, with --out or --table".to_owned());
    }
    if options.table.as_ref().is_some_and(|table| *table == options.out) {
        return Err("report and table would both be written to one file: name another for one of them, with --out or --table".to_owned());
    }
    Ok(Asked::Report(Box::new(options)))
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
        assert_eq!(wrong(&["x", "--diff", "a"]), "--diff A needs a value after it");
        assert!(wrong(&["x", "--table", "x.txt"]).contains("ends in .csv or .jsonl"));
        assert!(wrong(&["x", "--table", "-"]).contains("both go to standard output"));
        assert!(wrong(&["x", "--table", "a.csv", "--out", "a.csv"]).contains("one file"));
        assert!(wrong(&["x", "--table", "-", "--out", "-"]).contains("both go to standard output"));
        assert!(wrong(&[]).contains("name a folder"));
    }

    #[test]
    fn what_is_asked_for() {
        let Asked::Report(options) = asked(["x", "--table", "-", "--out", "r.md", "--format=markdown", "--diff", "a", "b"].map(Into::into)).unwrap() else {
            return;
        };
        assert_eq!((options.table, options.out, options.format), (Some(Target::StandardOutput), Target::File("r.md".into()), Format::Markdown));
        assert_eq!(options.differences, [("a".to_owned(), "b".to_owned())]);
    }
}
