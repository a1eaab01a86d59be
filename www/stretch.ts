// While the engine makes the next frame, the last one is shown where it belongs in the new window: the page never waits for a picture.
import type {Frame} from './protocol';
import type {Range} from './state';

const CURVES = [
  'total_min', 'total_max', 'baseline_min', 'baseline_max', 'reserved_min', 'reserved_max', 'active_min', 'active_max',
  'outside_min', 'outside_max', 'reserved_gap_min', 'reserved_gap_max', 'active_gap_min', 'active_gap_max', 'filtered_min', 'filtered_max',
] as const;

/** The frame's curves in another window; what it doesn't cover comes from the overview of the whole capture. */
export function stretch(frame: Frame, overview: Frame | null, view: Range): Frame {
  if (frame.from_ns === view.from && frame.to_ns === view.to) return frame;
  const width = frame.width_px;
  const stretched: Frame = {...frame, from_ns: view.from, to_ns: view.to};
  if (overview !== null) {
    stretched.y_max = Math.max(frame.y_max, overview.y_max);
    stretched.lines_max = Math.max(frame.lines_max, overview.lines_max);
  }
  const curves = CURVES.filter(curve => frame[curve] !== undefined);
  for (const curve of curves) stretched[curve] = new Float64Array(width).fill(NaN);
  for (let column = 0; column < width; column++) {
    const ns = view.from + (column + 0.5) / width * (view.to - view.from);
    const source = covers(frame, ns) ? frame : overview !== null && covers(overview, ns) ? overview : null;
    if (source === null) continue;
    const from = columnOf(source, ns);
    for (const curve of curves) (stretched[curve] as Float64Array)[column] = source[curve]?.[from] ?? NaN;
  }
  return stretched;
}

export const covers = (frame: Frame, ns: number): boolean => ns >= frame.from_ns && ns < frame.to_ns;

export const columnOf = (frame: Frame, ns: number): number =>
  Math.floor((ns - frame.from_ns) / (frame.to_ns - frame.from_ns) * frame.width_px);
