// The lanes' measures, the same for the engine's picture, the names beside it and the pointer.
import type {State} from './state';

const LANE_HEIGHT = 22;

/** Height of a lane in whole device pixels. */
export const lanePx = (ratio: number): number => Math.max(1, Math.round(LANE_HEIGHT * ratio));

/** The same in CSS pixels: pictures and names must agree. */
export const laneCss = (ratio: number): number => lanePx(ratio) / ratio;

/** Width of the plot in device pixels. */
export const plotPx = ({layout}: State): number => Math.round(layout.plot * layout.ratio);
