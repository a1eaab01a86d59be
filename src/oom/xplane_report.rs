//! The part of the report that a JAX/XLA capture fills: what the schema `oomscope.report/1` says of kind `xplane`.

use crate::error::{Arg, Warning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One JAX/XLA capture. Times are nanoseconds since the profile's start.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[allow(missing_docs)] // The names are those of the schema.
pub struct XplaneReport {
    pub source: String,
    pub host: Option<String>,
    pub versions: JaxVersions,
    /// By needed bytes, the largest first, then name.
    pub modules: Vec<ModuleReport>,
    pub chosen_module: Option<String>,
    pub allocators: Vec<PoolReport>,
    pub executions: Vec<ExecutionReport>,
    pub retries: Vec<RetryReport>,
    pub live_at_last_start: Vec<LiveReport>,
    pub between_last_two: Vec<HostEventReport>,
    /// The gravest first.
    pub diagnosis: Vec<Diagnosis>,
    pub warnings: Vec<Warning>,
}

/// What wrote the capture.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct JaxVersions {
    pub jax: Option<String>,
    pub jaxlib: Option<String>,
}

/// The plan of one compiled module.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ModuleReport {
    pub name: String,
    pub program_id: Option<i64>,
    pub executions: u64,
    /// Of its last execution; `null` where that cannot be known.
    pub launched: Option<bool>,
    pub parameters: ParametersReport,
    pub non_aliased_outputs_bytes: i64,
    pub constants_bytes: i64,
    pub thread_local_bytes: i64,
    pub temp_bytes: i64,
    pub needed_bytes: i64,
    pub other_spaces: Vec<SpaceReport>,
    pub xla_rematerialized: u64,
    /// `null` for a module without temporary memory.
    pub heap_peak: Option<HeapPeakReport>,
}

/// What a module is called with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ParametersReport {
    pub bytes: i64,
    pub count: u64,
    pub donated_bytes: i64,
    pub donated_count: u64,
}

/// Memory of another space than the device's.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SpaceReport {
    pub memory_space: i64,
    pub bytes: i64,
}

/// The instant of the schedule at which the plan holds most.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HeapPeakReport {
    pub replay_bytes: i64,
    pub bytes: i64,
    pub plan_fragmentation_bytes: i64,
    pub roles: Vec<RoleReport>,
    pub buffers: Vec<BufferReport>,
}

/// What the buffers of one role hold together.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct RoleReport {
    pub role: String,
    pub bytes: i64,
}

/// Equal buffers that live at the peak.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct BufferReport {
    pub name: String,
    pub shape: String,
    pub bytes: i64,
    pub role: String,
    pub via: Option<String>,
    pub op_name: String,
    pub file: Option<String>,
    pub line: Option<i64>,
    pub function: Option<String>,
    pub count: u64,
}

/// An allocator and what it held.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PoolReport {
    pub name: String,
    pub device: Option<i64>,
    pub capacity_bytes: i64,
    pub events: u64,
    pub peak_bytes: i64,
    pub peak_before_first_execution_bytes: i64,
    /// `null`: the capture has no plane of that device that says it.
    pub hbm_bytes: Option<i64>,
}

/// One execution of a module on one device.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ExecutionReport {
    pub device: Option<i64>,
    pub module: String,
    pub n: u64,
    pub start_ns: i64,
    pub duration_ns: i64,
    pub launched: Option<bool>,
    pub used_at_start_bytes: Option<i64>,
}

/// The allocator waiting for memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct RetryReport {
    pub device: Option<i64>,
    pub start_ns: i64,
    pub duration_ns: i64,
    pub module: Option<String>,
    pub execution: Option<u64>,
    /// No event says so; it follows from how long something took.
    pub inferred: bool,
}

/// What was alive when the chosen module last began on one device; the groups sum to what was used.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct LiveReport {
    pub device: Option<i64>,
    pub execution: u64,
    pub used_bytes: i64,
    pub groups: Vec<OwnerReport>,
}

/// Blocks of one owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct OwnerReport {
    pub owner: String,
    pub bytes: i64,
    pub blocks: u64,
}

/// What the host did between the last two executions of the chosen module.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HostEventReport {
    pub device: Option<i64>,
    pub start_ns: i64,
    pub duration_ns: i64,
    pub name: String,
    pub highlight: bool,
}

/// A verdict.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Diagnosis {
    pub code: String,
    pub severity: String,
    /// The sentence in English; a page renders its own from `code` and `args`.
    pub text: String,
    pub args: BTreeMap<String, Arg>,
    pub numbers: Vec<Number>,
    pub fixes: Vec<Fix>,
}

/// A figure and where it comes from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Number {
    pub label: String,
    pub value: i64,
    pub unit: String,
    pub basis: String,
}

/// What to change, and what that would save.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Fix {
    pub action: String,
    /// `null`: cannot be estimated from a capture.
    pub saves_bytes: Option<i64>,
    pub fits_after: Option<bool>,
    pub cost: String,
    pub basis: String,
    pub confirm: String,
}
