// Which blocks count: a filter that tables and charts share, part by part, each a chip that can be taken away.
import type {BlockFilter, By, ChosenAnswer, GroupLabel, SomeRequest} from '../target/plain/pkg/oomscope';
import {engine, ignoreEnded} from './engine';
import {classSize, clip, duration, size, time} from './format';
import type {Messages} from './i18n';
import {newest} from './newest';
import type {State} from './state';
import {captureAt, deviceAt, get, isNarrowed, set} from './state';

export type FilterPart = keyof BlockFilter;

export const NO_BLOCK_FILTER: BlockFilter = {};

/** Further conditions; they hold together with those that are there. */
export const narrow = (parts: BlockFilter): void => set({blockFilter: {...get().blockFilter, ...parts}});

export function widen(part: FilterPart): void {
  const {[part]: _, ...rest} = get().blockFilter;
  set({blockFilter: rest});
}

/** Only the blocks of a group. */
export function ofGroup(by: By, {number, text}: GroupLabel): BlockFilter {
  switch (by) {
    case 'operator': return {operator: number};
    case 'stack': return {stack: number};
    case 'user-frame': return {user_frame: number};
    case 'stream': return {stream: number};
    case 'size-class': return {size_class_bytes: Number(text)};
  }
}

const ask = newest<{key: string; of: SomeRequest}, ChosenAnswer>(
  ({of}) => engine.call('chosen', [of]),
  (value, {key}) => {
    if (chosenKey(get()) === key) set({chosen: {key, value}});
  },
  ignoreEnded,
);

/** What passes depends on the filter, and on what is known of stacks. */
const chosenKey = (s: State): string => JSON.stringify([s.place, s.blockFilter, s.nearest, captureAt(s)?.stacks ?? null]);

let asked = '';

/** Called after each change of the state: how much passes the filter, and what its numbers stand for. */
export function syncChosen(): void {
  const s = get();
  const {place, session, blockFilter: filter, nearest, chosen} = s;
  if (!isNarrowed(s) || place === null || session?.lost !== false) {
    asked = '';
    if (chosen !== null) set({chosen: null});
    return;
  }
  const key = chosenKey(s);
  if (key === asked) return;
  asked = key;
  ask({key, of: {...place, nearest, filter}});
}

/** What passes the filter; null where nothing is narrowed, or while the engine is asked. */
export const chosenNow = (s: State): ChosenAnswer | null => s.chosen?.key === chosenKey(s) ? s.chosen.value : null;

export interface Chip {
  part: FilterPart;
  text: string;
  /** All of it, where that is more. */
  title?: string;
}

/** What the filter asks for, in words. */
export function chips(t: Messages, s: State): Chip[] {
  const end = deviceAt(s)?.end_ns ?? 0;
  const words = chosenNow(s);
  // What a number stands for is the engine's to say.
  const told = (word: string | null | undefined, none: string, length: number): string =>
    words === null ? '…' : word === null || word === undefined ? t.unknown : clip(word || none, length);
  const texts: {[P in FilterPart]-?: (value: NonNullable<BlockFilter[P]>) => string} = {
    operator: () => t.chips.operator(told(words?.operator, t.unattributed, 60)),
    user_frame: () => words?.user_frame === '' ? t.noStack : t.chips.frame(told(words?.user_frame, '', 60)),
    stack: () => words?.stack === '' ? t.noStack : t.chips.stack(told(words?.stack, '', 60)),
    beneath: () => t.chips.beneath(told(words?.beneath.at(-1), '', 60)),
    text: text => t.chips.text(clip(text, 60)),
    stream: () => t.chips.stream(told(words?.stream, t.unknown, 40)),
    min_bytes: bytes => t.chips.atLeast(size(bytes)),
    max_bytes: bytes => t.chips.atMost(size(bytes)),
    size_class_bytes: bytes => t.chips.sizeClass(classSize(bytes)),
    min_lifetime_ns: ns => t.chips.livesAtLeast(duration(ns)),
    max_lifetime_ns: ns => t.chips.livesAtMost(duration(ns)),
    alive_at_ns: ns => t.chips.aliveAt(time(t, ns, end)),
    unreleased: () => t.chips.unreleased,
  };
  const filter = s.blockFilter;
  return (Object.keys(texts) as FilterPart[]).flatMap(part => {
    const value = filter[part];
    if (value === undefined || value === null) return [];
    const title = part === 'stack' ? words?.stack_frames : part === 'beneath' ? words?.beneath : undefined;
    return [{part, text: (texts[part] as (value: unknown) => string)(value), ...title === undefined ? {} : {title: title.map(frame => clip(frame)).join('\n')}}];
  });
}
