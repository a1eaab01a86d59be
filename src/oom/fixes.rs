//! What can be changed about a step that does not fit: each fix once, with what it costs and how it is confirmed.

use super::xplane_report::Fix;

/// How a change of the program is confirmed before it runs.
const ANALYSIS: &str = "jit(f).lower(*args).compile().memory_analysis()";
/// How a change around the program is confirmed.
const CAPTURE: &str = "capture again and compare the memory used at the start of the last executions";
/// How a change of the pool is confirmed.
const STATS: &str = "jax.devices()[0].memory_stats()[\"bytes_limit\"]";

/// One kind of fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Keep less of the forward pass.
    Checkpoint,
    /// Less at once.
    MicroBatch,
    /// Shorter sequences.
    ShorterSequence,
    /// Attention without its scores in memory.
    FusedAttention,
    /// Every device holds a part.
    Fsdp,
    /// Gradients in 16 bits.
    NarrowGradients,
    /// Fewer or smaller library calls.
    SmallerWorkspace,
    /// Outputs in the memory of inputs.
    Donate,
    /// Let go of arrays.
    DropReference,
    /// Less of each step's results.
    ReduceInside,
    /// Results on the host.
    DeviceGet,
    /// Arrays on the host until they are needed.
    StreamFromHost,
    /// Arrays in a smaller type.
    SmallerType,
    /// An earlier start of the capture.
    ProfileEarlier,
    /// A larger pool.
    RaisePool,
    /// Another allocator, or allocations that fit together.
    Defragment,
    /// A program that needs no rematerialization.
    ChangeProgram,
}

struct Entry {
    kind: Kind,
    code: &'static str,
    action: &'static str,
    cost: &'static str,
    confirm: &'static str,
}

const FIXES: [Entry; 17] = [
    Entry { kind: Kind::Checkpoint, code: "checkpoint", action: "jax.checkpoint on the block", cost: "about one more forward pass", confirm: ANALYSIS },
    Entry {
        kind: Kind::MicroBatch,
        code: "micro-batch",
        action: "half the batch at once, gradients accumulated over two",
        cost: "two smaller steps for one",
        confirm: ANALYSIS,
    },
    Entry {
        kind: Kind::ShorterSequence,
        code: "shorter-sequence",
        action: "half the sequence length (buffers of S × S shrink to a quarter)",
        cost: "shorter context",
        confirm: ANALYSIS,
    },
    Entry {
        kind: Kind::FusedAttention,
        code: "fused-attention",
        action: "fused attention (jax.nn.dot_product_attention), which keeps no scores",
        cost: "none to speak of where the device has a kernel for it",
        confirm: ANALYSIS,
    },
    Entry {
        kind: Kind::Fsdp,
        code: "fsdp",
        action: "shard parameters, gradients and optimizer state over two devices (FSDP)",
        cost: "communication in each layer",
        confirm: ANALYSIS,
    },
    Entry {
        kind: Kind::NarrowGradients,
        code: "narrow-gradients",
        action: "gradients in bfloat16, without their float32 copies",
        cost: "less precise sums",
        confirm: ANALYSIS,
    },
    Entry {
        kind: Kind::SmallerWorkspace,
        code: "smaller-workspace",
        action: "less scratch for libraries (another algorithm, a smaller batch of the call)",
        cost: "perhaps a slower kernel",
        confirm: ANALYSIS,
    },
    Entry {
        kind: Kind::Donate,
        code: "donate",
        action: "donate_argnums for the state in jax.jit",
        cost: "the donated arrays cannot be used after the call",
        confirm: ANALYSIS,
    },
    Entry { kind: Kind::DropReference, code: "drop-reference", action: "drop the reference to each step's outputs", cost: "none", confirm: CAPTURE },
    Entry {
        kind: Kind::ReduceInside,
        code: "reduce-inside",
        action: "reduce what is kept inside the step (a mean, a norm)",
        cost: "the full values are gone",
        confirm: CAPTURE,
    },
    Entry { kind: Kind::DeviceGet, code: "device-get", action: "jax.device_get what must be kept", cost: "a copy to the host in each step", confirm: CAPTURE },
    Entry {
        kind: Kind::StreamFromHost,
        code: "stream-from-host",
        action: "keep them on the host and send what the step needs, or free them (del, array.delete())",
        cost: "a copy to the device in each step",
        confirm: CAPTURE,
    },
    Entry {
        kind: Kind::SmallerType,
        code: "smaller-type",
        action: "a smaller type for them (bfloat16 for float32)",
        cost: "less precise values",
        confirm: CAPTURE,
    },
    Entry {
        kind: Kind::ProfileEarlier,
        code: "profile-earlier",
        action: "start the capture earlier, so that it says where they come from",
        cost: "a larger capture",
        confirm: CAPTURE,
    },
    Entry {
        kind: Kind::RaisePool,
        code: "raise-pool",
        action: "raise XLA_PYTHON_CLIENT_MEM_FRACTION, if nothing else uses the GPU",
        cost: "less for other processes",
        confirm: STATS,
    },
    Entry {
        kind: Kind::Defragment,
        code: "defragment",
        action: "allocate long-lived arrays before the first step; TF_GPU_ALLOCATOR=cuda_malloc_async or a larger pool",
        cost: "a restart",
        confirm: CAPTURE,
    },
    Entry {
        kind: Kind::ChangeProgram,
        code: "change-program",
        action: "change the program (checkpoint, smaller batch): XLA has done what it can",
        cost: "depends on the change",
        confirm: ANALYSIS,
    },
];

/// Makes fixes for a step that needs so much on a device that has so much.
#[derive(Debug, Clone, Copy)]
pub struct Fixes {
    /// What must fit: the plan, and where it is known what else is alive.
    pub wanted_bytes: Option<i64>,
    /// What there is.
    pub capacity_bytes: Option<i64>,
}

impl Fixes {
    /// A fix that saves so much; `None` where a capture does not tell.
    pub fn fix(&self, kind: Kind, saves_bytes: Option<i64>) -> Fix {
        // The table has every kind: a test says so.
        let entry = FIXES.iter().find(|entry| entry.kind == kind).unwrap_or(&FIXES[0]);
        let fits_after = match (saves_bytes, self.wanted_bytes, self.capacity_bytes) {
            (Some(saves), Some(wanted), Some(capacity)) => Some(wanted.saturating_sub(saves) < capacity),
            _ => None,
        };
        Fix {
            code: entry.code.to_owned(),
            action: entry.action.to_owned(),
            saves_bytes,
            fits_after,
            cost: entry.cost.to_owned(),
            basis: "estimated".to_owned(),
            confirm: entry.confirm.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_in_the_table_once_in_order() {
        assert!(FIXES.iter().enumerate().all(|(at, entry)| entry.kind as usize == at));
        assert_eq!(Kind::ChangeProgram as usize + 1, FIXES.len());
    }

    #[test]
    fn whether_it_fits_is_said_where_it_can_be() {
        let fixes = Fixes { wanted_bytes: Some(100), capacity_bytes: Some(80) };
        assert_eq!(fixes.fix(Kind::Donate, Some(21)).fits_after, Some(true));
        assert_eq!(fixes.fix(Kind::Donate, Some(20)).fits_after, Some(false));
        assert_eq!(fixes.fix(Kind::Donate, None).fits_after, None);
        assert_eq!(Fixes { capacity_bytes: None, ..fixes }.fix(Kind::Donate, Some(21)).fits_after, None);
    }
}
