// The engine where the page is isolated, and the threads of its pool.
import {
  Engine, discover, initSync, initThreadPool, set_panic_hook, threads, wbg_rayon_start_worker,
} from '../target/threads/pkg/oomscope';
import type {ToWorker} from './protocol';
import {engineRole, listen, post} from './worker-role';

let answer: ((call: Extract<ToWorker, {type: 'call'}>) => void) | null = null;

listen(async message => {
  switch (message.type) {
    case 'main':
      initSync({module: message.module});
      set_panic_hook();
      await initThreadPool(message.threads);
      answer = engineRole({Engine, discover});
      post({type: 'ready', threads: threads()});
      break;
    case 'call':
      answer?.(message);
      break;
    case 'thread':
      initSync({module: message.module, memory: message.memory});
      post({type: 'up'});
      wbg_rayon_start_worker(message.receiver);
      break;
  }
});
