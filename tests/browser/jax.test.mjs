// JAX captures in the page: the verdicts first, the figures of the report, the same bytes as the command line.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, capture, exported, fixture, needs, openHosts, report, shot, textOf} from './harness.mjs';

const OOM = fixture('xplane_attention_oom/attention_oom.xplane.pb');
/** Captures and the codes of their verdicts, in order. */
const CAPTURES = {
  attention_oom: [OOM, ['step-does-not-fit', 'allocator-retry', 'xla-rematerialized', 'capacity-below-hbm']],
  scan_fits: [fixture('xplane_scan_fits/scan_fits.xplane.pb'), null],
  bfc_retry: [fixture('xplane_bfc_retry/bfc_retry.xplane.pb'), null],
  retain: [capture('xplane/synth/retain.xplane.pb'), ['grows-per-execution', 'capacity-below-hbm']],
  nodonate: [capture('xplane/synth/nodonate.xplane.pb'), null],
  jax_conv: [capture('xplane/gpu_mi300x/jax_conv.xplane.pb'), null],
  eager: [capture('xplane/cpu/eager/host.xplane.pb'), null],
  damaged: [capture('xplane/damaged/replaced_bytes.xplane.pb'), []],
};

const selfTest = () => spawnSync('cargo', ['run', '--quiet', '--', '--self-test'], {encoding: 'utf8'}).stdout;
const verdicts = page => page.evaluate(selector => [...document.querySelectorAll(`${selector} [data-code]`)].map(verdict => verdict.dataset.code), at('verdicts'));
const open = async (page, file) => {
  await page.pick(at('open-files'), [file]);
  await page.waitFor(selector => document.querySelector(selector) !== null, at('verdicts'));
};
/** The bytes that rows of a table show, by the name in `key`. */
const bytesBy = (page, selector, key) => page.evaluate(
  ([selector, key]) => Object.fromEntries([...document.querySelectorAll(selector)].map(cell => [cell.dataset[key], Number(cell.dataset.bytes)])), [selector, key]);

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    for (const [nth, [title, [file, codes]]] of Object.entries(CAPTURES).entries()) {
      const host = nth % 2 === 0 ? 'file' : 'http';
      test(`${host}: ${title} is told as on the command line`, needs(file), async () => {
        const page = await browser.open(hosts.addresses[host]);
        const text = report(file);
        const [told] = JSON.parse(text).captures;
        await page.pick(at('open-files'), [file]);
        assert.equal(await exported(page, 'export-json'), text);
        if (title !== 'damaged') {
          const expected = told.diagnosis.map(({code}) => code);
          assert.deepEqual(await verdicts(page), expected);
          if (codes !== null) assert.deepEqual(expected, codes);
        }
        assert.deepEqual(page.problems, []);
        await shot(page, `jax-${name}-${title}`);
        await page.close();
      });
    }

    test('isolated: plan, roles, buffers and what was live sum as in the report', async () => {
      const page = await browser.open(hosts.addresses.isolated);
      await open(page, OOM);
      const [told] = JSON.parse(report(OOM)).captures;
      const module = told.modules.find(({name}) => name === told.chosen_module);
      const parts = await bytesBy(page, `${at('plan')} [data-part]`, 'part');
      assert.equal(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0), module.needed_bytes);
      assert.deepEqual(parts, {
        donated: module.parameters.donated_bytes, kept: module.parameters.bytes - module.parameters.donated_bytes,
        outputs: module.non_aliased_outputs_bytes, constants: module.constants_bytes, temp: module.temp_bytes,
      });
      const roles = await bytesBy(page, `${at('heap-peak')} [data-role]`, 'role');
      assert.deepEqual(roles, Object.fromEntries(module.heap_peak.roles.map(({role, bytes}) => [role, bytes])));
      assert.match(await textOf(page, 'buffers'), /gpu_aot\.py:56 attention/);
      assert.match(await textOf(page, 'jax-line'), /^1\.000 GiB at the peak, in \d+ buffers?: gpu_aot\.py:56 attention$/);
      await page.click(at('tab-live_start'));
      await page.waitFor(selector => document.querySelector(selector) !== null, at('live-at-start'));
      const live = await page.evaluate(selector => [...document.querySelectorAll(`${selector} tbody [data-bytes]`)].map(cell => Number(cell.dataset.bytes)), at('live-at-start'));
      assert.equal(live.reduce((sum, bytes) => sum + bytes, 0), told.live_at_last_start[0].used_bytes);
      await page.close();
    });

    test('file: the self-test reads every sample, and all is as it should be', async () => {
      const page = await browser.open(hosts.addresses.file);
      await page.click(at('self-test'));
      await page.waitFor(selector => document.querySelector(selector) !== null, at('self-test-result'));
      const {rows, wrong} = await page.evaluate(selector => ({...document.querySelector(selector).dataset}), at('self-test-result'));
      const values = [...selfTest().matchAll(/^ok .*: (\d+) values$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
      assert.deepEqual([Number(rows), Number(wrong)], [values, 0]);
      assert.deepEqual(page.problems, []);
      await shot(page, `self-test-${name}`);
      await page.close();
    });

    test('http: the request in vain is marked, and the wait for it hides nothing', async () => {
      const page = await browser.open(hosts.addresses.http);
      await open(page, OOM);
      await page.waitFor(selector => document.querySelector(selector) !== null, at('wait'));
      // The temporaries of the plan are what was asked for.
      assert.match(await textOf(page, 'wait'), /asked for 2\.69\d GiB in vain: \d+(\.\d+)? s/);
      await page.evaluate(selector => document.querySelectorAll(`${selector} details`).forEach(details => { details.open = true; }), at('verdicts'));
      await page.click(at('show-wait'));
      await page.close();
    });

    test('another module can be chosen', async () => {
      const page = await browser.open(hosts.addresses.http);
      await open(page, OOM);
      const [told] = JSON.parse(report(OOM)).captures;
      const other = told.modules.find(({name}) => name !== told.chosen_module);
      await page.click(at('tab-modules'));
      await page.waitFor(selector => document.querySelector(selector) !== null, at('modules'));
      await page.evaluate(([selector, name]) => [...document.querySelectorAll(`${selector} [data-module]`)].find(row => row.dataset.module === name).click(), [at('modules'), other.name]);
      await page.waitFor(([selector, bytes]) => Number(document.querySelector(selector)?.dataset.bytes) === bytes, [at('plan-needed'), other.needed_bytes]);
      await page.waitFor(selector => document.querySelector(`${selector} [data-code="step-does-not-fit"]`) === null, at('verdicts'));
      await page.close();
    });

    test('narrow, dark, Chinese: nothing is wider than the window', async () => {
      const chinese = await driver.launch({lang: 'zh-CN', scheme: 'dark'});
      const page = await chinese.open(hosts.addresses.http, {width: 390, height: 844});
      await open(page, OOM);
      assert.match(await textOf(page, 'verdicts'), /这一步本身就放不下/);
      assert.ok(await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches));
      const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= seen, `the page is ${wide} px wide in a window of ${seen} px`);
      await shot(page, `jax-${name}-dark-narrow-chinese`);
      await chinese.close();
    });
  });
}
