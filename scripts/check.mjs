// Every check of the project, one after the other; ends with how many tests passed and failed. Called by `make test`.
import {spawn, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import {stripVTControlCharacters} from 'node:util';

const cargo = (...args) => ['cargo', ...args];
// Files are named one by one: what a folder means to `node --test` differs between its versions. A file whose test waits for ever, or leaves
// a browser running, ends all the same.
const nodeTests = folder =>
  [process.execPath, '--test', '--test-reporter=spec', '--test-concurrency=1', '--test-force-exit', '--test-timeout=900000', ...fs.readdirSync(folder).filter(file => file.endsWith('.test.mjs')).map(file => `${folder}/${file}`)];
const WASM = ['--lib', '--no-default-features', '--target', 'wasm32-unknown-unknown'];
// On a bare machine cargo's own runner serves as well and spares the minutes of building another.
const nextest = spawnSync('cargo', ['nextest', '--version']).status === 0;

const STEPS = [
  ['format', cargo('fmt', '--check')],
  ['format of the fuzz targets', cargo('fmt', '--check', '--manifest-path', 'tests/fuzz/Cargo.toml')],
  ['lint', cargo('clippy', '--locked', '--all-targets', '--', '-D', 'warnings')],
  ['lint for wasm32', cargo('clippy', ...WASM, '--', '-D', 'warnings')],
  ['tests', nextest ? cargo('nextest', 'run', '--no-tests=pass') : cargo('test', '--lib', '--bins', '--tests')],
  ['table beside RL-Insight', nodeTests('tests/parity')],
  ['examples in the docs', cargo('test', '--doc')],
  ['page: both variants, types, bundles', ['trunk', 'build']],
  ['core on wasm32', nodeTests('tests/wasm')],
  ['budgets, dependencies', nodeTests('tests/house')],
  ['parts of the page in Node', nodeTests('tests/page')],
  ['fuzz targets, two minutes in all', [process.execPath, 'scripts/fuzz.mjs', '15']],
  ['page in the browsers', nodeTests('tests/browser')],
];

// What the runners say about themselves: nextest, cargo test, node --test.
const COUNTS = {
  passed: [/^\s*Summary .*?(\d+) passed/gm, /^test result: .*?(\d+) passed/gm, /^ℹ pass (\d+)/gm],
  failed: [/^\s*Summary .*?(\d+) failed/gm, /^test result: .*?(\d+) failed/gm, /^ℹ fail (\d+)/gm],
};
const count = (text, patterns) => patterns.flatMap(pattern => [...text.matchAll(pattern)]).reduce((sum, match) => sum + Number(match[1]), 0);

/** A step that says nothing for so long hangs. */
const SILENT_MS = 30 * 60_000;

/** The running step: a group of processes of its own, so that all of it can be ended. */
let step = null;
const endStep = signal => {
  if (step?.pid) process.kill(-step.pid, signal);
};
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    endStep(signal);
    process.exit(1);
  });
}

const run = command => new Promise(resolve => {
  const color = process.stdout.isTTY ? {CARGO_TERM_COLOR: 'always', FORCE_COLOR: '1'} : {};
  const child = spawn(command[0], command.slice(1), {stdio: ['ignore', 'pipe', 'pipe'], env: {...process.env, ...color}, detached: true});
  step = child;
  let text = '';
  const end = () => {
    console.log(`no word for ${SILENT_MS / 60_000} minutes: ended`);
    endStep('SIGKILL');
  };
  let silence = setTimeout(end, SILENT_MS);
  const keep = to => bytes => {
    clearTimeout(silence);
    silence = setTimeout(end, SILENT_MS);
    to.write(bytes);
    text += bytes;
  };
  child.stdout.on('data', keep(process.stdout));
  child.stderr.on('data', keep(process.stderr));
  const ended = (ok, text) => {
    clearTimeout(silence);
    step = null;
    resolve({ok, text: stripVTControlCharacters(text)});
  };
  child.on('error', error => ended(false, `${error}`));
  child.on('close', code => ended(code === 0, text));
});

let passed = 0;
let failed = 0;
const summary = [];
for (const [name, command] of STEPS) {
  console.log(`\n== ${name}`);
  const start = performance.now();
  const {ok, text} = await run(command);
  const counted = {passed: count(text, COUNTS.passed), failed: count(text, COUNTS.failed)};
  // A step that counts nothing is one check itself; a step that fails without a failed test is one failure.
  const nothing = counted.passed + counted.failed === 0;
  passed += counted.passed + (ok && nothing ? 1 : 0);
  failed += ok ? 0 : Math.max(1, counted.failed);
  const line = `${ok ? 'ok    ' : 'FAILED'} ${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${name}`;
  console.log(line);
  summary.push(line);
}
console.log(`\n${summary.join('\n')}\n\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
