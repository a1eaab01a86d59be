// What a key or a button did to the window, for who does not see the charts.
import {size, time} from './format';
import {mark} from './instants';
import {showBusiest} from './jumps';
import type {Said} from './state';
import {deviceAt, get, set} from './state';
import {showPeak} from './window';

function windowSaid(): Said | null {
  const {view} = get();
  const end = deviceAt(get())?.end_ns;
  return end === undefined ? null : t => t.windowLabel(time(t, view.from, end), time(t, view.to, end));
}

/** Does it, then says which window that led to. */
export function moved(act: () => void): void {
  act();
  set({said: windowSaid()});
}

export function peakShown(): void {
  showPeak();
  const device = deviceAt(get());
  const where = windowSaid();
  if (device === null || where === null) return;
  const {peak, end_ns} = device;
  set({said: t => `${t.instantSpoken(`${t.peakSpot} ${size(peak.total_bytes)}`, time(t, peak.time_ns, end_ns))} ${where(t)}`});
}

export async function busiestShown(): Promise<void> {
  await showBusiest();
  set({said: windowSaid()});
}

/** A or B, as it lies now. */
export function marked(which: 'a' | 'b'): void {
  mark(which);
  const {[which]: ns} = get();
  const end = deviceAt(get())?.end_ns;
  if (ns !== null && end !== undefined) set({said: t => t.instantSpoken(which.toUpperCase(), time(t, ns, end))});
}
