// Which captures the page offers: the engine decides, by the rules of the command line.
import type {SelectAnswer} from '../target/plain/pkg/oomscope';
import {EngineEnded, engine} from './engine';
import {newest} from './newest';
import {NO_FILTER, get, set} from './state';

interface Wanted {
  ranks: string;
  role: string | null;
}

const ask = newest<Wanted, SelectAnswer>(
  ({ranks, role}) => engine.call('select', [ranks, role ?? undefined]),
  ({captures, compared}, wanted) => {
    const {filter} = get();
    if (filter.ranks === wanted.ranks && filter.role === wanted.role) set({filter: {...filter, taken: new Set(captures), compared: new Set(compared), wrong: false}});
  },
  error => {
    if (!(error instanceof EngineEnded)) set({filter: {...get().filter, taken: null, compared: null, wrong: true}});
  },
);

/** Whether the list of ranks is one comes out later. */
export function filterBy(ranks: string, role: string | null): true {
  const all = ranks.trim() === '' && role === null;
  set({filter: all ? NO_FILTER : {...get().filter, ranks, role}});
  if (!all) ask({ranks, role});
  return true;
}

let captures: unknown = null;
let comparison: unknown = null;

/** Called after each change of the state: captures come in one by one, the comparison when all are there. */
export function syncFilter(): void {
  const {session, filter} = get();
  if (session?.captures === captures && session?.comparison === comparison) return;
  captures = session?.captures;
  comparison = session?.comparison;
  if (filter.taken !== null) ask(filter);
}
