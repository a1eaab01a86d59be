// Where the keys and buttons go that need the engine: the next block, the largest, the next large one, the window with the most. With a
// filter they go among the blocks that pass it.
import type {SomeRequest} from '../target/plain/pkg/oomscope';
import {EngineEnded, engine} from './engine';
import {pin} from './frames';
import {isLanes} from './gantt';
import {reasonOf} from './reason';
import {get, hoverNs, notify, set} from './state';
import {showRange} from './window';

const MIB = 1 << 20;

async function asked<T>(ask: (of: SomeRequest) => Promise<T>): Promise<T | undefined> {
  const {place, session, nearest, blockFilter: filter} = get();
  if (place === null || session?.lost !== false) return undefined;
  try {
    const answer = await ask({...place, nearest, filter});
    const now = get().place;
    return now?.capture === place.capture && now.device === place.device ? answer : undefined;
  } catch (error) {
    if (!(error instanceof EngineEnded)) notify('error', t => t.panelFailure(reasonOf(error)));
    return undefined;
  }
}

/** The block that starts next on the pinned block's lane, or before it; without one, the block under the pointer is pinned. */
export async function stepBlock(later: boolean): Promise<void> {
  const {pinned, gantt, hover} = get();
  if (pinned === null) {
    if (hover !== null && hover.block !== null) pin(hover.block);
    return;
  }
  const by = isLanes(gantt) ? gantt : 'operator';
  const block = await asked(of => engine.call('neighbour', [of, by, pinned, later]));
  if (block !== undefined && block !== null && get().pinned === pinned) pin(block);
}

export async function showLargest(): Promise<void> {
  const block = await asked(of => engine.call('largest_block', [of]));
  if (block !== undefined && block !== null) pin(block);
}

/** The first allocation of so many MiB after the pinned block, else after the pointer or the window's left edge; after the last, the first. */
export async function showNextLarge(): Promise<void> {
  const {leastMib, pinned, detail, view} = get();
  const after = pinned !== null && detail?.block === pinned ? detail.start_ns : hoverNs(get()) ?? view.from;
  const next = (after_ns: number) => asked(of => engine.call('next_large', [of, leastMib * MIB, after_ns]));
  const block = await next(after) ?? await next(-1);
  if (block !== undefined && block !== null) pin(block);
  else notify('warning', t => t.noneSoLarge(leastMib));
}

/** The window of this width in which most blocks begin. */
export async function showBusiest(): Promise<void> {
  const {view} = get();
  const from = await asked(of => engine.call('busiest', [of, view.to - view.from]));
  if (from !== undefined && from !== null) showRange({from, to: from + view.to - view.from});
}

/** False where it is no number of MiB. */
export function setLeastMib(typed: string): boolean {
  const mib = Number(typed.trim());
  if (!(mib > 0) || mib * MIB > Number.MAX_SAFE_INTEGER) return false;
  set({leastMib: mib});
  return true;
}
