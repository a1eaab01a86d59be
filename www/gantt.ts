// The views of the Gantt: what its rows are, and in which order.
import type {By, Colouring, Gantt, LaneSummary, PlaceMessage} from '../target/plain/pkg/oomscope';
import {size} from './format';
import {messagesOf} from './i18n';
import {rowCss, rowPx} from './lanes';
import type {State} from './state';
import {captureAt, deviceAt, get, ofJax, set} from './state';

/** Lanes by what blocks have in common; or the ranks' totals, a row for each block, blocks stacked by size. */
export type GanttView = By | 'ranks' | 'blocks' | 'stacked';

export type LaneSort = 'peak' | 'name' | 'first';

export const LANE_SORTS: LaneSort[] = ['peak', 'name', 'first'];
export const COLOURINGS: Colouring[] = ['operator', 'size', 'lifetime', 'age'];

/** Rows above and below the visible ones, so that a small scroll shows bars at once. */
const SPARE_ROWS = 6;

export const OF_ASCEND: GanttView[] = ['operator', 'user-frame', 'stack', 'stream', 'size-class', 'ranks', 'blocks', 'stacked'];
const OF_JAX: GanttView[] = ['operator', 'size-class', 'ranks', 'blocks', 'stacked'];

/** The views that the device on screen can have. */
export function viewsOf(s: State): GanttView[] {
  const device = deviceAt(s);
  if (device === null) return [];
  return (ofJax(device) ? OF_JAX : OF_ASCEND).filter(view => view !== 'ranks' || ranksOf(s).length > 1);
}

export const isLanes = (view: GanttView): view is By => view !== 'ranks' && view !== 'blocks' && view !== 'stacked';

/** The steps of the ramp, as the engine has them; the last one has no end. */
const SIZES = [...Array.from({length: 7}, (_, step) => size(4096 * 8 ** step)), ''];
const TIMES = ['1 µs', '10 µs', '100 µs', '1 ms', '10 ms', '100 ms', '1 s', ''];

/** Up to where the colours of blocks go, one after the other; null where operators have hues. */
export function rampOf({colouring, gantt}: State): string[] | null {
  if (colouring === 'operator' || gantt === 'ranks') return null;
  return colouring === 'size' ? SIZES : TIMES;
}

/** What tells the lanes of one view from those of another. */
export const laneSetKey = (s: State): string => JSON.stringify([s.place, s.gantt, s.nearest, captureAt(s)?.stacks ?? null]);

/** The lanes of the view, by the engine's numbers; none while they are asked for. */
export function lanesOf(s: State): LaneSummary[] {
  if (s.gantt === 'operator') return deviceAt(s)?.lanes ?? NO_LANES;
  return s.laneSet?.key === laneSetKey(s) ? s.laneSet.lanes ?? NO_LANES : NO_LANES;
}

const NO_LANES: LaneSummary[] = [];
const NO_ORDER: number[] = [];

/** By what a lane is pinned or hidden: the same in every capture. */
export const laneId = (view: GanttView, lane: LaneSummary): string => `${view}\n${lane.name}\n${lane.stack.join('\n')}`;

let ordered: {of: unknown[]; lanes: number[]} | null = null;

/** The numbers of the lanes that are shown, top to bottom. */
export function laneOrder(s: State): number[] {
  if (!isLanes(s.gantt)) return NO_ORDER;
  const lanes = lanesOf(s);
  const of = [lanes, s.gantt, s.laneSort, s.pinnedLanes, s.hiddenLanes, s.laneSearch, s.locale];
  if (ordered !== null && ordered.of.every((each, nth) => each === of[nth])) return ordered.lanes;
  const {unattributed} = messagesOf(s.locale);
  const wanted = s.laneSearch.toLowerCase();
  const name = (lane: number): string => lanes[lane]?.name || unattributed;
  const id = lanes.map(lane => laneId(s.gantt, lane));
  const shown = lanes.map((_, lane) => lane).filter(lane => {
    if (s.pinnedLanes.has(id[lane] ?? '')) return true;
    return !s.hiddenLanes.has(id[lane] ?? '') && (wanted === '' || name(lane).toLowerCase().includes(wanted));
  });
  if (s.laneSort === 'name') shown.sort((a, b) => name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b);
  if (s.laneSort === 'first') shown.sort((a, b) => (lanes[a]?.first_ns ?? 0) - (lanes[b]?.first_ns ?? 0) || a - b);
  const pinned = (lane: number): boolean => s.pinnedLanes.has(id[lane] ?? '');
  ordered = {of, lanes: [...shown.filter(pinned), ...shown.filter(lane => !pinned(lane))]};
  return ordered.lanes;
}

/** How many lanes of the view are hidden. */
export const hiddenCount = (s: State): number => isLanes(s.gantt) ? lanesOf(s).filter(lane => s.hiddenLanes.has(laneId(s.gantt, lane))).length : 0;

/** The devices whose totals are compared: of an Ascend capture, one pool of all ranks. */
export function ranksOf(s: State): PlaceMessage[] {
  const [capture, device] = [captureAt(s), deviceAt(s)];
  if (capture === null || device === null || s.session === null) return [];
  return s.session.captures
    .filter(({kind, capture: number}) => kind === capture.kind && (s.filter.taken === null || s.filter.taken.has(number)))
    .flatMap(({capture: number, devices}) => devices.map((each, nth) => ({pool: each.pool, place: {capture: number, device: nth}})))
    .filter(({pool}) => pool === device.pool)
    .map(({place}) => place);
}

/** How many rows there are to scroll through. */
export function rowCount(s: State): number {
  if (isLanes(s.gantt)) return laneOrder(s).length;
  if (s.gantt === 'ranks') return ranksOf(s).length;
  return s.gantt === 'blocks' ? Math.min(s.frame?.rows_most ?? 0, s.frame?.rows_total ?? 0) : 0;
}

/** The picture that the engine is asked for; null while there is nothing to ask for. */
export function ganttRequest(s: State): Gantt | null {
  const {ratio, lanes: visible, scroll} = s.layout;
  const height = rowCss(s);
  const first = Math.max(0, Math.floor(scroll / height / SPARE_ROWS) * SPARE_ROWS - SPARE_ROWS);
  const count = Math.ceil(visible / height) + 3 * SPARE_ROWS;
  const lane_px = rowPx(s);
  if (isLanes(s.gantt)) return {kind: 'lanes', by: s.gantt, lanes: laneOrder(s).slice(first, first + count), lane_px};
  if (s.gantt === 'ranks') return {kind: 'ranks', places: ranksOf(s), lane_px};
  if (s.gantt === 'blocks') return {kind: 'blocks', first, count, lane_px};
  const height_px = Math.round(visible * ratio);
  return height_px > 0 ? {kind: 'stack', height_px} : null;
}

export function chooseGantt(gantt: GanttView): void {
  if (gantt !== get().gantt) set({gantt, laneSearch: '', layout: {...get().layout, scroll: 0}, hover: null, hoverDetail: null});
}

function toggled(all: ReadonlySet<string>, id: string): Set<string> {
  const next = new Set(all);
  if (!next.delete(id)) next.add(id);
  return next;
}

export const pinLane = (id: string): void => set({pinnedLanes: toggled(get().pinnedLanes, id)});

export const hideLane = (id: string): void => set({hiddenLanes: toggled(get().hiddenLanes, id), hover: null, hoverDetail: null});

export function showHidden(): void {
  const {gantt, hiddenLanes} = get();
  set({hiddenLanes: new Set([...hiddenLanes].filter(id => !id.startsWith(`${gantt}\n`)))});
}
