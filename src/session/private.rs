//! Texts without the folders of the machine they come from. Files keep their names; of libraries also the path within them, for that is
//! everybody's, and tells a library's frame from the user's own.

use serde_json::Value;

/// From here on a path is a library's.
const LIBRARIES: [&str; 4] = ["site-packages", "dist-packages", "torch", "torch_npu"];

/// The folders below which captures were found, each with a slash at its end, the longest first.
pub struct Folders(Vec<String>);

impl Folders {
    /// Of the head of a session: of all its captures and reports.
    pub fn of(head: &Value) -> Folders {
        let captures = head["captures"].as_array().into_iter().flatten();
        let reports = head["reports"].as_array().into_iter().flatten();
        let read = reports.clone().flat_map(|report| report["captures"].as_array().into_iter().flatten()).map(|capture| &capture["source"]);
        let sources = captures
            .flat_map(|capture| [&capture["ascend"]["facts"]["source"], &capture["xplane"]["source"]])
            .chain(reports.map(|report| &report["file"]))
            .chain(read);
        let mut folders: Vec<String> = sources.filter_map(|source| Some(source.as_str()?.rsplit_once('/')?.0.to_owned() + "/")).collect();
        folders.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        folders.dedup();
        Folders(folders)
    }
}

/// The text without folders: those of captures, those of every frame of a call stack, and those of every path from a root.
///
/// ```
/// use oomscope::session::private::{Folders, without_folders};
/// let folders = Folders::of(&serde_json::json!({"captures": [{"ascend": {"facts": {"source": "run/actor/x_ascend_pt"}}}]}));
/// let bare = |text| without_folders(text, &folders);
/// assert_eq!(bare("run/actor/x_ascend_pt/trace_view.json: cut"), "x_ascend_pt/trace_view.json: cut");
/// assert_eq!(bare("/home/ann/train me.py(3): f;\r\n/opt/lib/site-packages/ray/worker.py(9): g"), "train me.py(3): f;\r\nsite-packages/ray/worker.py(9): g");
/// assert_eq!(bare("jit(step)/transpose(jvp)/mul"), "jit(step)/transpose(jvp)/mul");
/// ```
pub fn without_folders(text: &str, Folders(folders): &Folders) -> String {
    let text = folders.iter().fold(text.to_owned(), |text, folder| text.replace(folder, ""));
    text.split_inclusive([';', '\n']).map(|part| if is_frame(part) { bare_frame(part) } else { bare_words(part) }).collect()
}

/// `path(3): function`
fn is_frame(part: &str) -> bool {
    part.split_once('(').is_some_and(|(_, rest)| rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with("):"))
}

fn bare_frame(part: &str) -> String {
    let (path, rest) = part.split_at(part.find('(').unwrap_or(part.len()));
    let start = path.len() - path.trim_start().len();
    format!("{}{}{rest}", &path[..start], bare_path(&path[start..]))
}

/// A text that is a path from a root, or a sentence in which such paths are words.
fn bare_words(part: &str) -> String {
    if is_rooted(part) {
        return bare_path(part).to_owned();
    }
    part.split_inclusive([' ', '\t', '\r', '"', '\'', '“', '”', '(', ',', '=']).map(|word| if is_rooted(word) { bare_path(word) } else { word }).collect()
}

/// `/home/x` or `C:\x`.
fn is_rooted(text: &str) -> bool {
    let bytes = text.as_bytes();
    let drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && (bytes[2] == b'\\' || bytes[2] == b'/');
    drive || (bytes.starts_with(b"/") && bytes[1..].contains(&b'/'))
}

fn bare_path(path: &str) -> &str {
    let separator = |c: char| c == '/' || c == '\\';
    let mut from = 0;
    for part in path.split(separator) {
        if LIBRARIES.contains(&part) {
            return &path[from..];
        }
        from += part.len() + 1;
    }
    path.rsplit(separator).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_in_sentences_and_alone() {
        let bare = |text: &str| without_folders(text, &Folders(Vec::new()));
        assert_eq!(bare("/usr/lib/python3/secret/x.py"), "x.py");
        assert_eq!(bare(r"C:\Users\ann\x.py(12): main"), "x.py(12): main");
        assert_eq!(bare("cannot read “/data/ann/x.csv”: gone"), "cannot read “x.csv”: gone");
        assert_eq!(bare("src/mine/a.py(1): f"), "a.py(1): f");
        assert_eq!(bare("GB/s and 1/2 and / and /x"), "GB/s and 1/2 and / and /x");
        assert_eq!(bare("nn.Module: Linear_0"), "nn.Module: Linear_0");
    }

    #[test]
    fn folders_of_captures_and_reports() {
        let head = json!({
            "captures": [{"ascend": {"facts": {"source": "a/b/x_ascend_pt"}}}, {"xplane": {"source": "a/h.xplane.pb"}}, {"ascend": {"facts": {"source": "alone"}}}],
            "reports": [{"file": "r/1.json", "captures": [{"source": "q/y_ascend_pt"}]}],
        });
        assert_eq!(Folders::of(&head).0, ["a/b/", "a/", "q/", "r/"]);
    }
}
