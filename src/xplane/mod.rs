//! JAX/XLA captures (`*.xplane.pb`): the plan of each compiled module, and what the allocators and the host did at run time.

pub mod capture;
pub mod discover;
pub mod events;
pub mod heap;
pub mod hlo;
pub mod look;
pub mod names;
mod place;
pub mod plan;
pub mod roles;
pub mod runtime;
pub mod space;
pub mod sweep;
