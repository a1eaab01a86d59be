// The parts that both worker bundles share: talking to the page, and answering as the engine.
import {hold} from './alive';
import type {EngineCalls, FromWorker, ToWorker} from './protocol';
import {reasonOf} from './reason';

interface WorkerScope {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
}

const scope = self as unknown as WorkerScope;

export function post(message: FromWorker, transfer: Transferable[] = []): void {
  scope.postMessage(message, transfer);
}

/** Takes every message; whatever is thrown ends this worker's use and is told to the page. */
export function listen(take: (message: ToWorker) => void | Promise<void>): void {
  void hold(self.name, () => post({type: 'alive'}));
  scope.onmessage = async ({data}) => {
    try {
      await take(data);
    } catch (error) {
      post({type: 'panic', message: reasonOf(error)});
    }
  };
}

/** The engine's part of the wasm, the same in both variants. */
export interface EngineGlue {
  Engine: new () => {[method in Exclude<keyof EngineCalls, 'discover'>]: (...args: never[]) => unknown};
  discover: EngineCalls['discover'];
}

type AnyCall = (...args: unknown[]) => unknown;

/** Makes the function that answers the page's calls. */
export function engineRole(glue: EngineGlue): (call: Extract<ToWorker, {type: 'call'}>) => void {
  const engine = new glue.Engine();
  return ({id, method, args}) => {
    try {
      const value = method === 'discover'
        ? (glue.discover as AnyCall)(...args)
        : (engine[method] as AnyCall).apply(engine, args);
      post({type: 'reply', id, value}, buffersOf(value));
    } catch (error) {
      // A trap leaves the wasm in an unknown state; an error that Rust returned does not.
      if (error instanceof WebAssembly.RuntimeError) throw error;
      post({type: 'refused', id, message: reasonOf(error)});
    }
  };
}

/** The columns of a frame move to the page instead of being copied. */
function buffersOf(value: unknown): ArrayBuffer[] {
  if (value === null || typeof value !== 'object') return [];
  if (value instanceof Uint8Array) return value.buffer instanceof ArrayBuffer ? [value.buffer] : [];
  const buffers = new Set<ArrayBuffer>();
  for (const part of Object.values(value)) {
    if (ArrayBuffer.isView(part) && part.buffer instanceof ArrayBuffer && part.byteLength === part.buffer.byteLength) {
      buffers.add(part.buffer);
    }
  }
  return [...buffers];
}
