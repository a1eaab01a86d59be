// What is measured on: captures that the project's generators make, each twice as large as the one before, kept in target/bench.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {lengthened} from '../../fixtures/lengthen.mjs';

const HOME = 'target/bench';
const ROWS = [125_000, 250_000, 500_000];
/** The fixture has four executions. */
const REPEATED = [1000, 2000, 4000];
const FIXTURE = 'fixtures/xplane_scan_fits/scan_fits.xplane.pb';

/** Made once; a folder that was left half done is made again. */
const made = (name, make) => {
  const folder = path.join(HOME, name);
  if (!fs.existsSync(path.join(folder, 'done'))) {
    console.error(`making ${folder}`);
    fs.rmSync(folder, {recursive: true, force: true});
    fs.mkdirSync(folder, {recursive: true});
    make(folder);
    fs.writeFileSync(path.join(folder, 'done'), '');
  }
  return folder;
};

export const ascendCaptures = () => ROWS.map(rows => made(`ascend-${rows}`, folder =>
  execFileSync(process.execPath, ['fixtures/generate.mjs', '--out', folder, '--rows', String(rows), '--trace', '--outside', '2000'], {stdio: ['ignore', 'ignore', 'inherit']})));

export const jaxCaptures = () => REPEATED.map(times => made(`jax-${times}`, folder =>
  fs.writeFileSync(path.join(folder, 'host.xplane.pb'), lengthened(fs.readFileSync(FIXTURE), times))));

/** All files below a folder, or the file itself. */
export const filesOf = place =>
  fs.statSync(place).isFile() ? [place] : fs.readdirSync(place, {recursive: true}).map(file => path.join(place, file)).filter(file => fs.statSync(file).isFile());

export const fileOf = (folder, is) => filesOf(folder).find(is);

export const megabytes = place => filesOf(place).reduce((sum, file) => sum + fs.statSync(file).size, 0) / 1e6;
