//! The colours of pictures that no style sheet dresses: those of the page's two themes.

/// 0xRRGGBB each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The tokens of www/styles/tokens.css, by their names.
pub struct Look {
    pub bg: u32,
    pub text: u32,
    pub muted: u32,
    pub grid: u32,
    pub total: u32,
    pub baseline: u32,
    pub reserved: u32,
    pub active: u32,
    pub outside: u32,
    /// Twelve hues and the grey of the rest.
    pub hues: [u32; 13],
}

/// The light one.
pub const LIGHT: Look = Look {
    bg: 0xffffff,
    text: 0x1b1f24,
    muted: 0x59626d,
    grid: 0xe1e5ea,
    total: 0x1a66c2,
    baseline: 0x77808c,
    reserved: 0x0b7f6e,
    active: 0x8a3fc0,
    outside: 0x9a4a00,
    hues: [0x1980e7, 0xdf3e00, 0xa96696, 0xd600bd, 0x459267, 0x995cda, 0x738b2e, 0x9a7953, 0x67887e, 0x8477a6, 0xac2ffe, 0x647bc7, 0x868e98],
};

/// The dark one.
pub const DARK: Look = Look {
    bg: 0x14171c,
    text: 0xe6e9ed,
    muted: 0x9ba5b1,
    grid: 0x2a3038,
    total: 0x6fb1ff,
    baseline: 0x8a94a0,
    reserved: 0x3fc4ad,
    active: 0xc79bff,
    outside: 0xf0a35e,
    hues: [0x46abff, 0xff7805, 0xa0aa85, 0xe07dc2, 0xd0985c, 0x79a8df, 0x00bfa9, 0xdd70f4, 0xbda437, 0xb993d0, 0xf57a78, 0x77b497, 0x8b949e],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of one theme in the style sheet.
    fn of_the_page(selector: &str) -> Look {
        let sheet = include_str!("../../www/styles/tokens.css");
        let block = sheet.split(&format!("\n{selector} {{")).nth(1).unwrap().split('}').next().unwrap();
        let token = |name: &str| {
            let value = block.split(&format!("--{name}: #")).nth(1).unwrap_or_else(|| panic!("{name}"));
            u32::from_str_radix(&value[..6], 16).unwrap()
        };
        Look {
            bg: token("bg"),
            text: token("text"),
            muted: token("muted"),
            grid: token("grid"),
            total: token("total"),
            baseline: token("baseline"),
            reserved: token("reserved"),
            active: token("active"),
            outside: token("outside"),
            hues: std::array::from_fn(|hue| token(&format!("hue-{hue}"))),
        }
    }

    #[test]
    fn the_colours_are_the_pages() {
        assert_eq!(of_the_page(":root"), LIGHT);
        assert_eq!(of_the_page(":root[data-theme=\"dark\"]"), DARK);
    }
}
