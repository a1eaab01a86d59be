// Builds the page twice, from two copies of the project in folders of different names and lengths, and compares what comes out byte by byte: `make
// reproducible`. Two whole builds; everything is in git, so what is not committed is not built.
import {execFileSync, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const top = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['a', 'another/place/with/a/longer/name'];

/** What a build leaves for others: its files with their hashes. */
const hashes = dist => Object.fromEntries(fs.readdirSync(dist, {recursive: true}).map(String).filter(file => fs.statSync(path.join(dist, file)).isFile()).sort()
  .map(file => [file, createHash('sha256').update(fs.readFileSync(path.join(dist, file))).digest('hex')]));

/** Builds a copy of what is committed, and returns the hashes of what came out. */
function built(folder) {
  fs.mkdirSync(folder, {recursive: true});
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', top, folder]);
  const {status} = spawnSync('make', ['build'], {cwd: folder, stdio: ['ignore', 'inherit', 'inherit']});
  if (status !== 0) throw new Error(`the build in ${folder} failed`);
  const made = hashes(path.join(folder, 'dist'));
  // Gigabytes.
  fs.rmSync(folder, {recursive: true, force: true});
  return made;
}

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-reproducible-'));
try {
  const [one, other] = FOLDERS.map(folder => built(path.join(scratch, folder)));
  const files = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  for (const file of files) console.log(`${one[file] === other[file] ? 'equal' : 'DIFFERENT'}  ${one[file]}  ${file}`);
  process.exitCode = files.length > 0 && files.every(file => one[file] === other[file]) ? 0 : 1;
} finally {
  fs.rmSync(scratch, {recursive: true, force: true});
}
