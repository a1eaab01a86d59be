// Nothing on the page keeps anybody out: axe-core finds nothing serious in any panel.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {after, before, describe, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {DRIVERS, at, openHosts} from './harness.mjs';

const AXE = fs.readFileSync(fileURLToPath(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url)), 'utf8');

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

const findings = page => page.evaluate(async () => {
  const {violations} = await globalThis.axe.run(document, {resultTypes: ['violations']});
  return violations.filter(({impact}) => impact === 'serious' || impact === 'critical').flatMap(({id, nodes}) => nodes.slice(0, 3).map(({html}) => `${id}: ${html.slice(0, 200)}`));
});

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    for (const [sample, scheme] of [['ascend_sample', 'light'], ['xplane_attention_oom', 'dark']]) {
      test(`${sample}, ${scheme}: nothing serious in any panel`, async () => {
        const page = await browser.open(hosts.addresses.http, {scheme});
        await page.evaluate(AXE);
        assert.deepEqual(await findings(page), [], 'the first page');
        await page.click(at(`sample-${sample}`));
        await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false', at('export-menu'));
        for (const tab of await page.evaluate(() => [...document.querySelectorAll('[role="tab"]')].map(({id}) => id))) {
          await page.evaluate(tab => document.getElementById(tab).click(), tab);
          await page.waitFor(tab => document.getElementById(tab).getAttribute('aria-selected') === 'true' && document.querySelector('#table-panel [aria-busy="true"]') === null, tab);
          assert.deepEqual(await findings(page), [], tab);
        }
        await page.close();
      });
    }
  });
}
