// The picture below the curves: the engine's pixels, placed in the window on screen, and what lies at a place of it.
import {ganttRequest, laneOrder, rowCount} from './gantt';
import {prepare} from './draw';
import {plotPx, rowCss, rowPx} from './lanes';
import type {Frame} from './protocol';
import {FIRST_NO_BLOCK} from './protocol';
import type {Hover, State} from './state';
import {columnOf, covers} from './stretch';

/** A bar this near is meant: bars can be a pixel wide. In device pixels. */
const NEAR_PX = 4;

let picture: {frame: Frame; canvas: HTMLCanvasElement} | null = null;

/** The frame's pixels as a canvas, so that they can be stretched. */
function pictureOf(frame: Frame, pixels: Uint8ClampedArray): HTMLCanvasElement {
  if (picture?.frame === frame) return picture.canvas;
  const canvas = picture?.canvas ?? document.createElement('canvas');
  const height = pixels.length / 4 / frame.width_px;
  canvas.width = frame.width_px;
  canvas.height = height;
  canvas.getContext('2d')?.putImageData(new ImageData(pixels as Uint8ClampedArray<ArrayBuffer>, frame.width_px, height), 0, 0);
  picture = {frame, canvas};
  return canvas;
}

/** Whether a frame shows the view that is wanted: its rows may be others. */
function isOfView(frame: Frame, s: State): boolean {
  const wanted = ganttRequest(s);
  if (frame.gantt === null || wanted === null || frame.gantt.kind !== wanted.kind) return false;
  return frame.gantt.kind !== 'lanes' || (wanted.kind === 'lanes' && frame.gantt.by === wanted.by && frame.nearest === s.nearest);
}

/** `height`: of the visible part, in device pixels. */
export function paintBars(canvas: HTMLCanvasElement, height: number, s: State): void {
  const width = plotPx(s);
  prepare(canvas, width, height, s.layout.ratio);
  const context = canvas.getContext('2d');
  const {frame, view, layout} = s;
  if (context === null || frame?.pixels === undefined || frame.pixels.length === 0 || !isOfView(frame, s)) return;
  const perNs = width / (view.to - view.from);
  const [left, wide] = [(frame.from_ns - view.from) * perNs, (frame.to_ns - frame.from_ns) * perNs];
  const source = pictureOf(frame, frame.pixels);
  context.imageSmoothingEnabled = false;
  const {gantt} = frame;
  if (gantt?.kind === 'stack') {
    context.drawImage(source, left, 0, wide, height);
    return;
  }
  const lane = rowPx(s);
  const top = -Math.round(layout.scroll * layout.ratio);
  // Lanes may have changed their places since.
  const order = gantt?.kind === 'lanes' ? placesOf(laneOrder(s)) : null;
  for (let row = 0; row * lane < source.height; row++) {
    const place = gantt?.kind === 'lanes' ? order?.get(gantt.lanes[row] ?? -1) : row + (gantt?.kind === 'blocks' ? gantt.first : 0);
    const y = top + (place ?? NaN) * lane;
    if (y > -lane && y < height) context.drawImage(source, 0, row * lane, source.width, lane, left, y, wide, lane);
  }
}

let places: {order: number[]; of: Map<number, number>} | null = null;

/** Where each lane lies. */
function placesOf(order: number[]): Map<number, number> {
  if (places?.order !== order) places = {order, of: new Map(order.map((lane, place) => [lane, place]))};
  return places.of;
}

export const placeOfLane = (s: State, lane: number): number | null => placesOf(laneOrder(s)).get(lane) ?? null;

/** The row at a height in the visible part, in CSS pixels; null below the last. */
export function rowAt(s: State, y: number): number | null {
  const row = Math.floor((y + s.layout.scroll) / rowCss(s));
  return row >= 0 && row < rowCount(s) ? row : null;
}

/** What lies at a place of the picture. */
export interface Spot {
  /** The block, or one a few pixels beside; of a stack also what is no block, from `FIRST_NO_BLOCK` on. */
  block: number | null;
  /** How many further blocks live in this pixel column of the lane. */
  folded: number;
}

const NOTHING: Spot = {block: null, folded: 0};

export function spotAt(s: State, ns: number, y: number): Spot {
  const {frame, layout} = s;
  if (frame === null || frame.gantt === null || frame.blocks === undefined || !covers(frame, ns) || !isOfView(frame, s)) return NOTHING;
  const column = columnOf(frame, ns);
  if (frame.gantt.kind === 'stack') {
    const block = frame.blocks[Math.floor(y * layout.ratio) * frame.width_px + column];
    return {block: block ?? null, folded: 0};
  }
  const row = rowAt(s, y);
  if (row === null) return NOTHING;
  if (frame.gantt.kind === 'blocks') return {block: nearest(frame, row - frame.gantt.first, column), folded: 0};
  if (frame.gantt.kind !== 'lanes') return NOTHING;
  const lane = frame.gantt.lanes.indexOf(laneOrder(s)[row] ?? -1);
  if (lane < 0) return NOTHING;
  const inLane = (y + layout.scroll - row * rowCss(s)) * layout.ratio;
  const second = inLane >= (frame.split_px ?? 0) ? nearest(frame, lane * 2 + 1, column) : null;
  return {block: second ?? nearest(frame, lane * 2, column), folded: frame.folded?.[lane * frame.width_px + column] ?? 0};
}

/** The block of a row at a column or a few beside. */
function nearest(frame: Frame, row: number, column: number): number | null {
  for (let off = 0; off <= NEAR_PX; off++) {
    for (const near of [column - off, column + off]) {
      if (near < 0 || near >= frame.width_px) continue;
      const block = frame.blocks?.[row * frame.width_px + near] ?? FIRST_NO_BLOCK;
      if (block < FIRST_NO_BLOCK) return block;
    }
  }
  return null;
}

/** The block at an instant and a height. */
export function blockAt(s: State, ns: number, y: number): Hover['block'] {
  const {block} = spotAt(s, ns, y);
  return block !== null && block < FIRST_NO_BLOCK ? block : null;
}
