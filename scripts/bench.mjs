// Measures the project beside its peers: `make bench`, or `node scripts/bench.mjs [FOLDER…]` for captures of your own.
//
// Every figure that README gives is a row of the table that this prints, measured in one run; `OOMSCOPE_UPDATE=1 make bench` writes the rows of
// the largest inputs into README. The inputs are generated, each twice as large as the one before. Peers are installed when they are not there
// (scripts/peers.mjs) and left out, with a word, where they cannot be. A figure is the least of three runs, of fewer where they are long, by the
// same rule for both sides: what disturbs a run only makes it slower. Compare ratios of one run, not seconds of two machines.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {ascendCaptures, fileOf, filesOf, jaxCaptures, megabytes} from './bench/inputs.mjs';
import {least, measure} from './bench/measure.mjs';
import {pageBench} from './bench/page.mjs';
import {consoleTable, intoReadme} from './bench/table.mjs';
import {peer} from './peers.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const PROGRAM = path.resolve('target/release/oomscope');

/** The program that runs one reader, as cargo built it. */
function readers() {
  const built = spawnSync('cargo', ['bench', '--locked', '--quiet', '--bench', 'readers', '--no-run', '--message-format', 'json'], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28});
  const messages = built.stdout.split('\n').filter(line => line.startsWith('{')).map(line => JSON.parse(line));
  return messages.find(({target, executable}) => target?.name === 'readers' && executable)?.executable;
}

const reader = readers();
if (reader === undefined) throw new Error('the readers could not be built');
const page = await pageBench();
const left = [];
/** A peer's command on an input, or none where the peer is not here. */
const beside = (name, script) => {
  const {python, skip} = peer(name);
  if (skip) left.push(skip);
  return skip ? null : input => () => measure([python, path.join('scripts/bench', script), input], {TF_CPP_MIN_LOG_LEVEL: '3'});
};
const rlInsight = beside('RL-Insight 0.3.0', 'rl_insight.py');
const ijson = rlInsight && beside('RL-Insight 0.3.0', 'ijson_trace.py');
const xprof = beside('XProf 2.24.2', 'xprof_memory.py');
if (page.skip) left.push(page.skip);

const report = input => () => measure([PROGRAM, input, '--format', 'json']);
const reading = name => input => () => measure([reader, name, input]);
const opening = page.skip ? null : input => () => page.open(filesOf(input).filter(file => !['done', 'truth.json'].includes(path.basename(file))));
const isXplane = file => file.endsWith('.xplane.pb');
const itself = input => input;
const below = name => folder => fileOf(folder, file => path.basename(file) === name);
const host = folder => fileOf(folder, isXplane);

// What is measured: its words, the part of an input that it reads, ours, and each peer. A peer in two rows is measured once.
const ASCEND = [
  ['report on an Ascend folder', itself, report, [['RL-Insight 0.3.0, its parser', rlInsight]]],
  ['the same in the page', itself, opening, [['RL-Insight 0.3.0, its parser', rlInsight]]],
  ['operator_memory.csv alone', below('operator_memory.csv'), reading('table'), [['csv 1 with serde', reading('csv')]]],
  ['trace_view.json alone', below('trace_view.json'), reading('trace'), [['serde_json 1', reading('serde_json')], ['ijson 3, its C parser', ijson]]],
];
const JAX = [
  ['report on an .xplane.pb', host, report, [['XProf 2.24.2, its memory tools', xprof]]],
  ['the same in the page', host, opening, [['XProf 2.24.2, its memory tools', xprof]]],
];

const given = process.argv.slice(2);
const isJax = folder => fileOf(folder, isXplane) !== undefined;
const families = given.length === 0
  ? [[ASCEND, ascendCaptures()], [JAX, jaxCaptures()]]
  : [[ASCEND, given.filter(folder => !isJax(folder))], [JAX, given.filter(isJax)]];

const taken = new Map();
const once = async (key, run) => {
  if (!taken.has(key)) taken.set(key, await least(run));
  return taken.get(key);
};

const rows = [];
const measureRow = async (what, name, inputs, nth, {ours, theirs}) => {
  const input = inputs[nth];
  const mb = megabytes(input);
  console.error(`${what}, ${mb.toFixed(0)} MB, beside ${name}`);
  const row = {what, name, nth, last: nth === inputs.length - 1, mb, ours: await once(`${what} ${input}`, ours(input))};
  try {
    rows.push({...row, theirs: await once(`${name} ${input}`, theirs(input))});
  } catch (error) {
    left.push(`${name}: ${error.message}`);
  }
};

try {
  for (const [measured, folders] of families) {
    for (const [what, part, ours, peers] of measured.filter(([, , ours]) => ours !== null)) {
      const inputs = folders.map(part);
      for (const [name, theirs] of peers.filter(([, theirs]) => theirs !== null)) {
        for (const nth of inputs.keys()) await measureRow(what, name, inputs, nth, {ours, theirs});
      }
    }
  }
} finally {
  await page.close?.();
}

console.log(consoleTable(rows));
for (const reason of new Set(left)) console.log(`left out: ${reason}`);
const machine = `${os.availableParallelism()} cores of ${os.cpus()[0]?.model.trim() ?? 'an unknown processor'}`;
console.log(`measured on ${machine}`);
if (process.env.OOMSCOPE_UPDATE === '1') fs.writeFileSync('README.md', intoReadme(fs.readFileSync('README.md', 'utf8'), rows, machine));
