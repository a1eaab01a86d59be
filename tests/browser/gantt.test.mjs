// The views of the Gantt and the ways through them: by mouse, by keyboard, by the address.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, attribute, fixture, isRead, openHosts, readPeak, shot, textOf} from './harness.mjs';

const SAMPLE = 'ascend_sample';
const LANE_PX = 22;

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

const openSample = async (browser, {sample = SAMPLE, host = 'http', hash = '', ...options} = {}) => {
  const page = await browser.open(hosts.addresses[host] + hash, options);
  await page.click(at(`sample-${sample}`));
  await readPeak(page);
  await isRead(page);
  return page;
};
/** Chooses a view and waits for its picture. */
const choose = async (page, view, kind) => {
  await page.choose(at('gantt-view'), view);
  await page.waitFor(([selector, kind]) => document.querySelector(selector)?.dataset.gantt === kind, [at('gantt'), kind]);
};
/** How many pixels of the picture are painted. */
const painted = page => page.evaluate(selector => {
  const canvas = document.querySelector(selector);
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 3; at < data.length; at += 4) count += data[at] > 0 ? 1 : 0;
  return count;
}, at('gantt'));
const isPainted = page => page.waitFor(selector => {
  const canvas = document.querySelector(selector);
  return canvas.width > 0 && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(value => value > 0);
}, at('gantt'));
const ends = page => page.evaluate(selectors => selectors.map(selector => Number(document.querySelector(selector).textContent)), [at('field-from'), at('field-to')]);
/** Waits for a window that is as told beside another one; answers its ends. */
const waitForEnds = async (page, told, other) => {
  await page.waitFor(([from, to, told, other]) => {
    const [left, right] = [from, to].map(selector => Number(document.querySelector(selector).textContent));
    return told === 'is' ? left === other[0] && right === other[1] : told === 'later' ? left > other[0] : told === 'earlier' ? left < other[0] && right < other[1] : right - left < other[1] - other[0];
  }, [at('field-from'), at('field-to'), told, other]);
  return ends(page);
};
const pinned = page => attribute(page, 'block-detail', 'data-block');
const waitForBlock = page => page.waitFor(selector => document.querySelector(selector) !== null, at('block-detail'));
/** Nothing has the focus: the keys are the charts'. */
const unfocus = page => page.evaluate(() => document.activeElement?.blur());
const names = page => page.evaluate(selector => [...document.querySelectorAll(`${selector} .lane-text`)].map(name => name.textContent), at('lane-name'));

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    test('every view of the blocks is painted, and says what it shows', async () => {
      const page = await openSample(browser, {host: 'isolated'});
      const views = {'operator': 'lanes', 'user-frame': 'lanes', 'stack': 'lanes', 'stream': 'lanes', 'size-class': 'lanes', 'ranks': 'ranks', 'blocks': 'blocks', 'stacked': 'stack'};
      assert.deepEqual(await page.evaluate(selector => [...document.querySelectorAll(`${selector} option`)].map(option => option.value), at('gantt-view')), Object.keys(views));
      for (const [view, kind] of Object.entries(views)) {
        await choose(page, view, kind);
        await isPainted(page);
        assert.match(await textOf(page, 'gantt-counts'), /\d/, view);
        await shot(page, `${name}-gantt-${view}`);
      }
      for (const colouring of ['size', 'lifetime', 'age']) {
        await page.choose(at('gantt-colour'), colouring);
        await page.waitFor(selector => document.querySelector(selector) !== null, at('ramp'));
      }
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('lanes are sorted, looked for, kept on top and hidden', async () => {
      const page = await openSample(browser);
      await isPainted(page);
      const byPeak = await names(page);
      await page.choose(at('lane-sort'), 'name');
      const byName = await names(page);
      assert.notDeepEqual(byName, byPeak);
      assert.deepEqual(byName, [...byName].sort());
      const last = byName.at(-1);
      await page.evaluate(([selector, nth]) => document.querySelectorAll(selector)[nth].querySelectorAll('button')[0].click(), [at('lane-name'), byName.length - 1]);
      await page.waitFor(([selector, name]) => document.querySelector(`${selector} .lane-text`).textContent === name, [at('lane-name'), last]);
      await page.evaluate(selector => document.querySelectorAll(selector)[1].querySelectorAll('button')[1].click(), at('lane-name'));
      await page.waitFor(selector => document.querySelector(selector) !== null, at('show-hidden'));
      assert.ok(!(await names(page)).includes(byName[0]));
      await page.click(at('show-hidden'));
      await page.waitFor(([selector, name]) => [...document.querySelectorAll(`${selector} .lane-text`)].some(each => each.textContent === name), [at('lane-name'), byName[0]]);
      await page.click(at('lane-search'));
      await page.type(byName[1].slice(0, -1));
      await page.press('Enter');
      await page.waitFor(([selector, all]) => document.querySelectorAll(selector).length < all, [at('lane-name'), byName.length]);
      // The one that is kept on top stays.
      assert.equal((await names(page))[0], last);
      await page.close();
    });

    test('keys go to the peak, through windows and blocks, and to the largest', async () => {
      const page = await openSample(browser);
      await isPainted(page);
      await unfocus(page);
      const whole = await ends(page);
      await page.press('p');
      const peak = await waitForEnds(page, 'narrower', whole);
      await page.press('[');
      await waitForEnds(page, 'earlier', peak);
      await page.press(']');
      await waitForEnds(page, 'is', peak);
      await page.press('ArrowRight');
      await waitForEnds(page, 'later', peak);
      await page.press('0');
      await waitForEnds(page, 'is', whole);

      await page.press('l');
      await waitForBlock(page);
      const largest = await pinned(page);
      // It is the last of its lane.
      await page.press(',');
      await page.waitFor(([selector, block]) => ![undefined, block].includes(document.querySelector(selector)?.dataset.block), [at('block-detail'), largest]);
      await page.press('.');
      await page.waitFor(([selector, block]) => document.querySelector(selector)?.dataset.block === block, [at('block-detail'), largest]);
      await page.press('Escape');
      await page.waitFor(selector => document.querySelector(selector) === null, at('block-detail'));
      await page.press('n');
      await page.waitFor(([block, message]) => document.querySelector(block) !== null || document.querySelector(message) !== null, [at('block-detail'), at('message')]);
      await page.press('m');
      await page.press('?');
      await page.waitFor(selector => document.querySelector(selector)?.open === true, at('keys'));
      await page.press('Escape');
      await page.waitFor(selector => document.querySelector(selector) === null, at('keys'));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('search by the keyboard alone: hits are told, marked on the strip, and lead to a block', async () => {
      const page = await openSample(browser);
      await isPainted(page);
      await unfocus(page);
      const strip = () => page.evaluate(() => document.querySelector('.strip canvas').toDataURL());
      const unmarked = await strip();
      await page.press('/');
      await page.waitFor(selector => document.activeElement?.matches(selector), at('search'));
      // What is typed belongs to the search: none of it is a key of the charts, or of the browser's.
      await page.type('aten');
      await page.waitFor(selector => /\d/.test(document.querySelector(selector).innerText), at('search-found'));
      assert.equal(await textOf(page, 'search'), 'aten');
      await page.waitFor(before => document.querySelector('.strip canvas').toDataURL() !== before, unmarked);
      await page.press('Enter');
      await waitForBlock(page);
      await page.press('Escape');
      await page.waitFor(selector => document.querySelector(selector) === null, at('search'));
      await page.close();
    });

    for (const host of ['file', 'http']) {
      test(`${host}: the view is in the address: back leads to the one before, and a copied one opens it`, async () => {
        const page = await openSample(browser, {host});
        await isPainted(page);
        await unfocus(page);
        await page.waitFor(() => location.hash !== '');
        const whole = await ends(page);
        await page.press('p');
        await page.waitFor(() => location.hash.includes('ns='));
        const [peak, hash] = [await ends(page), await page.evaluate(() => location.hash)];
        assert.doesNotMatch(hash, /aten|actor|critic/, 'no word of the files');
        await page.evaluate(() => history.back());
        await page.waitFor(([selector, to]) => Number(document.querySelector(selector).textContent) === to, [at('field-to'), whole[1]]);
        await page.evaluate(() => history.forward());
        await page.waitFor(([selector, to]) => Number(document.querySelector(selector).textContent) === to, [at('field-to'), peak[1]]);
        await page.close();
        const again = await openSample(browser, {host, hash: hash.replace('tab=', 'rows=stacked&tab=')});
        await again.waitFor(selector => document.querySelector(selector)?.dataset.gantt === 'stack', at('gantt'));
        assert.deepEqual(await ends(again), peak);
        assert.deepEqual(again.problems, []);
        await again.close();
      });
    }

    test('JAX: owners on lanes, a row for each block, and stacked', async () => {
      const page = await browser.open(hosts.addresses.http);
      await page.pick(at('open-files'), [fixture('xplane_bfc_retry/bfc_retry.xplane.pb')]);
      await readPeak(page);
      for (const [view, kind] of [['operator', 'lanes'], ['blocks', 'blocks'], ['stacked', 'stack'], ['size-class', 'lanes']]) {
        await choose(page, view, kind);
        await isPainted(page);
      }
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('narrow: nothing is wider than the window in any view', async () => {
      const page = await openSample(browser, {width: 390, height: 844});
      for (const [view, kind] of [['operator', 'lanes'], ['ranks', 'ranks'], ['blocks', 'blocks'], ['stacked', 'stack']]) {
        await choose(page, view, kind);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), view);
      }
      await page.close();
    });
  });
}

for (const density of [1.5, 2]) test(`chromium: on a screen of density ${density} the picture has its pixels, and the pointer finds its block`, async () => {
  const browser = await DRIVERS.chromium.launch();
  try {
    const page = await openSample(browser, {ratio: density});
    await isPainted(page);
    const [wide, ratio] = await page.evaluate(selector => [document.querySelector(selector).width / document.querySelector(selector).clientWidth, devicePixelRatio], at('gantt'));
    assert.equal(ratio, density);
    assert.ok(Math.abs(wide - ratio) < 0.01, `${wide}`);
    const spot = await page.evaluate(([selector, height]) => {
      const canvas = document.querySelector(selector);
      const box = canvas.getBoundingClientRect();
      const y = Math.round(height / 3 * devicePixelRatio);
      const {data} = canvas.getContext('2d').getImageData(0, y, canvas.width, 1);
      let best = 0;
      for (let x = 4; x + 4 < canvas.width; x++) if (data[x * 4 + 3] > 0 && data[(x - 4) * 4 + 3] > 0 && data[(x + 4) * 4 + 3] > 0) best = x;
      return {x: box.left + best / devicePixelRatio, y: box.top + height / 3};
    }, [at('gantt'), LANE_PX]);
    await page.clickAt(spot.x, spot.y);
    await waitForBlock(page);
    assert.ok(await painted(page) > 0);
    await page.close();
  } finally {
    await browser.close();
  }
});
