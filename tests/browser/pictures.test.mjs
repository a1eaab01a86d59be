// Charts are saved as they are seen: PNG and SVG, each with its title, its size and something on it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {DRIVERS, at, activate, downloaded, isRead, openHosts, readPeak} from './harness.mjs';

const out = fileURLToPath(new URL('out', import.meta.url));

let hosts;
before(async () => { hosts = await openHosts(); });
after(() => hosts.close());

/** Saves a chart; answers its type, its size in bytes, and what a browser makes of it. */
const saved = async (page, chart, kind) => {
  await page.waitFor(selector => document.querySelector(selector) !== null, at(`picture-${chart}-${kind}`));
  const data = await downloaded(page, () => activate(page, `picture-${chart}-${kind}`));
  const seen = await page.evaluate(async kind => {
    const blob = globalThis.downloadedBlob;
    const base = {type: blob.type, bytes: blob.size};
    if (kind === 'svg') {
      const document = new DOMParser().parseFromString(await blob.text(), 'image/svg+xml');
      const all = name => document.getElementsByTagName(name);
      return {
        ...base, wrong: all('parsererror').length, width: Number(document.documentElement.getAttribute('width')), height: Number(document.documentElement.getAttribute('height')),
        rects: all('rect').length, lines: all('polyline').length, texts: [...all('text')].map(text => text.textContent.trim()), scripts: all('script').length,
      };
    }
    const bitmap = await createImageBitmap(blob);
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const {data} = context.getImageData(0, 0, bitmap.width, bitmap.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) colours.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
    return {...base, width: bitmap.width, height: bitmap.height, colours: colours.size};
  }, kind);
  return {...seen, data};
};

const keep = (name, {data}) => {
  fs.mkdirSync(out, {recursive: true});
  fs.writeFileSync(path.join(out, name), data);
};

/** Both kinds of a chart; they are of one size but for the screen's pixels. */
const both = async (page, browser, chart, ratio = 1) => {
  const [svg, png] = [await saved(page, chart, 'svg'), await saved(page, chart, 'png')];
  keep(`${browser}-${chart}.svg`, svg);
  keep(`${browser}-${chart}.png`, png);
  assert.deepEqual([svg.type, png.type, svg.wrong, svg.scripts], ['image/svg+xml', 'image/png', 0, 0], chart);
  assert.ok(Math.abs(svg.width * ratio - png.width) <= ratio && Math.abs(svg.height * ratio - png.height) <= ratio, `${chart}: ${svg.width} × ${svg.height}, ${png.width} × ${png.height}`);
  assert.ok(svg.width > 200 && png.colours > 8, `${chart}: ${svg.width} px, ${png.colours} colours`);
  return {svg, png};
};

const open = async (browser, sample, options = {}) => {
  const page = await browser.open(hosts.addresses.http, options);
  await page.click(at(`sample-${sample}`));
  await isRead(page);
  return page;
};

for (const [name, driver] of Object.entries(DRIVERS)) {
  describe(name, () => {
    let browser;
    before(async () => { browser = await driver.launch(); });
    after(() => browser.close());

    test('an Ascend capture: every chart as PNG and SVG', async () => {
      const page = await open(browser, 'ascend_sample');
      await readPeak(page);
      const {svg: trend} = await both(page, name, 'trend');
      const peak = await page.evaluate(() => document.querySelector('.trend-canvas').getAttribute('aria-label'));
      const figure = trend.texts.find(text => / GiB · .* ms$/.test(text));
      assert.ok(figure !== undefined && peak.includes(/[\d.]+ GiB/.exec(figure)[0]), `${figure} in ${peak}`);
      assert.ok(trend.texts[0].length > 0 && trend.texts.some(text => text.includes('memory over time') && text.includes('ms – ')), trend.texts.join('\n'));
      assert.ok(trend.lines > 5);

      const lanes = {};
      for (const view of ['operator', 'blocks', 'stacked', 'ranks']) {
        await page.choose(at('gantt-view'), view);
        await page.waitFor(([selector, kind]) => document.querySelector(selector)?.dataset.gantt === kind, [at('gantt'), {operator: 'lanes', stacked: 'stack'}[view] ?? view]);
        lanes[view] = (await both(page, `${name}-${view}`, 'lanes')).svg;
      }
      assert.ok(lanes.operator.rects > 60 && lanes.operator.texts.includes('aten::matmul'), lanes.operator.texts.join('\n'));
      assert.ok(lanes.stacked.rects > 100 && lanes.stacked.texts.some(text => text.endsWith('GiB')));
      assert.ok(lanes.ranks.rects > 100 && lanes.blocks.rects > 20);

      await page.evaluate(() => document.getElementById('tab-flame').click());
      const {svg: flame} = await both(page, name, 'flame');
      assert.ok(flame.rects > 20 && flame.texts.some(text => text.startsWith('update_policy')), flame.texts.join('\n'));
      await page.evaluate(() => document.getElementById('tab-sizes').click());
      const {svg: sizes} = await both(page, name, 'sizes');
      assert.ok(sizes.rects > 20 && sizes.texts.some(text => text.startsWith('≤')), sizes.texts.join('\n'));
      await page.close();
    });

    test('a JAX capture: plan, heap and its peak', async () => {
      const page = await open(browser, 'xplane_attention_oom');
      const {svg: heap} = await both(page, name, 'heap');
      assert.ok(heap.texts.some(text => text.includes('2.459 GiB')), heap.texts.join('\n'));
      const {svg: plan} = await both(page, name, 'plan');
      assert.ok(plan.rects > 4 && plan.texts.some(text => text.includes('2.880 GiB')), plan.texts.join('\n'));
      const {svg: tiles} = await both(page, name, 'heap-peak');
      assert.ok(tiles.rects > 10, `${tiles.rects}`);
      await page.close();
    });

    if (name === 'chromium') test('a PNG has the pixels of the screen', async () => {
      const page = await open(browser, 'ascend_sample', {ratio: 2});
      await readPeak(page);
      await both(page, `${name}-2x`, 'trend', 2);
      await both(page, `${name}-2x`, 'lanes', 2);
      await page.close();
    });
  });
}
