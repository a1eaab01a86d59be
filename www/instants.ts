// The instants that a person keeps: the cursor, and A and B to compare.
import {cursorNs} from './panels';
import {get, set} from './state';

/** A click on the trend: its live set is told below. */
export function keep(ns: number): void {
  const {tab} = get();
  set({selection: null, cursor: Math.round(ns), tab: tab === 'between' ? tab : 'cursor'});
}

/** A or B goes to the instant under the pointer, else to the cursor. */
export function mark(which: 'a' | 'b'): void {
  const ns = cursorNs(get());
  if (ns === null) return;
  set({[which]: ns, tab: 'between'});
}
