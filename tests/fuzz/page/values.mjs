// Any value that a message can hold, as a tree that JSON can hold, so that it can be kept, changed and made again:
//
//   ['json', null | true | 1.5 | 'text']     ['undefined'] ['nan'] ['bigint', '2'] ['text', 'piece', times]
//   ['list', [node …], holes]                holes: how many empty places follow
//   ['fields', [[name, node, how] …], on]    how: own, hidden, getter, throws; on: object, none (no prototype), prototype (inherited)
//   ['blob', 'text'] ['file', 'name'] ['buffer', bytes] ['bytes', bytes, from] ['resizable', bytes] ['typed', 'Float64Array', elements] ['other', 'Map']
//   ['proxy', node]                          of a list or of fields; of anything else that itself

/** Names and texts that the page looks for, and those that make trouble. */
const NAMES = ['type', 'version', 'id', 'files', 'view', 'path', 'data', '__proto__', 'constructor', 'length', 'toString', 'then', '0'];
const TEXTS = ['oomscope:open', 'oomscope:ping', 'oomscope:select', 'oomscope:ready', 'oomscope:pong', 'oomscope:asking', 'oomscope:report', 'oomscope:error', 'oomscope:progress', 'oomscope:', 'oomscope:close',
  'oomscope:__proto__', 'ping', '', 'a', 'a/b.csv', '/a', 'a/', 'a//b', '.', '..', 'a/../b', 'a\0b', '#tab=peak', '__proto__', '\ud800', '\u202e<b>', '{}'];
const NUMBERS = [0, 1, 2, -1, 1.5, 200, 201, 4096, 4097, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e308, -0];
const LENGTHS = [0, 1, 2, 199, 200, 201, 4095, 4096, 4097];
const HOLES = [0, 0, 0, 1, 2, 100_000, 100_001, 2 ** 32 - 10];
const HOWS = ['own', 'own', 'own', 'own', 'hidden', 'getter', 'throws'];
const TYPED = ['Int8Array', 'Uint8ClampedArray', 'Float64Array', 'BigInt64Array', 'DataView'];
const OTHERS = ['Map', 'Set', 'Date', 'RegExp', 'Error', 'Number', 'String', 'SharedArrayBuffer'];
const LONGEST_LIST = 2 ** 32 - 1;
const DEEPEST = 4;

const OTHER_VALUES = {
  Map: () => new Map([['type', 'oomscope:ping']]), Set: () => new Set([1]), Date: () => new Date(NaN), RegExp: () => /x/g, Error: () => new Error('x'), Number: () => Object(1),
  String: () => Object('oomscope:ping'), SharedArrayBuffer: () => new SharedArrayBuffer(1),
};

/** A value from its tree. `read` is told of each getter that is called, by its tree. */
export function build(node, read = () => {}) {
  const [kind, first, second] = node;
  switch (kind) {
    case 'json': return first;
    case 'undefined': return undefined;
    case 'nan': return NaN;
    case 'bigint': return BigInt(first);
    case 'text': return first.repeat(second);
    case 'list': return listOf(first.map(each => build(each, read)), second);
    case 'fields': return fieldsOf(first, second, read);
    case 'blob': return new Blob([first]);
    case 'file': return new File(['a'], first);
    case 'buffer': return new ArrayBuffer(first);
    case 'bytes': return new Uint8Array(new ArrayBuffer(first)).subarray(second);
    case 'resizable': return new Uint8Array(new ArrayBuffer(first, {maxByteLength: first + 1}));
    case 'typed': return first === 'DataView' ? new DataView(new ArrayBuffer(second)) : new globalThis[first](second);
    case 'other': return OTHER_VALUES[first]();
    case 'proxy': return proxyOf(build(first, read), node, read);
    default: throw new Error(`no kind ${kind}`);
  }
}

function listOf(items, holes) {
  if (holes === 0) return items;
  // One that was this long keeps its empty places without memory for each.
  const list = [];
  list.length = LONGEST_LIST;
  list.length = Math.min(items.length + holes, LONGEST_LIST);
  return Object.assign(list, items);
}

function fieldsOf(fields, on, read) {
  const holder = on === 'none' ? Object.create(null) : {};
  for (const field of fields) {
    const [name, node, how] = field;
    const value = build(node, read);
    const get = () => {
      read(field);
      if (how === 'throws') throw new Error('a getter that throws');
      return value;
    };
    Object.defineProperty(holder, name, how === 'getter' || how === 'throws' ? {get, enumerable: true, configurable: true} : {value, enumerable: how === 'own', configurable: true, writable: true});
  }
  return on === 'prototype' ? Object.create(holder) : holder;
}

/** Tells of each name that is read through it. Of what is no list and no fields there is none: methods of the language do not work on it. */
function proxyOf(target, node, read) {
  if (!['list', 'fields', 'proxy'].includes(node[1][0]) || Object(target) !== target) return target;
  const names = new Map();
  const known = name => {
    if (!names.has(name)) names.set(name, [name, node]);
    return names.get(name);
  };
  return new Proxy(target, {get: (_, name) => {
    read(known(name));
    return Reflect.get(target, name);
  }});
}

/** Whether a message can bring it as it is. */
export const isPlain = ([kind, first, second]) => {
  switch (kind) {
    case 'list': return first.every(isPlain);
    case 'fields': return second === 'object' && first.every(([, node, how]) => how === 'own' && isPlain(node));
    // Node's File is none any more when it was sent.
    case 'file': case 'proxy': return false;
    case 'other': return first !== 'SharedArrayBuffer';
    default: return true;
  }
};

/** Makes trees, out of nothing and out of other trees. */
export class Trees {
  #random;

  /** `random(below)`: a whole number from 0. */
  constructor(random) {
    this.#random = random;
  }

  pick(list) {
    return list[this.#random(list.length)];
  }

  fresh(depth = 0) {
    const leaf = [
      () => ['json', this.pick([null, true, false])], () => ['json', this.pick(NUMBERS)], () => ['json', this.pick(TEXTS)], () => ['json', this.pick(TEXTS)],
      () => ['text', this.pick(['a', 'a/', 'ü', '#']), this.pick(LENGTHS)], () => this.pick([['undefined'], ['nan'], ['bigint', '2']]), () => ['blob', this.pick(TEXTS)],
      () => ['file', this.pick(TEXTS)], () => ['buffer', this.#random(9)], () => ['bytes', 4, this.#random(5)], () => ['resizable', this.#random(3)], () => ['typed', this.pick(TYPED), this.#random(3)],
      () => ['other', this.pick(OTHERS)],
    ];
    if (depth >= DEEPEST || this.#random(3) === 0) return this.pick(leaf)();
    switch (this.#random(7)) {
      case 0: case 1: return ['list', this.#some(() => this.fresh(depth + 1)), this.pick(HOLES)];
      case 2: return ['proxy', this.pick([['list', this.#some(() => this.fresh(depth + 1)), 0], this.#fields(depth)])];
      case 3: return ['fields', [['path', ['json', this.pick(TEXTS)], 'own'], ['data', this.pick(leaf)(), 'own']], 'object'];
      default: return this.#fields(depth);
    }
  }

  /** A changed copy; `other` lends parts. */
  changed(tree, other) {
    const copy = structuredClone(tree);
    const root = [copy];
    const places = [...placesIn(root)];
    const {holder, key} = this.pick(places);
    const node = holder[key];
    const acts = [() => { holder[key] = this.fresh(2); }, () => { const {holder: from, key: at} = this.pick([...placesIn([other])]); holder[key] = structuredClone(from[at]); }];
    if (node[0] === 'fields') acts.push(() => this.#changeFields(node), () => this.#changeFields(node), () => { holder[key] = ['proxy', node]; }, () => { node[2] = this.pick(['object', 'none', 'prototype']); });
    if (node[0] === 'list') acts.push(() => this.#changeList(node[1]), () => this.#changeList(node[1]), () => { node[2] = this.pick(HOLES); }, () => { holder[key] = ['proxy', node]; });
    if (node[0] === 'proxy') acts.push(() => { holder[key] = node[1]; });
    if (node[0] === 'json' && typeof node[1] === 'string') acts.push(() => { node[1] = this.#changedText(node[1]); }, () => { node[1] = this.#changedText(node[1]); });
    if (node[0] === 'json' && typeof node[1] === 'number') acts.push(() => { node[1] += this.pick([-1, 1, 0.5]); });
    if (node[0] === 'text') acts.push(() => { node[2] = Math.max(0, node[2] + this.pick([-1, 1])); });
    this.pick(acts)();
    return root[0];
  }

  #some(make) {
    return Array.from({length: this.#random(4)}, make);
  }

  #fields(depth) {
    return ['fields', this.#some(() => [this.pick(NAMES), this.fresh(depth + 1), this.pick(HOWS)]), this.pick(['object', 'object', 'object', 'none', 'prototype'])];
  }

  #changeFields([, fields]) {
    const at = this.#random(fields.length + 1);
    if (at === fields.length) fields.push([this.pick(NAMES), this.fresh(2), this.pick(HOWS)]);
    else this.pick([() => fields.splice(at, 1), () => { fields[at][0] = this.pick(NAMES); }, () => { fields[at][2] = this.pick(HOWS); }])();
  }

  #changeList(list) {
    const at = this.#random(list.length + 1);
    if (at === list.length) list.push(this.fresh(2));
    else this.pick([() => list.splice(at, 1), () => list.push(structuredClone(list[at]))])();
  }

  #changedText(text) {
    const at = this.#random(text.length + 1);
    const piece = this.pick(['/', '.', '..', '\0', '#', 'a', ':', this.pick(TEXTS)]);
    return this.pick([() => text.slice(0, at) + piece + text.slice(at), () => text.slice(0, at) + text.slice(at + 1), () => this.pick(TEXTS)])();
  }
}

/** Every place of a tree that holds a node. */
function* placesIn(holder, key = 0) {
  yield {holder, key};
  const [kind, first] = holder[key];
  if (kind === 'list') for (const at of first.keys()) yield* placesIn(first, at);
  if (kind === 'fields') for (const field of first) yield* placesIn(field, 1);
  if (kind === 'proxy') yield* placesIn(holder[key], 1);
}
