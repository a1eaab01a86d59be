// What ends under the page does not end the page: the engine is ended at many moments of a load, a file's stream stalls.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, activate, at, exported, generated, isRead, openHosts, readPeak, report} from './harness.mjs';
import {countWorkers, stallStreams} from './inits.mjs';

const KILLS = 20;

let hosts;
let files;
before(async () => {
  hosts = await openHosts();
  files = generated(40_000, '--trace');
});
after(() => hosts.close());

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    /** Loads the capture, ends the engine so many ms later, and says what the page shows in the end. */
    const load = async (host, killAfter) => {
      const page = await browser.open(hosts.addresses[host], {init: countWorkers});
      await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.threads) > 0, at('threads'));
      await page.pick(at('open-files'), files);
      const start = performance.now();
      if (killAfter !== null) {
        await page.evaluate(async ms => {
          await new Promise(resolve => setTimeout(resolve, ms));
          globalThis.engineWorker.terminate();
        }, killAfter);
        await page.waitFor(selector => document.querySelector(selector) !== null, at('message'));
      }
      await isRead(page, 60_000);
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
      const page = await browser.open(hosts.addresses.http, {init: countWorkers});
      await page.pick(at('open-files'), files);
      await isRead(page);
      await activate(page, 'tab-top');
      await page.waitFor(() => location.hash.includes('tab=top'));
      await page.evaluate(() => globalThis.engineWorker.terminate());
      await page.waitFor(selector => document.querySelector(selector) !== null, at('message'));
      await isRead(page);
      await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at('tab-top'));
      await page.close();
    });

    test('a stream that stalls is read on by slices', {timeout: 120_000}, async () => {
      const page = await browser.open(hosts.addresses.http, {init: stallStreams});
      const tables = files.filter(file => file.endsWith('.csv'));
      await page.pick(at('open-files'), tables);
      await isRead(page, 60_000);
      assert.equal(await exported(page, 'export-json'), report(...tables));
      await page.close();
    });
  });
}
