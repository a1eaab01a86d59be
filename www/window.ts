// The window of time on screen: zoom, pan, jumps. All charts follow it.
import type {Range} from './state';
import {deviceAt, get, hoverNs, lengthOf, set} from './state';

/** Narrower than this there is nothing more to see: instants are whole nanoseconds. */
const NARROWEST_NS = 100;
const KEY_ZOOM = 1.25;
const KEY_PAN = 0.1;
/** Of the capture: the window around the peak when all of it was on screen. */
const PEAK_WINDOW = 0.1;
/** Around a thing that was asked for, on both sides, as a part of it. */
const MARGIN = 0.15;

function endOf(): number {
  const device = deviceAt(get());
  return device === null ? 1 : lengthOf(device);
}

/** Keeps the window inside the capture, and whole nanoseconds. */
function go(from: number, to: number): void {
  const end = endOf();
  const width = Math.min(end, Math.max(NARROWEST_NS, to - from));
  const start = Math.round(Math.min(Math.max(0, from), end - width));
  set({view: {from: start, to: Math.min(end, start + Math.round(width))}});
}

export const showRange = ({from, to}: Range): void => go(Math.min(from, to), Math.max(from, to));

export const showAll = (): void => go(0, endOf());

/** `factor` < 1 zooms in; the instant `around` stays where it is. */
export function zoom(factor: number, around?: number): void {
  const {from, to} = get().view;
  const centre = around ?? (from + to) / 2;
  const width = Math.min(endOf(), Math.max(NARROWEST_NS, (to - from) * factor));
  const start = centre - (centre - from) * (width / (to - from));
  go(start, start + width);
}

/** By a part of the window's width. */
export function pan(part: number): void {
  const {from, to} = get().view;
  panTo(from + part * (to - from));
}

export function panTo(from: number): void {
  const {view} = get();
  go(from, from + view.to - view.from);
}

export const zoomByKey = (into: boolean): void => zoom(into ? 1 / KEY_ZOOM : KEY_ZOOM, hoverNs(get()) ?? undefined);

export const panByKey = (later: boolean): void => pan(later ? KEY_PAN : -KEY_PAN);

export function showPeak(): void {
  const device = deviceAt(get());
  if (device === null) return;
  const {view} = get();
  // Until the pointer moves again, the peak is the instant that is spoken of: A or B can be set to it.
  set({cursor: device.peak.time_ns, hover: null, hoverDetail: null});
  const whole = view.to - view.from >= endOf() * 0.999;
  centre(device.peak.time_ns, whole ? endOf() * PEAK_WINDOW : view.to - view.from);
}

/** Takes an instant into the middle of the window, which keeps its width. */
export function showAround(ns: number): void {
  const {view} = get();
  centre(ns, view.to - view.from);
}

function centre(ns: number, width: number): void {
  go(ns - width / 2, ns + width / 2);
}

/** Another capture's view, or one of the hash: as much of it as there is. */
export const restore = (from: number, to: number): void => go(from, to);

/** The selection, else the pinned block. */
export function fit(): void {
  const {selection, detail} = get();
  if (selection !== null) showRange(selection);
  else if (detail !== null) {
    const margin = Math.max(NARROWEST_NS, detail.duration_ns * MARGIN);
    go(detail.start_ns - margin, detail.start_ns + detail.duration_ns + margin);
  }
}

/** Moves no further than needed to have some of the stretch on screen. */
export function reveal(from: number, to: number): void {
  const {view} = get();
  if (to < view.from || from > view.to) centre(from, view.to - view.from);
}

/** Exact ends from the fields; false where they make no window. */
export function setEnd(which: 'from' | 'to', ns: number): boolean {
  const next = {...get().view, [which]: ns};
  if (next.from < 0 || next.to > endOf() || next.to - next.from < NARROWEST_NS) return false;
  set({view: next});
  return true;
}
