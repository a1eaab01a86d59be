// What the page may weigh. A budget that is passed is raised on purpose, with the reason in the commit, or not at all.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import zlib from 'node:zlib';

const top = new URL('../..', import.meta.url);
const read = file => fs.readFileSync(fileURLToPath(new URL(file, top)));
const MIB = 2 ** 20;

const within = (what, bytes, most) => assert.ok(bytes <= most, `${what} has ${(bytes / MIB).toFixed(2)} MiB, its budget is ${(most / MIB).toFixed(2)}`);

test('the page', () => {
  const page = read('dist/index.html');
  within('index.html', page.length, 4.25 * MIB);
  within('index.html, packed', zlib.gzipSync(page).length, 3 * MIB);
});

for (const variant of ['plain', 'threads']) {
  test(`the ${variant} wasm`, () => within(`oomscope_bg.wasm, ${variant}`, read(`target/${variant}/pkg/oomscope_bg.wasm`).length, 3.5 * MIB));
}

test('what the page does before anything is opened: the scripts it must run', () => {
  const page = read('dist/index.html').toString();
  const app = page.slice(page.lastIndexOf('<script>'));
  within('the page’s own script', app.length, 0.4 * MIB);
});
