//! The letters of pictures that no browser draws. In a browser its own fonts serve, and this one is not part of the page.

/// The family that pictures ask for.
pub const FAMILY: &str = "sans-serif";

#[cfg(feature = "cli")]
const FACE: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");

/// Makes the bundled face known to plotters, once.
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub fn prepare() {
    use std::sync::Once;
    static KNOWN: Once = Once::new();
    // A face that is no font would show in the tests as pictures without letters.
    KNOWN.call_once(|| drop(plotters::style::register_font(FAMILY, plotters::style::FontStyle::Normal, FACE)));
}

/// The browser has fonts.
#[cfg(not(all(feature = "cli", not(target_arch = "wasm32"))))]
pub fn prepare() {}

/// The characters of a text that the bundled face does not have, each once.
#[cfg(feature = "cli")]
pub fn missing(text: &str) -> std::collections::BTreeSet<char> {
    // As it was cut: see the licence beside it.
    let has = |c: char| {
        matches!(u32::from(c),
            0x20..=0x7e | 0xa0..=0x17f | 0x370..=0x3ff | 0x400..=0x45f | 0x2010..=0x2026 | 0x2030 | 0x2032 | 0x2033 | 0x2039 | 0x203a
            | 0x2070..=0x2079 | 0x2080..=0x2089 | 0x20ac | 0x2122 | 0x2190..=0x2199 | 0x2200..=0x2265 | 0x25a0..=0x25ff | 0xfffd)
    };
    text.chars().filter(|&c| !has(c)).collect()
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;
    use plotters::style::IntoFont;

    #[test]
    fn the_face_is_a_font_with_what_the_charts_write() {
        prepare();
        let width = |text: &str| (FAMILY, 20.0).into_font().box_size(text).unwrap().0;
        assert!(width("peak") > 20 && width("µ") > 5 && width("≤") > 5);
        assert!(missing("aten::add · 3.5 GiB – 7 µs ≤ …").is_empty());
        assert_eq!(missing("显存 a显").len(), 2);
    }
}
