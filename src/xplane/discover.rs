//! Finds the JAX/XLA captures in a list of paths: `*.xplane.pb`, packed or not, wherever they lie
//! (`plugins/profile/<time>/<host>.xplane.pb` as a rule, one a host).

use serde::{Deserialize, Serialize};

/// A capture's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(target_arch = "wasm32", derive(tsify::Tsify))]
pub struct XplaneFile {
    /// Its path below what was opened.
    pub source: String,
    /// Its index in the list of paths.
    pub file: usize,
}

/// Finds every capture, sorted by source.
///
/// ```
/// let found = oomscope::xplane::discover::discover(&["run/b.xplane.pb.gz", "run/b.hlo_proto.pb", "run/a.xplane.pb"]);
/// assert_eq!(found.iter().map(|capture| &capture.source[..]).collect::<Vec<_>>(), ["run/a.xplane.pb", "run/b.xplane.pb.gz"]);
/// assert_eq!(found[0].file, 2);
/// ```
pub fn discover<P: AsRef<str>>(paths: &[P]) -> Vec<XplaneFile> {
    let is_xplane = |path: &str| path.strip_suffix(".gz").unwrap_or(path).ends_with(".xplane.pb");
    let named = paths.iter().enumerate().filter(|(_, path)| is_xplane(path.as_ref()));
    let mut found: Vec<XplaneFile> = named.map(|(file, path)| XplaneFile { source: path.as_ref().to_owned(), file }).collect();
    found.sort_by(|a, b| a.source.cmp(&b.source));
    found
}
