//! A chart of one capture as a picture, for the command line: what the page shows, in English.

use super::inert::name;
use super::words::member_name;
use crate::ascend::capture::{Capture, Device};
use crate::ascend::flame::{Flame, Held};
use crate::ascend::grouping::stack_of;
use crate::ascend::reserved::Outside;
use crate::ascend::trace_view::Phase;
use crate::draw::bars::{self, BarStyle};
use crate::draw::font::FAMILY;
use crate::draw::heap::Heap;
use crate::draw::hues::{HUES, hues};
use crate::draw::look::{DARK, LIGHT, Look};
use crate::draw::picture::{Curves, Label, Picture, TimeGrid};
use crate::draw::shapes::{self, Shape};
use crate::draw::trend::{Trend, TrendStyle};
use crate::timeline::blocks::UNKNOWN;
use crate::timeline::live;
use crate::timeline::lod::columns::{Columns, Window};
use crate::timeline::lod::curves::{CurveIndex, Extremes};
use crate::timeline::lod::lanes::Lanes;
use crate::timeline::lod::listed::{Listed, listed};
use crate::timeline::lod::sizes::SizeIndex;
use crate::timeline::lod::skyline::Skyline;
use crate::timeline::lod::stack::Stacked;
use crate::units::{human_bytes, human_ns};
use crate::xplane::plan::Plan;
use std::collections::HashMap;
use std::ops::Range;

/// Which chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Memory over time.
    Trend,
    /// Blocks on lanes, by operator.
    Lanes,
    /// Blocks upon each other, as thick as their bytes.
    Stacked,
    /// What is alive at the peak, by call stack.
    Flame,
    /// The heap of a JAX module over its schedule.
    Heap,
}

/// What names the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Those of an Ascend capture.
    Operators,
    /// Those of a JAX capture's allocator.
    Owners,
}

/// What is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Which chart.
    pub kind: Kind,
    /// Nanoseconds since the capture's first event; `None`: all of it.
    pub window_ns: Option<(i64, i64)>,
    /// Width and height.
    pub size_px: (u32, u32),
    /// In dark colours.
    pub is_dark: bool,
}

/// Ready to be drawn.
pub struct Chart {
    /// Frame and letters.
    pub picture: Picture,
    /// Bars.
    pub shapes: Vec<Shape>,
    /// Curves with axes.
    pub curves: Option<Curves>,
}

const TITLE_PX: i32 = 18;
const LEGEND_PX: i32 = 40;
const TOP_PX: u32 = 64;
/// Where curves begin, with room for the peak's figure above them.
const CURVES_PX: u32 = 54;
/// The same room, in the style of curves.
const ABOVE_PX: u32 = 18;
const BOTTOM_PX: u32 = 26;
const RIGHT_PX: u32 = 26;
const SIDE_PX: i32 = 12;
/// For figures, and for names.
const SCALE_PX: u32 = 64;
const NAMES_PX: u32 = 200;
const LANE_PX: u32 = 22;
const FRAME_PX: u32 = 18;
/// A frame narrower than this is left out, and one narrower than that has no name.
const NARROWEST_FRAME_PX: f64 = 1.0;
const NARROWEST_NAMED_PX: u32 = 24;
const LETTERS: f64 = 12.0;

/// A chart of a device's memory; `phases` of the capture belong to it. The error says what the capture does not have.
pub fn of_device(capture: &Capture, device: &Device, names: Names, wanted: &Wanted) -> Result<Chart, String> {
    let base_ns = capture.first_ns();
    let end_ns = capture.end_ns.max(base_ns.saturating_add(1));
    let (from_ns, to_ns) = wanted.window_ns.map_or((base_ns, end_ns), |(from, to)| (base_ns.saturating_add(from), base_ns.saturating_add(to)));
    if from_ns >= end_ns || to_ns <= from_ns {
        return Err(format!("the window lies beyond the capture, which is {} long", human_ns(end_ns.saturating_sub(base_ns))));
    }
    let chart = Of { capture, device, names, wanted, base_ns, from_ns, to_ns: to_ns.min(end_ns), look: look(wanted) };
    match wanted.kind {
        Kind::Trend => Ok(chart.trend()),
        Kind::Lanes => Ok(chart.lanes()),
        Kind::Stacked => Ok(chart.stacked()),
        Kind::Flame => chart.flame(),
        Kind::Heap => Err("the heap over a schedule is what JAX captures have".to_owned()),
    }
}

/// The heap of a module over its schedule.
pub fn of_plan(source: &str, plan: &Plan, wanted: &Wanted) -> Result<Chart, String> {
    let curves = plan.heap.iter().flat_map(|heap| &heap.curves);
    let Some(curve) = curves.max_by_key(|curve| curve.peak_bytes()).filter(|curve| !curve.held_bytes.is_empty()) else {
        return Err(format!("{} has no temporary memory, and so no heap to draw", name(&plan.name)));
    };
    let look = look(wanted);
    let height = wanted.size_px.1;
    let (min, max) = curve.extremes(plot_px(wanted, SCALE_PX).len());
    let floats = |bytes: Vec<i64>| bytes.into_iter().map(|bytes| bytes as f64).collect();
    let heap = Heap { held: Extremes { min: floats(min), max: floats(max) }, events: curve.held_bytes.len() as f64 };
    let peak = (curve.peak.unwrap_or(0) as f64, curve.peak_bytes());
    let style = trend_style(look, peak, format!("peak {}", human_bytes(peak.1)));
    let title = format!("Heap over the schedule · {} · {} · {} events", name(&plan.name), name(source), curve.held_bytes.len());
    let mut chart = Chart { picture: frame(wanted, look, title), shapes: Vec::new(), curves: Some(Curves::Heap(heap, style)) };
    chart.picture.curves_px = (LEGEND_PX as u32 - 8, height.saturating_sub(LEGEND_PX as u32 - 8));
    Ok(chart)
}

fn look(wanted: &Wanted) -> &'static Look {
    if wanted.is_dark { &DARK } else { &LIGHT }
}

fn plot_px(wanted: &Wanted, left_px: u32) -> Range<u32> {
    left_px..wanted.size_px.0.saturating_sub(RIGHT_PX).max(left_px + 1)
}

fn frame(wanted: &Wanted, look: &Look, title: String) -> Picture {
    let (width_px, height_px) = wanted.size_px;
    let title =
        Label { x: SIDE_PX, y: TITLE_PX, room_px: width_px.saturating_sub(2 * SIDE_PX as u32), size: 14.0, ends: false, colour: look.text, text: title };
    Picture { width_px, height_px, ratio: 1.0, font: FAMILY.to_owned(), background: look.bg, labels: vec![title], grid: None, curves_px: (0, 0) }
}

fn trend_style(look: &Look, (peak_ns, peak_bytes): (f64, i64), peak_label: String) -> TrendStyle {
    TrendStyle {
        ratio: 1.0,
        left_px: SCALE_PX,
        right_px: RIGHT_PX,
        top_px: ABOVE_PX,
        bottom_px: BOTTOM_PX,
        font: FAMILY.to_owned(),
        text: look.muted,
        grid: look.grid,
        total: look.total,
        baseline: look.baseline,
        reserved: look.reserved,
        active: look.active,
        peak: look.text,
        peak_ns,
        peak_bytes: peak_bytes as f64,
        peak_label,
        em: 1.0,
    }
}

/// A device of a capture in a window.
struct Of<'a> {
    capture: &'a Capture,
    device: &'a Device,
    names: Names,
    wanted: &'a Wanted,
    base_ns: i64,
    from_ns: i64,
    to_ns: i64,
    look: &'static Look,
}

impl Of<'_> {
    fn title(&self, what: &str) -> String {
        let since = |ns: i64| human_ns(ns - self.base_ns);
        self.title_at(what, &format!("{} – {}", since(self.from_ns), since(self.to_ns)))
    }

    fn title_at(&self, what: &str, when: &str) -> String {
        let facts = &self.capture.facts;
        let whose = member_name(facts.role.as_deref(), facts.rank, &facts.source);
        let pool = if self.names == Names::Operators { format!(" {}", self.device.pool.name()) } else { String::new() };
        format!("{what} · {whose} · {}{pool} · {when}", name(&self.device.device))
    }

    fn columns(&self, plot: &Range<u32>) -> Columns {
        let window = Window { from_ns: self.from_ns, to_ns: self.to_ns, width_px: plot.len() as u32 };
        Columns::of(window, &self.device.replay.curves.time_ns)
    }

    fn trend(&self) -> Chart {
        let columns = self.columns(&plot_px(self.wanted, SCALE_PX));
        let curves = &self.device.replay.curves;
        let extremes = |value: &(dyn Fn(usize) -> i64 + Sync)| CurveIndex::of(curves.len(), value).extremes(&columns, value);
        let outside = Outside::of(self.capture.around.memory_record.as_deref().unwrap_or_default(), &self.device.device);
        let outside_bytes = |at: usize| outside.bytes.get(at).copied().unwrap_or(UNKNOWN);
        let line = CurveIndex::of(outside.time_ns.len(), outside_bytes).extremes(&Columns::of(columns.window, &outside.time_ns), outside_bytes);
        let [total, baseline, reserved, active] = [
            extremes(&|at| curves.total_bytes(at)),
            extremes(&|at| curves.baseline_bytes[at]),
            extremes(&|at| curves.reserved_bytes[at]),
            extremes(&|at| curves.active_bytes[at]),
        ];
        let most_bytes = [&total, &baseline, &reserved, &active, &line].into_iter().flat_map(|series| &series.max).copied().fold(0.0, f64::max);
        let peak = self.device.replay.peak.map(|at| (curves.time_ns[at] - self.base_ns, curves.total_bytes(at)));
        let (peak_ns, peak_bytes) = peak.unwrap_or((-1, 0));
        let style = trend_style(self.look, (peak_ns as f64, peak_bytes), format!("peak {} · {}", human_bytes(peak_bytes), human_ns(peak_ns)));
        let known = |series: &Extremes| series.max.iter().any(|bytes| !bytes.is_nan());
        let legend = [
            ("total", self.look.total, true),
            ("baseline (before the capture)", self.look.baseline, known(&baseline)),
            ("reserved", self.look.reserved, known(&reserved)),
            ("active", self.look.active, known(&active)),
            ("outside the framework", self.look.outside, known(&line)),
        ];
        let mut chart = Chart { picture: frame(self.wanted, self.look, self.title("Memory over time")), shapes: Vec::new(), curves: None };
        self.legend(&mut chart, &legend.into_iter().filter(|(.., is)| *is).map(|(text, colour, _)| (text, colour)).collect::<Vec<_>>());
        let (from_ns, to_ns) = ((self.from_ns - self.base_ns) as f64, (self.to_ns - self.base_ns) as f64);
        let lines = vec![(line, self.look.outside)];
        chart.curves = Some(Curves::Trend(Box::new(Trend { from_ns, to_ns, total, baseline, reserved, active, lines, filtered: None, most_bytes }), style));
        chart.picture.curves_px = (CURVES_PX, self.wanted.size_px.1.saturating_sub(CURVES_PX));
        self.shade(&mut chart);
        chart
    }

    /// The names of the steps, above their stretch.
    fn shade(&self, chart: &mut Chart) {
        let plot = plot_px(self.wanted, SCALE_PX);
        let x = |ns: i64| {
            let part = (ns.clamp(self.from_ns, self.to_ns) - self.from_ns) as f64 / (self.to_ns - self.from_ns) as f64;
            plot.start + (part * plot.len() as f64) as u32
        };
        let seen = |phase: &&Phase| phase.end_ns > self.from_ns && phase.start_ns < self.to_ns;
        for (nth, phase) in self.capture.steps().into_iter().filter(seen).enumerate() {
            let (left, right) = (x(phase.start_ns), x(phase.end_ns));
            let (y, height) = (CURVES_PX + ABOVE_PX, self.wanted.size_px.1.saturating_sub(CURVES_PX + ABOVE_PX + BOTTOM_PX));
            if nth % 2 == 1 {
                chart.shapes.push(Shape { x: left, y, width: right - left, height, colour: self.look.text, alpha: 12, marks: 0 });
            }
        }
    }

    fn legend(&self, chart: &mut Chart, entries: &[(&str, u32)]) {
        let mut x = SIDE_PX;
        for &(text, colour) in entries {
            chart.shapes.push(Shape { x: x as u32, y: LEGEND_PX as u32 - 5, width: 10, height: 10, colour, alpha: 255, marks: 0 });
            chart.picture.labels.push(self.label(x + 16, LEGEND_PX, 400, text));
            x += 16 + 7 * text.chars().count() as i32 + 20;
        }
    }

    fn label(&self, x: i32, y: i32, room_px: u32, text: &str) -> Label {
        Label { x, y, room_px, size: LETTERS, ends: false, colour: self.look.muted, text: name(text) }
    }

    fn grid(&self, plot: &Range<u32>, top: u32) -> TimeGrid {
        TimeGrid {
            x: plot.start,
            y: top,
            width: plot.len() as u32,
            height: self.wanted.size_px.1.saturating_sub(top + BOTTOM_PX),
            from_ns: (self.from_ns - self.base_ns) as f64,
            to_ns: (self.to_ns - self.base_ns) as f64,
            colour: self.look.grid,
            text: self.look.muted,
        }
    }

    /// The operators, the most at the peak first, and the hue of each.
    fn operators(&self) -> (Vec<Listed>, Vec<u8>) {
        let blocks = &self.device.blocks;
        let peak_ns = self.device.replay.peak.map_or(UNKNOWN, |at| self.device.replay.curves.time_ns[at]);
        let found = listed(blocks, &blocks.name, &blocks.names, peak_ns);
        let names: Vec<&str> = found.iter().map(|lane| blocks.names[lane.key as usize].as_str()).collect();
        let hues = hues(&names, &mut HashMap::new());
        (found, hues)
    }

    fn styled<T>(&self, operators: &[Listed], of: &[u8], draw: impl FnOnce(&BarStyle) -> T) -> T {
        let blocks = &self.device.blocks;
        let mut hue_of = vec![HUES; blocks.names.len()];
        for (lane, &hue) in operators.iter().zip(of) {
            hue_of[lane.key as usize] = usize::from(hue).min(HUES);
        }
        let colour = |block: u32, _: usize| self.look.hues[hue_of[blocks.name[block as usize] as usize]];
        draw(&BarStyle { colour: &colour, selected: None, outline: self.look.text, density: self.look.text })
    }

    fn lanes(&self) -> Chart {
        let plot = plot_px(self.wanted, NAMES_PX);
        let top = LEGEND_PX as u32 - 4;
        let room = (self.wanted.size_px.1.saturating_sub(top + BOTTOM_PX) / LANE_PX).max(1) as usize;
        let (operators, of) = self.operators();
        let (blocks, time_ns) = (&self.device.blocks, &self.device.replay.curves.time_ns[..]);
        let mut lane_of = vec![crate::timeline::lod::NO_LANE; blocks.names.len()];
        for (lane, listed) in operators.iter().enumerate().take(room) {
            lane_of[listed.key as usize] = lane as u32;
        }
        let lane_of: Vec<u32> = blocks.name.iter().map(|&name| lane_of[name as usize]).collect();
        let count = operators.len().min(room);
        let lanes = Lanes::of(blocks, time_ns, &lane_of, count);
        let skyline = Skyline::of(blocks, time_ns, &lanes);
        let columns = self.columns(&plot);
        let by = if self.names == Names::Operators { "Blocks by operator" } else { "Blocks by owner" };
        let title = if operators.len() > count { format!("{by}, {count} of {}", operators.len()) } else { by.to_owned() };
        let mut chart = Chart { picture: frame(self.wanted, self.look, self.title(&title)), shapes: Vec::new(), curves: None };
        chart.picture.grid = Some(self.grid(&plot, top));
        self.styled(&operators, &of, |style| {
            for lane in 0..count {
                let shown = skyline.show(blocks, time_ns, &lanes, lane, &columns);
                shapes::lane(&mut chart.shapes, blocks, &shown, (top + lane as u32 * LANE_PX, LANE_PX as usize), style);
            }
        });
        chart.shapes.iter_mut().for_each(|shape| shape.x += plot.start);
        for (lane, listed) in operators.iter().enumerate().take(count) {
            let y = (top + lane as u32 * LANE_PX + LANE_PX / 2) as i32;
            let operator = &blocks.names[listed.key as usize];
            let text = if operator.is_empty() { "(unattributed)" } else { operator };
            chart.shapes.push(Shape {
                x: SIDE_PX as u32,
                y: y as u32 - 5,
                width: 10,
                height: 10,
                colour: self.look.hues[usize::from(of[lane]).min(HUES)],
                alpha: 255,
                marks: 0,
            });
            chart.picture.labels.push(self.label(SIDE_PX + 16, y, NAMES_PX - SIDE_PX as u32 - 24, text));
        }
        chart
    }

    fn stacked(&self) -> Chart {
        let plot = plot_px(self.wanted, 2 * SCALE_PX);
        let height = self.wanted.size_px.1.saturating_sub(TOP_PX + BOTTOM_PX).max(1) as usize;
        let (blocks, curves) = (&self.device.blocks, &self.device.replay.curves);
        let columns = self.columns(&plot);
        let sizes = SizeIndex::of(blocks, &curves.time_ns, |_| true);
        let index = |value: &(dyn Fn(usize) -> i64 + Sync)| CurveIndex::of(curves.len(), value);
        let total = index(&|at| curves.total_bytes(at));
        let least = index(&|at| curves.baseline_bytes[at]).extremes(&columns, |at| curves.baseline_bytes[at]).min.into_iter().fold(f64::INFINITY, f64::min);
        let most = total.extremes(&columns, |at| curves.total_bytes(at)).max.into_iter().fold(0.0, f64::max);
        let (from, to) = bars::stack_range(least, most);
        let stacks = Stacked {
            blocks,
            time_ns: &curves.time_ns,
            held_bytes: &curves.tracked_bytes,
            baseline_bytes: &curves.baseline_bytes,
            total: &total,
            sizes: &sizes,
        }
        .columns(&columns, ((to - from) / height as i64).max(1));
        let cells = bars::stack_cells(blocks, &stacks, height, (from, to));
        let (operators, of) = self.operators();
        let mut chart = Chart { picture: frame(self.wanted, self.look, self.title("Blocks stacked by size")), shapes: Vec::new(), curves: None };
        self.styled(&operators, &of, |style| {
            let colour = |what: u32, x: usize| match what {
                bars::BASELINE => self.look.baseline,
                bars::SMALL => self.look.hues[HUES],
                block => (style.colour)(block, x),
            };
            shapes::stack(&mut chart.shapes, &cells, plot.len(), colour, style);
        });
        for shape in &mut chart.shapes {
            shape.x += plot.start;
            shape.y += TOP_PX;
        }
        chart.picture.grid = Some(self.grid(&plot, TOP_PX));
        for line in 0..=4i64 {
            let y = TOP_PX as i32 + height as i32 - (height as i64 * line / 4) as i32;
            let label = self.label(plot.start as i32 - 8, y, plot.start, &human_bytes(from + (to - from) / 4 * line));
            chart.picture.labels.push(Label { ends: true, ..label });
        }
        let mut legend: Vec<(&str, u32)> = vec![("baseline (before the capture)", self.look.baseline)];
        legend.extend(
            operators.iter().zip(&of).take(6).map(|(lane, &hue)| (blocks.names[lane.key as usize].as_str(), self.look.hues[usize::from(hue).min(HUES)])),
        );
        self.legend(&mut chart, &legend);
        chart
    }

    fn flame(&self) -> Result<Chart, String> {
        let (blocks, curves) = (&self.device.blocks, &self.device.replay.curves);
        let stacks = self.device.stacks.as_ref().ok_or("the capture has no trace, and so no call stacks")?;
        let peak = self.device.replay.peak.ok_or("the device has no peak")?;
        let mut held = vec![Held::default(); stacks.texts.len() + 1];
        for block in live::at(blocks, curves.time_ns[peak]) {
            let stack = stack_of(stacks, block as usize, false) as usize;
            let held = &mut held[stack.min(stacks.texts.len())];
            held.bytes = held.bytes.saturating_add(blocks.size_bytes[block as usize]);
            held.blocks += 1;
        }
        if let Some((without, folded)) = held.last_mut().zip(blocks.folded.as_deref()) {
            let alive = folded.alive(peak, ());
            without.bytes = without.bytes.saturating_add(alive.bytes);
            without.blocks += alive.blocks;
        }
        let flame = Flame::of(&stacks.texts, &held);
        let width = self.wanted.size_px.0.saturating_sub(2 * SIDE_PX as u32).max(1);
        let title = format!("Alive at the peak by call stack: {}", human_bytes(flame.nodes[0].bytes));
        let mut chart = Chart {
            picture: frame(self.wanted, self.look, self.title_at(&title, &human_ns(curves.time_ns[peak] - self.base_ns))),
            shapes: Vec::new(),
            curves: None,
        };
        for placed in flame.layout(0, NARROWEST_FRAME_PX / f64::from(width)) {
            let frame_text = flame.text(placed.node);
            let (x, y) = (SIDE_PX as u32 + (placed.from * f64::from(width)) as u32, LEGEND_PX as u32 - 4 + placed.depth * FRAME_PX);
            let right = SIDE_PX as u32 + ((placed.from + placed.width) * f64::from(width)) as u32;
            if y + FRAME_PX > self.wanted.size_px.1 {
                continue;
            }
            let shape = Shape {
                x,
                y,
                width: (right - x).saturating_sub(1).max(1),
                height: FRAME_PX - 1,
                colour: self.look.hues[hue_of_frame(frame_text)],
                alpha: 97,
                marks: 0,
            };
            if shape.width >= NARROWEST_NAMED_PX {
                let text = if placed.node == 0 {
                    "all"
                } else if frame_text.is_empty() {
                    "(no call stack)"
                } else {
                    frame_text
                };
                let label = self.label(x as i32 + 4, (y + FRAME_PX / 2) as i32, shape.width - 6, text);
                chart.picture.labels.push(Label { size: 11.0, colour: self.look.text, ..label });
            }
            chart.shapes.push(shape);
        }
        Ok(chart)
    }
}

/// The same file has the same hue everywhere; libraries are grey.
fn hue_of_frame(frame: &str) -> usize {
    let path = frame.split('(').next().unwrap_or_default();
    let is_library = path.split(['/', '\\']).any(|part| matches!(part, "site-packages" | "torch" | "torch_npu"));
    if path.is_empty() || path.starts_with('<') || is_library {
        return HUES;
    }
    path.encode_utf16().fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit))) as usize % HUES
}
