// What the browser tests share: browsers, hosts, captures, and how to read the page. Elements are found by data-test attributes.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {after} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import * as chromium from './chromium.mjs';
import * as firefox from './firefox.mjs';
import {serve} from '../../scripts/serve.mjs';

/** A test that fails on its way does not close its browser: whatever still runs at the end of a file is closed then, and its folders are deleted. */
const running = new Set();
const folders = [];
const tracked = driver => ({
  ...driver,
  launch: async options => {
    const browser = await driver.launch(options);
    running.add(browser);
    const close = () => {
      running.delete(browser);
      return browser.close();
    };
    return {...browser, close};
  },
});
after(async () => {
  await Promise.all([...running].map(browser => browser.close()));
  for (const folder of folders) fs.rmSync(folder, {recursive: true, force: true});
});

export const DRIVERS = {chromium: tracked(chromium), firefox: tracked(firefox)};
const top = fileURLToPath(new URL('../..', import.meta.url));
export const PAGE = path.join(top, 'dist/index.html');

// Captures that are not the project's own lie outside it: tests that read them are skipped where they are not.
const captures = path.resolve(process.env.OOMSCOPE_CAPTURES ?? path.join(top, '../shared/captures'));
export const capture = name => path.join(captures, name);
export const needs = file => fs.existsSync(file) ? {} : {skip: `${file} is not here (OOMSCOPE_CAPTURES names the folder)`};
export const fixture = name => path.join(top, 'fixtures', name);

/** The three ways a person gets the page: by double click, from any server, from a server that isolates it. */
export const openHosts = async () => {
  const servers = {http: await serve({isolated: false}), isolated: await serve({isolated: true})};
  return {
    addresses: {file: pathToFileURL(PAGE).href, http: servers.http.address, isolated: servers.isolated.address},
    asked: host => servers[host]?.asked ?? [],
    close: () => Promise.all(Object.values(servers).map(server => server.close())),
  };
};

/** Servers that are ended together; they do not isolate the page where nothing else is said. */
export const someServers = () => {
  const servers = [];
  return {
    start: async options => {
      const server = await serve({isolated: false, ...options});
      servers.push(server);
      return server;
    },
    close: () => Promise.all(servers.map(server => server.close())),
  };
};

/** A folder for as long as this file's tests run. */
export const scratchFolder = () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'oomscope-'));
  folders.push(folder);
  return folder;
};
export const scratchFile = name => path.join(scratchFolder(), name);

/** A file for a browser's own log. */
export const logFile = () => scratchFile('network');

/** The files that are read of a generated Ascend capture with so many rows. */
export const generated = (rows, ...options) => {
  const folder = scratchFolder();
  const {status, stderr} = spawnSync(process.execPath, [fixture('generate.mjs'), '--out', folder, '--rows', String(rows), ...options], {encoding: 'utf8'});
  assert.equal(status, 0, stderr);
  return filesIn(folder).filter(file => /operator_memory.csv|trace_view.json/.test(file));
};
export const filesIn = folder => fs.readdirSync(folder, {recursive: true}).map(name => path.join(folder, name));

export const commandLine = (...args) => spawnSync('cargo', ['run', '--quiet', '--', ...args], {cwd: top, encoding: 'utf8', maxBuffer: 2 ** 30});

/** The command line's report on files and folders; of what gives nothing, too. */
export const report = (...paths) => commandLine(...paths, '--format', 'json').stdout;

const out = fileURLToPath(new URL('out', import.meta.url));
/** A screenshot to look at. */
export const shot = (page, name) => {
  fs.mkdirSync(out, {recursive: true});
  return page.shot(path.join(out, `${name}.png`));
};

export const at = name => `[data-test="${name}"]`;
export const textOf = (page, name) => page.evaluate(selector => document.querySelector(selector)?.innerText ?? null, at(name));
export const attribute = (page, name, key) => page.evaluate(([selector, key]) => document.querySelector(selector)?.getAttribute(key) ?? null, [at(name), key]);

/** Waits until the capture is read, and says what the page gives as its peak, in bytes. */
export const readPeak = async page => {
  await page.waitFor(selector => Number(document.querySelector(selector)?.dataset.bytes) > 0, at('peak-total')).catch(async error => {
    throw new Error(`no peak on the page, whose text is:\n${await page.evaluate(() => document.body.innerText)}\n${page.problems.join('\n')}`, {cause: error});
  });
  return Number(await attribute(page, 'peak-total', 'data-bytes'));
};

/** Waits until everything is read: exports are given only then. */
export const isRead = (page, limit) => page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false', at('export-menu'), limit);

/** By its element: drivers aim at where it was, and what is about may still move. */
export const activate = (page, name) => page.evaluate(selector => document.querySelector(selector).click(), at(name));

/** The bytes that are downloaded after an act. The page keeps their Blob as `downloadedBlob`. */
export const downloaded = async (page, act) => {
  await page.evaluate(() => {
    globalThis.downloadedBlob = undefined;
    const {createObjectURL} = URL;
    URL.createObjectURL = blob => {
      // Workers are made of Blobs too.
      if (blob.type !== 'text/javascript') {
        globalThis.downloadedBlob = blob;
        URL.createObjectURL = createObjectURL;
      }
      return createObjectURL.call(URL, blob);
    };
  });
  await act();
  await page.waitFor(() => globalThis.downloadedBlob !== undefined);
  const url = await page.evaluate(() => new Promise(resolve => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(globalThis.downloadedBlob);
  }));
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
};

/** Chooses an export, once there are some, and returns its text. */
export const exported = async (page, name) => {
  await isRead(page);
  await page.click(at('export-menu'));
  return (await downloaded(page, () => activate(page, name))).toString();
};

/** Asks for the page with its captures in it: what goes along can be chosen then. */
export const beginSaving = async page => {
  await isRead(page);
  await page.click(at('export-menu'));
  await activate(page, 'export-html');
  await page.waitFor(selector => document.querySelector(selector) !== null, at('save-html'));
};

/** The page with its captures in it, as it is saved. */
export const savedPage = async page => {
  await page.waitFor(selector => document.querySelector(selector)?.disabled === false, at('save-now'));
  return downloaded(page, () => activate(page, 'save-now'));
};

const AXE = path.join(top, 'node_modules/axe-core/axe.min.js');

/** What axe-core finds on the page that is serious, in the page's own words. */
export const seriousFindings = async page => {
  if (!await page.evaluate(() => globalThis.axe !== undefined)) await page.evaluate(fs.readFileSync(AXE, 'utf8'));
  return page.evaluate(async () => {
    const {violations} = await globalThis.axe.run(document, {resultTypes: ['violations']});
    return violations.filter(({impact}) => impact === 'serious' || impact === 'critical').flatMap(({id, nodes}) => nodes.slice(0, 3).map(({html}) => `${id}: ${html.slice(0, 200)}`));
  });
};
