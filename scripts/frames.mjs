// Measures the charts in Chromium: `node scripts/frames.mjs [--plain] [--view VIEW] [--beside PAGE.html --plotly plotly.min.js] FILE…` opens
// the files in the built page, then zooms by the wheel and pans by dragging in 300 scripted steps, each as soon as the picture of the one
// before is on screen. Prints the engine's answer, from the question to the picture's arrival, the time from a step to its own picture on
// screen, and the time between drawn frames: median, 95th percentile and most, in ms.
//
// --beside takes a page of RL-Insight (its memory visualizer's, with the two charts of a segment) and does the very same to its operator
// chart, in the same browser and run. Its wheel lacks the page's template, which is recipe/visualizer/memory_template.html of its repository;
// the page asks the network for Plotly, in whose place the file of --plotly is put (plotly.js-dist-min of the version it names).
import {launch} from '../tests/browser/chromium.mjs';
import {serve} from './serve.mjs';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const PAGE = fileURLToPath(new URL('../dist/index.html', import.meta.url));
const at = name => `[data-test="${name}"]`;
const PATIENCE_MS = 600_000;
/** A step that has no picture by then has none. */
const STEP_MS = 3000;
const WHEEL = 100;
const DRAG_PX = 60;
/** In, sideways, out again: 300 steps. */
const STEPS = [['in', 60], ['left', 45], ['right', 45], ['out', 60], ['in', 30], ['left', 30], ['out', 30]].flatMap(([step, times]) => Array(times).fill(step));

const options = {isolated: true, view: 'operator', beside: null, plotly: null};
const files = [];
for (let rest = process.argv.slice(2); rest.length > 0;) {
  const [arg, ...others] = rest;
  const valued = {'--view': 'view', '--beside': 'beside', '--plotly': 'plotly'}[arg];
  if (arg === '--plain') options.isolated = false;
  else if (valued !== undefined) options[valued] = others.shift();
  else files.push(arg);
  rest = others;
}
if (files.length === 0 || !fs.existsSync(PAGE)) throw new Error('name files to open, and build the page first');
if (options.beside !== null && options.plotly === null) throw new Error('--beside needs --plotly: the page asks the network for it');

/** In the page: notes when a step begins, when its picture is there, and every frame between. */
const install = ([picture, rebuilt]) => {
  const state = {frames: [], from: null, pictures: 0};
  globalThis.measured = state;
  const note = event => { if (event.type === 'wheel' || event.buttons === 1) state.from = event.timeStamp; };
  for (const type of ['wheel', 'mousemove']) addEventListener(type, note, {capture: true, passive: true});
  if (rebuilt !== undefined) {
    // It makes its chart anew for each window.
    const made = node => node.nodeType === 1 && node.matches('.plot-container');
    new MutationObserver(changes => { state.pictures += changes.filter(({addedNodes}) => [...addedNodes].some(made)).length; }).observe(document.querySelector(rebuilt), {childList: true, subtree: true});
  }
  const pictures = () => rebuilt === undefined ? Number(document.querySelector(picture).dataset.picture) : state.pictures;
  state.begin = () => {
    state.from = null;
    state.before = pictures();
  };
  state.end = async longest => {
    const started = performance.now();
    let last = null;
    const frames = [];
    for (;;) {
      const now = await new Promise(resolve => requestAnimationFrame(resolve));
      if (last !== null) frames.push(now - last);
      last = now;
      if (state.from !== null && pictures() !== state.before) return {picture: now - state.from, frames};
      if (now - started > longest) return {picture: null, frames};
    }
  };
};

/** In the page: how long the engine takes for each picture. */
const watchEngine = () => {
  globalThis.engineMs = [];
  const asked = new Map();
  const listening = new Set();
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, transfer) {
    if (message.type === 'call' && message.method === 'frame') {
      asked.set(message.id, performance.now());
      if (!listening.has(this)) {
        this.addEventListener('message', ({data}) => data.type === 'reply' && asked.has(data.id) && globalThis.engineMs.push(performance.now() - asked.get(data.id)));
      }
      listening.add(this);
    }
    return post.call(this, message, transfer);
  };
};

/** Does the steps in the middle of an element. */
async function drive(page, selector) {
  const {x, y} = await page.evaluate(selector => {
    const element = document.querySelector(selector);
    element.scrollIntoView({block: 'center'});
    const {left, top, width, height} = element.getBoundingClientRect();
    return {x: left + width / 2, y: Math.min(innerHeight - 20, Math.max(20, top + Math.min(height, 300) / 2))};
  }, selector);
  const acts = {
    in: () => page.around.mouse.wheel(0, -WHEEL),
    out: () => page.around.mouse.wheel(0, WHEEL),
    left: () => drag(-DRAG_PX),
    right: () => drag(DRAG_PX),
  };
  const drag = async by => {
    await page.around.mouse.down();
    await page.around.mouse.move(x + by, y);
    await page.around.mouse.up();
  };
  const found = {pictures: [], frames: [], none: 0};
  for (const step of STEPS) {
    await page.around.mouse.move(x, y);
    await page.evaluate(() => globalThis.measured.begin());
    const [, {picture, frames}] = await Promise.all([acts[step](), page.evaluate(longest => globalThis.measured.end(longest), STEP_MS)]);
    found.frames.push(...frames);
    if (picture === null) found.none++;
    else found.pictures.push(picture);
  }
  return found;
}

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
const figure = ms => ms.toFixed(1).padStart(7);
const line = (name, values) => console.log(`  ${name.padEnd(24)} median ${figure(quantile(values, 0.5))} ms, 95 % ${figure(quantile(values, 0.95))} ms, most ${figure(Math.max(...values))} ms`);
function tell({pictures, frames, none}) {
  line('step to its own picture', pictures);
  line('between drawn frames', frames);
  if (none > 0) console.log(`  ${none} steps changed nothing, or not within ${STEP_MS} ms`);
}

const host = await serve({isolated: options.isolated});
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-frames-'));
const browser = await launch();
try {
  const page = await browser.open(host.address);
  const started = performance.now();
  await page.pick(at('open-files'), files);
  await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.bytes) > 0, at('peak-total'), PATIENCE_MS);
  const loaded = performance.now();
  await page.waitFor(selector => document.querySelector(selector)?.dataset.gantt !== undefined, at('gantt'), PATIENCE_MS);
  const first = performance.now();
  await page.choose(at('gantt-view'), options.view);
  await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false', at('export-menu'), PATIENCE_MS);
  await new Promise(resolve => setTimeout(resolve, 3000));
  const blocks = await page.evaluate(selector => document.querySelector(selector)?.textContent, at('gantt-counts'));
  await page.evaluate(watchEngine);
  await page.evaluate(install, [at('gantt')]);
  const ours = await drive(page, at('gantt'));
  console.log(`oomscope, view ${options.view} (${blocks}), ${options.isolated ? 'threads' : 'plain'}: peak on screen after ${((loaded - started) / 1000).toFixed(1)} s, first picture ${((first - loaded) / 1000).toFixed(1)} s later`);
  line('engine, a picture', await page.evaluate(() => globalThis.engineMs));
  tell(ours);
  if (page.problems.length > 0) console.log(page.problems.join('\n'));
  await page.close();
  if (options.beside !== null) {
    const html = fs.readFileSync(options.beside, 'utf8').replace(/https:\/\/cdn\.plot\.ly\/[^"]+/, pathToFileURL(path.resolve(options.plotly)).href);
    fs.cpSync(path.dirname(options.beside), scratch, {recursive: true});
    fs.writeFileSync(path.join(scratch, 'page.html'), html);
    const other = await browser.open(pathToFileURL(path.join(scratch, 'page.html')).href);
    await other.waitFor(() => document.querySelector('#chart2 .nsewdrag') !== null, null, PATIENCE_MS);
    const bars = await other.evaluate(() => globalThis.GANTT_STARTS.length);
    await other.evaluate(install, [null, '#chart2']);
    const theirs = await drive(other, '#chart2 .nsewdrag');
    console.log(`RL-Insight, ${bars} bars`);
    tell(theirs);
    await other.close();
  }
} finally {
  await browser.close();
  await host.close();
  fs.rmSync(scratch, {recursive: true, force: true});
}
