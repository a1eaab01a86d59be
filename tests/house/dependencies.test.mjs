// Every dependency has a reason in docs/dependencies.md and a licence that fits.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {sbom} from '../../scripts/sbom.mjs';

const top = fileURLToPath(new URL('../..', import.meta.url));
process.chdir(top);
/** One list for crates and packages: cargo-deny's. */
const FITTING = [.../^allow = \[([^\]]*)\]/m.exec(fs.readFileSync('deny.toml', 'utf8'))[1].matchAll(/"([^"]+)"/g)].map(([, licence]) => licence);

/** `(A OR B) AND C`, or `A/B` as older manifests write it: fits where every part of an AND has a fitting one of its ORs. */
const fits = licence => licence.replace(/[()]/g, '').split(' AND ').every(part => part.split(/ OR |\//).some(each => FITTING.includes(each.trim())));

test('a licence that does not fit is seen', () => {
  assert.ok(fits('(MIT OR GPL-3.0) AND Unicode-3.0') && fits('MIT/Apache-2.0'));
  assert.ok(!fits('GPL-3.0-only') && !fits('MIT AND AGPL-3.0') && !fits(''));
});

test('every crate of Cargo.lock has a fitting licence', () => {
  const {packages} = JSON.parse(execFileSync('cargo', ['metadata', '--locked', '--format-version', '1'], {encoding: 'utf8', maxBuffer: 2 ** 28}));
  const unfit = packages.filter(({license}) => !fits(license ?? '')).map(({name, license}) => `${name}: ${license}`);
  assert.deepEqual(unfit, []);
  assert.ok(packages.length > 50);
});

test('every package of package-lock.json that is installed has a fitting licence', () => {
  const {packages} = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  const folders = Object.keys(packages).filter(folder => folder !== '' && fs.existsSync(path.join(folder, 'package.json')));
  const unfit = folders.map(folder => ({folder, licence: JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).license ?? ''})).filter(({licence}) => !fits(licence));
  assert.deepEqual(unfit, []);
  assert.ok(folders.length > 10);
});

test('every direct dependency has a reason', () => {
  const reasons = fs.readFileSync('docs/dependencies.md', 'utf8');
  const manifest = fs.readFileSync('Cargo.toml', 'utf8');
  const sections = [...manifest.matchAll(/^\[(?:target\..*\.)?(?:dev-)?dependencies\]\n((?:[^[\n].*\n|\n)*)/gm)].map(match => match[1]).join('\n');
  const crates = [...sections.matchAll(/^([a-z0-9_-]+) = /gm)].map(match => match[1]);
  const packages = Object.keys(JSON.parse(fs.readFileSync('package.json', 'utf8')).devDependencies);
  assert.ok(crates.length > 15 && crates.includes('web-sys') && crates.includes('proptest'));
  assert.deepEqual([...crates, ...packages].filter(name => !reasons.includes(`\`${name}\``)), []);
});

test('the bill of materials holds what the page holds, and no path of the builder', async () => {
  const text = await sbom();
  const {components} = JSON.parse(text);
  for (const name of ['rayon', 'preact', 'wasm-bindgen-rayon', 'serde_json']) assert.ok(components.some(component => component.name === name), name);
  assert.ok(!components.some(({name}) => name === 'typescript' || name === 'proptest'));
  assert.ok(!text.includes(top));
});
