// Names that are no names: a megabyte long, with control characters and marks that turn the direction of writing, `__proto__`, markup. Wherever a
// file can put them they are shown short and as letters, the page stays as wide as its window, and the command line steers no terminal.
// What such names must not do beside that, policy.test.mjs sees to.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {DRIVERS, activate, at, beginSaving, commandLine, downloaded, exported, filesIn, isRead, openHosts, report, savedPage, scratchFolder, shot} from './harness.mjs';
import {renamedAscend, renamedXplane} from './renamed.mjs';

const LONG = 1 << 20;
const STEERING = /(?![\n\r\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const NAMES = [
  'M'.repeat(LONG), `字${'é'.repeat(LONG / 2)}`, 'nul\0nul', 'clear\x1b[2J\x1b]0;title\x07', 'c1\x9b31m', 'rlo\u202Egnp.exe', 'isolate\u2066\u2067x', 'line\u2028end', '__proto__', 'constructor',
  'toString', '<b onclick="alert(1)">x</b>', '</script><script>alert(1)</script>', '`|`\\|', '=HYPERLINK("http://127.0.0.1:1/")', ' ', '\ufeffbom', '\u{1f469}\u200d\u{1f680}'.repeat(40),
];
const isLong = name => name.length >= LONG / 4;

/** The sample, with such names for operators, frames, steps, role, settings and folders. */
const hostileAscend = into => {
  // Each megabyte once: what a table says again and again it says by the row.
  const left = new Map(NAMES.filter(isLong).map(name => [name, 1]));
  return renamedAscend(path.join(into, 'a\u202Eb<b>\x1b[31m', '__proto___ascend_pt'), {
    operator: (nth, given) => {
      const name = NAMES[nth % NAMES.length];
      return isLong(name) && left.set(name, left.get(name) - 1).get(name) < 0 ? given : name;
    },
    event: (event, nth) => {
      const name = nth < NAMES.length * 4 ? NAMES[nth % NAMES.length] : NAMES[2 + nth % 14];
      if (event.name?.startsWith('ProfilerStep#')) event.name += nth % 2 === 0 ? NAMES[0] : NAMES[5];
      if (event.args?.['Call stack']) event.args['Call stack'] = event.args['Call stack'].replace('/app/rl', name.replaceAll(';', ''));
    },
    metadata: {role: `${NAMES[5]}${NAMES[3]}${NAMES[0]}`, ENV_VARIABLES: Object.fromEntries(NAMES.map(name => [name, name]))},
  });
};

/** A JAX capture with such names for modules, computations, instructions, operations, functions and files. */
const hostileXplane = into => {
  let nth = 0;
  const long = {left: 6};
  const next = () => {
    const name = NAMES[nth++ % NAMES.length];
    return Buffer.from(!isLong(name) || long.left-- > 0 ? name : 'short');
  };
  const hlo = {1: {1: () => Buffer.from(`jit_${NAMES[5]}${NAMES[3]}${NAMES[0]}`), 3: {1: next, 2: {7: {1: next, 2: next, 3: next}}}}};
  return renamedXplane(path.join(into, 'host\u202E<b>\x1b[31m.xplane.pb'), hlo);
};

/** Texts of the page that are too long, or hold what steers. */
const offenders = ([steering, longest]) => {
  const steers = new RegExp(steering, 'u');
  const wrong = text => text.length > longest || steers.test(text);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode() !== null) {
    const node = walker.currentNode;
    if (node.nodeType === Node.TEXT_NODE) {
      const inside = node.parentElement.closest('script, noscript, pre');
      if (inside === null && wrong(node.data)) found.push(`${node.parentElement.outerHTML.slice(0, 160)} ${node.data.length}`);
    } else {
      for (const name of ['title', 'aria-label', 'label', 'placeholder']) {
        const value = node.getAttribute(name);
        if (value !== null && wrong(value)) found.push(`${name} of ${node.tagName} ${node.getAttribute('data-test') ?? node.className}: ${value.length} ${value.slice(0, 60)}`);
      }
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push(`as wide as ${document.documentElement.scrollWidth} px`);
  return found.slice(0, 8);
};
const LONGEST_TEXT = 4100;

const steersNothing = (text, what, longest = Infinity) => {
  const found = STEERING.exec(text);
  assert.equal(found, null, `${what}: ${JSON.stringify(text.slice(Math.max(0, found?.index - 40), found?.index + 10))}`);
  const long = text.split('\n').find(line => line.length > longest);
  assert.equal(long, undefined, `${what}: a line of ${long?.length} letters: ${long?.slice(0, 200)}`);
};

let hosts;
let folder;
let captures;
before(async () => {
  hosts = await openHosts();
  folder = scratchFolder();
  captures = {ascend: hostileAscend(folder), xplane: hostileXplane(folder)};
});
after(() => hosts.close());

test('the command line steers no terminal, and its lines stay short', {timeout: 300_000}, () => {
  for (const capture of Object.values(captures)) {
    for (const format of ['text', 'markdown', 'json']) {
      const {stdout, stderr, status} = commandLine(capture, '--format', format);
      assert.equal(status, 0, stderr);
      steersNothing(stdout, `${capture} ${format}`, format === 'json' ? Infinity : 6000);
      steersNothing(stderr, `${capture} ${format}: errors`, 2000);
    }
  }
  const {stderr, status} = commandLine(path.join(folder, 'no\x1b[31m\u202Efile'), '--module', 'x\x1b[2J');
  assert.notEqual(status, 0);
  steersNothing(stderr, 'a path that is not there', 2000);
  const svg = path.join(folder, 'chart.svg');
  for (const kind of ['trend', 'lanes', 'stacked', 'flame']) {
    assert.equal(commandLine(captures.ascend, '--chart', svg, '--chart-kind', kind).status, 0, kind);
    steersNothing(fs.readFileSync(svg, 'utf8'), kind, 20_000);
  }
});

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, {timeout: 400_000}, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    const everyPanel = async (page, what) => {
      const tabs = await page.evaluate(() => [...document.querySelectorAll('[data-test^="tab-"]')].map(tab => tab.dataset.test));
      assert.ok(tabs.length > 5);
      for (const tab of tabs) {
        await page.click(at(tab));
        assert.deepEqual(await page.evaluate(offenders, [STEERING.source, LONGEST_TEXT]), [], `${what} ${tab}`);
      }
    };

    test('an address that makes no sense is taken as far as it makes some', async () => {
      for (const sample of ['ascend_sample', 'xplane_attention_oom']) {
        const page = await browser.open(hosts.addresses.http);
        await page.click(at(`sample-${sample}`));
        await isRead(page);
        for (const hash of [
          'dies=9999999999999999&lives=9007199254740993&min=9999999999999999&alive=9999999999999999', 'op=4294967295&stack=4294967295&frame=4294967295&stream=4294967295', 'op=4294967296',
          'beneath=999999999.99999&tab=blocks', 'ns=9999999999999999-0&block=4294967295', 'ns=5-5&cursor=9999999999999999&a=1e9&b=-1', 'on=999999.999999&rows=ranks&colour=<b>', 'class=3&tab=flame&by=stack',
          '__proto__=1&constructor=2&tab=__proto__&rows=toString', '%', '%00=%ff', `=&&&===${'x'.repeat(10_000)}`, 'rows=stacked&sort=__proto__&min=1&max=0&tab=peak',
        ]) {
          await page.evaluate(hash => { location.hash = hash; }, hash);
          await page.waitFor(() => new Promise(resolve => setTimeout(() => resolve(true), 400)));
          assert.deepEqual([await page.evaluate(selector => document.querySelector(selector)?.innerText, at('message')) ?? null, page.problems], [null, []], hash.slice(0, 100));
        }
        await page.close();
      }
    });

    for (const kind of ['ascend', 'xplane']) {
      test(`${kind}: in every panel, view and export`, async () => {
        const page = await browser.open(hosts.addresses.http);
        const files = kind === 'xplane' ? [captures.xplane] : filesIn(captures.ascend).filter(file => /\.(csv|json)$/.test(file) && !file.includes('truth'));
        if (kind === 'ascend' && name === 'chromium') await page.pick(at('open-folder'), path.dirname(captures.ascend));
        else await page.pick(at('open-files'), files);
        const json = await exported(page, 'export-json');
        steersNothing(json, 'JSON');
        if (name === 'chromium') assert.equal(json, report(kind === 'ascend' ? path.dirname(captures.ascend) : captures.xplane));
        for (const format of ['markdown', 'text']) steersNothing(await exported(page, `export-${format}`), format, 6000);
        await everyPanel(page, kind);
        const views = await page.evaluate(selector => [...document.querySelector(selector)?.options ?? []].map(({value}) => value), at('gantt-view'));
        for (const view of views) {
          await page.choose(at('gantt-view'), view);
          assert.deepEqual(await page.evaluate(offenders, [STEERING.source, LONGEST_TEXT]), [], `${kind} ${view}`);
        }
        for (const hash of kind === 'ascend' ? ['block=3', 'block=40', 'block=200', 'tab=blocks&stack=2', 'tab=flame&frame=3', 'tab=blocks&op=1&stream=0'] : ['block=1', 'tab=blocks&op=1']) {
          await page.evaluate(hash => { location.hash = hash; }, hash);
          await page.waitFor(() => new Promise(resolve => setTimeout(() => resolve(true), 400)));
          assert.deepEqual(await page.evaluate(offenders, [STEERING.source, LONGEST_TEXT]), [], `${kind} ${hash}`);
        }
        await page.evaluate(() => { location.hash = 'tab=top'; });
        await shot(page, `${name}-hostile-${kind}`);
        for (const chart of kind === 'ascend' ? ['trend', 'lanes'] : ['heap', 'plan', 'heap-peak']) {
          const svg = (await downloaded(page, () => activate(page, `picture-${chart}-svg`))).toString();
          steersNothing(svg, `picture of ${chart}`);
          assert.equal(await page.evaluate(text => new DOMParser().parseFromString(text, 'image/svg+xml').getElementsByTagName('parsererror').length, svg), 0, chart);
        }
        await beginSaving(page);
        const file = path.join(folder, `${name}-${kind}.html`);
        fs.writeFileSync(file, await savedPage(page));
        assert.deepEqual(page.problems, []);
        await page.close();
        const saved = await browser.open(pathToFileURL(file).href, {width: 390, height: 844});
        assert.equal(await exported(saved, 'export-json'), json);
        await everyPanel(saved, `${kind}, saved, narrow`);
        await shot(saved, `${name}-hostile-${kind}-narrow`);
        assert.deepEqual(saved.problems, []);
        await saved.close();
      });
    }
  });
}
