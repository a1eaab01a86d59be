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
      const result: Scanned | null = scan(
        message.input,
        (bytes: number) => post({type: 'progress', bytes}),
        (blocks: Scanned) => post({type: 'scanned', result: blocks}, blocks.transfer),
      );
      post({type: 'traced', result}, result?.transfer);
      break;
    }
  }
});
