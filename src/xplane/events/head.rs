//! What every event begins with: its name's id, when it began and how long it took.

use crate::scan::wire::{Fault, fields, varint};
use crate::xplane::space::event;

/// No event of a capture begins or ends later, in picoseconds: 13 days.
const LONGEST_PS: u64 = 1 << 60;
/// Key of a stat within its event: field 4, bytes.
const STATS_KEY: u8 = (event::STATS << 3 | 2) as u8;

/// What an event's first fields say.
pub(crate) struct Head {
    pub(crate) id: i64,
    pub(crate) offset_ps: i64,
    pub(crate) duration_ps: i64,
    pub(crate) has_stats: bool,
}

impl Head {
    /// Of the message that the first `length` bytes are; the others only make reading faster.
    #[inline]
    pub(crate) fn of(bytes: &[u8], length: usize) -> Result<Head, Fault> {
        let head = Head::plain(bytes, length).map_or_else(|| Head::any(&bytes[..length]), Ok)?;
        if head.offset_ps.unsigned_abs().max(head.duration_ps.unsigned_abs()) > LONGEST_PS { Err(Fault::Implausible) } else { Ok(head) }
    }

    /// Nearly every event is written so: id, offset, duration, then stats or nothing.
    #[inline]
    fn plain(bytes: &[u8], length: usize) -> Option<Head> {
        let mut at = 0;
        let mut next = |field: u32| {
            if at >= length || u32::from(*bytes.get(at)?) != field << 3 {
                return Some(0);
            }
            let (number, taken) = varint(&bytes[at + 1..]).ok()??;
            at += 1 + taken;
            Some(number.cast_signed())
        };
        let (id, offset_ps, duration_ps) = (next(event::METADATA_ID)?, next(event::OFFSET_PS)?, next(event::DURATION_PS)?);
        let has_stats = at < length;
        while at < length {
            let [STATS_KEY, stat @ 0..0x80] = *bytes.get(at..at + 2)? else { return None };
            at += 2 + usize::from(stat);
        }
        (at == length).then_some(Head { id, offset_ps, duration_ps: duration_ps.max(0), has_stats })
    }

    fn any(message: &[u8]) -> Result<Head, Fault> {
        let mut head = Head { id: 0, offset_ps: 0, duration_ps: 0, has_stats: false };
        for field in fields(message) {
            let (field, value) = field?;
            match field {
                event::METADATA_ID => head.id = value.int(),
                event::OFFSET_PS => head.offset_ps = value.int(),
                event::DURATION_PS => head.duration_ps = value.int().max(0),
                event::STATS => head.has_stats = true,
                _ => {}
            }
        }
        Ok(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xplane::space::tests::{bytes, number};
    use proptest::prelude::*;

    fn told(head: Result<Head, Fault>) -> Option<(i64, i64, i64, bool)> {
        head.ok().map(|head| (head.id, head.offset_ps, head.duration_ps, head.has_stats))
    }

    #[test]
    fn fields_in_any_order_and_times_that_cannot_be() {
        let message = [bytes(event::STATS, &[b"ab"]), number(event::DURATION_PS, -1), number(event::METADATA_ID, 7)].concat();
        assert_eq!(told(Head::of(&message, message.len())), Some((7, 0, 0, true)));
        let message = number(event::OFFSET_PS, i64::MIN);
        assert_eq!(told(Head::of(&message, message.len())), None);
    }

    proptest! {
        #[test]
        fn the_plain_way_says_what_any_way_says(fields in prop::collection::vec((1u32..=5, any::<bool>(), 0i64..1 << 40), 0..6), behind in 0usize..9) {
            let fields = fields.into_iter().map(|(field, is_bytes, value)| if is_bytes { bytes(field, &[&value.to_le_bytes()]) } else { number(field, value) });
            let message = fields.collect::<Vec<_>>().concat();
            let file = [&message[..], &[0x20; 9][..behind]].concat();
            if let Some(plain) = Head::plain(&file, message.len()) {
                prop_assert_eq!(told(Ok(plain)), told(Head::any(&message)));
            }
        }
    }
}
