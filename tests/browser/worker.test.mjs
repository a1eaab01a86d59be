// sw.js: threads and a page without a network where the host gives neither; one reload at most, never two versions mixed, never in the way.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {setTimeout as pause} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {DRIVERS, PAGE, at, attribute, fixture, isRead, scratchFolder, someServers} from './harness.mjs';

const DEPLOYING = fileURLToPath(new URL('../../docs/deploying.md', import.meta.url));
const HTML = fs.readFileSync(PAGE, 'utf8');
const WORKER = fs.readFileSync(path.join(path.dirname(PAGE), 'sw.js'), 'utf8');
const XPLANE = fixture('xplane_scan_fits/scan_fits.xplane.pb');
const sha256 = text => crypto.createHash('sha256').update(text).digest('hex');

/** A folder with a page of its own version, as a build would leave it. */
const version = (folder, name, worker = name) => {
  const page = which => HTML.replace('<title>oomscope', `<title>oomscope ${which}`);
  fs.writeFileSync(path.join(folder, 'index.html'), page(name));
  fs.writeFileSync(path.join(folder, 'sw.js'), WORKER.replace(sha256(HTML), sha256(page(worker))));
};

const threaded = page => page.waitFor(selector => Number(document.querySelector(selector)?.dataset.threads) >= 2, at('threads'));
const why = async (page, reason) => {
  await page.waitFor(([selector, reason]) => document.querySelector(selector)?.dataset.why === reason, [at('threads'), reason]);
  assert.equal(await attribute(page, 'threads', 'data-threads'), '1');
  assert.equal(await page.evaluate(selector => document.querySelector(selector), at('message')), null, 'nobody is bothered');
};
const title = page => page.evaluate(() => document.title);

test('the worker knows the page beside it', () => {
  assert.ok(WORKER.includes(`'${sha256(HTML)}'`));
});

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, {timeout: 240_000}, () => {
    let browser;
    let folder;
    const {start: host, close} = someServers();
    before(async () => {
      browser = await driver.launch();
      folder = scratchFolder();
    });
    after(async () => {
      await browser.close();
      await close();
    });

    for (const base of ['/', '/oomscope/']) {
      test(`below ${base}: threads after one reload; then the page needs no host`, async () => {
        const server = await host({worker: true, base});
        const page = await browser.open(server.address);
        await threaded(page);
        const asked = () => server.asked.filter(line => line !== `GET ${base}sw.js`);
        assert.deepEqual(asked(), [`GET ${base}`, `GET ${base}`], 'the page, and once more by its worker');
        await page.goto(`${server.address}index.html?lang=en`);
        await threaded(page);
        assert.equal(asked().length, 2);
        assert.deepEqual(page.problems, []);
        await server.close();
        await page.goto(server.address);
        await threaded(page);
        await page.pick(at('open-files'), [XPLANE]);
        await isRead(page);
        await page.close();
      });
    }

    test('a page in use is not reloaded: threads come with the next start', async () => {
      let give;
      const server = await host({worker: new Promise(resolve => { give = resolve; })});
      const page = await browser.open(server.address);
      await page.pick(at('open-files'), [XPLANE]);
      await page.waitFor(selector => document.querySelector(selector) !== null, at('found-list'));
      assert.equal(await attribute(page, 'threads', 'data-why'), 'waiting');
      give();
      await why(page, 'next');
      assert.ok(await page.evaluate(selector => document.querySelector(selector) !== null, at('found-list')));
      await page.goto(server.address);
      await threaded(page);
      await page.close();
    });

    test('a new version is what the next start gets, whole', async () => {
      version(folder, 'one');
      const server = await host({worker: true, root: folder});
      const page = await browser.open(server.address);
      await threaded(page);
      assert.equal(await title(page), 'oomscope one');
      version(folder, 'two');
      await page.goto(server.address);
      await threaded(page);
      assert.equal(await title(page), 'oomscope one', 'this start has what was there');
      const names = () => page.evaluate(async () => (await caches.keys()).map(name => name.replace(/.* /, '')));
      for (let tries = 0; (await names()).join() !== sha256(fs.readFileSync(path.join(folder, 'index.html'))) && tries < 100; tries++) await pause(100);
      await page.goto(server.address);
      await threaded(page);
      assert.equal(await title(page), 'oomscope two');
      assert.equal((await names()).length, 1, 'the old version is not kept');
      await page.close();
    });

    test('a worker of another version than the page stays out of it', async () => {
      version(folder, 'one', 'two');
      const server = await host({worker: true, root: folder});
      const page = await browser.open(server.address);
      await why(page, 'refused');
      assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.active ?? null), null);
      await page.close();
    });

    test('what docs/deploying.md puts in its place ends it', async () => {
      version(folder, 'one');
      const server = await host({worker: true, root: folder});
      const page = await browser.open(server.address);
      await threaded(page);
      fs.writeFileSync(path.join(folder, 'sw.js'), /```js\n([^]*?)```/.exec(fs.readFileSync(DEPLOYING, 'utf8'))[1]);
      await page.goto(server.address);
      const left = () => page.evaluate(async () => [await caches.keys(), await navigator.serviceWorker.getRegistrations()].flat().length);
      for (let tries = 0; await left() > 0 && tries < 100; tries++) await pause(100);
      assert.equal(await left(), 0);
      version(folder, 'two');
      fs.rmSync(path.join(folder, 'sw.js'));
      await page.goto(server.address);
      await why(page, 'plain');
      assert.equal(await title(page), 'oomscope two');
      await page.close();
    });

    test('threads that do not start leave a page that works, and says so', async () => {
      fs.writeFileSync(path.join(folder, 'index.html'), HTML.replace(/(id="wasm-threads">)[^<]*/, '$1'));
      const server = await host({root: folder, isolated: true});
      const page = await browser.open(server.address);
      await why(page, 'failed');
      await page.pick(at('open-files'), [XPLANE]);
      await isRead(page);
      await page.close();
    });

    test('without sw.js, at another name, without https: no threads, and the reason', async () => {
      const server = await host({});
      const page = await browser.open(server.address);
      await why(page, 'plain');
      const {port} = new URL(server.address);
      await page.goto(`http://elsewhere.test:${port}/`);
      await why(page, 'insecure');
      assert.deepEqual(server.asked.filter(line => line.includes('sw.js')).length, 1);
      fs.writeFileSync(path.join(folder, 'memory.html'), HTML);
      const renamed = await host({worker: true, root: folder});
      await page.goto(`${renamed.address}memory.html`);
      await why(page, 'plain');
      assert.deepEqual(renamed.asked, ['GET /memory.html']);
      await page.close();
    });
  });
}
