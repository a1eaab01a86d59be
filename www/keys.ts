// The keyboard: one letter an act, never while somebody types, never with a modifier.
import {pin} from './frames';
import {rowCount} from './gantt';
import {showLargest, showNextLarge, stepBlock} from './jumps';
import {rowCss} from './lanes';
import {busiestShown, marked, moved, peakShown} from './said';
import {closeSearch, openSearch} from './search';
import {get, set} from './state';
import {fit, pan, panByKey, showAll, zoomByKey} from './window';

/** So many lanes an arrow scrolls. */
const LANES_A_KEY = 3;

interface Act {
  act(): void;
  /** Only where nothing else takes the key: tabs, lists and scrolling boxes have arrows of their own. */
  onCharts?: boolean;
}

const ACTS = new Map<string, Act>([
  ['w', {act: () => moved(() => zoomByKey(true))}],
  ['s', {act: () => moved(() => zoomByKey(false))}],
  ['a', {act: () => moved(() => panByKey(false))}],
  ['d', {act: () => moved(() => panByKey(true))}],
  ['arrowleft', {act: () => moved(() => panByKey(false)), onCharts: true}],
  ['arrowright', {act: () => moved(() => panByKey(true)), onCharts: true}],
  ['arrowup', {act: () => scrollLanes(-LANES_A_KEY), onCharts: true}],
  ['arrowdown', {act: () => scrollLanes(LANES_A_KEY), onCharts: true}],
  ['f', {act: () => moved(fit)}],
  ['0', {act: () => moved(showAll)}],
  ['p', {act: peakShown}],
  ['[', {act: () => moved(() => pan(-1))}],
  [']', {act: () => moved(() => pan(1))}],
  ['m', {act: () => void busiestShown()}],
  [',', {act: () => void stepBlock(false)}],
  ['.', {act: () => void stepBlock(true)}],
  ['l', {act: () => void showLargest()}],
  ['n', {act: () => void showNextLarge()}],
  ['1', {act: () => marked('a')}],
  ['2', {act: () => marked('b')}],
  ['/', {act: openSearch}],
  ['?', {act: () => set({keys: true})}],
  ['\'', {act: () => {}}],
  ['escape', {act: escape}],
]);

/** Firefox would search the page for what is typed next. */
const QUICK_FIND = new Set(['/', '\'']);

function escape(): void {
  const {search, pinned} = get();
  if (search !== null) closeSearch();
  else if (pinned !== null) pin(null);
  else set({selection: null});
}

function scrollLanes(lanes: number): void {
  const s = get();
  const {layout} = s;
  const height = rowCss(s);
  const most = Math.max(0, rowCount(s) * height - layout.lanes);
  set({layout: {...layout, scroll: Math.max(0, Math.min(most, layout.scroll + lanes * height))}});
}

export function listenToKeys(): void {
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || get().place === null || isTyping(event.target)) return;
    const found = ACTS.get(event.key.toLowerCase());
    if (found === undefined || (found.onCharts === true && !isOnCharts(event.target))) return;
    // A dialog has keys of its own.
    if (document.querySelector('dialog[open]') !== null) {
      if (QUICK_FIND.has(event.key)) event.preventDefault();
      return;
    }
    event.preventDefault();
    found.act();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
}

/** Nothing has the focus, or a chart. */
function isOnCharts(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches('body, main') || (target.closest('.charts') !== null && target.closest('button, summary') === null);
}
