//! Decimal text to integers.
//!
//! Profilers print instants of about 1.78e15 µs and totals of many MB as decimal text; an `f64` of such an instant has a step of 0.25 µs.
//! So the text goes straight to `i64` nanoseconds and bytes. Names of values carry the unit (`_ns`, `_bytes`).

/// Bytes in a KiB, which profilers print as "KB".
pub const KIB: u64 = 1 << 10;
/// Bytes in a MiB, which profilers print as "MB".
pub const MIB: u64 = 1 << 20;

/// No accelerator has more, 1 PiB; a larger figure is damage. Every reader keeps to this and the limits below, that of sessions too: what
/// one of them takes can be saved and opened again.
pub const MOST_BYTES: i64 = 1 << 50;
/// No sum of blocks is larger.
pub const MOST_TOTAL_BYTES: i64 = 1 << 61;
/// The latest instant, in the year 2116, and as far before 1970 the earliest: an `i64` holds the difference of any two.
pub const MOST_NS: i64 = (1 << 62) - 1;

/// More digits after the point than this change no result: what they add is below a millionth of a byte.
pub const MOST_DECIMALS: usize = 18;

const POWERS_OF_TEN: [u64; MOST_DECIMALS + 1] = {
    let mut powers = [1; MOST_DECIMALS + 1];
    let mut power = 1;
    while power < powers.len() {
        powers[power] = powers[power - 1] * 10;
        power += 1;
    }
    powers
};

/// Decimal text, taken apart without loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    whole: u64,
    fraction: u64,
    decimals: u8,
}

/// Why a text is no usable decimal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalError {
    /// `1.69512E+15`: the digits are gone.
    Scientific,
    /// Not a number.
    NotANumber,
    /// More than any instant or size can be.
    OutOfRange,
}

impl Decimal {
    /// Reads `-12.5`; an empty cell and `N/A` are `None`.
    ///
    /// ```
    /// use oomscope::units::Decimal;
    /// let time = Decimal::parse(b"1779785515596661.420").unwrap().unwrap();
    /// assert_eq!(time.times(1000), Some(1779785515596661420));
    /// assert_eq!(Decimal::parse(b"N/A"), Ok(None));
    /// ```
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Option<Decimal>, DecimalError> {
        Decimal::parse_before(text, text.len())
    }

    /// As [`Decimal::parse`] of the first `length` bytes of a text. Digits are read eight at a time, faster where more text follows.
    // In a call of its own, handing the number over takes longer than reading it.
    #[inline(always)]
    pub fn parse_before(text: &[u8], length: usize) -> Result<Option<Decimal>, DecimalError> {
        match Decimal::leading(text) {
            Some((decimal, read)) if read == length || (read < length && text[read..length].trim_ascii_start().is_empty()) => Ok(Some(decimal)),
            _ => Decimal::parse_any(text[..length].trim_ascii()),
        }
    }

    /// The number that a text begins with, and its length: digits with at most one point among them, of a length that cannot overflow.
    #[inline(always)]
    fn leading(text: &[u8]) -> Option<(Decimal, usize)> {
        let negative = text.first() == Some(&b'-');
        let mut length = usize::from(negative);
        let (whole, digits) = leading_digits(&text[length..])?;
        length += digits;
        let (mut fraction, mut decimals) = (0, 0);
        if text.get(length) == Some(&b'.') {
            (fraction, decimals) = leading_digits(&text[length + 1..])?;
            length += 1 + decimals;
        }
        (digits > 0).then_some((Decimal { negative, whole, fraction, decimals: decimals as u8 }, length))
    }

    /// A digit at a time, and whatever else there may be.
    #[cold]
    fn parse_any(text: &[u8]) -> Result<Option<Decimal>, DecimalError> {
        if text.is_empty() || text.eq_ignore_ascii_case(b"n/a") {
            return Ok(None);
        }
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let mut decimal = Decimal { negative, whole: 0, fraction: 0, decimals: 0 };
        let mut after_point = false;
        let mut any_digit = false;
        for (at, &byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' if after_point => {
                    any_digit = true;
                    if usize::from(decimal.decimals) < MOST_DECIMALS {
                        decimal.fraction = decimal.fraction * 10 + u64::from(byte - b'0');
                        decimal.decimals += 1;
                    }
                }
                b'0'..=b'9' => {
                    any_digit = true;
                    let next = decimal.whole.checked_mul(10).and_then(|whole| whole.checked_add(u64::from(byte - b'0')));
                    decimal.whole = next.ok_or(DecimalError::OutOfRange)?;
                }
                b'.' if !after_point => after_point = true,
                b'e' | b'E' if any_digit && is_exponent(&digits[at + 1..]) => return Err(DecimalError::Scientific),
                _ => return Err(DecimalError::NotANumber),
            }
        }
        if any_digit { Ok(Some(decimal)) } else { Err(DecimalError::NotANumber) }
    }

    /// The number times `unit`, rounded to the nearest integer (halves away from zero).
    #[inline]
    pub fn times(self, unit: u64) -> Option<i64> {
        self.times_exactly(unit).map(|(product, _)| product)
    }

    /// As [`Decimal::times`], and whether nothing was rounded.
    #[inline]
    pub fn times_exactly(self, unit: u64) -> Option<(i64, bool)> {
        let scale = POWERS_OF_TEN[usize::from(self.decimals)];
        let (fraction, rest) = match self.fraction.checked_mul(unit) {
            // Division is slow; nanoseconds of microseconds with three decimals need none.
            _ if scale == unit => (self.fraction, 0),
            Some(0) => (0, 0),
            Some(scaled) => (scaled / scale, scaled % scale),
            // 128-bit division is slow; so many digits are rare.
            None => {
                let (scaled, scale) = (u128::from(self.fraction) * u128::from(unit), u128::from(scale));
                ((scaled / scale) as u64, (scaled % scale) as u64)
            }
        };
        let fraction = fraction + u64::from(rest >= scale - rest);
        let product = i64::try_from(self.whole.checked_mul(unit)?.checked_add(fraction)?).ok()?;
        Some((if self.negative { -product } else { product }, rest == 0))
    }

    /// How many digits stand after the point.
    pub fn decimals(self) -> u8 {
        self.decimals
    }
}

/// The number that the digits at the start of a text make, and how many they are; `None` where they are too many for that.
#[inline]
fn leading_digits(text: &[u8]) -> Option<(u64, usize)> {
    let (mut value, mut count) = (0u64, 0);
    while let Some(&eight) = text[count..].first_chunk::<8>() {
        let (part, digits) = digits_of_eight(u64::from_le_bytes(eight));
        if count + digits > MOST_DECIMALS {
            return None;
        }
        value = value * POWERS_OF_TEN[digits] + part;
        count += digits;
        // Instants of 16 digits are spared a look at eight characters of which none is a digit.
        if digits < 8 || !text.get(count).is_some_and(u8::is_ascii_digit) {
            return Some((value, count));
        }
    }
    while let Some(&digit) = text.get(count).filter(|byte| byte.is_ascii_digit()) {
        if count == MOST_DECIMALS {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
        count += 1;
    }
    Some((value, count))
}

/// The number that the digits at the start of eight characters make, and how many they are; the first character is the lowest byte.
#[inline]
fn digits_of_eight(text: u64) -> (u64, usize) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Digits become 0 to 9, everything else more; then the high bit of a byte says "more than 9".
    let values = text ^ (EACH * 0x30);
    let others = (values | (values & (EACH * 0x7f)).wrapping_add(EACH * 0x76)) & (EACH * 0x80);
    let digits = (others.trailing_zeros() / 8) as usize;
    if digits == 0 {
        return (0, 0);
    }
    // The digits move to the end, zeros come before them; then neighbours join: to pairs, fours, eight.
    let values = values << (8 * (8 - digits));
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let eight = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    (eight, digits)
}

fn is_exponent(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"+").or(text.strip_prefix(b"-")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Bytes for a reader: binary units with four significant digits.
///
/// ```
/// assert_eq!(oomscope::units::human_bytes(10_782_243_840), "10.04 GiB");
/// ```
pub fn human_bytes(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let magnitude = bytes.unsigned_abs();
    if magnitude < KIB {
        return format!("{bytes} B");
    }
    let mut value = magnitude as f64 / KIB as f64;
    let mut unit = 0;
    // 1023.95 would print as "1024": the next unit says it better.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= KIB as f64;
        unit += 1;
    }
    let decimals = match value {
        v if v < 9.9995 => 3,
        v if v < 99.995 => 2,
        v if v < 999.95 => 1,
        _ => 0,
    };
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{value:.decimals$} {}", UNITS[unit])
}

/// A duration for a reader, in the unit that fits it.
///
/// ```
/// assert_eq!(oomscope::units::human_ns(316_641_490), "316.641 ms");
/// ```
pub fn human_ns(ns: i64) -> String {
    let (unit, name) = match ns.unsigned_abs() {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    // Integers only: a truncated third decimal, never one rounded up past the instant.
    let thousandths = ns.unsigned_abs() / (unit / 1_000);
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}.{:03} {name}", thousandths / 1_000, thousandths % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Option<Decimal>, DecimalError> {
        Decimal::parse(text.as_bytes())
    }

    #[test]
    fn reads_instants_and_sizes_exactly() {
        let ns = |text| parse(text).unwrap().unwrap().times(1000).unwrap();
        assert_eq!(ns("1779785515596661.420\t"), 1779785515596661420);
        assert_eq!(ns("1706704429088523.5"), 1706704429088523500);
        assert_eq!(ns("0.0004"), 0);
        assert_eq!(ns("0.0005"), 1);
        assert!(Decimal::leading(b"1779785515596661.420").is_some() && Decimal::leading(b"-12").is_some());
        let mib = |text| parse(text).unwrap().unwrap().times(MIB).unwrap();
        assert_eq!(mib("10282.7490234375"), 10_782_243_840);
        assert_eq!(mib("-0.5"), -524_288);
        assert_eq!(mib("4304.0"), 4_513_071_104);
    }

    #[test]
    fn empty_cells_are_no_error() {
        for text in ["", " ", "\t", "N/A", "n/a\t"] {
            assert_eq!(parse(text), Ok(None), "{text:?}");
        }
    }

    #[test]
    fn names_why_a_text_is_refused() {
        assert_eq!(parse("1.69512E+15"), Err(DecimalError::Scientific));
        assert_eq!(parse("2e3"), Err(DecimalError::Scientific));
        for text in ["1e", "E5", "12a", "1.2.3", "-", ".", "0x10", "nan", "1,5", "--1", "1 2"] {
            assert_eq!(parse(text), Err(DecimalError::NotANumber), "{text:?}");
        }
        assert_eq!(parse("99999999999999999999999"), Err(DecimalError::OutOfRange));
        assert_eq!(parse("9999999999999999999").unwrap().unwrap().times(1000), None);
    }

    #[test]
    fn knows_whole_bytes() {
        let whole = |text| parse(text).unwrap().unwrap().times_exactly(MIB).unwrap().1;
        assert!(whole("19071.576171875"));
        assert!(whole("4304.0"));
        assert!(!whole("19071.60547"));
    }

    #[test]
    fn writes_for_readers() {
        for (bytes, text) in
            [(0, "0 B"), (512, "512 B"), (1023, "1023 B"), (1024, "1.000 KiB"), (1_048_575, "1.000 MiB"), (264_920_064, "252.6 MiB"), (-2048, "-2.000 KiB")]
        {
            assert_eq!(human_bytes(bytes), text);
        }
        for (ns, text) in [(0, "0 ns"), (1_500, "1.500 µs"), (999_999_999, "999.999 ms"), (151_491_310_310, "151.491 s"), (-1_000, "-1.000 µs")] {
            assert_eq!(human_ns(ns), text);
        }
    }

    proptest! {
        #[test]
        fn three_decimals_of_microseconds_are_nanoseconds(ns in 0i64..4_000_000_000_000_000_000) {
            let text = format!("{}.{:03}", ns / 1000, ns % 1000);
            prop_assert_eq!(parse(&text).unwrap().unwrap().times(1000), Some(ns));
        }

        #[test]
        fn the_quick_way_reads_what_the_slow_one_reads(text in "-?[0-9]{0,22}(\\.[0-9]{0,22})?[-+.eE/:, ]?[0-9]{0,3}", length in 0usize..60) {
            let text = text.as_bytes();
            if let Some((decimal, read)) = Decimal::leading(text) {
                prop_assert_eq!(Decimal::parse_any(&text[..read]), Ok(Some(decimal)));
            }
            let length = length.min(text.len());
            prop_assert_eq!(Decimal::parse_before(text, length), Decimal::parse_any(text[..length].trim_ascii()));
        }

        #[test]
        fn any_text_is_answered(text in "[-+0-9.eE/NA \\t]{0,24}") {
            if let Ok(Some(decimal)) = parse(&text) {
                let _ = decimal.times(MIB);
            }
        }
    }
}
