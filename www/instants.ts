// The instants that a person keeps: the cursor, and A and B to compare.
import {cursorNs} from './panels';
import {deviceAt, get, set} from './state';

/** So near to the peak, the peak is meant: nobody hits its nanosecond. In CSS pixels. */
const SNAP_PX = 5;

/** The instant itself, or the peak where that is as good as hit. */
function snapped(ns: number): number {
  const {view, layout} = get();
  const peak = deviceAt(get())?.peak.time_ns;
  const px = Math.max(1, layout.plot) / (view.to - view.from);
  return peak !== undefined && Math.abs(peak - ns) * px <= SNAP_PX ? peak : Math.round(ns);
}

/** A click on the trend: its live set is told below. */
export function keep(ns: number): void {
  const {tab} = get();
  set({selection: null, cursor: snapped(ns), tab: tab === 'between' ? tab : 'cursor'});
}

/** An instant that was typed; false where the capture has none such. */
export function put(which: 'cursor' | 'a' | 'b', ns: number): boolean {
  const device = deviceAt(get());
  if (device === null || ns < 0 || ns > device.end_ns) return false;
  set({[which]: ns});
  return true;
}

/** A or B goes to the instant under the pointer, else to the cursor. */
export function mark(which: 'a' | 'b'): void {
  const ns = cursorNs(get());
  if (ns === null) return;
  set({[which]: snapped(ns), tab: 'between'});
}
