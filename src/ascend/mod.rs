//! Ascend Profiler captures (`*_ascend_pt`, `*_ascend_ms`, msprof): which files belong together, and how each is read.

pub mod budget;
pub mod capture;
pub mod choice;
pub mod discover;
pub mod flame;
pub mod grouping;
pub mod operator_memory;
pub mod profiler_info;
pub mod reserved;
pub mod select;
pub mod stacks;
pub mod table;
mod trace_event;
pub mod trace_parts;
pub mod trace_view;
