// The course of things from a drop to charts: list, discover, scan each capture in a worker, let the engine build, show.
import type {FoundMessage} from '../target/plain/pkg/oomscope';
import type {Builder} from './builder';
import {isBuilding, jaxReports, startBuilding, stopBuilding, take} from './builder';
import {entitle, savedSession} from './embedded';
import {EngineEnded, engine, ignoreEnded} from './engine';
import {nothingFound} from './explain';
import {Files, askSizes, eachOf, firstBytes} from './files';
import type {Item} from './found';
import {allFiles, itemsOf} from './found';
import {bytesOfBudget} from './memory';
import {whatIsOpen} from './names';
import type {Dropped, Opened, Walk} from './open';
import {DEEPEST, MOST_PATHS, atHand, picked, sample, walk} from './open';
import {forgetOwnTab, showWithoutCharts} from './place';
import type {MemoryPart, ScanInput} from './protocol';
import {REPORT_TOP} from './protocol';
import {reasonOf} from './reason';
import type {Job} from './scanner';
import {scanAll} from './scanner';
import type {Scan, Session} from './state';
import {NO_FILTER, NO_PLACE, get, isUnderWay, notify, patchScan, patchSession, set} from './state';

/** So many files that could not be looked into are named. */
const MOST_FAILURES = 3;
/** So often an engine that ended is started anew with the files that a person opened; then the files, or what is asked of them, end it. */
const MOST_RECOVERIES = 2;
/** So much memory of the engine is given back when other files are opened. */
const WORTH_FREEING = 64 * 2 ** 20;

engine.whenItEnds(engineEnded);

let opening = new AbortController();
let reading = new AbortController();

export async function startEngine(): Promise<void> {
  try {
    set({threads: await engine.start(), engineFailure: null});
  } catch (error) {
    if (error instanceof EngineEnded) return;
    set({engineFailure: reasonOf(error)});
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
    stopBuilding();
    forgetOwnTab();
    set({...NO_PLACE, session: {...freshSession(SAVED, NO_FILES), readingSince: null}});
    take([], captures, jax);
    await tellMemory();
    await compare(reading.signal);
    if (mine.signal.aborted) return;
    showWithoutCharts();
    entitle(whatIsOpen(get()));
  } catch (error) {
    if (!(error instanceof EngineEnded)) notify('error', t => t.savedFailed(reasonOf(error)));
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
    if (!signal.aborted && !(error instanceof EngineEnded)) notify('error', t => t.openFailed(reasonOf(error)));
  } finally {
    if (opening === mine) set({walked: null});
  }
}

/** Stops what is under way; what is ready stays. */
export function cancel(): void {
  opening.abort();
  reading.abort();
  patchSession(session => ({
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
    const first = await opened[index]?.file().then(file => firstBytes(file, found.sniffed_bytes)).catch(error => void result.failed.push([index, reasonOf(error)]));
    if (first === undefined) return;
    const kind = await engine.call('sniff', [first]);
    if (kind !== undefined && kind !== null) result[LISTS[kind]].push(index);
  });
  signal.throwIfAborted();
  // Looks end in any order.
  result.pages.sort((a, b) => a - b);
  return result;
}

function begin(opened: Opened[], found: FoundMessage, looked: Sniffed): void {
  const items = itemsOf(found);
  reading.abort();
  reading = new AbortController();
  clearEngine();
  entitle(null);
  forgetOwnTab();
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

/**
 * A build can take seconds: an engine in the middle of one is replaced, not waited for. So is one that took much memory, which is WebAssembly's and
 * never shrinks.
 */
function clearEngine(): void {
  if (isBuilding() || (get().memoryUsed ?? 0) > WORTH_FREEING) {
    engine.stop();
    set({memoryUsed: null});
    void startEngine();
  } else {
    engine.call('clear', []).catch(ignoreEnded);
  }
}

async function read(found: FoundMessage, {reports, pages, unread}: Sniffed, files: Files, signal: AbortSignal): Promise<void> {
  const items = itemsOf(found);
  const mine = startBuilding(items);
  await readReports(reports, files, signal, file => file.arrayBuffer());
  await readReports(unread, files, signal, async file => (await firstBytes(file, found.sniffed_bytes)).buffer as ArrayBuffer);
  const onlyPage = items.length + reports.length === 0 && pages.length === 1;
  // One after the other: each is large.
  for (const page of pages) if (!signal.aborted) await readPage(page, files, mine, onlyPage);
  if (reports.length + pages.length + unread.length > 0) await compare(signal);
  const memory = await parts(items, files, signal);
  await scanAll(items.map((item, index) => job(item, index, files, memory[index] ?? WITHOUT_FILES, mine)), signal);
  await mine.finished();
  if (!mine.isCurrent) return;
  await tellMemory();
  await compare(signal);
  if (!mine.isCurrent) return;
  if (!signal.aborted) showWithoutCharts();
  patchSession(() => ({readingSince: null}));
  tellFolded();
}

async function readReports(indices: number[], files: Files, signal: AbortSignal, take: (file: File) => Promise<ArrayBuffer>): Promise<void> {
  await eachOf(indices, signal, async index => {
    const listed = await files.maybe(index);
    if (listed === null) return;
    const bytes = await take(listed.file).catch(error => void notify('warning', t => t.fileFailed(listed.path, reasonOf(error))));
    if (bytes && !signal.aborted) await engine.call('add_report', [listed.path, new Uint8Array(bytes)], [bytes]).catch(ignoreEnded);
  });
}

/** Takes the captures of a saved page; its view, too, where it is all there is. */
async function readPage(index: number, files: Files, mine: Builder, withView: boolean): Promise<void> {
  const listed = await files.maybe(index);
  if (listed === null) return;
  try {
    const bytes = await listed.file.arrayBuffer();
    if (!mine.isCurrent) return;
    const {captures, view} = await engine.call('add_page', [listed.path, new Uint8Array(bytes)], [bytes]);
    const jax = await jaxReports(captures);
    if (!mine.isCurrent) return;
    if (withView && view !== '') patchSession(() => ({savedView: view}));
    take([], captures, jax);
  } catch (error) {
    if (mine.isCurrent && !(error instanceof EngineEnded)) notify('warning', t => t.fileFailed(listed.path, reasonOf(error)));
  }
}

/** Of what had no room the totals are right and the names are gone: who looks at the charts alone would not see it. */
function tellFolded(): void {
  const devices = get().session?.captures.flatMap(capture => capture.devices) ?? [];
  const folded = devices.reduce((sum, device) => sum + (device.folded?.blocks ?? 0), 0);
  const all = devices.reduce((sum, device) => sum + device.blocks, 0);
  if (folded > 0) notify('warning', t => t.blocksFolded(folded, all), true);
}

/** Lets the engine compare all that it has by now. */
async function compare(signal: AbortSignal): Promise<void> {
  const comparison = await engine.call('comparison', [REPORT_TOP]).catch(error => void ignoreEnded(error));
  if (comparison && !signal.aborted) patchSession(() => ({comparison}));
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

/** Its columns are gone; the files are not. */
function engineEnded(message: string): void {
  reading.abort();
  patchSession(session => ({
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
