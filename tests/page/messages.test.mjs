// Messages from other pages: whatever comes, it is understood or refused with a reason, and nothing is thrown.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './bundled.mjs';

const {parse, envelope, VERSION, MOST_FILES, MOST_BYTES, LONGEST_PATH, LONGEST_ID, LONGEST_VIEW} = await load('www/embed/messages.ts');
const {parametersOf} = await load('www/parameters.ts');

const open = (files, rest = {}) => ({type: 'oomscope:open', version: VERSION, files, ...rest});
const file = (path, data = new Blob(['x'])) => ({path, data});
const code = data => parse(data).fault?.code;

test('well-formed messages are understood', async () => {
  assert.deepEqual(parse({type: 'oomscope:ping', version: 1, id: 7}), {id: 7, message: {type: 'ping', id: 7}});
  assert.deepEqual(parse({type: 'oomscope:select', version: 1, view: '#tab=peak'}), {id: null, message: {type: 'select', id: null, view: 'tab=peak'}});
  const {message} = parse(open([file('a/b.csv'), file('a/c.csv', new TextEncoder().encode('xyz')), file('d', new ArrayBuffer(4)), new File(['12'], 'e.csv')], {id: 'first', view: 'tab=end'}));
  assert.deepEqual(message.files.map(({path, data}) => [path, data.size]), [['a/b.csv', 1], ['a/c.csv', 3], ['d', 4], ['e.csv', 2]]);
  assert.equal(await message.files[1].data.text(), 'xyz');
  assert.equal(message.view, 'tab=end');
  // A view onto a part of a buffer is that part.
  const part = new TextEncoder().encode('abcdef').subarray(2, 4);
  assert.equal(await parse(open([file('p', part)])).message.files[0].data.text(), 'cd');
});

test('answers are not answered', () => {
  for (const type of ['ready', 'pong', 'asking', 'progress', 'report', 'error']) assert.equal(parse(envelope({type, id: null})), null);
});

test('malformed messages are refused, each with its reason', () => {
  const holes = [];
  holes.length = 3;
  const long = [];
  long.length = 2 ** 32 - 1;
  for (const [nth, [expected, data]] of [
    ['malformed', undefined], ['malformed', null], ['malformed', 1], ['malformed', 'oomscope:ping'], ['malformed', []], ['unknown-type', {}], ['unknown-type', new Map()],
    ['unknown-type', {type: 1}], ['unknown-type', {type: 'ping', version: 1}], ['unknown-type', {type: 'oomscope:', version: 1}], ['unknown-type', {type: 'oomscope:close', version: 1}],
    ['unknown-type', {type: 'oomscope:__proto__', version: 1}], ['unknown-type', JSON.parse('{"__proto__": {"type": "oomscope:ping", "version": 1}}')],
    ['version', {type: 'oomscope:ping'}], ['version', {type: 'oomscope:ping', version: 2}], ['version', {type: 'oomscope:ping', version: '1'}],
    ['malformed', {type: 'oomscope:ping', version: 1, id: {}}], ['malformed', {type: 'oomscope:ping', version: 1, id: 1.5}],
    ['malformed', {type: 'oomscope:ping', version: 1, id: 'x'.repeat(LONGEST_ID + 1)}],
    ['malformed', {type: 'oomscope:select', version: 1}], ['malformed', {type: 'oomscope:select', version: 1, view: 'x'.repeat(LONGEST_VIEW + 1)}],
    ['malformed', open(undefined)], ['malformed', open([])], ['malformed', open({length: 1, 0: file('a')})], ['malformed', open(holes)], ['too-large', open(long)],
    ['too-large', open(Array.from({length: MOST_FILES + 1}, (_, nth) => file(`${nth}`, new ArrayBuffer(0))))],
    ['malformed', open([file('a'), file('a')])], ['malformed', open([{path: 'a'}])], ['malformed', open([{data: new Blob()}])], ['malformed', open(['a'])], ['malformed', open([[]])],
    ['malformed', open([file('a', 'text')])], ['malformed', open([file('a', {byteLength: 3})])], ['malformed', open([file('a', new Float64Array(2))])],
    ['malformed', open([file('a')], {view: 3})],
    ...['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', 'a\0b', 'x'.repeat(LONGEST_PATH + 1), 7, null].map(path => ['malformed', open([file(path)])]),
  ].entries()) assert.equal(code(data), expected, `the ${nth}th`);
  if (ArrayBuffer.prototype.resize) assert.equal(code(open([file('a', new ArrayBuffer(1, {maxByteLength: 2}))])), 'malformed');
});

test('bytes in memory are limited, Blobs are not', () => {
  const half = new Uint8Array(new ArrayBuffer(0));
  Object.defineProperty(half, 'byteLength', {value: MOST_BYTES + 1});
  assert.equal(code(open([file('a', half)])), 'too-large');
});

/** More of them: `OOMSCOPE_RUNS=10000000 node --test tests/page/messages.test.mjs`. */
const RUNS = Number(process.env.OOMSCOPE_RUNS ?? 20_000);

test(`whatever comes, nothing is thrown: ${RUNS} messages`, t => {
  let state = RUNS;
  const random = below => {
    state = state * 1664525 + 1013904223 >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
  const keys = ['type', 'version', 'id', 'files', 'view', 'path', 'data', '__proto__', 'constructor', 'length', 'toString'];
  const values = [
    () => undefined, () => null, () => true, () => random(5) - 1, () => NaN, () => 2n, () => '', () => 'a/b.csv', () => '../x', () => new Date(NaN), () => /x/g, () => new Error('x'),
    () => ['oomscope:open', 'oomscope:ping', 'oomscope:select', 'oomscope:ready', 'oomscope:x'][random(5)], () => 1, () => new Blob(['a']), () => new ArrayBuffer(random(9)),
    () => new Uint8Array(random(9)), () => new File(['a'], ['a', '', '../a', '\0'][random(4)]), () => new DataView(new ArrayBuffer(2)), () => new Set([1]), () => new Map([[1, 2]]),
  ];
  const any = depth => {
    const kind = depth > 3 ? 2 : random(4);
    if (kind === 0) return Array.from({length: random(4)}, () => any(depth + 1));
    if (kind > 1) return values[random(values.length)]();
    const made = {};
    for (let nth = random(6); nth > 0; nth--) Object.defineProperty(made, keys[random(keys.length)], {value: any(depth + 1), enumerable: true, configurable: true, writable: true});
    return made;
  };
  const seen = new Map();
  for (let run = 0; run < RUNS; run++) {
    // From anything at all to what is nearly right.
    const data = [() => any(0), () => open(any(0)), () => open([file(`${random(3)}`), any(2)], {id: any(3)}), () => open(Array.from({length: 1 + random(2)}, () => file(['a', 'b/c', '../x', 'd'][random(4)], any(4))))][run % 4]();
    const parsed = parse(data);
    const outcome = parsed === null ? 'answer' : parsed.message?.type ?? parsed.fault.code;
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    if (parsed !== null) {
      assert.equal(parsed.message === undefined, parsed.fault !== undefined);
      assert.ok(parsed.fault === undefined || parsed.fault.message.length < 300);
    }
  }
  t.diagnostic([...seen].map(([outcome, times]) => `${outcome} ${times}`).join(', '));
  for (const outcome of ['open', 'malformed', 'unknown-type']) assert.ok(seen.get(outcome) > 100, `${outcome}: ${seen.get(outcome)}`);
});

test('what an address asks for', () => {
  assert.deepEqual(parametersOf(''), {embed: false, lang: null, theme: null, memory: null, view: null, allow: []});
  assert.deepEqual(parametersOf('?embed=1&lang=zh-Hans&theme=dark&memory=512&view=tab%3Dpeak%26by%3Dstack&allow=https://a.example,http://127.0.0.1:8080'),
    {embed: true, lang: 'zh-Hans', theme: 'dark', memory: '512', view: 'tab=peak&by=stack', allow: ['https://a.example', 'http://127.0.0.1:8080']});
  assert.deepEqual(parametersOf('?embed=yes&theme=pink&view=%23tab%3Dtop&allow=*,null,a.example,file://,javascript:1,HTTPS://a.example:443/x, http://b.example/'),
    {embed: false, lang: null, theme: 'pink', memory: null, view: 'tab=top', allow: ['https://a.example', 'http://b.example']});
});
