// Measures the command line: `make bench`, or `node scripts/bench.mjs [FOLDER…]` for captures of your own.
//
// Without folders it makes captures with fixtures/generate.mjs, each twice as large as the one before, into target/bench (some minutes, once).
// A peer is measured beside, on the same folders in the same run, where BENCH_PEER names a command that takes a folder as its last argument.
// Each figure is the least of three runs (the peer's of one): what disturbs a run only makes it slower. Growth is that of CPU seconds over the
// folder before. Compare ratios of one run, not seconds of two machines.
import {execFileSync, spawn} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const top = fileURLToPath(new URL('..', import.meta.url));
const RUNS = 3;
const ROWS = [125_000, 250_000, 500_000, 1_000_000];
const WATCH_MS = 5;

/** Runs a command: CPU of it and its children in seconds, wall in seconds, peak memory in MB (NaN where there is no /proc). */
const measure = command => new Promise((resolve, reject) => {
  // `times` of the shell is the one clock of a child's CPU that is everywhere.
  const script = '"$@" >/dev/null 2>&1 & echo $!; wait $!; code=$?; times; exit $code';
  const started = performance.now();
  const shell = spawn('sh', ['-c', script, 'sh', ...command], {stdio: ['ignore', 'pipe', 'inherit']});
  let said = '';
  let peakKb = NaN;
  const watch = setInterval(() => {
    const pid = said.split('\n', 1)[0];
    const status = pid === '' ? null : readIfThere(`/proc/${pid}/status`);
    const found = /^VmHWM:\s+(\d+)/m.exec(status ?? '');
    if (found !== null) peakKb = Number(found[1]);
  }, WATCH_MS);
  shell.stdout.on('data', text => { said += text; });
  shell.on('error', reject);
  shell.on('close', code => {
    clearInterval(watch);
    const wall = (performance.now() - started) / 1000;
    if (code !== 0) return reject(new Error(`${command.join(' ')} ended with ${code}`));
    const children = said.trim().split('\n').at(-1).split(' ').map(seconds);
    resolve({cpu: children[0] + children[1], wall, mb: peakKb / 1024});
  });
});

/** `0m1.230s` */
const seconds = text => {
  const [, minutes, rest] = /(\d+)m([\d.]+)s/.exec(text.replace(',', '.'));
  return Number(minutes) * 60 + Number(rest);
};

const readIfThere = file => {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

const best = async command => {
  const runs = [];
  for (let run = 0; run < RUNS; run++) runs.push(await measure(command));
  const least = key => Math.min(...runs.map(measured => measured[key]));
  return {cpu: least('cpu'), wall: least('wall'), mb: least('mb')};
};

const generated = rows => {
  const folder = path.join(top, 'target/bench', String(rows));
  if (!fs.existsSync(path.join(folder, 'done'))) {
    console.error(`making a capture of ${rows} rows`);
    execFileSync(process.execPath, [path.join(top, 'fixtures/generate.mjs'), '--out', folder, '--rows', String(rows), '--trace', '--outside', '2000'], {stdio: ['ignore', 'ignore', 'inherit']});
    fs.writeFileSync(path.join(folder, 'done'), '');
  }
  return folder;
};

const megabytes = folder =>
  fs.readdirSync(folder, {recursive: true}).map(file => fs.statSync(path.join(folder, file))).reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0) / 1e6;

const program = path.join(top, 'target/release/oomscope');
const peer = process.env.BENCH_PEER?.split(' ');
const folders = process.argv.length > 2 ? process.argv.slice(2) : ROWS.map(generated);

const line = cells => console.log(cells.map((cell, nth) => nth === 0 ? cell.padEnd(28) : cell.padStart(13)).join(''));
line(['capture', 'MB', 'CPU s', 'growth', 'wall s', 'MB/s', 'peak MB', ...(peer ? ['peer CPU s', 'ratio', 'peer wall s', 'peer MB'] : [])]);
let before = null;
for (const folder of folders) {
  const mb = megabytes(folder);
  const ours = await best([program, folder, '--format', 'json']);
  const growth = before === null ? '' : `${(ours.cpu / before).toFixed(2)}x`;
  before = ours.cpu;
  const cells = [path.basename(folder), mb.toFixed(0), ours.cpu.toFixed(2), growth, ours.wall.toFixed(2), (mb / ours.wall).toFixed(0), ours.mb.toFixed(0)];
  if (peer) {
    const theirs = await measure([...peer, folder]);
    cells.push(theirs.cpu.toFixed(2), `${(theirs.cpu / ours.cpu).toFixed(1)}x`, theirs.wall.toFixed(2), theirs.mb.toFixed(0));
  }
  line(cells);
}
