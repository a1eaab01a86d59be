//! What the engine can be asked, a file a question. Its small answers are defined beside it, like those of [`super::messages`].

pub mod between;
pub mod block;
pub mod blocks;
pub mod chosen;
pub mod flame;
pub mod frame;
pub mod gantt;
pub mod growth;
pub mod histogram;
pub mod jax;
pub mod jump;
pub(super) mod kept;
pub mod lanes;
pub mod live;
pub mod reserve;
pub mod rows;
pub mod search;
pub mod select;
pub mod table;
pub mod top;
