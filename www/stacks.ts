// Keeps the live set of the peak by call stack in step with the device on screen.
import type {StackGroups} from '../target/plain/pkg/oomscope';
import {forgetDetails} from './frames';
import {newest} from './newest';
import {engine, ignoreEnded} from './session';
import type {Place} from './state';
import {captureAt, deviceAt, get, set} from './state';

interface Question extends Place {
  time_ns: number;
}

let asked = '';

const ask = newest<Question, StackGroups>(
  ({capture, device, time_ns}) => engine.call('stacks_at', [capture, device, time_ns]),
  (stacks, {capture, device}) => {
    const {place} = get();
    if (place?.capture === capture && place.device === device) set({stacks});
  },
  ignoreEnded,
);

/** Called after each change of the state. */
export function syncStacks(): void {
  const s = get();
  const device = deviceAt(s);
  const counts = captureAt(s)?.stacks ?? null;
  if (s.place === null || device === null || counts === null || s.session?.lost !== false) {
    asked = '';
    return;
  }
  const question = {...s.place, time_ns: device.peak.time_ns};
  const key = JSON.stringify([question, s.session.opened.length, counts]);
  if (key === asked) return;
  asked = key;
  ask(question);
  // What was said of blocks before lacks their stacks.
  forgetDetails();
}
