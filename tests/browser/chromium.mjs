// Drives Chromium by playwright-core. The same small surface as firefox.mjs.
import fs from 'node:fs';
import {chromium} from 'playwright-core';
import {findBrowser} from '../../scripts/browsers.mjs';
import {drawn, watch} from './watch.mjs';

// Without these Chromium asks its maker's servers on its own account, and the log of requests would hold more than the page's.
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic', '--no-first-run', '--disable-gpu', '--host-resolver-rules=MAP elsewhere.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

/** `log`: a file for the browser's own log of everything that went to the network; complete once the browser is closed. */
export const launch = async ({log, lang = 'en-US', scheme = 'light'} = {}) => {
  const browser = await chromium.launch({
    executablePath: findBrowser('chromium'),
    args: [...QUIET, ...asRoot, ...(log ? [`--log-net-log=${log}`] : [])],
  });
  /** `frame`: the frame in the page that is meant; `init`: a function that runs in the page before anything of its own. */
  const open = async (address, {width = 1280, height = 800, ratio = 1, forced = false, touch = false, frame, init} = {}) => {
    const context = await browser.newContext({
      viewport: {width, height}, colorScheme: scheme, locale: lang, deviceScaleFactor: ratio, forcedColors: forced ? 'active' : 'none', hasTouch: touch,
    });
    const page = await context.newPage();
    const watched = watch(page, context);
    if (init) await page.addInitScript(init);
    await page.goto(address);
    const inside = frame === undefined ? page : await (await page.waitForSelector(frame)).contentFrame();
    const done = drawn(inside);
    return {
      ...watched,
      around: page,
      goto: to => page.goto(to).then(() => {}),
      evaluate: (run, argument) => inside.evaluate(run, argument),
      waitFor: (run, argument, timeout = 30_000) => inside.waitForFunction(run, argument, {timeout}).then(() => {}),
      click: selector => done(inside.click(selector)),
      clickAt: (x, y) => done(page.mouse.click(x, y)),
      choose: (selector, value) => done(inside.selectOption(selector, value)),
      press: key => done(page.keyboard.press(key)),
      type: text => done(page.keyboard.type(text)),
      pick: (selector, paths) => inside.setInputFiles(selector, paths),
      drop: paths => drop(page, paths),
      shot: file => page.screenshot({path: file}).then(() => {}),
      close: () => context.close(),
    };
  };
  return {open, close: () => browser.close()};
};

/** A drop as from the file manager, files and folders. */
const drop = async (page, paths) => {
  const session = await page.context().newCDPSession(page);
  const {width, height} = page.viewportSize();
  const data = {items: [], files: paths, dragOperationsMask: 1};
  for (const type of ['dragEnter', 'dragOver', 'drop']) await session.send('Input.dispatchDragEvent', {type, x: width / 2, y: height / 2, data});
  await session.detach();
};

// What Chromium asks for whenever it starts, with an empty page too.
const AT_START = new Set(['update.googleapis.com', 'accounts.google.com']);

/** The addresses in the browser's own log: whatever went to the network because of the pages, whoever asked for it. */
export const loggedAddresses = log => {
  const {constants, events} = JSON.parse(fs.readFileSync(log, 'utf8'));
  const started = constants.logEventTypes.URL_REQUEST_START_JOB;
  return events.filter(({type, params}) => type === started && params?.url && !AT_START.has(new URL(params.url).hostname)).map(({params}) => params.url);
};
