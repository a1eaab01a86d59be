// What people do in the middle: open other files, cancel, close the page, change or delete what is being read. Nothing of the first remains,
// no worker goes on, and each file that could not be read is named.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import {DRIVERS, at, exported, fixture, generated, isRead, openHosts, readPeak, report, scratchFolder} from './harness.mjs';
import {countWorkers, slowStreams} from './inits.mjs';

const MOMENTS = 6;
const XPLANE = fixture('xplane_scan_fits/scan_fits.xplane.pb');

const pageText = page => page.evaluate(() => document.body.innerText);

let hosts;
let files;
before(async () => {
  hosts = await openHosts();
  files = generated(40_000, '--trace');
});
after(() => hosts.close());

/** The files of the capture, copied: they can be spoilt. */
const copied = () => {
  const to = scratchFolder();
  return files.map(file => {
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
      await page.pick(at('open-files'), files);
      await isRead(page, 120_000);
      return performance.now() - start;
    };

    test(`other files are opened at ${MOMENTS} moments of a load: they win, and nothing of the first remains`, async () => {
      const page = await open();
      const workers = await atRest(page);
      const wanted = report(XPLANE);
      const took = await timed(page);
      for (let nth = 0; nth < MOMENTS; nth++) {
        const when = nth === 0 ? 0 : took * (nth + Math.random()) / MOMENTS;
        await page.pick(at('open-files'), files);
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
        await page.pick(at('open-files'), files);
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
        await page.pick(at('open-files'), files);
        await pause(when);
        await page.around.close({runBeforeUnload: true});
        assert.deepEqual(asked, []);
      }
      const page = await open();
      await page.pick(at('open-files'), [XPLANE]);
      await isRead(page);
      await page.close();
    });

    test('files that are gone when they are read again are named, with what to do', async () => {
      const page = await open();
      const spoilt = copied();
      await page.pick(at('open-files'), spoilt);
      await isRead(page, 120_000);
      await readPeak(page);
      for (const file of spoilt) fs.rmSync(file);
      await page.evaluate(() => globalThis.engineWorker.terminate());
      await page.waitFor(() => /operator_memory\.csv[^]*could not be (read|opened)/.test(document.body.innerText), undefined, 60_000);
      assert.match(await pageText(page), /open it again/i);
      await page.close();
    });

    test('a file that is cut while it is read costs itself alone', async () => {
      const page = await open('http', slowStreams);
      const spoilt = copied();
      const trace = spoilt.find(file => file.endsWith('.json'));
      await page.pick(at('open-files'), spoilt);
      await pause(600);
      fs.truncateSync(trace, 1 << 20);
      await isRead(page, 180_000);
      assert.ok(await readPeak(page) > 0);
      const [{warnings}] = JSON.parse(await exported(page, 'export-json')).captures;
      const said = warnings.filter(({file, code}) => file.endsWith('trace_view.json') && ['unreadable-file', 'cut-file'].includes(code));
      assert.ok(said.length > 0, JSON.stringify(warnings));
      await page.close();
    });

    test('a file that cannot be looked into is named, not passed over', async () => {
      const file = path.join(path.dirname(copied()[0]), 'report.json');
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
