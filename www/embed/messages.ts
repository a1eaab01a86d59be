// The messages between the page and one that embeds it: docs/embedding.md. What comes from outside is taken apart here, strictly, and nothing here
// throws. No DOM: the tests run this in Node.

export const VERSION = 1;

export const MOST_FILES = 100_000;
export const LONGEST_PATH = 4096;
export const LONGEST_VIEW = 4096;
export const LONGEST_ID = 200;
/** Of files that were sent as bytes, not as Blobs: they lie in memory. */
export const MOST_BYTES = 2 ** 31;

/** Given back with each answer, so that the sender knows to what it is one. */
export type Id = string | number | null;

export interface SentFile {
  path: string;
  data: Blob;
}

export type Incoming =
  | {type: 'ping'; id: Id}
  | {type: 'open'; id: Id; files: SentFile[]; view: string | null}
  | {type: 'select'; id: Id; view: string};

export type Code = 'malformed' | 'unknown-type' | 'version' | 'too-large' | 'no-port' | 'busy' | 'refused' | 'nothing-found' | 'cancelled' | 'replaced' | 'engine';

export interface Fault {
  code: Code;
  message: string;
}

export type Outgoing =
  | {type: 'ready'}
  | {type: 'pong'; id: Id; allowed: boolean}
  | {type: 'asking'; id: Id}
  | {type: 'progress'; id: Id; bytes_read: number; bytes_total: number; captures_ready: number; captures_total: number}
  | {type: 'report'; id: Id; report: string}
  | {type: 'select'; id: Id; view: string}
  | {type: 'error'; id: Id} & Fault;

export type Parsed = {id: Id} & ({message: Incoming; fault?: undefined} | {message?: undefined; fault: Fault});

const PREFIX = 'oomscope:';
/** What is only ever said by the page. Answering it would let two of them talk for ever. */
const ANSWERS = new Set(['ready', 'pong', 'asking', 'progress', 'report', 'error'].map(type => PREFIX + type));

/** The form in which a message travels. */
export const envelope = <M extends Outgoing>({type, ...rest}: M): Record<string, unknown> => ({type: PREFIX + type, version: VERSION, ...rest});

class Refusal extends Error {
  constructor(readonly code: Code, message: string) {
    super(message);
  }
}

/** What a message asks for, or what is wrong with it; null: it is itself an answer. */
export function parse(data: unknown): Parsed | null {
  let id: Id = null;
  try {
    const fields = fieldsOf(data, 'a message');
    const type = fields('type');
    if (typeof type === 'string' && ANSWERS.has(type)) return null;
    id = idOf(fields('id'));
    if (typeof type !== 'string' || !type.startsWith(PREFIX)) throw new Refusal('unknown-type', `a message must have a type that begins with ${PREFIX}`);
    if (fields('version') !== VERSION) throw new Refusal('version', `this page speaks version ${VERSION}`);
    return {id, message: messageOf(type.slice(PREFIX.length), id, fields)};
  } catch (error) {
    return {id, fault: error instanceof Refusal ? {code: error.code, message: error.message} : {code: 'malformed', message: 'the message cannot be read'}};
  }
}

type Fields = (name: string) => unknown;

/** An object's own fields, each to be read once: a message may bring any names, `__proto__` too. */
function fieldsOf(data: unknown, what: string): Fields {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw new Refusal('malformed', `${what} must be an object`);
  return name => Object.hasOwn(data, name) ? (data as Record<string, unknown>)[name] : undefined;
}

function idOf(value: unknown): Id {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value.length <= LONGEST_ID) return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new Refusal('malformed', `id must be a whole number or a text of at most ${LONGEST_ID} characters`);
}

function messageOf(type: string, id: Id, fields: Fields): Incoming {
  switch (type) {
    case 'ping': return {type, id};
    case 'open': {
      const files = filesOf(fields('files'));
      const view = fields('view');
      return {type, id, files, view: view === undefined ? null : viewOf(view)};
    }
    case 'select': return {type, id, view: viewOf(fields('view'))};
    default: throw new Refusal('unknown-type', `there is no message ${PREFIX}${type.slice(0, 40)}`);
  }
}

/** Words of the page and numbers; the page takes of it what makes sense there. */
function viewOf(value: unknown): string {
  if (typeof value !== 'string' || value.length > LONGEST_VIEW) throw new Refusal('malformed', `view must be a text of at most ${LONGEST_VIEW} characters`);
  return value.replace(/^#/, '');
}

function filesOf(value: unknown): SentFile[] {
  const length = Array.isArray(value) ? value.length : 0;
  if (!Array.isArray(value) || length === 0) throw new Refusal('malformed', 'files must be a list with at least one file');
  if (length > MOST_FILES) throw new Refusal('too-large', `at most ${MOST_FILES} files can be sent at once`);
  const paths = new Set<string>();
  let bytes = 0;
  // By index: a list may have holes.
  return Array.from({length}, (_, index) => {
    const file = fileOf(value[index], index);
    if (paths.has(file.path)) throw new Refusal('malformed', `files[${index}]: there are two of this path`);
    paths.add(file.path);
    if (file.copied) bytes += file.data.size;
    if (bytes > MOST_BYTES) throw new Refusal('too-large', `more than ${MOST_BYTES} bytes as buffers: send Files or Blobs`);
    return {path: file.path, data: file.data};
  });
}

function fileOf(value: unknown, index: number): SentFile & {copied: boolean} {
  if (value instanceof File) return {path: pathOf(value.webkitRelativePath || value.name, index), data: value, copied: false};
  const fields = fieldsOf(value, `files[${index}]`);
  const data = fields('data');
  const path = pathOf(fields('path'), index);
  if (data instanceof Blob) return {path, data, copied: false};
  const buffer = data instanceof Uint8Array ? data.buffer : data;
  if (!(buffer instanceof ArrayBuffer)) throw new Refusal('malformed', `files[${index}]: data must be a File, a Blob, an ArrayBuffer or a Uint8Array`);
  if ((buffer as {resizable?: boolean}).resizable === true) throw new Refusal('malformed', `files[${index}]: the buffer must be of fixed length`);
  const size = (data as ArrayBuffer | Uint8Array).byteLength;
  if (size > MOST_BYTES) throw new Refusal('too-large', `files[${index}]: more than ${MOST_BYTES} bytes as a buffer: send a File or a Blob`);
  return {path, data: new Blob([data as ArrayBuffer]), copied: true};
}

function pathOf(value: unknown, index: number): string {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_PATH) {
    throw new Refusal('malformed', `files[${index}]: path must be a text of 1 to ${LONGEST_PATH} characters`);
  }
  const steps = value.split('/');
  if (value.includes('\0') || steps.some(step => step === '' || step === '.' || step === '..')) {
    throw new Refusal('malformed', `files[${index}]: path must be relative, without empty steps, "." and ".."`);
  }
  return value;
}
