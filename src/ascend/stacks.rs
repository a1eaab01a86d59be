//! Which operator made a block, and from which line: for every block a stack and the reason it is believed, or why there is none.
//!
//! First the operator: the innermost one of the block's name that was running at its allocation. Where none was, work taken off the task
//! queue at that time leads back to where it was put on it. Then the operator's stack: its own, else that of the operator around it,
//! else (in the backward pass, which has none) that of its forward operator, else the Python functions around it.

use super::trace_view::{NONE, Operators, Point, Spans, Trace, frames};
use crate::timeline::blocks::{Blocks, Interner};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Why a block has the stack it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The operator carries it.
    Own,
    /// The operator, reached through the task queue, carries it.
    TaskQueue,
    /// The innermost operator around it that carries one.
    Ancestor,
    /// The forward operator of the backward one.
    Forward,
    /// The Python functions around the operator.
    Python,
    /// The trace holds no call stacks at all.
    NoStacks,
    /// No operator of the block's name was running.
    NoOperator,
    /// Operators of the block's name were running on several threads.
    Ambiguous,
    /// The operator is known; neither it nor anything around it carries a stack.
    NotCarried,
    /// A guess, where one was asked for: the last operator of the block's name that carries a stack, however long ago.
    Nearest,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Reason; 10] = [
        Reason::Own,
        Reason::TaskQueue,
        Reason::Ancestor,
        Reason::Forward,
        Reason::Python,
        Reason::NoStacks,
        Reason::NoOperator,
        Reason::Ambiguous,
        Reason::NotCarried,
        Reason::Nearest,
    ];

    /// As the report and the page name it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Own => "own",
            Reason::TaskQueue => "task-queue",
            Reason::Ancestor => "ancestor",
            Reason::Forward => "forward",
            Reason::Python => "python",
            Reason::NoStacks => "no-stacks",
            Reason::NoOperator => "no-operator",
            Reason::Ambiguous => "ambiguous",
            Reason::NotCarried => "not-carried",
            Reason::Nearest => "nearest",
        }
    }
}

/// Stacks of blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stacks {
    /// The different ones, leaf first, as the trace writes them.
    pub texts: Vec<String>,
    /// Number of `texts` for each block, or [`NONE`].
    pub of_block: Vec<u32>,
    /// Why, for each block.
    pub reasons: Vec<Reason>,
    /// What RL-Insight shows: the stack of the last operator of the same name that carries one, however long ago; a guess.
    pub nearest: Vec<u32>,
}

impl Stacks {
    /// Gives the blocks without a stack the nearest one, as a guess that is marked as one.
    pub fn guess(&mut self) {
        for block in 0..self.of_block.len() {
            if self.of_block[block] == NONE && self.nearest[block] != NONE {
                self.of_block[block] = self.nearest[block];
                self.reasons[block] = Reason::Nearest;
            }
        }
    }

    /// The frames of a stack as people read it: outermost first; none for [`NONE`].
    pub fn frames(&self, stack: u32) -> Vec<String> {
        self.texts.get(stack as usize).map_or(Vec::new(), |text| frames(text).rev().map(str::to_owned).collect())
    }
}

/// Finds the stacks of blocks.
pub fn stacks(blocks: &Blocks, trace: &Trace) -> Stacks {
    let search = Search::new(trace);
    let names = trace_names(blocks, trace);
    let found: Vec<(Found, u32)> = (0..blocks.len())
        .into_par_iter()
        .map_init(
            || Near::of(&search),
            |near, block| {
                let (name, time_ns) = (names[blocks.name[block] as usize], blocks.start_ns[block]);
                (search.stack_of(name, time_ns, near), search.nearest(name, time_ns, near))
            },
        )
        .collect();
    number(found, trace)
}

/// The trace's number of each operator of the blocks; `NONE` where the trace does not know it.
fn trace_names(blocks: &Blocks, trace: &Trace) -> Vec<u32> {
    let numbers: FxHashMap<&str, u32> = trace.names.iter().enumerate().map(|(number, name)| (name.as_str(), number as u32)).collect();
    blocks.names.iter().map(|name| numbers.get(name.as_str()).copied().unwrap_or(NONE)).collect()
}

/// A stack before it has a number.
struct Found {
    reason: Reason,
    stack: Carried,
}

enum Carried {
    Nothing,
    /// Number of [`Trace::stacks`].
    Stack(u32),
    /// A Python function and those around it.
    Python(u32),
}

impl Found {
    fn none(reason: Reason) -> Found {
        Found { reason, stack: Carried::Nothing }
    }

    fn stack(reason: Reason, stack: u32) -> Found {
        Found { reason, stack: Carried::Stack(stack) }
    }
}

/// Gives the stacks that are used numbers of their own.
fn number(found: Vec<(Found, u32)>, trace: &Trace) -> Stacks {
    let python = Nesting::new(&trace.python);
    let mut texts = Interner::default();
    let mut of_trace = vec![NONE; trace.stacks.len()];
    let mut of_python: FxHashMap<u32, u32> = FxHashMap::default();
    let mut stacks = Stacks::default();
    for (Found { reason, stack }, nearest) in found {
        let mut of_trace = |stack: u32, texts: &mut Interner| match of_trace.get_mut(stack as usize) {
            None => NONE,
            Some(number) => {
                if *number == NONE {
                    *number = texts.number(&trace.stacks[stack as usize]);
                }
                *number
            }
        };
        stacks.of_block.push(match stack {
            Carried::Nothing => NONE,
            Carried::Stack(stack) => of_trace(stack, &mut texts),
            Carried::Python(function) => *of_python.entry(function).or_insert_with(|| {
                let frames: Vec<&str> = python.around(function).map(|function| trace.names[trace.python.name[function as usize] as usize].as_str()).collect();
                texts.number(&frames.join(";\r\n"))
            }),
        });
        stacks.reasons.push(reason);
        stacks.nearest.push(of_trace(nearest, &mut texts));
    }
    Stacks { texts: texts.texts, ..stacks }
}

/// Instants in order.
#[derive(Default)]
struct ByStart {
    /// Of what.
    spans: Vec<u32>,
    start_ns: Vec<i64>,
}

impl ByStart {
    fn new(spans: Vec<u32>, of: &Spans) -> ByStart {
        let start_ns = spans.iter().map(|&span| of.start_ns[span as usize]).collect();
        ByStart { spans, start_ns }
    }

    /// The last that starts at or before an instant. `near` is where the last search ended: blocks come in order of time, so the next
    /// is not far.
    fn last(&self, time_ns: i64, near: &mut usize) -> Option<u32> {
        *near = partition_near(&self.start_ns, time_ns, *near);
        self.spans.get(near.checked_sub(1)?).copied()
    }
}

/// How many of the sorted instants are not after one, looked for in steps that double, from a guess on.
fn partition_near(sorted: &[i64], time_ns: i64, guess: usize) -> usize {
    let (mut low, mut high, mut step) = (guess, guess, 1);
    while low > 0 && sorted[low - 1] > time_ns {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    while high < sorted.len() && sorted[high] <= time_ns {
        low = high + 1;
        high = (high + step).min(sorted.len());
        step *= 2;
    }
    low + sorted[low..high].partition_point(|&instant| instant <= time_ns)
}

/// Where searches for the block before this one ended.
struct Near {
    threads: Vec<usize>,
    names: Vec<usize>,
}

impl Near {
    fn of(search: &Search) -> Near {
        Near { threads: vec![0; search.nesting.by_thread.len()], names: vec![0; search.by_name.len()] }
    }
}

/// Spans of every thread, and which lies in which.
struct Nesting<'a> {
    spans: &'a Spans,
    /// By thread: its spans by start, the longer first.
    by_thread: Vec<ByStart>,
    /// The span around each span, or `NONE`.
    parent: Vec<u32>,
}

impl<'a> Nesting<'a> {
    fn new(spans: &'a Spans) -> Nesting<'a> {
        let threads = spans.thread.iter().map(|&thread| thread as usize + 1).max().unwrap_or(0);
        let mut by_thread = vec![Vec::new(); threads];
        for span in 0..spans.len() as u32 {
            by_thread[spans.thread[span as usize] as usize].push(span);
        }
        let mut parent = vec![NONE; spans.len()];
        for thread in &mut by_thread {
            thread.par_sort_by_key(|&span| (spans.start_ns[span as usize], std::cmp::Reverse(spans.end_ns[span as usize])));
            let mut open: Vec<u32> = Vec::new();
            for &span in thread.iter() {
                while open.last().is_some_and(|&around| spans.end_ns[around as usize] < spans.end_ns[span as usize]) {
                    open.pop();
                }
                parent[span as usize] = open.last().copied().unwrap_or(NONE);
                open.push(span);
            }
        }
        let by_thread = by_thread.into_iter().map(|thread| ByStart::new(thread, spans)).collect();
        Nesting { spans, by_thread, parent }
    }

    /// The innermost span of a thread at an instant.
    fn innermost(&self, at: Point) -> Option<u32> {
        let mut near = self.by_thread.get(at.thread as usize)?.spans.len() / 2;
        self.innermost_near(at, &mut near)
    }

    fn innermost_near(&self, Point { thread, time_ns }: Point, near: &mut usize) -> Option<u32> {
        let last = self.by_thread.get(thread as usize)?.last(time_ns, near)?;
        self.around(last).find(|&span| time_ns <= self.spans.end_ns[span as usize])
    }

    /// A span and those around it, from the inside.
    fn around(&self, span: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(span), |&span| Some(self.parent[span as usize]).filter(|&parent| parent != NONE))
    }
}

struct Search<'a> {
    trace: &'a Trace,
    operators: &'a Operators,
    nesting: Nesting<'a>,
    python: Nesting<'a>,
    /// Dequeues by start, with the latest end up to each.
    dequeues: Vec<u32>,
    latest_end_ns: Vec<i64>,
    /// Where the flow that ends in an operator came from.
    flow_source: FxHashMap<u32, Point>,
    /// Stack-carrying forward operators by sequence number, then start.
    by_sequence: Vec<Forward>,
    /// Stack-carrying operators of each name, by start.
    by_name: Vec<ByStart>,
}

/// A forward operator that carries a stack.
struct Forward {
    sequence: i64,
    start_ns: i64,
    stack: u32,
}

/// What leads from a block to its operator.
enum Operator {
    Running(u32),
    Queued(u32),
    Ambiguous,
    None,
}

impl<'a> Search<'a> {
    fn new(trace: &'a Trace) -> Search<'a> {
        let operators = &trace.operators;
        let spans = &operators.spans;
        let nesting = Nesting::new(spans);
        let mut dequeues: Vec<u32> = (0..trace.dequeues.len() as u32).collect();
        dequeues.sort_by_key(|&i| trace.dequeues[i as usize].start_ns);
        let mut latest = i64::MIN;
        let latest_end_ns = dequeues
            .iter()
            .map(|&i| {
                latest = latest.max(trace.dequeues[i as usize].end_ns);
                latest
            })
            .collect();
        let flow_source = trace.flows.iter().filter_map(|&(from, to)| Some((nesting.innermost(to)?, from))).collect();
        let mut by_sequence = Vec::new();
        let mut by_name: Vec<Vec<u32>> = vec![Vec::new(); trace.names.len()];
        for operator in (0..spans.len()).filter(|&operator| operators.stack[operator] != NONE) {
            by_name[spans.name[operator] as usize].push(operator as u32);
            if operators.sequence[operator] >= 0 && !operators.backward[operator] {
                by_sequence.push(Forward { sequence: operators.sequence[operator], start_ns: spans.start_ns[operator], stack: operators.stack[operator] });
            }
        }
        by_sequence.sort_by_key(|forward: &Forward| (forward.sequence, forward.start_ns));
        for list in &mut by_name {
            list.sort_by_key(|&operator| spans.start_ns[operator as usize]);
        }
        let by_name = by_name.into_iter().map(|operators| ByStart::new(operators, spans)).collect();
        Search { trace, operators, nesting, python: Nesting::new(&trace.python), dequeues, latest_end_ns, flow_source, by_sequence, by_name }
    }

    fn stack_of(&self, name: u32, time_ns: i64, near: &mut Near) -> Found {
        if self.trace.stacks.is_empty() && self.trace.python.is_empty() {
            return Found::none(Reason::NoStacks);
        }
        match self.operator(name, time_ns, near) {
            Operator::Running(operator) => self.carried_by(operator, Reason::Own),
            Operator::Queued(operator) => self.carried_by(operator, Reason::TaskQueue),
            Operator::Ambiguous => Found::none(Reason::Ambiguous),
            Operator::None => Found::none(Reason::NoOperator),
        }
    }

    fn operator(&self, name: u32, time_ns: i64, near: &mut Near) -> Operator {
        let mut candidates = near.threads.iter_mut().enumerate().filter_map(|(thread, near)| {
            let innermost = self.nesting.innermost_near(Point { thread: thread as u32, time_ns }, near)?;
            self.named(name, time_ns, innermost)
        });
        match (candidates.next(), candidates.next()) {
            (Some(operator), None) => Operator::Running(operator),
            (Some(_), Some(_)) => Operator::Ambiguous,
            (None, _) => self.queued(name, time_ns),
        }
    }

    /// The innermost operator of a name at an instant, of those around the innermost one.
    fn named(&self, name: u32, time_ns: i64, innermost: u32) -> Option<u32> {
        let spans = &self.operators.spans;
        self.nesting.around(innermost).find(|&operator| spans.name[operator as usize] == name && time_ns <= spans.end_ns[operator as usize])
    }

    fn queued(&self, name: u32, time_ns: i64) -> Operator {
        let mut found = None;
        let mut at = self.dequeues.partition_point(|&i| self.trace.dequeues[i as usize].start_ns <= time_ns);
        while at > 0 && self.latest_end_ns[at - 1] >= time_ns {
            at -= 1;
            let dequeue = &self.trace.dequeues[self.dequeues[at] as usize];
            if dequeue.end_ns < time_ns {
                continue;
            }
            let operator = self.trace.enqueued.get(&dequeue.correlation).and_then(|&point| self.named(name, point.time_ns, self.nesting.innermost(point)?));
            match (found, operator) {
                (Some(before), Some(operator)) if before != operator => return Operator::Ambiguous,
                (None, Some(_)) => found = operator,
                _ => {}
            }
        }
        found.map_or(Operator::None, Operator::Queued)
    }

    fn carried_by(&self, operator: u32, own: Reason) -> Found {
        let stack = |operator: u32| Some(self.operators.stack[operator as usize]).filter(|&stack| stack != NONE);
        if let Some(stack) = stack(operator) {
            return Found::stack(own, stack);
        }
        if let Some(stack) = self.nesting.around(operator).skip(1).find_map(stack) {
            return Found::stack(Reason::Ancestor, stack);
        }
        if let Some(stack) = self.forward(operator) {
            return Found::stack(Reason::Forward, stack);
        }
        let at = Point { thread: self.operators.spans.thread[operator as usize], time_ns: self.operators.spans.start_ns[operator as usize] };
        match self.python.innermost(at) {
            Some(function) => Found { reason: Reason::Python, stack: Carried::Python(function) },
            None => Found::none(Reason::NotCarried),
        }
    }

    /// The stack of the forward operator that an operator, or the one around it, is the backward of.
    fn forward(&self, operator: u32) -> Option<u32> {
        let spans = &self.operators.spans;
        let backward = self.nesting.around(operator).find(|&around| self.operators.sequence[around as usize] >= 0)?;
        let sequence = self.operators.sequence[backward as usize];
        let by_flow = self.flow_source.get(&backward).and_then(|&source| {
            let innermost = self.nesting.innermost(source)?;
            self.nesting.around(innermost).find_map(|operator| Some(self.operators.stack[operator as usize]).filter(|&stack| stack != NONE))
        });
        by_flow.or_else(|| {
            let before = self.by_sequence.partition_point(|forward| (forward.sequence, forward.start_ns) < (sequence, spans.start_ns[backward as usize]));
            self.by_sequence.get(before.checked_sub(1)?).filter(|forward| forward.sequence == sequence).map(|forward| forward.stack)
        })
    }

    fn nearest(&self, name: u32, time_ns: i64, near: &mut Near) -> u32 {
        let Some((carrying, near)) = self.by_name.get(name as usize).zip(near.names.get_mut(name as usize)) else { return NONE };
        carrying.last(time_ns, near).map_or(NONE, |operator| self.operators.stack[operator as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace_view::TraceReader;
    use super::*;
    use crate::timeline::blocks::OPEN;
    use crate::timeline::blocks::tests::blocks_over;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    /// One event of a thread: name, thread, start and length in µs, what else it has.
    fn event(cat: &str, name: &str, tid: u32, ts: u32, dur: u32, args: &str) -> String {
        format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":{tid},"ts":"{ts}.000","dur":{dur},"cat":"{cat}","args":{{{args}}}}}"#)
    }

    fn op(name: &str, tid: u32, ts: u32, dur: u32, args: &str) -> String {
        event("cpu_op", name, tid, ts, dur, args)
    }

    /// The reason and the stack of one block of a name at an instant in µs.
    fn found(events: &[String], name: &str, at: i64) -> (Reason, Option<String>) {
        let mut reader = TraceReader::new("t");
        reader.feed(format!("[{}]", events.join(",")).as_bytes());
        let stacks = stacks(&blocks_over(0, &[(name, 1, at * 1000, OPEN)]), &reader.finish());
        (stacks.reasons[0], stacks.texts.get(stacks.of_block[0] as usize).cloned())
    }

    const A: &str = r#""Call stack":"a.py(1): f""#;

    fn some(reason: Reason, stack: &str) -> (Reason, Option<String>) {
        (reason, Some(stack.to_owned()))
    }

    #[test]
    fn the_innermost_operator_of_the_name_then_what_carries_a_stack() {
        let outer = op("add", 1, 10, 100, r#""Call stack":"outer.py(1): f""#);
        assert_eq!(found(&[outer.clone(), op("add", 1, 20, 10, A)], "add", 25), some(Reason::Own, "a.py(1): f"));
        assert_eq!(found(&[outer.clone(), op("add", 1, 20, 10, "")], "add", 25), some(Reason::Ancestor, "outer.py(1): f"));
        assert_eq!(found(&[outer.clone(), op("mul", 1, 20, 10, A)], "add", 25), some(Reason::Own, "outer.py(1): f"));
        assert_eq!(found(&[outer], "add", 111), (Reason::NoOperator, None));
        assert_eq!(found(&[op("add", 1, 20, 10, "")], "add", 25), (Reason::NoStacks, None));
        assert_eq!(found(&[op("add", 1, 20, 10, ""), op("x", 1, 1, 2, A)], "add", 25), (Reason::NotCarried, None));
    }

    #[test]
    fn the_task_queue_leads_back() {
        let queue = [
            event("enqueue", "Enqueue", 1, 15, 1, r#""correlation_id":7"#),
            event("dequeue", "Dequeue@add", 2, 40, 10, r#""correlation_id":7"#),
            op("add", 1, 10, 10, A),
        ];
        assert_eq!(found(&queue, "add", 45), some(Reason::TaskQueue, "a.py(1): f"));
        assert_eq!(found(&queue, "add", 51), (Reason::NoOperator, None));
    }

    #[test]
    fn two_threads_are_ambiguous() {
        assert_eq!(found(&[op("add", 1, 10, 10, A), op("add", 2, 10, 10, A)], "add", 15), (Reason::Ambiguous, None));
    }

    #[test]
    fn a_backward_operator_has_its_forwards_stack() {
        let forward = |ts, stack: &str| op("conv", 1, ts, 5, &format!(r#""Call stack":"{stack}","Sequence number":4,"Fwd thread id":0"#));
        let backward = op("AddBackward0", 2, 100, 20, r#""Sequence number":4,"Fwd thread id":1"#);
        let block = op("mm", 2, 105, 5, "");
        let events = [forward(10, "first.py(1): f"), forward(20, "second.py(2): g"), backward.clone(), block.clone()];
        assert_eq!(found(&events, "mm", 106), some(Reason::Forward, "second.py(2): g"));
        // A flow knows better than the last one of that number.
        let flow = |ph: &str, tid: u32, ts: u32| format!(r#"{{"ph":"{ph}","name":"fwdbwd","id":4,"pid":1,"tid":{tid},"ts":"{ts}.000","cat":"fwdbwd"}}"#);
        let events = [events.to_vec(), vec![flow("s", 1, 10), flow("f", 2, 100)]].concat();
        assert_eq!(found(&events, "mm", 106), some(Reason::Forward, "first.py(1): f"));
    }

    #[test]
    fn python_functions_stand_in_for_stacks() {
        let events = [
            event("python_function", "train.py(1): main", 1, 0, 100, ""),
            event("python_function", "model.py(5): forward", 1, 10, 50, ""),
            event("python_function", "other.py(9): x", 1, 70, 5, ""),
            op("add", 1, 20, 10, ""),
        ];
        assert_eq!(found(&events, "add", 25), some(Reason::Python, "model.py(5): forward;\r\ntrain.py(1): main"));
    }

    #[test]
    fn the_nearest_is_the_last_of_the_name_however_long_ago() {
        let mut reader = TraceReader::new("t");
        reader.feed(format!("[{},{}]", op("add", 1, 10, 1, A), op("add", 1, 20, 1, r#""Call stack":"b.py(1): g""#)).as_bytes());
        let blocks = blocks_over(0, &[("add", 1, 5_000, OPEN), ("add", 1, 15_000, OPEN), ("add", 1, 900_000, OPEN)]);
        let stacks = stacks(&blocks, &reader.finish());
        let nearest: Vec<_> = stacks.nearest.iter().map(|&number| stacks.texts.get(number as usize).map(String::as_str)).collect();
        assert_eq!(nearest, [None, Some("a.py(1): f"), Some("b.py(1): g")]);
        assert!(stacks.reasons.iter().all(|&reason| reason == Reason::NoOperator));
    }

    proptest! {
        #[test]
        fn any_guess_finds_the_place(mut instants in prop::collection::vec(0i64..40, 0..30), time in -1i64..41, guess in 0usize..31) {
            instants.sort_unstable();
            let expected = instants.partition_point(|&instant| instant <= time);
            prop_assert_eq!(partition_near(&instants, time, guess.min(instants.len())), expected);
        }
    }
}
