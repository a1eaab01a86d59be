// A fuzzer led by coverage: trees that reach what no other reached are kept, and changed further.
import {Coverage} from './coverage.mjs';
import {Trees} from './values.mjs';

/** Coverage is asked once for so many trees, since asking takes longer than running them. */
const TOGETHER = 2000;
const MOST_CHANGES = 4;
/** Longer ones are not kept: they would only grow. */
const LONGEST = 8000;
/** Of so many trees one is made of nothing. */
const FRESH = 50;

/** Whole numbers below a bound, from a seed (xorshift32). */
const randomOf = seed => {
  let state = seed >>> 0 || 1;
  return below => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor((state >>> 0) / 2 ** 32 * below);
  };
};

/**
 * Runs `check` on trees until `goesOn(executions)` says no. What a check throws is a finding and ends it. `url`: the script that is watched;
 * `kept`: trees to begin with; `keep(tree)`: one that reached something new.
 */
export function fuzz({check, url, kept, keep, goesOn, seed}) {
  const random = randomOf(seed);
  const trees = new Trees(random);
  const coverage = new Coverage(url);
  const corpus = [...kept];
  const outcomes = new Set();
  let executions = 0;
  let current = null;
  const told = () => ({executions, corpus: corpus.length, covered: coverage.covered, outcomes: outcomes.size});
  const take = tree => {
    if (JSON.stringify(tree).length > LONGEST) return;
    corpus.push(tree);
    keep(tree);
  };
  const run = tree => {
    executions++;
    current = tree;
    const outcome = check(tree);
    if (outcomes.has(outcome)) return;
    outcomes.add(outcome);
    take(tree);
  };
  const next = () => {
    if (random(FRESH) === 0) return trees.fresh();
    let tree = trees.pick(corpus);
    for (let left = 1 + random(MOST_CHANGES); left > 0; left--) tree = trees.changed(tree, trees.pick(corpus));
    return tree;
  };
  /** Runs some trees; which of them reached something new is found by halves. */
  const runAll = some => {
    const before = coverage.known;
    some.forEach(run);
    if (coverage.take() === 0) return;
    if (some.length === 1) return take(some[0]);
    coverage.known = before;
    const half = some.length >> 1;
    for (const part of [some.slice(0, half), some.slice(half)]) runAll(part);
  };
  try {
    kept.forEach(run);
    coverage.take();
    while (goesOn(executions)) runAll(Array.from({length: TOGETHER}, next));
    return told();
  } catch (error) {
    return {...told(), finding: {tree: current, error}};
  } finally {
    coverage.close();
  }
}
