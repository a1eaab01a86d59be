// The archive for hosts: all that is in it, and the same bytes each time.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import zlib from 'node:zlib';
import {release} from '../../scripts/release.mjs';

test('the page, its worker and every licence, in the same bytes each time', async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-'));
  t.after(() => fs.rmSync(folder, {recursive: true, force: true}));
  const first = await release(path.join(folder, 'one'));
  const second = await release(path.join(folder, 'two'));
  assert.ok(fs.readFileSync(first).equals(fs.readFileSync(second)));
  const [, top] = /([^/\\]+)\.tar\.gz$/.exec(first);
  execFileSync('tar', ['-xzf', first, '-C', folder]);
  assert.deepEqual(fs.readdirSync(path.join(folder, top)).sort(), ['LICENSE', 'LICENSES-inside.txt', 'index.html', 'sbom.cdx.json', 'sw.js']);
  for (const name of ['index.html', 'sw.js']) assert.ok(fs.readFileSync(path.join(folder, top, name)).equals(fs.readFileSync(path.join('dist', name))), name);
  assert.match(execFileSync('tar', ['-tvzf', first], {encoding: 'utf8', env: {...process.env, TZ: 'UTC', LC_ALL: 'C'}}), /^-rw-r--r-- \S+ +\d+ 1980-01-01 00:00 \S+\/LICENSE$/m);

  const text = fs.readFileSync(path.join(folder, top, 'LICENSES-inside.txt'), 'utf8');
  for (const name of ['preact', 'rayon', 'serde_json', 'plotters', 'wasm-bindgen', 'prost', 'Rust\'s standard library']) assert.match(text, new RegExp(`^${name} \\d+\\.\\d+`, 'm'));
  for (const name of ['esbuild', 'typescript', 'proptest', 'syn']) assert.doesNotMatch(text, new RegExp(`^${name} \\d`, 'm'), `${name} only builds or tests the page`);
  // What left a trace of its path in the wasm is listed.
  const html = fs.readFileSync('dist/index.html', 'utf8');
  for (const variant of ['plain', 'threads']) {
    const wasm = zlib.gunzipSync(Buffer.from(new RegExp(`id="wasm-${variant}">([^<]*)<`).exec(html)[1], 'base64')).toString('latin1');
    const crates = new Set([...wasm.matchAll(/\/cargo\/registry\/src\/[^/]+\/([\w-]+)-(\d+\.\d+\.\d+)[^/]*\//g)].map(([, name, version]) => `${name} ${version}`));
    assert.ok(crates.size > 3, `${variant}: ${[...crates]}`);
    for (const crate of crates) assert.ok(text.includes(`\n${crate}`), crate);
  }
});
