// Nothing leaves the page, even for a script that wants to: docs/security.md. Attacks are made in the page and in its workers; judged by what
// the browser says it refused, and by a listening server, which must hear nothing. Then what no policy forbids: captures whose every name is an
// attack must not make the page navigate, connect, or show their names as anything but text.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {fromPage, fromWorker, inWorker} from './attacks.mjs';
import {DRIVERS, PAGE, at, beginSaving, exported, report, savedPage, scratchFolder} from './harness.mjs';
import {renamedAscend, renamedXplane} from './renamed.mjs';
import {serve} from '../../scripts/serve.mjs';

/** Attempts, and the directive that refuses each. */
const REFUSED = {
  fetch: 'connect-src', xhr: 'connect-src', socket: 'connect-src', events: 'connect-src', beacon: 'connect-src', image: 'img-src', script: 'script-src-elem',
  import: 'script-src-elem', style: 'style-src-elem', frame: 'frame-src', video: 'media-src', object: 'object-src', font: 'font-src', form: 'form-action', base: 'base-uri',
};
const REFUSED_IN_WORKER = {
  fetch: 'connect-src', xhr: 'connect-src', socket: 'connect-src', events: 'connect-src', scripts: 'script-src-elem', import: 'script-src-elem',
};
/** What a browser refuses without a word: judged by the listener alone. */
const WORDLESS = {
  chromium: {'page': [], 'worker': [], 'worker of a file': []},
  firefox: {'page': [], 'worker': ['events'], 'worker of a file': ['events', 'scripts', 'import']},
};

/** Whoever connects is noted, be it without a word. */
const listen = () => new Promise(resolve => {
  const heard = [];
  const server = http.createServer((request, response) => {
    heard.push(`${request.method} ${request.url}`);
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.end();
  });
  server.on('connection', () => heard.push('connection'));
  server.on('upgrade', (request, socket) => {
    heard.push(`upgrade ${request.url}`);
    socket.destroy();
  });
  server.listen(0, '127.0.0.1', () => resolve({
    base: `http://127.0.0.1:${server.address().port}/`, heard,
    close: () => new Promise(done => {
      server.close(done);
      server.closeAllConnections();
    }),
  }));
});

/** Which directives refused an attempt; of what would be navigation browsers tell only the origin. */
const refusing = (said, base, name) => said.filter(({address}) => [`${base}${name}`, `${base}${name}/`, `${base.replace('http', 'ws')}${name}`].includes(address)
  || (['frame', 'object'].includes(name) && `${address}/` === base)).map(({directive}) => directive);

const allRefused = (expected, wordless, {said, through}, base, prefix = '') => {
  assert.deepEqual(through, []);
  for (const [attempt, directive] of Object.entries(expected)) {
    if (wordless.includes(attempt)) continue;
    const by = refusing(said, base, prefix + attempt);
    assert.ok(by.includes(directive), `${attempt}: refused by ${by}; all that was said: ${JSON.stringify(said)}`);
  }
};

/** Names that are attacks. */
const hostile = base => [
  `<img src="${base}img" onerror="location='${base}onerror'">`,
  `</script><script src="${base}script"></script>`,
  `<meta http-equiv="refresh" content="0;url=${base}refresh">`,
  `javascript:location.href='${base}js'`,
  `"><iframe src="${base}frame"></iframe>`,
  `<svg/onload="fetch('${base}svg')">`,
  `<a href="${base}link" target="_top" autofocus onfocus="this.click()">x</a>`,
  `'-new RTCPeerConnection({iceServers:[{urls:'stun:127.0.0.1'}]})-'`,
  `url(${base}css)`, '__proto__', 'constructor', 'toString', '\u202Egnp.exe\u2066', '${alert(1)}{{alert(1)}}', `=HYPERLINK("${base}cell")`,
];

/** The sample with its operators, frames, steps, threads and role renamed to attacks. */
const hostileAscend = (into, base) => {
  const names = hostile(base);
  return renamedAscend(path.join(into, 'x<img src=x onerror=alert(1)>&quot;_ascend_pt'), {
    operator: nth => names[nth % names.length],
    event: (event, nth) => {
      const name = names[nth % names.length];
      if (event.name?.startsWith('ProfilerStep#')) event.name += name;
      if (event.args?.['Call stack']) event.args['Call stack'] = event.args['Call stack'].replace('/app/rl', name);
      if (event.args?.name) event.args.name = name;
    },
    metadata: {role: names[0]},
  });
};

/** A JAX capture whose module, computations, instructions, operations and functions are attacks. */
const hostileXplane = (into, base) => {
  const names = hostile(base);
  let nth = 0;
  const next = () => Buffer.from(names[nth++ % names.length]);
  return renamedXplane(path.join(into, 'host"><script>alert(1)<.xplane.pb'), {1: {1: next, 3: {1: next, 2: {7: {1: next, 2: next, 3: next}}}}});
};

/** Notes what a page does beyond its policy; must run before a capture is opened. An export is a download of a Blob, which is no navigation. */
const watchBeyond = () => {
  const done = globalThis.beyond = [];
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'SharedWorker', 'open', 'alert']) {
    if (globalThis[name] !== undefined) globalThis[name] = new Proxy(globalThis[name], {apply: () => done.push(name), construct: () => (done.push(name), {})});
  }
  addEventListener('beforeunload', () => done.push('left'));
  globalThis.navigation?.addEventListener('navigate', ({destination: {url}}) => {
    const elsewhere = url.replace(/#.*/, '') !== location.href.replace(/#.*/, '');
    if (elsewhere && !url.startsWith('blob:')) done.push(`navigated to ${url}`);
  });
};

const beyond = page => page.evaluate(() => ({
  done: globalThis.beyond,
  // What the page itself never makes.
  elements: [...document.querySelectorAll('iframe, object, embed, meta[http-equiv="refresh"], base, img, video, a[href], link[href^="http"], [onerror], [onload]')]
    .map(({outerHTML}) => outerHTML.slice(0, 100)),
}));

/** Goes through all panels. */
const everyPanelIsInert = async page => {
  const tabs = await page.evaluate(() => [...document.querySelectorAll('[data-test^="tab-"]')].map(tab => tab.dataset.test));
  assert.ok(tabs.length > 5);
  for (const tab of tabs) {
    await page.click(at(tab));
    const {done, elements} = await beyond(page);
    assert.deepEqual([done, elements], [[], []], tab);
  }
};

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, {timeout: 300_000}, () => {
    let browser;
    let listener;
    let server;
    let hosts;
    const folder = scratchFolder();
    before(async () => {
      listener = await listen();
      server = await serve({isolated: false, worker: true});
      hosts = {file: pathToFileURL(PAGE).href, 'http with sw.js': server.address};
      browser = await driver.launch();
    });
    after(async () => {
      await browser.close();
      await listener.close();
      await server.close();
    });
    const open = async host => {
      const page = await browser.open(hosts[host]);
      await page.waitFor(selector => {
        const {threads, why} = document.querySelector(selector)?.dataset ?? {};
        return threads !== undefined && why !== 'waiting';
      }, at('threads'));
      return page;
    };

    test('the listener hears what is not refused', async () => {
      await fetch(listener.base);
      assert.deepEqual(listener.heard.splice(0), ['connection', 'GET /']);
    });

    for (const host of ['file', 'http with sw.js']) {
      test(`${host}: the page is refused every way out`, async () => {
        const page = await open(host);
        allRefused(REFUSED, WORDLESS[name].page, await page.evaluate(fromPage, listener.base), listener.base);
        // To the host of a frame or form that it then refuses, Chromium opens a connection, in which nothing is said.
        const silent = name === 'chromium' ? ['connection'] : [];
        assert.deepEqual(listener.heard.splice(0).filter(line => !silent.includes(line)), []);
        await page.close();
      });

      for (const variant of ['plain', 'threads']) {
        test(`${host}: so are its workers (${variant})`, async () => {
          const page = await open(host);
          const outcome = await page.evaluate(fromWorker, [listener.base, inWorker.toString(), variant]);
          assert.equal(outcome.failed, undefined);
          for (const attempt of Object.keys(REFUSED_IN_WORKER)) assert.ok(outcome.tried.includes(`worker-${attempt}`), `${attempt} was tried: ${outcome.tried}`);
          allRefused(REFUSED_IN_WORKER, WORDLESS[name][host === 'file' ? 'worker of a file' : 'worker'], outcome, listener.base, 'worker-');
          assert.deepEqual(listener.heard.splice(0), []);
          await page.close();
        });
      }

      test(`${host}: captures whose names are attacks do nothing`, async () => {
        const asked = server.asked.length;
        const capture = hostileAscend(fs.mkdtempSync(path.join(folder, 'ascend-')), listener.base);
        const tables = ['ASCEND_PROFILER_OUTPUT/operator_memory.csv', 'ASCEND_PROFILER_OUTPUT/trace_view.json', 'profiler_metadata.json'].map(file => path.join(capture, file));
        const xplane = hostileXplane(fs.mkdtempSync(path.join(folder, 'xplane-')), listener.base);
        for (const [selector, files] of [name === 'chromium' ? ['open-folder', capture] : ['open-files', tables], ['open-files', [xplane]]]) {
          const page = await open(host);
          await page.evaluate(watchBeyond);
          await page.pick(at(selector), files);
          const text = await exported(page, 'export-json');
          assert.ok(/<(img|svg|iframe)/.test(text), `the attack is in the report: ${text.slice(0, 3000)}`);
          if (selector === 'open-folder') assert.equal(text, report(capture));
          await everyPanelIsInert(page);
          await beginSaving(page);
          const file = path.join(folder, `${name}-${selector}.html`);
          fs.writeFileSync(file, await savedPage(page));
          const saved = await browser.open(pathToFileURL(file).href);
          await saved.evaluate(watchBeyond);
          assert.equal(await exported(saved, 'export-json'), text, 'the saved page says the same');
          await everyPanelIsInert(saved);
          assert.equal(saved.around.url().replace(/#.*/, ''), pathToFileURL(file).href);
          assert.deepEqual(saved.problems, []);
          await saved.close();
          assert.deepEqual(page.problems, []);
          await page.close();
        }
        assert.deepEqual(listener.heard, []);
        // The browser asks for a new version of sw.js when it pleases.
        assert.deepEqual(server.asked.slice(asked).filter(line => !(host === 'file' ? [] : ['GET /sw.js', 'GET /']).includes(line)), []);
      });
    }
  });
}
