//! The bars of the Gantt as a picture. Plotters would draw one call a bar; a million bars want pixels.

use crate::timeline::blocks::{Blocks, OPEN};
use crate::timeline::window::NO_BLOCK;

/// Narrower bars have no edge: it would be all there is to see of them.
const NARROWEST_WITH_EDGE_PX: usize = 3;

/// How a lane is painted.
pub struct LanePaint<'a> {
    /// The block on top in each column.
    pub top: &'a [u32],
    /// 0xRRGGBB.
    pub colour: u32,
    /// Rows of pixels.
    pub height_px: usize,
    /// The block to be outlined, and in which colour.
    pub selected: Option<u32>,
    /// 0xRRGGBB.
    pub outline: u32,
}

/// Paints one lane into its rows of RGBA pixels. Each bar begins with a darker edge, so that neighbours stay apart; a bar that was not
/// released is hatched; the selected one is outlined.
pub fn paint_lane(pixels: &mut [u8], blocks: &Blocks, lane: &LanePaint) {
    let width = lane.top.len();
    let inset = lane.height_px / 8;
    for (y, row) in pixels.chunks_exact_mut(width * 4).enumerate() {
        if y < inset || y + inset >= lane.height_px {
            continue;
        }
        let border_row = y < inset + 2 || y + inset + 2 >= lane.height_px;
        let mut start = 0;
        while start < width {
            let block = lane.top[start];
            let end = start + lane.top[start..].iter().take_while(|&&next| next == block).count();
            if block != NO_BLOCK {
                let selected = lane.selected == Some(block);
                let open = blocks.end_ns[block as usize] == OPEN;
                for x in start..end {
                    let edge = x == start && end - start >= NARROWEST_WITH_EDGE_PX;
                    let border = border_row || x < start + 2 || x + 2 >= end;
                    let colour = match () {
                        () if selected && border => lane.outline,
                        () if edge => mix(lane.colour, 0, 110),
                        () if open && (x + y) % 6 < 2 => mix(lane.colour, 0xff_ff_ff, 120),
                        () => lane.colour,
                    };
                    row[x * 4..x * 4 + 4].copy_from_slice(&[(colour >> 16) as u8, (colour >> 8) as u8, colour as u8, 255]);
                }
            }
            start = end;
        }
    }
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

    fn painted(top: &[u32], selected: Option<u32>) -> Vec<u32> {
        let blocks = blocks_over(0, &[("a", 1, 0, 5), ("a", 1, 0, OPEN)]);
        let mut pixels = vec![0; top.len() * 8 * 4];
        paint_lane(&mut pixels, &blocks, &LanePaint { top, colour: 0x0000ff, height_px: 8, selected, outline: 0xff0000 });
        let middle = &pixels[4 * top.len() * 4..5 * top.len() * 4];
        middle.chunks_exact(4).map(|p| u32::from_be_bytes([p[3], p[0], p[1], p[2]])).collect()
    }

    #[test]
    fn bars_have_an_edge_and_gaps_are_transparent() {
        let row = painted(&[0, 0, 0, NO_BLOCK, 0], None);
        assert_eq!(row, [0xff000091, 0xff0000ff, 0xff0000ff, 0, 0xff0000ff]);
    }

    #[test]
    fn what_was_not_released_is_hatched() {
        let row = painted(&[1; 12], None);
        assert!(row[1..].iter().any(|&pixel| pixel != 0xff0000ff) && row.contains(&0xff0000ff));
    }

    #[test]
    fn the_selected_bar_is_outlined() {
        assert_eq!(painted(&[0; 6], Some(0))[..3], [0xffff0000, 0xffff0000, 0xff0000ff]);
    }
}
