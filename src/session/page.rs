//! A session in the page's own HTML: one file that shows it wherever it is opened.

use super::read::{self, Session};
use crate::error::Problem;
use crate::oom::read::{LARGEST_REPORT_BYTES, failed};
use crate::scan::gzip::{Unpacker, damaged, is_gzip};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::borrow::Cow;
use std::io;

/// Where it goes: before anything of the page runs.
const APP: &str = "<div id=\"app\"></div>";
const BEGIN: &str = "<script type=\"text/plain\" id=\"session\"";
const END: &str = "</script>\n";

/// The page with a packed session in it, in the place of one that it may hold already. `view` is a view's hash; only what can stand in one is
/// taken.
pub fn with_session(page: &str, packed: &[u8], view: &str) -> Result<Vec<u8>, String> {
    let page = without_session(page);
    let at = page.find(APP).ok_or("this is not the page of this program")? + APP.len();
    let view: String = view.chars().filter(|c| c.is_ascii_alphanumeric() || "#=&.,-_~".contains(*c)).collect();
    let mut html = Vec::with_capacity(page.len() + packed.len() * 4 / 3 + 200);
    html.extend_from_slice(&page.as_bytes()[..at]);
    html.extend_from_slice(format!("\n{BEGIN} data-view=\"{view}\">").as_bytes());
    html.extend_from_slice(STANDARD.encode(packed).as_bytes());
    html.extend_from_slice(END.as_bytes());
    html.extend_from_slice(page.split_at(at).1.trim_start_matches('\n').as_bytes());
    Ok(html)
}

/// The packed session in a saved page; `None` where it has none.
pub fn session_of(html: &[u8]) -> Option<Vec<u8>> {
    let (_, rest) = cut_at(html, BEGIN.as_bytes())?;
    let (_, rest) = cut_at(rest, b">")?;
    let (text, _) = cut_at(rest, b"</script>")?;
    // Mail wraps it in lines.
    let is_wrapped = text.iter().any(u8::is_ascii_whitespace);
    let text = if is_wrapped { Cow::Owned(text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()) } else { Cow::Borrowed(text) };
    STANDARD.decode(text).ok()
}

/// The view in which a page was saved; empty where it has none.
pub fn view_of(html: &[u8]) -> String {
    let view = || {
        let (_, rest) = cut_at(html, BEGIN.as_bytes())?;
        let (_, rest) = cut_at(rest, b"data-view=\"")?;
        let (view, _) = cut_at(rest, b"\"")?;
        // Written to an element's attribute once more when a browser saved the page.
        std::str::from_utf8(view).ok().map(|view| view.replace("&amp;", "&"))
    };
    view().unwrap_or_default()
}

/// What a saved page holds, which may be packed. Of one that cannot be read there is a report without captures that says why.
pub fn open(file: &str, bytes: &[u8]) -> Session {
    let refused = |problem: &Problem| Session { captures: Vec::new(), reports: vec![failed(file, problem)] };
    let html = match unpacked(bytes) {
        Ok(html) => html,
        Err(error) => return refused(&damaged(&error)),
    };
    if memchr::memmem::find(&html, BEGIN.as_bytes()).is_none() {
        return refused(&Problem::NoSession);
    }
    let packed = session_of(&html).ok_or_else(|| read::damaged("they are no Base64"));
    packed.and_then(|packed| read::read(&packed)).unwrap_or_else(|reason| refused(&Problem::DamagedFile { reason: reason.trim_end_matches('.').to_owned() }))
}

/// It is large: only an archive is copied.
fn unpacked(bytes: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    if !is_gzip(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut html = Vec::new();
    let mut keep = |bytes: &[u8]| html.extend_from_slice(bytes);
    let mut unpacker = Unpacker::of_at_most(LARGEST_REPORT_BYTES);
    unpacker.feed(bytes, &mut keep)?;
    unpacker.finish(&mut keep)?;
    Ok(Cow::Owned(html))
}

fn without_session(page: &str) -> String {
    let Some((before, rest)) = page.split_once(BEGIN) else { return page.to_owned() };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    format!("{before}{after}")
}

fn cut_at<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memchr::memmem::find(bytes, mark)?;
    Some((&bytes[..at], &bytes[at + mark.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!doctype html>\n<body>\n<div id=\"app\"></div>\n<script>app</script>\n</body>";

    #[test]
    fn what_goes_in_comes_out() {
        let saved = with_session(PAGE, b"\x1f\x8bpacked", "#on=0.0&ns=1-2").unwrap();
        assert_eq!(session_of(&saved).unwrap(), b"\x1f\x8bpacked");
        let text = String::from_utf8(saved).unwrap();
        assert!(text.contains("id=\"session\" data-view=\"#on=0.0&ns=1-2\">"));
        assert!(text.find("session") < text.find("<script>app"));
    }

    #[test]
    fn a_saved_page_saved_again_has_one_session() {
        let once = String::from_utf8(with_session(PAGE, b"one", "").unwrap()).unwrap();
        let twice = with_session(&once, b"two", "").unwrap();
        assert_eq!(session_of(&twice).unwrap(), b"two");
        assert_eq!(String::from_utf8(twice).unwrap(), String::from_utf8(with_session(PAGE, b"two", "").unwrap()).unwrap());
    }

    #[test]
    fn a_page_that_cannot_be_read_says_why() {
        let code_of = |html: &[u8]| {
            let Session { captures, reports } = open("a/x.html", html);
            assert!(captures.is_empty() && reports[0].captures.is_empty());
            (reports[0].warnings[0].code.clone(), reports[0].warnings[0].message.clone())
        };
        assert_eq!(code_of(PAGE.as_bytes()).0, "no-session");
        let saved = with_session(PAGE, b"another/1\n", "").unwrap();
        let (code, message) = code_of(&saved);
        assert!(code == "damaged-file" && message.contains("its format is \"another/1\""), "{message}");
        for cut in saved.len() - 60..saved.len() - 40 {
            assert_eq!(code_of(&saved[..cut]).0, "damaged-file", "{cut}");
        }
        assert_eq!(view_of(&with_session(PAGE, b"", "#on=0.0&ns=1-2").unwrap()), "#on=0.0&ns=1-2");
        assert_eq!(view_of(PAGE.as_bytes()), "");
    }

    #[test]
    fn a_view_cannot_end_the_element() {
        let saved = String::from_utf8(with_session(PAGE, b"", "\"></script><b>").unwrap()).unwrap();
        assert!(saved.contains("data-view=\"scriptb\">"));
        assert!(with_session("<p>another page</p>", b"", "").is_err());
        assert!(session_of(PAGE.as_bytes()).is_none());
    }
}
