// Keeps the open panel's figures in step with the state: whenever it needs other ones, the engine is asked for them.
import type {BetweenAnswer, CaptureSummary, FlameAnswer, FlameRequest, GroupedRequest, GrowthAnswer, HistogramAnswer, LiveAnswer, ReserveAnswer, TopAnswer} from '../target/plain/pkg/oomscope';
import {EngineEnded, engine, ignoreEnded} from './engine';
import {bytesOf, itemsOf} from './found';
import {forgetDetails} from './frames';
import {newest} from './newest';
import {reasonOf} from './reason';
import type {Session, State} from './state';
import {captureAt, deviceAt, get, hoverNs, set} from './state';

interface PanelAnswers {
  cursor: LiveAnswer;
  peak: LiveAnswer;
  end: LiveAnswer;
  between: BetweenAnswer;
  growth: GrowthAnswer;
  top: TopAnswer;
  sizes: HistogramAnswer;
  reserve: ReserveAnswer;
  flame: FlameAnswer | null;
}

type PanelTab = keyof PanelAnswers;

/** An answer with the question that it belongs to. */
export interface Answered<T> {
  key: string;
  value: T;
}

export type Answers = {[K in PanelTab]?: Answered<PanelAnswers[K]>};

interface Question {
  tab: PanelTab;
  /** Answers of another device are of no use. */
  scope: string;
  key: string;
  ask(): Promise<PanelAnswers[PanelTab]>;
}

/** The instant that "at cursor" tells: under the pointer, else the one that was clicked. */
export const cursorNs = (s: State): number | null => {
  const hovered = hoverNs(s);
  return hovered === null ? s.cursor : Math.round(hovered);
};

/** What the open panel wants to know; null where it needs nothing. */
function question(s: State): Question | null {
  const {place, tab, session} = s;
  const device = deviceAt(s);
  if (place === null || device === null || session?.lost !== false) return null;
  const {capture} = place;
  const stacks = captureAt(s)?.stacks ?? null;
  const scope = JSON.stringify([sessionNumber(session), capture, place.device]);
  const filter = s.blockFilter;
  const grouped: GroupedRequest = {...place, by: s.by, nearest: s.nearest, limit: s.rows, filter};
  const about = (tab: PanelTab, asked: unknown, ask: Question['ask']): Question => ({tab, scope, key: JSON.stringify([scope, stacks, asked]), ask});
  const live = (tab: PanelTab, time_ns: number | undefined, without: boolean): Question => {
    const request = {...grouped, time_ns, without};
    return about(tab, request, () => engine.call('live', [request]));
  };
  switch (tab) {
    case 'cursor': {
      const ns = cursorNs(s);
      return ns === null ? null : live(tab, ns, false);
    }
    case 'peak': return live(tab, device.peak.time_ns, true);
    case 'end': return live(tab, undefined, false);
    case 'between': {
      if (s.a === null || s.b === null) return null;
      const request = {...grouped, a_ns: s.a, b_ns: s.b};
      return about(tab, request, () => engine.call('between', [request]));
    }
    case 'growth': {
      const request: GroupedRequest = {...grouped, by: 'stack'};
      return about(tab, request, () => engine.call('growth', [request]));
    }
    case 'top': {
      const request = {...grouped, ...s.topSort};
      return about(tab, request, () => engine.call('top', [request]));
    }
    case 'sizes': {
      const request: GroupedRequest = {...grouped, by: 'size-class', limit: 0};
      return about(tab, request, () => engine.call('histograms', [request]));
    }
    case 'flame': {
      const request = flameRequest(s, grouped, device.peak.time_ns);
      return request === null ? null : about(tab, request, () => engine.call('flame', [request]));
    }
    case 'reserve': return about(tab, null, () => engine.call('reserve', [capture, place.device]));
    default: return null;
  }
}

/** Narrower than this, in device pixels, a frame cannot be seen. */
const NARROWEST_FRAME_PX = 1;
/** The flame graph's table. */
const FRAMES = 1000;

/** Null: there is no instant at the cursor. */
function flameRequest({flame: {measure, zoom, search}, cursor, layout}: State, grouped: GroupedRequest, peakNs: number): FlameRequest | null {
  const ns = measure === 'cursor' ? cursor : peakNs;
  if (ns === null) return null;
  const least = NARROWEST_FRAME_PX / Math.max(1, innerWidth * layout.ratio);
  return {...grouped, by: 'stack', limit: FRAMES, measure: measure === 'peak' || measure === 'cursor' ? 'live' : measure, time_ns: ns, zoom, search, least};
}

/** Whether an answer is the one to the state's question, and not to an earlier one. */
export const isCurrent = (s: State, answer: Answered<unknown>): boolean => question(s)?.key === answer.key;

let asked = '';
let knownStacks = '';

const ask = newest<Question, PanelAnswers[PanelTab]>(
  question => question.ask(),
  (value, {tab, scope, key}) => {
    if (question({...get(), tab})?.scope === scope) set({answers: {...get().answers, [tab]: {key, value}}, panelFailure: null});
  },
  error => {
    if (error instanceof EngineEnded) ignoreEnded(error);
    else set({panelFailure: reasonOf(error)});
  },
);

/** Called after each change of the state. */
export function syncPanels(): void {
  const s = get();
  const wanted = question(s);
  const key = wanted === null ? '' : `${wanted.tab} ${wanted.key}`;
  if (key !== asked) {
    asked = key;
    if (wanted !== null && s.answers[wanted.tab]?.key !== wanted.key) ask(wanted);
  }
  // What was said of blocks before lacks what the trace says of them, or the guess.
  const stacks = JSON.stringify([s.place, captureAt(s)?.stacks ?? null, s.nearest]);
  if (stacks === knownStacks) return;
  knownStacks = stacks;
  forgetDetails();
}

let sessions = 0;
let lastSession: unknown = null;

/** Sessions are told apart by the files that were opened. */
function sessionNumber(session: Session): number {
  if (session.opened !== lastSession) {
    lastSession = session.opened;
    sessions++;
  }
  return sessions;
}

/** Whether a trace belongs to the capture, read or not. */
export function hasTrace(session: Session | null, capture: CaptureSummary | null): boolean {
  const item = session === null ? undefined : itemsOf(session.found).find(({source}) => source === capture?.source);
  return item?.kind === 'ascend' && (item.capture.trace ?? null) !== null;
}

/** How much of a capture's files is read while its trace is; null before and after. */
export function traceShare(session: Session | null, capture: CaptureSummary | null): number | null {
  const items = session === null ? [] : itemsOf(session.found);
  const index = items.findIndex(item => item.source === capture?.source);
  const scan = session?.scans[index];
  const item = items[index];
  if (session === null || scan === undefined || item?.kind !== 'ascend' || scan.phase !== 'tracing' || item.capture.trace === undefined || item.capture.trace === null) return null;
  const total = bytesOf(item, session.sizes);
  return total > 0 ? Math.min(1, scan.bytesRead / total) : 0;
}
