// Keeps the drawn frames in step with the state: whenever the view needs another picture, the engine is asked for it.
import type {BlockDetail, ViewRequest} from '../target/plain/pkg/oomscope';
import {blockAt} from './bars';
import {laneCss, lanePx, plotPx} from './lanes';
import {newest} from './newest';
import type {Frame} from './protocol';
import {engine, ignoreEnded} from './session';
import type {Place, State} from './state';
import {deviceAt, get, nsAt, set} from './state';
import {reveal} from './window';

/** Lanes above and below the visible ones, so that a small scroll shows bars at once. */
const SPARE_LANES = 6;
const MOST_DETAILS = 2000;

let askedFrame = '';
let askedOverview = '';

const askFrame = newest<ViewRequest, Frame>(
  request => engine.call('frame', [request]),
  (frame, request) => {
    if (!isShown(request)) return;
    set({frame, frameLane: request.lanes[0] ?? 0});
    hoverAgain();
  },
  ignoreEnded,
);

const askOverview = newest<ViewRequest, Frame>(
  request => engine.call('frame', [request]),
  (overview, request) => {
    if (isShown(request)) set({overview});
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
  const key = JSON.stringify(request);
  if (key !== askedFrame) {
    askedFrame = key;
    askFrame(request);
  }
  const whole: ViewRequest = {...request, from_ns: 0, to_ns: Math.max(1, deviceAt(s)?.end_ns ?? 1), lanes: [], selected: undefined};
  const wholeKey = JSON.stringify([whole.capture, whole.device, whole.width_px, whole.lines]);
  if (wholeKey === askedOverview) return;
  askedOverview = wholeKey;
  askOverview(whole);
}

function frameRequest(s: State): ViewRequest | null {
  const device = deviceAt(s);
  const width = plotPx(s);
  if (device === null || s.place === null || s.session?.lost !== false || width <= 0) return null;
  const height = laneCss(s.layout.ratio);
  const first = Math.max(0, Math.floor(s.layout.scroll / height / SPARE_LANES) * SPARE_LANES - SPARE_LANES);
  const last = Math.min(device.lanes.length, first + Math.ceil(s.layout.lanes / height) + 3 * SPARE_LANES);
  return {
    ...s.place,
    from_ns: s.view.from,
    to_ns: s.view.to,
    width_px: width,
    lanes: Array.from({length: Math.max(0, last - first)}, (_, i) => first + i),
    lane_px: lanePx(s.layout.ratio),
    palette: s.theme.palette,
    selected: s.pinned ?? undefined,
    outline: s.theme.outline,
    lines: s.lines,
  };
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

const askPinned = newest<BlockQuestion, BlockDetail>(askBlock, (detail, question) => {
  if (!isShown(question) || get().pinned !== question.block) return;
  set({detail});
  reveal(detail.start_ns, detail.start_ns + detail.duration_ns);
  revealLane(detail.lane);
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
  const block = blockAt(s, nsAt(s, s.hover.plotX), s.hover.plotY);
  if (block === s.hover.block) return;
  set({hover: {...s.hover, block}});
  hoverBlock(block);
}

export function pin(block: number | null): void {
  const {place, detail, session, nearest} = get();
  set({pinned: block, detail: detail?.block === block ? detail : null});
  if (block !== null && place !== null && session?.lost === false) askPinned({...place, block, nearest});
}

/** The engine knows more of the blocks than when it was asked. */
export function forgetDetails(): void {
  details.clear();
  const {place, pinned, session, nearest} = get();
  if (pinned !== null && place !== null && session?.lost === false) askPinned({...place, block: pinned, nearest});
}

/** Scrolls a lane into sight. */
export function revealLane(lane: number): void {
  const {layout} = get();
  const height = laneCss(layout.ratio);
  const top = lane * height;
  if (top >= layout.scroll && top + height <= layout.scroll + layout.lanes) return;
  set({layout: {...layout, scroll: Math.max(0, top - layout.lanes / 2)}});
}
