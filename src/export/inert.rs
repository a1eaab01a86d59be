//! Text from a file, made harmless for where it is printed, and short: a name of a megabyte would bury the report. The JSON has it whole.

/// A sentence, with the path it may begin with, is no longer than this.
const LONGEST_CHARS: usize = 1000;

/// So much of a name tells it from others, as on the page.
const LONGEST_NAME_CHARS: usize = 200;

/// Without control characters, which would steer a terminal, and without those that turn the direction of writing, which would show
/// something other than what is there.
pub fn printable(text: &str) -> String {
    clipped(text, LONGEST_CHARS)
}

/// The same of a name: an operator, a role, a component.
pub fn name(text: &str) -> String {
    clipped(text, LONGEST_NAME_CHARS)
}

fn clipped(text: &str, longest: usize) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(longest).map(|c| if steers(c) { '\u{fffd}' } else { c }).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Control characters steer a terminal, others the direction of writing.
pub(super) fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A code span of Markdown: nothing in it is markup, not even a link. Fit for a cell of a table too.
pub fn code(text: &str) -> String {
    let mut inside = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            // A pipe after a backslash would end the cell whatever is written.
            '|' if inside.ends_with('\\') => inside.push('¦'),
            '|' => inside.push_str("\\|"),
            c => inside.push(c),
        }
    }
    let mut run = 0;
    let longest = inside.chars().map(|c| {
        run = if c == '`' { run + 1 } else { 0 };
        run
    });
    let fence = "`".repeat(longest.max().unwrap_or(0) + 1);
    // A space at both ends is dropped by readers; so it keeps backticks and spaces of the text apart from the fence.
    let padding = if inside.trim_matches([' ', '`']) == inside && !inside.is_empty() { "" } else { " " };
    format!("{fence}{padding}{inside}{padding}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_text_cannot_steer_a_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(printable("a\u{202e}b\u{2066}c\u{2028}é"), "a\u{fffd}b\u{fffd}c\u{fffd}é");
    }

    #[test]
    fn a_text_of_any_length_stays_short() {
        let long = "é".repeat(1 << 20);
        assert_eq!(name(&long).chars().count(), LONGEST_NAME_CHARS + 1);
        assert_eq!(printable(&long).chars().count(), LONGEST_CHARS + 1);
        assert_eq!(code(&long).chars().count(), LONGEST_CHARS + 3);
        assert_eq!(name("aten::add"), "aten::add");
    }

    #[test]
    fn code_ends_neither_its_span_nor_its_cell_nor_its_line() {
        for (text, written) in [
            ("aten::add", "`aten::add`"),
            ("a|b", "`a\\|b`"),
            ("a\\|b", "`a\\¦b`"),
            ("a`b``c", "```a`b``c```"),
            ("`", "`` ` ``"),
            (" x", "`  x `"),
            ("", "`  `"),
            ("<b>[x](http://y)\n# z", "`<b>[x](http://y)\u{fffd}# z`"),
        ] {
            assert_eq!(code(text), written);
        }
    }
}
