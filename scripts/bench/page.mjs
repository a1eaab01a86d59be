// The built page in Chromium: from the choice of files to the last figure.
import {launch} from '../../tests/browser/chromium.mjs';
import {findBrowser} from '../browsers.mjs';
import {serve} from '../serve.mjs';

const at = name => `[data-test="${name}"]`;
const PATIENCE_MS = 300_000;

/** A way to open files in the page, each time in a new tab of one browser, or why there is none. */
export async function pageBench() {
  if (findBrowser('chromium') === null) return {skip: 'there is no Chromium'};
  const [host, browser] = [await serve({isolated: true}), await launch()];
  const open = async files => {
    const page = await browser.open(host.address);
    try {
      const started = performance.now();
      await page.pick(at('open-files'), files);
      // Exports are offered when everything has been read.
      await page.waitFor(selector => document.querySelector(selector)?.getAttribute('aria-disabled') === 'false', at('export-menu'), PATIENCE_MS);
      return {cpu: NaN, wall: (performance.now() - started) / 1000, mb: NaN};
    } finally {
      await page.close();
    }
  };
  return {open, close: async () => { await browser.close(); await host.close(); }};
}
