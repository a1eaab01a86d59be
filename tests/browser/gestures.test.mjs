// What hands do on the charts beyond the mouse: wheels that count lines or pages, and fingers.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, openHosts, readPeak} from './harness.mjs';

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

const open = async (browser, options) => {
  const page = await browser.open(hosts.addresses.http, options);
  await page.click(at('sample-ascend_sample'));
  await readPeak(page);
  await page.waitFor(selector => document.querySelector(selector)?.width > 0, at('gantt'));
  return page;
};
const ends = page => page.evaluate(selectors => selectors.map(selector => Number(document.querySelector(selector).textContent)), [at('field-from'), at('field-to')]);
const changed = async (page, before) => {
  await page.waitFor(([from, to, before]) => Number(document.querySelector(from).textContent) !== before[0] || Number(document.querySelector(to).textContent) !== before[1], [at('field-from'), at('field-to'), before]);
  return ends(page);
};
const widthOf = ([from, to]) => to - from;

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    test('a wheel that counts lines or pages zooms as one that counts pixels', async () => {
      const page = await open(browser);
      const whole = await ends(page);
      const wheel = (deltaMode, deltaY) => page.evaluate(([deltaMode, deltaY]) => {
        const plot = document.querySelector('.lanes-plot');
        const {left, top, width} = plot.getBoundingClientRect();
        const event = new WheelEvent('wheel', {deltaMode, deltaY, clientX: left + width / 2, clientY: top + 10, bubbles: true, cancelable: true});
        plot.dispatchEvent(event);
        return event.defaultPrevented;
      }, [deltaMode, deltaY]);
      const zoomed = [];
      // 48 px, three lines, and pages, which are no more than one large step.
      for (const [mode, delta] of [[0, -48], [1, -3], [2, -1], [2, -100]]) {
        assert.equal(await wheel(mode, delta), true, 'the page does not scroll');
        zoomed.push(widthOf(await changed(page, whole)));
        await page.press('0');
        assert.deepEqual(await changed(page, [NaN, NaN]).then(() => page.waitFor(([selector, to]) => Number(document.querySelector(selector).textContent) === to, [at('field-to'), whole[1]])).then(() => ends(page)), whole);
      }
      const [pixels, lines, page1, page100] = zoomed.map(width => width / widthOf(whole));
      assert.ok(Math.abs(pixels - lines) < 1e-6 && Math.abs(pixels - Math.exp(-0.096)) < 1e-3, `${zoomed}`);
      assert.ok(page1 < pixels && page1 > 0.4 && page1 === page100, `${zoomed}`);
      await page.close();
    });

    if (name === 'chromium') test('fingers: one takes the window along, two zoom, and the page scrolls', async () => {
      const page = await open(browser, {touch: true, width: 390, height: 844});
      const session = await page.around.context().newCDPSession(page.around);
      const touch = (type, ...points) => session.send('Input.dispatchTouchEvent', {type, touchPoints: points.map(([x, y], id) => ({x, y, id}))});
      const glide = async (from, to, steps = 8) => {
        const between = part => from.map(([x, y], nth) => [x + (to[nth][0] - x) * part, y + (to[nth][1] - y) * part]);
        await touch('touchStart', ...from);
        for (let step = 1; step <= steps; step++) await touch('touchMove', ...between(step / steps));
        await touch('touchEnd');
      };
      for (const plot of ['.lanes-plot', '.trend-plot']) {
        await page.press('0');
        const box = await page.evaluate(plot => {
          document.querySelector(plot).scrollIntoView({block: 'center'});
          const {left, top, width, height} = document.querySelector(plot).getBoundingClientRect();
          return {left, top, width, height};
        }, plot);
        const y = box.top + Math.min(box.height / 2, 60);
        const x = part => box.left + box.width * part;
        const whole = await ends(page);

        await glide([[x(0.4), y], [x(0.6), y]], [[x(0.2), y], [x(0.8), y]]);
        const near = await changed(page, whole);
        assert.ok(Math.abs(widthOf(near) / widthOf(whole) - 1 / 3) < 0.05, `${plot}: ${near} of ${whole}`);

        await glide([[x(0.7), y]], [[x(0.3), y]]);
        const later = await changed(page, near);
        assert.ok(later[0] > near[0] && Math.abs(widthOf(later) - widthOf(near)) < 1e-3, `${plot}: ${near} to ${later}`);

        // The lanes scroll first, where there are more than are seen.
        const scrolled = () => page.evaluate(() => scrollY + document.querySelector('.lanes-scroll').scrollTop);
        const before = await scrolled();
        await glide([[x(0.5), y + 30]], [[x(0.5), y - 200]], 12);
        await page.waitFor(before => Math.abs(scrollY + document.querySelector('.lanes-scroll').scrollTop - before) > 50, before);
        assert.deepEqual(await ends(page), later, `${plot}: the window stays`);
      }
      await page.close();
    });
  });
}
