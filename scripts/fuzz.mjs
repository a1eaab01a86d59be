// Builds the fuzz targets and runs them: `node scripts/fuzz.mjs [seconds a target] [target ...]`. What is found lies in tests/fuzz/artifacts.
// `node scripts/fuzz.mjs keep` packs what reached new code, the fewest inputs that reach all of it, into tests/fuzz/grown.
// The coverage that libFuzzer needs is an ordinary pass of the pinned compiler; without a sanitizer nothing asks for a nightly one. The page's own
// target, messages, is TypeScript and led by V8's coverage (tests/fuzz/page).
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {gzipSync} from 'node:zlib';

const FLAGS = ['-Cpasses=sancov-module', '-Cllvm-args=-sanitizer-coverage-level=4', '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table', '-Cllvm-args=-sanitizer-coverage-trace-compares', '-Ccodegen-units=1', '--cfg=fuzzing'];
const HOME = 'tests/fuzz';
const BUILT = 'target/fuzz';
const SECONDS = 15;
/** An input that takes longer than this many seconds, or more than this many MiB, is a finding. */
const LIMITS = ['-timeout=10', '-rss_limit_mb=2048', '-malloc_limit_mb=1024'];

/** No kept input is longer. */
const KEPT_BYTES = 8192;

const [given, ...chosen] = process.argv.slice(2);
const keeps = given === 'keep';
const seconds = keeps ? 0 : Number(given ?? SECONDS);
const MESSAGES = 'messages';
const READERS = fs.readdirSync(path.join(HOME, 'targets')).map(file => path.basename(file, '.rs'));
const targets = [...READERS, MESSAGES].filter(name => chosen.length === 0 || chosen.includes(name));

// By its name, else the build scripts would be measured too.
const host = /host: (\S+)/.exec(spawnSync('rustc', ['-vV'], {encoding: 'utf8'}).stdout)?.[1] ?? '';
const build = targets.every(name => name === MESSAGES) ? {status: 0} : spawnSync('cargo', ['build', '--release', '--locked', '--quiet', '--manifest-path', path.join(HOME, 'Cargo.toml'), '--target-dir', BUILT, '--target', host],
  {stdio: 'inherit', env: {...process.env, CARGO_ENCODED_RUSTFLAGS: FLAGS.join('\u001f')}});
if (build.status !== 0) process.exit(1);

/** How a target is run: on the inputs that it grew, its seeds, and where a finding goes. */
const commandOf = (name, grown, seeds, found) => {
  if (name === MESSAGES) return [process.execPath, [path.join(HOME, 'page/run.mjs'), String(seconds), grown, seeds, found]];
  const dictionary = path.join(HOME, 'dict', `${name}.dict`);
  return [path.join(BUILT, host, 'release', name), [grown, seeds, `-max_total_time=${seconds}`, ...LIMITS, '-print_final_stats=1', `-artifact_prefix=${found}/`,
    ...fs.existsSync(dictionary) ? [`-dict=${dictionary}`] : []]];
};

const archiveOf = name => path.join(HOME, 'grown', `${name}.tar.gz`);
const grownOf = name => path.join(BUILT, 'corpus', name);

/** Runs one target on its kept inputs and on new ones; new inputs that reach new code stay in the build's folder. */
const run = name => new Promise(resolve => {
  const grown = grownOf(name);
  const found = path.join(HOME, 'artifacts', name);
  for (const folder of [grown, found]) fs.mkdirSync(folder, {recursive: true});
  if (fs.existsSync(archiveOf(name))) execFileSync('tar', ['-xzf', archiveOf(name), '-C', path.dirname(grown)]);
  const child = spawn(...commandOf(name, grown, path.join(HOME, 'corpus', name), found), {stdio: ['ignore', 'ignore', 'pipe']});
  let text = '';
  child.stderr.on('data', bytes => { text = (text + bytes).slice(-100_000); });
  child.on('close', code => {
    const executions = /stat::number_of_executed_units:\s*(\d+)/.exec(text)?.[1] ?? '0';
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${executions.padStart(10)} inputs in ${seconds} s`);
    if (code !== 0) console.log(text.split('\n').slice(-40).join('\n'));
    resolve(code === 0);
  });
});

/** The same bytes each time from the same inputs. */
const keep = name => {
  const least = path.join(BUILT, 'least', name);
  fs.rmSync(least, {recursive: true, force: true});
  fs.mkdirSync(least, {recursive: true});
  execFileSync(path.join(BUILT, host, 'release', name), ['-set_cover_merge=1', `-max_len=${KEPT_BYTES}`, least, grownOf(name)], {stdio: 'ignore'});
  const tar = execFileSync('tar', ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '-c', '-C', path.dirname(least), name], {maxBuffer: 2 ** 30});
  fs.mkdirSync(path.dirname(archiveOf(name)), {recursive: true});
  fs.writeFileSync(archiveOf(name), gzipSync(tar, {level: 9}));
  console.log(`${name.padEnd(8)} ${String(fs.readdirSync(grownOf(name)).length).padStart(6)} inputs, kept ${fs.readdirSync(least).length}`);
};
if (keeps) {
  targets.filter(name => name !== MESSAGES).forEach(keep);
  process.exit(0);
}

const waiting = [...targets];
const results = [];
const lane = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) results.push(await run(name));
};
await Promise.all(Array.from({length: os.availableParallelism()}, lane));
const passed = results.filter(Boolean).length;
// In the words that scripts/check.mjs counts.
console.log(`\nℹ pass ${passed}\nℹ fail ${results.length - passed}`);
process.exitCode = passed === results.length ? 0 : 1;
