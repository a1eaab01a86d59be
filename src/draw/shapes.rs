//! What the pictures of blocks show, as rectangles: for pictures whose size is not that of a screen. They look as [`super::bars`] paints them.

use super::bars::{BASELINE, BarStyle, LaneRows, NARROWEST_WITH_EDGE_PX, SMALL, THINNEST_WITH_EDGE_PX, area_tops, density_alpha};
use crate::timeline::blocks::{Blocks, OPEN};
use crate::timeline::lod::NO_BLOCK;
use crate::timeline::lod::curves::Extremes;
use crate::timeline::lod::skyline::Shown;
use std::collections::BTreeMap;
use std::ops::Range;

/// A rectangle, in pixels of its picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// Left edge.
    pub x: u32,
    /// Upper edge.
    pub y: u32,
    /// How wide.
    pub width: u32,
    /// How high.
    pub height: u32,
    /// 0xRRGGBB.
    pub colour: u32,
    /// 0 to 255.
    pub alpha: u8,
    /// Further marks: [`HATCHED`], [`LEFT_EDGE`], [`TOP_EDGE`], [`OUTLINED`].
    pub marks: u8,
}

/// Not released.
pub const HATCHED: u8 = 1;
/// A darker left edge, so that neighbours stay apart.
pub const LEFT_EDGE: u8 = 2;
/// A darker upper edge.
pub const TOP_EDGE: u8 = 4;
/// The block that was chosen.
pub const OUTLINED: u8 = 8;

/// So many numbers stand for a shape between the engine and the page.
pub const NUMBERS: usize = 7;

impl Shape {
    /// For the way between the engine and the page.
    pub fn to_numbers(self) -> [u32; NUMBERS] {
        [self.x, self.y, self.width, self.height, self.colour, u32::from(self.alpha), u32::from(self.marks)]
    }

    /// The inverse of [`Shape::to_numbers`].
    pub fn from_numbers(numbers: &[u32]) -> Option<Shape> {
        let &[x, y, width, height, colour, alpha, marks] = numbers else { return None };
        Some(Shape { x, y, width, height, colour, alpha: alpha.min(255) as u8, marks: marks as u8 })
    }
}

/// A lane of some height: its two rows and the marks for further blocks.
pub fn lane(into: &mut Vec<Shape>, blocks: &Blocks, shown: &Shown, (top, height): (u32, usize), style: &BarStyle) {
    let rows = LaneRows::of(height);
    let below = |x: usize| shown.second[x] != NO_BLOCK;
    let beside = rows.whole.start..rows.second.start.saturating_sub(1).max(rows.whole.start + 1);
    row(into, blocks, &shown.front, top, &|x| if below(x) { beside.clone() } else { rows.whole.clone() }, style);
    row(into, blocks, &shown.second, top, &|_| rows.second.clone(), style);
    let width = shown.folded.len();
    for columns in runs(width, |x| (shown.folded[x] > 0).then(|| density_alpha(shown.folded[x]))) {
        let alpha = density_alpha(shown.folded[columns.start]);
        into.push(Shape { colour: style.density, alpha, ..placed(&columns, top, &rows.density) });
    }
}

/// Bars beside each other: the block of each column, and which rows of pixels it has there.
pub fn row(into: &mut Vec<Shape>, blocks: &Blocks, shown: &[u32], top: u32, rows: &dyn Fn(usize) -> Range<usize>, style: &BarStyle) {
    let look = |x: usize| (shown[x] != NO_BLOCK).then(|| (shown[x], (style.colour)(shown[x], x), rows(x)));
    for columns in runs(shown.len(), look) {
        let block = shown[columns.start];
        let begins = columns.start == 0 || shown[columns.start - 1] != block;
        let long = shown[columns.start..].iter().take_while(|&&next| next == block).count() >= NARROWEST_WITH_EDGE_PX;
        let marks = [(blocks.end_ns[block as usize] == OPEN, HATCHED), (begins && long, LEFT_EDGE), (style.selected == Some(block), OUTLINED)];
        let marks = marks.into_iter().filter(|(is, _)| *is).fold(0, |marks, (_, mark)| marks | mark);
        into.push(Shape { colour: (style.colour)(block, columns.start), alpha: 255, marks, ..placed(&columns, top, &rows(columns.start)) });
    }
}

/// The cells of a stack (see [`super::bars::stack_cells`]): what is alike in columns beside each other is one rectangle.
pub fn stack(into: &mut Vec<Shape>, cells: &[u32], width: usize, of: impl Fn(u32, usize) -> u32, style: &BarStyle) {
    type Band = (u32, usize, usize, u32);
    let height = cells.len() / width.max(1);
    let mut open: BTreeMap<Band, usize> = BTreeMap::new();
    let mut finish = |(what, from, to, colour): Band, columns: Range<usize>| {
        let edged = to - from >= THINNEST_WITH_EDGE_PX && what != SMALL && what != BASELINE;
        let marks = if edged { TOP_EDGE } else { 0 } | if style.selected == Some(what) { OUTLINED } else { 0 };
        into.push(Shape { colour, alpha: 255, marks, ..placed(&columns, 0, &(from..to)) });
    };
    for x in 0..=width {
        let mut here: BTreeMap<Band, usize> = BTreeMap::new();
        if x < width {
            let cell = |y: usize| Some(cells[y * width + x]).filter(|&cell| cell != NO_BLOCK);
            for band in runs(height, cell) {
                let what = cells[band.start * width + x];
                let key = (what, band.start, band.end, of(what, x));
                here.insert(key, open.remove(&key).unwrap_or(x));
            }
        }
        std::mem::replace(&mut open, here).into_iter().for_each(|(band, from)| finish(band, from..x));
    }
}

/// A curve as an area, with the baseline in it.
pub fn area(
    into: &mut Vec<Shape>,
    (total, baseline): (&Extremes, &Extremes),
    most_bytes: f64,
    (top, height): (u32, usize),
    (total_colour, baseline_colour): (u32, u32),
) {
    let tops = |x: usize| area_tops(total, baseline, most_bytes, height, x);
    for columns in runs(total.max.len(), |x| Some(tops(x))) {
        let [held, least, below] = tops(columns.start);
        for (rows, colour, alpha) in [(below..height, baseline_colour, 200), (least..below, total_colour, 220), (held..least, total_colour, 130)] {
            if rows.start < rows.end {
                into.push(Shape { colour, alpha, ..placed(&columns, top, &rows) });
            }
        }
    }
}

fn placed(columns: &Range<usize>, top: u32, rows: &Range<usize>) -> Shape {
    Shape { x: columns.start as u32, y: top + rows.start as u32, width: columns.len() as u32, height: rows.len() as u32, ..Shape::default() }
}

/// The stretches of places that are alike; those that are nothing are left out.
fn runs<T: PartialEq>(len: usize, of: impl Fn(usize) -> Option<T>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut before: Option<T> = None;
    for at in 0..len {
        let here = of(at);
        match (&here, found.last_mut()) {
            (None, _) => {}
            (Some(_), Some(last)) if last.end == at && here == before => last.end = at + 1,
            (Some(_), _) => found.push(at..at + 1),
        }
        before = here;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::blocks::tests::blocks_over;

    const STYLE: BarStyle = BarStyle { colour: &|block, _| block, selected: None, outline: 0xff0000, density: 0x00ff00 };
    const NONE: u32 = NO_BLOCK;

    #[test]
    fn a_bar_is_one_rectangle_and_gives_way_to_the_one_below_it() {
        let blocks = blocks_over(0, &[("a", 1, 0, 5), ("a", 1, 0, OPEN)]);
        let shown = Shown { front: vec![0, 0, 0, 0, NONE, 1], second: vec![NONE, NONE, 1, 1, NONE, NONE], folded: vec![0, 0, 3, 3, 0, 0], blocks: 2 };
        let mut found = Vec::new();
        lane(&mut found, &blocks, &shown, (100, 16), &STYLE);
        let place = |shape: &Shape| (shape.x, shape.y, shape.width, shape.height);
        let rows = LaneRows::of(16);
        assert_eq!(place(&found[0]), (0, 100 + rows.whole.start as u32, 2, rows.whole.len() as u32));
        assert_eq!((found[0].colour, found[0].marks, found[1].marks), (0, LEFT_EDGE, 0));
        assert_eq!((found[1].x, found[1].width), (2, 2));
        assert!(found[1].y + found[1].height < found[3].y, "a row stays free between the two");
        assert_eq!((found[2].x, found[2].marks), (5, HATCHED));
        assert_eq!((found[3].x, found[3].width, found[3].colour), (2, 2, 1));
        assert_eq!((found[4].colour, found[4].width, found.len()), (STYLE.density, 2, 5));
    }

    #[test]
    fn a_stack_covers_the_same_cells() {
        // Two columns alike, one that differs above.
        let cells = [NONE, NONE, 7, 5, 5, 7, 5, 5, 5, BASELINE, BASELINE, BASELINE];
        let mut found = Vec::new();
        stack(&mut found, &cells, 3, |what, _| what, &STYLE);
        let mut covered = [NONE; 12];
        for shape in &found {
            for y in shape.y..shape.y + shape.height {
                for x in shape.x..shape.x + shape.width {
                    assert_eq!(std::mem::replace(&mut covered[(y * 3 + x) as usize], shape.colour), NONE, "nothing is covered twice");
                }
            }
        }
        assert_eq!(covered, cells);
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn numbers_are_the_shape() {
        let shape = Shape { x: 1, y: 2, width: 3, height: 4, colour: 0x123456, alpha: 200, marks: HATCHED | OUTLINED };
        assert_eq!(Shape::from_numbers(&shape.to_numbers()), Some(shape));
        assert_eq!(Shape::from_numbers(&[1, 2]), None);
    }
}
