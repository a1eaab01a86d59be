// Which blocks count: a filter that tables and charts share, part by part, each a chip that can be taken away.
import type {BlockFilter, By, GroupLabel} from '../target/plain/pkg/oomscope';
import {classSize, clip, duration, size, time} from './format';
import type {Messages} from './i18n';
import type {State} from './state';
import {deviceAt, get, set} from './state';

export type FilterPart = keyof BlockFilter;

export const NO_BLOCK_FILTER: BlockFilter = {};

export const isNarrowed = ({blockFilter}: State): boolean => Object.keys(blockFilter).length > 0;

/** Further conditions; they hold together with those that are there. */
export const narrow = (parts: BlockFilter): void => set({blockFilter: {...get().blockFilter, ...parts}});

export function widen(part: FilterPart): void {
  const {[part]: _, ...rest} = get().blockFilter;
  set({blockFilter: rest});
}

/** Only the blocks of a group. A call stack is known by one frame, which others may share. */
export function ofGroup(by: By, {text}: GroupLabel): BlockFilter {
  switch (by) {
    case 'operator': return {operator: text};
    case 'stack':
    case 'user-frame': return {user_frame: text};
    case 'stream': return {stream: text};
    case 'size-class': return {size_class_bytes: Number(text)};
  }
}

export interface Chip {
  part: FilterPart;
  text: string;
}

/** What the filter asks for, in words. */
export function chips(t: Messages, s: State): Chip[] {
  const end = deviceAt(s)?.end_ns ?? 0;
  const words: {[P in FilterPart]-?: (value: NonNullable<BlockFilter[P]>) => string} = {
    operator: name => t.chips.operator(clip(name || t.unattributed, 60)),
    user_frame: frame => frame === '' ? t.noStack : t.chips.frame(clip(frame, 60)),
    text: text => t.chips.text(clip(text, 60)),
    stream: stream => t.chips.stream(clip(stream || t.unknown, 40)),
    min_bytes: bytes => t.chips.atLeast(size(bytes)),
    max_bytes: bytes => t.chips.atMost(size(bytes)),
    size_class_bytes: bytes => t.chips.sizeClass(classSize(bytes)),
    min_lifetime_ns: ns => t.chips.livesAtLeast(duration(ns)),
    max_lifetime_ns: ns => t.chips.livesAtMost(duration(ns)),
    alive_at_ns: ns => t.chips.aliveAt(time(t, ns, end)),
    unreleased: () => t.chips.unreleased,
  };
  const filter = s.blockFilter;
  return (Object.keys(words) as FilterPart[]).flatMap(part => {
    const value = filter[part];
    return value === undefined ? [] : [{part, text: (words[part] as (value: unknown) => string)(value)}];
  });
}
