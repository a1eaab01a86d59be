// The page as a file: what is inside, what it may do.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import zlib from 'node:zlib';
import {PAGE, logFile} from './harness.mjs';

const html = fs.readFileSync(PAGE, 'utf8');
const data = id => html.match(new RegExp(`<script type="text/plain" id="${id}">([^]*?)</script>`))?.[1];
const hash = text => `'sha256-${crypto.createHash('sha256').update(text).digest('base64')}'`;
const only = pattern => {
  const found = [...html.matchAll(pattern)];
  assert.equal(found.length, 1, `${pattern} once`);
  return found[0][1];
};

test('dist/ holds one file, and the service worker that cannot be in it', () => {
  assert.deepEqual(fs.readdirSync(path.dirname(PAGE)).sort(), ['index.html', 'sw.js']);
});

test('the policy allows this script and this style, and no connection', () => {
  const policy = new Map(only(/<meta http-equiv="Content-Security-Policy" content="([^"]*)">/g).split('; ').map(rule => [rule.split(' ')[0], rule]));
  assert.equal(policy.get('default-src'), "default-src 'none'");
  for (const name of ['connect-src', 'form-action', 'base-uri']) assert.equal(policy.get(name), `${name} 'none'`);
  assert.equal(policy.get('script-src'), `script-src ${hash(only(/<script>([^]*?)<\/script>/g))} 'wasm-unsafe-eval'`);
  assert.equal(policy.get('style-src'), `style-src ${hash(only(/<style>([^]*?)<\/style>/g))}`);
  assert.equal(policy.get('worker-src'), "worker-src blob: 'self'");
  assert.ok(html.indexOf('Content-Security-Policy') < html.indexOf('<style>'), 'the policy stands before what it governs');
});

test('docs/security.md shows this policy', () => {
  const shown = /```text\n(default-src[^]*?)```/.exec(fs.readFileSync('docs/security.md', 'utf8'))[1].replace(/\s+/g, ' ').trim();
  const policy = only(/<meta http-equiv="Content-Security-Policy" content="([^"]*)">/g);
  assert.equal(policy.replace(/'sha256-[^']*'/, "'<hash of the one script>'").replace(/'sha256-[^']*'/, "'<hash of the one style>'"), shown);
});

test('nothing must be fetched', () => {
  const markup = html.replace(/(<(script|style)[^>]*>)[^]*?(?=<\/\2>)/g, '$1');
  const addresses = [...markup.matchAll(/\b(?:src|href|srcset|action|data)\s*=\s*["']?([^"'\s>]+)/g)].map(match => match[1]);
  assert.deepEqual(addresses.filter(address => !address.startsWith('data:')), []);
  assert.match(markup, /<link rel="icon" href="data:/);
  assert.ok(!html.includes('trunk/ws'), "trunk serve's reload script");
  assert.ok(!html.includes('data-trunk'), "trunk's own markup");
  assert.ok(!/import\.meta/.test(html), 'modules do not work from file://');
});

test('both variants of the wasm are inside, with SIMD; threads with shared memory', () => {
  const folder = path.dirname(logFile());
  for (const [variant, memory] of [['plain', /\(memory \$\S+ \d+\)/], ['threads', /\(import [^\n]*\(memory \$\S+ \d+ \d+ shared\)/]]) {
    const file = path.join(folder, `${variant}.wasm`);
    fs.writeFileSync(file, zlib.gunzipSync(Buffer.from(data(`wasm-${variant}`), 'base64')));
    const text = execFileSync('node_modules/.bin/wasm-dis', ['--all-features', file], {encoding: 'utf8', maxBuffer: 2 ** 30});
    assert.match(text, /\bv128\./, `${variant}: SIMD`);
    assert.match(text, memory, `${variant}: memory`);
    assert.ok(data(`worker-${variant}`).length > 0);
  }
});

test('size', t => {
  const size = bytes => `${(bytes.length / 1024).toFixed(0)} KiB`;
  t.diagnostic(`index.html: ${size(Buffer.from(html))}, gzipped ${size(zlib.gzipSync(html))}`);
});
