// Nothing on the page keeps anybody out: axe-core finds nothing serious in any panel, in either theme; charts say what they show; nothing jumps.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, activate, at, capture, isRead, needs, openHosts, seriousFindings} from './harness.mjs';

const SAMPLES = ['ascend_sample', 'xplane_attention_oom'];
const REAL = capture('ascend/rl_insight_sample');
/** What moves while a page is loaded is measured in parts of the screen; more than this is felt. */
const MOST_SHIFT = 0.1;

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());


for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    for (const sample of SAMPLES) {
      for (const theme of ['light', 'dark']) {
        test(`${sample}, ${theme}: nothing serious in any panel or view`, async () => {
          const page = await browser.open(hosts.addresses.http);
          await page.choose(at('theme'), theme);
          await page.waitFor(theme => document.documentElement.dataset.theme === theme, theme);
          assert.deepEqual(await seriousFindings(page), [], 'the first page');
          await page.click(at(`sample-${sample}`));
          await isRead(page);
          for (const tab of await page.evaluate(() => [...document.querySelectorAll('[role="tab"]')].map(({id}) => id))) {
            await page.evaluate(tab => document.getElementById(tab).click(), tab);
            await page.waitFor(tab => document.getElementById(tab).getAttribute('aria-selected') === 'true' && document.querySelector('#table-panel [aria-busy="true"]') === null, tab);
            assert.deepEqual(await seriousFindings(page), [], tab);
          }
          for (const view of await page.evaluate(selector => [...document.querySelectorAll(`${selector} option`)].map(({value}) => value), at('gantt-view'))) {
            await page.choose(at('gantt-view'), view);
            assert.deepEqual(await seriousFindings(page), [], view);
          }
          await page.close();
        });
      }
    }

    test('a theme is chosen, the charts follow, and it is remembered', async () => {
      const page = await browser.open(hosts.addresses.http);
      await page.click(at('sample-ascend_sample'));
      await isRead(page);
      // A choice of an earlier test is remembered.
      await page.choose(at('theme'), 'system');
      await page.waitFor(() => document.documentElement.dataset.theme === 'light');
      const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      const drawn = () => page.evaluate(selector => {
        const canvas = document.querySelector(selector);
        return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.reduce((sum, value) => (sum * 31 + value) % 1_000_003, 0);
      }, at('trend'));
      const [light, before] = [await background(), await drawn()];
      await page.choose(at('theme'), 'dark');
      await page.waitFor(light => getComputedStyle(document.documentElement).backgroundColor !== light, light);
      assert.notEqual(await drawn(), before, 'the curves have other colours');
      await page.goto(hosts.addresses.http);
      await page.waitFor(selector => document.querySelector(selector)?.value === 'dark', at('theme'));
      assert.notEqual(await background(), light);
      await page.choose(at('theme'), 'system');
      await page.waitFor(light => getComputedStyle(document.documentElement).backgroundColor === light, light);
      await page.close();
    });

    test('every chart says what it shows, in which window, and where its table is', async () => {
      for (const sample of SAMPLES) {
        const page = await browser.open(hosts.addresses.http);
        await page.click(at(`sample-${sample}`));
        await isRead(page);
        const spoken = await page.evaluate(selectors => selectors.map(selector => document.querySelector(selector)?.getAttribute('aria-label') ?? ''), [at('trend'), at('gantt')]);
        for (const [label, words] of [[spoken[0], ['peak', 'iB', 'Window 0.000', 'As a table: the tab “Peak”']], [spoken[1], ['lanes', 'Window 0.000', 'As a table: the tab “Blocks”']]]) {
          for (const word of words) assert.ok(label.includes(word), `${word} in ${label}`);
        }
        const unnamed = await page.evaluate(() => [...document.querySelectorAll('canvas')].filter(canvas => canvas.getAttribute('aria-hidden') !== 'true' && !canvas.getAttribute('aria-label')).map(canvas => canvas.outerHTML));
        assert.deepEqual(unnamed, []);
        await page.close();
      }
    });
  });
}

test('chromium: forced colours leave the figures that are fills', async () => {
  const browser = await DRIVERS.chromium.launch();
  try {
    for (const [sample, figures] of [['xplane_attention_oom', ['.plan-part', '.plan-key', '.tile', '.bar']], ['ascend_sample', ['.swatch', '.bar', '.strip-window']]]) {
      const page = await browser.open(hosts.addresses.http, {forced: true});
      await page.click(at(`sample-${sample}`));
      await isRead(page);
      const gone = await page.evaluate(figures => figures.filter(figure => {
        const {backgroundColor, backgroundImage} = getComputedStyle(document.querySelector(figure));
        return backgroundImage === 'none' && [getComputedStyle(document.body).backgroundColor, 'rgba(0, 0, 0, 0)', 'rgb(255, 255, 255)'].includes(backgroundColor);
      }), figures);
      assert.deepEqual(gone, [], sample);
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

describe('chromium: nothing jumps while a capture is read', () => {
  let browser;
  before(async () => { browser = await DRIVERS.chromium.launch(); });
  after(() => browser.close());

  const shifts = async open => {
    const page = await browser.open(hosts.addresses.http);
    await page.evaluate(() => {
      globalThis.shifts = [];
      new PerformanceObserver(list => {
        for (const {value, hadRecentInput, sources} of list.getEntries()) {
          if (!hadRecentInput) globalThis.shifts.push({value, of: sources.map(({node, previousRect: a, currentRect: b}) => `${node?.className || node?.nodeName} ${a.y}+${a.height} to ${b.y}+${b.height}`)});
        }
      }).observe({type: 'layout-shift', buffered: true});
    });
    await open(page);
    await isRead(page);
    await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 500)));
    const found = await page.evaluate(() => globalThis.shifts);
    await page.close();
    return found;
  };
  const still = found => {
    const sum = found.reduce((sum, {value}) => sum + value, 0);
    assert.ok(sum <= MOST_SHIFT, `${sum}: ${JSON.stringify(found)}`);
  };

  for (const sample of SAMPLES) test(sample, async () => still(await shifts(page => activate(page, `sample-${sample}`))));
  test('a real capture', needs(REAL), async () => still(await shifts(page => page.drop([REAL]))));
});
