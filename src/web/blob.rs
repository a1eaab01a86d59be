//! Reads a dropped File in slices, inside a worker, where reading may block.

use crate::error::{Position, Problem};
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

/// A whole file of at most `most` bytes.
pub fn read_all(file: &File, name: &str, most: f64) -> Result<Vec<u8>, (Problem, Position)> {
    let whole = |problem| (problem, Position::file(name));
    if file.size() > most {
        return Err(whole(Problem::DamagedFile { reason: "the file is too large to be what its name says".to_owned() }));
    }
    let mut reader = BlobReader::open(file).map_err(whole)?;
    let mut text = Vec::new();
    while let Some(slice) = reader.read_next().map_err(whole)? {
        text.extend_from_slice(slice);
    }
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
