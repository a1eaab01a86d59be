// The worker that runs anywhere: the engine where threads cannot be had, and every scanner.
import {Engine, discover, initSync, scan, set_panic_hook, threads} from '../target/plain/pkg/oomscope';
import type {Scanned, ToWorker} from './protocol';
import {engineRole, listen, post} from './worker-role';

let answer: ((call: Extract<ToWorker, {type: 'call'}>) => void) | null = null;

function start(module: WebAssembly.Module): void {
  initSync({module});
  set_panic_hook();
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
    case 'scan': {
      start(message.module);
      const result: Scanned = scan(message.input, (bytes: number, rows: number) => post({type: 'progress', bytes, rows}));
      post({type: 'scanned', result}, result.transfer);
      break;
    }
  }
});
