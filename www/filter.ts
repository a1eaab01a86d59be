// Which captures the page offers: the engine decides, by the rules of the command line.
import {EngineEnded} from './engine';
import {newest} from './newest';
import {engine} from './session';
import {get, set} from './state';

interface Wanted {
  ranks: string;
  role: string | null;
}

const ask = newest<Wanted, Uint32Array>(
  ({ranks, role}) => engine.call('select', [ranks, role ?? undefined]),
  (taken, wanted) => {
    const {filter} = get();
    if (filter.ranks === wanted.ranks && filter.role === wanted.role) set({filter: {...filter, taken: new Set(taken), wrong: false}});
  },
  error => {
    if (!(error instanceof EngineEnded)) set({filter: {...get().filter, taken: null, wrong: true}});
  },
);

/** Whether the list of ranks is one comes out later. */
export function filterBy(ranks: string, role: string | null): true {
  const all = ranks.trim() === '' && role === null;
  set({filter: all ? {ranks: '', role, taken: null, wrong: false} : {...get().filter, ranks, role}});
  if (!all) ask({ranks, role});
  return true;
}

let captures = 0;

/** Called after each change of the state: captures come in one by one. */
export function syncFilter(): void {
  const {session, filter} = get();
  const now = session?.captures.length ?? 0;
  if (now === captures) return;
  captures = now;
  if (filter.taken !== null) ask(filter);
}
