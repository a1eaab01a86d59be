//! Reads a dropped File in slices, inside a worker, where reading may block.

use crate::error::Problem;
use crate::scan::gzip::{Unpacker, damaged, is_gzip};
use crate::scan::wire::{Selective, feed_selectively};
use js_sys::{Array, ArrayBuffer, Function, Object, Promise, Reflect, Uint8Array};
use std::ops::Range;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, File, FileReaderSync, ReadableStreamByobReader};

/// Larger slices are read faster (measured up to 64 MiB); this one keeps a worker small.
const SLICE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// What a stream is asked for at once; browsers hand over an eighth of it or so.
const ROOM_BYTES: u32 = 1 << 20;

/// What is looked at in places is not read for long at once.
const SELECTED_SLICE_BYTES: f64 = 4.0 * 1024.0 * 1024.0;

/// A stream of 3 GiB or more stalled in Chromium now and then (measured with nothing else in the page); shorter ones never did.
const STREAM_BYTES: f64 = (1u32 << 30) as f64;

/// A stream that gives nothing for so long is given up for slices. Those wait for as long as the disk needs.
const STALLED_MS: i32 = 15_000;

/// Past the end of a range only the rest of one event is wanted.
const SLICE_PAST_RANGE_BYTES: f64 = 64.0 * 1024.0;

/// A file being read.
struct BlobReader<'a> {
    file: &'a File,
    reader: FileReaderSync,
    size: f64,
    at: f64,
}

impl<'a> BlobReader<'a> {
    fn open(file: &'a File, at: f64) -> Result<BlobReader<'a>, Problem> {
        let reader = FileReaderSync::new().map_err(|error| unreadable(&error))?;
        Ok(BlobReader { file, reader, size: file.size(), at })
    }

    /// At most so many bytes; `None` at the end.
    fn read_next(&mut self, most: f64) -> Result<Option<Uint8Array>, Problem> {
        if self.at >= self.size {
            return Ok(None);
        }
        let end = (self.at + most).min(self.size);
        let blob = self.file.slice_with_f64_and_f64(self.at, end).map_err(|error| unreadable(&error))?;
        let buffer = self.reader.read_as_array_buffer(&blob).map_err(|error| unreadable(&error))?;
        let bytes = Uint8Array::new(&buffer);
        if f64::from(bytes.length()) < end - self.at {
            return Err(shorter());
        }
        self.at = end;
        Ok(Some(bytes))
    }
}

/// Reads a file to its end, unpacked where it is gzip. `each` gets the bytes and the position in the file. The browser reads ahead meanwhile.
pub async fn stream(file: &File, each: &mut dyn FnMut(&[u8], u64)) -> Result<(), Problem> {
    unpack(file, Unpacker::default(), each).await
}

async fn unpack(file: &File, mut unpacker: Unpacker, each: &mut dyn FnMut(&[u8], u64)) -> Result<(), Problem> {
    let mut stretch = Stretch::of(file, 0.0, file.size());
    let mut chunk = Vec::new();
    while let Some(bytes) = stretch.next().await? {
        chunk.resize(bytes.length() as usize, 0);
        bytes.copy_to(&mut chunk);
        let at = stretch.at as u64;
        unpacker.feed(&chunk, &mut |bytes| each(bytes, at)).map_err(|error| damaged(&error))?;
    }
    let at = stretch.at as u64;
    unpacker.finish(&mut |bytes| each(bytes, at)).map_err(|error| damaged(&error))
}

/// Reads a range of a file, and on beyond it until `each` answers that it has enough.
pub async fn stream_range(file: &File, range: Range<u64>, each: &mut dyn FnMut(&Uint8Array) -> bool) -> Result<(), Problem> {
    let end = file.size().min(range.end as f64);
    let mut stretch = Stretch::of(file, range.start as f64, end);
    while let Some(bytes) = stretch.next().await? {
        if !each(&bytes) {
            return Ok(());
        }
    }
    let mut beyond = BlobReader::open(file, end)?;
    while let Some(bytes) = beyond.read_next(SLICE_PAST_RANGE_BYTES)? {
        if !each(&bytes) {
            return Ok(());
        }
    }
    Ok(())
}

/// A stretch of a file, as it comes.
struct Stretch<'a> {
    file: &'a File,
    at: f64,
    end: f64,
    /// Of a piece of it, and where that ends.
    source: Option<Source<'a>>,
    piece_end: f64,
}

enum Source<'a> {
    /// The browser reads ahead and fills what it is given: twice as fast as slices, in Chromium and Firefox.
    Stream { reader: ReadableStreamByobReader, room: ArrayBuffer },
    /// Where it can't.
    Slices(BlobReader<'a>),
}

impl<'a> Stretch<'a> {
    fn of(file: &'a File, at: f64, end: f64) -> Stretch<'a> {
        Stretch { file, at, end, source: None, piece_end: at }
    }

    fn open_piece(&mut self) -> Result<Source<'a>, Problem> {
        self.piece_end = (self.at + STREAM_BYTES).min(self.end);
        let blob = self.file.slice_with_f64_and_f64(self.at, self.piece_end).map_err(|error| unreadable(&error))?;
        Ok(match byob_reader(&blob) {
            Ok(reader) => Source::Stream { reader, room: ArrayBuffer::new(ROOM_BYTES) },
            Err(_) => Source::Slices(BlobReader::open(self.file, self.at)?),
        })
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self) -> Result<Option<Uint8Array>, Problem> {
        if self.at >= self.end {
            return Ok(None);
        }
        let mut source = match self.source.take() {
            Some(source) if self.at < self.piece_end => source,
            _ => self.open_piece()?,
        };
        let bytes = match &mut source {
            Source::Slices(blob) => blob.read_next(SLICE_BYTES.min(self.piece_end - self.at))?,
            Source::Stream { reader, room } => match read_into(reader, room).await.map_err(|error| unreadable(&error))? {
                Some(bytes) => {
                    // The buffer went to the browser and came back, under another name.
                    *room = bytes.buffer();
                    Some(bytes).filter(|bytes| bytes.length() > 0)
                }
                None => {
                    let mut slices = BlobReader::open(self.file, self.at)?;
                    let bytes = slices.read_next(SLICE_BYTES.min(self.piece_end - self.at))?;
                    source = Source::Slices(slices);
                    bytes
                }
            },
        };
        let Some(bytes) = bytes else { return Err(shorter()) };
        self.source = Some(source);
        self.at += f64::from(bytes.length());
        Ok(Some(bytes))
    }
}

/// The next bytes of a stream; `None` where it stalled, and is of no more use.
async fn read_into(reader: &ReadableStreamByobReader, room: &ArrayBuffer) -> Result<Option<Uint8Array>, JsValue> {
    let scope = js_sys::global();
    let call = |name: &str, arguments: &Array| Reflect::get(&scope, &name.into())?.dyn_into::<Function>()?.apply(&scope, arguments);
    let mut timer = Ok(JsValue::UNDEFINED);
    let patience = Promise::new(&mut |resolve, _| timer = call("setTimeout", &Array::of2(&resolve, &STALLED_MS.into())));
    let timer = timer?;
    let read = reader.read_with_array_buffer_view(&Uint8Array::new(room));
    let first = Promise::race(&Array::of2(&read, &patience)).await;
    call("clearTimeout", &Array::of1(&timer))?;
    let first = first?;
    if first.is_undefined() { Ok(None) } else { Reflect::get(&first, &"value".into())?.dyn_into().map(Some) }
}

fn byob_reader(blob: &Blob) -> Result<ReadableStreamByobReader, JsValue> {
    let call = |object: &JsValue, method: &str, argument: &JsValue| Reflect::get(object, &method.into())?.dyn_into::<Function>()?.call1(object, argument);
    let options = Object::new();
    Reflect::set(&options, &"mode".into(), &"byob".into())?;
    let stream = call(blob, "stream", &JsValue::UNDEFINED)?;
    call(&stream, "getReader", &options)?.dyn_into()
}

/// Feeds a reader with a whole file, unpacked, while the browser reads ahead; `tell` gets the position in the file.
pub async fn stream_in_order(file: &File, reader: &mut dyn Selective, tell: &dyn Fn(u64)) -> Result<(), Problem> {
    let mut unpacked = 0;
    stream(file, &mut |bytes, at| {
        reader.feed(unpacked, bytes);
        unpacked += bytes.len() as u64;
        tell(at);
    })
    .await
}

/// Feeds a reader with what it looks at.
pub fn read_selectively(file: &File, reader: &mut dyn Selective) -> Result<(), Problem> {
    let mut blob = BlobReader::open(file, 0.0)?;
    let mut slice = Vec::new();
    feed_selectively(reader, file.size() as u64, |range, feed| {
        blob.at = range.start as f64;
        let Some(bytes) = blob.read_next(SELECTED_SLICE_BYTES.min((range.end - range.start) as f64))? else { return Ok(()) };
        slice.resize(bytes.length() as usize, 0);
        bytes.copy_to(&mut slice);
        feed(&slice);
        Ok(())
    })
}

/// Whether a file is gzip; one that cannot be read is not.
pub fn is_packed(file: &File) -> bool {
    let start = BlobReader::open(file, 0.0).and_then(|mut blob| blob.read_next(2.0));
    start.is_ok_and(|bytes| bytes.is_some_and(|bytes| is_gzip(&bytes.to_vec())))
}

/// A whole file of at most `most` bytes.
pub async fn read_all(file: &File, most: f64) -> Result<Vec<u8>, Problem> {
    if file.size() > most {
        return Err(Problem::DamagedFile { reason: "the file is too large to be what its name says".to_owned() });
    }
    let mut text = Vec::new();
    unpack(file, Unpacker::of_at_most(most as u64), &mut |bytes, _| text.extend_from_slice(bytes)).await?;
    Ok(text)
}

fn shorter() -> Problem {
    Problem::UnreadableFile { reason: "the file became shorter".to_owned() }
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
