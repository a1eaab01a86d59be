//! Which captures of many are wanted: by rank and by role.

use super::capture::Facts;

/// A choice of captures; the default takes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Ranges of ranks, both ends included; empty takes all.
    pub ranks: Vec<(i64, i64)>,
    /// The role; `None` takes all.
    pub role: Option<String>,
}

/// Reads `0,2-5`.
///
/// ```
/// use oomscope::ascend::select::rank_list;
/// assert_eq!(rank_list("0,2-5"), Ok(vec![(0, 0), (2, 5)]));
/// assert!(rank_list("5-2").is_err());
/// ```
pub fn rank_list(text: &str) -> Result<Vec<(i64, i64)>, String> {
    let wrong = |part: &str| format!("\"{part}\" is no rank and no range of ranks; write 0,2-5");
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        match (from.trim().parse(), to.trim().parse()) {
            (Ok(from), Ok(to)) if from <= to => Ok((from, to)),
            _ => Err(wrong(part)),
        }
    };
    text.split(',').map(range).collect()
}

impl Selection {
    /// Whether a capture is wanted. One of unknown rank is not, once ranks are named.
    pub fn takes(&self, facts: &Facts) -> bool {
        let rank = self.ranks.is_empty() || facts.rank.is_some_and(|rank| self.ranks.iter().any(|&(from, to)| (from..=to).contains(&rank)));
        rank && self.role.as_ref().is_none_or(|role| facts.role.as_ref() == Some(role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_ranks() {
        let selection = Selection { ranks: rank_list("0, 2-5").unwrap(), role: Some("actor".to_owned()) };
        let facts = |rank, role: &str| Facts { rank, role: Some(role.to_owned()), ..Facts::default() };
        assert!(selection.takes(&facts(Some(0), "actor")) && selection.takes(&facts(Some(5), "actor")));
        assert!(!selection.takes(&facts(Some(1), "actor")) && !selection.takes(&facts(None, "actor")) && !selection.takes(&facts(Some(0), "ref")));
        assert!(Selection::default().takes(&facts(None, "ref")));
    }

    #[test]
    fn nonsense_is_named() {
        for text in ["", "a", "1-", "3-1", "1;2"] {
            assert!(rank_list(text).is_err(), "{text}");
        }
    }
}
