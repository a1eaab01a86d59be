// Steps and optimizer steps on the charts: where they lie in the window.
import type {PhaseSummary} from '../target/plain/pkg/oomscope';
import type {State} from './state';

/** Narrower than this a phase cannot be seen beside the one before it. */
const NARROWEST_PX = 1;

interface Placed {
  phase: PhaseSummary;
  /** In the plot, in CSS pixels. */
  left: number;
  width: number;
  /** Every other one is shaded. */
  odd: boolean;
}

export const isStep = ({name}: PhaseSummary): boolean => name.startsWith('ProfilerStep#');

/** Phases by start; of those that fall into one pixel, the first. */
export function phasesInView(phases: PhaseSummary[], {view, layout}: State): Placed[] {
  const x = (ns: number): number => (ns - view.from) / (view.to - view.from) * layout.plot;
  const placed: Placed[] = [];
  let last = -Infinity;
  phases.forEach((phase, at) => {
    if (phase.to_ns < view.from || phase.from_ns > view.to) return;
    const left = Math.max(0, x(phase.from_ns));
    const right = Math.min(layout.plot, x(phase.to_ns));
    if (right - last < NARROWEST_PX) return;
    last = right;
    placed.push({phase, left, width: Math.max(NARROWEST_PX, right - left), odd: at % 2 === 1});
  });
  return placed;
}
