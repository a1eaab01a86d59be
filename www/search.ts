// Search over operators and frames; the hits are marked on the strip.
import type {SearchAnswer, SearchRequest} from '../target/plain/pkg/oomscope';
import {engine, ignoreEnded} from './engine';
import {newest} from './newest';
import {captureAt, get, plotWidth, set} from './state';

const MOST_HITS = 60;

const ask = newest<SearchRequest, SearchAnswer>(
  request => engine.call('search', [request]),
  (hits, {capture, device, text}) => {
    const {place, search} = get();
    if (place?.capture === capture && place.device === device && search?.trim() === text) set({hits});
  },
  ignoreEnded,
);

let asked = '';

/** Called after each change of the state. */
export function syncSearch(): void {
  const s = get();
  const {place, search, nearest, session} = s;
  const text = search?.trim() ?? '';
  if (place === null || text === '' || session?.lost !== false) {
    asked = '';
    if (s.hits !== null) set({hits: null});
    return;
  }
  const request: SearchRequest = {...place, text, nearest, width_px: plotWidth(s), limit: MOST_HITS};
  const key = JSON.stringify([request, captureAt(s)?.stacks ?? null]);
  if (key === asked) return;
  asked = key;
  ask(request);
}

export function openSearch(): void {
  if (get().search === null) set({search: ''});
  // It is on the page after the next drawing.
  requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-test="search"]')?.focus()));
}

export const closeSearch = (): void => set({search: null});
