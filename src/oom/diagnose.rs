//! The verdicts on a JAX capture: rules as data, each with its condition, its sentence and its fixes. Every figure says whether it was
//! measured (events of the run), read (the compiled plan) or estimated (arithmetic on these).

use super::fixes::{Fixes, Kind};
use super::xplane_report::{Diagnosis, Fix, Number};
use crate::error::{Arg, MadeOn, no_hlo_proto};
use crate::units::{human_bytes, human_ns};
use crate::xplane::capture::Capture;
use crate::xplane::plan::{Plan, bare_name};
use crate::xplane::roles::Role;
use crate::xplane::runtime::allocator::Allocator;
use crate::xplane::runtime::execution::Execution;
use crate::xplane::runtime::owners::{BEFORE, Owned};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// A role that fills so much of the temporaries is what to change.
const MAIN_ROLE_PERMILLE: i64 = 500;
/// With less temporary memory than this share of what is needed, roles explain little.
const TEMP_MATTERS_PERMILLE: i64 = 200;
/// What checkpointing frees of what the forward pass keeps: the blocks' inputs stay.
const CHECKPOINT_SAVES_PERMILLE: i64 = 800;
/// So many executions show a trend.
const GROWTH_EXECUTIONS: usize = 3;
/// Growth below this is noise, and so is growth below this share of the capacity.
const GROWTH_AT_LEAST_BYTES: i64 = 1 << 20;
const GROWTH_AT_LEAST_PERMILLE: i64 = 1;
/// So many of the differences must be growth.
const GROWING_PERMILLE: usize = 800;
/// Growth by as much as the outputs: between these shares of them.
const SAME_AS_OUTPUTS_PERMILLE: std::ops::RangeInclusive<i64> = 900..=1100;
/// Donation is worth a word from this share of what is needed.
const DONATION_MATTERS_PERMILLE: i64 = 10;
/// Other arrays matter from this share of the capacity.
const OTHERS_MATTER_PERMILLE: i64 = 100;
/// A margin below this share of the capacity is small.
const NEAR_LIMIT_PERMILLE: i64 = 50;
/// A pool below this share of the device's memory was limited by somebody.
const POOL_OF_HBM_PERMILLE: i64 = 600;
/// What op-by-op programs look like.
const EAGER_EXECUTIONS: usize = 20;
const EAGER_MODULES: usize = 5;
const EAGER_PLAN_BELOW_BYTES: i64 = 64 << 20;

/// What the rules look at.
pub struct Case<'a> {
    /// The capture.
    pub capture: &'a Capture,
    /// The module in question.
    pub module: Option<&'a str>,
    plan: Option<&'a Plan>,
    allocator: Option<&'a Allocator>,
    /// Of the module on the device in question, by start.
    executions: Vec<&'a Execution>,
    /// Alive at the last start.
    live: Vec<Owned>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    Error,
    Warning,
    Info,
}

/// What a rule found.
struct Found {
    severity: Severity,
    text: String,
    args: Vec<(&'static str, Arg)>,
    numbers: Vec<Number>,
    fixes: Vec<Fix>,
}

struct Rule {
    code: &'static str,
    find: fn(&Case) -> Vec<Found>,
}

/// In the order in which verdicts of one severity are told.
const RULES: [Rule; 13] = [
    Rule { code: "step-does-not-fit", find: step_does_not_fit },
    Rule { code: "fits-alone", find: fits_alone },
    Rule { code: "grows-per-execution", find: grows },
    Rule { code: "not-donated", find: not_donated },
    Rule { code: "other-live-arrays", find: other_live_arrays },
    Rule { code: "allocator-retry", find: allocator_retry },
    Rule { code: "fragmentation", find: fragmentation },
    Rule { code: "xla-rematerialized", find: xla_rematerialized },
    Rule { code: "near-limit", find: near_limit },
    Rule { code: "capacity-below-hbm", find: capacity_below_hbm },
    Rule { code: "no-gradient", find: no_gradient },
    Rule { code: "eager", find: eager },
    Rule { code: "missing-data", find: missing_data },
];

/// The verdicts, the gravest first.
pub fn diagnose(case: &Case) -> Vec<Diagnosis> {
    let mut found: Vec<(Severity, Diagnosis)> = Vec::new();
    for rule in &RULES {
        for Found { severity, text, args, numbers, fixes } in (rule.find)(case) {
            let name = match severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "info",
            };
            let args: BTreeMap<String, Arg> = args.into_iter().map(|(key, arg)| (key.to_owned(), arg)).collect();
            found.push((severity, Diagnosis { code: rule.code.to_owned(), severity: name.to_owned(), text, args, numbers, fixes }));
        }
    }
    found.sort_by_key(|(severity, _)| *severity);
    found.into_iter().map(|(_, diagnosis)| diagnosis).collect()
}

/// The module to speak of where nobody names one: whose last execution launched nothing, else the largest that ran, else the largest plan.
pub fn default_module(capture: &Capture) -> Option<&str> {
    let executions = &capture.runtime.executions;
    let last: BTreeMap<(&str, Option<i64>), &Execution> = executions.iter().map(|execution| ((&execution.module[..], execution.device), execution)).collect();
    let idle = last.values().filter(|execution| execution.launched == Some(false)).max_by_key(|execution| execution.start_ps);
    let by_size = |a: &&Plan, b: &&Plan| a.needed_bytes().cmp(&b.needed_bytes()).then_with(|| b.name.cmp(&a.name));
    let ran = |plan: &&Plan| last.keys().any(|(module, _)| *module == plan.name);
    let largest = || capture.plans.iter().filter(ran).max_by(by_size).or_else(|| capture.plans.iter().max_by(by_size)).map(|plan| &plan.name[..]);
    idle.map(|execution| &execution.module[..]).or_else(largest).or_else(|| executions.last().map(|execution| &execution.module[..]))
}

impl<'a> Case<'a> {
    /// The case of a module, on the device where it went worst: where it launched nothing, else where most was in use.
    pub fn of(capture: &'a Capture, module: Option<&'a str>) -> Case<'a> {
        let by_device = module.map(|module| capture.runtime.by_device(module)).unwrap_or_default();
        let worst = by_device.into_iter().filter(|(_, executions)| !executions.is_empty()).max_by_key(|(device, executions)| {
            let last = executions.last();
            (last.is_some_and(|last| last.launched == Some(false)), last.and_then(|last| last.used_bytes), std::cmp::Reverse(*device))
        });
        let (device, executions) = worst.unwrap_or((None, Vec::new()));
        let gpus = || capture.runtime.allocators.iter().filter(|allocator| allocator.device.is_some());
        let allocator = capture.runtime.allocator(device).or_else(|| gpus().max_by_key(|allocator| allocator.peak_bytes));
        let live = allocator.zip(executions.last()).map(|(allocator, last)| allocator.live_before(last.start_ps)).unwrap_or_default();
        Case { capture, module, plan: module.and_then(|module| capture.plan(module)), allocator, executions, live }
    }

    fn capacity(&self) -> Option<i64> {
        self.allocator.map(|allocator| allocator.capacity_bytes)
    }

    fn used(&self) -> Option<i64> {
        self.executions.last()?.used_bytes
    }

    /// What an execution adds to what is alive when it starts.
    fn adds(&self) -> Option<i64> {
        self.plan.map(|plan| plan.non_aliased_outputs_bytes.saturating_add(plan.temp_bytes))
    }

    /// What must fit: the plan alone, or beside the other arrays where these are known.
    fn fixes(&self) -> Fixes {
        let beside = self.used().zip(self.adds()).map(|(used, adds)| used.saturating_add(adds));
        Fixes { wanted_bytes: self.plan.map(Plan::needed_bytes).max(beside), capacity_bytes: self.capacity() }
    }

    /// The largest owner that is not the module's parameters. These are in what was there before, else in the largest group.
    fn largest_other(&self) -> Option<Owned> {
        let parameters = self.plan?.parameters.bytes;
        let holder = self.live.iter().position(|owned| owned.owner == BEFORE && owned.bytes >= parameters).unwrap_or(0);
        let others = self
            .live
            .iter()
            .enumerate()
            .map(|(at, owned)| Owned { bytes: owned.bytes - if at == holder { parameters.min(owned.bytes) } else { 0 }, ..owned.clone() });
        others.filter(|owned| owned.bytes > 0).max_by(|a, b| a.bytes.cmp(&b.bytes).then_with(|| b.owner.cmp(&a.owner)))
    }
}

fn number(label: &str, value: i64, unit: &str, basis: &str) -> Number {
    Number { label: label.to_owned(), value, unit: unit.to_owned(), basis: basis.to_owned() }
}

fn read(label: &str, bytes: i64) -> Number {
    number(label, bytes, "byte", "read")
}

fn measured(label: &str, bytes: i64) -> Number {
    number(label, bytes, "byte", "measured")
}

fn estimated(label: &str, bytes: i64) -> Number {
    number(label, bytes, "byte", "estimated")
}

fn text(text: &str) -> Arg {
    Arg::Text(text.to_owned())
}

/// A part of a whole in thousandths, rounded half up.
fn permille(part: i64, whole: i64) -> i64 {
    if whole <= 0 { 0 } else { i64::try_from((i128::from(part) * 2000 + i128::from(whole)) / (i128::from(whole) * 2)).unwrap_or(i64::MAX) }
}

/// Whether a part is at least so many thousandths of a whole, exactly.
fn is_at_least(part: i64, whole: i64, permille: i64) -> bool {
    i128::from(part) * 1000 >= i128::from(whole) * i128::from(permille)
}

fn share(permille: i64) -> String {
    format!("{}.{} %", permille / 10, permille % 10)
}

fn one(found: Option<Found>) -> Vec<Found> {
    found.into_iter().collect()
}

fn step_does_not_fit(case: &Case) -> Vec<Found> {
    let found = || {
        let (plan, capacity) = (case.plan?, case.capacity()?);
        let needed = plan.needed_bytes();
        if needed <= capacity {
            return None;
        }
        let mut found = Found {
            severity: Severity::Error,
            text: format!("the step itself doesn't fit: needs {} > {}", human_bytes(needed), human_bytes(capacity)),
            args: vec![("needed", Arg::Number(needed)), ("capacity", Arg::Number(capacity))],
            numbers: vec![read("needed", needed), measured("capacity", capacity)],
            fixes: Vec::new(),
        };
        // The cheapest of all fixes, where it is one.
        if donation_matters(plan) {
            found.fixes.push(case.fixes().fix(Kind::Donate, Some(plan.donatable_bytes)));
        }
        role_advice(case, plan, &mut found);
        Some(found)
    };
    one(found())
}

/// Names the role that fills the temporaries, and what helps against it.
fn role_advice(case: &Case, plan: &Plan, found: &mut Found) {
    let fixes = case.fixes();
    let heap = plan.heap.as_ref().filter(|_| is_at_least(plan.temp_bytes, plan.needed_bytes(), TEMP_MATTERS_PERMILLE));
    let main = heap.and_then(|heap| {
        let (role, bytes) = Role::ALL.into_iter().zip(heap.roles).max_by_key(|(role, bytes)| (*bytes, std::cmp::Reverse(*role)))?;
        is_at_least(bytes, heap.replay_bytes, MAIN_ROLE_PERMILLE).then_some((heap, role, bytes))
    });
    let Some((heap, role, bytes)) = main else {
        if heap.is_none() {
            found.fixes.push(fixes.fix(Kind::Fsdp, Some((plan.needed_bytes() - plan.temp_bytes) / 2)));
        }
        return;
    };
    let part = permille(bytes, heap.replay_bytes);
    let what = match role {
        Role::Forward => "kept by the forward pass for the backward pass",
        Role::Backward => "the backward pass's own",
        Role::Workspace => "scratch of library calls",
        Role::Other => "of no role that is known",
    };
    found.text = format!("{}; {} of the temporaries at their peak is {what}", found.text, share(part));
    found.args.extend([("role", text(role.name())), ("permille", Arg::Number(part))]);
    found.numbers.extend([
        read("temporaries at their peak", heap.replay_bytes),
        read(role.name(), bytes),
        number("share of the temporaries", part, "permille", "estimated"),
    ]);
    let square = heap.square.bytes;
    match role {
        Role::Forward => {
            found.fixes.push(fixes.fix(Kind::Checkpoint, Some((i128::from(bytes) * i128::from(CHECKPOINT_SAVES_PERMILLE) / 1000) as i64)));
            found.fixes.push(fixes.fix(Kind::MicroBatch, Some(bytes / 2)));
            let narrow = square.min(bytes);
            found.fixes.push(fixes.fix(Kind::ShorterSequence, Some(narrow / 4 * 3 + (bytes - narrow) / 2)));
            if square > 0 {
                found.numbers.push(read("buffers with two equal trailing dimensions", square));
                found.fixes.push(fixes.fix(Kind::FusedAttention, Some(square)));
            }
        }
        Role::Backward => {
            found.fixes.push(fixes.fix(Kind::Fsdp, Some(bytes / 2)));
            found.fixes.push(fixes.fix(Kind::MicroBatch, None));
            found.fixes.push(fixes.fix(Kind::NarrowGradients, Some(bytes / 2)));
        }
        Role::Workspace => found.fixes.push(fixes.fix(Kind::SmallerWorkspace, None)),
        Role::Other => found.fixes.push(fixes.fix(Kind::MicroBatch, Some(bytes / 2))),
    }
}

fn fits_alone(case: &Case) -> Vec<Found> {
    let found = || {
        let (plan, capacity, used, adds) = (case.plan?, case.capacity()?, case.used()?, case.adds()?);
        let wanted = used.saturating_add(adds);
        if plan.needed_bytes() > capacity || wanted <= capacity {
            return None;
        }
        let fixes = Fixes { wanted_bytes: Some(wanted), capacity_bytes: Some(capacity) };
        let mut found = Found {
            severity: Severity::Error,
            text: format!(
                "the step fits alone, not beside the other arrays: {} used at its start + {} > {}",
                human_bytes(used),
                human_bytes(adds),
                human_bytes(capacity)
            ),
            args: vec![("used", Arg::Number(used)), ("adds", Arg::Number(adds)), ("capacity", Arg::Number(capacity))],
            numbers: vec![measured("used at the last start", used), read("outputs and temporaries", adds), measured("capacity", capacity)],
            fixes: Vec::new(),
        };
        if let Some(other) = case.largest_other() {
            found.text = format!("{}; the largest other is {}, {}", found.text, human_bytes(other.bytes), other.owner);
            found.args.extend([("owner", text(&other.owner)), ("bytes", Arg::Number(other.bytes))]);
            found.numbers.push(measured("largest other group", other.bytes));
            found.fixes.push(fixes.fix(Kind::StreamFromHost, Some(other.bytes)));
            found.fixes.push(fixes.fix(Kind::SmallerType, Some(other.bytes / 2)));
        }
        Some(found)
    };
    one(found())
}

/// The lower median of the growth from one execution to the next, without the first difference; `None` where it is none.
fn growth(executions: &[&Execution], capacity: i64) -> Option<i64> {
    let used: Vec<i64> = executions.iter().filter_map(|execution| execution.used_bytes).collect();
    if used.len() < GROWTH_EXECUTIONS {
        return None;
    }
    let mut grown: Vec<i64> = used.windows(2).skip(1).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    grown.sort_unstable();
    let growing = grown.iter().filter(|&&bytes| bytes > 0).count();
    let median = *grown.get((grown.len() - 1) / 2)?;
    let at_least = GROWTH_AT_LEAST_BYTES.max(capacity / 1000 * GROWTH_AT_LEAST_PERMILLE);
    (median >= at_least && growing * 1000 >= grown.len() * GROWING_PERMILLE).then_some(median)
}

/// How much of the non-aliased outputs that is, in thousandths.
fn of_outputs(grown: i64, plan: &Plan) -> i64 {
    let ratio = permille(grown, plan.non_aliased_outputs_bytes);
    if plan.non_aliased_outputs_bytes > 0 { ratio + i64::from(permille(grown.saturating_mul(10), plan.non_aliased_outputs_bytes) % 10 >= 5) } else { ratio }
}

/// Whether use grows by as much as each execution gives back.
fn keeps_outputs(case: &Case) -> bool {
    let ratio = case.plan.zip(case.capacity()).and_then(|(plan, capacity)| Some(of_outputs(growth(&case.executions, capacity)?, plan)));
    ratio.is_some_and(|ratio| SAME_AS_OUTPUTS_PERMILLE.contains(&ratio))
}

fn grows(case: &Case) -> Vec<Found> {
    let found = || {
        let (plan, capacity, used) = (case.plan?, case.capacity()?, case.used()?);
        let grown = growth(&case.executions, capacity)?;
        let first = case.executions.first()?.used_bytes?;
        let ratio = of_outputs(grown, plan);
        let left = capacity.saturating_sub(used).saturating_sub(case.adds()?);
        let more = left.div_euclid(grown).max(0);
        let keeps = SAME_AS_OUTPUTS_PERMILLE.contains(&ratio);
        let cause = if keeps { "the program keeps each step's outputs" } else { "cause unclear" };
        let fixes = Fixes { wanted_bytes: used.checked_add(case.adds()?), capacity_bytes: Some(capacity) };
        let kept = used.saturating_sub(first);
        Some(Found {
            severity: Severity::Warning,
            text: format!(
                "grows by {} per execution = {}.{:02}× the non-aliased outputs, used {} → {}: {cause}; room for {more} more",
                human_bytes(grown),
                (ratio + 5) / 1000,
                (ratio + 5) % 1000 / 10,
                human_bytes(first),
                human_bytes(used)
            ),
            args: vec![
                ("grown", Arg::Number(grown)),
                ("ratio_permille", Arg::Number(ratio)),
                ("first", Arg::Number(first)),
                ("last", Arg::Number(used)),
                ("keeps", Arg::Number(i64::from(keeps))),
                ("more", Arg::Number(more)),
            ],
            numbers: vec![
                measured("growth per execution", grown),
                number("of the non-aliased outputs", ratio, "permille", "estimated"),
                measured("used at the first start", first),
                measured("used at the last start", used),
                read("non-aliased outputs", plan.non_aliased_outputs_bytes),
                number("more executions", more, "count", "estimated"),
            ],
            fixes: vec![fixes.fix(Kind::DropReference, Some(kept)), fixes.fix(Kind::ReduceInside, Some(kept)), fixes.fix(Kind::DeviceGet, Some(kept))],
        })
    };
    one(found())
}

fn donation_matters(plan: &Plan) -> bool {
    plan.donatable_bytes > 0 && is_at_least(plan.donatable_bytes, plan.needed_bytes(), DONATION_MATTERS_PERMILLE)
}

fn not_donated(case: &Case) -> Vec<Found> {
    let found = || {
        let plan = case.plan?;
        let saves = plan.donatable_bytes;
        if !donation_matters(plan) {
            return None;
        }
        let parameters = &plan.parameters;
        let who = if parameters.donated_count == 0 {
            "no parameter is donated".to_owned()
        } else {
            format!("only {} of {} parameters are donated", parameters.donated_count, parameters.count)
        };
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        Some(Found {
            severity: Severity::Warning,
            text: format!("{who}: donating the state can save up to {}", human_bytes(saves)),
            args: vec![
                ("donated", Arg::Number(count(parameters.donated_count))),
                ("count", Arg::Number(count(parameters.count))),
                ("saves", Arg::Number(saves)),
            ],
            numbers: vec![
                read("parameters", parameters.bytes),
                read("donated", parameters.donated_bytes),
                read("non-aliased outputs", plan.non_aliased_outputs_bytes),
                estimated("can be saved", saves),
            ],
            fixes: vec![case.fixes().fix(Kind::Donate, Some(saves))],
        })
    };
    one(found())
}

fn other_live_arrays(case: &Case) -> Vec<Found> {
    let found = || {
        let (plan, capacity, used) = (case.plan?, case.capacity()?, case.used()?);
        let others = used.saturating_sub(plan.parameters.bytes);
        if !is_at_least(others, capacity, OTHERS_MATTER_PERMILLE) {
            return None;
        }
        let largest = case.largest_other()?;
        // That each execution leaves its outputs was said: they are one cause.
        if keeps_outputs(case) && case.module.is_some_and(|module| largest.owner.starts_with(&format!("outputs of {} execution ", bare_name(module)))) {
            return None;
        }
        let fixes = case.fixes();
        let came_before = largest.owner == BEFORE;
        let first = if came_before { fixes.fix(Kind::ProfileEarlier, None) } else { fixes.fix(Kind::StreamFromHost, Some(largest.bytes)) };
        Some(Found {
            severity: Severity::Warning,
            text: format!(
                "other live arrays take {} of the room; the largest group, {}, came from: {}",
                human_bytes(others),
                human_bytes(largest.bytes),
                largest.owner
            ),
            args: vec![("others", Arg::Number(others)), ("bytes", Arg::Number(largest.bytes)), ("owner", text(&largest.owner))],
            numbers: vec![
                measured("used at the last start", used),
                read("parameters", plan.parameters.bytes),
                estimated("other arrays", others),
                measured("largest other group", largest.bytes),
            ],
            fixes: vec![first, fixes.fix(Kind::SmallerType, Some(largest.bytes / 2))],
        })
    };
    one(found())
}

fn allocator_retry(case: &Case) -> Vec<Found> {
    let runtime = &case.capture.runtime;
    let Some(longest_ps) = runtime.retries.iter().map(|retry| retry.duration_ps).max() else { return Vec::new() };
    let idle = runtime.retries.iter().filter(|retry| retry.execution.is_some_and(|execution| runtime.executions[execution].launched == Some(false))).count();
    let count = runtime.retries.len();
    let inferred = runtime.retries.iter().filter(|retry| retry.inferred).count();
    let longest_ns = longest_ps.div_euclid(1000);
    let probable = if inferred == count { "probable " } else { "" };
    let waits = if count == 1 { format!("1 {probable}wait") } else { format!("{count} {probable}waits") };
    let launched = match (idle, count) {
        (0, _) => String::new(),
        (idle, count) if idle == count => ", launched none".to_owned(),
        (idle, _) => format!(", {idle} launched none"),
    };
    let basis = match inferred {
        0 => String::new(),
        inferred if inferred == count => " (inferred from how long it took: this version writes no AllocatorRetry event)".to_owned(),
        inferred => format!(" ({inferred} inferred from how long they took)"),
    };
    let whole = |count: usize| Arg::Number(count as i64);
    let mut numbers = vec![
        number("waits for memory", count as i64, "count", if inferred == count { "estimated" } else { "measured" }),
        number("longest", longest_ns, "ns", "measured"),
    ];
    if idle > 0 {
        numbers.push(number("launched none", idle as i64, "count", "measured"));
    }
    vec![Found {
        severity: if idle > 0 { Severity::Error } else { Severity::Warning },
        text: format!("AllocatorRetry: {waits} for memory, longest {}{launched}{basis}", human_ns(longest_ns)),
        args: vec![("count", whole(count)), ("idle", whole(idle)), ("inferred", whole(inferred)), ("longest_ns", Arg::Number(longest_ns))],
        numbers,
        fixes: Vec::new(),
    }]
}

/// What an execution that launched nothing asked for in vain: an output it did not get, else its temporary block.
pub fn failed_request(plan: &Plan, execution: &Execution) -> i64 {
    let mut missing = plan.output_bytes.clone();
    for request in &execution.requests {
        if let Some(at) = missing.iter().position(|output| output == request) {
            missing.remove(at);
        }
    }
    if execution.requests.len() >= plan.output_bytes.len() || missing.is_empty() { plan.temp_bytes } else { missing[0] }
}

fn fragmentation(case: &Case) -> Vec<Found> {
    let found = || {
        let (plan, allocator) = (case.plan?, case.allocator?);
        let execution = case.executions.iter().rev().find(|execution| execution.launched == Some(false))?;
        let request = failed_request(plan, execution);
        let waits = case.capture.runtime.retries.iter().filter(|retry| retry.device == execution.device && retry.start_ps >= execution.start_ps);
        let asked_ps = waits.map(|retry| retry.start_ps).min().unwrap_or(execution.start_ps).max(execution.start_ps.saturating_add(1));
        let before = allocator.last_before(asked_ps)?;
        let largest = before.largest_free_bytes;
        if request > before.available_bytes || request <= largest {
            return None;
        }
        Some(Found {
            severity: Severity::Warning,
            text: format!(
                "fragmentation: {} were free, but not in one piece: the largest was {}, and {} were asked for",
                human_bytes(before.available_bytes),
                human_bytes(largest),
                human_bytes(request)
            ),
            args: vec![("available", Arg::Number(before.available_bytes)), ("largest", Arg::Number(largest)), ("request", Arg::Number(request))],
            numbers: vec![measured("free", before.available_bytes), estimated("largest free chunk", largest), read("asked for", request)],
            fixes: vec![case.fixes().fix(Kind::Defragment, None)],
        })
    };
    one(found())
}

fn xla_rematerialized(case: &Case) -> Vec<Found> {
    let Some(count) = case.plan.map(|plan| plan.xla_rematerialized).filter(|&count| count > 0) else { return Vec::new() };
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    vec![Found {
        severity: Severity::Info,
        text: format!("XLA already rematerialized {count} instruction{}: it is at its limit", if count == 1 { "" } else { "s" }),
        args: vec![("count", Arg::Number(count))],
        numbers: vec![number("rematerialized instructions", count, "count", "read")],
        fixes: vec![case.fixes().fix(Kind::ChangeProgram, None)],
    }]
}

fn near_limit(case: &Case) -> Vec<Found> {
    let found = || {
        let (plan, capacity) = (case.plan?, case.capacity()?);
        let wanted = case.used().zip(case.adds()).map(|(used, adds)| used.saturating_add(adds)).unwrap_or(0).max(plan.needed_bytes());
        let margin = capacity.saturating_sub(wanted);
        if margin < 0 || is_at_least(margin, capacity, NEAR_LIMIT_PERMILLE) {
            return None;
        }
        Some(Found {
            severity: Severity::Warning,
            text: format!(
                "the step fits with {} to spare: the allocator needs its temporaries in one block, so that fragmentation alone can make it fail",
                human_bytes(margin)
            ),
            args: vec![("margin", Arg::Number(margin))],
            numbers: vec![estimated("wanted", wanted), measured("capacity", capacity), estimated("margin", margin)],
            fixes: Vec::new(),
        })
    };
    one(found())
}

fn capacity_below_hbm(case: &Case) -> Vec<Found> {
    let found = || {
        let (allocator, capacity) = (case.allocator?, case.capacity()?);
        let hbm = *case.capture.hbm_bytes.get(&allocator.device?)?;
        if is_at_least(capacity, hbm, POOL_OF_HBM_PERMILLE) {
            return None;
        }
        let part = permille(capacity, hbm);
        let fixes = case.fixes();
        Some(Found {
            severity: Severity::Info,
            text: format!(
                "the pool has {} of the device's {} ({}): XLA_PYTHON_CLIENT_MEM_FRACTION was set, which the capture does not record; raising it helps only if the GPU really has room",
                human_bytes(capacity),
                human_bytes(hbm),
                share(part)
            ),
            args: vec![("capacity", Arg::Number(capacity)), ("hbm", Arg::Number(hbm)), ("permille", Arg::Number(part))],
            numbers: vec![measured("capacity", capacity), measured("memory of the device", hbm), number("share", part, "permille", "estimated")],
            fixes: vec![fixes.fix(Kind::RaisePool, None)],
        })
    };
    one(found())
}

fn no_gradient(case: &Case) -> Vec<Found> {
    let Some(plan) = case.plan.filter(|plan| !plan.has_gradient) else { return Vec::new() };
    vec![Found {
        severity: Severity::Info,
        text: format!("{} takes no gradient: it is an evaluation, and the roles of its buffers say nothing", plan.name),
        args: vec![("module", text(&plan.name))],
        numbers: Vec::new(),
        fixes: Vec::new(),
    }]
}

fn eager(case: &Case) -> Vec<Found> {
    let executions = &case.capture.runtime.executions;
    let modules: FxHashSet<&str> = executions.iter().map(|execution| &execution.module[..]).collect();
    let plans: Vec<&Plan> = case.capture.plans.iter().filter(|plan| modules.iter().any(|module| *module == plan.name || *module == plan.bare_name())).collect();
    let largest = plans.iter().map(|plan| plan.needed_bytes()).max().unwrap_or(0);
    if executions.len() < EAGER_EXECUTIONS || modules.len() < EAGER_MODULES || plans.iter().any(|plan| plan.has_gradient) || largest >= EAGER_PLAN_BELOW_BYTES {
        return Vec::new();
    }
    let (executed, kinds) = (executions.len() as i64, modules.len() as i64);
    vec![Found {
        severity: Severity::Info,
        text: format!(
            "an op-by-op program: {executed} executions of {kinds} small modules, the largest of {}: read what happened at run time, not the plans",
            human_bytes(largest)
        ),
        args: vec![("executions", Arg::Number(executed)), ("modules", Arg::Number(kinds)), ("largest", Arg::Number(largest))],
        numbers: vec![
            number("executions", executed, "count", "measured"),
            number("modules", kinds, "count", "measured"),
            read("largest plan that ran", largest),
        ],
        fixes: Vec::new(),
    }]
}

fn missing_data(case: &Case) -> Vec<Found> {
    let capture = case.capture;
    let info = |sentence: String, what: &str, why: &str| Found {
        severity: Severity::Info,
        text: sentence,
        args: vec![("what", text(what)), ("why", text(why))],
        numbers: Vec::new(),
        fixes: Vec::new(),
    };
    let mut found = Vec::new();
    if !capture.is_xspace {
        return found;
    }
    if capture.runtime.allocators.is_empty() {
        let why = capture.made_on.no_allocator_events();
        found.push(info(
            format!("nothing to say about memory at run time, since the capture has no events of an allocator: {why}"),
            "allocator-events",
            capture.made_on.name(),
        ));
    }
    if capture.plans.is_empty() && capture.made_on != MadeOn::Damaged {
        let why = no_hlo_proto(capture.tensorflow);
        found.push(info(
            format!("nothing to say about plans, since there is no plan in this capture: {why}"),
            "hlo-proto",
            if capture.tensorflow { "tensorflow" } else { "jax" },
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::MadeOn;
    use crate::xplane::plan::{HeapPeak, Parameters, Square};
    use crate::xplane::runtime::Runtime;
    use crate::xplane::runtime::allocator::Change;
    use crate::xplane::runtime::retries::Retry;

    const MIB: i64 = 1 << 20;

    /// Sizes in MiB: 100 of parameters, 10 of outputs, 200 of temporaries.
    fn plan() -> Plan {
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
    fn capture(plan: Plan, capacity: i64, used: &[i64], launched: bool) -> Capture {
        let change = |(at, &used): (usize, &i64)| Change {
            time_ps: at as i64 * 100,
            is_allocation: true,
            bytes: used * MIB,
            address: 1,
            allocated_bytes: used * MIB,
            available_bytes: (capacity - used) * MIB,
            largest_free_bytes: (capacity - used) * MIB / 2,
            owner: 0,
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

    fn told(capture: &Capture) -> Vec<Diagnosis> {
        diagnose(&Case::of(capture, default_module(capture)))
    }

    fn codes(capture: &Capture) -> Vec<String> {
        told(capture).into_iter().map(|diagnosis| diagnosis.code).collect()
    }

    fn value(diagnosis: &Diagnosis, label: &str) -> i64 {
        diagnosis.numbers.iter().find(|number| number.label == label).unwrap().value
    }

    #[test]
    fn what_fits_is_not_remarked_upon() {
        assert_eq!(codes(&capture(plan(), 900, &[100, 100, 100], true)), Vec::<String>::new());
    }

    #[test]
    fn the_main_role_picks_the_advice() {
        let told = told(&capture(plan(), 300, &[], true));
        assert_eq!((&told[0].code[..], &told[0].severity[..], told[0].fixes.len()), ("step-does-not-fit", "error", 4));
        assert_eq!((value(&told[0], "share of the temporaries"), told[0].fixes[0].saves_bytes.map(|bytes| bytes / MIB)), (750, Some(120)));
        assert!(told[0].fixes.iter().all(|fix| fix.fits_after == Some(true)));
        // Half the sequence: the square buffers shrink to a quarter, the others to a half.
        assert_eq!(told[0].fixes[2].saves_bytes, Some((30 + 55) * MIB));
        let mut backward = plan();
        backward.heap.as_mut().unwrap().roles = [30 * MIB, 150 * MIB, 0, 20 * MIB];
        let told = super::diagnose(&Case::of(&capture(backward, 300, &[], true), Some("jit_f(1)")));
        assert!(told[0].fixes[0].action.contains("FSDP"));
    }

    #[test]
    fn a_step_that_fits_alone_only() {
        let told = told(&capture(plan(), 400, &[250], true));
        assert_eq!(told.iter().map(|diagnosis| &diagnosis.code[..]).collect::<Vec<_>>(), ["fits-alone", "other-live-arrays", "capacity-below-hbm"]);
        // 250 in use, of which 100 are the parameters.
        assert!(told[0].text.contains("the largest other is 150.0 MiB, outputs of jit_g execution 1"), "{}", told[0].text);
    }

    #[test]
    fn growth_needs_three_executions_and_skips_the_first_difference() {
        let capture = capture(plan(), 900, &[100, 300, 310, 320, 330], true);
        let told = told(&capture);
        let grows = told.iter().find(|diagnosis| diagnosis.code == "grows-per-execution").unwrap();
        assert_eq!((value(grows, "growth per execution"), value(grows, "of the non-aliased outputs"), value(grows, "more executions")), (10 * MIB, 1000, 36));
        let executions: Vec<&Execution> = capture.runtime.executions.iter().collect();
        assert_eq!((growth(&executions[..2], 900 * MIB), growth(&executions[..3], 900 * MIB)), (None, Some(10 * MIB)));
        assert_eq!(growth(&executions, 20_000 * MIB), None, "0.1 % of the capacity is noise");
    }

    #[test]
    fn growth_that_is_not_the_outputs_is_unclear() {
        let told = told(&capture(plan(), 900, &[100, 300, 305, 310], true));
        let grows = told.iter().find(|diagnosis| diagnosis.code == "grows-per-execution").unwrap();
        assert!(grows.text.contains("0.50×") && grows.text.contains("cause unclear"), "{}", grows.text);
    }

    #[test]
    fn fragmentation_is_a_request_between_the_largest_chunk_and_what_is_free() {
        // 500 free, 250 of them in one piece: the temporary block of 200 would have found its place, one of 300 not.
        let with_temp = |temp: i64, requests: Vec<i64>| {
            let mut capture = capture(Plan { temp_bytes: temp * MIB, ..plan() }, 600, &[100], false);
            capture.runtime.executions[0].requests = requests;
            codes(&capture).contains(&"fragmentation".to_owned())
        };
        assert!(!with_temp(200, vec![10 * MIB]) && with_temp(300, vec![10 * MIB]));
        assert!(!with_temp(300, Vec::new()), "the output of 10 MiB was asked for first");
    }

    #[test]
    fn near_the_limit_is_five_per_cent() {
        assert!(codes(&capture(plan(), 320, &[100], true)).contains(&"near-limit".to_owned()));
        assert!(!codes(&capture(plan(), 330, &[100], true)).contains(&"near-limit".to_owned()));
        assert!(!codes(&capture(plan(), 309, &[100], true)).contains(&"near-limit".to_owned()), "that does not fit");
    }

    #[test]
    fn some_parameters_donated_is_said() {
        let parameters = Parameters { bytes: 100 * MIB, count: 4, donated_bytes: 10 * MIB, donated_count: 1, ..Parameters::default() };
        let told = told(&capture(Plan { donatable_bytes: 9 * MIB, parameters, ..plan() }, 900, &[100], true));
        assert_eq!(told[0].text, "only 1 of 4 parameters are donated: donating the state can save up to 9.000 MiB");
    }

    #[test]
    fn a_wait_is_graver_where_nothing_was_launched() {
        for (launched, severity) in [(true, "warning"), (false, "error")] {
            let mut capture = capture(plan(), 900, &[100], launched);
            capture.runtime.retries.push(Retry { device: Some(0), start_ps: 50, duration_ps: 10, execution: Some(0), inferred: false });
            let told = told(&capture);
            assert_eq!((&told[0].code[..], &told[0].severity[..]), ("allocator-retry", severity));
        }
    }

    #[test]
    fn the_module_that_launched_nothing_comes_first() {
        let mut capture = capture(plan(), 900, &[100], true);
        capture.plans.push(Plan { name: "jit_big(2)".to_owned(), temp_bytes: 800 * MIB, ..Plan::default() });
        assert_eq!(default_module(&capture), Some("jit_f(1)"), "the largest that ran");
        capture.runtime.executions.push(Execution { module: "jit_g".into(), launched: Some(false), start_ps: 999, ..Execution::default() });
        assert_eq!(default_module(&capture), Some("jit_g"));
        capture.runtime.executions.clear();
        assert_eq!(default_module(&capture), Some("jit_big(2)"));
    }

    #[test]
    fn verdicts_are_sorted_by_severity_and_then_as_the_rules_are() {
        let capture = capture(Plan { donatable_bytes: 50 * MIB, xla_rematerialized: 3, ..plan() }, 300, &[280], false);
        let told = told(&capture);
        let severities: Vec<&str> = told.iter().map(|diagnosis| &diagnosis.severity[..]).collect();
        assert!(severities.is_sorted_by_key(|severity| ["error", "warning", "info"].iter().position(|name| name == severity)), "{severities:?}");
        assert!(told.iter().flat_map(|diagnosis| &diagnosis.numbers).all(|number| ["measured", "read", "estimated"].contains(&&number.basis[..])));
    }
}
