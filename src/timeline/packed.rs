//! A column of numbers in few bytes: the difference to the number before, small ones in one byte. What is close together in a capture
//! (times, totals, lines) thus packs well.

use super::blocks::{OPEN, UNKNOWN};

/// What stands for a number without one.
const CODE_UNKNOWN: u128 = 0;
const CODE_OPEN: u128 = 1;
const CODES: u128 = 2;

/// Appends a column; its length is for the reader to know.
pub fn put(out: &mut Vec<u8>, column: impl IntoIterator<Item = i64>) {
    let mut before = 0i64;
    for number in column {
        put_after(out, &mut before, number);
    }
}

/// Appends a number of a column; `before` is the column's last one, 0 at its start.
pub fn put_after(out: &mut Vec<u8>, before: &mut i64, number: i64) {
    let code = match number {
        UNKNOWN => CODE_UNKNOWN,
        OPEN => CODE_OPEN,
        _ => {
            let difference = number.wrapping_sub(*before);
            *before = number;
            // Zigzag: small ones of either sign are small.
            CODES + u128::from((difference << 1 ^ difference >> 63).cast_unsigned())
        }
    };
    put_varint(out, code);
}

/// Appends a number of seven bits a byte.
pub fn put_varint(out: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads columns off the front of bytes.
pub struct Columns<'a> {
    rest: &'a [u8],
}

impl<'a> Columns<'a> {
    /// Of these bytes.
    pub fn new(bytes: &'a [u8]) -> Columns<'a> {
        Columns { rest: bytes }
    }

    /// The next column.
    pub fn take(&mut self, length: usize) -> Result<Vec<i64>, String> {
        self.check(length)?;
        let mut before = 0i64;
        (0..length).map(|_| self.after(&mut before)).collect()
    }

    /// The next number of a column, as [`put_after`] wrote it.
    pub fn after(&mut self, before: &mut i64) -> Result<i64, String> {
        Ok(match self.varint()? {
            CODE_UNKNOWN => UNKNOWN,
            CODE_OPEN => OPEN,
            code => {
                let zigzag = u64::try_from(code - CODES).map_err(|_| "a number is too large".to_owned())?;
                *before = before.wrapping_add((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed());
                *before
            }
        })
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next column, of numbers below `end`, or of [`u32::MAX`] where that stands for none.
    pub fn take_u32(&mut self, length: usize, end: usize) -> Result<Vec<u32>, String> {
        let none = i64::from(u32::MAX);
        let number = |value: i64| match u32::try_from(value) {
            Ok(number) if (number as usize) < end || value == none => Ok(number),
            _ => Err(format!("{value} is out of the range of its column")),
        };
        self.take(length)?.into_iter().map(number).collect()
    }

    /// The next bytes.
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8], String> {
        self.check(length)?;
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(bytes)
    }

    /// The next number.
    pub fn varint(&mut self) -> Result<u128, String> {
        let mut number = 0u128;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or_else(cut)?;
            self.rest = rest;
            number |= u128::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number has no end".to_owned())
    }

    /// Every number has a byte at least: what says that there are more is damaged, and no room is made for them.
    fn check(&self, length: usize) -> Result<(), String> {
        if length > self.rest.len() { Err(cut()) } else { Ok(()) }
    }
}

fn cut() -> String {
    "it ends too early".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_column_comes_back(column in prop::collection::vec(prop_oneof![any::<i64>(), Just(OPEN), Just(UNKNOWN), 0i64..1000], 0..200), next in any::<u64>()) {
            let mut bytes = Vec::new();
            put(&mut bytes, column.iter().copied());
            put_varint(&mut bytes, u128::from(next));
            let mut columns = Columns::new(&bytes);
            prop_assert_eq!(columns.take(column.len()).unwrap(), column);
            prop_assert_eq!(columns.varint().unwrap(), u128::from(next));
        }
    }

    #[test]
    fn times_in_order_take_few_bytes() {
        let mut bytes = Vec::new();
        put(&mut bytes, (0..1000).map(|nth| 1_764_246_877_390_971_790 + nth * 50));
        assert!(bytes.len() < 1000 + 10, "{}", bytes.len());
    }

    #[test]
    fn what_is_not_there_is_not_made_room_for() {
        assert_eq!(Columns::new(&[1, 2]).take(usize::MAX), Err("it ends too early".to_owned()));
        assert_eq!(Columns::new(&[8]).take_u32(1, 2).unwrap_err(), "3 is out of the range of its column");
    }
}
