//! Ranks and roles side by side: who holds most, what is usual, who departs from it, and which operators make the difference.
//!
//! Like is compared with like: members of a group share the pool and the role; where there are several roles, a further group of each pool
//! spans them, in which only members of small roles can depart: the others have their own. All figures are integers. The median of an even number of values is the lower of the middle two, so that it is a value that
//! occurs; the median absolute deviation is the same median of the distances from it.

use super::report::{AscendReport, CaptureReport, OperatorGroup, operators_at, stack_counts};
use crate::ascend::capture::Capture;
use crate::timeline::live;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// An outlier is farther from the median than so many median absolute deviations …
pub const OUTLIER_DEVIATIONS: i64 = 3;
/// … and than so many percent of the median.
pub const OUTLIER_PERCENT: i64 = 5;
/// With fewer members nothing is usual, so nothing departs from it.
pub const FEWEST_FOR_OUTLIERS: usize = 3;

/// All ranks and roles of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
pub struct Comparison {
    /// The largest peak first; equal ones by source, device and pool. Captures without a usable block come last.
    pub ranks: Vec<RankRow>,
    /// By pool; of each pool the roles by name (an unknown one first), then all of them together where there are several.
    pub groups: Vec<RankGroup>,
}

/// One pool of one device of one capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
#[allow(missing_docs)] // The names are those of the schema.
pub struct RankRow {
    /// Its place in the report's `captures`.
    pub capture: u32,
    pub source: String,
    pub role: Option<String>,
    pub rank: Option<i64>,
    /// `null`, like every figure below it: the capture gave nothing to show.
    pub device: Option<String>,
    pub pool: Option<String>,
    pub peak_bytes: Option<i64>,
    /// At the peak.
    pub baseline_bytes: Option<i64>,
    pub max_reserved_gap_bytes: Option<i64>,
    pub alive_at_end_blocks: Option<u64>,
    pub alive_at_end_bytes: Option<i64>,
    /// Blocks with and without a call stack; `null` without a trace, and for other pools than PTA.
    pub stacks_found: Option<u64>,
    pub stacks_none: Option<u64>,
    /// How many warnings the capture has.
    pub warnings: u64,
}

/// Members that can be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct RankGroup {
    pub pool: String,
    /// Whether it spans all roles; `role` is then `null`.
    pub across_roles: bool,
    pub role: Option<String>,
    pub members: u64,
    pub peak_bytes: Option<Spread>,
    pub baseline_bytes: Option<Spread>,
    pub max_reserved_gap_bytes: Option<Spread>,
    pub alive_at_end_bytes: Option<Spread>,
    /// Largest departure first, then by place among the ranks; `null`: fewer than three members.
    pub outliers: Option<Vec<Outlier>>,
}

/// How one figure is spread over a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct Spread {
    /// How many members have the figure.
    pub count: u64,
    pub min: i64,
    /// The lower one of two.
    pub median: i64,
    pub max: i64,
    /// The lower median of the distances from the median.
    pub median_deviation: i64,
}

/// A member that departs from its group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[cfg_attr(target_arch = "wasm32", tsify(missing_as_null))]
#[allow(missing_docs)]
pub struct Outlier {
    /// Its place among `ranks`.
    pub row: u32,
    pub source: String,
    pub role: Option<String>,
    pub rank: Option<i64>,
    pub device: String,
    /// In which figures, in the order of the group's keys.
    pub departures: Vec<Departure>,
    /// Bytes at the peak against the median of the group, operator by operator; the largest differences first, then name; equal ones left
    /// out; the first `--top`.
    pub by_operator: Vec<OperatorDeparture>,
}

/// A figure of an outlier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct Departure {
    /// The key of the figure.
    #[cfg_attr(target_arch = "wasm32", tsify(type = "'peak_bytes' | 'baseline_bytes' | 'max_reserved_gap_bytes' | 'alive_at_end_bytes'"))]
    pub figure: &'static str,
    pub value: i64,
    pub median: i64,
    pub difference: i64,
}

/// An operator of an outlier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
#[allow(missing_docs)]
pub struct OperatorDeparture {
    pub name: String,
    pub bytes: i64,
    pub median_bytes: i64,
    pub difference_bytes: i64,
}

/// A row and what its peak is made of: all that a comparison needs of a capture, so that it need not be reported first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The row; its `capture` is set by [`compare`].
    pub row: RankRow,
    at_peak: Vec<OperatorGroup>,
}

/// The members of a capture that was read; at least one.
pub fn members_of_capture(capture: &Capture) -> Vec<Member> {
    let facts = &capture.facts;
    let empty = RankRow::empty(&facts.source, facts.role.as_ref(), facts.rank, facts.warnings.len());
    let counts = stack_counts(capture);
    let members = capture.devices.iter().filter_map(|device| {
        let curves = &device.replay.curves;
        let at = device.replay.peak?;
        let alive = live::at_the_end(&device.blocks);
        let folded = device.blocks.folded.as_ref().map(|folded| folded.open(()));
        let counts = counts.as_ref().filter(|_| device.pool.name() == "PTA");
        let row = RankRow {
            device: Some(device.device.clone()),
            pool: Some(device.pool.name().to_owned()),
            peak_bytes: Some(curves.total_bytes(at)),
            baseline_bytes: Some(curves.baseline_bytes[at]),
            max_reserved_gap_bytes: curves.max_reserved_gap_bytes(),
            alive_at_end_blocks: Some(alive.len() as u64 + folded.as_ref().map_or(0, |folded| folded.blocks)),
            alive_at_end_bytes: Some(live::bytes_of(&device.blocks, &alive).saturating_add(folded.map_or(0, |folded| folded.bytes))),
            stacks_found: counts.map(|counts| counts.found()),
            stacks_none: counts.map(|counts| counts.none),
            ..empty.clone()
        };
        Some(Member { row, at_peak: operators_at(device, at) })
    });
    or_empty(members.collect(), empty)
}

/// The members of a capture that was reported, here or elsewhere: the same as those of the capture itself. None of a JAX capture.
pub fn members_of_report(capture: &CaptureReport) -> Vec<Member> {
    match capture {
        CaptureReport::Ascend(capture) => members_of_ascend(capture),
        CaptureReport::Xplane(_) => Vec::new(),
    }
}

fn members_of_ascend(capture: &AscendReport) -> Vec<Member> {
    let empty = RankRow::empty(&capture.source, capture.role.as_ref(), capture.rank, capture.warnings.len());
    let members = capture.devices.iter().map(|device| {
        let counts = capture.stacks.as_ref().filter(|_| device.pool == "PTA");
        let row = RankRow {
            device: Some(device.device.clone()),
            pool: Some(device.pool.to_string()),
            peak_bytes: Some(device.peak.total_bytes),
            baseline_bytes: Some(device.peak.baseline_bytes),
            max_reserved_gap_bytes: device.max_reserved_gap_bytes,
            alive_at_end_blocks: Some(device.alive_at_end.blocks),
            alive_at_end_bytes: Some(device.alive_at_end.bytes),
            stacks_found: counts.map(|counts| counts.found()),
            stacks_none: counts.map(|counts| counts.none),
            ..empty.clone()
        };
        Member { row, at_peak: device.peak.by_operator.clone() }
    });
    or_empty(members.collect(), empty)
}

fn or_empty(members: Vec<Member>, empty: RankRow) -> Vec<Member> {
    if members.is_empty() { vec![Member { row: empty, at_peak: Vec::new() }] } else { members }
}

impl RankRow {
    fn empty(source: &str, role: Option<&String>, rank: Option<i64>, warnings: usize) -> RankRow {
        RankRow {
            capture: 0,
            source: source.to_owned(),
            role: role.cloned(),
            rank,
            device: None,
            pool: None,
            peak_bytes: None,
            baseline_bytes: None,
            max_reserved_gap_bytes: None,
            alive_at_end_blocks: None,
            alive_at_end_bytes: None,
            stacks_found: None,
            stacks_none: None,
            warnings: warnings as u64,
        }
    }
}

/// The comparison of a report's captures, each given by its members, in the report's order; `None` for fewer than two captures with members.
pub fn comparison(captures: Vec<Vec<Member>>, top: usize) -> Option<Comparison> {
    (captures.iter().filter(|members| !members.is_empty()).count() >= 2).then(|| compare(captures, top))
}

/// Compares captures, however few, each given by its members, in the report's order.
pub fn compare(captures: Vec<Vec<Member>>, top: usize) -> Comparison {
    let mut members: Vec<Member> = Vec::new();
    for (capture, mut of_capture) in captures.into_iter().enumerate() {
        of_capture.iter_mut().for_each(|member| member.row.capture = capture as u32);
        members.append(&mut of_capture);
    }
    members.sort_by(|Member { row: a, .. }, Member { row: b, .. }| {
        let place = |row: &RankRow| (row.source.clone(), row.device.clone(), row.pool.clone(), row.capture);
        b.peak_bytes.cmp(&a.peak_bytes).then_with(|| place(a).cmp(&place(b)))
    });
    let groups = groups(&members, top);
    Comparison { ranks: members.into_iter().map(|member| member.row).collect(), groups }
}

fn groups(members: &[Member], top: usize) -> Vec<RankGroup> {
    // GE after PTA, as in the report: the reverse of the alphabet.
    let pools: BTreeSet<std::cmp::Reverse<&str>> = members.iter().filter_map(|member| member.row.pool.as_deref()).map(std::cmp::Reverse).collect();
    let mut groups = Vec::new();
    for std::cmp::Reverse(pool) in pools {
        let of_pool: Vec<usize> = (0..members.len()).filter(|&i| members[i].row.pool.as_deref() == Some(pool)).collect();
        let mut by_role: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for &i in &of_pool {
            by_role.entry(members[i].row.role.as_deref()).or_default().push(i);
        }
        let several = by_role.len() > 1;
        groups.extend(by_role.into_iter().map(|(role, chosen)| Chosen { members, chosen }.group(pool, Some(role), top)));
        if several {
            groups.push(Chosen { members, chosen: of_pool }.group(pool, None, top));
        }
    }
    groups
}

type Figure = (&'static str, fn(&RankRow) -> Option<i64>);

const FIGURES: [Figure; 4] = [
    ("peak_bytes", |row| row.peak_bytes),
    ("baseline_bytes", |row| row.baseline_bytes),
    ("max_reserved_gap_bytes", |row| row.max_reserved_gap_bytes),
    ("alive_at_end_bytes", |row| row.alive_at_end_bytes),
];

/// Some members, by their place among all.
struct Chosen<'a> {
    members: &'a [Member],
    chosen: Vec<usize>,
}

impl Chosen<'_> {
    /// `role`: `None` across all roles.
    fn group(&self, pool: &str, role: Option<Option<&str>>, top: usize) -> RankGroup {
        let spreads = FIGURES.map(|(_, figure)| Spread::of(self.chosen.iter().filter_map(|&i| figure(&self.members[i].row)).collect()));
        let [peak_bytes, baseline_bytes, max_reserved_gap_bytes, alive_at_end_bytes] = spreads;
        RankGroup {
            pool: pool.to_owned(),
            across_roles: role.is_none(),
            role: role.flatten().map(str::to_owned),
            members: self.chosen.len() as u64,
            peak_bytes,
            baseline_bytes,
            max_reserved_gap_bytes,
            alive_at_end_bytes,
            outliers: (self.chosen.len() >= FEWEST_FOR_OUTLIERS).then(|| self.outliers(&spreads, role.is_none(), top)),
        }
    }

    /// The members that may depart. Across roles these are only those of small roles: whoever has enough of its own role to be compared with
    /// departs from these or from nobody, since half of the members are far from the median where two roles hold different amounts.
    fn judged(&self, across_roles: bool) -> impl Iterator<Item = usize> {
        let role = |i: usize| self.members[i].row.role.as_deref();
        let mut of_role: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        self.chosen.iter().for_each(|&i| *of_role.entry(role(i)).or_default() += 1);
        self.chosen.iter().copied().filter(move |&i| !across_roles || of_role[&role(i)] < FEWEST_FOR_OUTLIERS)
    }

    fn outliers(&self, spreads: &[Option<Spread>; 4], across_roles: bool, top: usize) -> Vec<Outlier> {
        let departures = |row: &RankRow| -> Vec<Departure> {
            let each = FIGURES.iter().zip(spreads).filter_map(|((name, figure), spread)| {
                let (value, spread) = (figure(row)?, spread.as_ref()?);
                let departure = Departure { figure: name, value, median: spread.median, difference: value.saturating_sub(spread.median) };
                spread.is_outlier(value).then_some(departure)
            });
            each.collect()
        };
        let judged = self.judged(across_roles);
        let found: Vec<(usize, Vec<Departure>)> = judged.map(|i| (i, departures(&self.members[i].row))).filter(|(_, found)| !found.is_empty()).collect();
        if found.is_empty() {
            return Vec::new();
        }
        let medians = self.operator_medians();
        let mut outliers: Vec<Outlier> = found.into_iter().map(|(i, departures)| self.outlier(i, departures, &medians, top)).collect();
        let largest = |outlier: &Outlier| outlier.departures.iter().map(|departure| departure.difference.unsigned_abs()).max();
        outliers.sort_by_key(|outlier| (std::cmp::Reverse(largest(outlier)), outlier.row));
        outliers
    }

    fn outlier(&self, index: usize, departures: Vec<Departure>, medians: &BTreeMap<&str, i64>, top: usize) -> Outlier {
        let member = &self.members[index];
        let own: BTreeMap<&str, i64> = member.at_peak.iter().map(|group| (group.name.as_str(), group.bytes)).collect();
        let difference = |(&name, &median_bytes): (&&str, &i64)| {
            let bytes = own.get(name).copied().unwrap_or(0);
            OperatorDeparture { name: name.to_owned(), bytes, median_bytes, difference_bytes: bytes.saturating_sub(median_bytes) }
        };
        let mut by_operator: Vec<OperatorDeparture> = medians.iter().map(difference).filter(|operator| operator.difference_bytes != 0).collect();
        // Stable: names are in order already.
        by_operator.sort_by_key(|operator| std::cmp::Reverse(operator.difference_bytes.unsigned_abs()));
        by_operator.truncate(top);
        Outlier {
            row: index as u32,
            source: member.row.source.clone(),
            role: member.row.role.clone(),
            rank: member.row.rank,
            device: member.row.device.clone().unwrap_or_default(),
            departures,
            by_operator,
        }
    }

    /// What is usual of each operator at the peak; a member without it holds 0 of it.
    fn operator_medians(&self) -> BTreeMap<&str, i64> {
        let mut values: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for group in self.chosen.iter().flat_map(|&i| &self.members[i].at_peak) {
            values.entry(&group.name).or_default().push(group.bytes);
        }
        let count = self.chosen.len();
        values
            .into_iter()
            .map(|(name, mut values)| {
                values.resize(count.max(values.len()), 0);
                (name, lower_median(&mut values).unwrap_or(0))
            })
            .collect()
    }
}

impl Spread {
    /// `None` of nothing.
    pub fn of(mut values: Vec<i64>) -> Option<Spread> {
        let median = lower_median(&mut values)?;
        let (min, max) = (*values.first()?, *values.last()?);
        let mut distances: Vec<i64> = values.iter().map(|value| i64::try_from(value.abs_diff(median)).unwrap_or(i64::MAX)).collect();
        Some(Spread { count: values.len() as u64, min, median, max, median_deviation: lower_median(&mut distances)? })
    }

    /// Whether a value departs from what is usual.
    pub fn is_outlier(&self, value: i64) -> bool {
        let distance = i128::from(value.abs_diff(self.median));
        distance > i128::from(OUTLIER_DEVIATIONS) * i128::from(self.median_deviation)
            && distance * 100 > i128::from(OUTLIER_PERCENT) * i128::from(self.median.unsigned_abs())
    }
}

/// Sorts the values; of an even number of them the lower one in the middle.
fn lower_median(values: &mut [i64]) -> Option<i64> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(role: &str, rank: i64, pool: &str, peak: i64, operators: &[(&str, i64)]) -> Vec<Member> {
        let role = role.to_owned();
        let row = RankRow {
            device: Some("NPU:0".to_owned()),
            pool: Some(pool.to_owned()),
            peak_bytes: Some(peak),
            baseline_bytes: Some(0),
            alive_at_end_bytes: Some(7),
            ..RankRow::empty(&format!("{role}/{rank:03}"), Some(&role), Some(rank), 0)
        };
        let at_peak = operators.iter().map(|&(name, bytes)| OperatorGroup { name: name.to_owned(), bytes, blocks: 1 }).collect();
        vec![Member { row, at_peak }]
    }

    #[test]
    fn the_worst_come_first_and_ties_go_by_source() {
        let empty = vec![Member { row: RankRow::empty("0", None, None, 3), at_peak: Vec::new() }];
        let found = comparison(vec![empty, member("a", 2, "PTA", 5, &[]), member("a", 1, "PTA", 5, &[]), member("b", 9, "GE", 8, &[])], 25).unwrap();
        let sources: Vec<_> = found.ranks.iter().map(|row| (row.source.as_str(), row.capture)).collect();
        assert_eq!(sources, [("b/009", 3), ("a/001", 2), ("a/002", 1), ("0", 0)]);
        assert_eq!(found.groups.iter().map(|group| (group.pool.as_str(), group.role.as_deref())).collect::<Vec<_>>(), [("PTA", Some("a")), ("GE", Some("b"))]);
        assert_eq!(comparison(vec![member("a", 1, "PTA", 5, &[])], 25), None);
    }

    #[test]
    fn an_outlier_is_named_with_the_operators_that_make_it() {
        let usual = [("matmul", 60), ("add", 30), ("gone", 10)];
        let mut captures: Vec<_> = (0..7).map(|rank| member("actor", rank, "PTA", 100 + rank % 2, &usual)).collect();
        captures.push(member("actor", 7, "PTA", 180, &[("matmul", 140), ("add", 30), ("new", 10)]));
        captures.push(member("critic", 0, "PTA", 400, &[]));
        let found = comparison(captures, 2).unwrap();
        let actor = &found.groups[0];
        assert_eq!(actor.peak_bytes, Some(Spread { count: 8, min: 100, median: 100, max: 180, median_deviation: 0 }));
        let outliers = actor.outliers.as_ref().unwrap();
        assert_eq!((outliers.len(), outliers[0].rank, outliers[0].row), (1, Some(7), 1));
        assert_eq!(outliers[0].departures, [Departure { figure: "peak_bytes", value: 180, median: 100, difference: 80 }]);
        let operators: Vec<_> = outliers[0].by_operator.iter().map(|operator| (operator.name.as_str(), operator.difference_bytes)).collect();
        assert_eq!(operators, [("matmul", 80), ("gone", -10)], "the first two; equal differences by name");
        assert_eq!((found.groups[1].role.as_deref(), &found.groups[1].outliers), (Some("critic"), &None));
        assert!(found.groups[2].across_roles && found.groups[2].members == 9);
        assert_eq!(found.groups[2].outliers.as_ref().unwrap()[0].role.as_deref(), Some("critic"));
    }

    #[test]
    fn both_thresholds_must_be_passed() {
        let spread = Spread { count: 9, min: 0, median: 1000, max: 2000, median_deviation: 20 };
        assert!(!spread.is_outlier(1060) && spread.is_outlier(1061) && spread.is_outlier(939) && !spread.is_outlier(940));
        let tight = Spread { median_deviation: 0, ..spread };
        assert!(!tight.is_outlier(1050) && tight.is_outlier(1051));
        let empty = Spread { median: 0, median_deviation: 0, ..spread };
        assert!(empty.is_outlier(1) && !empty.is_outlier(0));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let spread = Spread::of(vec![i64::MIN, i64::MAX, 0]).unwrap();
        assert_eq!((spread.median, spread.median_deviation), (0, i64::MAX));
        assert!(!spread.is_outlier(i64::MIN));
    }

    proptest! {
        #[test]
        fn medians_are_those_of_counting(values in prop::collection::vec(-50i64..50, 1..40)) {
            let spread = Spread::of(values.clone()).unwrap();
            // At most half of the values lie below a lower median, and it is the least such value from which at least half are reached.
            let counted = |values: &[i64]| {
                *values.iter().filter(|&&middle| values.iter().filter(|&&value| value <= middle).count() * 2 >= values.len()).min().unwrap()
            };
            prop_assert_eq!(spread.median, counted(&values));
            let distances: Vec<i64> = values.iter().map(|value| (value - spread.median).abs()).collect();
            prop_assert_eq!(spread.median_deviation, counted(&distances));
            prop_assert_eq!((spread.min, spread.max), (*values.iter().min().unwrap(), *values.iter().max().unwrap()));
        }

        #[test]
        fn the_order_of_captures_changes_only_their_numbers(peaks in prop::collection::vec(1i64..9, 3..12)) {
            let all: Vec<_> = peaks.iter().enumerate().map(|(rank, &peak)| member("a", rank as i64, "PTA", peak, &[("x", peak)])).collect();
            let forwards = comparison(all.clone(), 25).unwrap();
            let mut backwards = comparison(all.into_iter().rev().collect(), 25).unwrap();
            backwards.ranks.iter_mut().for_each(|row| row.capture = peaks.len() as u32 - 1 - row.capture);
            prop_assert_eq!(forwards, backwards);
        }
    }
}
