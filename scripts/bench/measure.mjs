// A command as a process of its own, measured: CPU of it and its children, wall, and the memory of the largest of them at its peak.
import {spawn} from 'node:child_process';
import fs from 'node:fs';

const WATCH_MS = 5;

/** CPU and wall in seconds, peak memory in MB (NaN where there is no /proc). `env`: variables besides. */
export const measure = (command, env = {}) => new Promise((resolve, reject) => {
  // `times` of the shell is the one clock of a child's CPU that is everywhere.
  const script = '"$@" >/dev/null 2>&1 & echo $!; wait $!; code=$?; times; exit $code';
  const started = performance.now();
  const shell = spawn('sh', ['-c', script, 'sh', ...command], {stdio: ['ignore', 'pipe', 'inherit'], env: {...process.env, ...env}});
  let said = '';
  let peakKb = NaN;
  const watch = setInterval(() => {
    const pid = said.split('\n', 1)[0];
    if (pid === '') return;
    for (const member of family(pid)) {
      const found = /^VmHWM:\s+(\d+)/m.exec(readIfThere(`/proc/${member}/status`));
      if (found !== null) peakKb = Math.max(Number.isNaN(peakKb) ? 0 : peakKb, Number(found[1]));
    }
  }, WATCH_MS);
  shell.stdout.on('data', text => { said += text; });
  shell.on('error', reject);
  shell.on('close', code => {
    clearInterval(watch);
    const wall = (performance.now() - started) / 1000;
    if (code !== 0) return reject(new Error(`${command.join(' ')} ended with ${code}`));
    const children = said.trim().split('\n').at(-1).split(' ').map(seconds);
    resolve({cpu: children[0] + children[1], wall, mb: peakKb * 1024 / 1e6});
  });
});

const RUNS = 3;
/** Long runs are disturbed less, and would be waited for. */
const ENOUGH_MS = 8000;

/** The least of some runs: what disturbs a run only makes it slower. */
export const least = async run => {
  const all = [];
  for (const started = performance.now(); all.length < RUNS && (all.length === 0 || performance.now() - started < ENOUGH_MS);) all.push(await run());
  return Object.fromEntries(Object.keys(all[0]).map(key => [key, Math.min(...all.map(measured => measured[key]))]));
};

/** A process and those it started. */
const family = pid => [pid, ...(readIfThere(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? []).flatMap(family)];

/** `0m1.230s` */
const seconds = text => {
  const [, minutes, rest] = /(\d+)m([\d.]+)s/.exec(text.replace(',', '.'));
  return Number(minutes) * 60 + Number(rest);
};

const readIfThere = file => {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
