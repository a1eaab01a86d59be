// Nothing on the page keeps anybody out: axe-core finds nothing serious in any panel.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, openHosts, seriousFindings} from './harness.mjs';

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    for (const [sample, scheme] of [['ascend_sample', 'light'], ['xplane_attention_oom', 'dark']]) {
      test(`${sample}, ${scheme}: nothing serious in any panel`, async () => {
        const page = await browser.open(hosts.addresses.http, {scheme});
        assert.deepEqual(await seriousFindings(page), [], 'the first page');
        await page.click(at(`sample-${sample}`));
        await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false', at('export-menu'));
        for (const tab of await page.evaluate(() => [...document.querySelectorAll('[role="tab"]')].map(({id}) => id))) {
          await page.evaluate(tab => document.getElementById(tab).click(), tab);
          await page.waitFor(tab => document.getElementById(tab).getAttribute('aria-selected') === 'true' && document.querySelector('#table-panel [aria-busy="true"]') === null, tab);
          assert.deepEqual(await seriousFindings(page), [], tab);
        }
        await page.close();
      });
    }
  });
}
