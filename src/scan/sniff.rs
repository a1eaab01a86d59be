//! What a file is that is not what its name says: told by its first bytes, so that a message can name it.

/// So many bytes are enough to tell.
pub const HEAD_BYTES: usize = 4096;

/// Names what a file's first bytes are known for; `None` when that is nothing known here.
///
/// ```
/// use oomscope::scan::sniff::sniff;
/// assert_eq!(sniff(b""), Some("the file is empty"));
/// assert_eq!(sniff(b"<!DOCTYPE html>"), Some("this is an HTML page"));
/// ```
pub fn sniff(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 8] = [
        (b"\x1f\x8b", "this is a gzip archive within a gzip archive"),
        (b"PK\x03\x04", "this is a ZIP archive"),
        (b"SQLite format 3\0", "this is an SQLite database"),
        (b"\x89PNG", "this is a PNG picture"),
        (b"%PDF", "this is a PDF"),
        (b"\x7fELF", "this is a program"),
        (b"\x28\xb5\x2f\xfd", "this is a zstd archive"),
        (b"version https://git-lfs", "this is Git LFS's pointer to the file, not the file: run git lfs pull"),
    ];
    if head.is_empty() {
        return Some("the file is empty");
    }
    if let Some(found) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(found.1);
    }
    if replaced(head) {
        return Some("bytes that are no text were replaced by U+FFFD: it was opened and saved as text, and what it held is lost");
    }
    match head.trim_ascii_start() {
        [b'{', ..] => Some("this is JSON"),
        // `[` alone would also be a field of ten bytes.
        [b'[', rest @ ..] if is_text(rest) => Some("this is JSON"),
        [b'<', rest @ ..] if is_text(rest) => {
            Some(if contains(rest, b"html") || contains(rest, b"HTML") { "this is an HTML page" } else { "this is XML or HTML" })
        }
        text if is_text(text) => Some("this is text"),
        _ => None,
    }
}

/// Whether a binary file went through a text editor: what was no UTF-8 became U+FFFD, so that now all of it is UTF-8.
fn replaced(head: &[u8]) -> bool {
    const AT_LEAST: usize = 4;
    utf8(head).is_some_and(|text| text.chars().filter(|&c| c == char::REPLACEMENT_CHARACTER).count() >= AT_LEAST)
}

fn is_text(bytes: &[u8]) -> bool {
    utf8(bytes).is_some_and(|text| !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')))
}

/// The bytes as text; the head of a file may end inside a character.
fn utf8(bytes: &[u8]) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_open_by_mistake_is_named() {
        assert_eq!(sniff(b"{\"traceEvents\": []}"), Some("this is JSON"));
        assert_eq!(sniff(b" [1, 2]"), Some("this is JSON"));
        assert_eq!(sniff(b"SQLite format 3\0\x10\x00"), Some("this is an SQLite database"));
        assert_eq!(sniff(b"Name,Size(KB)\n"), Some("this is text"));
        assert!(sniff("\n\u{fffd}\u{fffd}\x06\x08\u{fffd}\u{fffd}\x02".as_bytes()).is_some_and(|found| found.contains("U+FFFD")));
    }

    #[test]
    fn a_binary_file_has_no_name() {
        assert_eq!(sniff(b"\n\x80\x01\x08\x02\x12\x0a/host:CPU\x1a\xff\x03"), None);
        assert_eq!(sniff(b"\n\xef\xbf\xbd\x06\x80\x12"), None);
    }
}
