// A saved page: its size is told, it opens from a file in the same view, and gives the same report; the command line makes the same.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import {after, before, describe, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {DRIVERS, PAGE, at, attribute, beginSaving, exported, filesIn, fixture, isRead, openHosts, readPeak, report, savedPage, scratchFile, shot, textOf} from './harness.mjs';

const SAMPLE = 'ascend_sample';
const top = fileURLToPath(new URL('../..', import.meta.url));
const isShown = selector => document.querySelector(selector) !== null;

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    const openSample = async () => {
      const page = await browser.open(hosts.addresses.http);
      await page.click(at(`sample-${SAMPLE}`));
      await isRead(page);
      await page.click(at('tab-top'));
      return page;
    };

    /** The page with the sample, about to be saved. */
    const aboutToSave = async () => {
      const page = await openSample();
      await beginSaving(page);
      return page;
    };

    test('a saved page opens from a file in the same view, with the same report', async () => {
      const page = await aboutToSave();
      const peak = await readPeak(page);
      await shot(page, `${name}-save-html`);
      const file = scratchFile('saved.html');
      await page.waitFor(selector => /MiB/.test(document.querySelector(selector)?.innerText), at('save-size'));
      const told = await textOf(page, 'save-size');
      const bytes = await savedPage(page);
      fs.writeFileSync(file, bytes);
      const said = Number(/([\d.]+) MiB/.exec(told)?.[1]);
      assert.ok(Math.abs(said - bytes.length / 2 ** 20) < 0.02, `${told} of ${bytes.length} bytes`);
      assert.equal(await textOf(page, 'saved-file'), 'oomscope-actor_update-rank1-and-3-more.html was given to the browser to save.');
      await page.close();
      const saved = await browser.open(pathToFileURL(file).href);
      assert.equal(await readPeak(saved), peak);
      await saved.waitFor(() => document.title === 'actor_update-rank1 + 3 – oomscope');
      await saved.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at('tab-top'));
      assert.equal(await exported(saved, 'export-json'), report(fixture(SAMPLE)));
      await saved.waitFor(selector => Number(document.querySelector(selector)?.dataset.used) > 0, at('memory'));
      assert.deepEqual(saved.problems, []);
      await shot(saved, `${name}-saved`);
      await saved.close();
    });

    test('a saved page is an input of the page and of the command line: the same view, the same report', {timeout: 300_000}, async () => {
      const page = await aboutToSave();
      const file = scratchFile('saved.html');
      fs.writeFileSync(file, await savedPage(page));
      await page.close();
      const told = report(fixture(SAMPLE));
      assert.equal(report(file), told);
      const other = await browser.open(hosts.addresses.file);
      await other.pick(at('open-files'), [file]);
      assert.equal(await exported(other, 'export-json'), told);
      await other.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at('tab-top'));
      // With a folder of the same captures they count once.
      const sample = filesIn(fixture(SAMPLE)).find(name => name.endsWith('operator_memory.csv'));
      await other.pick(at('open-files'), [file, sample]);
      const {captures} = JSON.parse(await exported(other, 'export-json'));
      assert.equal(captures.length, JSON.parse(told).captures.length + 1);
      assert.deepEqual(other.problems, []);
      await other.close();
    });

    test('a page without captures, a damaged one and another program\u2019s are told apart', async () => {
      const file = scratchFile('saved.html');
      const own = fs.readFileSync(PAGE);
      const damaged = own.toString('latin1').replace('<div id="app"></div>', '<div id="app"></div>\n<script type="text/plain" id="session" data-view="">AAAA</script>');
      const page = await browser.open(hosts.addresses.http);
      for (const [bytes, said] of [[own, 'no captures were saved with this page'], [Buffer.from(damaged, 'latin1'), 'its format is']]) {
        fs.writeFileSync(file, bytes);
        await page.pick(at('open-files'), [file]);
        const [warning] = JSON.parse(await exported(page, 'export-json')).warnings;
        assert.ok(warning.message.includes(said), warning.message);
        assert.equal(warning.file, 'saved.html');
        assert.deepEqual(JSON.parse(report(file)).warnings, [warning]);
        await page.waitFor(([selector, said]) => document.querySelector(selector)?.innerText.toLowerCase().includes(said), [at('panel-quality'), said]);
      }
      // Data quality was opened for want of charts, not by a person: it does not stay for the next files.
      const [sample] = filesIn(fixture(SAMPLE)).filter(name => name.endsWith('operator_memory.csv'));
      const isOpen = ([selector, others]) => document.querySelector(selector)?.getAttribute('aria-selected') === 'true' && (others === undefined || document.querySelector(others) !== null);
      await page.pick(at('open-files'), [sample]);
      await page.waitFor(isOpen, [at('tab-peak')]);
      await page.click(at('tab-quality'));
      await page.pick(at('open-files'), [sample]);
      await isRead(page);
      await page.waitFor(isOpen, [at('tab-quality'), at('peak-total')]);
      fs.writeFileSync(file, '<!doctype html><title>Another</title>');
      await page.pick(at('open-files'), [file]);
      await page.waitFor(selector => document.querySelector(selector)?.innerText.includes('“saved.html” is no page that was saved here'), at('message'));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('a window beside the pinned block comes back as it was, from its address and from a saved page', async () => {
      const page = await openSample();
      const isOpen = selector => document.querySelector(selector) !== null;
      await page.press('l');
      await page.waitFor(isOpen, at('block-detail'));
      await page.press('0');
      await page.waitFor(isOpen, '.pinned-box');
      for (let step = 0; step < 16; step++) await page.press('w');
      const offScreen = () => page.evaluate(() => document.querySelector('.pinned-box') === null);
      for (const way of ['[', ']']) for (let step = 0; step < 12 && !await offScreen(); step++) await page.press(way);
      assert.ok(await offScreen(), 'the block can be left');
      const windowOf = page => page.evaluate(selectors => selectors.map(selector => document.querySelector(selector)?.textContent), [at('field-from'), at('field-to')]);
      const shown = await windowOf(page);
      const ends = shown.map(ms => Math.round(Number(ms.replaceAll(',', '')) * 1e6)).join('-');
      await page.waitFor(ends => location.hash.includes(`ns=${ends}&`) && location.hash.includes('block='), ends);
      const hash = await page.evaluate(() => location.hash);
      await beginSaving(page);
      const file = scratchFile('saved.html');
      fs.writeFileSync(file, await savedPage(page));
      for (const address of [`${hosts.addresses.http}${hash}`, pathToFileURL(file).href]) {
        const other = await browser.open(address);
        if (address.includes('#')) await other.click(at(`sample-${SAMPLE}`));
        await other.waitFor(isOpen, at('block-detail'));
        // Longer than a view must rest before it is written.
        await other.evaluate(() => new Promise(resolve => setTimeout(resolve, 1500)));
        assert.deepEqual(await windowOf(other), shown);
        if (address.includes('#')) assert.equal(await other.evaluate(() => location.hash), hash);
        await other.close();
      }
      await page.close();
    });

    test('reports count, opened and saved: their ranks are shown first, and go on being exported', async () => {
      const reports = scratchFile('reports.json');
      const told = report(fixture(SAMPLE));
      fs.writeFileSync(reports, told);
      const {captures} = JSON.parse(told);
      const page = await browser.open(hosts.addresses.http);
      const ranksFirst = page => page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at('tab-ranks'));
      await page.pick(at('open-files'), [reports]);
      await isRead(page);
      await ranksFirst(page);
      assert.equal(await textOf(page, 'found-list'), `${captures.length} captures from 1 report: figures, no curves`);
      await beginSaving(page);
      const file = scratchFile('saved.html');
      fs.writeFileSync(file, await savedPage(page));
      // The ranks were the page's own choice: what fills the memory comes first again.
      await page.pick(at('open-files'), filesIn(fixture(SAMPLE)).filter(name => name.endsWith('operator_memory.csv')).slice(0, 1));
      await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at('tab-peak'));
      await page.close();
      const saved = await browser.open(pathToFileURL(file).href);
      await isRead(saved);
      await ranksFirst(saved);
      const line = await textOf(saved, 'found-list');
      assert.ok(line.includes(`${captures.length} captures from 1 report`) && !/\b0\b/.test(line), line);
      assert.equal(await exported(saved, 'export-json'), report(reports));
      await shot(saved, `${name}-saved-reports`);
      assert.deepEqual(saved.problems, []);
      await saved.close();
    });

    test('a damaged session says what cannot be read, why, and what to do', async () => {
      const page = await aboutToSave();
      const bytes = (await savedPage(page)).toString('latin1');
      await page.close();
      const file = scratchFile('saved.html');
      const [, packed] = /id="session"[^>]*>([^<]*)</.exec(bytes);
      for (const damaged of [`${packed.slice(0, 400)}AAAA${packed.slice(404)}`, packed.slice(0, 4001)]) {
        fs.writeFileSync(file, bytes.replace(packed, () => damaged), 'latin1');
        const other = await browser.open(pathToFileURL(file).href);
        await other.waitFor(isShown, at('message'));
        const said = await textOf(other, 'message');
        assert.match(said, /^The captures saved in this page cannot be read: .*Get the file again/);
        assert.doesNotMatch(said, /\bError: |\.\./);
        await other.close();
      }
    });

    test('a page that was cut on its way is not blank', async () => {
      const file = scratchFile('cut.html');
      fs.writeFileSync(file, fs.readFileSync(PAGE).subarray(0, 2_000_000));
      const page = await browser.open(pathToFileURL(file).href);
      await page.waitFor(() => getComputedStyle(document.getElementById('incomplete')).visibility === 'visible');
      assert.match(await page.evaluate(() => document.body.innerText), /This file is incomplete, or scripts are switched off/);
      await page.close();
      const whole = await browser.open(hosts.addresses.file);
      assert.equal(await whole.evaluate(() => document.getElementById('incomplete')), null);
      await whole.close();
    });

    test('without stacks and folders the file holds neither', async () => {
      const page = await aboutToSave();
      for (const box of ['save-stacks', 'save-folders']) await page.click(at(box));
      const bytes = await savedPage(page);
      await page.close();
      const packed = /id="session"[^>]*>([^<]*)</.exec(bytes.toString('latin1'))[1];
      const text = zlib.gunzipSync(Buffer.from(packed, 'base64')).toString('latin1');
      assert.ok(!text.includes('batch.py') && !text.includes('ascend_sample/'), 'a stack or a folder');
      assert.ok(text.includes('_ascend_pt'), 'names stay');
    });
  });
}

test('the command line writes such a page', {timeout: 600_000}, async () => {
  const file = scratchFile('saved.html');
  const made = spawnSync('cargo', ['run', '--quiet', '--features', 'page', '--', fixture(SAMPLE), '--html', file], {cwd: top, encoding: 'utf8'});
  assert.equal(made.status, 0, made.stderr);
  assert.match(made.stderr, new RegExp(`${path.basename(file)}: ${fs.statSync(file).size} bytes`));
  const browser = await DRIVERS.chromium.launch();
  const page = await browser.open(pathToFileURL(file).href);
  assert.equal(await exported(page, 'export-json'), report(fixture(SAMPLE)));
  await page.waitFor(isShown, at('peak-total'));
  assert.ok(Number(await attribute(page, 'peak-total', 'data-bytes')) > 0);
  await browser.close();
});
