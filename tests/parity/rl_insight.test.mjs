// The table with --nearest-stacks is RL-Insight's DataFrame, row by row: on real captures and on generated ones. Where RL-Insight cannot be
// installed this says so and is skipped.
//
// What is no difference but a capture that RL-Insight does not read: one without trace_view.json, MindSpore's and msprof's, ten columns, a
// row without an allocation time (graph engine rows that only free), N/A.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {peer} from '../../scripts/peers.mjs';

const COLUMNS = ['name', 'role', 'rank_id', 'call_stack', 'call_stack_top', 'size_kb', 'start_time_ms', 'duration_ms', 'total_allocated_mb',
  'total_reserved_mb', 'total_active_mb', 'device_type'];
const top = fileURLToPath(new URL('../..', import.meta.url));
const captures = path.resolve(process.env.OOMSCOPE_CAPTURES ?? path.join(top, '../shared/captures'), 'ascend');

const {python, skip} = peer('RL-Insight 0.3.0');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-parity-'));
after(() => fs.rmSync(work, {recursive: true, force: true}));

const generated = (name, options) => () => {
  const folder = path.join(work, name);
  execFileSync(process.execPath, [path.join(top, 'fixtures/generate.mjs'), '--out', folder, ...options.split(' ')]);
  return folder;
};
const real = name => () => path.join(captures, name);

/** A real rank without a trace: RL-Insight wants one to be there. */
const withEmptyTrace = name => () => {
  const folder = path.join(work, name);
  fs.cpSync(path.join(captures, name), folder, {recursive: true});
  for (const rank of fs.readdirSync(folder)) fs.writeFileSync(path.join(folder, rank, 'ASCEND_PROFILER_OUTPUT/trace_view.json'), '[]');
  return folder;
};

/** One row for each thing in which RL-Insight is wrong, and one in which it is not. */
const handmade = () => {
  const rank = path.join(work, 'handmade/actor/h_1_20260526_085155_ascend_pt');
  const output = path.join(rank, 'ASCEND_PROFILER_OUTPUT');
  fs.mkdirSync(output, {recursive: true});
  fs.writeFileSync(path.join(rank, 'profiler_info_0.json'), '{}');
  const row = (start, release, back, duration) => `aten::add,1.0,${start},${release},${back},${duration},,1.5,2.0,1.5,1.0,2.0,1.0,6,NPU:0\n`;
  const us = 1779785515596661;
  fs.writeFileSync(path.join(output, 'operator_memory.csv'), 'Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),'
    + 'Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),'
    + 'Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n'
    + row(`${us}.420`, `${us + 10}.420`, `${us + 10}.420`, '10.000')
    + row(`${us + 1}.420`, '', `${us + 11}.420`, '')
    + row(`${us + 2}.420`, `${us + 12}.420`, '', '')
    + row(`${us + 3}.420`, `${us + 13}.420`, `${us + 13}.420`, '10.000'));
  const operator = (ts, stack) => ({ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts, dur: 0.5, args: {'Call stack': stack}});
  fs.writeFileSync(path.join(output, 'trace_view.json'), JSON.stringify([
    operator(`${us}.100`, 'a.py(1): f;\r\nmain.py(1): <module>'),
    // Ten nanoseconds after the last allocation, and the same f64.
    operator(`${us + 3}.430`, 'b.py(2): g;\r\nmain.py(1): <module>'),
  ]));
  return path.join(work, 'handmade');
};

/** Folder, how many rows it has, and how many cells differ, by what RL-Insight is wrong about. */
const CASES = {
  'its own sample': [real('rl_insight_sample'), 49, {}],
  'two real ranks with call stacks': [real('level0'), 368, {}],
  'a real training rank': [withEmptyTrace('st_level2'), 3103, {}],
  'two roles of three ranks': [generated('roles', '--rows 2400 --ranks 3 --roles actor_update,critic_update --steps 3 --seed 8 --trace --empty-names 3'),
    14_400, {'returned-only': 6}],
  'quoted times': [generated('quoted', '--rows 900 --steps 3 --seed 12 --trace --trace-detail brief --quoted'), 900, {'returned-only': 1}],
  'modules instead of stacks': [generated('modules', '--rows 900 --steps 3 --seed 12 --trace --modules'), 900, {'returned-only': 1}],
  'where it is wrong': [handmade, 4, {'returned-only': 1, 'computed-duration': 1, 'nearest-in-f64': 2}],
};

const found = new Map();
before(() => {
  if (skip) return;
  const pairs = [];
  for (const [name, [make]] of Object.entries(CASES)) {
    const folder = make();
    if (!fs.existsSync(folder)) continue;
    const table = path.join(work, `${pairs.length}.jsonl`);
    execFileSync('cargo', ['run', '--quiet', '--', folder, '--nearest-stacks', '--table', table], {stdio: ['ignore', 'ignore', 'inherit']});
    pairs.push({name, folder, table});
  }
  const args = pairs.flatMap(({folder, table}) => [folder, table]);
  const lines = execFileSync(python, [path.join(top, 'tests/parity/compare.py'), ...args], {encoding: 'utf8'}).trim().split('\n');
  pairs.forEach(({name}, i) => found.set(name, JSON.parse(lines[i])));
});

for (const [name, [, rows, differences]] of Object.entries(CASES)) {
  test(`the table is RL-Insight's: ${name}`, {skip}, t => {
    const result = found.get(name);
    if (result === undefined) return t.skip('the captures are not here (OOMSCOPE_CAPTURES names the folder)');
    assert.deepEqual({theirs: result.theirs, ours: result.ours, columns: result.columns}, {theirs: rows, ours: rows, columns: COLUMNS});
    assert.ok(result.sorted, 'by start');
    assert.deepEqual(result.differences, differences, JSON.stringify(result.examples));
  });
}
