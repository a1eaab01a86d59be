// The keyboard: one letter an act, never while somebody types, never with a modifier.
import {pin} from './frames';
import {mark} from './instants';
import {get, set} from './state';
import {fit, pan, panByKey, showAll, showPeak, zoomByKey} from './window';

const ACTS = new Map<string, () => void>([
  ['w', () => zoomByKey(true)],
  ['s', () => zoomByKey(false)],
  ['a', () => panByKey(false)],
  ['d', () => panByKey(true)],
  ['f', fit],
  ['0', showAll],
  ['p', showPeak],
  ['[', () => pan(-1)],
  [']', () => pan(1)],
  ['1', () => mark('a')],
  ['2', () => mark('b')],
  ['escape', () => {
    if (get().pinned !== null) pin(null);
    else set({selection: null});
  }],
]);

export function listenToKeys(): void {
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || get().place === null || isTyping(event.target)) return;
    const act = ACTS.get(event.key.toLowerCase());
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
}
