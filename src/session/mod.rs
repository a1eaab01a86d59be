//! A session as one file: everything that the page shows, without the captures' own files. It goes into a saved page.
//!
//! gzip of: the name of the format and its version, a line end, the length of a JSON text, that text, then columns of numbers
//! ([`crate::timeline::packed`]) in the order in which the text lists what they belong to. Whatever changes this gets a new version, and the
//! old one stays readable.

pub mod page;
pub mod private;
mod read;
mod sound;
mod write;

pub use read::{Kept, Session, read};
pub use write::{Held, Include, write};

/// The first line of the file.
const FORMAT: &str = "oomscope.session/2\n";
/// The first lines of older files, which lack: folded blocks.
const OLDER: [&str; 1] = ["oomscope.session/1\n"];
