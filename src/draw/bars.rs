//! The bars of the Gantt as a picture. Plotters would draw one call a bar; a million bars want pixels.

use crate::timeline::blocks::{Blocks, OPEN};
use crate::timeline::lod::NO_BLOCK;
use crate::timeline::lod::curves::Extremes;
use crate::timeline::lod::skyline::Shown;
use crate::timeline::lod::stack::Stack;
use std::ops::Range;

/// Narrower bars have no edge: it would be all there is to see of them.
pub(super) const NARROWEST_WITH_EDGE_PX: usize = 3;
/// Thinner bands have none either.
pub(super) const THINNEST_WITH_EDGE_PX: usize = 3;

/// In the cells of a stack: memory from before the capture.
pub const BASELINE: u32 = NO_BLOCK - 1;
/// In the cells of a stack: blocks too thin to have a band of their own.
pub const SMALL: u32 = NO_BLOCK - 2;

/// A stack begins at the baseline where that is more than this part of the whole: what moves would be too thin else.
const LARGEST_BASELINE: f64 = 0.25;
/// Of what lies above the baseline: how much of the baseline is then still seen.
const BASELINE_SEEN: f64 = 0.08;

/// So many steps has the ramp of colours for sizes and times.
pub const RAMP_STEPS: usize = 8;
/// The first step of sizes ends here; each further one is eight times as large.
const FIRST_SIZE_BYTES: i64 = 4096;
/// The first step of times ends here; each further one is ten times as long.
const FIRST_TIME_NS: i64 = 1000;

/// The step of a size.
pub fn size_step(bytes: i64) -> usize {
    step(bytes, FIRST_SIZE_BYTES, 8)
}

/// The step of a lifetime or an age.
pub fn time_step(ns: i64) -> usize {
    step(ns, FIRST_TIME_NS, 10)
}

fn step(value: i64, first: i64, factor: i64) -> usize {
    let mut end = first;
    (0..RAMP_STEPS - 1)
        .find(|_| {
            let within = value <= end;
            end = end.saturating_mul(factor);
            within
        })
        .unwrap_or(RAMP_STEPS - 1)
}

/// How bars look. Colours are 0xRRGGBB.
pub struct BarStyle<'a> {
    /// Of a block in a column.
    pub colour: &'a (dyn Fn(u32, usize) -> u32 + Sync),
    /// The block to be outlined, and in which colour.
    pub selected: Option<u32>,
    /// Of the outline.
    pub outline: u32,
    /// Of the mark that stands for further blocks.
    pub density: u32,
}

/// Where the parts of a lane lie, in rows of pixels from its top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneRows {
    /// A bar that is alone.
    pub whole: Range<usize>,
    /// The second bar; above it, but for one row that stays free, the front one.
    pub second: Range<usize>,
    /// The mark for further blocks.
    pub density: Range<usize>,
}

impl LaneRows {
    /// Of a lane of some height.
    pub fn of(height_px: usize) -> LaneRows {
        let inset = height_px / 8;
        let whole = inset..(height_px - inset).max(inset + 1).min(height_px);
        let split = whole.start + (whole.len() * 3).div_ceil(5);
        LaneRows { second: (split + 1).min(whole.end)..whole.end, density: whole.end.saturating_sub((height_px / 8).max(1)).max(whole.start)..whole.end, whole }
    }
}

/// Paints one lane into its rows of RGBA pixels. Each bar begins with a darker edge, so that neighbours stay apart; a bar that was not
/// released is hatched; the selected one is outlined. Where there are two, the second lies below the front one; further blocks are a mark
/// at the bottom, the stronger the more they are.
pub fn paint_lane(pixels: &mut [u8], blocks: &Blocks, shown: &Shown, style: &BarStyle) {
    let width = shown.front.len();
    let rows = LaneRows::of(pixels.len() / (width * 4).max(1));
    paint_row(pixels, blocks, &shown.front, rows.whole.clone(), style);
    let clear = rows.second.start.saturating_sub(1)..rows.second.end;
    for row in pixels.chunks_exact_mut(width * 4).take(clear.end).skip(clear.start) {
        for x in (0..width).filter(|&x| shown.second[x] != NO_BLOCK) {
            row[x * 4..x * 4 + 4].fill(0);
        }
    }
    paint_row(pixels, blocks, &shown.second, rows.second, style);
    for row in pixels.chunks_exact_mut(width * 4).take(rows.density.end).skip(rows.density.start) {
        for x in (0..width).filter(|&x| shown.folded[x] > 0) {
            put(row, x, style.density, density_alpha(shown.folded[x]));
        }
    }
}

/// Paints bars beside each other: the block of each column, into some rows of the pixels.
pub fn paint_row(pixels: &mut [u8], blocks: &Blocks, shown: &[u32], rows: Range<usize>, style: &BarStyle) {
    let width = shown.len();
    for (y, row) in pixels.chunks_exact_mut(width * 4).enumerate().take(rows.end).skip(rows.start) {
        let border_row = y < rows.start + 2 || y + 2 >= rows.end;
        let mut start = 0;
        while start < width {
            let block = shown[start];
            let end = start + shown[start..].iter().take_while(|&&next| next == block).count();
            if block != NO_BLOCK {
                let selected = style.selected == Some(block);
                let open = blocks.end_ns[block as usize] == OPEN;
                for x in start..end {
                    let colour = (style.colour)(block, x);
                    let edge = x == start && end - start >= NARROWEST_WITH_EDGE_PX;
                    let border = border_row || x < start + 2 || x + 2 >= end;
                    let colour = match () {
                        () if selected && border => style.outline,
                        () if edge => mix(colour, 0, 110),
                        () if open && (x + y) % 6 < 2 => mix(colour, 0xff_ff_ff, 120),
                        () => colour,
                    };
                    put(row, x, colour, 255);
                }
            }
            start = end;
        }
    }
}

/// The bytes at the lower and at the upper edge of a stack, by the least baseline and the largest total of its window.
pub fn stack_range(least_baseline: f64, most_bytes: f64) -> (i64, i64) {
    let to = (most_bytes as i64).max(1);
    let beyond = least_baseline.is_finite() && least_baseline > to as f64 * LARGEST_BASELINE;
    (if beyond { (least_baseline - (to as f64 - least_baseline) * BASELINE_SEEN) as i64 } else { 0 }, to)
}

/// What lies at each pixel of a stack, from the top down: a block, [`BASELINE`], [`SMALL`] or [`NO_BLOCK`]. `scale`: the bytes at the lower
/// and at the upper edge.
pub fn stack_cells(blocks: &Blocks, stacks: &[Stack], height_px: usize, (from_bytes, to_bytes): (i64, i64)) -> Vec<u32> {
    let width = stacks.len();
    let mut cells = vec![NO_BLOCK; width * height_px];
    let span = (i128::from(to_bytes) - i128::from(from_bytes)).max(1);
    let height_of = |bytes: i64| ((i128::from(bytes) - i128::from(from_bytes)) * height_px as i128 / span).clamp(0, height_px as i128) as usize;
    for (x, stack) in stacks.iter().enumerate().filter(|(_, stack)| stack.entry.is_some()) {
        let mut top = stack.baseline_bytes;
        let mut fill = |from: usize, to: usize, what: u32| (from..to).for_each(|y| cells[(height_px - 1 - y) * width + x] = what);
        let mut below = height_of(top);
        fill(0, below, BASELINE);
        let mut band = |bytes: i64, what: u32| {
            top = top.saturating_add(bytes);
            let above = height_of(top);
            fill(below, above, what);
            below = above.max(below);
        };
        band(stack.small_bytes, SMALL);
        stack.blocks.iter().for_each(|&block| band(blocks.size_bytes[block as usize], block));
    }
    cells
}

/// Paints some rows of pixels of a stack, from row `first` on; bands of some thickness end in a darker edge.
pub fn paint_stack(pixels: &mut [u8], cells: &[u32], width: usize, first: usize, of_row: impl Fn(u32, usize) -> u32, style: &BarStyle) {
    for (y, row) in pixels.chunks_exact_mut(width * 4).enumerate().map(|(y, row)| (first + y, row)) {
        for x in 0..width {
            let cell = |y: usize| cells.get(y * width + x).copied().unwrap_or(NO_BLOCK);
            let here = cell(y);
            if here == NO_BLOCK {
                continue;
            }
            let edge = (y == 0 || cell(y - 1) != here) && (1..THINNEST_WITH_EDGE_PX).all(|below| cell(y + below) == here);
            let colour = of_row(here, x);
            let colour = match () {
                () if edge => mix(colour, 0, 110),
                () if style.selected == Some(here) && (x + y) % 4 < 2 => style.outline,
                () => colour,
            };
            put(row, x, colour, 255);
        }
    }
}

/// How strong the mark for so many further blocks is.
pub(super) fn density_alpha(folded: u32) -> u8 {
    (90 + 20 * folded.max(1).ilog2()).min(255) as u8
}

/// Where in a column of an area the parts of it end, in rows from its top: what is held for a part of the column only, what is held all
/// along, the baseline.
pub(super) fn area_tops(total: &Extremes, baseline: &Extremes, most_bytes: f64, height_px: usize, column: usize) -> [usize; 3] {
    let room = (height_px - height_px / 8) as f64;
    let top = |bytes: f64| if bytes.is_nan() { height_px } else { height_px - ((bytes / most_bytes.max(1.0) * room).round().clamp(0.0, room) as usize) };
    let below = top(baseline.min[column]);
    let least = top(total.min[column]).min(below);
    [top(total.max[column]).min(least), least, below]
}

/// Paints a curve as an area, with the baseline in it, as high as the largest value of all.
pub fn paint_area(pixels: &mut [u8], total: &Extremes, baseline: &Extremes, most_bytes: f64, (total_colour, baseline_colour): (u32, u32)) {
    let width = total.max.len();
    let height = pixels.len() / (width * 4).max(1);
    for x in 0..width {
        let [held, least, below] = area_tops(total, baseline, most_bytes, height, x);
        for (y, row) in pixels.chunks_exact_mut(width * 4).enumerate().skip(held) {
            match () {
                () if y >= below => put(row, x, baseline_colour, 200),
                () if y >= least => put(row, x, total_colour, 220),
                () => put(row, x, total_colour, 130),
            }
        }
    }
}

fn put(row: &mut [u8], x: usize, colour: u32, alpha: u8) {
    row[x * 4..x * 4 + 4].copy_from_slice(&[(colour >> 16) as u8, (colour >> 8) as u8, colour as u8, alpha]);
}

/// `share` of 255 parts of `other` in `colour`.
fn mix(colour: u32, other: u32, share: u32) -> u32 {
    [16, 8, 0].into_iter().fold(0, |mixed, shift| {
        let (a, b) = ((colour >> shift) & 0xff, (other >> shift) & 0xff);
        mixed | (((a * (255 - share) + b * share) / 255) << shift)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::blocks::tests::blocks_over;

    const STYLE: BarStyle = BarStyle { colour: &|_, _| 0x0000ff, selected: None, outline: 0xff0000, density: 0x00ff00 };

    fn row_of(pixels: &[u8], width: usize, y: usize) -> Vec<u32> {
        pixels[y * width * 4..(y + 1) * width * 4].chunks_exact(4).map(|p| u32::from_be_bytes([p[3], p[0], p[1], p[2]])).collect()
    }

    fn painted(shown: &Shown, style: &BarStyle) -> Vec<u8> {
        let blocks = blocks_over(0, &[("a", 1, 0, 5), ("a", 1, 0, OPEN)]);
        let mut pixels = vec![0; shown.front.len() * 16 * 4];
        paint_lane(&mut pixels, &blocks, shown, style);
        pixels
    }

    fn front(blocks: &[u32]) -> Shown {
        Shown { front: blocks.to_vec(), ..Shown::nothing(blocks.len()) }
    }

    #[test]
    fn bars_have_an_edge_and_gaps_are_transparent() {
        let pixels = painted(&front(&[0, 0, 0, NO_BLOCK, 0]), &STYLE);
        assert_eq!(row_of(&pixels, 5, 8), [0xff000091, 0xff0000ff, 0xff0000ff, 0, 0xff0000ff]);
        assert_eq!(row_of(&pixels, 5, 0), [0; 5]);
    }

    #[test]
    fn what_was_not_released_is_hatched() {
        let row = row_of(&painted(&front(&[1; 12]), &STYLE), 12, 8);
        assert!(row[1..].iter().any(|&pixel| pixel != 0xff0000ff) && row.contains(&0xff0000ff));
    }

    #[test]
    fn the_selected_bar_is_outlined() {
        let row = row_of(&painted(&front(&[0; 6]), &BarStyle { selected: Some(0), ..STYLE }), 6, 8);
        assert_eq!(row[..3], [0xffff0000, 0xffff0000, 0xff0000ff]);
    }

    #[test]
    fn the_second_bar_lies_below_the_front_one_and_the_rest_is_a_mark() {
        let shown = Shown { front: vec![0; 2], second: vec![1, NO_BLOCK], folded: vec![0, 3], blocks: 5 };
        let style = BarStyle { colour: &|block, _| if block == 0 { 0x0000ff } else { 0x00ffff }, ..STYLE };
        let pixels = painted(&shown, &style);
        let rows = LaneRows::of(16);
        assert_eq!(rows, LaneRows { whole: 2..14, second: 11..14, density: 12..14 });
        assert_eq!(row_of(&pixels, 2, 5), [0xff0000ff, 0xff0000ff]);
        assert_eq!(row_of(&pixels, 2, 10), [0, 0xff0000ff]);
        assert_eq!(row_of(&pixels, 2, 11)[1], 0xff0000ff);
        assert!([0xff00ffff, 0xff77ffff].contains(&row_of(&pixels, 2, 11)[0]));
        assert_eq!(row_of(&pixels, 2, 13)[1], 0x6e00ff00);
        assert!((1..40).all(|height| LaneRows::of(height).whole.end <= height));
    }

    #[test]
    fn bands_are_as_thick_as_their_bytes() {
        let blocks = blocks_over(0, &[("a", 20, 0, 5), ("a", 30, 0, 5)]);
        let stacks = [Stack { entry: Some(0), baseline_bytes: 100, small_bytes: 10, blocks: vec![0, 1] }, Stack::default()];
        let cells = stack_cells(&blocks, &stacks, 8, (80, 160));
        let column = |x: usize| cells.iter().skip(x).step_by(2).copied().collect::<Vec<_>>();
        assert_eq!(column(0), [1, 1, 1, 0, 0, SMALL, BASELINE, BASELINE]);
        assert_eq!(column(1), [NO_BLOCK; 8]);
        let mut pixels = vec![0; 2 * 8 * 4];
        paint_stack(&mut pixels, &cells, 2, 0, |what, _| if what == 1 { 0x0000ff } else { 0xff0000 }, &STYLE);
        assert_eq!(row_of(&pixels, 2, 0), [0xff000091, 0]);
        assert_eq!(row_of(&pixels, 2, 1), [0xff0000ff, 0]);
        assert_eq!(row_of(&pixels, 2, 3)[0], 0xffff0000);
    }

    #[test]
    fn areas_reach_as_high_as_their_bytes() {
        let mut pixels = vec![0; 10 * 4];
        let flat = |bytes: f64| Extremes { min: vec![bytes], max: vec![bytes] };
        paint_area(&mut pixels, &Extremes { min: vec![4.0], max: vec![6.0] }, &flat(2.0), 9.0, (0x0000ff, 0xff0000));
        let column: Vec<u32> = (0..10).map(|y| row_of(&pixels, 1, y)[0]).collect();
        assert_eq!(column, [0, 0, 0, 0, 0x820000ff, 0x820000ff, 0xdc0000ff, 0xdc0000ff, 0xc8ff0000, 0xc8ff0000]);
    }

    #[test]
    fn steps_of_the_ramp() {
        assert_eq!([1, 4096, 4097, 32768, 1 << 30, (1 << 30) + 1, i64::MAX].map(size_step), [0, 0, 1, 1, 6, 7, 7]);
        assert_eq!([0, 1000, 1001, 1_000_000_000, i64::MAX].map(time_step), [0, 0, 1, 6, 7]);
    }
}
