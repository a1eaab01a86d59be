//! Places in lists, as a session has them. One that is too large for this machine is read as one that no list has, so that every machine
//! refuses it alike.

use serde::{Deserialize, Deserializer};

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A place.
pub fn one<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    u64::deserialize(from).map(place)
}

/// A place, where there is one.
pub fn maybe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    Option::deserialize(from).map(|number: Option<u64>| number.map(place))
}
