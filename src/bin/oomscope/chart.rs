//! The picture that was asked for: of which capture, and as a file.

use crate::options::ChartAsked;
use oomscope::ascend::capture::{Capture, Device};
use oomscope::draw::font;
use oomscope::export::chart::{Chart, Kind, Names, Wanted, of_device, of_plan};
use oomscope::export::image::{png, svg};
use oomscope::oom::charts::charts_of;
use oomscope::oom::xplane_report::chosen_module;
use oomscope::xplane::capture as xplane;

/// The chart. The error says what these captures do not have.
pub fn picture(asked: &ChartAsked, captures: &[Capture], xplanes: &[xplane::Capture], module: Option<&str>) -> Result<Chart, String> {
    let allocators: Vec<Capture> = xplanes.iter().map(charts_of).collect();
    // A pool without call stacks has no flame graph; another may.
    let fits = |device: &Device| asked.kind != Some(Kind::Flame) || device.stacks.is_some();
    let ascend = highest_of(captures, fits).or_else(|| highest_of(captures, |_| true)).map(|(capture, device)| (capture, device, Names::Operators));
    let highest = ascend.or_else(|| highest_of(&allocators, |_| true).map(|(capture, device)| (capture, device, Names::Owners)));
    match (asked.kind, highest) {
        (Some(Kind::Heap), Some((_, device, _))) if !has_plan(xplanes) => Err(no_heap(device)),
        (Some(Kind::Heap), _) | (None, None) => heap(&asked.wanted, xplanes, module),
        (_, Some((capture, device, names))) => of_device(capture, device, names, &asked.wanted),
        (Some(_), None) if has_plan(xplanes) => Err("no capture here has blocks to draw; of a JAX module's plan there is --chart-kind heap".to_owned()),
        (Some(_), None) => Err("no capture here has blocks to draw".to_owned()),
    }
}

fn has_plan(xplanes: &[xplane::Capture]) -> bool {
    xplanes.iter().any(|capture| !capture.plans.is_empty())
}

/// Says what can be drawn of a device instead of a heap.
fn no_heap(device: &Device) -> String {
    let kinds = if device.stacks.is_some() { "trend, lanes, stacked and flame" } else { "trend, lanes and stacked" };
    format!("heap is of the plan of a JAX module, and no capture here has one; of these captures' blocks there are {kinds}")
}

/// Of the devices that fit the one with the highest peak; of equal ones the first.
fn highest_of(captures: &[Capture], fits: impl Fn(&Device) -> bool) -> Option<(&Capture, &Device)> {
    let devices = captures.iter().flat_map(|capture| capture.devices.iter().map(move |device| (capture, device)));
    let peak = |device: &Device| device.replay.peak.map(|at| device.replay.curves.total_bytes(at));
    devices.filter(|(_, device)| peak(device).is_some() && fits(device)).reduce(|most, next| if peak(next.1) > peak(most.1) { next } else { most })
}

/// The heap of the module that was named, or matters most in the capture whose heap is the largest.
fn heap(wanted: &Wanted, xplanes: &[xplane::Capture], module: Option<&str>) -> Result<Chart, String> {
    let plans = xplanes.iter().filter_map(|capture| Some((capture, capture.plan(chosen_module(capture, module)?)?)));
    let (capture, plan) = plans
        .reduce(|most, next| if next.1.heap_peak_bytes() > most.1.heap_peak_bytes() { next } else { most })
        .ok_or("no capture here has blocks to draw, nor a JAX module with a plan")?;
    of_plan(&capture.source, plan, wanted)
}

/// As a file.
pub fn bytes(asked: &ChartAsked, chart: &Chart, say: &mut dyn FnMut(&str)) -> Result<Vec<u8>, String> {
    let letters: String = chart.picture.labels.iter().map(|label| label.text.as_str()).collect();
    let missing: String = font::missing(&letters).into_iter().take(20).collect();
    if !asked.is_svg && !missing.is_empty() {
        say(&format!("--chart: the letters of PNG pictures do not have {missing}: boxes stand for them; an .svg shows them with the viewer's fonts"));
    }
    if asked.is_svg { Ok(svg(chart)?.into_bytes()) } else { png(chart) }
}
