// Damaged captures in the page: its Data quality panel says what the command line says, in the reader's language. All there are, with what
// is said, stand in docs/dirty-input.md.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {DRIVERS, at, exported, fixture, openHosts, report, scratchFolder} from './harness.mjs';

const NAMES = ['spreadsheet', 'semicolons', 'packed-cut', 'trace-broken', 'gbk-names', 'too-few-cells'];

const folder = scratchFolder();
execFileSync(process.execPath, [fixture('dirty.mjs'), folder], {stdio: 'ignore'});

/** What the panel says: its sentences, and the English ones behind them. */
const quality = async page => {
  await page.click(at('tab-quality'));
  await page.waitFor(() => document.querySelector('#table-panel td.text') !== null);
  return page.evaluate(() => [...document.querySelectorAll('#table-panel td.text')].map(cell => ({shown: cell.innerText, english: cell.title})));
};

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

for (const lang of ['en-US', 'zh-CN']) {
  describe(`chromium, ${lang}`, () => {
    let browser;
    before(async () => { browser = await DRIVERS.chromium.launch({lang}); });
    after(() => browser.close());

    for (const name of NAMES) {
      test(`${name}: the page says what the command line says`, async () => {
        const page = await browser.open(hosts.addresses.file);
        await page.pick(at('open-folder'), path.join(folder, name));
        const expected = report(path.join(folder, name));
        assert.equal(await exported(page, 'export-json'), expected);
        const said = await quality(page);
        assert.deepEqual(said.map(({english}) => english), JSON.parse(expected).captures.flatMap(({warnings}) => warnings.map(({message}) => message)));
        for (const {shown} of said) {
          if (lang === 'zh-CN') assert.match(shown, /^[^a-z]*\p{Script=Han}.*[。）]$/u);
          else assert.match(shown, /^[A-Z(].*\.$/);
        }
        assert.deepEqual(page.problems, []);
        await page.close();
      });
    }
  });
}
