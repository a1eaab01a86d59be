// From scanned captures to a session: the engine takes them, builds them, and is asked about them.
import type {CaptureSummary, JaxAnswer} from '../target/plain/pkg/oomscope';
import {EngineEnded, engine} from './engine';
import type {Item} from './found';
import {showWorst} from './place';
import type {Scanned} from './protocol';
import {REPORT_TOP} from './protocol';
import {reasonOf} from './reason';
import {notify, patchScan, patchSession} from './state';

/** What builds the session; what another one was still about comes too late. */
let current: Builder | null = null;

export function startBuilding(items: Item[]): Builder {
  current = new Builder(items);
  return current;
}

export function stopBuilding(): void {
  current = null;
}

export const isBuilding = (): boolean => current?.busy === true;

/** Hands scanned captures to the engine, and lets it build all that arrived meanwhile in one go. */
export class Builder {
  busy = false;
  /** Given to the engine and not built yet, in that order: a build takes all that the engine has, and answers in the same order. */
  #given: number[] = [];
  #adding: Promise<void>[] = [];
  #building: Promise<void> = Promise.resolve();
  #attaching: Promise<void>[] = [];
  /** The engine's number of each capture that is built. */
  #numbers = new Map<number, number>();
  /** What came of each trace. */
  #origins = new Map<number, Scanned>();
  /** Scanners that ended without a trace to read. */
  #traceless = new Set<number>();

  constructor(private readonly items: Item[]) {}

  add(index: number, scanned: Scanned): void {
    patchScan(index, {phase: 'building'});
    this.#given.push(index);
    const added = engine.call('add', [scanned], scanned.transfer).then(() => {
      if (!this.busy && this.isCurrent) this.#building = this.#build();
    }).catch(error => {
      this.#given = this.#given.filter(given => given !== index);
      this.#failed([index], error);
    });
    this.#adding.push(added);
  }

  /** Gives the engine what the trace says, as soon as the blocks are there. */
  attach(index: number, origins: Scanned | null): void {
    if (origins === null) this.#traceless.add(index);
    else this.#origins.set(index, origins);
    this.#attachReady(index);
  }

  get isCurrent(): boolean {
    return current === this;
  }

  async finished(): Promise<void> {
    await Promise.all(this.#adding);
    await this.#building;
    await Promise.all(this.#attaching);
  }

  #attachReady(index: number): void {
    // The engine's numbers are another session's by now.
    if (!this.isCurrent) return;
    const capture = this.#numbers.get(index);
    const origins = this.#origins.get(index);
    if (capture === undefined) return;
    if (this.#traceless.has(index)) patchScan(index, {phase: 'done'});
    if (origins === undefined) return;
    this.#attaching.push(engine.call('attach', [capture, origins], origins.transfer).then(summary => {
      if (this.isCurrent) takeAnew(index, summary);
    }).catch(error => this.#failed([index], error)));
  }

  async #build(): Promise<void> {
    this.busy = true;
    while (this.#given.length > 0) {
      try {
        const built = await engine.call('build', []);
        const indices = this.#given.splice(0, built.length);
        indices.forEach((index, nth) => {
          const number = built[nth]?.capture;
          if (number !== undefined) this.#numbers.set(index, number);
        });
        const jax = await jaxReports(built);
        if (this.isCurrent) take(indices, built, jax);
        indices.forEach(index => this.#attachReady(index));
      } catch (error) {
        this.#failed(this.#given.splice(0), error);
      }
    }
    this.busy = false;
  }

  #failed(indices: number[], error: unknown): void {
    if (!this.isCurrent || error instanceof EngineEnded) return;
    for (const index of indices) {
      patchScan(index, {phase: 'failed', reason: reasonOf(error)});
      notify('error', t => t.captureFailed(this.items[index]?.source ?? '', reasonOf(error)), true);
    }
  }
}

/** The report on each JAX capture among them of which anything could be read. */
export async function jaxReports(built: CaptureSummary[]): Promise<[number, JaxAnswer][]> {
  const ofJax = built.filter(({kind}) => kind === 'xplane');
  const reports = await Promise.all(ofJax.map(async ({capture, source}): Promise<[number, JaxAnswer][]> => {
    try {
      return [[capture, await engine.call('jax', [capture, undefined, REPORT_TOP])]];
    } catch (error) {
      if (!(error instanceof EngineEnded)) notify('error', t => t.captureFailed(source, reasonOf(error)));
      return [];
    }
  }));
  return reports.flat().filter(([, {report: {modules, executions, allocators}}]) => modules.length + executions.length + allocators.length > 0);
}

/** Puts built captures into the session; `indices` are their scans. */
export function take(indices: number[], built: CaptureSummary[], jax: [number, JaxAnswer][]): void {
  patchSession(session => ({
    jax: new Map([...session.jax, ...jax.map(([capture, {report}]) => [capture, report] as const)]),
    executions: new Map([...session.executions, ...jax.map(([capture, {executions}]) => [capture, executions] as const)]),
    captures: [...session.captures, ...built].sort((a, b) => a.source < b.source ? -1 : a.source > b.source ? 1 : a.capture - b.capture),
    scans: session.scans.map((scan, index) => indices.includes(index) ? {...scan, phase: 'tracing'} : scan),
  }));
  showWorst();
}

/** A capture that now knows where its blocks come from. */
function takeAnew(index: number, summary: CaptureSummary): void {
  patchSession(session => ({captures: session.captures.map(capture => capture.capture === summary.capture ? summary : capture)}));
  patchScan(index, {phase: 'done'});
}
