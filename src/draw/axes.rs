//! Axes of time and of memory: ticks at round figures of the unit that fits the range.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// Units of memory, largest first.
const BYTE_UNITS: [(f64, &str); 5] = [((1u64 << 40) as f64, "TiB"), ((1u64 << 30) as f64, "GiB"), ((1u64 << 20) as f64, "MiB"), (1024.0, "KiB"), (1.0, "B")];
/// Units of time, largest first.
const TIME_UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// An axis whose ticks are round in `unit`.
#[derive(Clone)]
pub struct UnitAxis {
    range: Range<f64>,
    unit: f64,
    /// The unit's name, for the axis' title.
    pub name: &'static str,
    step: f64,
    /// Pixel columns that the range is cut into; `None`: a value lies on the pixel nearest to it.
    columns: Option<u32>,
}

impl UnitAxis {
    /// Bytes from 0 to `most`, with room above it.
    pub fn bytes(most: f64, ticks: usize) -> UnitAxis {
        let most = most.max(1.0);
        UnitAxis::new(0.0..most * 1.08, most, ticks, &BYTE_UNITS)
    }

    /// Instants, in nanoseconds since the capture's start. An instant lies on the pixel column that its stretch of time falls in, as in the
    /// lanes: plotters would leave out the last column and round, and the charts would be a pixel apart.
    pub fn time(range: Range<f64>, columns: u32, ticks: usize) -> UnitAxis {
        let reach = range.end.abs().max(range.start.abs());
        UnitAxis { columns: Some(columns), ..UnitAxis::new(range, reach, ticks, &TIME_UNITS) }
    }

    /// Things counted from 0.
    pub fn count(range: Range<f64>, columns: u32, ticks: usize) -> UnitAxis {
        UnitAxis { columns: Some(columns), ..UnitAxis::new(range, 1.0, ticks, &[(1.0, "")]) }
    }

    fn new(range: Range<f64>, reach: f64, ticks: usize, units: &[(f64, &'static str)]) -> UnitAxis {
        let (unit, name) = units.iter().copied().find(|(size, _)| reach >= *size).unwrap_or((1.0, units[units.len() - 1].1));
        let step = round_step((range.end - range.start) / unit / ticks.max(1) as f64);
        UnitAxis { range, unit, name, step, columns: None }
    }

    /// The ticks, in bytes or nanoseconds.
    pub fn ticks(&self) -> Vec<f64> {
        let (first, last) = ((self.range.start / self.unit / self.step).ceil(), (self.range.end / self.unit / self.step).floor());
        // A range of zero width has no ticks to speak of.
        let count = (last - first).clamp(-1.0, 200.0) as i64;
        (0..=count).map(|i| (first + i as f64) * self.step * self.unit).collect()
    }

    /// A tick as it is written: a figure in the axis' unit.
    pub fn label(&self, value: f64) -> String {
        let decimals = (-self.step.log10().floor()).clamp(0.0, 9.0) as usize;
        format!("{:.decimals$}", value / self.unit)
    }
}

/// The next larger of 1, 2, 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-9).log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * 0.999).unwrap_or(10.0);
    factor * power
}

impl Ranged for UnitAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        let from = f64::from(limit.0);
        match self.columns {
            Some(columns) => (from + (share * f64::from(columns)).clamp(-1e6, 1e6)).floor() as i32,
            None => (from + (share * f64::from(limit.1 - limit.0)).clamp(-1e6, 1e6)).round() as i32,
        }
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for UnitAxis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &UnitAxis) -> Vec<String> {
        axis.ticks().into_iter().map(|tick| axis.label(tick)).collect()
    }

    #[test]
    fn memory_is_ticked_in_binary_units() {
        let axis = UnitAxis::bytes(10_782_243_840.0, 5);
        assert_eq!((axis.name, labels(&axis)), ("GiB", vec!["0".into(), "5".into(), "10".into()]));
        let axis = UnitAxis::bytes(3.0 * 1024.0, 4);
        assert_eq!((axis.name, labels(&axis)), ("KiB", ["0", "1", "2", "3"].map(String::from).to_vec()));
    }

    #[test]
    fn time_keeps_the_unit_of_the_whole_capture() {
        let axis = UnitAxis::time(151_000_000_000.0..151_000_400_000.0, 400, 4);
        assert_eq!(axis.name, "s");
        assert_eq!(labels(&axis)[1], "151.0001");
    }

    #[test]
    fn an_instant_lies_on_the_column_of_its_stretch() {
        let axis = UnitAxis::time(0.0..1000.0, 100, 4);
        // Plotters hands over the first pixel and the last one.
        let columns = [0.0, 9.9, 10.0, 995.0].map(|ns| axis.map(&ns, (172, 271)) - 172);
        assert_eq!(columns, [0, 0, 1, 99]);
    }

    #[test]
    fn degenerate_ranges_do_no_harm() {
        assert!(UnitAxis::time(5.0..5.0, 100, 4).ticks().len() < 3);
        assert!(UnitAxis::bytes(0.0, 4).ticks().len() < 9);
    }
}
