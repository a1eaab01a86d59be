//! A capture for tests of rules.

use super::case::{Case, default_module};
use super::diagnose;
use crate::error::MadeOn;
use crate::oom::xplane_report::Diagnosis;
use crate::xplane::capture::Capture;
use crate::xplane::plan::{HeapPeak, Parameters, Plan, Square};
use crate::xplane::runtime::Runtime;
use crate::xplane::runtime::allocator::{Allocator, Change};
use crate::xplane::runtime::execution::Execution;
use std::collections::BTreeMap;

pub(super) const MIB: i64 = 1 << 20;

/// Sizes in MiB: 100 of parameters, 10 of outputs, 200 of temporaries.
pub(super) fn plan() -> Plan {
    Plan {
        name: "jit_f(1)".to_owned(),
        parameters: Parameters { bytes: 100 * MIB, count: 2, donated_bytes: 100 * MIB, donated_count: 2, ..Parameters::default() },
        non_aliased_outputs_bytes: 10 * MIB,
        output_bytes: vec![10 * MIB],
        temp_bytes: 200 * MIB,
        has_gradient: true,
        heap: Some(HeapPeak {
            replay_bytes: 200 * MIB,
            roles: [150 * MIB, 30 * MIB, 0, 20 * MIB],
            square: Square { bytes: 40 * MIB, count: 2 },
            ..HeapPeak::default()
        }),
        ..Plan::default()
    }
}

/// A capture of one device: what was in use at each execution, in MiB.
pub(super) fn capture(plan: Plan, capacity: i64, used: &[i64], launched: bool) -> Capture {
    let change = |(at, &used): (usize, &i64)| Change {
        time_ps: at as i64 * 100,
        bytes: used * MIB,
        address: 1,
        allocated_bytes: used * MIB,
        available_bytes: (capacity - used) * MIB,
        largest_free_bytes: (capacity - used) * MIB / 2,
        owner: Some(0),
    };
    let mut runtime = Runtime::default();
    runtime.allocators.push(Allocator {
        name: "GPU_0_bfc".to_owned(),
        device: Some(0),
        capacity_bytes: capacity * MIB,
        peak_bytes: used.iter().max().map_or(0, |used| used * MIB),
        first_peak_bytes: 0,
        changes: used.iter().enumerate().map(change).collect(),
        owners: vec!["outputs of jit_g execution 1".to_owned()],
    });
    runtime.executions = used
        .iter()
        .enumerate()
        .map(|(at, used)| Execution {
            device: Some(0),
            module: plan.name.as_str().into(),
            n: at as u64 + 1,
            start_ps: at as i64 * 100 + 50,
            end_ps: at as i64 * 100 + 60,
            launched: Some(launched),
            used_bytes: Some(used * MIB),
            ..Execution::default()
        })
        .collect();
    Capture {
        source: "a.xplane.pb".to_owned(),
        host: None,
        jax: None,
        jaxlib: None,
        plans: vec![plan],
        runtime,
        hbm_bytes: BTreeMap::from([(0, 1000 * MIB)]),
        made_on: MadeOn::Gpu,
        tensorflow: false,
        is_xspace: true,
        warnings: Vec::new(),
    }
}

pub(super) fn told(capture: &Capture) -> Vec<Diagnosis> {
    diagnose(&Case::of(capture, default_module(capture)))
}

pub(super) fn codes(capture: &Capture) -> Vec<String> {
    told(capture).into_iter().map(|diagnosis| diagnosis.code).collect()
}

pub(super) fn value(diagnosis: &Diagnosis, label: &str) -> i64 {
    diagnosis.numbers.iter().find(|number| number.label == label).unwrap().value
}
