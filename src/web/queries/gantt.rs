//! The pictures below the curves: blocks on lanes, a row each, or stacked by size; the totals of other ranks.

use super::frame::window_of;
use crate::ascend::capture::Device;
use crate::draw::bars::{self, BarStyle, LaneRows, RAMP_STEPS, size_step, time_step};
use crate::draw::hues::HUES;
use crate::draw::shapes::{self, Shape};
use crate::timeline::blocks::OPEN;
use crate::timeline::lod::NO_BLOCK;
use crate::timeline::lod::columns::Columns;
use crate::timeline::lod::curves::Extremes;
use crate::timeline::lod::skyline::Shown;
use crate::timeline::lod::stack::Stacked;
use crate::web::columns::set;
use crate::web::derived::{Laid, Only};
use crate::web::engine::{Engine, OpenedDevice};
use crate::web::messages::{Colouring, Gantt, Paint, PlaceMessage, ViewRequest};
use js_sys::{Float64Array, Object, Uint8ClampedArray, Uint32Array};
use rayon::prelude::*;
use wasm_bindgen::prelude::*;

/// Wider or taller pictures than any screen are a mistake of the caller.
const MOST_PIXELS: u64 = 64 << 20;
/// So many blocks have a row of their own; nobody scrolls further, and taller elements than browsers allow would be needed.
const MOST_ROWS: usize = 10_000;

/// Refuses a view that cannot be painted.
pub(super) fn check(request: &ViewRequest) -> Result<(), JsError> {
    let height = match &request.gantt {
        Some(Gantt::Lanes { lanes, lane_px, .. }) => u64::from(*lane_px) * lanes.len() as u64,
        Some(Gantt::Blocks { count, lane_px, .. }) => u64::from(*lane_px) * u64::from(*count),
        Some(Gantt::Stack { height_px }) => u64::from(*height_px),
        Some(Gantt::Ranks { places, lane_px }) => u64::from(*lane_px) * places.len() as u64,
        None => 0,
    };
    let lane_px = match &request.gantt {
        Some(Gantt::Lanes { lane_px, .. } | Gantt::Blocks { lane_px, .. } | Gantt::Ranks { lane_px, .. }) => *lane_px,
        Some(Gantt::Stack { .. }) | None => 1,
    };
    let width = u64::from(request.width_px);
    let painted = request.paint.palette.len() > HUES && request.paint.ramp.len() >= RAMP_STEPS;
    if width == 0 || lane_px == 0 || width.saturating_mul(height) > MOST_PIXELS || !painted {
        return Err(JsError::new("no such view"));
    }
    Ok(())
}

impl Engine {
    /// Sets `pixels`, and what is needed to tell the block under the pointer.
    pub(super) fn paint(&self, frame: &Object, gantt: &Gantt, request: &ViewRequest, columns: &Columns) -> Result<(), JsError> {
        let (device, opened) = self.device(request.capture, request.device)?;
        let view = View {
            device,
            opened,
            columns,
            end_ns: self.capture(request.capture)?.capture.end_ns,
            paint: &request.paint,
            only: only(request),
            shapes: request.shapes,
        };
        match gantt {
            Gantt::Lanes { by, lanes, lane_px } => view.lanes(frame, Laid::new(*by, request.nearest), lanes, *lane_px as usize),
            Gantt::Blocks { first, count, lane_px } => view.blocks(frame, *first as usize, *count as usize, *lane_px as usize),
            Gantt::Stack { height_px } => view.stack(frame, *height_px as usize),
            Gantt::Ranks { places, lane_px } => self.ranks(frame, places, request, *lane_px as usize)?,
        }
        Ok(())
    }

    fn ranks(&self, frame: &Object, places: &[PlaceMessage], request: &ViewRequest, lane_px: usize) -> Result<(), JsError> {
        let devices: Vec<(&Device, &OpenedDevice)> = places.iter().map(|place| self.device(place.capture, place.device)).collect::<Result<_, _>>()?;
        let areas: Vec<(Extremes, Extremes)> = devices
            .par_iter()
            .filter_map(|(device, opened)| {
                let (index, curves) = (opened.derived.curves()?, &device.replay.curves);
                let columns = Columns::of(window_of(opened, request), &curves.time_ns);
                let baseline = index.baseline.extremes(&columns, |at| curves.baseline_bytes[at]);
                Some((index.total.extremes(&columns, |at| curves.total_bytes(at)), baseline))
            })
            .collect();
        // The scale does not change with the window, so that a rank can be followed.
        let peak = |device: &Device| device.replay.peak.map_or(0.0, |at| device.replay.curves.total_bytes(at) as f64);
        let most = devices.iter().map(|(device, _)| peak(device)).fold(0.0, f64::max);
        let row = request.width_px as usize * lane_px * 4;
        let mut pixels = vec![0u8; row * areas.len()];
        pixels.par_chunks_mut(row.max(1)).zip(&areas).for_each(|(pixels, (total, baseline))| {
            bars::paint_area(pixels, total, baseline, most, (request.paint.total, request.paint.baseline));
        });
        if request.shapes {
            let mut found = Vec::new();
            for (nth, (total, baseline)) in areas.iter().enumerate() {
                let place = ((nth * lane_px) as u32, lane_px);
                shapes::area(&mut found, (total, baseline), most, place, (request.paint.total, request.paint.baseline));
            }
            set_shapes(frame, &found);
        }
        let highest: Vec<f64> = areas.into_iter().flat_map(|(total, _)| total.max).collect();
        set(frame, "rank_max", &Float64Array::from(&highest[..]));
        set_pixels(frame, &pixels);
        Ok(())
    }
}

/// A device in a window.
struct View<'a> {
    device: &'a Device,
    opened: &'a OpenedDevice,
    columns: &'a Columns,
    end_ns: i64,
    paint: &'a Paint,
    only: Only,
    shapes: bool,
}

/// The blocks that a view shows.
pub(super) fn only(request: &ViewRequest) -> Only {
    Only { filter: request.filter.clone(), nearest: request.nearest }
}

impl View<'_> {
    /// Sets for each lane two rows of `blocks` (front, second), `folded` and `counts`.
    fn lanes(&self, frame: &Object, laid: Laid, lanes: &[u32], lane_px: usize) {
        let (blocks, time_ns) = (&self.device.blocks, &self.device.replay.curves.time_ns[..]);
        let width = self.columns.len();
        let mut pixels = vec![0u8; width * lane_px * lanes.len() * 4];
        let count = self.opened.derived.lanes(laid).map_or(0, |set| set.listed.len());
        let drawn = self.opened.derived.drawn(laid, &self.only);
        let shown: Vec<Shown> = pixels
            .par_chunks_mut((width * lane_px * 4).max(1))
            .zip(lanes)
            .map(|(pixels, &lane)| {
                let Some((lanes, skyline)) = drawn.filter(|_| (lane as usize) < count) else { return Shown::nothing(width) };
                let shown = skyline.show(blocks, time_ns, lanes, lane as usize, self.columns);
                self.styled(|style| bars::paint_lane(pixels, blocks, &shown, style));
                shown
            })
            .collect();
        self.shaped(frame, |into, style| {
            let lanes = shown.iter().enumerate();
            lanes.for_each(|(nth, shown)| shapes::lane(into, blocks, shown, ((nth * lane_px) as u32, lane_px), style));
        });
        let rows: Vec<u32> = shown.iter().flat_map(|shown| shown.front.iter().chain(&shown.second)).copied().collect();
        let folded: Vec<u32> = shown.iter().flat_map(|shown| &shown.folded).copied().collect();
        let counts: Vec<u32> = shown.iter().map(|shown| shown.blocks).collect();
        let split = LaneRows::of(lane_px).second.start;
        set(frame, "blocks", &Uint32Array::from(&rows[..]));
        set(frame, "folded", &Uint32Array::from(&folded[..]));
        set(frame, "counts", &Uint32Array::from(&counts[..]));
        set(frame, "split_px", &(split as u32).into());
        set_pixels(frame, &pixels);
    }

    /// Sets a row of `blocks` for each, and who they are: `row_blocks`, `row_lanes` (of their operators), `row_bytes`; `rows_total` counts
    /// all blocks of the window, `rows_most` those that can have a row.
    fn blocks(&self, frame: &Object, first: usize, count: usize, lane_px: usize) {
        let blocks = &self.device.blocks;
        let Some((sizes, time_ns)) = self.opened.derived.sizes(self.device, &self.only) else { return };
        let window = self.columns.window;
        let mut found = sizes.largest(blocks, time_ns, (window.from_ns, window.to_ns), MOST_ROWS);
        found.drain(..first.min(found.len()));
        found.truncate(count);
        let width = self.columns.len();
        let mut pixels = vec![0u8; width * lane_px * found.len() * 4];
        let inset = lane_px / 8;
        let rows: Vec<Vec<u32>> = pixels
            .par_chunks_mut((width * lane_px * 4).max(1))
            .zip(&found)
            .map(|(pixels, &block)| {
                let row = self.row_of(block);
                self.styled(|style| bars::paint_row(pixels, blocks, &row, inset..lane_px - inset, style));
                row
            })
            .collect();
        self.shaped(frame, |into, style| {
            for (nth, row) in rows.iter().enumerate() {
                shapes::row(into, blocks, row, (nth * lane_px) as u32, &|_| inset..lane_px - inset, style);
            }
        });
        let lanes: Vec<u32> = found.iter().map(|&block| self.opened.lane_of[blocks.name[block as usize] as usize]).collect();
        let bytes: Vec<f64> = found.iter().map(|&block| blocks.size_bytes[block as usize] as f64).collect();
        set(frame, "blocks", &Uint32Array::from(&rows.concat()[..]));
        set(frame, "row_blocks", &Uint32Array::from(&found[..]));
        set(frame, "row_lanes", &Uint32Array::from(&lanes[..]));
        set(frame, "row_bytes", &Float64Array::from(&bytes[..]));
        set(frame, "rows_most", &(MOST_ROWS as u32).into());
        set(frame, "rows_total", &(sizes.count(time_ns, window.from_ns, window.to_ns) as u32).into());
        set_pixels(frame, &pixels);
    }

    /// The columns that a block touches.
    fn row_of(&self, block: u32) -> Vec<u32> {
        let (start, end) = (self.device.blocks.start_ns[block as usize], self.device.blocks.end_ns[block as usize]);
        let mut row = vec![NO_BLOCK; self.columns.len()];
        let first = self.columns.ns.partition_point(|&(_, to)| to <= start);
        let last = self.columns.ns.partition_point(|&(from, _)| from < end);
        if first < last {
            row[first..last].fill(block);
        }
        row
    }

    /// Sets a row of `blocks` for each row of pixels, and the bytes at the lower and the upper edge, `y_from` and `y_to`. Some blocks stand
    /// alone, without the baseline.
    fn stack(&self, frame: &Object, height_px: usize) {
        let (curves, derived) = (&self.device.replay.curves, &self.opened.derived);
        let (Some((sizes, time_ns)), Some(index)) = (derived.sizes(self.device, &self.only), derived.curves()) else { return };
        let blocks = &self.device.blocks;
        match derived.narrowed(&self.only) {
            Some(some) => {
                let stacked = Stacked { blocks, time_ns, held_bytes: &some.held.bytes, baseline_bytes: &[], total: &some.curve, sizes };
                self.stacked(frame, height_px, stacked, &Columns::of(self.columns.window, time_ns), f64::INFINITY);
            }
            None => {
                let least = index.baseline.extremes(self.columns, |at| curves.baseline_bytes[at]).min.into_iter().fold(f64::INFINITY, f64::min);
                let (held_bytes, baseline_bytes) = (&curves.tracked_bytes[..], &curves.baseline_bytes[..]);
                self.stacked(frame, height_px, Stacked { blocks, time_ns, held_bytes, baseline_bytes, total: &index.total, sizes }, self.columns, least);
            }
        }
    }

    /// `least`: of the baseline.
    fn stacked(&self, frame: &Object, height_px: usize, stacked: Stacked, columns: &Columns, least: f64) {
        let most = stacked.total.extremes(columns, |at| stacked.total_bytes(at)).max.into_iter().fold(0.0, f64::max);
        let (from, to) = bars::stack_range(least, most);
        let per_px = ((to - from) / height_px.max(1) as i64).max(1);
        let stacks = stacked.columns(columns, per_px);
        let cells = bars::stack_cells(stacked.blocks, &stacks, height_px, (from, to));
        let width = self.columns.len();
        let mut pixels = vec![0u8; width * height_px * 4];
        self.shaped(frame, |into, style| shapes::stack(into, &cells, width, |what, x| self.band_colour(style, what, x), style));
        self.styled(|style| {
            let colour = |what: u32, x: usize| self.band_colour(style, what, x);
            pixels.par_chunks_mut((width * 4).max(1)).enumerate().for_each(|(y, row)| bars::paint_stack(row, &cells, width, y, colour, style));
        });
        set(frame, "blocks", &Uint32Array::from(&cells[..]));
        set(frame, "y_from", &(from as f64).into());
        set(frame, "y_to", &(to as f64).into());
        set_pixels(frame, &pixels);
    }

    fn band_colour(&self, style: &BarStyle, what: u32, x: usize) -> u32 {
        match what {
            bars::BASELINE => self.paint.baseline,
            bars::SMALL => self.paint.palette[HUES],
            block => (style.colour)(block, x),
        }
    }

    /// Sets `shapes`, where they are wanted.
    fn shaped(&self, frame: &Object, fill: impl FnOnce(&mut Vec<Shape>, &BarStyle)) {
        if self.shapes {
            let mut found = Vec::new();
            self.styled(|style| fill(&mut found, style));
            set_shapes(frame, &found);
        }
    }

    fn styled<T>(&self, paint: impl FnOnce(&BarStyle) -> T) -> T {
        let Paint { colouring, palette, ramp, selected, outline, density, .. } = self.paint;
        let (blocks, OpenedDevice { lane_of, hues, .. }) = (&self.device.blocks, self.opened);
        let colour = |block: u32, column: usize| {
            let at = block as usize;
            match colouring {
                Colouring::Operator => palette[hues.get(lane_of[blocks.name[at] as usize] as usize).map_or(HUES, |&hue| (hue as usize).min(HUES))],
                Colouring::Size => ramp[size_step(blocks.size_bytes[at])],
                Colouring::Lifetime if blocks.end_ns[at] == OPEN => ramp[RAMP_STEPS - 1],
                Colouring::Lifetime => ramp[time_step(self.device.lifetime_ns(at, self.end_ns))],
                Colouring::Age => {
                    let (from, to) = self.columns.ns[column];
                    ramp[time_step((from + (to - from) / 2).min(blocks.end_ns[at]).saturating_sub(blocks.start_ns[at]).max(0))]
                }
            }
        };
        paint(&BarStyle { colour: &colour, selected: *selected, outline: *outline, density: *density })
    }
}

fn set_shapes(frame: &Object, found: &[Shape]) {
    set(frame, "shapes", &Uint32Array::from(&found.iter().flat_map(|shape| shape.to_numbers()).collect::<Vec<_>>()[..]));
}

fn set_pixels(frame: &Object, pixels: &[u8]) {
    set(frame, "pixels", &Uint8ClampedArray::from(pixels));
}
