// The page in another page: docs/embedding.md. Files by message, the report back in the command line's bytes, a person's yes where the other page
// is not on the list, and an error, never harm, for every message that is none.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {DRIVERS, PAGE, at, fixture, isRead, report, seriousFindings, shot, someServers} from './harness.mjs';

const EXAMPLE = fileURLToPath(new URL('../../docs/embedding-example.html', import.meta.url));
const XPLANE = fixture('xplane_scan_fits/scan_fits.xplane.pb');
const ASCEND = fixture('ascend_sample');
const PATIENCE_MS = 30_000;

const below = folder => fs.readdirSync(folder, {recursive: true, withFileTypes: true}).filter(entry => entry.isFile() && !['README.md', 'truth.json'].includes(entry.name))
  .map(entry => path.join(entry.parentPath ?? entry.path, entry.name));
/** Files for a message; the paths begin with the folder's name. */
const sent = (base, files) => files.map(file => ({path: path.relative(path.dirname(base), file), base64: fs.readFileSync(file).toString('base64')}));

/** A page of another origin around the one that is tested. */
const around = (address, attributes = '') => `<!doctype html><link rel="icon" href="data:,"><title>around</title>
<style>body { margin: 0 } iframe { width: 100%; height: 97vh; border: 0 }</style>
<script>window.heard = []; addEventListener('message', ({data, source}) => source === window.frames[0] && heard.push(data))</script>
<iframe ${attributes} src="${address.replaceAll('&', '&amp;')}"></iframe>`;

const until = async (what, ask) => {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(50)) {
    const value = await ask();
    if (value) return value;
  }
  throw new Error(`in vain: ${what}`);
};

/** Sends an `open` from the page around; `window.over` then has what came over its port. */
const openFrom = (page, files, form = 'buffer', rest = {}) => page.around.evaluate(([files, form, rest]) => {
  const {port1, port2} = new MessageChannel();
  const over = window.over = [];
  window.port = port1;
  port1.onmessage = ({data}) => over.push(data);
  const bytes = base64 => Uint8Array.from(atob(base64), character => character.charCodeAt(0));
  const data = {buffer: bytes => bytes.buffer, blob: bytes => new Blob([bytes]), file: bytes => new File([bytes], 'x')}[form];
  window.frames[0].postMessage({type: 'oomscope:open', version: 1, files: files.map(({path, base64}) => ({path, data: data(bytes(base64))})), ...rest}, '*', [port2]);
}, [files, form, rest]);
const over = (page, type) => until(type, () => page.around.evaluate(type => window.over.find(message => message.type === type) ?? null, `oomscope:${type}`));
const post = (page, message) => page.around.evaluate(message => window.frames[0].postMessage(message, '*'), message);
const heard = page => page.around.evaluate(() => window.heard);
const ready = page => until('pong', async () => {
  await post(page, {type: 'oomscope:ping', version: 1, id: 'there?'});
  return (await heard(page)).find(({type, id}) => type === 'oomscope:pong' && id === 'there?');
});
const seen = (page, name) => page.waitFor(selector => document.querySelector(selector) !== null, at(name));

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, {timeout: 300_000}, () => {
    let browser;
    let oomscope;
    const {start: started, close} = someServers();
    /** Opens a page around ours, of which `allowed` says whether it is on the list. */
    const open = async ({allowed = false, attributes = '', query = '', width = 1280, height = 800} = {}) => {
      const pages = {};
      const host = await started({pages});
      const list = allowed ? `&allow=${new URL(host.address).origin}` : '';
      pages['/'] = around(`${oomscope.address}?embed=1${list}${query}`, attributes);
      const page = await browser.open(host.address, {frame: 'iframe', width, height});
      await ready(page);
      return page;
    };
    before(async () => {
      browser = await driver.launch();
      oomscope = await started({worker: true});
    });
    after(async () => {
      await browser.close();
      await close();
    });

    for (const [where, address] of [['http', () => started({pages: {'/example': fs.readFileSync(EXAMPLE, 'utf8')}}).then(host => `${host.address}example?page=${oomscope.address}`)],
      ['http, in a sandbox', () => started({pages: {'/example': fs.readFileSync(EXAMPLE, 'utf8')}}).then(host => `${host.address}example?sandbox=allow-scripts&page=${oomscope.address}`)],
      ['file', () => `${pathToFileURL(EXAMPLE).href}?page=${pathToFileURL(PAGE).href}`]]) {
      test(`the example, ${where}: files go in, the report comes out`, async () => {
        const page = await browser.open(await address(), {frame: 'iframe'});
        const state = () => page.around.evaluate(() => document.getElementById('state').textContent);
        await until('ready', async () => await state() === 'ready');
        await page.around.evaluate(([name, base64]) => {
          const chosen = new DataTransfer();
          chosen.items.add(new File([Uint8Array.from(atob(base64), character => character.charCodeAt(0))], name));
          const input = document.getElementById('files');
          input.files = chosen.files;
          input.dispatchEvent(new Event('change'));
        }, [path.basename(XPLANE), fs.readFileSync(XPLANE).toString('base64')]);
        if (where === 'file') {
          await seen(page, 'consent');
          await page.click(at('consent-yes'));
        }
        const text = await until('the report', () => page.around.evaluate(() => document.getElementById('report').textContent));
        assert.equal(text, report(XPLANE));
        assert.deepEqual(page.problems, []);
        await shot(page, `embed-example-${name}-${where.replace(/\W+/g, '-')}`);
        await page.close();
      });
    }

    for (const [form, attributes] of [['buffer', ''], ['blob', ''], ['file', ''], ['buffer', 'sandbox="allow-scripts"']]) {
      test(`a folder as ${form}s from an allowed origin${attributes && ', in a sandbox'}: progress, then the command line's report`, async () => {
        const page = await open({allowed: true, attributes});
        assert.equal((await heard(page)).filter(({type}) => type === 'oomscope:ready').length, 1);
        await openFrom(page, sent(ASCEND, below(ASCEND)), form, {id: 42, view: 'tab=end'});
        const {report: text, id, version} = await over(page, 'report');
        assert.equal(text, report(ASCEND));
        assert.deepEqual([id, version], [42, 1]);
        const told = await page.around.evaluate(() => window.over.findLast(({type}) => type === 'oomscope:progress'));
        assert.ok(told.captures_ready === 4 && told.captures_total === 4 && told.bytes_read === told.bytes_total && told.bytes_total > 100_000, JSON.stringify(told));
        assert.match((await over(page, 'select')).view, /\btab=end\b/, 'the view that was asked for');
        await page.around.evaluate(() => {
          window.over.length = 0;
          window.port.postMessage({type: 'oomscope:select', version: 1, view: 'tab=growth&ns=1000-2000'});
        });
        const {view} = await over(page, 'select');
        assert.match(view, /\btab=growth\b/);
        assert.match(view, /\bns=1000-2000\b/);
        // Each is answered: with what is shown, changed or not, or with what is wrong in it.
        await page.around.evaluate(() => {
          window.over.length = 0;
          for (const [id, view] of [[1, 'tab=growth'], [2, 'tab=plan'], [3, 'colr=age']]) window.port.postMessage({type: 'oomscope:select', version: 1, id, view});
        });
        const answers = await until('answers', () => page.around.evaluate(() => window.over.length === 3 && window.over));
        assert.deepEqual(answers.map(({id, type, code}) => [id, type, code]).sort(), [[1, 'oomscope:select', undefined], [2, 'oomscope:error', 'malformed'], [3, 'oomscope:error', 'malformed']]);
        assert.match(answers.find(({id}) => id === 2).message, /tab cannot be "plan"; it can be captures, /);
        assert.deepEqual(page.problems, []);
        await page.close();
      });
    }

    test('in an isolated page that allows it there are threads', async () => {
      const isolated = await started({isolated: true});
      const host = await started({isolated: true, pages: {'/around': around(`${isolated.address}?embed=1`, 'allow="cross-origin-isolated"')}});
      const page = await browser.open(`${host.address}around`, {frame: 'iframe'});
      await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.threads) >= 2, at('threads'));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('an origin that is not on the list: no is no, yes is yes and is remembered', async () => {
      const page = await open();
      const files = sent(XPLANE, [XPLANE]);
      await openFrom(page, files);
      await seen(page, 'consent');
      assert.equal(await page.evaluate(selector => document.querySelector(selector).textContent, at('consent-origin')), new URL(page.around.url()).origin);
      assert.equal(await page.evaluate(() => document.activeElement.dataset.test), 'consent-no');
      assert.equal(await page.evaluate(selector => document.querySelector(selector), at('found-list')), null, 'nothing is opened before the yes');
      // Others wait for their turn.
      await page.around.evaluate(() => { window.first = window.over; });
      await openFrom(page, files);
      assert.equal((await over(page, 'error')).code, 'busy');
      await page.click(at('consent-no'));
      const refused = await until('refusal', () => page.around.evaluate(() => window.first.find(({type}) => type === 'oomscope:error')));
      assert.equal(refused.code, 'refused');
      assert.equal(await page.around.evaluate(() => window.first[0].type), 'oomscope:asking');
      assert.equal(await page.evaluate(selector => document.querySelector(selector), at('found-list')), null);
      await openFrom(page, files);
      await seen(page, 'consent');
      // A frame of another origin has no keys before it was clicked.
      await page.click(at('consent-origin'));
      await page.press('Escape');
      assert.equal((await over(page, 'error')).code, 'refused');
      await openFrom(page, files);
      await seen(page, 'consent');
      await page.click(at('consent-yes'));
      assert.equal((await over(page, 'report')).report, report(XPLANE));
      await openFrom(page, files);
      assert.equal((await over(page, 'report')).report, report(XPLANE), 'not asked again');
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('who heard no three times is not asked about again', async () => {
      const page = await open();
      for (let time = 0; time < 4; time++) {
        await openFrom(page, sent(XPLANE, [XPLANE]));
        if (time < 3) {
          await seen(page, 'consent');
          await page.click(at('consent-no'));
        }
        const {code, message} = await over(page, 'error');
        assert.equal(code, 'refused');
        assert.equal(/is not asked again/.test(message), time === 3, message);
      }
      assert.equal(await page.evaluate(selector => document.querySelector(selector), at('consent')), null);
      await page.close();
    });

    test('a report on files that a person opened goes nowhere', async () => {
      const page = await open({allowed: true});
      await openFrom(page, sent(XPLANE, [XPLANE]));
      await over(page, 'report');
      await page.around.evaluate(() => { window.over.length = 0; });
      await page.pick(at('open-files'), [fixture('xplane_bfc_retry/bfc_retry.xplane.pb')]);
      assert.equal((await over(page, 'error')).code, 'replaced');
      await isRead(page);
      await pause(500);
      assert.deepEqual(await page.around.evaluate(() => window.over.map(({type}) => type)), ['oomscope:error']);
      await page.close();
    });

    test('malformed messages are answered with errors, and the page goes on', async () => {
      const page = await open({allowed: true});
      const before = (await heard(page)).length;
      const messages = ['text', 7, null, {}, {type: 'oomscope:ping'}, {type: 'oomscope:ping', version: 9}, {type: 'oomscope:erase', version: 1}, {type: 'oomscope:open', version: 1, files: 'all'},
        {type: 'oomscope:open', version: 1, files: [{path: '../../x', data: 'y'}]}, {type: 'oomscope:select', version: 1, view: 'tab=peak'}];
      for (const message of messages) await post(page, message);
      await post(page, {type: 'oomscope:error', version: 1, code: 'loop'});
      const answers = await until('answers', async () => {
        const all = (await heard(page)).slice(before);
        return all.length >= messages.length ? all : null;
      });
      assert.deepEqual(answers.map(({type, code}) => [type, code]), ['malformed', 'malformed', 'malformed', 'unknown-type', 'version', 'version', 'unknown-type', 'malformed', 'malformed', 'no-port']
        .map(code => ['oomscope:error', code]));
      await openFrom(page, [{path: 'notes.txt', base64: 'eA=='}]);
      assert.equal((await over(page, 'error')).code, 'nothing-found');
      await openFrom(page, sent(XPLANE, [XPLANE]), 'buffer', {view: 'tab=nonsense'});
      assert.equal((await over(page, 'error')).code, 'malformed');
      await openFrom(page, sent(XPLANE, [XPLANE]));
      assert.equal((await over(page, 'report')).report, report(XPLANE));
      assert.deepEqual(page.problems, []);
      await page.close();
    });

    test('without embed=1 messages are not heard', async () => {
      const pages = {};
      const host = await started({pages});
      pages['/'] = around(oomscope.address);
      const page = await browser.open(host.address, {frame: 'iframe'});
      await page.waitFor(selector => document.querySelector(selector)?.dataset.threads !== undefined, at('threads'));
      await post(page, {type: 'oomscope:ping', version: 1});
      await pause(500);
      assert.deepEqual(await heard(page), []);
      await page.close();
    });

    for (const theme of ['light', 'dark']) {
      test(`looks: ${theme}, Chinese, compact; the question`, async () => {
        const page = await open({query: `&lang=zh-Hans&theme=${theme}`});
        assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans');
        const [red] = (await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)).match(/\d+/g).map(Number);
        assert.equal(red < 128, theme === 'dark');
        assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('h1')).display), 'none');
        await openFrom(page, sent(ASCEND, below(ASCEND)));
        await seen(page, 'consent');
        assert.deepEqual(await seriousFindings(page), []);
        await shot(page, `embed-consent-${name}-${theme}`);
        await page.click(at('consent-yes'));
        await over(page, 'report');
        await page.waitFor(selector => document.querySelector(selector)?.dataset.gantt !== undefined, at('gantt'));
        await shot(page, `embed-${name}-${theme}`);
        await page.close();
      });
    }

    test('looks: narrow; nothing is wider than the frame', async () => {
      const page = await open({width: 390, height: 844});
      const fits = async () => {
        const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(wide <= room, `${wide} px in ${room}`);
      };
      await openFrom(page, sent(ASCEND, below(ASCEND)));
      await seen(page, 'consent');
      await fits();
      await shot(page, `embed-consent-${name}-narrow`);
      await page.click(at('consent-yes'));
      await over(page, 'report');
      await page.waitFor(selector => document.querySelector(selector)?.dataset.gantt !== undefined, at('gantt'));
      await fits();
      await shot(page, `embed-${name}-narrow`);
      await page.close();
    });
  });
}
