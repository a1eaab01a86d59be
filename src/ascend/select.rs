//! Which captures of many are wanted: by rank and by role.

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
    pub fn takes(&self, rank: Option<i64>, role: Option<&str>) -> bool {
        let takes_rank = self.ranks.is_empty() || rank.is_some_and(|rank| self.ranks.iter().any(|&(from, to)| (from..=to).contains(&rank)));
        takes_rank && self.role.as_deref().is_none_or(|wanted| role == Some(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_ranks() {
        let selection = Selection { ranks: rank_list("0, 2-5").unwrap(), role: Some("actor".to_owned()) };
        assert!(selection.takes(Some(0), Some("actor")) && selection.takes(Some(5), Some("actor")));
        assert!(!selection.takes(Some(1), Some("actor")) && !selection.takes(None, Some("actor")) && !selection.takes(Some(0), Some("ref")));
        assert!(Selection::default().takes(None, Some("ref")));
    }

    #[test]
    fn nonsense_is_named() {
        for text in ["", "a", "1-", "3-1", "1;2"] {
            assert!(rank_list(text).is_err(), "{text}");
        }
    }
}
