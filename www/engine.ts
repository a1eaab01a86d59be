// The engine as the page sees it: one worker that answers calls, with its pool of threads; disposable and startable again.
import {endIsSeen} from './alive';
import {wasm, worker} from './embedded';
import type {EngineCalls, FromWorker, ToWorker, Variant} from './protocol';
import {reasonOf} from './reason';
import {POOL_START_MS} from './threads';

/** A call that got no answer because its engine ended. */
export class EngineEnded extends Error {}

interface Waiting {
  resolve(value: never): void;
  reject(error: Error): void;
  /** A timer. */
  silence: number;
}

const MOST_THREADS = 16;
/** Beyond the pool's own limit: the wasm must also be instantiated. */
const START_MS = POOL_START_MS + 5000;
/** Where the end of a worker cannot be seen: no call takes so long. */
const SILENT_MS = 120_000;

const send = (to: Worker, message: ToWorker, transfer: Transferable[] = []): void => to.postMessage(message, transfer);

class Engine {
  #worker: Worker | null = null;
  #pool: Worker[] = [];
  #waiting = new Map<number, Waiting>();
  #next = 0;
  #starting: Promise<number> | null = null;
  #failStart: (error: Error) => void = () => {};
  /** Counts the stops: a start that was stopped must not go on. */
  #stops = 0;

  #ended: (message: string) => void = () => {};

  /** A running engine that ends by itself is told of; the next call starts a fresh one. */
  whenItEnds(ended: (message: string) => void): void {
    this.#ended = ended;
  }

  /** Starts it where it isn't running; the number of its threads. */
  start(): Promise<number> {
    if (this.#starting === null) {
      const starting = this.#launch();
      this.#starting = starting;
      starting.catch(() => {
        if (this.#starting === starting) this.#starting = null;
      });
    }
    return this.#starting;
  }

  async call<K extends keyof EngineCalls>(
    method: K, args: Parameters<EngineCalls[K]>, transfer: Transferable[] = [],
  ): Promise<ReturnType<EngineCalls[K]>> {
    await this.start();
    const running = this.#worker;
    if (running === null) throw new EngineEnded('the engine was ended');
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const silence = endIsSeen() ? 0 : setTimeout(() => this.#die(running, `it did not answer for ${SILENT_MS / 1000} s`), SILENT_MS);
      this.#waiting.set(id, {resolve, reject, silence});
      send(running, {type: 'call', id, method, args}, transfer);
    });
  }

  /** Ends it and every call that waits for it. */
  stop(reason = 'the engine was ended'): void {
    this.#worker?.terminate();
    this.#pool.forEach(thread => thread.terminate());
    this.#worker = null;
    this.#pool = [];
    this.#starting = null;
    this.#stops++;
    this.#failStart(new EngineEnded(reason));
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const call of waiting) {
      clearTimeout(call.silence);
      call.reject(new EngineEnded(reason));
    }
  }

  async #launch(): Promise<number> {
    const stops = this.#stops;
    if (self.crossOriginIsolated) {
      try {
        return await this.#run('threads');
      } catch (error) {
        if (stops !== this.#stops) throw error;
        console.warn(`oomscope: the threads variant did not start, the plain one takes its place (${reasonOf(error)})`);
      }
    }
    return this.#run('plain');
  }

  async #run(variant: Variant): Promise<number> {
    const stops = this.#stops;
    const module = await wasm(variant);
    if (stops !== this.#stops) throw new EngineEnded('the engine was ended');
    const running = worker(variant);
    const pool: Worker[] = [];
    this.#worker = running;
    this.#pool = pool;
    try {
      return await new Promise<number>((ready, failed) => {
        this.#failStart = failed;
        const timer = setTimeout(() => failed(new Error('no answer')), START_MS);
        let up = false;
        const end = (message: string): void => {
          clearTimeout(timer);
          if (up) this.#die(running, message);
          else failed(new Error(message));
        };
        running.onerror = event => end(event.message);
        running.onmessage = ({data}: MessageEvent<FromWorker>) => {
          if (data.type === 'ready') {
            up = true;
            clearTimeout(timer);
            ready(data.threads);
          } else if (data.type === 'panic') {
            end(data.message);
          } else if (data.type === 'spawn') {
            void spawn(data, pool, variant, end).then(() => send(running, {type: 'threads_up'}));
          } else {
            this.#settle(data);
          }
        };
        send(running, {type: 'main', module, threads: threadsWanted()});
      });
    } catch (error) {
      running.terminate();
      pool.forEach(thread => thread.terminate());
      if (this.#worker === running) this.#worker = null;
      throw error;
    }
  }

  #settle(data: FromWorker): void {
    if (data.type !== 'reply' && data.type !== 'refused') return;
    const call = this.#waiting.get(data.id);
    this.#waiting.delete(data.id);
    clearTimeout(call?.silence);
    if (data.type === 'reply') call?.resolve(data.value as never);
    else call?.reject(new Error(data.message));
  }

  #die(which: Worker, message: string): void {
    if (this.#worker !== which) return;
    this.stop(message);
    this.#ended(message);
  }
}

const threadsWanted = (): number => Math.min(MOST_THREADS, Math.max(1, navigator.hardwareConcurrency || 1));

/** Makes the pool's threads; a thread that ends takes the engine with it, for the others would wait for it forever. */
async function spawn(
  order: Extract<FromWorker, {type: 'spawn'}>, pool: Worker[], variant: Variant, end: (message: string) => void,
): Promise<void> {
  await Promise.all(Array.from({length: order.count}, () => new Promise<void>(up => {
    const thread = worker(variant);
    pool.push(thread);
    thread.onerror = event => end(event.message);
    thread.onmessage = ({data}: MessageEvent<FromWorker>) => {
      if (data.type === 'up') up();
      if (data.type === 'panic') end(data.message);
    };
    send(thread, order.init);
  })));
}

/** The page's one engine. */
export const engine = new Engine();

export function ignoreEnded(error: unknown): void {
  if (!(error instanceof EngineEnded)) console.error(error);
}
