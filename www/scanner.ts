// Scanning: a fresh worker for each capture, at most one a core at once, ended when it has handed over all that it found.
import {wasm, worker} from './embedded';
import type {FromWorker, ScanInput, Scanned, ToWorker} from './protocol';

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

/** Runs all jobs; `signal` ends the running ones and drops the rest without a word to them. */
export async function scanAll(jobs: Job[], signal: AbortSignal): Promise<void> {
  const queue = [...jobs];
  const lane = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined && !signal.aborted; job = queue.shift()) await scanOne(job, signal);
  };
  await Promise.all(Array.from({length: workersAtOnce()}, lane));
}

async function scanOne(job: Job, signal: AbortSignal): Promise<void> {
  job.started();
  try {
    const [module, input] = await Promise.all([wasm('plain'), job.input()]);
    if (signal.aborted) return;
    const result = await runWorker({type: 'scan', module, input}, job, signal);
    if (!signal.aborted) job.traced(result);
  } catch (error) {
    if (!signal.aborted) job.failed(error instanceof Error ? error.message : String(error));
  }
}

/** What the trace gave; null without one, and where it was cancelled. */
function runWorker(order: ToWorker, job: Job, signal: AbortSignal): Promise<Scanned | null> {
  const scanner = worker('plain');
  return new Promise<Scanned | null>((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(null), {once: true});
    scanner.onerror = event => reject(new Error(event.message));
    scanner.onmessage = ({data}: MessageEvent<FromWorker>) => {
      if (data.type === 'progress') job.progress(data.bytes);
      if (data.type === 'scanned' && !signal.aborted) job.scanned(data.result);
      if (data.type === 'traced') resolve(data.result);
      if (data.type === 'panic') reject(new Error(data.message));
    };
    scanner.postMessage(order);
  }).finally(() => scanner.terminate());
}
