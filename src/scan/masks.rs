//! Where the bytes that shape JSON and CSV stand in a block of 64: one bit a byte, found 16 bytes at a time where the processor can.

/// Bytes a block has.
pub const BLOCK: usize = 64;

/// What shapes JSON; bit `i` speaks of byte `i`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JsonMasks {
    /// `"`
    pub quotes: u64,
    /// `\`
    pub backslashes: u64,
    /// `{` and `[`
    pub opening: u64,
    /// `}` and `]`
    pub closing: u64,
}

/// What shapes a line of CSV.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CsvMasks {
    /// `"`
    pub quotes: u64,
    /// `,`
    pub commas: u64,
    /// A carriage return.
    pub returns: u64,
}

/// `{` and `[`, `}` and `]` differ in one bit, which this sets.
const FOLD: u8 = 0x20;

/// The masks of one block of JSON.
#[inline]
pub fn json_masks(block: &[u8; BLOCK]) -> JsonMasks {
    let [quotes, backslashes] = equal(block, 0, [b'"', b'\\']);
    let [opening, closing] = equal(block, FOLD, [b'{', b'}']);
    JsonMasks { quotes, backslashes, opening, closing }
}

/// The masks of one block of CSV.
#[inline]
pub fn csv_masks(block: &[u8; BLOCK]) -> CsvMasks {
    let [quotes, commas, returns] = equal(block, 0, [b'"', b',', b'\r']);
    CsvMasks { quotes, commas, returns }
}

/// Bit `i` becomes the parity of bits 0 to `i`: from an opening quote to just before the closing one.
#[inline]
pub fn running_parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// How many bytes at the start of a text are ASCII and neither quotes nor backslashes nor control characters.
#[inline]
pub fn bare_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(sixteen) = text[at..].first_chunk::<16>() {
        let others = not_bare(sixteen);
        if others != 0 {
            return at + others.trailing_zeros() as usize;
        }
        at += 16;
    }
    at + text[at..].iter().take_while(|&&byte| is_bare(byte)).count()
}

fn is_bare(byte: u8) -> bool {
    (0x20..0x80).contains(&byte) && byte != b'"' && byte != b'\\'
}

/// Where bytes stand that end the [bare length](bare_length).
#[inline(always)]
fn not_bare(bytes: &[u8; 16]) -> u16 {
    let (low, high) = halves(bytes);
    #[cfg(target_arch = "x86_64")]
    return sse2::not_bare(low, high);
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return simd128::not_bare(low, high);
    #[allow(unreachable_code)]
    [low, high].iter().flat_map(|half| half.to_le_bytes()).enumerate().fold(0, |mask, (i, byte)| mask | u16::from(!is_bare(byte)) << i)
}

#[inline(always)]
fn halves(bytes: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*bytes);
    (both as u64, (both >> 64) as u64)
}

/// For each wanted byte, where `byte | set` equals it.
#[inline(always)]
fn equal<const N: usize>(block: &[u8; BLOCK], set: u8, wanted: [u8; N]) -> [u64; N] {
    #[cfg(target_arch = "x86_64")]
    return by_16(block, |low, high| sse2::equal(low, high, set, wanted));
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return by_16(block, |low, high| simd128::equal(low, high, set, wanted));
    #[allow(unreachable_code)]
    scalar(block, set, wanted)
}

/// A byte at a time: what the others must equal.
fn scalar<const N: usize>(block: &[u8; BLOCK], set: u8, wanted: [u8; N]) -> [u64; N] {
    wanted.map(|wanted| block.iter().enumerate().fold(0, |mask, (i, &byte)| mask | u64::from(byte | set == wanted) << i))
}

#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
#[inline(always)]
fn by_16<const N: usize>(block: &[u8; BLOCK], part: impl Fn(u64, u64) -> [u16; N]) -> [u64; N] {
    let mut masks = [0; N];
    for (i, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
        let (low, high) = halves(bytes);
        for (mask, bits) in masks.iter_mut().zip(part(low, high)) {
            *mask |= u64::from(bits) << (i * 16);
        }
    }
    masks
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn equal<const N: usize>(low: u64, high: u64, set: u8, wanted: [u8; N]) -> [u16; N] {
        // SAFETY: every x86-64 processor has SSE2; no pointers are involved.
        unsafe { with_sse2(low, high, set, wanted) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn with_sse2<const N: usize>(low: u64, high: u64, set: u8, wanted: [u8; N]) -> [u16; N] {
        let bytes = _mm_or_si128(_mm_set_epi64x(high as i64, low as i64), _mm_set1_epi8(set as i8));
        // A closure would not be made of the same instructions: `map` is no function of this target feature.
        let mut masks = [0; N];
        for (mask, wanted) in masks.iter_mut().zip(wanted) {
            *mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted as i8))) as u16;
        }
        masks
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub fn not_bare(low: u64, high: u64) -> u16 {
        // SAFETY: every x86-64 processor has SSE2; no pointers are involved.
        unsafe { not_bare_with_sse2(low, high) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn not_bare_with_sse2(low: u64, high: u64) -> u16 {
        let bytes = _mm_set_epi64x(high as i64, low as i64);
        // As signed numbers, bytes beyond ASCII are below the space too.
        let below = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        let marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8)), _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8)));
        _mm_movemask_epi8(_mm_or_si128(below, marks)) as u16
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use std::arch::wasm32::*;

    #[inline(always)]
    pub fn equal<const N: usize>(low: u64, high: u64, set: u8, wanted: [u8; N]) -> [u16; N] {
        let bytes = v128_or(u64x2(low, high), u8x16_splat(set));
        let mut masks = [0; N];
        for (mask, wanted) in masks.iter_mut().zip(wanted) {
            *mask = u8x16_bitmask(u8x16_eq(bytes, u8x16_splat(wanted)));
        }
        masks
    }

    #[inline(always)]
    pub fn not_bare(low: u64, high: u64) -> u16 {
        let bytes = u64x2(low, high);
        // As signed numbers, bytes beyond ASCII are below the space too.
        let below = i8x16_lt(bytes, i8x16_splat(0x20));
        let marks = v128_or(u8x16_eq(bytes, u8x16_splat(b'"')), u8x16_eq(bytes, u8x16_splat(b'\\')));
        u8x16_bitmask(v128_or(below, marks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_that_need_a_look_end_the_bare_length() {
        for byte in 0..=255u8 {
            for before in 0..40 {
                let text = [vec![b'x'; before], vec![byte; 3], vec![b'y'; 19]].concat();
                assert_eq!(bare_length(&text), if is_bare(byte) { text.len() } else { before }, "{byte} after {before}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same_masks(bytes in prop::collection::vec(prop::sample::select(&b"\"\\{}[];[{a\x00\xff\x5b\x7b"[..]), BLOCK)) {
            let block: [u8; BLOCK] = bytes.try_into().unwrap();
            prop_assert_eq!(equal(&block, 0, [b'"', b'\\']), scalar(&block, 0, [b'"', b'\\']));
            prop_assert_eq!(equal(&block, FOLD, [b'{', b'}']), scalar(&block, FOLD, [b'{', b'}']));
        }
    }

    #[test]
    fn only_the_named_bytes_count() {
        for byte in 0..=255u8 {
            let all = |is: bool| if is { u64::MAX } else { 0 };
            let json = json_masks(&[byte; BLOCK]);
            assert_eq!(json.opening, all(byte == b'{' || byte == b'['), "{byte}");
            assert_eq!(json.closing, all(byte == b'}' || byte == b']'), "{byte}");
            let csv = csv_masks(&[byte; BLOCK]);
            assert_eq!([csv.quotes, csv.commas, csv.returns], [b'"', b',', b'\r'].map(|wanted| all(byte == wanted)), "{byte}");
        }
    }
}
