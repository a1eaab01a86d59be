// A real capture, opened as a person opens it, on every host in every browser.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import * as marionette from './marionette.mjs';
import {DRIVERS, at, attribute, capture, exported, fixture, isRead, logFile, needs, openHosts, readPeak, report, scratchFile, shot, textOf} from './harness.mjs';

const RANK = capture('ascend/level0/rank0_ascend_pt');
const TABLE = `${RANK}/ASCEND_PROFILER_OUTPUT/operator_memory.csv`;
const PEAK_BYTES = 1_245_688_832;
const SAMPLE = 'ascend_sample';

const fits = async page => {
  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= seen, `the page is ${wide} px wide in a window of ${seen} px`);
};

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    for (const host of ['file', 'http', 'isolated']) {
      const open = options => browser.open(hosts.addresses[host], options);

      test(`${host}: the table of a real capture gives its peak`, needs(RANK), async () => {
        const page = await open();
        await page.pick(at('open-files'), [TABLE]);
        assert.equal(await readPeak(page), PEAK_BYTES);
        const threads = Number(await attribute(page, 'threads', 'data-threads'));
        if (host === 'isolated') assert.ok(threads >= 2, `${threads} threads`);
        else assert.equal(threads, 1);
        assert.deepEqual(page.problems, []);
        await shot(page, `${name}-${host}`);
        await page.close();
      });

      test(`${host}: the sample is one click away, and its export is the command line's report`, async () => {
        const page = await open();
        await page.click(at(`sample-${SAMPLE}`));
        await readPeak(page);
        const text = report(fixture(SAMPLE));
        assert.equal(await exported(page, 'export-json'), text);
        const worst = Math.max(...JSON.parse(text).captures.flatMap(({devices}) => devices.map(({peak}) => peak.total_bytes)));
        assert.equal(await readPeak(page), worst, 'the worst of all is shown, whichever was read first');
        assert.deepEqual(page.problems, []);
        await page.close();
      });

      test(`${host}: reports from many machines are listed together, and their export is the command line's`, async () => {
        const page = await open();
        const folder = path.join(path.dirname(logFile()), `reports-${name}-${host}`);
        fs.rmSync(folder, {recursive: true, force: true});
        fs.mkdirSync(folder, {recursive: true});
        const files = ['actor_update', 'critic_update'].map(role => {
          const file = path.join(folder, `${role}.json`);
          fs.writeFileSync(file, report(fixture(`${SAMPLE}/${role}`)));
          return file;
        });
        await page.pick(at('open-files'), files);
        await isRead(page);
        assert.equal(await attribute(page, 'tab-ranks', 'aria-selected'), 'true', 'side by side');
        await page.click(at('tab-captures'));
        await page.waitFor(selector => document.querySelectorAll(selector).length === 4, at('reported'));
        assert.equal(await exported(page, 'export-json'), report(...files));
        assert.deepEqual(page.problems, []);
        await page.close();
      });

      if (name === 'chromium') {
        test(`${host}: a dropped folder is read`, needs(RANK), async () => {
          const page = await open();
          await page.drop([RANK]);
          assert.equal(await readPeak(page), PEAK_BYTES);
          await page.close();
        });

        test(`${host}: a picked folder is read`, needs(RANK), async () => {
          const page = await open();
          await page.pick(at('open-folder'), RANK);
          assert.equal(await readPeak(page), PEAK_BYTES);
          await page.close();
        });
      }

      test(`${host}: a file that is no capture is named, with what was looked for`, async () => {
        const page = await open();
        await page.pick(at('open-files'), [fixture(`${SAMPLE}/README.md`)]);
        await page.waitFor(selector => (document.querySelector(selector)?.innerText ?? '') !== '', at('message'));
        assert.match(await textOf(page, 'message'), /operator_memory/);
        await page.close();
      });
    }

    test('a window of exact ends can be typed', async () => {
      const page = await browser.open(hosts.addresses.http);
      await page.click(at(`sample-${SAMPLE}`));
      await readPeak(page);
      for (const [field, typed, shown] of [['field-from', '1.25', '1.250000'], ['field-to', '7.000001', '7.000001']]) {
        await page.click(at(field));
        await page.type(typed);
        await page.press('Enter');
        await page.waitFor(([selector, shown]) => document.querySelector(selector).textContent === shown, [at(field), shown]);
      }
      await page.click(at('field-from'));
      await page.type('2,5');
      await page.press('Enter');
      assert.equal(await attribute(page, 'field-from', 'aria-invalid'), 'true', 'a comma that may be a decimal point is asked about');
      await page.press('Escape');
      assert.equal(await textOf(page, 'field-from'), '1.250000');
      await page.close();
    });

    test('narrow, English: nothing is wider than the window, with a menu open', async () => {
      const page = await browser.open(hosts.addresses.http, {width: 390, height: 844});
      await page.click(at(`sample-${SAMPLE}`));
      await readPeak(page);
      const menus = await page.evaluate(() => document.querySelectorAll('.menu > summary').length);
      assert.ok(menus > 1);
      for (let menu = 0; menu < menus; menu++) {
        await page.evaluate(menu => document.querySelectorAll('.menu').forEach((each, index) => { each.open = index === menu; }), menu);
        await fits(page);
      }
      await shot(page, `${name}-narrow`);
      await page.close();
    });

    test('narrow: headings, choices, units and the first line of a stack are seen whole', async () => {
      const page = await browser.open(hosts.addresses.http, {width: 390, height: 844});
      await page.click(at('sample-xplane_attention_oom'));
      await page.waitFor(selector => document.querySelector(selector) !== null, at('heap-peak'));
      const covered = await page.evaluate(() => [...document.querySelectorAll('.panel > .save-picture')].flatMap(menu => {
        const {left, bottom} = menu.getBoundingClientRect();
        const text = document.createRange();
        text.selectNodeContents(menu.parentElement.querySelector('h2'));
        return [...text.getClientRects()].filter(line => line.right > left && line.top < bottom).map(() => menu.parentElement.innerText.slice(0, 40));
      }));
      assert.deepEqual(covered, []);
      const edges = await page.evaluate(selector => {
        const {borderLeft, borderRight} = getComputedStyle(document.querySelector(selector));
        return [borderLeft, borderRight];
      }, at('module-select'));
      assert.equal(edges[0], edges[1]);
      await page.click(at('memory'));
      const {lines, beyond} = await page.evaluate(() => {
        const amount = document.querySelector('.memory .amount');
        const text = document.createRange();
        text.selectNodeContents(amount);
        const {top, bottom} = text.getBoundingClientRect();
        return {lines: (bottom - top) / amount.querySelector('.time').getBoundingClientRect().height, beyond: amount.scrollWidth - amount.clientWidth};
      });
      assert.ok(lines < 1.5 && beyond <= 0, `${lines} lines, ${beyond} px beyond`);
      await page.evaluate(selector => document.querySelector(selector).click(), at(`sample-${SAMPLE}`));
      await page.waitFor(selector => document.querySelector(selector)?.innerText.includes('aten::'), '.at-peak');
      await page.press('l');
      await page.waitFor(() => document.querySelector('.stack.boxed') !== null);
      const cut = await page.evaluate(() => {
        const box = document.querySelector('.stack.boxed');
        return Math.min(...[...box.children].map(line => Math.abs(line.offsetTop - box.scrollTop)));
      });
      assert.ok(cut <= 1, `the first line is cut by ${cut} px`);
      await page.close();
    });

    test('looks: dark, narrow, Chinese', async () => {
      const chinese = await driver.launch({lang: 'zh-CN', scheme: 'dark'});
      const page = await chinese.open(hosts.addresses.http, {width: 390, height: 844});
      await page.click(at(`sample-${SAMPLE}`));
      await readPeak(page);
      assert.match(await page.evaluate(() => document.body.innerText), /\p{Script=Han}/u);
      await fits(page);
      await shot(page, `${name}-dark-narrow-chinese`);
      await chinese.close();
    });
  });

  test(`${name}: a table of more than 4 GiB is read to its end`, {timeout: 180_000}, async () => {
    const file = scratchFile('operator_memory.csv');
    const [header, first] = fs.readFileSync(fixture('ascend_sample/critic_update/npu-node-01_437676_20260526085325318_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_memory.csv'), 'utf8').split('\n');
    fs.writeFileSync(file, `${header}\n${first}\n`);
    // A hole takes no room on the disk; to the reader it is one line that is no row.
    fs.truncateSync(file, 4.25 * 2 ** 30);
    fs.appendFileSync(file, `\n${first}\n`);
    const browser = await driver.launch();
    const page = await browser.open(hosts.addresses.file);
    await page.pick(at('open-files'), [file]);
    await isRead(page, 150_000);
    const {captures: [{rows}]} = JSON.parse(await exported(page, 'export-json'));
    assert.deepEqual(rows, {read: 3, set_aside: 1});
    await browser.close();
  });

  test(`${name}: traditional Chinese where the browser asks for it, another language on demand`, async () => {
    const taiwan = await driver.launch({lang: 'zh-TW'});
    const page = await taiwan.open(hosts.addresses.http, {width: 390, height: 844});
    await page.click(at(`sample-${SAMPLE}`));
    await readPeak(page);
    const shown = () => page.evaluate(() => [document.documentElement.lang, document.body.innerText.includes('裝置記憶體')]);
    assert.deepEqual(await shown(), ['zh-Hant', true]);
    await fits(page);
    await shot(page, `${name}-narrow-traditional`);
    await page.choose(at('language'), 'zh-Hans');
    assert.deepEqual(await shown(), ['zh-Hans', false]);
    await taiwan.close();
  });
}

test('firefox: a picked folder is read, on every host', needs(RANK), async () => {
  const firefox = await marionette.launch();
  try {
    for (const address of Object.values(hosts.addresses)) {
      await firefox.open(address);
      await firefox.waitFor('return document.querySelector(arguments[0]) !== null', at('open-folder'));
      await firefox.pickFolder(at('open-folder'), RANK);
      assert.equal(Number(await firefox.waitFor('return document.querySelector(arguments[0])?.dataset.bytes', at('peak-total'))), PEAK_BYTES);
    }
  } finally {
    await firefox.close();
  }
});
