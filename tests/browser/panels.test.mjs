// The figures of the panels, read off the page, against the command line's report and known values.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, attribute, capture, exported, fixture, isRead, needs, openHosts, readPeak, scratchFile, shot, textOf} from './harness.mjs';

const RANK = capture('ascend/level0/rank0_ascend_pt');
const SAMPLE = 'ascend_sample';
const ALIVE = {blocks: 24, bytes: 264_920_064};

const run = (...options) => execFileSync('cargo', ['run', '--quiet', '--', ...options], {encoding: 'utf8', maxBuffer: 2 ** 30});
const reportOf = folder => JSON.parse(run(folder, '--format', 'json'));

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

/** Opens a tab and waits for its figures. */
const openTab = async (page, tab) => {
  await page.click(at(`tab-${tab}`));
  await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-busy') !== 'true' && document.querySelector(selector) !== null, at(`panel-${tab}`));
};
const title = page => page.evaluate(() => document.querySelector('.answers h2').innerText);
/** The exact figures of a table's rows: of groups, baseline and total. */
const groups = async page => {
  await page.waitFor(() => document.querySelector('.answers')?.getAttribute('aria-busy') !== 'true');
  return page.evaluate(() => Object.fromEntries(['baseline', 'group', 'rest', 'total'].map(kind => [
    kind, [...document.querySelectorAll(`.answers [data-row="${kind}"] [data-bytes]`)].map(cell => Number(cell.dataset.bytes)),
  ])));
};
const sum = list => list.reduce((sum, value) => sum + value, 0);
const BY = {'operator': 'by_operator', 'stack': 'by_stack', 'stream': 'by_stream', 'size-class': 'by_size_class'};

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    const openRank = async () => {
      const page = await browser.open(hosts.addresses.http);
      const folder = `${RANK}/ASCEND_PROFILER_OUTPUT`;
      await page.pick(at('open-files'), [`${folder}/operator_memory.csv`, `${folder}/trace_view.json`, `${folder}/memory_record.csv`]);
      await readPeak(page);
      await isRead(page);
      return page;
    };
    const openSample = async options => {
      const page = await browser.open(hosts.addresses.http, options);
      await page.click(at(`sample-${SAMPLE}`));
      await readPeak(page);
      await isRead(page);
      return page;
    };

    test('the peak by every grouping is the report\'s, and baseline and groups sum to the total', needs(RANK), async () => {
      const page = await openRank();
      const {peak} = reportOf(RANK).captures[0].devices[0];
      await openTab(page, 'peak');
      for (const [by, key] of Object.entries(BY)) {
        await page.choose(at('group-by'), by);
        await page.waitFor(count => document.querySelectorAll('.answers [data-row="group"]').length === count, peak[key].length);
        const shown = await groups(page);
        assert.deepEqual(shown.group, peak[key].map(group => group.bytes), by);
        assert.deepEqual([shown.baseline, shown.total], [[peak.baseline_bytes], [peak.total_bytes]]);
        assert.equal(sum(shown.group) + peak.baseline_bytes, peak.total_bytes);
      }
      await page.choose(at('group-by'), 'user-frame');
      await page.waitFor(() => document.querySelector('.answers th').innerText === 'First user frame');
      assert.equal(sum((await groups(page)).group), peak.tracked_bytes);
      await shot(page, `${name}-peak`);
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('the lines that ask for most of the peak stand beside it at once: the first of all there are', async () => {
      const page = await openSample();
      await page.waitFor(selector => document.querySelectorAll(selector).length === 4, `${at('peak-lines')} tbody tr`);
      const rows = await page.evaluate(selector => [...document.querySelectorAll(selector)].map(row => [row.querySelector('code').title, Number(row.children[1].title.replace(/\D/g, ''))]), `${at('peak-lines')} tbody tr`);
      assert.equal(rows[0][0], '/app/rl/algorithm/losses.py(52): policy_loss');
      await page.click(`${at('peak-lines')} button`);
      await page.waitFor(() => document.querySelector('.answers th')?.innerText === 'First user frame');
      const all = (await groups(page)).group;
      assert.deepEqual(rows.map(([, bytes]) => bytes), all.slice(0, 4));
      assert.ok(all.length > 4 && all.every((bytes, at) => at === 0 || bytes <= all[at - 1]), `${all}`);
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('the peak without a group is that of the other blocks', needs(RANK), async () => {
      const page = await openRank();
      await openTab(page, 'peak');
      const without = await page.evaluate(() => [...document.querySelectorAll('.answers [data-without]')].map(cell => Number(cell.dataset.without)));
      const {peak} = reportOf(RANK).captures[0].devices[0];
      // aten::_foreach_add holds its blocks at the peak only: without it the maximum lies elsewhere, above what remains here.
      assert.equal(peak.by_operator[0].name, 'aten::_foreach_add');
      assert.ok(without[0] >= peak.total_bytes - peak.by_operator[0].bytes && without[0] < peak.total_bytes);
      assert.ok(without.every(bytes => bytes <= peak.total_bytes));
      await page.close();
    });

    test('what is alive at the end, and the answer line that leads there', needs(RANK), async () => {
      const page = await openRank();
      await page.click(at('alive-at-end'));
      await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-busy') === 'false', at('panel-end'));
      assert.match(await title(page), /^Alive at the end: 24 blocks, 252\.6 MiB \(.* with the baseline\)$/);
      await page.waitFor(() => document.querySelectorAll('.answers [data-row="group"]').length > 0);
      const shown = await groups(page);
      assert.equal(sum(shown.group), ALIVE.bytes);
      assert.equal(sum(shown.baseline) + ALIVE.bytes, sum(shown.total));
      await page.close();
    });

    test('a live set at a typed instant, and what changes between two', needs(RANK), async () => {
      const page = await openRank();
      const {peak, first_ns} = reportOf(RANK).captures[0].devices[0];
      const since = BigInt(peak.time_ns) - BigInt(first_ns);
      const ms = ns => `${ns / 1_000_000n}.${String(ns % 1_000_000n).padStart(6, '0')}`;
      const type = async (field, text) => {
        await page.click(at(field));
        await page.type(text);
        await page.press('Enter');
      };
      await openTab(page, 'cursor');
      assert.match(await textOf(page, 'panel-cursor'), /Point at a chart/);
      await type('cursor-field', ms(since));
      await page.waitFor(() => document.querySelectorAll('.answers [data-row="group"]').length > 0);
      assert.deepEqual((await groups(page)).total, [peak.total_bytes]);
      await page.click(at('tab-between'));
      await type('a-field', '0');
      await type('b-field', ms(since));
      await page.waitFor(() => document.querySelectorAll('.answers [data-row="group"]').length > 0);
      const net = await page.evaluate(() => ['group', 'baseline', 'total'].map(row => [...document.querySelectorAll(`.answers [data-row="${row}"] [data-net]`)].map(cell => Number(cell.dataset.net))));
      assert.equal(sum(net[0]) + net[1][0], net[2][0]);
      await shot(page, `${name}-between`);
      await page.close();
    });

    test('allocators, histograms and the reserve', needs(RANK), async () => {
      const page = await openRank();
      const {top_by_bytes, blocks, max_reserved_gap_bytes} = reportOf(RANK).captures[0].devices[0];
      await openTab(page, 'top');
      const shown = await page.evaluate(() => [...document.querySelectorAll('.answers [data-row="group"] [data-bytes]')].map(cell => Number(cell.dataset.bytes)));
      assert.deepEqual(shown.slice(0, top_by_bytes.length), top_by_bytes.map(each => each.bytes));
      await page.click(at('sort-blocks'));
      await page.waitFor(() => document.querySelector('[aria-sort="descending"]')?.innerText.includes('Blocks') && document.querySelector('.answers')?.getAttribute('aria-busy') !== 'true');
      const most = Math.max(...top_by_bytes.map(each => each.blocks));
      assert.equal(Number(await page.evaluate(() => document.querySelector('.answers [data-row="group"] td:nth-child(3)').innerText)), most);
      await openTab(page, 'sizes');
      for (const histogram of ['size-histogram', 'lifetime-histogram']) {
        const counts = await page.evaluate(selector => [...document.querySelectorAll(`${selector} [data-blocks]`)].map(cell => Number(cell.dataset.blocks)), at(histogram));
        assert.equal(sum(counts), blocks);
      }
      await openTab(page, 'reserve');
      assert.equal(Number(await page.evaluate(() => document.querySelector('[data-row="reserved_gap"] [data-most]').dataset.most)), max_reserved_gap_bytes);
      await page.click(at('line-reserved_gap'));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('a capture opens on its peak, the tabs follow the arrow keys, and near the peak the peak is meant', async () => {
      const page = await openSample();
      assert.equal(await attribute(page, 'tab-peak', 'aria-selected'), 'true');
      await page.evaluate(selector => document.querySelector(selector).focus(), at('tab-peak'));
      for (const [key, tab] of [['ArrowRight', 'between'], ['Home', 'cursor']]) {
        await page.press(key);
        await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at(`tab-${tab}`));
      }
      await page.press('p');
      await page.press('2');
      await page.waitFor(selector => /\d/.test(document.querySelector(selector)?.textContent ?? ''), at('b-field'));
      const peak = reportOf(fixture(SAMPLE)).captures.flatMap(({devices}) => devices).reduce((worst, device) => device.peak.total_bytes > worst.peak.total_bytes ? device : worst);
      const since = BigInt(peak.peak.time_ns) - BigInt(peak.first_ns);
      assert.equal((await textOf(page, 'b-field')).replaceAll(/\D/g, ''), String(since));
      await page.close();
    });

    test('growth from step to step, and the steps on the charts', async () => {
      const page = await openSample();
      const report = reportOf(fixture(SAMPLE));
      const worst = report.captures.flatMap(({devices}) => devices).reduce((worst, device) => device.peak.total_bytes > worst.peak.total_bytes ? device : worst);
      assert.ok(worst.growth.length > 0);
      await openTab(page, 'growth');
      const counts = await page.evaluate(selector => [...document.querySelectorAll(`${selector} [data-row="group"]`)].map(row => [...row.children].slice(3, -1).map(cell => Number(cell.innerText))), at('growth-groups'));
      assert.deepEqual(counts, worst.growth.map(group => group.per_step_blocks));
      const freed = await page.evaluate(selector => [...document.querySelectorAll(`${selector} [data-row="group"]`)].map(row => row.dataset.freed === 'true'), at('growth-groups'));
      assert.deepEqual(freed, worst.growth.map(group => group.alive_at_end_blocks === 0));
      assert.deepEqual(freed, [...freed].sort(), 'what stays comes first');
      const steps = worst.growth[0].per_step_blocks.length;
      assert.equal(await page.evaluate(() => [...document.querySelectorAll('.phase')].filter(phase => phase.innerText.startsWith('ProfilerStep#')).length), steps);
      await shot(page, `${name}-growth`);
      await page.close();
    });

    test('one capture against another, as in the report', async () => {
      const page = await openSample();
      const {captures} = reportOf(fixture(SAMPLE));
      await openTab(page, 'ranks');
      for (const [side, place] of [['a', 0], ['b', captures.length - 1]]) {
        await page.evaluate(([selector, place]) => {
          const select = document.querySelector(selector);
          select.value = String(place);
          select.dispatchEvent(new Event('change', {bubbles: true}));
        }, [at(`pair-${side}`), place]);
      }
      await page.waitFor(selector => document.querySelector(selector) !== null, at('pair-total'));
      const peak = capture => capture.devices[0].peak.total_bytes;
      assert.equal(Number(await attribute(page, 'pair-total', 'data-bytes')), peak(captures.at(-1)) - peak(captures[0]));
      const rows = await page.evaluate(selector => [...document.querySelectorAll(`${selector} tbody [data-bytes]`)].map(cell => Number(cell.dataset.bytes)), at('pair-operators'));
      assert.equal(sum(rows), peak(captures.at(-1)) - peak(captures[0]), 'baseline and operators sum to the total');
      await page.close();
    });

    test('ranks side by side, the worst first, as in the report', async () => {
      const page = await openSample();
      const {comparison} = reportOf(fixture(SAMPLE));
      await openTab(page, 'ranks');
      const peaks = await page.evaluate(selector => [...document.querySelectorAll(`${selector} [data-row="rank"]`)].map(row => Number(row.querySelector('[data-bytes]').dataset.bytes)), at('ranks'));
      assert.deepEqual(peaks, comparison.ranks.map(rank => rank.peak_bytes));
      const departing = comparison.groups.filter(group => !group.across_roles).flatMap(group => group.outliers ?? []);
      assert.equal(await page.evaluate(selector => document.querySelectorAll(selector).length, at('outlier')), departing.length);
      await shot(page, `${name}-ranks`);
      await page.close();
    });

    test('captures are chosen by rank and role, as on the command line', async () => {
      const page = await openSample();
      await openTab(page, 'captures');
      const rows = () => page.evaluate(selector => document.querySelectorAll(`${selector} tbody tr`).length, at('captures'));
      const all = await rows();
      await page.click(at('filter-ranks'));
      await page.type('0');
      await page.press('Enter');
      await page.waitFor(([selector, all]) => document.querySelectorAll(`${selector} tbody tr`).length < all, [at('captures'), all]);
      assert.equal(await rows(), reportOf(fixture(SAMPLE)).captures.filter(({rank}) => rank === 0).flatMap(({devices}) => devices).length);
      await page.click(at('filter-ranks'));
      await page.type('x');
      await page.press('Enter');
      await page.waitFor(selector => document.querySelector(selector).innerText.includes('0,2-5'), at('panel-captures'));
      await page.close();
    });

    test('the other reports leave the page as the command line writes them, and how a capture was made is told', needs(RANK), async () => {
      const page = await browser.open(hosts.addresses.http);
      const folder = RANK;
      await page.pick(at('open-files'), ['ASCEND_PROFILER_OUTPUT/operator_memory.csv', 'profiler_info_0.json'].map(file => `${folder}/${file}`));
      await readPeak(page);
      await openTab(page, 'captures');
      await page.waitFor(selector => document.querySelector(selector) !== null, at('facts'));
      assert.match(await textOf(page, 'facts'), /with_stack\s+on/);
      await page.close();
      for (const [what, format] of [['markdown', 'markdown'], ['text', 'text']]) {
        const sample = await openSample();
        assert.ok(await exported(sample, `export-${what}`) === run(fixture(SAMPLE), '--format', format), what);
        await sample.close();
      }
    });

    test('the table leaves the page as the command line writes it', async () => {
      for (const what of ['csv', 'jsonl']) {
        const page = await openSample();
        const file = scratchFile(`table.${what}`);
        run(fixture(SAMPLE), '--table', file);
        // Not assert.equal: what it would print of two tables is longer than they are.
        assert.ok(await exported(page, `export-${what}`) === fs.readFileSync(file, 'utf8'), what);
        await page.close();
      }
    });

    test('narrow: no panel is wider than the window, in both languages', async () => {
      const chinese = await driver.launch({lang: 'zh-CN'});
      for (const [language, each] of Object.entries({english: browser, chinese})) {
        const page = await each.open(hosts.addresses.http, {width: 390, height: 844});
        await page.click(at(`sample-${SAMPLE}`));
        await readPeak(page);
        for (const tab of ['captures', 'cursor', 'peak', 'between', 'end', 'growth', 'top', 'sizes', 'reserve', 'ranks', 'quality']) {
          await openTab(page, tab);
          const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
          assert.ok(wide <= seen, `${language}, ${tab}: the page is ${wide} px wide in a window of ${seen} px`);
        }
        assert.equal(await attribute(page, 'tab-quality', 'aria-selected'), 'true');
        await page.close();
      }
      await chinese.close();
    });
  });
}
