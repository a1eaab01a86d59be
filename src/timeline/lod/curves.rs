//! The least and the largest value of a curve in every pixel column. Nothing is sampled: a peak narrower than a pixel still shows.

use super::columns::Columns;
use super::pyramid::{Pyramid, Summary};
use crate::timeline::blocks::UNKNOWN;
use std::ops::Range;

/// So many entries a summary: reading on costs less than looking elsewhere.
const RUN: usize = 64;

/// The least and the largest value of a curve in every pixel column; NaN where nothing is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Extremes {
    /// Least.
    pub min: Vec<f64>,
    /// Largest.
    pub max: Vec<f64>,
}

/// The least and the largest of some values; of unknown ones alone the least is the larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    min: i64,
    max: i64,
}

impl Span {
    fn of(value: i64) -> Span {
        Span { min: if value == UNKNOWN { i64::MAX } else { value }, max: value }
    }
}

impl Summary for Span {
    fn join(self, other: Span) -> Span {
        Span { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// Summaries of a curve whose entries hold from their instants on. The values stay with the caller, who answers an entry in bytes, or
/// [`UNKNOWN`].
#[derive(Debug, Clone)]
pub struct CurveIndex {
    pyramid: Pyramid<Span, RUN>,
}

impl CurveIndex {
    /// Of `len` entries.
    pub fn of(len: usize, value: impl Fn(usize) -> i64 + Sync) -> CurveIndex {
        CurveIndex { pyramid: Pyramid::of(len, |at| Span::of(value(at))) }
    }

    /// The extremes in every column. `columns`: over this curve's instants.
    pub fn extremes(&self, columns: &Columns, value: impl Fn(usize) -> i64) -> Extremes {
        let mut found = Extremes { min: Vec::with_capacity(columns.len()), max: Vec::with_capacity(columns.len()) };
        for (&past, &before) in columns.past.iter().zip(&columns.before) {
            let span = self.pyramid.over(entries(past, before), |at| Span::of(value(at))).filter(|span| span.max != UNKNOWN);
            found.min.push(span.map_or(f64::NAN, |span| span.min as f64));
            found.max.push(span.map_or(f64::NAN, |span| span.max as f64));
        }
        found
    }

    /// The first entry with the largest value in a column; `None` where nothing is known.
    pub fn largest(&self, columns: &Columns, column: usize, value: impl Fn(usize) -> i64) -> Option<usize> {
        let range = entries(columns.past[column], columns.before[column]);
        let most = self.pyramid.over(range.clone(), |at| Span::of(value(at))).map(|span| span.max).filter(|&max| max != UNKNOWN)?;
        let mut found = None;
        self.pyramid.visit(range, &|span| span.max >= most, &mut |at| {
            if value(at) == most {
                found = Some(at);
            }
            found.is_none()
        });
        found
    }

    /// What it takes.
    pub fn bytes(&self) -> usize {
        self.pyramid.bytes()
    }
}

/// The entries that hold at some time of a column: the one before it holds on into it.
fn entries(past: u32, before: u32) -> Range<usize> {
    past.saturating_sub(1) as usize..before as usize
}

#[cfg(test)]
mod tests {
    use super::super::columns::Window;
    use super::*;
    use crate::timeline::blocks::OPEN;
    use crate::timeline::blocks::tests::blocks_over;
    use crate::timeline::replay::Replay;
    use proptest::prelude::*;

    fn extremes(time_ns: &[i64], window: Window, value: impl Fn(usize) -> i64 + Sync) -> Extremes {
        CurveIndex::of(time_ns.len(), &value).extremes(&Columns::of(window, time_ns), value)
    }

    #[test]
    fn a_column_holds_every_value_within_it() {
        let curves = Replay::of(&blocks_over(0, &[("a", 10, 0, 5), ("b", 20, 6, 7), ("a", 1, 9, OPEN)])).curves;
        let found = extremes(&curves.time_ns, Window { from_ns: 0, to_ns: 10, width_px: 2 }, |at| curves.total_bytes(at));
        assert_eq!((found.min, found.max), (vec![10.0, 0.0], vec![10.0, 20.0]));
    }

    #[test]
    fn before_the_first_event_nothing_is_known() {
        let curves = Replay::of(&blocks_over(0, &[("a", 10, 5, OPEN)])).curves;
        let found = extremes(&curves.time_ns, Window { from_ns: 0, to_ns: 10, width_px: 2 }, |at| curves.total_bytes(at));
        assert!(found.min[0].is_nan());
        assert_eq!(found.max[1], 10.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        /// No peak is lost at any zoom: each column's extremes are those of all that holds within it.
        #[test]
        fn extremes_equal_those_of_every_nanosecond(steps in prop::collection::vec((1i64..9, -40i64..60), 0..300), from_ns in -20i64..400, length in 1i64..900, width_px in 1u32..60) {
            let mut time_ns = Vec::new();
            let mut values = Vec::new();
            let mut now = 0;
            for &(step, value) in &steps {
                now += step;
                time_ns.push(now);
                values.push(if value < -30 { UNKNOWN } else { value });
            }
            let window = Window { from_ns, to_ns: from_ns + length, width_px };
            let columns = Columns::of(window, &time_ns);
            let index = CurveIndex::of(values.len(), |at| values[at]);
            let found = index.extremes(&columns, |at| values[at]);
            for column in 0..width_px {
                let (from, to) = window.column_ns(column);
                let held = |time: i64| time_ns.partition_point(|&t| t <= time).checked_sub(1);
                let known = || (from..to).filter_map(held).map(|at| (values[at], at)).filter(|&(value, _)| value != UNKNOWN);
                let most = known().map(|(value, _)| value).max();
                let first = known().find(|&(value, _)| Some(value) == most).map(|(_, at)| at);
                let at = column as usize;
                prop_assert_eq!(Some(found.max[at]).filter(|max| !max.is_nan()), most.map(|most| most as f64));
                prop_assert_eq!(Some(found.min[at]).filter(|min| !min.is_nan()), known().map(|(value, _)| value).min().map(|least| least as f64));
                prop_assert_eq!(index.largest(&columns, at, |at| values[at]), first);
            }
        }
    }
}
