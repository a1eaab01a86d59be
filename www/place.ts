// Which capture and device is on screen: the worst of all until a person chooses.
import type {XplaneReport} from '../target/plain/pkg/oomscope';
import type {Place, Session, State, Tab} from './state';
import {NO_PLACE, OF_JAX, deviceAt, firstView, get, patchSession, reportedOnly, set} from './state';

/** The largest peak of all that is there; which was read first does not matter. Whoever has begun to look around is left where they are. */
export function showWorst(): void {
  const {session, place, view, selection, pinned} = get();
  const device = deviceAt(get());
  const untouched = device === null || (view.from === 0 && view.to === firstView(device).to && selection === null && pinned === null);
  if (session === null || session.chosen || !untouched) return;
  const [jax] = jaxWorstFirst(session);
  const places = session.captures.flatMap(({capture, devices}) => devices.map(({peak}, device) => ({capture, device, bytes: peak.total_bytes})));
  const largest = places.reduce<typeof places[number] | null>((worst, each) => worst === null || each.bytes > worst.bytes ? each : worst, null);
  const worst: Place | null = jax === undefined ? largest : {capture: jax[0], device: deviceOf(session, jax)};
  if (worst === null && session.captures.length > 0) openOwn('quality');
  else if (worst !== null && (place?.capture !== worst.capture || place.device !== worst.device)) put(worst);
}

/** Where all is read and there are no charts: how the ranks of reports compare; without reports, why there is nothing. */
export function showWithoutCharts(): void {
  const {session, place, tab, ownTab} = get();
  if (session === null || place !== null) return;
  if (reportedOnly(session).length === 0) openOwn('quality');
  else if (tab === ownTab || tab !== 'quality') openOwn('ranks');
}

/** A tab that nobody asked for. */
const openOwn = (tab: Tab): void => set({tab, ownTab: tab});

/** What the next files begin with: the tab that a person chose stays, one that the page opened for want of charts does not. */
export function forgetOwnTab(): void {
  const {tab, ownTab} = get();
  set({ownTab: null, ...tab === ownTab ? {tab: 'captures'} : {}});
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
  patchSession(() => ({chosen: true}));
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
