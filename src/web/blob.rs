//! Reads a dropped File in slices, inside a worker, where reading may block.

use crate::error::Problem;
use crate::scan::gzip::{Unpacker, damaged};
use js_sys::Uint8Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{File, FileReaderSync};

/// Larger slices are read faster (measured up to 64 MiB); this one keeps a worker small.
const SLICE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// A file being read.
pub struct BlobReader<'a> {
    file: &'a File,
    reader: FileReaderSync,
    size: f64,
    at: f64,
    slice: Vec<u8>,
}

impl<'a> BlobReader<'a> {
    pub fn open(file: &'a File) -> Result<BlobReader<'a>, Problem> {
        let reader = FileReaderSync::new().map_err(|error| unreadable(&error))?;
        Ok(BlobReader { file, reader, size: file.size(), at: 0.0, slice: Vec::new() })
    }

    /// How many bytes were read.
    pub fn position(&self) -> u64 {
        self.at as u64
    }

    /// The next slice; `None` at the end.
    pub fn read_next(&mut self) -> Result<Option<&[u8]>, Problem> {
        if self.at >= self.size {
            return Ok(None);
        }
        let end = (self.at + SLICE_BYTES).min(self.size);
        let blob = self.file.slice_with_f64_and_f64(self.at, end).map_err(|error| unreadable(&error))?;
        let buffer = self.reader.read_as_array_buffer(&blob).map_err(|error| unreadable(&error))?;
        let bytes = Uint8Array::new(&buffer);
        if f64::from(bytes.length()) < end - self.at {
            return Err(Problem::UnreadableFile { reason: "the file became shorter".to_owned() });
        }
        self.slice.resize(bytes.length() as usize, 0);
        bytes.copy_to(&mut self.slice);
        self.at = end;
        Ok(Some(&self.slice))
    }
}

/// Reads a file to its end, unpacked where it is gzip. `each` gets the bytes and the position in the file.
pub fn read(file: &File, each: &mut dyn FnMut(&[u8], u64)) -> Result<(), Problem> {
    let mut blob = BlobReader::open(file)?;
    let mut unpacker = Unpacker::default();
    loop {
        let before = blob.position();
        let Some(slice) = blob.read_next()? else { break };
        let at = before + slice.len() as u64;
        unpacker.feed(slice, &mut |bytes| each(bytes, at)).map_err(|error| damaged(&error))?;
    }
    let at = blob.position();
    unpacker.finish(&mut |bytes| each(bytes, at)).map_err(|error| damaged(&error))
}

/// A whole file of at most `most` bytes.
pub fn read_all(file: &File, most: f64) -> Result<Vec<u8>, Problem> {
    if file.size() > most {
        return Err(Problem::DamagedFile { reason: "the file is too large to be what its name says".to_owned() });
    }
    let mut text = Vec::new();
    read(file, &mut |bytes, _| text.extend_from_slice(bytes))?;
    Ok(text)
}

fn unreadable(error: &JsValue) -> Problem {
    let reason = match error.dyn_ref::<js_sys::Error>() {
        Some(error) => format!("{}: {}", String::from(error.name()), String::from(error.message())),
        // A DOMException is no Error everywhere.
        None => {
            js_sys::Reflect::get(error, &"message".into()).ok().and_then(|message| message.as_string()).unwrap_or_else(|| "refused by the browser".to_owned())
        }
    };
    Problem::UnreadableFile { reason }
}
