//! A window's pixel columns in whole nanoseconds, and as places among instants.

/// A stretch of time and the pixels it is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First instant shown.
    pub from_ns: i64,
    /// End of the stretch, later than `from_ns`.
    pub to_ns: i64,
    /// Pixel columns, at least 1.
    pub width_px: u32,
}

impl Window {
    /// The nanoseconds that a column touches: from the first one on, before the second one. A column narrower than a nanosecond touches
    /// one or two.
    pub fn column_ns(&self, column: u32) -> (i64, i64) {
        let span = i128::from(self.to_ns) - i128::from(self.from_ns);
        let (width, column) = (i128::from(self.width_px), i128::from(column));
        let after = |part: i128| (i128::from(self.from_ns) + part) as i64;
        (after((column * span).div_euclid(width)), after(-(-(column + 1) * span).div_euclid(width)))
    }
}

/// The instants of a window's columns. Something that holds from instant `i` to instant `j` touches a column where `i < before` and
/// `past <= j`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The window.
    pub window: Window,
    /// For each column the nanoseconds it touches.
    pub ns: Vec<(i64, i64)>,
    /// For each column, how many instants lie at its first nanosecond or earlier.
    pub past: Vec<u32>,
    /// For each column, how many instants lie before its end.
    pub before: Vec<u32>,
}

impl Columns {
    /// `time_ns`: distinct instants, ascending.
    pub fn of(window: Window, time_ns: &[i64]) -> Columns {
        let ns: Vec<(i64, i64)> = (0..window.width_px).map(|column| window.column_ns(column)).collect();
        let past = ns.iter().map(|&(from, _)| time_ns.partition_point(|&time| time <= from) as u32).collect();
        let before = ns.iter().map(|&(_, to)| time_ns.partition_point(|&time| time < to) as u32).collect();
        Columns { window, ns, past, before }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ns.is_empty()
    }
}

/// How many entries at the front of `sorted` are less than `bound`, known to be at least `from`: quick where it is not many more.
pub(super) fn gallop(sorted: &[u32], from: usize, bound: u32) -> usize {
    let mut step = 1;
    let mut low = from;
    while low + step <= sorted.len() && sorted[low + step - 1] < bound {
        low += step;
        step *= 2;
    }
    let high = sorted.len().min(low + step);
    low + sorted[low..high].partition_point(|&entry| entry < bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_tile_the_window() {
        let window = Window { from_ns: -3, to_ns: 7, width_px: 4 };
        assert_eq!((0..4).map(|column| window.column_ns(column)).collect::<Vec<_>>(), [(-3, 0), (-1, 2), (2, 5), (4, 7)]);
        let narrow = Window { from_ns: 0, to_ns: 2, width_px: 4 };
        assert_eq!((0..4).map(|column| narrow.column_ns(column)).collect::<Vec<_>>(), [(0, 1), (0, 1), (1, 2), (1, 2)]);
        let whole = Window { from_ns: i64::MIN, to_ns: i64::MAX, width_px: 1 };
        assert_eq!(whole.column_ns(0), (i64::MIN, i64::MAX));
    }

    #[test]
    fn instants_of_columns() {
        let columns = Columns::of(Window { from_ns: 0, to_ns: 10, width_px: 2 }, &[0, 4, 5, 9, 10]);
        assert_eq!((columns.past, columns.before), (vec![1, 3], vec![2, 4]));
    }

    proptest! {
        #[test]
        fn galloping_finds_what_halving_finds(mut sorted in prop::collection::vec(0u32..50, 0..60), bound in 0u32..60, hint in 0usize..60) {
            sorted.sort_unstable();
            let expected = sorted.partition_point(|&entry| entry < bound);
            prop_assert_eq!(gallop(&sorted, hint.min(expected), bound), expected);
        }
    }
}
