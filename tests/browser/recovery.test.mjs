// What ends under the page does not end the page: the engine is ended at many moments of a load, a file's stream stalls.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, attribute, exported, fixture, openHosts, readPeak, report} from './harness.mjs';

const KILLS = 20;

/** Keeps the engine's worker at hand. */
const keepEngine = () => {
  globalThis.Worker = class extends Worker {
    postMessage(message, ...rest) {
      if (message?.type === 'main') globalThis.engineWorker = this;
      super.postMessage(message, ...rest);
    }
  };
};

/** Workers whose files' streams give one piece and then nothing more. */
const stallStreams = () => {
  const stalling = `{
    const read = ReadableStreamBYOBReader.prototype.read;
    let reads = 0;
    ReadableStreamBYOBReader.prototype.read = function (...args) { return reads++ < 1 ? read.apply(this, args) : new Promise(() => {}); };
  }`;
  globalThis.Blob = class extends Blob {
    constructor(parts, options) {
      super(options?.type === 'text/javascript' ? [stalling, ...parts] : parts, options);
    }
  };
};

const isComplete = selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false';

let hosts;
let folder;
before(async () => {
  hosts = await openHosts();
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-'));
  const made = spawnSync(process.execPath, [fixture('generate.mjs'), '--out', folder, '--rows', '40000', '--trace'], {encoding: 'utf8'});
  assert.equal(made.status, 0, made.stderr);
});
after(async () => {
  fs.rmSync(folder, {recursive: true, force: true});
  await hosts.close();
});

const files = () => fs.readdirSync(folder, {recursive: true}).map(name => path.join(folder, name)).filter(file => /operator_memory.csv|trace_view.json/.test(file));

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    /** Loads the capture, ends the engine so many ms later, and says what the page shows in the end. */
    const load = async (host, killAfter) => {
      const page = await browser.open(hosts.addresses[host], {init: keepEngine});
      await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.threads) > 0, at('threads'));
      await page.pick(at('open-files'), files());
      const start = performance.now();
      if (killAfter !== null) {
        await page.evaluate(async ms => {
          await new Promise(resolve => setTimeout(resolve, ms));
          globalThis.engineWorker.terminate();
        }, killAfter);
        await page.waitFor(selector => document.querySelector(selector) !== null, at('message'));
      }
      await page.waitFor(isComplete, at('export-menu'), 60_000);
      const took = performance.now() - start;
      const seen = {peak: await readPeak(page), said: await page.evaluate(selector => document.querySelector(selector)?.innerText ?? '', at('message'))};
      await page.close();
      return {...seen, took};
    };

    test(`the engine is ended at ${KILLS} moments of a load: each time the page recovers and says so`, {timeout: 600_000}, async () => {
      for (const host of ['file', 'isolated']) {
        const calm = await load(host, null);
        assert.equal(calm.said, '');
        for (let kill = 0; kill < KILLS / 2; kill++) {
          const when = calm.took * (kill + Math.random()) / (KILLS / 2);
          const {peak, said} = await load(host, when);
          assert.equal(peak, calm.peak, `${host}: after ${when} ms`);
          assert.match(said, /^The engine ended: /, `${host}: after ${when} ms`);
        }
      }
    });

    test('after a recovery the view is as it was', async () => {
      const page = await browser.open(hosts.addresses.http, {init: keepEngine});
      await page.pick(at('open-files'), files());
      await page.waitFor(isComplete, at('export-menu'));
      await page.evaluate(selector => document.querySelector(selector).click(), at('tab-top'));
      await page.waitFor(() => location.hash.includes('tab=top'));
      await page.evaluate(() => globalThis.engineWorker.terminate());
      await page.waitFor(selector => document.querySelector(selector) !== null, at('message'));
      await page.waitFor(isComplete, at('export-menu'));
      await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at('tab-top'));
      await page.close();
    });

    test('a stream that stalls is read on by slices', {timeout: 120_000}, async () => {
      const page = await browser.open(hosts.addresses.http, {init: stallStreams});
      const tables = files().filter(file => file.endsWith('.csv'));
      await page.pick(at('open-files'), tables);
      await page.waitFor(isComplete, at('export-menu'), 60_000);
      assert.equal(await exported(page, 'export-json'), report(...tables));
      await page.close();
    });
  });
}
