// What people do in the middle: open other files, cancel, close the page, change or delete what is being read. Nothing of the first remains,
// no worker goes on, and each file that could not be read is named.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import {DRIVERS, at, exported, fixture, openHosts, readPeak, report} from './harness.mjs';

const MOMENTS = 6;
const XPLANE = fixture('xplane_scan_fits/scan_fits.xplane.pb');

/** Counts the workers that live, and keeps the engine's. */
const countWorkers = () => {
  const live = globalThis.liveWorkers = new Set();
  globalThis.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      live.add(this);
    }

    terminate() {
      live.delete(this);
      super.terminate();
    }

    postMessage(message, ...rest) {
      if (message?.type === 'main') globalThis.engineWorker = this;
      super.postMessage(message, ...rest);
    }
  };
};

/** Workers that get a piece of a stream only now and then: a slow disk. */
const slowStreams = () => {
  const slow = `{
    const read = ReadableStreamBYOBReader.prototype.read;
    ReadableStreamBYOBReader.prototype.read = async function (...args) {
      await new Promise(resolve => setTimeout(resolve, 150));
      return read.apply(this, args);
    };
  }`;
  globalThis.Blob = class extends Blob {
    constructor(parts, options) {
      super(options?.type === 'text/javascript' ? [slow, ...parts] : parts, options);
    }
  };
};

const isComplete = selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false';
const pageText = page => page.evaluate(() => document.body.innerText);

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

const filesIn = top => fs.readdirSync(top, {recursive: true}).map(name => path.join(top, name)).filter(file => /operator_memory.csv|trace_view.json/.test(file));

/** The files of the capture, copied: they can be spoilt. */
const copied = t => {
  const to = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-'));
  t.after(() => fs.rmSync(to, {recursive: true, force: true}));
  return filesIn(folder).map(file => {
    const copy = path.join(to, path.basename(file));
    fs.copyFileSync(file, copy);
    return copy;
  });
};

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, {timeout: 400_000}, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    const open = async (host = 'isolated', init = countWorkers) => {
      const page = await browser.open(hosts.addresses[host], {init});
      await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.threads) > 0, at('threads'));
      return page;
    };
    const atRest = page => page.evaluate(() => globalThis.liveWorkers.size);
    /** How long a load takes. */
    const timed = async page => {
      const start = performance.now();
      await page.pick(at('open-files'), filesIn(folder));
      await page.waitFor(isComplete, at('export-menu'), 120_000);
      return performance.now() - start;
    };

    test(`other files are opened at ${MOMENTS} moments of a load: they win, and nothing of the first remains`, async () => {
      const page = await open();
      const workers = await atRest(page);
      const wanted = report(XPLANE);
      const took = await timed(page);
      for (let nth = 0; nth < MOMENTS; nth++) {
        const when = nth === 0 ? 0 : took * (nth + Math.random()) / MOMENTS;
        await page.pick(at('open-files'), filesIn(folder));
        await pause(when);
        await page.pick(at('open-files'), [XPLANE]);
        await page.waitFor(selector => document.querySelector(selector)?.textContent.includes('scan_fits'), at('found-list'));
        assert.equal(await exported(page, 'export-json'), wanted, `after ${when} ms`);
        assert.ok(!(await pageText(page)).includes('operator_memory'), `after ${when} ms`);
        assert.equal(await atRest(page), workers, `after ${when} ms`);
      }
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test(`a load is cancelled at ${MOMENTS} moments: its workers end, and the page goes on`, async () => {
      const page = await open();
      const workers = await atRest(page);
      const took = await timed(page);
      let cancelled = 0;
      for (let nth = 0; nth < MOMENTS; nth++) {
        await page.pick(at('open-files'), filesIn(folder));
        await pause(took * (nth + Math.random()) / MOMENTS);
        cancelled += await page.evaluate(selector => {
          const button = document.querySelector(selector);
          button?.click();
          return button === null ? 0 : 1;
        }, at('cancel'));
        await page.waitFor(selector => document.querySelector(selector) === null, at('progress'));
        await page.waitFor(count => globalThis.liveWorkers.size === count, workers);
      }
      assert.ok(cancelled > 0, `${cancelled} of ${MOMENTS} loads were still going on`);
      await page.pick(at('open-files'), [XPLANE]);
      await page.waitFor(selector => document.querySelector(selector)?.textContent.includes('scan_fits'), at('found-list'));
      assert.equal(await exported(page, 'export-json'), report(XPLANE));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('a page is closed in the middle of a load: nobody is asked, and the next page works', async () => {
      for (const when of [0, 300, 1500]) {
        const page = await open();
        const asked = [];
        page.around.on('dialog', dialog => {
          asked.push(dialog.message());
          void dialog.accept();
        });
        await page.pick(at('open-files'), filesIn(folder));
        await pause(when);
        await page.around.close({runBeforeUnload: true});
        assert.deepEqual(asked, []);
      }
      const page = await open();
      await page.pick(at('open-files'), [XPLANE]);
      await page.waitFor(isComplete, at('export-menu'));
      await page.close();
    });

    test('files that are gone when they are read again are named, with what to do', async t => {
      const page = await open();
      const files = copied(t);
      await page.pick(at('open-files'), files);
      await page.waitFor(isComplete, at('export-menu'), 120_000);
      await readPeak(page);
      for (const file of files) fs.rmSync(file);
      await page.evaluate(() => globalThis.engineWorker.terminate());
      await page.waitFor(() => /operator_memory\.csv[^]*could not be (read|opened)/.test(document.body.innerText), undefined, 60_000);
      assert.match(await pageText(page), /open it again/i);
      await page.close();
    });

    test('a file that is cut while it is read costs itself alone', async t => {
      const page = await open('http', slowStreams);
      const files = copied(t);
      const trace = files.find(file => file.endsWith('.json'));
      await page.pick(at('open-files'), files);
      await pause(600);
      fs.truncateSync(trace, 1 << 20);
      await page.waitFor(isComplete, at('export-menu'), 180_000);
      assert.ok(await readPeak(page) > 0);
      const [{warnings}] = JSON.parse(await exported(page, 'export-json')).captures;
      const said = warnings.filter(({file, code}) => file.endsWith('trace_view.json') && ['unreadable-file', 'cut-file'].includes(code));
      assert.ok(said.length > 0, JSON.stringify(warnings));
      await page.close();
    });

    test('a file that cannot be looked into is named, not passed over', async t => {
      const file = path.join(path.dirname(copied(t)[0]), 'report.json');
      fs.writeFileSync(file, '{}');
      const page = await open('http', () => {
        const {slice} = Blob.prototype;
        Blob.prototype.slice = function (...args) {
          if (this.name === 'report.json') throw new DOMException('no permission', 'NotReadableError');
          return slice.apply(this, args);
        };
      });
      await page.pick(at('open-files'), [file]);
      await page.waitFor(selector => /“report.json” could not be opened.*no permission.*Open it again/.test(document.querySelector(selector)?.innerText), at('message'));
      await page.close();
    });
  });
}
