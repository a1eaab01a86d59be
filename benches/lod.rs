//! How long the level of detail takes to build and to answer, and what memory it takes, as the blocks double: `cargo bench`.
//!
//! The blocks are those of a training step over and over: activations allocated forward and released backward, short temporaries, a few
//! that are never released. Each figure is the least of some runs. Growth is that of the build over the line before.

#![allow(clippy::print_stdout)]

use oomscope::timeline::blocks::{Block, Blocks, BlocksBuilder, OPEN, Total, UNKNOWN};
use oomscope::timeline::lod::columns::{Columns, Window};
use oomscope::timeline::lod::curves::CurveIndex;
use oomscope::timeline::lod::lanes::Lanes;
use oomscope::timeline::lod::skyline::Skyline;
use oomscope::timeline::replay::Replay;
use std::time::Instant;

const BLOCKS: [usize; 5] = [500_000, 1_000_000, 2_000_000, 4_000_000, 5_000_000];
const RUNS: usize = 3;
const OPERATORS: usize = 40;
const WIDTH_PX: u32 = 1600;
const LANES_SEEN: usize = 26;
/// Parts of the capture that are looked at: all, a tenth, a thousandth, a millionth.
const ZOOMS: [i64; 4] = [1, 10, 1_000, 1_000_000];

fn main() {
    println!("{} threads, {WIDTH_PX} px, {LANES_SEEN} lanes seen", rayon::current_num_threads());
    println!("{:>10}{:>10}{:>9}{:>14}{:>26}", "blocks", "build ms", "growth", "bytes/block", "answer ms at 1/1 … 1/10^6");
    let mut before = None;
    for count in BLOCKS {
        let blocks = blocks(count);
        let replay = Replay::of(&blocks);
        let (build_ms, built) = least(|| build(&blocks, &replay));
        let growth = before.map_or(String::new(), |before: f64| format!("{:.2}x", build_ms / before));
        before = Some(build_ms);
        let answers = ZOOMS.map(|zoom| format!("{:7.2}", least(|| answer(&blocks, &replay, &built, zoom)).0));
        println!("{count:>10}{build_ms:>10.0}{growth:>9}{:>14.1}{:>26}", built.bytes() as f64 / count as f64, answers.concat());
    }
}

struct Built {
    lanes: Lanes,
    skyline: Skyline,
    curves: [CurveIndex; 4],
}

impl Built {
    fn bytes(&self) -> usize {
        self.lanes.bytes() + self.skyline.bytes() + self.curves.iter().map(CurveIndex::bytes).sum::<usize>()
    }
}

fn build(blocks: &Blocks, replay: &Replay) -> Built {
    let curves = &replay.curves;
    let lanes = Lanes::of(blocks, &curves.time_ns, &blocks.name, blocks.names.len());
    let skyline = Skyline::of(blocks, &curves.time_ns, &lanes);
    let index = |value: &(dyn Fn(usize) -> i64 + Sync)| CurveIndex::of(curves.len(), value);
    let curves = [
        index(&|at| curves.total_bytes(at)),
        index(&|at| curves.baseline_bytes[at]),
        index(&|at| curves.reserved_bytes[at]),
        index(&|at| curves.active_bytes[at]),
    ];
    Built { lanes, skyline, curves }
}

/// A picture of the middle of the capture; answers something that depends on all of it.
fn answer(blocks: &Blocks, replay: &Replay, built: &Built, zoom: i64) -> usize {
    use rayon::prelude::*;
    let curves = &replay.curves;
    let time_ns = &curves.time_ns[..];
    let (first, last) = (time_ns[0], time_ns[time_ns.len() - 1]);
    let (middle, half) = ((first + last) / 2, (last - first) / zoom / 2 + 1);
    let columns = Columns::of(Window { from_ns: middle - half, to_ns: middle + half, width_px: WIDTH_PX }, time_ns);
    let extremes = built.curves[0].extremes(&columns, |at| curves.total_bytes(at)).max.len()
        + built.curves[1].extremes(&columns, |at| curves.baseline_bytes[at]).max.len()
        + built.curves[2].extremes(&columns, |at| curves.reserved_bytes[at]).max.len()
        + built.curves[3].extremes(&columns, |at| curves.active_bytes[at]).max.len();
    let lanes = (0..LANES_SEEN).into_par_iter().map(|lane| built.skyline.show(blocks, time_ns, &built.lanes, lane, &columns).blocks as usize);
    extremes + lanes.sum::<usize>()
}

fn least<T>(run: impl Fn() -> T) -> (f64, T) {
    let timed = || {
        let start = Instant::now();
        let value = run();
        (start.elapsed().as_secs_f64() * 1e3, value)
    };
    (1..RUNS).fold(timed(), |best, _| {
        let next = timed();
        if next.0 < best.0 { next } else { best }
    })
}

fn blocks(count: usize) -> Blocks {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut builder = BlocksBuilder::default();
    let names: Vec<u32> = (0..OPERATORS).map(|name| builder.name(&format!("aten::op{name}"))).collect();
    let stream = builder.stream("6");
    let step = 20_000;
    let mut now = 0;
    for at in 0..count {
        now += 200 + random(2_000) as i64;
        let left = (step - at % step) as i64 * 1_200;
        let life = match random(1_000) {
            0 => OPEN - now,
            1..=400 => left + random(20_000_000) as i64,
            _ => 500 + random(200_000) as i64,
        };
        // Few operators make most of the blocks.
        let name = (random(OPERATORS as u64) * random(OPERATORS as u64) / OPERATORS as u64) as usize;
        builder.push(&Block {
            name: names[name],
            stream,
            size_bytes: 512 << random(16),
            start_ns: now,
            end_ns: now.saturating_add(life),
            active_end_ns: UNKNOWN,
            line: 0,
            at_start: Total::UNKNOWN,
            at_end: Total::UNKNOWN,
        });
    }
    builder.finish()
}
