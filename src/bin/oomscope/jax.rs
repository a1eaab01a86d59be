//! A JAX capture from its file: of a plain one only what is wanted is read.

use crate::files::{Listed, SLICE_BYTES, open, slices, starts_as_gzip, unreadable};
use oomscope::ascend::budget::Budget;
use oomscope::error::Problem;
use oomscope::scan::wire::{Selective, feed_selectively};
use oomscope::xplane::capture::Capture;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Reads a JAX capture, each time what is wanted of it; an archive only in order.
pub fn read_xplane(file: &Listed, budget: Option<Budget>) -> Capture {
    let is_packed = starts_as_gzip(&file.path);
    Capture::read_within(&file.name, budget.map(|budget| budget.bytes), |reader| {
        if is_packed { read_in_order(&file.path, reader) } else { read_selectively(&file.path, reader) }
    })
}

fn read_in_order(path: &Path, reader: &mut dyn Selective) -> Result<(), Problem> {
    let mut at = 0;
    slices(path, &mut |slice| {
        reader.feed(at, slice);
        at += slice.len() as u64;
    })
}

fn read_selectively(path: &Path, reader: &mut dyn Selective) -> Result<(), Problem> {
    let mut file = open(path).map_err(|error| unreadable(&error))?;
    let size = file.metadata().map_err(|error| unreadable(&error))?.len();
    let mut slice = vec![0; SLICE_BYTES];
    let mut here = 0;
    feed_selectively(reader, size, |range, feed| {
        if here != range.start {
            here = file.seek(SeekFrom::Start(range.start)).map_err(|error| unreadable(&error))?;
        }
        let most = slice.len().min(usize::try_from(range.end - range.start).unwrap_or(usize::MAX));
        file.read_exact(&mut slice[..most]).map_err(|error| unreadable(&error))?;
        here += most as u64;
        feed(&slice[..most]);
        Ok(())
    })
}
