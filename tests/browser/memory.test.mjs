// The memory budget: shown, chosen, kept to; what was folded is said, and the figures are those of the command line with the same budget.
import assert from 'node:assert/strict';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, activate, at, attribute, exported, fixture, generated, isRead, openHosts, readPeak, report, shot, textOf} from './harness.mjs';

const MIB = 2 ** 20;

let hosts;
let files;
let many;
before(async () => {
  hosts = await openHosts();
  files = generated(60_000, '--trace');
  many = generated(400_000);
});
after(() => hosts.close());

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    test('a capture beyond the budget is folded, with a word, and no total changes', {timeout: 180_000}, async () => {
      const page = await browser.open(`${hosts.addresses.http}?memory=16`);
      await page.pick(at('open-files'), files);
      await isRead(page, 60_000);
      assert.equal(await attribute(page, 'memory', 'data-budget'), String(16 * MIB));
      await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.used) > 0, at('memory'));
      const text = await exported(page, 'export-json');
      assert.equal(text, report(...files, '--memory', '16MiB'));
      const [capture] = JSON.parse(text).captures;
      const [device] = capture.devices;
      assert.ok(device.folded.blocks > 1000, 'something is folded');
      assert.ok(capture.warnings.some(({code}) => code === 'blocks-folded'));
      assert.equal(capture.stacks.folded, device.folded.blocks);
      const [whole] = JSON.parse(report(...files)).captures;
      const figures = ({peak, alive_at_end, blocks, max_reserved_gap_bytes}) =>
        [peak.time_ns, peak.total_bytes, peak.tracked_bytes, peak.baseline_bytes, peak.reserved_bytes, peak.live_blocks, alive_at_end.bytes, blocks, max_reserved_gap_bytes];
      assert.deepEqual(figures(device), figures(whole.devices[0]));
      assert.equal(await readPeak(page), device.peak.total_bytes);
      // Nobody has to look for it.
      const many = blocks => blocks.toLocaleString('en');
      assert.ok((await textOf(page, 'message')).startsWith(`${many(device.folded.blocks)} of ${many(device.blocks)} blocks are folded for want of memory`), await textOf(page, 'message'));
      assert.ok((await textOf(page, 'gantt-counts')).endsWith(`${many(device.blocks)} blocks, ${many(device.folded.blocks)} of them folded`), await textOf(page, 'gantt-counts'));
      // Each panel has them as a group of their own, and its groups sum to its total.
      await activate(page, 'tab-peak');
      await page.waitFor(() => document.querySelector('[data-test="groups"] [data-row="total"]') !== null);
      assert.match(await textOf(page, 'folded'), /blocks up to .* folded/);
      for (const tab of ['top', 'end', 'sizes', 'blocks', 'quality']) {
        await activate(page, `tab-${tab}`);
        if (tab === 'blocks') await page.waitFor(selector => document.querySelector(selector) !== null, at('folded-beside'));
      }
      await page.waitFor(() => /are folded: they count in every total/.test(document.body.innerText));
      await shot(page, `memory-${name}`);
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('where no block has room the chart says so, and the rows that were read count', {timeout: 180_000}, async () => {
      const page = await browser.open(`${hosts.addresses.http}?memory=16`);
      await page.pick(at('open-files'), many);
      await isRead(page, 60_000);
      assert.match(await textOf(page, 'gantt-counts'), /folded/);
      const text = await exported(page, 'export-json');
      assert.equal(text, report(...many, '--memory', '16MiB'));
      assert.ok(JSON.parse(text).captures[0].warnings.some(({code}) => code === 'memory-full'));
      assert.equal(await readPeak(page), JSON.parse(text).captures[0].devices[0].peak.total_bytes);
      await page.close();
    });

    test('what a large capture took is given back when other files are opened', {timeout: 180_000}, async () => {
      const page = await browser.open(hosts.addresses.http);
      const used = async of => {
        await page.waitFor(([selector, of]) => document.querySelector(selector)?.textContent.includes(of), [at('found-list'), of]);
        await isRead(page, 60_000);
        await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.used) > 0, at('memory'));
        return Number(await attribute(page, 'memory', 'data-used'));
      };
      await page.pick(at('open-files'), many);
      const large = await used('operator_memory');
      await page.pick(at('open-files'), [fixture('xplane_scan_fits/scan_fits.xplane.pb')]);
      const small = await used('scan_fits');
      assert.ok(large > 64 * MIB && small < large / 2, `${large}, then ${small}`);
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('the budget is chosen in the page, remembered, and counts from the next opening on', {timeout: 120_000}, async () => {
      const page = await browser.open(hosts.addresses.http);
      const budget = async () => Number(await attribute(page, 'memory', 'data-budget'));
      assert.ok(await budget() >= 256 * MIB, 'a default where nothing is asked');
      await activate(page, 'memory');
      await page.click(at('memory-budget'));
      await page.type('24');
      await page.press('Enter');
      await page.waitFor(([selector, bytes]) => document.querySelector(selector)?.dataset.budget === bytes, [at('memory'), String(24 * MIB)]);
      assert.equal(await page.evaluate(() => localStorage.getItem('oomscope.memory')), '24');
      await page.close();
    });
  });
}
