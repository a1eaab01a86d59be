// Measures the charts in Chromium: `node scripts/frames.mjs [--plain] [--view VIEW] FILE…` opens the files in the built page, then pans and zooms in 300
// scripted steps, each as soon as the picture of the one before is on screen. Prints the engine's answer, from the question to the picture's
// arrival, the time from a step to its own picture on screen, and the time between drawn frames: median, 95th percentile and most, in ms.
import {launch} from '../tests/browser/chromium.mjs';
import {PAGE, at, readPeak} from '../tests/browser/harness.mjs';
import {serve} from './serve.mjs';
import fs from 'node:fs';

const STEPS = 300;
const PATIENCE_MS = 600_000;

const args = process.argv.slice(2);
const isolated = !args.includes('--plain');
const view = args.includes('--view') ? args[args.indexOf('--view') + 1] : 'operator';
const files = args.filter((arg, nth) => !arg.startsWith('--') && args[nth - 1] !== '--view');
if (files.length === 0 || !fs.existsSync(PAGE)) throw new Error('name files to open, and build the page first');

const host = await serve({isolated});
const browser = await launch();
const page = await browser.open(host.address);
const started = performance.now();
await page.pick(at('open-files'), files);
await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.bytes) > 0, at('peak-total'), PATIENCE_MS);
await readPeak(page);
const loaded = performance.now();
const drawn = selector => document.querySelector(selector)?.dataset.gantt !== undefined;
await page.waitFor(drawn, at('gantt'), PATIENCE_MS);
const first = performance.now();
await page.choose(at('gantt-view'), view);
await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false', at('export-menu'), PATIENCE_MS);
await new Promise(resolve => setTimeout(resolve, 3000));

const figures = await page.evaluate(async ([steps, gantt]) => {
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  const press = key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
  document.activeElement?.blur();
  // In, sideways, out again: every zoom from the whole to about a millionth of it.
  const keys = [...Array(60).fill('w'), ...Array(45).fill('d'), ...Array(45).fill('a'), ...Array(60).fill('s'), ...Array(30).fill('w'), ...Array(30).fill('d'), ...Array(30).fill('s')];
  const engine = [];
  const asked = new Map();
  const post = Worker.prototype.postMessage;
  const listening = new Set();
  Worker.prototype.postMessage = function (message, transfer) {
    if (message.type === 'call' && message.method === 'frame') {
      asked.set(message.id, performance.now());
      if (!listening.has(this)) {
        this.addEventListener('message', ({data}) => data.type === 'reply' && asked.has(data.id) && engine.push(performance.now() - asked.get(data.id)));
      }
      listening.add(this);
    }
    return post.call(this, message, transfer);
  };
  const pictures = [];
  const frames = [];
  let last = await frame();
  const canvas = document.querySelector(gantt);
  for (const key of keys.slice(0, steps)) {
    const before = canvas.dataset.picture;
    const pressed = performance.now();
    press(key);
    for (;;) {
      const now = await frame();
      frames.push(now - last);
      last = now;
      if (canvas.dataset.picture !== before || performance.now() - pressed > 2000) break;
    }
    pictures.push(performance.now() - pressed);
  }
  return {engine, pictures, frames};
}, [STEPS, at('gantt')]);

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
const line = (name, values) => console.log(`${name.padEnd(26)} median ${quantile(values, 0.5).toFixed(1).padStart(7)} ms, 95 % ${quantile(values, 0.95).toFixed(1).padStart(7)} ms, most ${Math.max(...values).toFixed(1).padStart(7)} ms`);
console.log(`view ${view}, ${isolated ? 'threads' : 'plain'}: peak on screen after ${((loaded - started) / 1000).toFixed(1)} s, first picture ${((first - loaded) / 1000).toFixed(1)} s later`);
line('engine, a picture', figures.engine);
line('step to its own picture', figures.pictures);
line('between drawn frames', figures.frames);
if (page.problems.length > 0) console.log(page.problems.join('\n'));
await browser.close();
await host.close();
