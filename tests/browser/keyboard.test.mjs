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
      assert.ok(await hasFocus(page, 'main'), 'the button is gone; the focus is where the answer is');

      // The peak: the window is narrower, and lies around it.
      const width = () => page.evaluate(selectors => selectors.map(selector => Number(document.querySelector(selector).textContent)), [at('field-from'), at('field-to')]);
      const whole = await width();
      await page.press('p');
      await page.waitFor(([selector, whole]) => Number(document.querySelector(selector).textContent) > whole, [at('field-from'), whole[0]]);
      const near = await width();
      assert.ok(near[1] - near[0] < (whole[1] - whole[0]) / 2, `${near} in ${whole}`);

      // What a key did is told to who does not see the charts.
      const said = async (key, expected) => {
        await page.press(key);
        await page.waitFor(([selector, expected]) => new RegExp(expected).test(document.querySelector(selector).textContent), [at('spoken'), expected]);
      };
      await said('p', '^Peak [\\d.]+ GiB at .*\\. Window ');
      await said('1', '^A at [\\d.]+ ms\\.$');
      await said('0', '^Window 0\\.0+ ms to ');
      await said(']', '^Window ');
      await said('m', '^Window ');
      await said('p', '^Peak ');

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

      // Escape closes what hangs below a button, and gives the focus back.
      await walkTo(page, at('memory'), 'Shift+Tab');
      await page.press('Enter');
      await walkTo(page, at('memory-budget'));
      await page.press('Escape');
      assert.ok(await hasFocus(page, at('memory')), 'the focus is back');
      assert.equal(await page.evaluate(selector => document.querySelector(selector).parentElement.open, at('memory')), false);

      // Arrows go through an open menu, and the page stays where it is.
      await walkTo(page, at('export-menu'), 'Shift+Tab');
      await page.press('Enter');
      const top = await page.evaluate(() => scrollY);
      await page.press('ArrowUp');
      assert.ok(await hasFocus(page, at('export-html')), 'up from the button is the last');
      await page.press('ArrowUp');
      await page.press('ArrowDown');
      assert.ok(await hasFocus(page, at('export-html')));
      assert.equal(await page.evaluate(() => scrollY), top);
      await page.press('Enter');
      await page.waitFor(selector => document.querySelector(selector)?.contains(document.activeElement) === true, at('save-html'));
      await page.press('Escape');
      await page.waitFor(selector => document.querySelector(selector) === null, at('save-html'));
      assert.ok(await hasFocus(page, at('export-menu')), 'the focus is back');

      await page.press('Enter');
      await page.press('Home');
      assert.ok(await hasFocus(page, at('export-json')));
      const report = JSON.parse(await downloaded(page, () => page.press('Enter')));
      const peaks = report.captures.map(({devices}) => devices[0].peak.total_bytes);
      assert.ok(report.schema === 'oomscope.report/1' && peaks.includes(peak), `${peak} in ${peaks}`);
      assert.ok(await hasFocus(page, at('export-menu')));
      assert.equal(await textOf(page, 'saved-file'), 'oomscope-report.json was given to the browser to save.');
      await page.close();
    });
  });
}
