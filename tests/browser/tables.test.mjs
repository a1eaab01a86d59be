// The one table, all blocks in it, the filter and the flame graph, as a person uses them, by mouse and by keyboard alone.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, activate, at, attribute, downloaded, fixture, isRead, openHosts, readPeak, report, shot, textOf} from './harness.mjs';

const SAMPLE = 'ascend_sample';
const told = JSON.parse(report(fixture(SAMPLE)));
const worst = told.captures.flatMap(({devices}) => devices).reduce((worst, device) => device.peak.total_bytes > worst.peak.total_bytes ? device : worst);
const sum = list => list.reduce((sum, value) => sum + value, 0);

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    const openTab = async tab => {
      const page = await browser.open(hosts.addresses.http);
      await page.click(at(`sample-${SAMPLE}`));
      await readPeak(page);
      await isRead(page);
      await show(page, tab);
      return page;
    };
    const show = async (page, tab) => {
      await page.click(at(`tab-${tab}`));
      await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-busy') === 'false', at(`panel-${tab}`));
    };
    const column = (page, table, data) => page.evaluate(([table, data]) => [...document.querySelectorAll(`${table} tbody [data-${data}]`)].map(cell => Number(cell.getAttribute(`data-${data}`))), [at(table), data]);
    const focus = (page, table) => page.evaluate(selector => document.querySelector(selector).focus(), at(table));
    const saved = async (page, button) => (await downloaded(page, () => activate(page, button))).toString();

    test('all blocks: sorted, walked and pinned by keyboard alone, saved whole', async () => {
      const page = await openTab('blocks');
      await page.waitFor(selector => document.querySelectorAll(selector).length > 10, `${at('blocks')} tbody [data-bytes]`);
      const shown = await column(page, 'blocks', 'bytes');
      assert.deepEqual(shown, [...shown].sort((a, b) => b - a), 'the largest first');
      assert.ok(shown.length < 100, `${shown.length} rows are drawn of ${worst.blocks}`);
      assert.equal(Number(await attribute(page, 'blocks', 'aria-rowcount')), worst.blocks + 1);
      await focus(page, 'blocks');
      await page.press('End');
      await page.waitFor(([selector, last]) => document.querySelector(`${selector} tr[aria-rowindex="${last}"] [data-bytes]`) !== null, [at('blocks'), worst.blocks + 1]);
      await page.press('Home');
      await page.press('ArrowDown');
      await page.press('Enter');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('block-detail'));
      const pinned = await attribute(page, 'block-detail', 'data-block');
      assert.equal(await page.evaluate(selector => document.querySelector(`${selector} .current`).dataset.block, at('blocks')), pinned, 'the chosen row is the block on the charts');
      const lines = (await saved(page, 'csv-blocks')).trimEnd().split('\n');
      assert.equal(lines.length, worst.blocks + 1);
      assert.equal(Number(lines[1].split(',')[1]), shown[0]);
      await shot(page, `${name}-blocks`);
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('a filter narrows every table, and its chips widen them again', async () => {
      const page = await openTab('top');
      const all = await column(page, 'top', 'bytes');
      assert.equal(sum(all), sum(worst.top_by_bytes.map(({bytes}) => bytes)) + sum(all.slice(worst.top_by_bytes.length)));
      await focus(page, 'top');
      await page.press('Enter');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('only-these'));
      await page.click(at('list-blocks'));
      const [{name: operator, blocks, bytes}] = worst.top_by_bytes;
      await page.waitFor(([selector, blocks]) => Number(document.querySelector(selector)?.getAttribute('aria-rowcount')) === blocks + 1, [at('blocks'), blocks]);
      assert.match(await textOf(page, 'chip-operator'), new RegExp(operator));
      await show(page, 'top');
      assert.deepEqual(await column(page, 'top', 'bytes'), [bytes]);
      await show(page, 'peak');
      const [peak] = worst.peak.by_operator.filter(group => group.name === operator);
      await page.waitFor(([selector, bytes]) => Number(document.querySelector(`${selector} [data-row="total"] [data-bytes]`)?.dataset.bytes) === bytes, [at('groups'), peak.bytes]);
      assert.deepEqual((await column(page, 'groups', 'bytes')), [peak.bytes], 'without the baseline');
      await page.evaluate(selector => document.querySelector(`${selector} button`).click(), at('chip-operator'));
      await page.waitFor(([selector, bytes]) => Number(document.querySelector(`${selector} [data-row="total"] [data-bytes]`)?.dataset.bytes) === bytes, [at('groups'), worst.peak.total_bytes]);
      await page.close();
    });

    test('a filter narrows the charts too, is in the address by numbers, and says when nothing passes', async () => {
      const page = await openTab('peak');
      await page.choose(at('gantt-view'), 'stacked');
      await page.evaluate(() => document.activeElement?.blur());
      await page.press('l');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('only-stack'));
      await page.click(at('only-stack'));
      await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.blocks) > 0, at('passing'));
      const passing = Number(await attribute(page, 'passing', 'data-blocks'));
      assert.ok(passing > 0 && passing < worst.blocks, `${passing} blocks`);
      assert.match(await textOf(page, 'line-filtered'), /filtered/);
      await shot(page, `${name}-filtered`);
      await page.waitFor(() => location.hash.includes('stack='));
      const hash = await page.evaluate(() => location.hash);
      assert.match(hash, /^#[a-z_\d=&.-]+$/, 'numbers and the page’s own words');
      await page.choose(at('gantt-view'), 'blocks');
      await page.waitFor(([selector, passing]) => document.querySelector(selector)?.textContent.startsWith(`${passing} `), [at('gantt-counts'), passing]);
      await page.close();
      const again = await browser.open(hosts.addresses.http + hash);
      await again.click(at(`sample-${SAMPLE}`));
      await again.waitFor(([selector, passing]) => Number(document.querySelector(selector)?.dataset.blocks) === passing, [at('passing'), passing]);
      await again.click(at('add-filter'));
      await again.click(at('filter-min-bytes'));
      await again.type('900 GiB');
      await again.press('Enter');
      await again.waitFor(selector => document.querySelector(selector) !== null, at('none-pass'));
      assert.deepEqual([...page.problems, ...again.problems], []);
      await again.close();
    });

    test('a table is searched, sorted, copied without the clipboard and widened by key', async () => {
      const page = await openTab('peak');
      const rows = () => page.evaluate(selector => document.querySelectorAll(`${selector} [data-row="group"]`).length, at('groups'));
      assert.equal(await rows(), worst.peak.by_operator.length);
      await page.click(at('find-groups'));
      await page.type('matmul');
      const found = worst.peak.by_operator.filter(({name}) => name.includes('matmul'));
      await page.waitFor(([selector, count]) => document.querySelectorAll(`${selector} [data-row="group"]`).length === count, [at('groups'), found.length]);
      await page.evaluate(() => {
        Object.defineProperty(navigator, 'clipboard', {value: undefined});
        addEventListener('copy', event => { globalThis.copiedText = event.clipboardData.getData('text/plain'); });
      });
      await page.click(at('copy-groups'));
      await page.waitFor(() => globalThis.copiedText !== undefined);
      const [head, first] = (await page.evaluate(() => globalThis.copiedText)).split('\n').map(line => line.split('\t'));
      assert.deepEqual([head.slice(0, 2), first.slice(0, 2)], [['operator', 'bytes'], [found[0].name, String(found[0].bytes)]]);
      await page.evaluate(selector => document.querySelector(selector).click(), `${at('groups')} ${at('sort-bytes')}`);
      await page.waitFor(selector => document.querySelector(selector).closest('th').getAttribute('aria-sort') === 'descending', `${at('groups')} ${at('sort-bytes')}`);
      const width = () => page.evaluate(selector => document.querySelector(selector).offsetWidth, `${at('groups')} [data-column="blocks"]`);
      const before = await width();
      await page.evaluate(selector => document.querySelector(selector).dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', altKey: true, bubbles: true})), `${at('groups')} ${at('sort-blocks')}`);
      await page.waitFor(([selector, before]) => document.querySelector(selector).offsetWidth > before, [`${at('groups')} [data-column="blocks"]`, before]);
      await page.close();
    });

    test('plain http under a name: what the clipboard does not take is copied the old way, or shown to be copied by hand', async () => {
      const page = await browser.open(hosts.addresses.http.replace('127.0.0.1', 'elsewhere.test'));
      assert.deepEqual(await page.evaluate(() => [isSecureContext, navigator.clipboard === undefined]), [false, true]);
      await page.evaluate(() => addEventListener('copy', event => { globalThis.copiedText = event.clipboardData.getData('text/plain'); }));
      await page.click('.recipe button');
      await page.waitFor(() => globalThis.copiedText !== undefined);
      assert.equal(await page.evaluate(() => document.querySelector('.recipe button').textContent), 'Copied');
      await page.click(at(`sample-${SAMPLE}`));
      await readPeak(page);
      await show(page, 'blocks');
      await page.waitFor(selector => document.querySelectorAll(selector).length > 10, `${at('blocks')} tbody [data-bytes]`);
      await page.evaluate(() => { globalThis.copiedText = undefined; });
      await page.click(at('copy-blocks'));
      await page.waitFor(() => globalThis.copiedText !== undefined);
      assert.equal((await page.evaluate(() => globalThis.copiedText)).split('\n').length, worst.blocks + 1, 'rows that are asked for first, too');
      await page.evaluate(() => { document.execCommand = () => false; });
      await page.click(at('copy-blocks'));
      await page.waitFor(selector => document.querySelector(selector) !== null && String(getSelection()).length > 1000, at('by-hand'));
      assert.equal(await page.evaluate(() => String(getSelection()).trimEnd().split('\n').length), worst.blocks + 1, 'all of it is selected');
      await page.press('Escape');
      await page.waitFor(selector => document.querySelector(selector) === null, at('by-hand'));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('the browser’s own search in the page stays closed where / and \' are keys of the page', async () => {
      const page = await openTab('peak');
      await page.evaluate(() => {
        document.activeElement?.blur();
        globalThis.keysSeen = [];
        addEventListener('keydown', ({key, defaultPrevented}) => globalThis.keysSeen.push([key, defaultPrevented]));
      });
      for (const key of ['\'', '/']) await page.press(key);
      await page.waitFor(selector => document.activeElement === document.querySelector(selector), at('search'));
      await page.type('mm');
      assert.match(await page.evaluate(selector => document.querySelector(selector).value ?? document.querySelector(selector).textContent, at('search')), /^mm$/, 'what is typed next goes into the page’s search');
      assert.deepEqual(await page.evaluate(() => globalThis.keysSeen.slice(0, 2)), [['\'', true], ['/', true]]);
      await page.press('Escape');
      await page.evaluate(() => document.activeElement?.blur());
      await page.press('?');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('keys'));
      await page.press('/');
      assert.deepEqual(await page.evaluate(() => globalThis.keysSeen.at(-1)), ['/', true], 'nor over the list of keys');
      await page.press('Escape');
      await page.waitFor(selector => document.querySelector(selector) === null, at('keys'));
      await page.close();
    });

    test('the flame graph: its sum, zoom by key, search, and its table', async () => {
      const page = await openTab('flame');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('flame-graph'));
      const frames = async () => column(page, 'frames', 'bytes');
      const without = sum(worst.peak.by_stack.filter(({stack}) => stack.length === 0).map(({bytes}) => bytes));
      const holding = frame => sum(worst.peak.by_stack.filter(({stack}) => stack.includes(frame)).map(({bytes}) => bytes));
      const largest = Math.max(without, ...worst.peak.by_stack.flatMap(({stack}) => stack).map(holding));
      assert.equal((await frames())[0], largest);
      const zoom = async key => {
        await page.evaluate(selector => document.querySelector(`${selector} canvas`).focus(), at('flame-graph'));
        await page.press(key);
      };
      await zoom('ArrowDown');
      await zoom('ArrowDown');
      const told = await textOf(page, 'flame-told');
      await zoom('Enter');
      await page.waitFor(selector => document.querySelector(selector).disabled === false, at('flame-reset'));
      await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-busy') === 'false', at('panel-flame'));
      assert.equal(await textOf(page, 'flame-told'), told, 'the frame that was zoomed to has the focus');
      await shot(page, `${name}-flame`);
      await page.click(at('flame-reset'));
      await page.click(at('flame-search'));
      await page.type('attention');
      await page.press('Enter');
      await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.bytes) > 0, at('flame-found'));
      const found = sum(worst.peak.by_stack.filter(({stack}) => stack.some(frame => /attention/i.test(frame))).map(({bytes}) => bytes));
      assert.equal(Number(await attribute(page, 'flame-found', 'data-bytes')), found);
      assert.deepEqual(page.problems, []);
      await page.close();
    });
  });
}
