//! The report as JSON.

use super::inert::steers;
use crate::oom::report::Report;

/// The same bytes for the same report everywhere: two spaces a level, a line end at the end.
pub fn json(report: &Report) -> String {
    // Strings and integers only: there is nothing in a report that JSON cannot say.
    let mut text = harmless(serde_json::to_string_pretty(report).unwrap_or_default());
    text.push('\n');
    text
}

/// What would steer a terminal, or turn the direction of writing, as JSON's escapes: the same text to whoever reads the JSON. It can stand in
/// strings alone; line ends are those between the lines, as JSON escapes its own.
fn harmless(text: String) -> String {
    let steers = |c: char| c != '\n' && steers(c);
    if !text.contains(steers) {
        return text;
    }
    text.chars().fold(String::with_capacity(text.len()), |mut written, c| {
        if steers(c) {
            written.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            written.push(c);
        }
        written
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_it_steers_and_it_reads_as_it_was() {
        let name = "a\u{0}\u{1b}[2J\n\u{7f}\u{9b}31m\u{202e}gnp\u{2066}é字\u{1f600}\u{2028}";
        let text = harmless(serde_json::to_string_pretty(&serde_json::json!({ "name": name })).unwrap());
        assert!(!text.contains(|c: char| c != '\n' && steers(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["name"], name);
        assert!(text.contains("é字\u{1f600}") && text.contains("\\u202e"), "{text}");
    }
}
