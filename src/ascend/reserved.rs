//! memory_record.csv and npu_module_mem.csv: how much memory each component holds on the device, over time.
//!
//! memory_record.csv has the whole process (`APP`), the framework's pools (`PTA`, `GE`) and, in newer versions, both (`PTA+GE`);
//! npu_module_mem.csv has CANN's components (HCCL, …); its `APP` is what the application itself asked for: the framework's pool. What the process holds beyond the framework's pools has no blocks anywhere else.
//!
//! Pools have a row at each of their events, and a total allocated in it; the others are sampled, every 20 ms or so.

use super::table::{Column, Refused, TableReader, TableRows, bytes, number};
use crate::error::{Problem, Warning};
use crate::scan::csv::Cells;
use crate::units::{MOST_BYTES, MOST_NS};
use serde::{Deserialize, Serialize};

/// In memory_record.csv the whole process, in npu_module_mem.csv what the application asked for; either contains the framework's pool.
pub const PROCESS: &str = "APP";
/// The framework's pools.
const POOLS: [&str; 3] = ["PTA", "GE", "PTA+GE"];

/// What one component holds, as steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// `APP`, `HCCL`, …
    pub component: String,
    /// `NPU:0`
    pub device: String,
    /// Ascending; one for each figure.
    pub time_ns: Vec<i64>,
    /// From each time on.
    pub reserved_bytes: Vec<i64>,
}

impl Reserved {
    /// The last sample at or before an instant: when and how much.
    pub fn at(&self, time_ns: i64) -> Option<(i64, i64)> {
        let last = self.time_ns.partition_point(|&time| time <= time_ns).checked_sub(1)?;
        Some((self.time_ns[last], self.reserved_bytes[last]))
    }
}

/// Reads either file.
pub type ReservedReader = TableReader<Rows>;

/// The rows, as they come in.
#[derive(Default)]
pub struct Rows {
    series: Vec<Series>,
    /// The series that the last row went to.
    latest: usize,
}

struct Series {
    /// As the latest of these rows has them.
    raw_component: Vec<u8>,
    raw_device: Vec<u8>,
    reserved: Reserved,
    /// Whether it is a pool's, with a row at each event.
    of_pool: bool,
}

/// Where the cells of a row stand.
pub struct Columns {
    component: Column,
    time: Column,
    reserved: Column,
    allocated: Option<Column>,
    device: Option<Column>,
}

impl TableRows for Rows {
    type Columns = Columns;

    fn columns(&self, names: &[String]) -> Result<Columns, Vec<&'static str>> {
        let found = ["Component", "Timestamp", "Total Reserved"].map(|wanted| (wanted, Column::find(names, &wanted.to_ascii_lowercase())));
        let missing: Vec<&str> = found.iter().filter(|(_, column)| column.is_none()).map(|(wanted, _)| *wanted).collect();
        let device = Column::find(names, "device type").or_else(|| Column::find(names, "device"));
        match found.map(|(_, column)| column) {
            [Some(component), Some(time), Some(reserved)] => {
                Ok(Columns { component, time, reserved, allocated: Column::find(names, "total allocated"), device })
            }
            _ => Err(missing),
        }
    }

    fn make_room(&mut self, rows: usize) {
        if let Some(Series { reserved, .. }) = self.series.get_mut(self.latest) {
            reserved.time_ns.reserve_exact(rows);
            reserved.reserved_bytes.reserve_exact(rows);
        }
    }

    fn row<'a>(&mut self, columns: &'a Columns, cells: &Cells) -> Result<(), Refused<'a>> {
        let time_ns =
            number(&columns.time, cells, MOST_NS)?.ok_or_else(|| columns.time.refuse(cells, Problem::BadValue { reason: "a sample needs a time" }))?;
        // Rows of the process have no other figure than this; rows without it say nothing here.
        let Some(reserved_bytes) = number(&columns.reserved, cells, MOST_BYTES)? else { return Ok(()) };
        let (component, device) = (bytes(cells, Some(&columns.component)), bytes(cells, columns.device.as_ref()));
        let same = |series: &Series| series.raw_component == component && series.raw_device == device;
        if !self.series.get(self.latest).is_some_and(same) {
            self.latest = self.series.iter().position(same).unwrap_or_else(|| self.named(component, device));
        }
        let series = &mut self.series[self.latest];
        series.of_pool |= !bytes(cells, columns.allocated.as_ref()).is_empty();
        series.reserved.time_ns.push(time_ns);
        series.reserved.reserved_bytes.push(reserved_bytes);
        Ok(())
    }
}

impl Rows {
    /// Finds or makes the series of a component and a device.
    fn named(&mut self, raw_component: &[u8], raw_device: &[u8]) -> usize {
        let (component, device) = (String::from_utf8_lossy(raw_component), String::from_utf8_lossy(raw_device));
        let same = |series: &Series| series.reserved.component == component && series.reserved.device == device;
        let found = self.series.iter().position(same).unwrap_or_else(|| {
            let reserved = Reserved { component: component.into_owned(), device: device.into_owned(), time_ns: Vec::new(), reserved_bytes: Vec::new() };
            self.series.push(Series { raw_component: Vec::new(), raw_device: Vec::new(), reserved, of_pool: false });
            self.series.len() - 1
        });
        let series = &mut self.series[found];
        (series.raw_component, series.raw_device) = (raw_component.to_vec(), raw_device.to_vec());
        found
    }
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReservedFile {
    /// By component.
    pub series: Vec<Reserved>,
    /// What was wrong.
    pub warnings: Vec<Warning>,
}

impl ReservedReader {
    /// The series and what was wrong.
    pub fn finish(self) -> ReservedFile {
        let mut series: Vec<Reserved> = self.rows.series.into_iter().map(steps).collect();
        series.sort_by(|a, b| (&a.component, &a.device).cmp(&(&b.component, &b.device)));
        ReservedFile { series, warnings: self.warnings.finish() }
    }
}

/// In order of time; of a pool's events only those that change something are kept, and the last. Samples stay: each tells when it was taken.
fn steps(Series { reserved: series, of_pool, .. }: Series) -> Reserved {
    let mut order: Vec<u32> = (0..series.time_ns.len() as u32).collect();
    order.sort_by_key(|&i| series.time_ns[i as usize]);
    let mut steps = Reserved { time_ns: Vec::new(), reserved_bytes: Vec::new(), ..series };
    for (nth, &i) in order.iter().enumerate() {
        let bytes = series.reserved_bytes[i as usize];
        // The last event stays: it says until when the component was watched.
        if !of_pool || nth + 1 == order.len() || steps.reserved_bytes.last() != Some(&bytes) {
            steps.time_ns.push(series.time_ns[i as usize]);
            steps.reserved_bytes.push(bytes);
        }
    }
    steps
}

/// Whether a component lies beyond the framework's pools: neither one of them nor the whole process.
pub fn is_outside(component: &str) -> bool {
    component != PROCESS && !POOLS.contains(&component)
}

/// What the process holds beyond the framework's pools, over time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outside {
    /// Instants at which it changes, once the process and a pool were sampled; ascending.
    pub time_ns: Vec<i64>,
    /// From each instant on.
    pub bytes: Vec<i64>,
}

impl Outside {
    /// From the series of memory_record.csv; empty when the process was not sampled.
    pub fn of(record: &[Reserved], device: &str) -> Outside {
        let of_device = |series: &&Reserved| series.device == device && !is_outside(&series.component);
        let first = |process: bool| {
            let wanted = record.iter().filter(of_device).filter(|series| (series.component == PROCESS) == process);
            wanted.filter_map(|series| series.time_ns.first()).min()
        };
        // Before a pool is known, all that the process holds would seem to be outside of it.
        let Some(first) = first(true).map(|process| first(false).unwrap_or(process).max(process)) else {
            return Outside::default();
        };
        let mut time_ns: Vec<i64> = record.iter().filter(of_device).flat_map(|series| series.time_ns.iter()).filter(|&time| time >= first).copied().collect();
        time_ns.sort_unstable();
        time_ns.dedup();
        let mut outside = Outside::default();
        for time in time_ns {
            let bytes = outside_framework(record, device, time).map(|(_, bytes)| bytes);
            if let Some(bytes) = bytes.filter(|bytes| outside.bytes.last() != Some(bytes)) {
                outside.time_ns.push(time);
                outside.bytes.push(bytes);
            }
        }
        outside
    }
}

/// What the process holds beyond the framework's pools at an instant: when the process was sampled and how much.
///
/// The pools are those of that sample, for they may have grown since. Only where none was known then, the instant's own are taken.
pub fn outside_framework(record: &[Reserved], device: &str, time_ns: i64) -> Option<(i64, i64)> {
    let at = |component: &str, time_ns| {
        let series = record.iter().find(|series| series.component == component && series.device == device)?;
        series.at(time_ns)
    };
    let (sampled_ns, app) = at(PROCESS, time_ns)?;
    let bytes = |component: &str, time_ns| at(component, time_ns).map(|(_, bytes)| bytes);
    let pools = |time_ns| match (bytes("PTA+GE", time_ns), bytes("PTA", time_ns), bytes("GE", time_ns)) {
        (Some(both), ..) => Some(both),
        (None, None, None) => None,
        (None, pta, ge) => Some(pta.unwrap_or(0) + ge.unwrap_or(0)),
    };
    Some((sampled_ns, app - pools(sampled_ns).or_else(|| pools(time_ns)).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &str) -> ReservedFile {
        let mut reader = ReservedReader::default();
        reader.begin("memory_record.csv");
        reader.feed(b"Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n");
        reader.feed(rows.as_bytes());
        reader.end();
        reader.finish()
    }

    #[test]
    fn the_process_minus_the_pools_at_the_last_sample() {
        let file = read("APP,10.0\t,,100.0,,,NPU:0\nAPP,20.0\t,,110.0,,,NPU:0\nPTA,11.0,1,60.0,1,2,NPU:0\nGE,12.0,1,5.0,,,NPU:0\n");
        assert!(file.warnings.is_empty());
        assert_eq!(outside_framework(&file.series, "NPU:0", 10_500), Some((10_000, 100 << 20)));
        assert_eq!(outside_framework(&file.series, "NPU:0", 15_000), Some((10_000, 35 << 20)));
        assert_eq!(outside_framework(&file.series, "NPU:0", 9_999), None);
        assert_eq!(outside_framework(&file.series, "NPU:1", 15_000), None);
        let file = read("APP,10.0,,100.0,,,NPU:0\nPTA,10.0,1,60.0,1,2,NPU:0\nPTA+GE,10.0,1,70.0,1,2,NPU:0\n");
        assert_eq!(outside_framework(&file.series, "NPU:0", 10_000), Some((10_000, 30 << 20)));
    }

    #[test]
    fn outside_the_framework_over_time() {
        let file = read("PTA,5.0,1,60.0,1,2,NPU:0\nAPP,10.0,,100.0,,,NPU:0\nAPP,20.0,,110.0,,,NPU:0\nGE,12.0,1,5.0,,,NPU:0\nHCCL,11.0,,9.0,,,NPU:0\n");
        let outside = Outside::of(&file.series, "NPU:0");
        assert_eq!(outside.time_ns, [10_000, 20_000]);
        assert_eq!(outside.bytes, [40 << 20, 45 << 20]);
        assert_eq!(Outside::of(&file.series, "NPU:1"), Outside::default());
        let file = read("APP,10.0,,100.0,,,NPU:0\nPTA,15.0,1,60.0,1,2,NPU:0\nAPP,20.0,,100.0,,,NPU:0\n");
        assert_eq!(Outside::of(&file.series, "NPU:0"), Outside { time_ns: vec![15_000], bytes: vec![40 << 20] });
    }

    #[test]
    fn pools_that_grew_since_the_sample_do_not_count() {
        let file = read("APP,10.0,,100.0,,,NPU:0\nPTA,5.0,1,60.0,1,2,NPU:0\nPTA,12.0,1,90.0,1,2,NPU:0\n");
        assert_eq!(outside_framework(&file.series, "NPU:0", 15_000), Some((10_000, 40 << 20)));
    }

    #[test]
    fn unordered_events_become_steps_and_samples_stay() {
        let file =
            read("PTA,30.0,0,1.0,,,N\nPTA,10.0,0,1.0,,,N\nPTA,20.0,0,1.0,,,N\nPTA,25.0,0,1.0,,,N\nAPP,12.0,,1.0,,,N\nAPP,11.0,,1.0,,,N\nAPP,13.0,,1.0,,,N\n");
        assert_eq!(file.series[0].time_ns, [11_000, 12_000, 13_000]);
        assert_eq!(file.series[1].time_ns, [10_000, 30_000]);
    }

    #[test]
    fn a_spreadsheets_times_are_refused() {
        assert_eq!(read("APP,1.69512E+15,,10750.375,,,NPU:1\n").warnings[0].code, "imprecise-time");
    }
}
