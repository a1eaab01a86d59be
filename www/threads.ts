// Stands in for wasm-bindgen-rayon's worker helper: the page makes the pool's threads, each from the engine's own Blob script.
// Nested workers hung at start-up in some Firefox page loads; page-made ones did not.
import type {FromWorker, ToWorker} from './protocol';

export const POOL_START_MS = 5000;

interface PoolBuilder {
  numThreads(): number;
  receiver(): number;
  build(): void;
}

export async function startWorkers(module: WebAssembly.Module, memory: WebAssembly.Memory, builder: PoolBuilder): Promise<void> {
  const started = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the thread pool did not start in 5 s')), POOL_START_MS);
    self.addEventListener('message', function listen({data}: MessageEvent<ToWorker>) {
      if (data.type !== 'threads_up') return;
      clearTimeout(timer);
      self.removeEventListener('message', listen);
      resolve();
    });
  });
  const spawn: FromWorker = {
    type: 'spawn',
    count: builder.numThreads(),
    init: {type: 'thread', module, memory, receiver: builder.receiver()},
  };
  (self as unknown as {postMessage(message: FromWorker): void}).postMessage(spawn);
  await started;
  builder.build();
}
