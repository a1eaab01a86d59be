// Nothing leaves the page, even for a script that wants to: docs/security.md. Attacks are made in the page and in its workers; judged by what
// the browser says it refused, and by a listening server, which must hear nothing. Then what no policy forbids: captures whose every name is an
// attack must not make the page navigate, connect, or show their names as anything but text.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {fromPage, fromWorker, inWorker} from './attacks.mjs';
import {DRIVERS, PAGE, at, exported, fixture, report} from './harness.mjs';
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

const quoted = name => `"${name.replaceAll('"', '""')}"`;

/** The sample with its operators, frames, steps and role renamed to attacks. */
const hostileFolder = (into, base) => {
  const names = hostile(base);
  const from = fixture('ascend_sample/actor_update/npu-node-01_437600_20260526085155954_ascend_pt');
  const to = path.join(into, 'x<img src=x onerror=alert(1)>&quot;_ascend_pt');
  fs.cpSync(from, to, {recursive: true});
  const tables = path.join(to, 'ASCEND_PROFILER_OUTPUT');
  const csv = path.join(tables, 'operator_memory.csv');
  const known = new Map();
  const renamed = name => {
    if (!known.has(name)) known.set(name, names[known.size % names.length]);
    return known.get(name);
  };
  const [header, ...rows] = fs.readFileSync(csv, 'utf8').split('\n');
  fs.writeFileSync(csv, [header, ...rows.map(row => row.includes(',') ? `${quoted(renamed(row.slice(0, row.indexOf(','))))}${row.slice(row.indexOf(','))}` : row)].join('\n'));
  const trace = path.join(tables, 'trace_view.json');
  const events = JSON.parse(fs.readFileSync(trace, 'utf8'));
  for (const [nth, event] of events.entries()) {
    if (known.has(event.name)) event.name = known.get(event.name);
    if (event.args?.['Call stack']) event.args['Call stack'] = event.args['Call stack'].replace('/app/rl', names[nth % names.length]);
    if (event.args?.name) event.args.name = names[nth % names.length];
  }
  fs.writeFileSync(trace, JSON.stringify(events));
  const metadata = path.join(to, 'profiler_metadata.json');
  fs.writeFileSync(metadata, JSON.stringify({...JSON.parse(fs.readFileSync(metadata, 'utf8')), role: names[0]}));
  return to;
};

/** A JAX capture with names replaced by attacks of the same length, which leaves the messages whole. */
const hostileXplane = (into, base) => {
  let bytes = fs.readFileSync(fixture('xplane_attention_oom/attention_oom.xplane.pb')).toString('latin1');
  const replace = (name, attack) => {
    assert.ok(bytes.includes(name) && attack.length <= name.length, name);
    bytes = bytes.replaceAll(name, attack.padEnd(name.length, '!'));
  };
  replace('jit(train_step)/transpose(jvp())/reduce_sum', `<img src=${base}i>`);
  replace('jit(train_step)/jvp(bhqd,bhkd->bhqk)/dot_general', `<iframe src=${base}f>`);
  replace('jit_train_step', '<svg onload=1>');
  const file = path.join(into, 'host"><script>alert(1)<.xplane.pb');
  fs.writeFileSync(file, Buffer.from(bytes, 'latin1'));
  return file;
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

/** The page with the captures in it; after an export, whose way of hearing it uses. */
const savedPage = async page => {
  await page.click(at('export-menu'));
  await page.evaluate(selector => document.querySelector(selector).click(), at('export-html'));
  await page.waitFor(selector => document.querySelector(selector)?.disabled === false, at('save-now'));
  await page.evaluate(selector => {
    globalThis.exportedBlob = undefined;
    document.querySelector(selector).click();
  }, at('save-now'));
  await page.waitFor(() => globalThis.exportedBlob !== undefined);
  return page.evaluate(() => globalThis.exportedBlob.text());
};

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, {timeout: 300_000}, () => {
    let browser;
    let listener;
    let server;
    let hosts;
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-'));
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
      fs.rmSync(folder, {recursive: true, force: true});
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
          allRefused(REFUSED_IN_WORKER, WORDLESS[name][host === 'file' ? 'worker of a file' : 'worker'], outcome, listener.base, 'worker-');
          assert.deepEqual(listener.heard.splice(0), []);
          await page.close();
        });
      }

      test(`${host}: captures whose names are attacks do nothing`, async () => {
        const asked = server.asked.length;
        const capture = hostileFolder(fs.mkdtempSync(path.join(folder, 'ascend-')), listener.base);
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
