// Keeps the lines that ask for most of the peak in step with the state: what filled the memory is half of the answer, which line asked for it the rest.
import type {LiveAnswer, LiveRequest} from '../target/plain/pkg/oomscope';
import {engine, ignoreEnded} from './engine';
import {newest} from './newest';
import {captureAt, deviceAt, get, ofJax, set} from './state';

const LINES = 4;

interface Question {
  key: string;
  request: LiveRequest;
}

const ask = newest<Question, LiveAnswer>(
  ({request}) => engine.call('live', [request]),
  (value, {key}) => {
    if (key === asked) set({peakLines: value});
  },
  ignoreEnded,
);

let asked = '';

/** Called after each change of the state. */
export function syncPeakLines(): void {
  const {place, session, nearest} = get();
  const device = deviceAt(get());
  const stacks = captureAt(get())?.stacks ?? null;
  if (place === null || device === null || ofJax(device) || stacks === null || session?.lost !== false) {
    asked = '';
    if (get().peakLines !== null) set({peakLines: null});
    return;
  }
  const request: LiveRequest = {...place, by: 'user-frame', nearest, limit: LINES, filter: {}, time_ns: device.peak.time_ns, without: false};
  const key = JSON.stringify([request, stacks]);
  if (key === asked) return;
  asked = key;
  ask({key, request});
}
