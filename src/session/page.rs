//! A session in the page's own HTML: one file that shows it wherever it is opened.

use base64::{Engine, engine::general_purpose::STANDARD};

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
    STANDARD.decode(text).ok()
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
    fn a_view_cannot_end_the_element() {
        let saved = String::from_utf8(with_session(PAGE, b"", "\"></script><b>").unwrap()).unwrap();
        assert!(saved.contains("data-view=\"scriptb\">"));
        assert!(with_session("<p>another page</p>", b"", "").is_err());
        assert!(session_of(PAGE.as_bytes()).is_none());
    }
}
