//! The report as JSON.

use crate::oom::report::Report;

/// The same bytes for the same report everywhere: two spaces a level, a line end at the end.
pub fn json(report: &Report) -> String {
    // Strings and integers only: there is nothing in a report that JSON cannot say.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
