// Trunk's post-build hook: turns the staged index.html into the one self-contained page.
import {execFileSync} from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import {bundleScript, bundleStyle} from './bundle.mjs';
import {packFiles, packSample} from './sample.mjs';

const SAMPLES = ['fixtures/ascend_sample', 'fixtures/xplane_attention_oom'];
/** What the self-test reads beside them: see src/selftest.rs. */
const SELF_TEST = [
  'ascend_formats/ge/actor_update/npu-node-01_437600_20260526085155960_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv',
  'xplane_scan_fits/scan_fits.xplane.pb',
  'xplane_bfc_retry/bfc_retry.xplane.pb',
];
const VARIANTS = ['plain', 'threads'];

const sha256 = text => `'sha256-${crypto.createHash('sha256').update(text).digest('base64')}'`;
const packed = bytes => zlib.gzipSync(bytes, {level: 9}).toString('base64');
const data = (id, text) => `<script type="text/plain" id="${id}">${text}</script>\n`;

// Types first: a message that one of the languages lacks ends the build here.
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit'], {stdio: 'inherit'});

const style = await bundleStyle('www/style.css');
const app = await bundleScript('www/app.tsx');
const parts = [];
for (const variant of VARIANTS) {
  parts.push(data(`wasm-${variant}`, packed(fs.readFileSync(`target/${variant}/pkg/oomscope_bg.wasm`))));
  parts.push(data(`worker-${variant}`, await bundleScript(`www/worker-${variant}.ts`)));
}
for (const folder of SAMPLES) parts.push(data(`sample-${path.basename(folder)}`, packed(packSample(folder))));
parts.push(data('self-test', packed(packFiles('fixtures', SELF_TEST.map(file => `fixtures/${file}`)))));

// Blocks are hashed, never 'unsafe-inline'; Preact's style properties go through the CSSOM, which needs no permission.
const policy = [
  "default-src 'none'",
  `script-src ${sha256(app)} 'wasm-unsafe-eval'`,
  `style-src ${sha256(style)}`,
  // 'self' for sw.js alone: the page's own workers are Blobs, which inherit this policy.
  "worker-src blob: 'self'",
  'img-src data: blob:',
  "connect-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
].join('; ');

const stage = process.env.TRUNK_STAGING_DIR ?? 'dist';
const file = path.join(stage, 'index.html');
let html = fs.readFileSync(file, 'utf8').replace(/<!--(?! (csp|styles|data|app) )[^]*?-->\n?|<link data-trunk[^>]*>\n?/g, '');
const put = (mark, text) => {
  if (html.split(mark).length !== 2) throw new Error(`index.html must hold ${mark} once`);
  html = html.replace(mark, () => text);
};
put('<!-- csp -->', `<meta http-equiv="Content-Security-Policy" content="${policy}">`);
put('<!-- styles -->', `<style>${style}</style>`);
put('<!-- data -->\n', parts.join(''));
put('<!-- app -->', `<script>${app}</script>`);
fs.writeFileSync(file, html);

// What is being worked on is never taken from a cache.
if (!process.env.OOMSCOPE_DEV) {
  const script = fs.readFileSync('www/sw.js', 'utf8').replace('<!-- sha256 -->', crypto.createHash('sha256').update(html).digest('hex'));
  fs.writeFileSync(path.join(stage, 'sw.js'), script);
}

const strays = fs.readdirSync(stage).filter(name => name !== 'index.html' && name !== 'sw.js');
if (strays.length > 0) throw new Error(`the page must be one file with its sw.js, but there is also ${strays.join(', ')}`);
const size = bytes => `${(bytes.length / 1024).toFixed(0)} KiB`;
console.log(`index.html: ${size(Buffer.from(html))}, ${size(zlib.gzipSync(html))} gzipped`);
