//! Files that may be gzip: known by their first two bytes, unpacked as they come.

use crate::error::Problem;
use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether a file that starts so is gzip.
pub fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// Hands bytes on as they are, or unpacked where the file turns out to be gzip.
#[derive(Default)]
pub struct Unpacker {
    /// The first bytes, until there are enough of them to tell.
    head: Vec<u8>,
    decoder: Option<MultiGzDecoder<Vec<u8>>>,
    size: Size,
}

#[derive(Default)]
struct Size {
    packed_bytes: u64,
    unpacked_bytes: u64,
    /// What is held in memory as a whole has an end.
    most_bytes: Option<u64>,
}

/// Text of profilers packs to a tenth or a thirtieth. What packs better than this is made to fill a memory or to keep a reader busy.
const MOST_RATIO: u64 = 150;
/// Up to here nothing is harmed.
const HARMLESS_BYTES: u64 = 256 << 20;

/// What to say of an archive that cannot be unpacked to its end.
pub fn damaged(error: &io::Error) -> Problem {
    Problem::DamagedFile { reason: format!("the gzip archive is cut or damaged ({error}). Copy the file again") }
}

impl Unpacker {
    /// For a file that is held in memory as a whole.
    pub fn of_at_most(bytes: u64) -> Unpacker {
        Unpacker { size: Size { most_bytes: Some(bytes), ..Size::default() }, ..Unpacker::default() }
    }

    /// Takes the next bytes of the file.
    pub fn feed(&mut self, mut chunk: &[u8], each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        if self.head.len() < MAGIC.len() {
            let (head, rest) = chunk.split_at(chunk.len().min(MAGIC.len() - self.head.len()));
            self.head.extend_from_slice(head);
            chunk = rest;
            if self.head.len() < MAGIC.len() {
                return Ok(());
            }
            if is_gzip(&self.head) {
                self.decoder = Some(MultiGzDecoder::new(Vec::new()));
            }
            self.pass(&self.head.clone(), each)?;
        }
        self.pass(chunk, each)
    }

    /// Ends the file: the last bytes, and whether the archive was whole.
    pub fn finish(self, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        match self.decoder {
            None if self.head.len() < MAGIC.len() => each(&self.head),
            None => {}
            Some(mut decoder) => {
                let mut size = self.size;
                // What was whole counts, whatever comes after it.
                let flushed = decoder.flush();
                each(decoder.get_ref());
                size.unpacked_bytes += decoder.get_ref().len() as u64;
                decoder.get_mut().clear();
                flushed?;
                decoder.try_finish()?;
                each(decoder.get_ref());
                size.unpacked_bytes += decoder.get_ref().len() as u64;
                size.check()?;
            }
        }
        Ok(())
    }

    fn pass(&mut self, chunk: &[u8], each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        /// Small, so that what comes out of each is small too.
        const PACKED_BYTES: usize = 64 << 10;
        let Some(decoder) = &mut self.decoder else {
            each(chunk);
            return Ok(());
        };
        for part in chunk.chunks(PACKED_BYTES) {
            let written = decoder.write_all(part);
            each(decoder.get_ref());
            self.size.packed_bytes += part.len() as u64;
            self.size.unpacked_bytes += decoder.get_ref().len() as u64;
            decoder.get_mut().clear();
            written?;
            self.size.check()?;
        }
        Ok(())
    }
}

impl Size {
    fn check(&self) -> io::Result<()> {
        if self.most_bytes.is_some_and(|most| self.unpacked_bytes > most) {
            return Err(io::Error::other("it unpacks to more than such a file ever has"));
        }
        if self.unpacked_bytes > HARMLESS_BYTES && self.unpacked_bytes / self.packed_bytes.max(1) > MOST_RATIO {
            return Err(io::Error::other("it unpacks to hundreds of times its size: no capture does, so it is not read on"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;

    fn unpack(chunks: &[&[u8]]) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let mut unpacker = Unpacker::default();
        let mut whole = true;
        for chunk in chunks {
            whole &= unpacker.feed(chunk, &mut |bytes| out.extend_from_slice(bytes)).is_ok();
        }
        whole &= unpacker.finish(&mut |bytes| out.extend_from_slice(bytes)).is_ok();
        (out, whole)
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_cut_archive_gives_what_is_whole_and_says_so() {
        let text: Vec<u8> = (0..200_000u32).flat_map(|i| i.to_string().into_bytes()).collect();
        let archive = packed(&text);
        let (out, whole) = unpack(&[&archive[..archive.len() / 2]]);
        assert!(!whole && out.len() > text.len() / 4 && text.starts_with(&out));
    }

    #[test]
    fn a_bomb_is_stopped() {
        let bomb = packed(&vec![b'['; 400 << 20]);
        let mut seen = 0;
        let mut unpacker = Unpacker::default();
        let stopped = unpacker.feed(&bomb, &mut |bytes| seen += bytes.len() as u64);
        assert!(stopped.is_err_and(|error| error.to_string().contains("hundreds of times")));
        assert!(seen <= HARMLESS_BYTES + (64 << 20), "{seen} bytes were unpacked");
    }

    #[test]
    fn what_is_held_has_an_end() {
        let archive = packed(&[b' '; 5000]);
        let is_read = |most: u64| {
            let mut unpacker = Unpacker::of_at_most(most);
            unpacker.feed(&archive, &mut |_| {}).and_then(|()| unpacker.finish(&mut |_| {})).is_ok()
        };
        assert!(!is_read(4999) && is_read(5000));
    }

    #[test]
    fn a_short_archive_gives_what_is_whole_too() {
        let archive = packed(b"a short text, the end of which is lost: a short text");
        let (out, whole) = unpack(&[&archive[..archive.len() - 12]]);
        assert!(!whole && out.starts_with(b"a short text"), "{}", String::from_utf8_lossy(&out));
    }

    proptest! {
        #[test]
        fn any_cut_of_either_kind(text in prop::collection::vec(any::<u8>(), 0..300), zip in any::<bool>(), cut in 0usize..400) {
            let text = if text.starts_with(&MAGIC) { Vec::new() } else { text };
            let file = if zip { packed(&text) } else { text.clone() };
            let (before, after) = file.split_at(cut.min(file.len()));
            prop_assert_eq!(unpack(&[before, after]), (text, true));
        }
    }
}
