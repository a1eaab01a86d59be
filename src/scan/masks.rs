//! Where the bytes that shape JSON stand in a block of 64: one bit a byte, found 16 bytes at a time where the processor can.

/// Bytes a block has.
pub const BLOCK: usize = 64;

/// Bit `i` speaks of byte `i`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Masks {
    /// `"`
    pub quotes: u64,
    /// `\`
    pub backslashes: u64,
    /// `{` and `[`
    pub opening: u64,
    /// `}` and `]`
    pub closing: u64,
}

/// The masks of one block.
#[inline]
pub fn masks(block: &[u8; BLOCK]) -> Masks {
    #[cfg(target_arch = "x86_64")]
    return by_16(block, sse2::part);
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return by_16(block, simd128::part);
    #[allow(unreachable_code)]
    scalar(block)
}

/// `{` and `[`, `}` and `]` differ in one bit, which this sets.
const FOLD: u8 = 0x20;

/// A byte at a time: what the others must equal.
pub fn scalar(block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks::default();
    for (i, &byte) in block.iter().enumerate() {
        let bit = |is: bool| u64::from(is) << i;
        masks.quotes |= bit(byte == b'"');
        masks.backslashes |= bit(byte == b'\\');
        masks.opening |= bit(byte | FOLD == b'{');
        masks.closing |= bit(byte | FOLD == b'}');
    }
    masks
}

#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
fn by_16(block: &[u8; BLOCK], part: impl Fn(u64, u64) -> [u16; 4]) -> Masks {
    let mut masks = Masks::default();
    for (i, bytes) in block.chunks_exact(16).enumerate() {
        let word = |at: usize| {
            u64::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3], bytes[at + 4], bytes[at + 5], bytes[at + 6], bytes[at + 7]])
        };
        let [quotes, backslashes, opening, closing] = part(word(0), word(8)).map(|bits| u64::from(bits) << (i * 16));
        masks.quotes |= quotes;
        masks.backslashes |= backslashes;
        masks.opening |= opening;
        masks.closing |= closing;
    }
    masks
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::FOLD;
    use std::arch::x86_64::*;

    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn part(low: u64, high: u64) -> [u16; 4] {
        // SAFETY: every x86-64 processor has SSE2; no pointers are involved.
        unsafe { with_sse2(low, high) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn with_sse2(low: u64, high: u64) -> [u16; 4] {
        let bytes = _mm_set_epi64x(high as i64, low as i64);
        let folded = _mm_or_si128(bytes, _mm_set1_epi8(FOLD as i8));
        let equal = |bytes, byte: u8| _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u16;
        [equal(bytes, b'"'), equal(bytes, b'\\'), equal(folded, b'{'), equal(folded, b'}')]
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use super::FOLD;
    use std::arch::wasm32::*;

    #[inline(always)]
    pub fn part(low: u64, high: u64) -> [u16; 4] {
        let bytes = u64x2(low, high);
        let folded = v128_or(bytes, u8x16_splat(FOLD));
        let equal = |bytes, byte: u8| u8x16_bitmask(u8x16_eq(bytes, u8x16_splat(byte)));
        [equal(bytes, b'"'), equal(bytes, b'\\'), equal(folded, b'{'), equal(folded, b'}')]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_way_gives_the_same_masks(bytes in prop::collection::vec(prop::sample::select(&b"\"\\{}[];[{a\x00\xff\x5b\x7b"[..]), BLOCK)) {
            let block: [u8; BLOCK] = bytes.try_into().unwrap();
            prop_assert_eq!(masks(&block), scalar(&block));
        }
    }

    #[test]
    fn only_the_named_bytes_count() {
        for byte in 0..=255u8 {
            let found = masks(&[byte; BLOCK]);
            let all = |is: bool| if is { u64::MAX } else { 0 };
            assert_eq!(found.opening, all(byte == b'{' || byte == b'['), "{byte}");
            assert_eq!(found.closing, all(byte == b'}' || byte == b']'), "{byte}");
        }
    }
}
