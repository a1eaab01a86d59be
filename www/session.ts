// The course of things from a drop to charts: list, discover, scan each capture in a worker, let the engine build, show.
import type {CaptureSummary, FoundMessage, JaxAnswer, XplaneReport} from '../target/plain/pkg/oomscope';
import {savedSession} from './embedded';
import {Engine, EngineEnded} from './engine';
import {nothingFound} from './explain';
import type {Item} from './found';
import {allFiles, bigFiles, itemsOf} from './found';
import {bytesOfBudget} from './memory';
import type {Dropped, Opened, Walk} from './open';
import {DEEPEST, MOST_PATHS, atHand, picked, sample, walk} from './open';
import type {ListedFile, MemoryPart, ScanInput, Scanned} from './protocol';
import type {Job} from './scanner';
import {scanAll} from './scanner';
import type {Place, Scan, Session, State} from './state';
import {NO_FILTER, NO_PLACE, OF_JAX, deviceAt, firstView, get, isUnderWay, notify, set} from './state';

/** So many rows have the lists of the report that have no end of their own, as on the command line. */
export const REPORT_TOP = 25;
/** So many files that could not be looked into are named. */
const MOST_FAILURES = 3;
/** Files that are looked into at once. */
const FILES_AT_ONCE = 32;
/** So often an engine that ended is started anew with the files that a person opened; then the files, or what is asked of them, end it. */
const MOST_RECOVERIES = 2;
/** Sizes are shown this many captures at a time. */
const SIZES_AT_ONCE = 32;

export const engine = new Engine(engineDied);

let opening = new AbortController();
let reading = new AbortController();

export async function startEngine(): Promise<void> {
  try {
    set({threads: await engine.start(), engineFailure: null});
  } catch (error) {
    if (error instanceof EngineEnded) return;
    set({engineFailure: String(error)});
  }
}

export const openDropped = (items: Dropped[]): Promise<void> => open((progress, signal) => walk(items, progress, signal));

export const openPicked = (files: Iterable<File>): Promise<void> => openGiven(picked(files));

export const openSample = (name: string): Promise<void> => open(async () => atHand(await sample(name)));

/** Reads the session's files again, and shows them as they were shown (see hash.ts). */
export function openAgain(): void {
  const session = get().session;
  if (session === null) return;
  recoveries = 0;
  void readAgain(session);
}

/** Of captures that were saved with the page there are no files. */
const SAVED: Opened[] = [];
const NO_FILES: FoundMessage = {captures: [], xplanes: [], reports: [], sniffed_bytes: 0, paths: 0};

/** Shows the captures that were saved with the page. */
export async function openSaved(): Promise<void> {
  opening.abort();
  const mine = opening = new AbortController();
  set({walked: 0});
  try {
    const captures = await engine.call('open_saved', [savedSession()]);
    const jax = await jaxReports(captures);
    if (mine.signal.aborted) return;
    builder = null;
    set({...NO_PLACE, session: {...freshSession(SAVED, NO_FILES), readingSince: null}});
    take([], captures, jax);
    await compare(reading.signal);
  } catch (error) {
    if (!(error instanceof EngineEnded)) notify('error', t => t.openFailed(String(error)));
  } finally {
    if (opening === mine) set({walked: null});
  }
}

const readAgain = ({opened}: Session): Promise<void> => opened === SAVED ? openSaved() : reopen(() => Promise.resolve(atHand(opened)));

/** Files that are all at hand, by their paths. */
export const openGiven = (opened: Opened[]): Promise<void> => open(() => Promise.resolve(atHand(opened)));

/** Engines that ended with the files that are open. */
let recoveries = 0;

function open(list: Lister): Promise<void> {
  recoveries = 0;
  return reopen(list);
}

type Lister = (progress: (paths: number) => void, signal: AbortSignal) => Promise<Walk>;

async function reopen(list: Lister): Promise<void> {
  opening.abort();
  const mine = opening = new AbortController();
  const {signal} = mine;
  set({walked: 0, ...recoveries === 0 ? {notices: []} : {}});
  try {
    const {opened, unreadable, tooDeep, tooMany} = await list(paths => signal.aborted || set({walked: paths}), signal);
    signal.throwIfAborted();
    set({walked: opened.length});
    const paths = opened.map(file => file.path);
    // An engine that ends now has lost nothing yet: the next one is asked.
    const look = async (): Promise<[FoundMessage, Sniffed]> => {
      const found = await engine.call('discover', [paths]);
      return [found, await sniffed(opened, found, signal)];
    };
    const [found, looked] = await look().catch(error => error instanceof EngineEnded && !signal.aborted ? look() : Promise.reject(error));
    signal.throwIfAborted();
    if (unreadable.length > 0) notify('error', t => t.folderUnreadable(unreadable[0] ?? '', unreadable.length));
    if (tooDeep.length > 0) notify('warning', t => t.tooDeep(tooDeep[0] ?? '', tooDeep.length, DEEPEST));
    if (tooMany) notify('warning', t => t.tooMany(MOST_PATHS));
    for (const [index, reason] of looked.failed.slice(0, MOST_FAILURES)) notify('warning', t => t.fileFailed(opened[index]?.path ?? '', reason));
    const [unread] = looked.unread;
    const {reports, pages} = looked;
    if (found.captures.length + found.xplanes.length + reports.length + pages.length > 0) begin(opened, {...found, reports: [...reports, ...pages]}, looked);
    else if (unread !== undefined) notify('error', t => t.exportNotRead(opened[unread]?.path ?? ''));
    else if (paths.length > looked.failed.length || unreadable.length + looked.failed.length === 0) notify('error', nothingFound(paths));
  } catch (error) {
    if (!signal.aborted && !(error instanceof EngineEnded)) notify('error', t => t.openFailed(String(error)));
  } finally {
    if (opening === mine) set({walked: null});
  }
}

/** Stops what is under way; what is ready stays. */
export function cancel(): void {
  opening.abort();
  reading.abort();
  patch(session => ({
    readingSince: null,
    scans: session.scans.map(scan => isUnderWay(scan) ? {...scan, phase: scan.phase === 'tracing' ? 'done' : 'cancelled'} : scan),
  }));
  set({walked: null});
}

/** Files that the page itself must look into, by their index. */
interface Sniffed {
  reports: number[];
  /** Saved pages. */
  pages: number[];
  /** Exports that cannot be read. */
  unread: number[];
  /** Files that could not be looked into, and why. */
  failed: [number, string][];
}

const LISTS = {report: 'reports', page: 'pages', other: 'unread'} as const;

async function sniffed(opened: Opened[], found: FoundMessage, signal: AbortSignal): Promise<Sniffed> {
  const result: Sniffed = {reports: [], pages: [], unread: [], failed: []};
  await eachOf(found.reports, signal, async index => {
    // One that is gone, or may not be read, is told of: what it is nobody can tell.
    const first = await opened[index]?.file().then(file => firstBytes(file, found.sniffed_bytes)).catch(error => void result.failed.push([index, String(error)]));
    if (first === undefined) return;
    const kind = await engine.call('sniff', [first]);
    if (kind !== undefined && kind !== null) result[LISTS[kind]].push(index);
  });
  signal.throwIfAborted();
  // Looks end in any order.
  result.pages.sort((a, b) => a - b);
  return result;
}

const firstBytes = async (file: File, count: number): Promise<Uint8Array> => new Uint8Array(await file.slice(0, count).arrayBuffer());

/** Some at once: folders can hold thousands of files. */
async function eachOf(indices: number[], signal: AbortSignal, each: (index: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < indices.length && !signal.aborted; at += FILES_AT_ONCE) await Promise.all(indices.slice(at, at + FILES_AT_ONCE).map(each));
}

function begin(opened: Opened[], found: FoundMessage, looked: Sniffed): void {
  const items = itemsOf(found);
  reading.abort();
  reading = new AbortController();
  clearEngine();
  const scans = items.map((): Scan => ({phase: 'waiting', bytesRead: 0, reason: ''}));
  set({
    ...NO_PLACE,
    filter: NO_FILTER,
    pair: null,
    difference: null,
    session: {...freshSession(opened, found), scans},
  });
  const files = new Files(opened);
  void askSizes(items, files, reading.signal);
  void read(found, looked, files, reading.signal);
}

const freshSession = (opened: Opened[], found: FoundMessage): Session => ({
  opened, found, scans: [], sizes: new Map(), captures: [], jax: new Map(), executions: new Map(), comparison: null, readingSince: performance.now(), lost: false, chosen: false,
  savedView: null,
});

/** A build can take seconds: an engine in the middle of one is replaced, not waited for. */
function clearEngine(): void {
  if (builder?.busy === true) {
    engine.stop();
    void startEngine();
  } else {
    engine.call('clear', []).catch(ignoreEnded);
  }
}

let builder: Builder | null = null;

async function read(found: FoundMessage, {reports, pages, unread}: Sniffed, files: Files, signal: AbortSignal): Promise<void> {
  const items = itemsOf(found);
  const mine = builder = new Builder(items);
  await readReports(reports, files, signal, file => file.arrayBuffer());
  await readReports(unread, files, signal, async file => (await firstBytes(file, found.sniffed_bytes)).buffer as ArrayBuffer);
  const onlyPage = items.length + reports.length === 0 && pages.length === 1;
  // One after the other: each is large.
  for (const page of pages) if (!signal.aborted) await readPage(page, files, mine, onlyPage);
  if (reports.length + pages.length + unread.length > 0) await compare(signal);
  const memory = await parts(items, files, signal);
  await scanAll(items.map((item, index) => job(item, index, files, memory[index] ?? WITHOUT_FILES, mine)), signal);
  await mine.finished();
  if (mine !== builder) return;
  await tellMemory();
  await compare(signal);
  patch(() => ({readingSince: null}));
}

async function readReports(indices: number[], files: Files, signal: AbortSignal, take: (file: File) => Promise<ArrayBuffer>): Promise<void> {
  await eachOf(indices, signal, async index => {
    const listed = await files.maybe(index);
    if (listed === null) return;
    const bytes = await take(listed.file).catch(error => void notify('warning', t => t.fileFailed(listed.path, String(error))));
    if (bytes && !signal.aborted) await engine.call('add_report', [listed.path, new Uint8Array(bytes)], [bytes]).catch(ignoreEnded);
  });
}

/** Takes the captures of a saved page; its view, too, where it is all there is. */
async function readPage(index: number, files: Files, mine: Builder, withView: boolean): Promise<void> {
  const listed = await files.maybe(index);
  if (listed === null) return;
  try {
    const bytes = await listed.file.arrayBuffer();
    if (mine !== builder) return;
    const {captures, view} = await engine.call('add_page', [listed.path, new Uint8Array(bytes)], [bytes]);
    const jax = await jaxReports(captures);
    if (mine !== builder) return;
    if (withView && view !== '') patch(() => ({savedView: view}));
    take([], captures, jax);
  } catch (error) {
    if (mine === builder && !(error instanceof EngineEnded)) notify('warning', t => t.fileFailed(listed.path, String(error)));
  }
}

/** Lets the engine compare all that it has by now. */
async function compare(signal: AbortSignal): Promise<void> {
  const comparison = await engine.call('comparison', [REPORT_TOP]).catch(error => void ignoreEnded(error));
  if (comparison && !signal.aborted) patch(() => ({comparison}));
}

const WITHOUT_FILES: MemoryPart = {bytes: 0, own: 0, all: 0};

/** The part of the memory that each may take. */
async function parts(items: Item[], files: Files, signal: AbortSignal): Promise<MemoryPart[]> {
  const bytes = bytesOfBudget(get().memoryBudget);
  const own = items.map(() => 0);
  await eachOf([...items.keys()], signal, async index => {
    const item = items[index];
    const sizes = await Promise.all((item === undefined ? [] : allFiles(item)).map(file => files.get(file).then(({size}) => size, () => 0)));
    own[index] = sizes.reduce((sum, size) => sum + size, 0);
  });
  const all = own.reduce((sum, size) => sum + size, 0);
  return own.map(own => ({bytes, own, all}));
}

async function tellMemory(): Promise<void> {
  const memoryUsed = await engine.call('memory', []).catch(error => void ignoreEnded(error));
  if (memoryUsed !== undefined) set({memoryUsed});
}

async function inputOf(item: Item, files: Files, memory: MemoryPart): Promise<ScanInput> {
  if (item.kind === 'xplane') return {xplane: await files.needed(item.xplane.file), memory};
  const {capture} = item;
  return {
    capture,
    memory,
    operator_memory: await Promise.all(capture.operator_memory.map(file => files.needed(file))),
    profiler_info: await files.maybe(capture.profiler_info),
    profiler_metadata: await files.maybe(capture.profiler_metadata),
    memory_record: await files.maybe(capture.memory_record),
    npu_module_mem: await files.maybe(capture.npu_module_mem),
    trace: await files.maybe(capture.trace),
  };
}

function job(item: Item, index: number, files: Files, memory: MemoryPart, into: Builder): Job {
  return {
    started: () => patchScan(index, {phase: 'reading'}),
    input: () => inputOf(item, files, memory),
    progress: bytes => patchScan(index, {bytesRead: bytes}),
    scanned: result => into.add(index, result),
    traced: result => into.attach(index, result),
    failed: reason => {
      // A trace that ends its reader leaves the blocks as they are.
      const drawn = get().session?.scans[index]?.phase === 'tracing';
      patchScan(index, {phase: drawn ? 'done' : 'failed', reason});
      notify('error', t => t.captureFailed(item.source, reason), true);
    },
  };
}

/** Hands scanned captures to the engine, and lets it build all that arrived meanwhile in one go. */
class Builder {
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
      if (!this.busy && builder === this) this.#building = this.#build();
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

  async finished(): Promise<void> {
    await Promise.all(this.#adding);
    await this.#building;
    await Promise.all(this.#attaching);
  }

  #attachReady(index: number): void {
    // The engine's numbers are another session's by now.
    if (builder !== this) return;
    const capture = this.#numbers.get(index);
    const origins = this.#origins.get(index);
    if (capture === undefined) return;
    if (this.#traceless.has(index)) patchScan(index, {phase: 'done'});
    if (origins === undefined) return;
    this.#attaching.push(engine.call('attach', [capture, origins], origins.transfer).then(summary => {
      if (builder === this) takeAnew(index, summary);
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
        if (builder === this) take(indices, built, jax);
        indices.forEach(index => this.#attachReady(index));
      } catch (error) {
        this.#failed(this.#given.splice(0), error);
      }
    }
    this.busy = false;
  }

  #failed(indices: number[], error: unknown): void {
    if (builder !== this || error instanceof EngineEnded) return;
    for (const index of indices) {
      patchScan(index, {phase: 'failed', reason: String(error)});
      notify('error', t => t.captureFailed(this.items[index]?.source ?? '', String(error)), true);
    }
  }
}

/** The report on each JAX capture among them of which anything could be read. */
async function jaxReports(built: CaptureSummary[]): Promise<[number, JaxAnswer][]> {
  const ofJax = built.filter(({kind}) => kind === 'xplane');
  const reports = await Promise.all(ofJax.map(async ({capture, source}): Promise<[number, JaxAnswer][]> => {
    try {
      return [[capture, await engine.call('jax', [capture, undefined, REPORT_TOP])]];
    } catch (error) {
      if (!(error instanceof EngineEnded)) notify('error', t => t.captureFailed(source, String(error)));
      return [];
    }
  }));
  return reports.flat().filter(([, {report: {modules, executions, allocators}}]) => modules.length + executions.length + allocators.length > 0);
}

function take(indices: number[], built: CaptureSummary[], jax: [number, JaxAnswer][]): void {
  patch(session => ({
    jax: new Map([...session.jax, ...jax.map(([capture, {report}]) => [capture, report] as const)]),
    executions: new Map([...session.executions, ...jax.map(([capture, {executions}]) => [capture, executions] as const)]),
    captures: [...session.captures, ...built].sort((a, b) => a.source < b.source ? -1 : a.source > b.source ? 1 : a.capture - b.capture),
    scans: session.scans.map((scan, index) => indices.includes(index) ? {...scan, phase: 'tracing'} : scan),
  }));
  showWorst();
}

/** A capture that now knows where its blocks come from. */
function takeAnew(index: number, summary: CaptureSummary): void {
  patch(session => ({captures: session.captures.map(capture => capture.capture === summary.capture ? summary : capture)}));
  patchScan(index, {phase: 'done'});
}

/** The largest peak of all that is there; which was read first does not matter. Whoever has begun to look around is left where they are. */
function showWorst(): void {
  const {session, place, view, selection, pinned} = get();
  const device = deviceAt(get());
  const untouched = device === null || (view.from === 0 && view.to === firstView(device).to && selection === null && pinned === null);
  if (session === null || session.chosen || !untouched) return;
  const [jax] = jaxWorstFirst(session);
  const places = session.captures.flatMap(({capture, devices}) => devices.map(({peak}, device) => ({capture, device, bytes: peak.total_bytes})));
  const largest = places.reduce<typeof places[number] | null>((worst, each) => worst === null || each.bytes > worst.bytes ? each : worst, null);
  const worst: Place | null = jax === undefined ? largest : {capture: jax[0], device: deviceOf(session, jax)};
  if (worst === null) set({tab: 'quality'});
  else if (place?.capture !== worst.capture || place.device !== worst.device) put(worst);
}

const GRAVITY = ['error', 'warning', 'info'];

/** The JAX captures: those with the gravest verdict first, then those that need most. */
export function jaxWorstFirst({jax}: Session): [number, XplaneReport][] {
  const gravity = ({diagnosis}: XplaneReport): number => {
    const at = GRAVITY.indexOf(diagnosis[0]?.severity ?? '');
    return at < 0 ? GRAVITY.length : at;
  };
  const needed = ({modules, chosen_module}: XplaneReport): number => modules.find(({name}) => name === chosen_module)?.needed_bytes ?? 0;
  return [...jax].sort(([, a], [, b]) => gravity(a) - gravity(b) || needed(b) - needed(a) || (a.source < b.source ? -1 : 1));
}

/** The allocator of the device where the module went worst. */
function deviceOf({captures}: Session, [number, {live_at_last_start, allocators}]: [number, XplaneReport]): number {
  const devices = captures.find(({capture}) => capture === number)?.devices ?? [];
  const pool = allocators.find(({device}) => device !== null && device !== undefined && device === live_at_last_start[0]?.device);
  return Math.max(0, devices.findIndex(({device}) => device === pool?.name));
}

/** Puts the device that a person chose on the charts, whole. */
export function show(place: Place): void {
  patch(() => ({chosen: true}));
  put(place);
}

function put(place: Place): void {
  const capture = get().session?.captures.find(candidate => candidate.capture === place.capture);
  const device = capture?.devices[place.device];
  // A JAX capture has a plan to show even where nothing of an allocator was recorded.
  if (device === undefined && get().session?.jax.has(place.capture) !== true) return;
  const view = device === undefined ? {from: 0, to: 1} : firstView(device);
  const shown = get().place;
  if (shown?.capture === place.capture && shown.device === place.device) set({view});
  else set({...NO_PLACE, ...tabFor(capture?.kind, shown === null), place, view, layout: {...get().layout, scroll: 0}});
}

/** The tab to begin with: what filled the memory, before a list of captures; and where the open one belongs to the other kind of capture. */
function tabFor(kind: string | undefined, isFirst: boolean): Partial<State> {
  const {tab} = get();
  if (isFirst && kind !== 'xplane' && tab === 'captures') return {tab: 'peak'};
  if (kind === 'xplane') return OF_JAX.has(tab) || tab === 'quality' ? {} : {tab: 'buffers'};
  return OF_JAX.has(tab) ? {tab: 'peak'} : {};
}

/** The files behind the paths, each asked for once. */
class Files {
  #files = new Map<number, Promise<File>>();

  constructor(private readonly opened: Opened[]) {}

  get(index: number): Promise<File> {
    let file = this.#files.get(index);
    if (file === undefined) {
      file = this.opened[index]?.file() ?? Promise.reject(new Error(`no path ${index}`));
      this.#files.set(index, file);
    }
    return file;
  }

  async listed(index: number): Promise<ListedFile> {
    return {path: this.#path(index), file: await this.get(index)};
  }

  /** A file without which its capture cannot be read: of several it is told which one is at fault. */
  async needed(index: number): Promise<ListedFile> {
    return this.listed(index).catch(error => { throw new Error(`${this.#path(index)}: ${String(error)}`); });
  }

  #path(index: number): string {
    return this.opened[index]?.path ?? '';
  }

  /** A file that can be done without. */
  async maybe(index: number | null | undefined): Promise<ListedFile | null> {
    if (index === null || index === undefined) return null;
    return this.listed(index).catch(error => {
      notify('warning', t => t.fileFailed(this.#path(index), String(error)));
      return null;
    });
  }
}

async function askSizes(items: Item[], files: Files, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < items.length && !signal.aborted; at += SIZES_AT_ONCE) {
    const wanted = items.slice(at, at + SIZES_AT_ONCE).flatMap(bigFiles);
    const sizes = await Promise.all(wanted.map(async index => [index, (await files.listed(index).catch(() => null))?.file.size ?? 0] as const));
    if (!signal.aborted) patch(session => ({sizes: new Map([...session.sizes, ...sizes])}));
  }
}


function patch(change: (session: Session) => Partial<Session>): void {
  const session = get().session;
  if (session !== null) set({session: {...session, ...change(session)}});
}

function patchScan(index: number, change: Partial<Scan>): void {
  patch(session => ({scans: session.scans.map((scan, i) => i === index ? {...scan, ...change} : scan)}));
}

/** Its columns are gone; the files are not. */
function engineDied(message: string): void {
  reading.abort();
  patch(session => ({
    lost: true,
    readingSince: null,
    scans: session.scans.map(scan => scan.phase === 'done' || scan.phase === 'failed' ? scan : {...scan, phase: 'cancelled'}),
  }));
  set({frame: null, overview: null, hover: null, hoverDetail: null});
  const {session, walked} = get();
  const again = session !== null && walked === null && recoveries < MOST_RECOVERIES;
  if (again) {
    recoveries += 1;
    notify('warning', t => t.engineRecovers(message));
    void readAgain(session);
  } else {
    notify('error', t => t.engineDied(message), session !== null && walked === null);
  }
  void startEngine();
}

export function ignoreEnded(error: unknown): void {
  if (!(error instanceof EngineEnded)) console.error(error);
}
