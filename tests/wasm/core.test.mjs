// The core as wasm32, in Node: the plain variant that goes into the page, driven by its own exports as a worker drives it. This costs
// no further build. A runner for the unit tests on wasm32 would need a second tool, a third build of the crate and wrappers around every
// test; the twins' logic is the same code there, and what differs (32-bit sizes, the JavaScript boundary, SIMD) is met here.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const top = fileURLToPath(new URL('../..', import.meta.url));
const pkg = path.join(top, 'target/plain/pkg');
const captures = path.resolve(process.env.OOMSCOPE_CAPTURES ?? path.join(top, '../shared/captures'));

/** A File of a browser's worker: Node has no synchronous reader. */
class HeldFile extends File {
  static streams = true;
  constructor(bytes, name) {
    super([], name);
    this.bytes = bytes;
  }
  stream() {
    const {bytes} = this;
    let at = 0;
    return HeldFile.streams && new ReadableStream({
      type: 'bytes',
      pull(controller) {
        const {view} = controller.byobRequest;
        const length = Math.min(view.byteLength, bytes.length - at, 100_000);
        new Uint8Array(view.buffer, view.byteOffset, length).set(bytes.subarray(at, at += length));
        if (length === 0) controller.close();
        controller.byobRequest.respond(length);
      },
    });
  }
  get size() { return this.bytes.length; }
  slice(from, to) { return new HeldFile(this.bytes.subarray(from, to), this.name); }
}
globalThis.FileReaderSync = class {
  readAsArrayBuffer({bytes}) { return new Uint8Array(bytes).buffer; }
};

// The package is an ES module without a package.json to say so.
const source = fs.readFileSync(path.join(pkg, 'oomscope.js'), 'utf8');
const {initSync, discover, Scanner, scan_part, cut_trace, scan_xplane, Engine, set_panic_hook} = await import(`data:text/javascript;base64,${Buffer.from(source).toString('base64')}`);
initSync({module: fs.readFileSync(path.join(pkg, 'oomscope_bg.wasm'))});
set_panic_hook();

const filesBelow = folder =>
  fs.readdirSync(folder, {recursive: true, withFileTypes: true}).filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath ?? entry.path, entry.name)).sort();

/** Paths below what was opened, as the page has them, with their bytes. */
const opened = folder => filesBelow(folder).map(file => ({path: path.relative(path.dirname(folder), file).split(path.sep).join('/'), bytes: fs.readFileSync(file)}));

/** Cut at so many equal steps, as helpers read a trace. */
const ranges = (size, pieces) => Array.from({length: pieces}, (_, nth) => [Math.floor(size / pieces) * nth, nth + 1 === pieces ? Infinity : Math.floor(size / pieces) * (nth + 1)]);

const scanAll = async (files, pieces = 0) => {
  const listed = index => index === null || index === undefined ? null : {path: files[index].path, file: new HeldFile(files[index].bytes, path.basename(files[index].path))};
  return Promise.all(discover(files.map(file => file.path)).captures.map(async capture => {
    const trace = listed(capture.trace);
    const scanner = await Scanner.read({
      capture,
      operator_memory: capture.operator_memory.map(listed),
      profiler_info: listed(capture.profiler_info),
      profiler_metadata: listed(capture.profiler_metadata),
      memory_record: listed(capture.memory_record),
      npu_module_mem: listed(capture.npu_module_mem),
      trace,
    }, () => {});
    const blocks = scanner.blocks();
    // Helpers end in any order.
    const read = (exact, [from, until]) => scan_part(trace.path, trace.file, from, until, exact, () => {});
    const parts = trace === null ? [] : await Promise.all(ranges(trace.file.size, pieces).map(range => read(false, range)));
    for (const part of parts.reverse()) {
      scanner.part(part);
      for (let range = scanner.missing(); range !== undefined; range = scanner.missing()) scanner.read_again(await read(true, range));
    }
    return {blocks, origins: await scanner.origins()};
  }));
};

const report = async (files, pieces) => {
  const engine = new Engine();
  const scanned = await scanAll(files, pieces);
  for (const {blocks} of scanned) engine.add(blocks);
  const xplanes = discover(files.map(({path}) => path)).xplanes.map(({file}) => files[file]);
  for (const {path: name, bytes} of xplanes) engine.add(await scan_xplane(name, new HeldFile(bytes, path.basename(name)), () => {}));
  engine.build();
  scanned.forEach(({origins}, capture) => { if (origins !== null) engine.attach(capture, origins); });
  const text = engine.report(25);
  engine.free();
  return text;
};

const commandLine = folder => execFileSync('cargo', ['run', '--quiet', '--', folder, '--format', 'json'], {cwd: top, encoding: 'utf8', maxBuffer: 2 ** 30});

const FOLDERS = [
  path.join(top, 'fixtures/ascend_sample'),
  ...['level0', 'st_level2', 'rl_insight_sample', 'spreadsheet_damaged'].map(name => path.join(captures, 'ascend', name)),
  ...['attention_oom', 'scan_fits', 'bfc_retry'].map(name => path.join(top, 'fixtures', `xplane_${name}`)),
  path.join(captures, 'xplane'),
];
for (const folder of FOLDERS) {
  const here = fs.existsSync(folder);
  test(`${path.basename(folder)}: the same report as the command line, to the byte`, here ? {} : {skip: `${folder} is not here`}, async () => {
    assert.equal(await report(opened(folder)), commandLine(folder));
  });
  test(`${path.basename(folder)}: helpers that read the trace in ranges change nothing`, here ? {} : {skip: `${folder} is not here`}, async () => {
    const whole = await report(opened(folder));
    for (const pieces of [1, 2, 3, 8]) assert.equal(await report(opened(folder), pieces), whole, `${pieces} pieces`);
  });
}

test('without streams files are read in slices, to the same end', async () => {
  const streamed = await report(opened(FOLDERS[0]), 3);
  HeldFile.streams = false;
  try {
    assert.equal(await report(opened(FOLDERS[0]), 3), streamed);
  } finally {
    HeldFile.streams = true;
  }
});

test('a trace is cut where it is large, an archive never', () => {
  const sized = (size, start) => ({size, slice: (from, to) => new HeldFile(start.subarray(from, to), 'trace_view.json')});
  assert.equal(cut_trace(sized(1 << 20, Buffer.from('[{')), 8).length, 0);
  const cuts = cut_trace(sized(5 * 2 ** 30, Buffer.from('[{')), 4);
  assert.deepEqual([cuts.length, cuts[1], cuts[3][1] > 2 ** 60], [4, [1.25 * 2 ** 30, 2.5 * 2 ** 30], true]);
  assert.equal(cut_trace(sized(5 * 2 ** 30, Buffer.from([0x1f, 0x8b])), 4).length, 0);
});

test('a report read back is the same to the byte, and compares like the captures', async () => {
  const whole = commandLine(FOLDERS[0]);
  const bytes = Buffer.from(whole);
  const engine = new Engine();
  const {reports, sniffed_bytes} = discover(['r.json', 'x_ascend_pt/trace_view.json', 'r.txt']);
  assert.deepEqual(reports, [0]);
  assert.equal(engine.sniff(bytes.subarray(0, sniffed_bytes)), 'report');
  assert.equal(engine.sniff(Buffer.from('[{"ph":"X"}')), undefined);
  engine.add_report('r.json', bytes);
  assert.equal(engine.report(25), whole);
  const read = engine.comparison(25);
  assert.deepEqual(read.captures.map(({capture, report}) => [capture, report]), Array(4).fill([null, 'r.json']));
  engine.free();
  const scanned = new Engine();
  const captures = await scanAll(opened(FOLDERS[0]));
  for (const {blocks} of captures) scanned.add(blocks);
  scanned.build();
  captures.forEach(({origins}, capture) => { if (origins !== null) scanned.attach(capture, origins); });
  assert.deepEqual(scanned.comparison(25).comparison, read.comparison);
  assert.deepEqual(JSON.parse(whole).comparison, JSON.parse(JSON.stringify(read.comparison)));
  assert.equal(scanned.markdown(25), execFileSync('cargo', ['run', '--quiet', '--', FOLDERS[0], '--format', 'markdown'], {cwd: top, encoding: 'utf8'}));
  const difference = JSON.parse(JSON.stringify(scanned.difference(0, 2)));
  const asked = ['run', '--quiet', '--', FOLDERS[0], '--format', 'json', '--diff', 'actor_update:0', 'critic_update:0'];
  assert.deepEqual(difference, JSON.parse(execFileSync('cargo', asked, {cwd: top, encoding: 'utf8', maxBuffer: 2 ** 30})).differences[0]);
  scanned.free();
});

/** An engine that holds the captures of a folder, traces and all. */
const engineOf = async folder => {
  const engine = new Engine();
  const captures = await scanAll(opened(folder));
  for (const {blocks} of captures) engine.add(blocks);
  const [first] = engine.build();
  captures.forEach(({origins}, capture) => { if (origins !== null) engine.attach(capture, origins); });
  return {engine, device: first.devices[0]};
};

test('all blocks in the order of every column, paged, filtered, found again, as CSV', async () => {
  const {engine, device} = await engineOf(FOLDERS[0]);
  const of = {capture: 0, device: 0, nearest: false, filter: {}, sort: 'start', ascending: true, from: 0, count: device.blocks};
  const all = engine.blocks(of).rows;
  assert.equal(new Set(all.map(({block}) => block)).size, device.blocks);
  assert.equal(all.reduce((sum, row) => sum + row.bytes, 0), engine.blocks(of).bytes);
  const name = row => device.lanes[row.lane].name;
  const figures = {
    operator: name, bytes: row => row.bytes, start: row => row.start_ns, end: row => row.end_ns ?? Infinity, lifetime: row => row.lifetime_ns, stream: row => row.stream,
    user_frame: row => row.user_frame === '' ? '\uffff' : row.user_frame, line: row => row.line,
  };
  const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
  for (const [sort, figure] of Object.entries(figures)) {
    const expected = [...all].sort((a, b) => compare(figure(a), figure(b)) || a.start_ns - b.start_ns || a.block - b.block).map(({block}) => block);
    for (const ascending of [true, false]) {
      const pages = [0, 100, 200, 300, 400].flatMap(from => engine.blocks({...of, sort, ascending, from, count: 100}).rows.map(({block}) => block));
      assert.deepEqual(pages, ascending ? expected : [...expected].reverse(), `${sort} ${ascending}`);
      assert.equal(engine.blocks({...of, sort, ascending, count: 1, find: expected[7]}).found, ascending ? 7 : device.blocks - 8);
    }
  }
  const middle = all[200].start_ns;
  const grouped = {capture: 0, device: 0, nearest: false, limit: 1000, filter: {}, sort: 'bytes', ascending: false};
  const numberOf = (by, text) => engine.top({...grouped, by}).allocators.find(({label}) => label.text === text).label.number;
  const paint = {colouring: 'operator', palette: Array(13).fill(0), ramp: Array(8).fill(0), outline: 0, density: 0, total: 0, baseline: 0};
  const filters = [
    [{operator: device.lanes.find(({name}) => name === 'aten::matmul').key}, row => name(row) === 'aten::matmul'],
    [{min_bytes: 1 << 20, max_bytes: 32 << 20}, row => row.bytes >= 1 << 20 && row.bytes <= 32 << 20],
    [{alive_at_ns: middle}, row => row.start_ns <= middle && middle < (row.end_ns ?? Infinity)],
    [{unreleased: true}, row => row.end_ns === null || row.end_ns === undefined],
    [{min_lifetime_ns: 1e6, text: 'MATMUL'}, row => row.lifetime_ns >= 1e6 && (/matmul/i.test(name(row)) || /matmul/i.test(row.user_frame))],
    [{user_frame: numberOf('user-frame', all[0].user_frame)}, row => row.user_frame === all[0].user_frame],
    [{stack: engine.block(0, 0, all[0].block, false).origin.number}, row => engine.block(0, 0, row.block, false).origin.stack.join() === engine.block(0, 0, all[0].block, false).origin.stack.join()],
  ];
  for (const [filter, takes] of filters) {
    const {rows, total, bytes} = engine.blocks({...of, filter});
    const expected = all.filter(takes);
    assert.deepEqual(rows.map(({block}) => block), expected.map(({block}) => block), JSON.stringify(filter));
    assert.deepEqual([total, bytes], [expected.length, expected.reduce((sum, row) => sum + row.bytes, 0)]);
    // What is narrowed elsewhere counts the same blocks.
    const {allocators, blocks} = engine.top({capture: 0, device: 0, by: 'operator', nearest: false, limit: 1000, filter, sort: 'bytes', ascending: false});
    assert.deepEqual([blocks, allocators.reduce((sum, row) => sum + row.bytes, 0)], [total, bytes]);
    const live = engine.live({capture: 0, device: 0, by: 'size-class', nearest: false, limit: 1000, filter, time_ns: middle, without: false});
    assert.equal(live.tracked_bytes, expected.filter(row => row.start_ns <= middle && middle < (row.end_ns ?? Infinity)).reduce((sum, row) => sum + row.bytes, 0));
    assert.equal(live.groups.reduce((sum, group) => sum + group.bytes, 0), live.tracked_bytes);
    const chosen = engine.chosen({capture: 0, device: 0, nearest: false, filter});
    assert.deepEqual([chosen.blocks, chosen.bytes], [total, bytes]);
    // So do the charts: the curve of what passes, bands and rows of their own, and the ways from block to block.
    const view = gantt => engine.frame({capture: 0, device: 0, from_ns: 0, to_ns: device.end_ns, width_px: 2000, lines: ['filtered'], filter, nearest: false, gantt, paint});
    const alive = ns => expected.filter(row => row.start_ns <= ns && ns < (row.end_ns ?? Infinity)).reduce((sum, row) => sum + row.bytes, 0);
    assert.equal(Math.max(...view(null).filtered_max), Math.max(0, ...expected.map(row => alive(row.start_ns))), 'no peak of the curve is lost');
    const passing = new Set(expected.map(({block}) => block));
    const seen = view({kind: 'blocks', first: 0, count: 1000, lane_px: 20});
    assert.equal(seen.rows_total, expected.filter(row => row.lifetime_ns > 0).length);
    for (const gantt of [{kind: 'blocks', first: 0, count: 100, lane_px: 20}, {kind: 'stack', height_px: 300}]) {
      assert.ok([...view(gantt).blocks].every(block => block >= 0xfffffffd || passing.has(block)), gantt.kind);
    }
    assert.ok(![...view({kind: 'stack', height_px: 300}).blocks].includes(0xfffffffe), 'some blocks stand without the baseline');
    const some = {capture: 0, device: 0, nearest: false, filter};
    const largest = expected.reduce((best, row) => best === null || row.bytes > best.bytes ? row : best, null);
    assert.equal(engine.largest_block(some), largest.block);
    assert.equal(engine.next_large(some, 1, -1), expected.find(row => row.lifetime_ns > 0).block);
    const lane = expected.filter(row => row.lane === largest.lane && row.lifetime_ns > 0);
    assert.equal(engine.neighbour(some, 'operator', largest.block, true), lane[lane.findIndex(({block}) => block === largest.block) + 1]?.block);
  }
  const drawn = filter => {
    const gantt = {kind: 'lanes', by: 'operator', lanes: device.lanes.map((_, lane) => lane), lane_px: 20};
    const {blocks} = engine.frame({capture: 0, device: 0, from_ns: 0, to_ns: device.end_ns, width_px: 2000, lines: [], filter, nearest: false, gantt, paint});
    return new Set([...blocks].filter(block => block !== 0xffffffff));
  };
  const large = new Set(all.filter(row => row.bytes >= 32 << 20).map(({block}) => block));
  const narrowed = drawn({min_bytes: 32 << 20});
  assert.ok(narrowed.size > 0 && [...narrowed].every(block => large.has(block)), 'the lanes show what passes');
  assert.ok(drawn({}).size > narrowed.size);
  const lines = Buffer.from([...engine.blocks_csv({...of, count: 10}), ...engine.blocks_csv({...of, from: 10, count: 1000})]).toString().trimEnd().split('\n');
  assert.equal(lines.length, device.blocks + 1);
  assert.ok(lines[1].includes(`,${all[0].bytes},${all[0].start_ns},`));
  engine.free();
});

test('a flame graph sums to what is alive, whichever part of it is seen', async () => {
  const {engine, device} = await engineOf(FOLDERS[0]);
  const of = {capture: 0, device: 0, by: 'stack', nearest: false, limit: 1000, filter: {}, measure: 'live', time_ns: device.peak.time_ns, zoom: [], least: 0, search: ''};
  const whole = engine.flame(of);
  assert.equal(whole.bytes, device.peak.tracked_bytes);
  assert.equal(whole.rects.reduce((sum, rect) => sum + rect.own_bytes, 0), whole.bytes);
  const seen = engine.flame({...of, least: 1 / 100});
  assert.ok(seen.rects.length < whole.rects.length && seen.rects.every(({width}) => width >= 1 / 100));
  const [, child] = whole.rects;
  const frame = whole.frames[child.frame];
  const zoomed = engine.flame({...of, zoom: [frame]});
  assert.deepEqual([zoomed.path, zoomed.rects[1].width, zoomed.rects[1].bytes], [2, 1, child.bytes]);
  assert.equal(engine.flame({...of, search: frame}).found_bytes, child.bytes);
  assert.equal(engine.flame({...of, measure: 'volume'}).bytes, device.lanes.reduce((sum, lane) => sum + lane.bytes, 0));
  assert.equal(engine.flame({...of, measure: 'end'}).bytes, device.alive_at_end_bytes);
  engine.free();
});

test('a table cut at any of 1,000 places never traps', async () => {
  const files = opened(FOLDERS[0]);
  const table = files.findIndex(file => path.basename(file.path).startsWith('operator_memory'));
  const whole = files[table].bytes;
  for (let cut = 0; cut < 1000; cut++) {
    const shorter = [{path: files[table].path, bytes: whole.subarray(0, Math.floor(whole.length * cut / 1000))}];
    assert.ok(JSON.parse(await report(shorter)).captures.length > 0);
  }
});
