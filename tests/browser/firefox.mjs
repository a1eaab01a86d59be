// Drives Firefox by puppeteer-core over WebDriver BiDi. The same small surface as chromium.mjs.
import fs from 'node:fs';
import path from 'node:path';
import puppeteer from 'puppeteer-core';
import {findBrowser} from '../../scripts/browsers.mjs';
import {drawn, watch} from './watch.mjs';

// Firefox's own settings service would fill the log; the variable lets the preference name another address for it.
const QUIET = {env: {MOZ_REMOTE_SETTINGS_DEVTOOLS: '1'}, preferences: {'services.settings.server': 'data:,'}};

/** What pages are told that a person prefers; no page of Firefox can be told otherwise than the others. */
const SCHEMES = {dark: 0, light: 1};

/** `log`: a file for the browser's own log of its http traffic; complete once the browser is closed. */
export const launch = async ({log, lang = 'en-US', scheme = 'light'} = {}) => {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: findBrowser('firefox'),
    headless: true,
    env: {...process.env, ...QUIET.env, ...(log ? {MOZ_LOG: 'nsHttp:3', MOZ_LOG_FILE: log} : {})},
    extraPrefsFirefox: {...QUIET.preferences, 'intl.accept_languages': lang, 'network.dns.localDomains': 'elsewhere.test', 'layout.css.prefers-color-scheme.content-override': SCHEMES[scheme]},
  });
  /** `frame`: the frame in the page that is meant; `init`: a function that runs in the page before anything of its own. */
  const open = async (address, {width = 1280, height = 800, frame, init} = {}) => {
    const page = await browser.newPage();
    await page.setViewport({width, height});
    const watched = watch(page);
    if (init) await page.evaluateOnNewDocument(init);
    await page.goto(address);
    const inside = frame === undefined ? page : await (await page.waitForSelector(frame)).contentFrame();
    const done = drawn(inside);
    return {
      ...watched,
      around: page,
      goto: to => page.goto(to).then(() => {}),
      evaluate: (run, argument) => inside.evaluate(run, argument),
      waitFor: (run, argument, timeout = 30_000) => inside.waitForFunction(run, {timeout}, argument).then(() => {}),
      click: selector => done(inside.click(selector)),
      choose: (selector, value) => done(inside.select(selector, value)),
      press: key => done(pressed(page, key)),
      type: text => done(page.keyboard.type(text)),
      pick: async (selector, paths) => (await inside.$(selector)).uploadFile(...[paths].flat()),
      shot: file => page.screenshot({path: file}).then(() => {}),
      close: () => page.close(),
    };
  };
  return {open, close: () => browser.close()};
};

/** `Shift+Tab` as in the other driver. */
const pressed = async (page, keys) => {
  const held = keys.split('+').slice(0, -1);
  for (const key of held) await page.keyboard.down(key);
  await page.keyboard.press(keys.slice(keys.lastIndexOf('+') + 1) || '+');
  for (const key of held.reverse()) await page.keyboard.up(key);
};

/** The addresses in the browser's own log: one file a process, each beginning with the name that was asked for. */
export const loggedAddresses = log => {
  const folder = path.dirname(log);
  const text = fs.readdirSync(folder).filter(file => file.startsWith(path.basename(log))).map(file => fs.readFileSync(path.join(folder, file), 'latin1')).join('\n');
  return [...text.matchAll(/\buri=((?:https?|wss?):\/\/\S+)/g)].map(match => match[1]);
};
