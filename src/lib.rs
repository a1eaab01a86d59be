//! oomscope reads a memory capture of a training job and says what filled the accelerator's memory, when, and which line asked for it.
//!
//! The map of the house; imports run one way, from the last line to the first:
//!
//! | module | what it is for |
//! |---|---|
//! | [`error`], [`units`] | problems as values with positions; decimal text to integers |
//! | [`scan`] | bytes in: resumable readers that do no I/O |
//! | [`timeline`] | blocks as columns and everything derived from them; knows no format |
//! | [`ascend`] | Ascend Profiler captures: finds them and fills the columns |
//! | [`xplane`] | JAX/XLA captures: the plans, and what happened at run time |
//! | [`oom`], [`draw`] | the report; charts and pictures |
//! | [`export`] | the report as JSON and text |
//! | [`session`] | all that the page shows as one file |
//! | [`selftest`] | small captures whose values are known |
//! | `web`, `bin` | the only ones that know JavaScript, and files |

pub mod ascend;
pub mod draw;
pub mod error;
pub mod export;
pub mod oom;
pub mod scan;
pub mod selftest;
pub mod session;
pub mod timeline;
pub mod units;
#[cfg(target_arch = "wasm32")]
#[allow(missing_docs)]
pub mod web;
pub mod xplane;
