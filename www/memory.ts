// How much memory captures may take: what the address asks for, else what a person chose here before, else half of what the browser says that
// the machine has. Firefox and Safari say nothing of it.
import {PARAMETERS} from './parameters';
import {remember, remembered} from './platform';

const STORED = 'oomscope.memory';

/** In MiB, as everything here. A page of a few captures needs little; the engine can hold no more than a memory of 32-bit addresses. */
export const LEAST = 16;
export const MOST = 4096;
const WHERE_NOTHING_IS_TOLD = 2048;

/** MiB a unit, of what can be written behind a number. */
const UNITS = new Map([['', 1], ['m', 1], ['mib', 1], ['mb', 1e6 / 2 ** 20], ['g', 2 ** 10], ['gib', 2 ** 10], ['gb', 1e9 / 2 ** 20]]);

const known = (text: string | null): number | undefined => {
  const [, number, unit] = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*$/i.exec(text ?? '') ?? [];
  const mib = Number(number) * (UNITS.get((unit ?? '').toLowerCase()) ?? NaN);
  return Number.isFinite(mib) && mib > 0 ? Math.min(MOST, Math.max(LEAST, Math.round(mib))) : undefined;
};

/** `gib`: what the browser says, rounded to a power of two and cut by it. */
export const defaultBudget = (gib: number | undefined): number => gib === undefined ? WHERE_NOTHING_IS_TOLD : Math.min(MOST, Math.max(LEAST, gib * 512));

const machineGib = (): number | undefined => (navigator as Navigator & {deviceMemory?: number}).deviceMemory;

export const preferredBudget = (): number => known(PARAMETERS.memory) ?? known(remembered(STORED)) ?? defaultBudget(machineGib());

/** What a person wrote, as it will be used; null where it is no amount. */
export function chosenBudget(text: string): number | null {
  const mib = known(text);
  if (mib !== undefined) remember(STORED, String(mib));
  return mib ?? null;
}

export const bytesOfBudget = (mib: number): number => mib * 2 ** 20;
