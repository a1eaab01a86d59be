// Keeps the drawn frames in step with the state: whenever the view needs another picture, the engine is asked for it.
import type {BlockDetail, LanesAnswer, ViewRequest} from '../target/plain/pkg/oomscope';
import {blockAt, placeOfLane, spotAt} from './bars';
import {engine, ignoreEnded} from './engine';
import {chooseGantt, ganttRequest, isLanes, laneId, laneSetKey, lanesOf, viewsOf} from './gantt';
import {plotPx, rowCss} from './lanes';
import {newest} from './newest';
import type {Frame} from './protocol';
import {BASELINE, SMALL_BLOCKS} from './protocol';
import type {Hover, Place, State} from './state';
import {captureAt, deviceAt, get, isNarrowed, linesOf, nsAt, set} from './state';
import {reveal} from './window';

const MOST_DETAILS = 2000;

let askedFrame = '';
let pictures = 0;
let askedOverview = '';

const askFrame = newest<ViewRequest, Frame>(
  request => engine.call('frame', [request]),
  (frame, request) => {
    if (!isShown(request)) return;
    set({frame: {...frame, gantt: request.gantt ?? null, nearest: request.nearest, picture: ++pictures}});
    hoverAgain();
  },
  ignoreEnded,
);

const askOverview = newest<ViewRequest, Frame>(
  request => engine.call('frame', [request]),
  (overview, request) => {
    if (isShown(request)) set({overview: {...overview, gantt: null, nearest: request.nearest}});
  },
  ignoreEnded,
);

const isShown = ({capture, device}: Place): boolean => {
  const {place} = get();
  return place !== null && place.capture === capture && place.device === device;
};

/** Called after each change of the state. */
export function syncFrames(): void {
  const s = get();
  const request = frameRequest(s);
  if (request === null) {
    askedFrame = askedOverview = '';
    return;
  }
  // A filter may ask for stacks, which come when the trace is read.
  const stacks = isNarrowed(s) ? captureAt(s)?.stacks ?? null : null;
  const key = JSON.stringify([request, stacks]);
  if (key !== askedFrame) {
    askedFrame = key;
    askFrame(request);
  }
  const whole: ViewRequest = {...request, from_ns: 0, to_ns: Math.max(1, deviceAt(s)?.end_ns ?? 1), gantt: undefined};
  const wholeKey = JSON.stringify([whole.capture, whole.device, whole.width_px, whole.lines, whole.filter, isNarrowed(s) && whole.nearest, stacks]);
  if (wholeKey === askedOverview) return;
  askedOverview = wholeKey;
  askOverview(whole);
}

/** The picture that the state needs; null while there is nothing to ask for. */
export function frameRequest(s: State): ViewRequest | null {
  const width = plotPx(s);
  if (deviceAt(s) === null || s.place === null || s.session?.lost !== false || width <= 0) return null;
  const {palette, ramp, outline, density, total, baseline} = s.theme;
  return {
    ...s.place,
    from_ns: s.view.from,
    to_ns: s.view.to,
    width_px: width,
    filter: s.blockFilter,
    nearest: s.nearest,
    lines: linesOf(s),
    gantt: ganttRequest(s) ?? undefined,
    paint: {colouring: s.colouring, palette, ramp, selected: s.pinned ?? undefined, outline, density, total, baseline},
  };
}

interface LanesQuestion extends Place {
  key: string;
}

const askLanes = newest<LanesQuestion, LanesAnswer>(
  ({capture, device}) => {
    const {gantt, nearest} = get();
    return isLanes(gantt) ? engine.call('lanes', [capture, device, gantt, nearest]) : Promise.resolve({lanes: null});
  },
  ({lanes}, {key}) => {
    if (laneSetKey(get()) === key) set({laneSet: {key, lanes: lanes ?? null}});
  },
  ignoreEnded,
);

const askPinnedLane = newest<LanesQuestion & {block: number}, number | undefined>(
  ({capture, device, block}) => {
    const {gantt, nearest} = get();
    return isLanes(gantt) ? engine.call('lane_of', [capture, device, gantt, nearest, block]) : Promise.resolve(undefined);
  },
  (lane, {key}) => {
    if (pinnedKey(get()) !== key) return;
    set({pinnedLane: {key, lane: lane ?? null}});
    if (lane !== undefined && lane !== null) revealRow(lane);
  },
  ignoreEnded,
);

const pinnedKey = (s: State): string => `${s.pinned} ${laneSetKey(s)}`;

let askedLanes = '';
let askedPinnedLane = '';

/** Called after each change of the state: the lanes of the view, and the one on which the pinned block lies. */
export function syncLanes(): void {
  const s = get();
  const {place, gantt, pinned, session} = s;
  if (place === null || session?.lost !== false || !isLanes(gantt)) {
    askedLanes = askedPinnedLane = '';
    return;
  }
  if (!viewsOf(s).includes(gantt)) return chooseGantt('operator');
  const key = laneSetKey(s);
  if (gantt !== 'operator' && key !== askedLanes && s.laneSet?.key !== key) {
    askedLanes = key;
    askLanes({...place, key});
  }
  const lane = pinnedKey(s);
  if (pinned === null || lane === askedPinnedLane || s.pinnedLane?.key === lane) return;
  askedPinnedLane = lane;
  askPinnedLane({...place, key: lane, block: pinned});
}

interface BlockQuestion extends Place {
  block: number;
  nearest: boolean;
}

const details = new Map<string, BlockDetail>();
let detailsOf: unknown = null;

async function askBlock({capture, device, block, nearest}: BlockQuestion): Promise<BlockDetail> {
  const session = get().session?.opened;
  if (session !== detailsOf || details.size > MOST_DETAILS) details.clear();
  detailsOf = session;
  const key = `${capture} ${device} ${block} ${nearest}`;
  const known = details.get(key);
  if (known !== undefined) return known;
  const detail = await engine.call('block', [capture, device, block, nearest]);
  details.set(key, detail);
  return detail;
}

const askHovered = newest<BlockQuestion, BlockDetail>(askBlock, (hoverDetail, question) => {
  if (isShown(question) && get().hover?.block === question.block) set({hoverDetail});
}, ignoreEnded);

/** The block that the window goes to, once it is known where it lies. */
let toReveal: number | null = null;

const askPinned = newest<BlockQuestion, BlockDetail>(askBlock, (detail, question) => {
  if (!isShown(question) || get().pinned !== question.block) return;
  set({detail});
  if (toReveal !== question.block) return;
  toReveal = null;
  reveal(detail.start_ns, detail.start_ns + detail.duration_ns);
}, ignoreEnded);

export function hoverBlock(block: number | null): void {
  const {place, hoverDetail, session, nearest} = get();
  if (block === null || hoverDetail?.block !== block) set({hoverDetail: null});
  if (block !== null && place !== null && session?.lost === false && hoverDetail?.block !== block) askHovered({...place, block, nearest});
}

/** Another picture came beneath the resting pointer. */
function hoverAgain(): void {
  const s = get();
  if (s.hover?.chart !== 'lanes') return;
  const hover = {...s.hover, ...overAt(s, nsAt(s, s.hover.plotX), s.hover.plotY)};
  if (hover.block === s.hover.block && hover.folded === s.hover.folded) return;
  set({hover});
  if (hover.block !== s.hover.block) hoverBlock(hover.block);
}

/** What a place of the lanes' picture holds. */
export function overAt(s: State, ns: number, y: number): Pick<Hover, 'block' | 'folded' | 'small' | 'baseline'> {
  const {block, folded} = spotAt(s, ns, y);
  return {block: blockAt(s, ns, y), folded, small: block === SMALL_BLOCKS, baseline: block === BASELINE};
}

/** The window goes to where the block can be seen. */
export function pin(block: number | null): void {
  toReveal = block;
  pinHere(block);
}

/** Another's view: the window stays as it is, wherever the block lies. */
export function pinInView(block: number | null): void {
  toReveal = null;
  pinHere(block);
}

function pinHere(block: number | null): void {
  const {place, detail, session, nearest} = get();
  set({pinned: block, said: null, detail: detail?.block === block ? detail : null});
  if (block !== null && place !== null && session?.lost === false) askPinned({...place, block, nearest});
}

/** The engine knows more of the blocks than when it was asked. */
export function forgetDetails(): void {
  details.clear();
  const {place, pinned, session, nearest} = get();
  if (pinned !== null && place !== null && session?.lost === false) askPinned({...place, block: pinned, nearest});
}

/** Scrolls an operator's lane into sight, in the view that has them. */
export function revealLane(lane: number): void {
  chooseGantt('operator');
  revealRow(lane);
}

/** Scrolls a lane of the view into sight, also one that was hidden or not looked for. */
function revealRow(lane: number): void {
  const s = get();
  const found = lanesOf(s)[lane];
  if (placeOfLane(s, lane) === null && found !== undefined) {
    const id = laneId(s.gantt, found);
    set({laneSearch: '', hiddenLanes: new Set([...s.hiddenLanes].filter(hidden => hidden !== id))});
  }
  const {layout} = get();
  const place = placeOfLane(get(), lane);
  if (place === null) return;
  const height = rowCss(get());
  const top = place * height;
  if (top >= layout.scroll && top + height <= layout.scroll + layout.lanes) return;
  set({layout: {...layout, scroll: Math.max(0, top - layout.lanes / 2)}});
}
