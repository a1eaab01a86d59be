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

    /** The page with the sample, about to be saved. */
    const openSample = async () => {
      const page = await browser.open(hosts.addresses.http);
      await page.click(at(`sample-${SAMPLE}`));
      await isRead(page);
      await page.click(at('tab-top'));
      await beginSaving(page);
      return page;
    };

    test('a saved page opens from a file in the same view, with the same report', async () => {
      const page = await openSample();
      const peak = await readPeak(page);
      await shot(page, `${name}-save-html`);
      const file = scratchFile('saved.html');
      await page.waitFor(selector => /MiB/.test(document.querySelector(selector)?.innerText), at('save-size'));
      const told = await textOf(page, 'save-size');
      const bytes = await savedPage(page);
      fs.writeFileSync(file, bytes);
      const said = Number(/([\d.]+) MiB/.exec(told)?.[1]);
      assert.ok(Math.abs(said - bytes.length / 2 ** 20) < 0.02, `${told} of ${bytes.length} bytes`);
      await page.close();
      const saved = await browser.open(pathToFileURL(file).href);
      assert.equal(await readPeak(saved), peak);
      await saved.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-selected') === 'true', at('tab-top'));
      assert.equal(await exported(saved, 'export-json'), report(fixture(SAMPLE)));
      assert.deepEqual(saved.problems, []);
      await shot(saved, `${name}-saved`);
      await saved.close();
    });

    test('a saved page is an input of the page and of the command line: the same view, the same report', {timeout: 300_000}, async () => {
      const page = await openSample();
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
      fs.writeFileSync(file, '<!doctype html><title>Another</title>');
      await page.pick(at('open-files'), [file]);
      await page.waitFor(selector => document.querySelector(selector)?.innerText.includes('“saved.html” is no page that was saved here'), at('message'));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('without stacks and folders the file holds neither', async () => {
      const page = await openSample();
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
