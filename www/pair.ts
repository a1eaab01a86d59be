// Two captures that are compared at their peaks, by their places in the comparison's list.
import {EngineEnded, engine} from './engine';
import {reasonOf} from './reason';
import {get, notify, set} from './state';

export type PairSide = 'a' | 'b';

/** Takes a choice, and asks the engine once both are there (-1: not yet); the answer to an earlier choice is dropped. */
export async function choosePair(side: PairSide, place: number): Promise<void> {
  const [before, other] = get().pair ?? [-1, -1];
  const [a, b] = side === 'a' ? [place, other] : [before, place];
  const pair: [number, number] = [a, b];
  set({pair, difference: null});
  if (a < 0 || b < 0) return;
  try {
    const difference = await engine.call('difference', pair);
    if (get().pair === pair) set({difference});
  } catch (error) {
    if (!(error instanceof EngineEnded)) notify('error', t => t.panelFailure(reasonOf(error)));
  }
}
