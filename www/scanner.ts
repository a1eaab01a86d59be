// Scanning: a fresh worker for each capture, ended when it has handed over all that it found. Of a large trace it reads nothing itself:
// helpers read ranges of it, meanwhile and share-nothing, and the capture's worker puts the parts together. At most one of them all a core
// is at work at once.
//
// The browser reads ahead of each of them: that is the overlap of reading and parsing.
import {wasm, worker} from './embedded';
import type {ByteRange, FromWorker, ListedFile, ScanInput, Scanned, ToWorker} from './protocol';
import {reasonOf} from './reason';

export interface Job {
  /** Resolves the input when the job's turn comes. */
  input(): Promise<ScanInput>;
  started(): void;
  progress(bytes: number): void;
  /** The tables are read. */
  scanned(result: Scanned): void;
  /** The trace is read; null without one. */
  traced(result: Scanned | null): void;
  failed(message: string): void;
}

export const workersAtOnce = (): number => Math.max(1, navigator.hardwareConcurrency || 1);

/** Ranges of a trace for each worker: they do not end together. */
const PIECES_PER_WORKER = 4;

/** Runs all jobs; `signal` ends the running ones and drops the rest without a word to them. */
export async function scanAll(jobs: Job[], signal: AbortSignal): Promise<void> {
  const pool = new Pool(workersAtOnce(), signal);
  const queue = [...jobs];
  const lane = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined && !signal.aborted; job = queue.shift()) await scanOne(job, pool, signal);
  };
  await Promise.all(Array.from({length: pool.size}, lane));
  pool.end();
}

async function scanOne(job: Job, pool: Pool, signal: AbortSignal): Promise<void> {
  job.started();
  try {
    const [module, input] = await Promise.all([wasm('plain'), job.input()]);
    if (signal.aborted) return;
    const result = await new CaptureScan(job, pool, module, input, signal).run();
    if (!signal.aborted) job.traced(result);
  } catch (error) {
    if (!signal.aborted) job.failed(reasonOf(error));
  }
}

/** One capture: its own worker, and helpers for its trace. */
class CaptureScan {
  readonly #scanner = worker('plain');
  /** Bytes that the capture's worker has read, and the helpers. */
  #own = 0;
  #helped = 0;

  constructor(
    private readonly job: Job, private readonly pool: Pool, private readonly module: WebAssembly.Module, private readonly input: ScanInput,
    private readonly signal: AbortSignal,
  ) {}

  /** What the trace gave; null without one, and where it was cancelled. */
  async run(): Promise<Scanned | null> {
    const free = await this.pool.turn();
    let helpers = Promise.resolve();
    try {
      // It may have been waited for so long.
      if (this.signal.aborted) return null;
      return await new Promise<Scanned | null>((resolve, reject) => {
        this.signal.addEventListener('abort', () => resolve(null), {once: true});
        hear(this.#scanner, reject, data => {
          if (data.type === 'progress') this.#tell(this.#own = data.bytes, this.#helped);
          if (data.type === 'cut' && data.ranges.length > 0) {
            helpers = this.#help(data.ranges).catch(reject);
          }
          if (data.type === 'scanned' && !this.signal.aborted) {
            this.job.scanned(data.result);
            free();
          }
          if (data.type === 'traced') resolve(data.result);
        });
        this.#send({type: 'scan', module: this.module, input: this.input, pieces: this.pool.size * PIECES_PER_WORKER});
      });
    } finally {
      free();
      this.#scanner.terminate();
      await helpers;
    }
  }

  async #help(ranges: ByteRange[]): Promise<void> {
    if ('xplane' in this.input || this.input.trace === null) return;
    const {trace} = this.input;
    await Promise.all(ranges.map(async range => {
      const part = await this.pool.read(this.module, trace, range, bytes => this.#tell(this.#own, this.#helped += bytes));
      if (part !== null) this.#send({type: 'part', part}, part.transfer);
    }));
  }

  #tell(own: number, helped: number): void {
    this.job.progress(own + helped);
  }

  #send(message: ToWorker, transfer: Transferable[] = []): void {
    this.#scanner.postMessage(message, transfer);
  }
}

/** As many turns as workers may be at work at once, and the helpers, which are used again. */
class Pool {
  #turns: number;
  readonly #waiting: (() => void)[] = [];
  readonly #idle: Worker[] = [];

  constructor(readonly size: number, private readonly signal: AbortSignal) {
    this.#turns = size;
  }

  /** Resolves when it is one's turn, with what ends it. */
  async turn(): Promise<() => void> {
    if (this.#turns > 0) this.#turns -= 1;
    else await new Promise<void>(resolve => this.#waiting.push(resolve));
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#turns += 1;
      else next();
    };
  }

  /** Lets a helper read a range; null where it was cancelled. */
  async read(module: WebAssembly.Module, trace: ListedFile, range: ByteRange, progress: (bytes: number) => void): Promise<Scanned | null> {
    const free = await this.turn();
    if (this.signal.aborted) {
      free();
      return null;
    }
    const helper = this.#idle.pop() ?? worker('plain');
    let ended = false;
    try {
      return await new Promise<Scanned | null>((resolve, reject) => {
        this.signal.addEventListener('abort', () => resolve(null), {once: true});
        hear(helper, reject, data => {
          if (data.type === 'progress') progress(data.bytes);
          if (data.type === 'part') {
            ended = true;
            resolve(data.part);
          }
        });
        helper.postMessage({type: 'range', module, trace, range} satisfies ToWorker);
      });
    } finally {
      if (ended && !this.signal.aborted) this.#rest(helper);
      else helper.terminate();
      free();
    }
  }

  #rest(helper: Worker): void {
    this.#idle.push(helper);
    helper.onerror = () => this.#idle.splice(this.#idle.indexOf(helper), 1);
  }

  end(): void {
    for (const helper of this.#idle.splice(0)) helper.terminate();
  }
}

function hear(from: Worker, failed: (reason: Error) => void, take: (message: FromWorker) => void): void {
  from.onerror = event => failed(new Error(event.message));
  from.onmessage = ({data}: MessageEvent<FromWorker>) => {
    if (data.type === 'panic') failed(new Error(data.message));
    else take(data);
  };
}
