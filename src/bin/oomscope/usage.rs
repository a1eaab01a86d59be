//! The text of `--help`, the options that it names, and which of them someone may have meant.

pub const USAGE: &str = "\
usage: oomscope PATH... [--rank LIST] [--role NAME] [--module NAME] [--top N] [--diff A B]...
                [--nearest-stacks] [--format text|markdown|json] [--out FILE|-] [--table FILE.csv|FILE.jsonl|-]
                [--chart FILE.svg|FILE.png [--chart-kind KIND] [--chart-window FROM..TO] [--chart-size WxH] [--chart-theme light|dark]]
                [--html FILE.html|- [--without-stacks] [--without-folders]] [--memory SIZE]
       oomscope --self-test | --version | --help

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
  --out FILE       where the report goes; - is standard output, the default. Where --table - or --html - has standard output there is
                   no report without --out FILE
  --table FILE     RL-Insight's table, one row a block: CSV, or JSON Lines when FILE ends in .jsonl; - is CSV on standard output
  --chart FILE     a picture: SVG or PNG, by the ending of FILE. Of several captures, of the one with the highest peak; --rank and --role
                   choose others
  --chart-kind K   trend (memory over time), lanes (blocks by operator), stacked (blocks stacked by size), flame (what is alive at the
                   peak, by call stack) or heap (of a JAX module over its schedule); trend, and heap where there is no more
  --chart-window   FROM..TO, since the capture's first event, as in 300ms..1.5s; units are s, ms, us and ns; all of it
  --chart-size     width and height in pixels, as in 1280x720
  --chart-theme    light or dark; light
  --html FILE      the page with these captures in it: one file, .html or .htm, that opens anywhere, without the captures; - is
                   standard output
  --without-stacks, --without-folders
                   what of them stays out of that file: call stacks; the folders in paths
  --memory SIZE    how much memory the captures may take, as in 2GiB or 500M; what has no room is folded or dropped, with a word: the
                   smallest blocks first, then names; no limit. Units, in letters of either case: KiB, MiB, GiB, also K, M, G, are powers
                   of 1024; KB, MB, GB are powers of 1000; B
  --self-test      reads the samples that are built in and compares them with their known values
  --version        which version this is
  --help           this text

Files are written at the end, each under its name only once it is whole; no two may be one file, and none one that is read.

Exit status: 0 at least one capture gave a report, 1 none did, 2 the command line is wrong.
";

/// Whether this is an option, as it is written.
pub fn is_option(text: &str) -> bool {
    options().any(|option| option == text)
}

/// The options, as the text names them.
fn options() -> impl Iterator<Item = &'static str> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
    USAGE.split(move |c| !is_name(c)).filter(|word| word.len() > 3 && word.starts_with("--"))
}

/// Slips of the finger are not more than so many letters.
const MOST_SLIPS: usize = 2;

/// The option that is nearest to one that there is not, where one is near.
pub fn nearest(unknown: &str) -> Option<&'static str> {
    options().map(|option| (slips(option, unknown), option)).filter(|(slips, _)| *slips <= MOST_SLIPS).min_by_key(|(slips, _)| *slips).map(|(_, option)| option)
}

/// How many letters must be put in, taken out or changed to make one text of the other.
fn slips(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, letter) in a.chars().enumerate() {
        let mut above_left = std::mem::replace(&mut row[0], line + 1);
        for (at, other) in b.iter().enumerate() {
            let changed = above_left + usize::from(letter != *other);
            above_left = row[at + 1];
            row[at + 1] = changed.min(above_left + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        assert_eq!([nearest("--fromat"), nearest("--tabel"), nearest("--ranks")], [Some("--format"), Some("--table"), Some("--rank")]);
        assert_eq!([nearest("--nonsense"), nearest("--verbose")], [None, None]);
        assert_eq!([slips("", "abc"), slips("abc", ""), slips("abc", "abc"), slips("kitten", "sitting")], [3, 3, 0, 3]);
    }

    #[test]
    fn options_are_those_that_the_text_names() {
        for option in ["--out", "--memory", "--version", "--without-folders", "--chart-kind", "--help"] {
            assert!(is_option(option), "{option}");
        }
        assert!(!is_option("--") && !is_option("-") && !is_option("PATH"));
    }
}
