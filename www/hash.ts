// The view in the address, behind the #: numbers and words of this page, never a word of the files. The browser's own back and forward thus
// go through the views. Only the hash changes, so it works from file:// too.
import type {BlockFilter, By, Colouring} from '../target/plain/pkg/oomscope';
import type {GanttView, LaneSort} from './gantt';
import {COLOURINGS, LANE_SORTS, OF_ASCEND, viewsOf} from './gantt';
import {savedView} from './embedded';
import {pinInView} from './frames';
import type {Opened} from './open';
import {PARAMETERS} from './parameters';
import {show} from './place';
import type {ScanPhase, State, Tab} from './state';
import {deviceAt, get, lengthOf, set} from './state';
import {restore} from './window';

/** A view that rests so long is worth a way back to it. */
const RESTS_MS = 700;

const TABS = new Set<string>(['captures', 'cursor', 'peak', 'between', 'end', 'growth', 'top', 'sizes', 'reserve', 'blocks', 'flame', 'ranks', 'quality',
  'buffers', 'live_start', 'between_runs', 'executions', 'modules', 'allocators', 'hosts'] satisfies Tab[]);
const BYS = new Set<string>(['operator', 'stack', 'user-frame', 'stream', 'size-class'] satisfies By[]);

/** Whether every capture is there: by its place among all of them a capture is the same whenever these files are opened. */
const isComplete = ({session}: State): boolean => session !== null && !session.lost && session.scans.every(({phase}) => !COMING.has(phase));

const COMING = new Set<ScanPhase>(['waiting', 'reading', 'building']);

/** The hash of a view; null where there is none. */
function hashOf(s: State): string | null {
  const device = deviceAt(s);
  if (device === null || s.place === null || s.session === null || !isComplete(s)) return null;
  const {place, view} = s;
  const parts = new Map<string, string | number>();
  parts.set('on', `${s.session.captures.findIndex(({capture}) => capture === place.capture)}.${place.device}`);
  if (view.from !== 0 || view.to !== lengthOf(device)) parts.set('ns', `${view.from}-${view.to}`);
  if (s.gantt !== 'operator') parts.set('rows', s.gantt);
  if (s.laneSort !== 'peak') parts.set('sort', s.laneSort);
  if (s.colouring !== 'operator') parts.set('colour', s.colouring);
  if (s.by !== 'operator') parts.set('by', s.by);
  parts.set('tab', s.tab);
  if (s.pinned !== null) parts.set('block', s.pinned);
  if (s.nearest) parts.set('guess', 1);
  for (const [part, value] of filterParts(s.blockFilter)) parts.set(part, value);
  for (const [key, ns] of [['cursor', s.cursor], ['a', s.a], ['b', s.b]] as const) if (ns !== null) parts.set(key, ns);
  return `#${[...parts].map(([key, value]) => `${key}=${value}`).join('&')}`;
}

/** The filter's conditions that are numbers. A text that somebody looks for is a word of the files. */
const NUMBERS: Record<Exclude<keyof BlockFilter, 'text' | 'unreleased' | 'beneath'>, string> = {
  operator: 'op', user_frame: 'frame', stack: 'stack', stream: 'stream', min_bytes: 'min', max_bytes: 'max', size_class_bytes: 'class',
  min_lifetime_ns: 'lives', max_lifetime_ns: 'dies', alive_at_ns: 'alive',
};
const NUMBERED = Object.entries(NUMBERS) as [keyof typeof NUMBERS, string][];

function filterParts(filter: BlockFilter): [string, string | number][] {
  const parts: [string, string | number][] = [];
  for (const [key, name] of NUMBERED) {
    const value = filter[key];
    if (value !== undefined && value !== null) parts.push([name, value]);
  }
  if (filter.beneath !== undefined && filter.beneath !== null) parts.push(['beneath', `${filter.beneath.stack}.${filter.beneath.frames}`]);
  if (filter.unreleased === true) parts.push(['open', 1]);
  return parts;
}

/** The engine counts names in 32 bits. */
const MOST_NAMES = 2 ** 32;
const NAMES = new Set<keyof BlockFilter>(['operator', 'user_frame', 'stack', 'stream']);

function filterOf(parts: ReadonlyMap<string, string>, number: (key: string) => number | null): BlockFilter {
  const filter: BlockFilter = {};
  for (const [key, name] of NUMBERED) {
    const value = number(name);
    if (value !== null && (!NAMES.has(key) || value < MOST_NAMES)) filter[key] = value;
  }
  const [, stack, frames] = /^(\d{1,9})\.(\d{1,5})$/.exec(parts.get('beneath') ?? '') ?? [];
  if (stack !== undefined && frames !== undefined) filter.beneath = {stack: Number(stack), frames: Number(frames)};
  if (parts.get('open') === '1') filter.unreleased = true;
  return filter;
}

/** What a part of a hash may be, where it is a word; null: numbers. */
const PARTS = new Map<string, ReadonlySet<string> | null>([
  ['tab', TABS], ['by', BYS], ['rows', new Set(OF_ASCEND)], ['sort', new Set(LANE_SORTS)], ['colour', new Set(COLOURINGS)],
  ...['on', 'ns', 'block', 'guess', 'cursor', 'a', 'b', 'beneath', 'open', ...Object.values(NUMBERS)].map(part => [part, null] as const),
]);

/** What no view has: a part that there is not, or a word that it cannot be. Null: nothing of that kind. */
export function wrongInView(view: string): string | null {
  for (const part of view === '' ? [] : view.split('&')) {
    const [name = '', value = ''] = part.split('=', 2);
    const words = PARTS.get(name);
    if (words === undefined) return `there is no "${name.slice(0, 40)}"; there are ${[...PARTS.keys()].join(', ')}`;
    if (words !== null && !words.has(value)) return `${name} cannot be "${value.slice(0, 40)}"; it can be ${[...words].join(', ')}`;
  }
  return null;
}

let written = '';
let timer = 0;
/** The hash of what is shown. */
export const currentHash = (): string => hashOf(get()) ?? '';

/** A hash that was there before the capture it speaks of: the address's, the embedding page's, that of a saved page. */
let wanted: string | null = [location.hash, PARAMETERS.view === null ? '' : `#${PARAMETERS.view}`, savedView()].find(hash => hash.length > 1) ?? null;

/** What the written hash speaks of. */
let opened: Opened[] | null = null;

/** The files whose saved view was taken. */
let viewed: Opened[] | null = null;

/** Called after each change of the state. */
export function syncHash(): void {
  const s = get();
  if (s.session !== null && s.session.opened !== opened) {
    opened = s.session.opened;
    written = '';
  } else if (s.session !== null && !isComplete(s) && written !== '') {
    // The same files are read again.
    wanted = written;
  }
  if (s.session !== null && s.session.savedView !== null && s.session.opened !== viewed) {
    viewed = s.session.opened;
    wanted ??= s.session.savedView;
  }
  if (wanted !== null && s.place !== null && isComplete(s)) {
    const hash = wanted;
    wanted = null;
    take(hash);
    return;
  }
  const hash = hashOf(s);
  if (hash === null || hash === written || wanted !== null) return;
  clearTimeout(timer);
  timer = setTimeout(write, RESTS_MS);
}

function write(): void {
  const hash = hashOf(get());
  if (hash === null || hash === written || wanted !== null) return;
  const first = written === '';
  written = hash;
  try {
    // The first view is the page as it was opened: no step back leads before it.
    if (first) history.replaceState(history.state, '', hash);
    else location.hash = hash;
  } catch {
    // An embedding page may forbid it: then there is no way back.
  }
}

export function listenToHash(): void {
  addEventListener('hashchange', () => {
    if (location.hash === written) return;
    written = location.hash;
    clearTimeout(timer);
    takeView(location.hash.slice(1));
  });
}

/** Shows a view, once there is what it speaks of. */
export function takeView(view: string): void {
  if (get().place === null || !isComplete(get())) wanted = `#${view}`;
  else take(`#${view}`);
}

/** What is shown, as it stands behind the #; null while that is still on its way. */
export const viewNow = (): string | null => wanted === null ? hashOf(get())?.slice(1) ?? null : null;

export const goBack = (): void => history.back();

export const goForward = (): void => history.forward();

/** Takes as much of a hash as makes sense here. */
function take(hash: string): void {
  const parts = new Map(hash.slice(1).split('&').map(part => part.split('=', 2) as [string, string]));
  const number = (key: string): number | null => {
    const text = parts.get(key);
    // Beyond 2^53 no number is the one that was written, and no i64 of the engine's takes it.
    return text !== undefined && /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
  };
  const on = /^(\d{1,6})\.(\d{1,6})$/.exec(parts.get('on') ?? '');
  const {place, session} = get();
  const wantedCapture = session?.captures[Number(on?.[1] ?? -1)];
  const device = Number(on?.[2] ?? 0);
  if (wantedCapture !== undefined && device < wantedCapture.devices.length && (place?.capture !== wantedCapture.capture || place.device !== device)) {
    show({capture: wantedCapture.capture, device});
  }
  const shown = deviceAt(get());
  if (shown === null) return;
  const instant = (key: string): number | null => {
    const ns = number(key);
    return ns !== null && ns <= shown.end_ns ? ns : null;
  };
  const rows = parts.get('rows') as GanttView | undefined;
  const sort = parts.get('sort') as LaneSort | undefined;
  const colour = parts.get('colour') as Colouring | undefined;
  const by = parts.get('by') ?? 'operator';
  const tab = parts.get('tab') ?? '';
  set({
    gantt: rows !== undefined && viewsOf(get()).includes(rows) ? rows : 'operator',
    laneSort: sort !== undefined && LANE_SORTS.includes(sort) ? sort : 'peak',
    colouring: colour !== undefined && COLOURINGS.includes(colour) ? colour : 'operator',
    by: BYS.has(by) ? by as By : 'operator',
    ...TABS.has(tab) ? {tab: tab as Tab, ownTab: null} : {},
    nearest: parts.get('guess') === '1',
    blockFilter: filterOf(parts, number),
    cursor: instant('cursor'),
    a: instant('a'),
    b: instant('b'),
  });
  const block = number('block');
  pinInView(block !== null && block < shown.blocks ? block : null);
  const ends = /^(\d{1,16})-(\d{1,16})$/.exec(parts.get('ns') ?? '');
  restore(Number(ends?.[1] ?? 0), Number(ends?.[2] ?? lengthOf(shown)));
  written = hashOf(get()) ?? '';
}
