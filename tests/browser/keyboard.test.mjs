// Everything by the keyboard alone: open, the peak, a block, its stack, the report. No mouse, and no element is clicked by a script.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, attribute, downloaded, isRead, openHosts, readPeak, textOf} from './harness.mjs';

/** More than there are between any two things on the page. */
const MOST_TABS = 150;

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

const hasFocus = (page, selector) => page.evaluate(selector => document.activeElement?.matches(selector) === true, selector);

/** Walks to an element, and sees that it shows the focus. */
const walkTo = async (page, selector, key = 'Tab') => {
  for (let step = 0; step < MOST_TABS; step++) {
    if (await hasFocus(page, selector)) {
      // Of a table, the row that is active shows it.
      const ring = await page.evaluate(() => {
        const active = document.activeElement;
        return getComputedStyle(document.getElementById(active.getAttribute('aria-activedescendant')) ?? active).outlineStyle;
      });
      assert.notEqual(ring, 'none', `${selector} shows no focus`);
      return;
    }
    await page.press(key);
  }
  assert.fail(`${key} does not lead to ${selector}`);
};

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    test('open, peak, block, stack, export', async () => {
      const page = await browser.open(hosts.addresses.http);
      await page.waitFor(selector => document.querySelector(selector) !== null, at('sample-ascend_sample'));

      await walkTo(page, at('sample-ascend_sample'));
      await page.press('Enter');
      const peak = await readPeak(page);
      await isRead(page);

      // The peak: the window is narrower, and lies around it.
      const width = () => page.evaluate(selectors => selectors.map(selector => Number(document.querySelector(selector).textContent)), [at('field-from'), at('field-to')]);
      const whole = await width();
      await page.press('p');
      await page.waitFor(([selector, whole]) => Number(document.querySelector(selector).textContent) > whole, [at('field-from'), whole[0]]);
      const near = await width();
      assert.ok(near[1] - near[0] < (whole[1] - whole[0]) / 2, `${near} in ${whole}`);

      // A block by the charts' keys, and the one before it on its lane.
      await page.press('l');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('block-detail'));
      const largest = await attribute(page, 'block-detail', 'data-block');
      assert.match(await textOf(page, 'spoken'), /^Block: .*GiB, allocated at /, 'it is spoken');
      await page.press(',');
      await page.waitFor(([selector, before]) => (document.querySelector(selector)?.dataset.block ?? before) !== before, [at('block-detail'), largest]);
      await page.press('Escape');
      await page.waitFor(selector => document.querySelector(selector) === null, at('block-detail'));

      // And by the table of all blocks.
      await walkTo(page, '[role="tab"][aria-selected="true"]');
      for (let step = 0; step < 20 && !await hasFocus(page, at('tab-blocks')); step++) await page.press('ArrowRight');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('panel-blocks'));
      await walkTo(page, `${at('panel-blocks')} [role="grid"], ${at('panel-blocks')} table`);
      await page.press('ArrowDown');
      await page.press('Enter');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('block-detail'));

      // Its stack is a stop of its own, and can be read.
      await walkTo(page, `${at('block-detail')} .stack`, 'Shift+Tab');
      const stack = await page.evaluate(() => document.activeElement.innerText);
      assert.match(stack, /\.py\(\d+\): /);

      await walkTo(page, at('export-menu'), 'Shift+Tab');
      await page.press('Enter');
      await walkTo(page, at('export-json'));
      const report = JSON.parse(await downloaded(page, () => page.press('Enter')));
      const peaks = report.captures.map(({devices}) => devices[0].peak.total_bytes);
      assert.ok(report.schema === 'oomscope.report/1' && peaks.includes(peak), `${peak} in ${peaks}`);
      await page.close();
    });
  });
}
