// The table of README, "Where it runs": each row is measured here, in both browsers, and compared. OOMSCOPE_UPDATE=1 writes it anew.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {after, before, describe, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import * as marionette from './marionette.mjs';
import {DRIVERS, PAGE, at, attribute, exported, fixture, logFile, report, someServers} from './harness.mjs';

const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const MARKS = ['<!-- hosts: written by tests/browser/hosts.test.mjs -->\n', '<!-- end -->\n'];
const ASCEND = fixture('ascend_sample');
const XPLANE = fixture('xplane_scan_fits/scan_fits.xplane.pb');
const FRAME = 'iframe';

const framed = (address, attributes = '') => `<!doctype html><link rel="icon" href="data:,"><title>a page of another origin</title>
<style>iframe { width: 1200px; height: 760px }</style><iframe ${attributes} src="${address}"></iframe>`;

/** What each kind of host serves, and where; `page`: the page's own address where that is in a frame. */
const startHosts = async () => {
  const {start: started, close} = someServers();
  const alone = async options => {
    const {address} = await started(options);
    return {address};
  };
  const inFrame = async attributes => {
    const page = (await started({worker: true})).address;
    const {address} = await started({pages: {'/': framed(page, attributes)}});
    return {address, page, frame: FRAME};
  };
  const hosts = {
    '`file://`': {address: pathToFileURL(PAGE).href},
    'http(s), `index.html` alone': await alone({}),
    'http(s), `sw.js` beside it': await alone({worker: true}),
    'http(s) with the headers of isolation': await alone({isolated: true}),
    '`<iframe>` of another origin': await inFrame(''),
    '`<iframe sandbox="allow-scripts">`': await inFrame('sandbox="allow-scripts"'),
  };
  return {hosts, close};
};

/** Threads settle once sw.js is there, or known not to come. */
const settled = page => page.waitFor(selector => {
  const {threads, why} = document.querySelector(selector)?.dataset ?? {};
  return threads !== undefined && why !== 'waiting';
}, at('threads'));

const threadsOf = async page => {
  const cores = await page.evaluate(() => navigator.hardwareConcurrency);
  const threads = Number(await attribute(page, 'threads', 'data-threads'));
  if (threads > 1) return threads === Math.min(cores, 16) ? 'one a core' : `${threads}`;
  const {short} = /\((?<short>.*)\)$/.exec(await page.evaluate(selector => document.querySelector(selector).textContent, at('threads')))?.groups ?? {short: '?'};
  return `1 (${short})`;
};

const yes = truth => truth ? 'yes' : '**no**';

/** Firefox gets folders by its own protocol only: the report on one, as the page exports it. */
const folderInFirefox = async ({address, frame}) => {
  const firefox = await marionette.launch();
  try {
    await firefox.open(address);
    if (frame !== undefined) await firefox.enter(frame);
    await firefox.waitFor('return document.querySelector(arguments[0]) !== null', at('open-folder'));
    await firefox.waitFor('const {threads, why} = document.querySelector(arguments[0])?.dataset ?? {}; return threads !== undefined && why !== "waiting"', at('threads'));
    await firefox.pickFolder(at('open-folder'), ASCEND);
    await firefox.waitFor('return document.querySelector(arguments[0])?.getAttribute("aria-disabled") === "false"', at('export-menu'));
    return await firefox.exported(at('export-json'));
  } finally {
    await firefox.close();
  }
};

const folderInChromium = async (browser, {address, frame}) => {
  const page = await browser.open(address, {frame});
  await settled(page);
  await page.pick(at('open-folder'), ASCEND);
  const text = await exported(page, 'export-json');
  await page.close();
  return text;
};

/** One row, measured. */
const row = async (name, driver, host) => {
  const {address, page: inner, frame} = host;
  const log = logFile();
  const browser = await driver.launch({log});
  const page = await browser.open(address, {frame});
  await settled(page);
  await page.pick(at('open-files'), [XPLANE]);
  const xplane = await exported(page, 'export-json');
  const threads = await threadsOf(page);
  await page.close();
  const folder = name === 'firefox' ? await folderInFirefox(host) : await folderInChromium(browser, host);
  await browser.close();
  const documents = new Set([address, ...inner === undefined ? [] : [inner]]);
  const expected = new Set([...documents, ...[...documents].map(document => new URL('sw.js', document).href)]);
  const others = driver.loggedAddresses(log).filter(asked => !expected.has(asked));
  assert.deepEqual(others, [], 'only the document and sw.js were asked for');
  return [yes(folder === report(ASCEND)), yes(xplane === report(XPLANE)), threads, `${others.length}`];
};

const HEAD = ['opened from', 'browser', 'Ascend folder: the command line\'s report', '`.xplane.pb`: the command line\'s report', 'threads', 'requests besides the page and `sw.js`'];
const table = rows => [HEAD, HEAD.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |\n`).join('');

describe('hosts', {timeout: 600_000}, () => {
  let started;
  const rows = [];
  before(async () => { started = await startHosts(); });
  after(() => started.close());

  for (const host of ['`file://`', 'http(s), `index.html` alone', 'http(s), `sw.js` beside it', 'http(s) with the headers of isolation', '`<iframe>` of another origin', '`<iframe sandbox="allow-scripts">`']) {
    for (const [name, driver] of Object.entries(DRIVERS)) {
      test(`${host}, ${name}`, {timeout: 120_000}, async () => {
        rows.push([host, name[0].toUpperCase() + name.slice(1), ...await row(name, driver, started.hosts[host])]);
      });
    }
  }

  test('README says so', () => {
    const [begin, end] = MARKS;
    const text = fs.readFileSync(README, 'utf8');
    const from = text.indexOf(begin) + begin.length;
    const to = text.indexOf(end, from);
    assert.ok(from >= begin.length && to > from, 'the marks of the table');
    const measured = table(rows);
    if (process.env.OOMSCOPE_UPDATE) fs.writeFileSync(README, text.slice(0, from) + measured + text.slice(to));
    else assert.equal(text.slice(from, to), measured, 'OOMSCOPE_UPDATE=1 writes it anew');
  });
});
