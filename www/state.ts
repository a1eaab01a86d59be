// All that the page knows, in one object; the views are functions of it.
import type {
  BlockDetail, BlockFilter, BlockSort, By, CaptureSummary, ChosenAnswer, Colouring, ComparedCapture, ComparisonSummary, DeviceSummary, Difference, FoundMessage, LaneSummary, Line,
  LiveAnswer, RankRow, SearchAnswer, TopSort, XplaneReport,
} from '../target/plain/pkg/oomscope';
import type {BlockTable} from './blocks';
import type {GanttView, LaneSort} from './gantt';
import type {Locale, Messages} from './i18n';
import type {Host} from './isolation';
import {preferredLocale} from './i18n';
import {preferredBudget} from './memory';
import type {Opened} from './open';
import type {Answers} from './panels';
import type {Frame, HeapCurve} from './protocol';
import type {Saving} from './saved';
import type {Theme, ThemeChoice} from './theme';
import {preferredTheme, wear} from './theme';

/** A stretch of time, in nanoseconds since the capture's first event. */
export interface Range {
  from: number;
  to: number;
}

/** A worker has it, or will have it. */
export const isUnderWay = ({phase}: Scan): boolean => phase === 'waiting' || phase === 'reading' || phase === 'building' || phase === 'tracing';

export type ScanPhase = 'waiting' | 'reading' | 'building' | 'tracing' | 'done' | 'failed' | 'cancelled';

/** How far one found capture is. */
export interface Scan {
  phase: ScanPhase;
  bytesRead: number;
  reason: string;
}

/** What one drop opened. */
export interface Session {
  opened: Opened[];
  found: FoundMessage;
  scans: Scan[];
  /** Bytes of the opened files that matter, by their index; they come in while reading goes on. */
  sizes: ReadonlyMap<number, number>;
  captures: CaptureSummary[];
  /** The reports on the JAX captures, by the engine's number, each about the module that matters most. */
  jax: ReadonlyMap<number, XplaneReport>;
  /** How many executions each of them has in all: of many, its report has the last. */
  executions: ReadonlyMap<number, number>;
  /** All ranks and roles, of captures and of reports; null while the first of them are read. */
  comparison: ComparisonSummary | null;
  /** Performance clock at the start of reading, in ms; null once everything is read. */
  readingSince: number | null;
  /** The engine that held the columns ended. */
  lost: boolean;
  /** A person chose the device that is shown. */
  chosen: boolean;
  /** The hash of the view in which a page was saved that is all that was opened. */
  savedView: string | null;
}

/** The device that the charts show. */
export interface Place {
  capture: number;
  device: number;
}

/** A sentence, in whatever language the page has by then. */
export type Said = (t: Messages) => string;

export interface Notice {
  id: number;
  kind: 'error' | 'warning';
  text: Said;
  /** Offers to open the session's files again. */
  again: boolean;
}

/** What the pointer is over. */
export interface Hover {
  chart: 'trend' | 'lanes';
  /** In the plot, in CSS pixels: the pointer rests while the window of time moves beneath it. */
  plotX: number;
  plotY: number;
  /** On the page, in CSS pixels: where the tooltip goes. */
  x: number;
  y: number;
  block: number | null;
  /** Of a lane: how many further blocks live here; of a stack: what is here that is no block. */
  folded: number;
  small: boolean;
  baseline: boolean;
}

/** Sizes of the charts on screen. */
export interface Layout {
  ratio: number;
  /** Width of the column of lane names, left of the plot, and of the margin right of it, in CSS pixels. */
  gutter: number;
  margin: number;
  /** Width of the plot, in CSS pixels. */
  plot: number;
  /** Height of the visible part of the lanes, in CSS pixels. */
  lanes: number;
  scroll: number;
}

export type Tab = 'captures' | 'cursor' | 'peak' | 'between' | 'end' | 'growth' | 'top' | 'sizes' | 'reserve' | 'blocks' | 'flame' | 'ranks' | 'quality'
  | 'buffers' | 'live_start' | 'between_runs' | 'executions' | 'modules' | 'allocators' | 'hosts';

/** The tabs that only a JAX capture has. */
export const OF_JAX: ReadonlySet<Tab> = new Set(['buffers', 'live_start', 'between_runs', 'executions', 'modules', 'allocators', 'hosts']);

/** Which captures the page offers. */
export interface Filter {
  /** As typed: `0,2-5`. */
  ranks: string;
  role: string | null;
  /** Numbers of the captures; null: all. */
  taken: ReadonlySet<number> | null;
  /** The same, by their places in the comparison. */
  compared: ReadonlySet<number> | null;
  /** The list of ranks is none. */
  wrong: boolean;
}

/** Another page's wish to open files here. */
export interface Asked {
  /** null: it has none, being a file or in a sandbox. */
  origin: string | null;
  files: number;
  bytes: number;
  answer(yes: boolean): void;
}

export interface State {
  locale: Locale;
  theme: Theme;
  themeChoice: ThemeChoice;
  threads: number | null;
  /** What captures may take from the next opening on, in MiB, and what the engine takes, in bytes. */
  memoryBudget: number;
  memoryUsed: number | null;
  /** Whether the page may have threads, and why not. */
  host: Host;
  engineFailure: string | null;
  /** Paths seen so far while dropped folders are walked. */
  walked: number | null;
  dragging: boolean;
  asked: Asked | null;
  notices: Notice[];
  session: Session | null;
  /** The name of the file that was given to the browser last, for a while. */
  savedFile: string | null;
  /** A page is about to be saved. */
  saving: Saving | null;
  place: Place | null;
  view: Range;
  selection: Range | null;
  frame: Frame | null;
  overview: Frame | null;
  /** The page's own wasm draws the trend; false until it is there. */
  canDraw: boolean;
  layout: Layout;
  hover: Hover | null;
  hoverDetail: BlockDetail | null;
  pinned: number | null;
  detail: BlockDetail | null;
  /** What a key did since the block was pinned, for who does not see it. */
  said: Said | null;
  /** The lane of the pinned block in the view that is shown; null while it is asked for, or where it has none. */
  pinnedLane: {key: string; lane: number | null} | null;
  /** What the search found; null before it was asked. */
  hits: SearchAnswer | null;
  /** An instant that was clicked, and the two that are compared. */
  cursor: number | null;
  a: number | null;
  b: number | null;
  tab: Tab;
  /** The tab that the page opened on its own account, for want of charts: the next files begin without it. Null: a person chose. */
  ownTab: Tab | null;
  /** Two captures that are compared, by their places in the comparison's list, and what came of it. */
  pair: [number, number] | null;
  difference: Difference | null;
  /** The module of a JAX capture that was chosen; null: the one that matters most. */
  module: string | null;
  /** The report about that module. */
  jaxReport: {capture: number; report: XplaneReport} | null;
  /** The heap of the module that is shown. */
  heap: HeapCurve | null;
  /** How the panels group blocks. */
  by: By;
  /** Blocks without a call stack get the one of the last operator of their name: a guess. */
  nearest: boolean;
  topSort: {sort: TopSort; ascending: boolean};
  /** Only blocks that pass count; without a key: all. */
  blockFilter: BlockFilter;
  /** What passes it, and its words; `key`: of which question. Null: nothing is narrowed, or the engine has not said yet. */
  chosen: {key: string; value: ChosenAnswer} | null;
  /** The order of all blocks, and which of them are on screen. */
  blocks: {sort: BlockSort; ascending: boolean; from: number; count: number};
  /** What is known of them by now. */
  blockTable: BlockTable | null;
  flame: FlameView;
  /** So many rows of the open panel are shown. */
  rows: number;
  /** What the engine last said to each panel. */
  answers: Answers;
  /** The lines that ask for most of the peak; null until they are known. */
  peakLines: LiveAnswer | null;
  panelFailure: string | null;
  /** The further curves on the trend that are switched on. */
  lines: Switched[];
  filter: Filter;
  /** What the Gantt shows, and its lanes where they are not the operators. */
  gantt: GanttView;
  laneSet: {key: string; lanes: LaneSummary[] | null} | null;
  laneSort: LaneSort;
  /** A part of the names of the lanes that are wanted. */
  laneSearch: string;
  /** By `laneId`. */
  pinnedLanes: ReadonlySet<string>;
  hiddenLanes: ReadonlySet<string>;
  colouring: Colouring;
  /** What is looked for; null: the search is closed. */
  search: string | null;
  /** The list of keys is open. */
  keys: boolean;
  /** What the clipboard did not take, to be copied by hand. */
  byHand: string | null;
  /** The next allocation is wanted from so many MiB on. */
  leastMib: number;
}

/** What the flame graph shows. */
export interface FlameView {
  measure: 'peak' | 'cursor' | 'end' | 'volume';
  /** The frames down to the one that is as wide as all. */
  zoom: string[];
  search: string;
}

/** A curve that is shown when a person wants it. */
export type Switched = Exclude<Line, 'filtered'>;

export const ROWS_AT_FIRST = 200;
/** No list of groups that is asked for whole is longer. */
export const MOST_ROWS = 100_000;

export const NO_FILTER: Filter = {ranks: '', role: null, taken: null, compared: null, wrong: false};

/** What belongs to the device on screen, when it changes. */
export const NO_PLACE = {
  place: null, view: {from: 0, to: 1}, selection: null, frame: null, overview: null,
  hover: null, hoverDetail: null, pinned: null, detail: null, said: null, pinnedLane: null, hits: null, laneSet: null, laneSearch: '',
  cursor: null, a: null, b: null, rows: ROWS_AT_FIRST, answers: {}, peakLines: null, panelFailure: null, blockFilter: {}, chosen: null, blockTable: null, module: null, jaxReport: null, heap: null,
} satisfies Partial<State>;

let state: State = {
  ...NO_PLACE,
  locale: preferredLocale(),
  theme: wear(preferredTheme()),
  themeChoice: preferredTheme(),
  threads: null,
  memoryBudget: preferredBudget(),
  memoryUsed: null,
  host: 'plain',
  engineFailure: null,
  walked: null,
  dragging: false,
  asked: null,
  notices: [],
  session: null,
  savedFile: null,
  saving: null,
  canDraw: false,
  layout: {ratio: 1, gutter: 0, margin: 0, plot: 0, lanes: 0, scroll: 0},
  tab: 'captures',
  ownTab: null,
  by: 'operator',
  nearest: false,
  topSort: {sort: 'bytes', ascending: false},
  blocks: {sort: 'bytes', ascending: false, from: 0, count: 1},
  flame: {measure: 'peak', zoom: [], search: ''},
  lines: ['outside'],
  filter: NO_FILTER,
  pair: null,
  difference: null,
  gantt: 'operator',
  laneSort: 'peak',
  pinnedLanes: new Set(),
  hiddenLanes: new Set(),
  colouring: 'operator',
  search: null,
  keys: false,
  byHand: null,
  leastMib: 64,
};

const listeners = new Set<() => void>();

export const get = (): State => state;

export function set(patch: Partial<State>): void {
  state = {...state, ...patch};
  listeners.forEach(listener => listener());
}

export function subscribe(listener: () => void): void {
  listeners.add(listener);
}

export function patchSession(change: (session: Session) => Partial<Session>): void {
  if (state.session !== null) set({session: {...state.session, ...change(state.session)}});
}

export function patchScan(index: number, change: Partial<Scan>): void {
  patchSession(session => ({scans: session.scans.map((scan, i) => i === index ? {...scan, ...change} : scan)}));
}

let notices = 0;

export function notify(kind: Notice['kind'], text: Notice['text'], again = false): void {
  set({notices: [...state.notices, {id: notices++, kind, text, again}]});
}

export function dismiss(id: number): void {
  set({notices: state.notices.filter(notice => notice.id !== id)});
}

/** The instant at a place of the plot. */
export const nsAt = ({view, layout}: State, plotX: number): number => view.from + plotX / Math.max(1, layout.plot) * (view.to - view.from);

/** The instant under the pointer. */
export const hoverNs = (s: State): number | null => s.hover === null ? null : nsAt(s, s.hover.plotX);

export function captureAt(s: State): CaptureSummary | null {
  const place = s.place;
  if (place === null) return null;
  return s.session?.captures.find(capture => capture.capture === place.capture) ?? null;
}

/** Whether there is anything to show of a capture; of a JAX capture there may be plans alone. */
export const isUsable = ({jax}: Session, {capture, devices}: CaptureSummary): boolean => devices.length > 0 || jax.has(capture);

/** The report on the JAX capture that is shown, as it is known by now. */
export function jaxAt(s: State): XplaneReport | null {
  const {place, session, jaxReport} = s;
  if (place === null) return null;
  return jaxReport?.capture === place.capture ? jaxReport.report : session?.jax.get(place.capture) ?? null;
}

/** What only a report tells of: it has figures, and no curves. */
export interface Reported {
  capture: ComparedCapture;
  row: RankRow;
}

export function reportedOnly(session: Session): Reported[] {
  const {captures = [], comparison} = session.comparison ?? {};
  return (comparison?.ranks ?? []).flatMap(row => {
    const capture = captures[row.capture];
    return capture !== undefined && (capture.capture === null || capture.capture === undefined) ? [{capture, row}] : [];
  });
}

/** How many captures reports tell of, and how many reports these are. */
export function reportedCounts(session: Session): {captures: number; reports: number} {
  const told = new Set(reportedOnly(session).map(({capture}) => capture));
  return {captures: told.size, reports: new Set([...told].map(({report}) => report)).size};
}

/** Whether there is anything that an export could tell of. */
export const hasSomething = (session: Session): boolean => session.captures.length + session.found.reports.length + reportedCounts(session).captures > 0;

export function deviceAt(s: State): DeviceSummary | null {
  return s.place === null ? null : captureAt(s)?.devices[s.place.device] ?? null;
}

/** How much of the capture a wait for memory at its end may take without hiding the rest. */
const WAIT_MAY_TAKE = 0.5;
/** So much of it is shown then, as a part of what comes before. */
const OF_A_LONG_WAIT = 0.15;

/** The window to begin with: the whole capture, but for a long wait for memory at its end. */
export function firstView(device: DeviceSummary): Range {
  const end = lengthOf(device);
  const long = device.waits.find(({time_ns, duration_ns}) => time_ns > 0 && duration_ns > end * WAIT_MAY_TAKE);
  const to = long === undefined ? end : Math.min(end, Math.round(long.time_ns * (1 + OF_A_LONG_WAIT)));
  return {from: 0, to};
}

/** Whether the filter leaves anything out, perhaps. */
export const isNarrowed = ({blockFilter}: Pick<State, 'blockFilter'>): boolean => Object.keys(blockFilter).length > 0;

/** The further curves on the trend: with a filter, what it takes is one of them. */
export const linesOf = (s: State): Line[] => isNarrowed(s) ? [...s.lines, 'filtered'] : s.lines;

/** How long the device's charts are, in nanoseconds. */
export const lengthOf = (device: DeviceSummary): number => Math.max(1, device.end_ns);

/** Width of the charts in device pixels, before they are measured too. */
export const plotWidth = ({layout}: State): number => Math.max(300, Math.round(layout.plot * layout.ratio));

/** An allocator of JAX: what names its blocks is who made them, not an operator. */
export const ofJax = ({pool}: DeviceSummary): boolean => pool === '';
