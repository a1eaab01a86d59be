// The rows' measures, the same for the engine's picture, the names beside it and the pointer.
import type {State} from './state';

const LANE_HEIGHT = 22;
/** A curve wants more room than a bar. */
const RANK_HEIGHT = 56;

/** Height of a row of the Gantt in whole device pixels. */
export const rowPx = ({gantt, layout}: State): number => Math.max(1, Math.round((gantt === 'ranks' ? RANK_HEIGHT : LANE_HEIGHT) * layout.ratio));

/** The same in CSS pixels: pictures and names must agree. */
export const rowCss = (s: State): number => rowPx(s) / s.layout.ratio;

/** Width of the plot in device pixels. */
export const plotPx = ({layout}: State): number => Math.round(layout.plot * layout.ratio);
