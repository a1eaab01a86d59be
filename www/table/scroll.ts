// Which rows are on screen. A browser's boxes are at most some ten million pixels high: beyond that a box stands for more than it is, and
// only the scroll bar is coarse.

/** Beyond this Firefox no longer places boxes exactly. */
const HIGHEST_PX = 8_000_000;

export interface Geometry {
  count: number;
  rowPx: number;
  /** Height of what is seen. */
  viewPx: number;
}

/** Height of all rows, were they there. */
const wholePx = ({count, rowPx}: Geometry): number => count * rowPx;

/** Height of the box that stands for them. */
export const boxPx = (of: Geometry): number => Math.min(HIGHEST_PX, wholePx(of));

export const isCoarse = (of: Geometry): boolean => wholePx(of) > HIGHEST_PX;

const ratio = (of: Geometry): number => Math.max(1, wholePx(of) - of.viewPx) / Math.max(1, boxPx(of) - of.viewPx);

/** From where the box is scrolled to, to how far the rows are. */
export const offsetOf = (of: Geometry, scrollTop: number): number => isCoarse(of) ? scrollTop * ratio(of) : scrollTop;

export const scrollTopOf = (of: Geometry, offset: number): number => isCoarse(of) ? offset / ratio(of) : offset;

export const clampOffset = (of: Geometry, offset: number): number => Math.max(0, Math.min(wholePx(of) - of.viewPx, offset));

/** The rows to be drawn, one more than fits at both ends, and where the first of them lies in the box. */
export function visible(of: Geometry, offset: number, scrollTop: number): {from: number; to: number; topPx: number} {
  const first = Math.floor(offset / of.rowPx);
  const from = Math.max(0, first - 1);
  const to = Math.min(of.count, first + Math.ceil(of.viewPx / of.rowPx) + 2);
  return {from, to, topPx: Math.max(0, scrollTop - (offset - from * of.rowPx))};
}

/** How far the rows must be for one of them to be seen whole; as they are where it is. `headPx` lies over the first of them. */
export function revealed(of: Geometry, offset: number, index: number, headPx: number): number {
  const top = index * of.rowPx;
  if (top < offset) return top;
  const room = of.viewPx - headPx;
  return top + of.rowPx > offset + room ? top + of.rowPx - room : offset;
}
