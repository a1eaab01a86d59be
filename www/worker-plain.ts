// The worker that runs anywhere: the engine where threads cannot be had, every scanner and its helpers.
import {Engine, Scanner, cut_trace, discover, initSync, scan_part, scan_xplane, self_test, self_test_files, set_panic_hook, threads} from '../target/plain/pkg/oomscope';
import type {AscendInput, ByteRange, ListedFile, MemoryPart, Scanned, ToWorker} from './protocol';
import {engineRole, listen, post} from './worker-role';

let answer: ((call: Extract<ToWorker, {type: 'call'}>) => void) | null = null;

function start(module: WebAssembly.Module): void {
  initSync({module});
  set_panic_hook();
}

let scanner: Scanner | null = null;
/** Parts of the trace that others still read. */
let awaited = 0;
let trace: ListedFile | null = null;
/** Parts that were read before the tables. */
let early: Scanned[] = [];
/** Joining reads again where a guess was wrong; one at a time. */
let joining: Promise<void> = Promise.resolve();

const progress = (bytes: number): void => post({type: 'progress', bytes});

/** Often enough for the eye; each word of it draws the page anew. */
const TELL_MS = 150;
let told = 0;

/** Of chunks there are thousands. */
function progressAtTimes(bytes: number): void {
  const now = performance.now();
  if (now - told < TELL_MS) return;
  told = now;
  progress(bytes);
}

async function scanXplane({path, file}: ListedFile, memory: MemoryPart): Promise<void> {
  const result: Scanned = await scan_xplane(path, file, memory, progressAtTimes);
  post({type: 'scanned', result}, result.transfer);
  post({type: 'traced', result: null});
}

async function scan(input: AscendInput, pieces: number): Promise<void> {
  // First, so that helpers read the trace while the tables are read here.
  trace = input.trace;
  const ranges = input.trace === null ? [] : cut_trace(input.trace.file, pieces) as ByteRange[];
  post({type: 'cut', ranges});
  awaited = ranges.length;
  const read = await Scanner.read(input, progressAtTimes);
  const blocks: Scanned = read.blocks();
  post({type: 'scanned', result: blocks}, blocks.transfer);
  scanner = read;
  if (awaited === 0) await end(read);
  for (const part of early.splice(0)) await take(part, read);
}

async function take(part: Scanned, by: Scanner): Promise<void> {
  joining = joining.then(() => join(part, by));
  await joining;
  if (--awaited === 0) await end(by);
}

async function join(part: Scanned, by: Scanner): Promise<void> {
  by.part(part);
  for (let range = by.missing(); range !== undefined && trace !== null; range = by.missing()) {
    by.read_again(await readPart(trace, [range[0] ?? 0, range[1] ?? 0], true, () => {}));
  }
}

const readPart = ({path, file}: ListedFile, [from, until]: ByteRange, exact: boolean, told: (bytes: number) => void): Promise<Scanned> =>
  scan_part(path, file, from, until, exact, told);

async function end(by: Scanner): Promise<void> {
  const result: Scanned | null = await by.origins();
  post({type: 'traced', result}, result?.transfer);
}

listen(async message => {
  switch (message.type) {
    case 'main':
      start(message.module);
      answer = engineRole({Engine, discover});
      post({type: 'ready', threads: threads()});
      break;
    case 'call':
      answer?.(message);
      break;
    case 'scan':
      start(message.module);
      if ('xplane' in message.input) await scanXplane(message.input.xplane, message.input.memory);
      else await scan(message.input, message.pieces);
      break;
    case 'self_test':
      start(message.module);
      post({type: 'checked', rows: self_test(self_test_files().map(file => message.files.get(file)))});
      break;
    case 'part':
      if (scanner === null) early.push(message.part);
      else await take(message.part, scanner);
      break;
    case 'range': {
      start(message.module);
      let unsaid = 0;
      const part = await readPart(message.trace, message.range, false, bytes => {
        unsaid += bytes;
        const now = performance.now();
        if (now - told < TELL_MS) return;
        told = now;
        progress(unsaid);
        unsaid = 0;
      });
      progress(unsaid);
      post({type: 'part', part}, part.transfer);
      break;
    }
  }
});
