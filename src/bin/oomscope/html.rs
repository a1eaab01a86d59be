//! `--html`: the built page with the captures in it. The program carries the page only where it was built with the feature `page`.

use oomscope::ascend::capture::Capture;
use oomscope::oom::read::ReadReport;
use oomscope::session::page::with_session;
use oomscope::session::{Held, Include, write};
use oomscope::xplane::capture as xplane;

#[cfg(feature = "page")]
const PAGE: Option<&str> = Some(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/dist/index.html")));
#[cfg(not(feature = "page"))]
const PAGE: Option<&str> = None;

/// Why there is no page to write, where there is none.
pub fn missing() -> Option<String> {
    PAGE.is_none().then(|| {
        "--html: this program was built without the page. `make cli` builds one that carries it; or open the captures in the page, Export ▸ Save as HTML"
            .to_owned()
    })
}

/// The page with these captures in it.
pub fn page(ascend: &[Capture], jax: &[xplane::Capture], reports: &[ReadReport], include: Include) -> Result<Vec<u8>, String> {
    let page = PAGE.ok_or_else(|| missing().unwrap_or_default())?;
    let held: Vec<Held> = ascend.iter().map(Held::Ascend).chain(jax.iter().map(Held::Jax)).collect();
    with_session(page, &write(&held, reports, include).map_err(|error| format!("--html: {error}"))?, "")
}
