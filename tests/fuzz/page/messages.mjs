// What must hold of www/embed/messages.ts, whatever a message is: it is understood, or refused with a code and a sentence that names the field, as
// docs/embedding.md has it; nothing is thrown, no field is read twice, what is inherited does not count, and no prototype is changed.
import assert from 'node:assert/strict';
import {build, isPlain} from './values.mjs';

const TYPES = ['ping', 'open', 'select'];
const ANSWERS = ['ready', 'pong', 'asking', 'progress', 'report', 'error'].map(type => `oomscope:${type}`);
const PROTOTYPES = [Object, Array, String, Blob, ArrayBuffer].map(({prototype}) => prototype);
const LONGEST_SENTENCE = 300;

/** A check of one tree; throws what is wrong, and returns in a few words what became of it. */
export const checkOf = ({parse, MOST_FILES, LONGEST_PATH, LONGEST_VIEW, LONGEST_ID}) => {
  const untouched = shapeOfPrototypes();
  const limits = {MOST_FILES, LONGEST_PATH, LONGEST_VIEW, LONGEST_ID};
  return tree => {
    const expected = expectedOf(tree, limits);
    const reads = new Map();
    const parsed = parse(build(tree, field => reads.set(field, (reads.get(field) ?? 0) + 1)));
    const outcome = agree(parsed, expected);
    for (const [[name], times] of reads) assert.ok(times === 1 || typeof name === 'symbol', `${String(name)} is read ${times} times`);
    if (isPlain(tree)) assert.equal(agree(parse(structuredClone(build(tree))), expected), outcome, 'sent, it is something else');
    assert.equal(shapeOfPrototypes(), untouched, 'a prototype was changed');
    return outcome;
  };
};

const shapeOfPrototypes = () => PROTOTYPES.reduce((sum, prototype) => sum + Reflect.ownKeys(prototype).length, 0);

/** That what came of a message is what must; in a few words. */
function agree(parsed, expected) {
  if (expected.answer) {
    assert.equal(parsed, null, 'an answer is not answered');
    return 'answer';
  }
  assert.deepEqual(Object.keys(parsed).sort(), [...expected.code ? ['fault'] : [], 'id', ...expected.code ? [] : ['message']]);
  assert.ok(Object.is(parsed.id, expected.id), 'the id goes back as it came');
  if (expected.code) {
    const {code, message} = parsed.fault;
    assert.equal(code, expected.code, message);
    assert.ok(message.length < LONGEST_SENTENCE, 'a sentence');
    for (const word of expected.names) assert.ok(message.includes(word), `“${message}” does not name ${word}`);
    return `${code}: ${expected.names.join(' ').replace(/\d+/g, '#')}`;
  }
  const {message} = parsed;
  assert.equal(message.type, expected.type);
  assert.ok(Object.is(message.id, expected.id));
  assert.equal(message.view, expected.view);
  assert.deepEqual(message.files?.map(({path, data}) => [path, data instanceof Blob, data.size]), expected.files?.map(({path, size}) => [path, true, size]));
  return `${message.type} ${message.files?.length ?? ''}`;
}

class Refused {
  constructor(code, ...names) {
    Object.assign(this, {code, names});
  }
}

/** What a message must become, from its tree. */
function expectedOf(tree, limits) {
  let id = null;
  try {
    const get = getterOf(tree, 'object');
    const type = textOf(get('type'));
    if (ANSWERS.includes(type)) return {answer: true};
    id = idOf(get('id'), limits);
    if (type === null || !type.startsWith('oomscope:')) throw new Refused('unknown-type', 'type');
    const version = get('version');
    if (version?.[0] !== 'json' || version[1] !== 1) throw new Refused('version', 'version');
    const name = type.slice('oomscope:'.length);
    if (!TYPES.includes(name)) throw new Refused('unknown-type', 'message');
    const files = name === 'open' ? filesOf(get('files'), limits) : undefined;
    const given = name === 'ping' ? undefined : get('view');
    const view = name === 'ping' ? undefined : name === 'open' && isNothing(given) ? null : viewOf(given, limits);
    return {id, type: name, files, view};
  } catch (refused) {
    if (refused instanceof Refused) return {id, code: refused.code, names: refused.names};
    throw refused;
  }
}

const isNothing = node => node === undefined || node[0] === 'undefined';
const textOf = node => node?.[0] === 'text' ? node[1].repeat(node[2]) : node?.[0] === 'json' && typeof node[1] === 'string' ? node[1] : null;
const bare = node => node?.[0] === 'proxy' ? bare(node[1]) : node;
const PRIMITIVES = ['json', 'text', 'undefined', 'nan', 'bigint'];

/** Own fields; `names`: what a refusal must name where it is no object at all. */
function getterOf(tree, ...names) {
  const node = bare(tree);
  if (node === undefined || PRIMITIVES.includes(node[0]) || node[0] === 'list') throw new Refused('malformed', ...names);
  const fields = node[0] === 'fields' && node[2] !== 'prototype' ? node[1] : [];
  return wanted => {
    const field = fields.findLast(([name]) => name === wanted);
    if (field?.[2] === 'throws') throw new Refused('malformed', 'cannot be read');
    return bare(field?.[1]);
  };
}

function idOf(node, {LONGEST_ID}) {
  if (isNothing(node) || (node[0] === 'json' && node[1] === null)) return null;
  const text = textOf(node);
  if (text !== null && text.length <= LONGEST_ID) return text;
  if (node[0] === 'json' && Number.isSafeInteger(node[1])) return node[1];
  throw new Refused('malformed', 'id');
}

function viewOf(node, {LONGEST_VIEW}) {
  const text = textOf(node);
  if (text === null || text.length > LONGEST_VIEW) throw new Refused('malformed', 'view');
  return text.startsWith('#') ? text.slice(1) : text;
}

function filesOf(tree, limits) {
  const node = bare(tree);
  const length = node?.[0] === 'list' ? node[1].length + node[2] : 0;
  if (length === 0) throw new Refused('malformed', 'files');
  if (length > limits.MOST_FILES) throw new Refused('too-large', 'files');
  const paths = new Set();
  const files = [];
  for (let nth = 0; nth < length; nth++) {
    const file = fileOf(bare(node[1][nth]), `files[${nth}]`, limits);
    if (paths.has(file.path)) throw new Refused('malformed', `files[${nth}]`, 'path');
    paths.add(file.path);
    files.push(file);
  }
  return files;
}

function fileOf(node, place, limits) {
  if (node?.[0] === 'file') return {path: pathOf(['json', node[1].toWellFormed()], place, limits), size: 1};
  const get = getterOf(node, place);
  const data = get('data');
  const path = pathOf(get('path'), place, limits);
  const sizes = {blob: () => new Blob([data[1]]).size, file: () => 1, buffer: () => data[1], bytes: () => data[1] - data[2]};
  if (data?.[0] === 'resizable') throw new Refused('malformed', place, 'buffer');
  if (!Object.hasOwn(sizes, data?.[0] ?? '')) throw new Refused('malformed', place, 'data');
  return {path, size: sizes[data[0]]()};
}

function pathOf(node, place, {LONGEST_PATH}) {
  const path = textOf(node);
  if (path === null || path.length === 0 || path.length > LONGEST_PATH || path.includes('\0')) throw new Refused('malformed', place, 'path');
  if (/(^|\/)\.{0,2}(\/|$)/.test(path)) throw new Refused('malformed', place, 'path');
  return path;
}
