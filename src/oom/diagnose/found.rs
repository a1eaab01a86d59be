//! What rules find: a sentence, figures with their basis, fixes; and shares, rounded and exact.

use crate::error::Arg;
use crate::oom::xplane_report::{Fix, Number};

/// How grave that is: the gravest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Severity {
    Error,
    Warning,
    Info,
}

/// What a rule found.
pub(super) struct Found {
    pub(super) severity: Severity,
    pub(super) text: String,
    pub(super) args: Vec<(&'static str, Arg)>,
    pub(super) numbers: Vec<Number>,
    pub(super) fixes: Vec<Fix>,
}

impl Severity {
    /// As the report says it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

pub(super) fn number(label: &str, value: i64, unit: &str, basis: &str) -> Number {
    Number { label: label.to_owned(), value, unit: unit.to_owned(), basis: basis.to_owned() }
}

/// From the compiled plan.
pub(super) fn read(label: &str, bytes: i64) -> Number {
    number(label, bytes, "byte", "read")
}

/// From events of the run.
pub(super) fn measured(label: &str, bytes: i64) -> Number {
    number(label, bytes, "byte", "measured")
}

/// By arithmetic on these.
pub(super) fn estimated(label: &str, bytes: i64) -> Number {
    number(label, bytes, "byte", "estimated")
}

pub(super) fn text(text: &str) -> Arg {
    Arg::Text(text.to_owned())
}

/// A part of a whole in thousandths, rounded half up.
pub(super) fn permille(part: i64, whole: i64) -> i64 {
    if whole <= 0 { 0 } else { i64::try_from((i128::from(part) * 2000 + i128::from(whole)) / (i128::from(whole) * 2)).unwrap_or(i64::MAX) }
}

/// Whether a part is at least so many thousandths of a whole, exactly.
pub(super) fn is_at_least(part: i64, whole: i64, permille: i64) -> bool {
    i128::from(part) * 1000 >= i128::from(whole) * i128::from(permille)
}

/// Thousandths as people read them.
pub(super) fn share(permille: i64) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_half_up_to_be_read_and_exact_to_be_compared() {
        assert_eq!((permille(1, 2000), permille(499, 1_000_000), permille(7, 0), share(permille(2, 3))), (1, 0, 0, "66.7 %".to_owned()));
        assert_eq!((permille(i64::MAX, 1), is_at_least(i64::MAX, i64::MAX, 1000)), (i64::MAX, true));
        assert!(is_at_least(500, 1000, 500) && !is_at_least(499_999, 1_000_000, 500));
    }
}
