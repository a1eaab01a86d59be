// The worker that runs anywhere: the engine where threads cannot be had, every scanner and its helpers.
import {Engine, Scanner, cut_trace, discover, initSync, scan_part, scan_xplane, set_panic_hook, threads} from '../target/plain/pkg/oomscope';
import type {AscendInput, ByteRange, ListedFile, Scanned, ToWorker} from './protocol';
import {engineRole, listen, post} from './worker-role';

let answer: ((call: Extract<ToWorker, {type: 'call'}>) => void) | null = null;

function start(module: WebAssembly.Module): void {
  initSync({module});
  set_panic_hook();
}

let scanner: Scanner | null = null;
/** Parts of the trace that others still read. */
let awaited = 0;

const progress = (bytes: number): void => post({type: 'progress', bytes});

function scanXplane({path, file}: ListedFile): void {
  const result: Scanned = scan_xplane(path, file, progress);
  post({type: 'scanned', result}, result.transfer);
  post({type: 'traced', result: null});
}

function scan(input: AscendInput, pieces: number): void {
  // First, so that helpers read the trace while the tables are read here.
  const ranges = input.trace === null ? [] : cut_trace(input.trace.file, pieces) as ByteRange[];
  post({type: 'cut', ranges});
  awaited = ranges.length;
  scanner = new Scanner(input, progress);
  const blocks: Scanned = scanner.blocks();
  post({type: 'scanned', result: blocks}, blocks.transfer);
  if (awaited === 0) end();
}

function end(): void {
  const result: Scanned | null = scanner?.origins(progress) ?? null;
  post({type: 'traced', result}, result?.transfer);
}

listen(message => {
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
      if ('xplane' in message.input) scanXplane(message.input.xplane);
      else scan(message.input, message.pieces);
      break;
    case 'part':
      scanner?.part(message.part);
      if (--awaited === 0) end();
      break;
    case 'range': {
      start(message.module);
      const {trace: {path, file}, range: [from, until]} = message;
      const part: Scanned = scan_part(path, file, from, until, progress);
      post({type: 'part', part}, part.transfer);
      break;
    }
  }
});
