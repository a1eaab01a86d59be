// The lanes' picture: the engine's pixels, placed in the window on screen.
import {prepare} from './draw';
import {laneCss, lanePx, plotPx} from './lanes';
import type {Frame} from './protocol';
import {NO_BLOCK} from './protocol';
import type {Hover, State} from './state';
import {deviceAt} from './state';
import {columnOf, covers} from './stretch';

/** A bar this near is meant: bars can be a pixel wide. In device pixels. */
const NEAR_PX = 4;

let picture: {frame: Frame; canvas: HTMLCanvasElement} | null = null;

/** The frame's pixels as a canvas, so that they can be stretched. */
function pictureOf(frame: Frame): HTMLCanvasElement {
  if (picture?.frame === frame) return picture.canvas;
  const canvas = picture?.canvas ?? document.createElement('canvas');
  const height = frame.pixels.length / 4 / frame.width_px;
  canvas.width = frame.width_px;
  canvas.height = height;
  const pixels = frame.pixels as Uint8ClampedArray<ArrayBuffer>;
  canvas.getContext('2d')?.putImageData(new ImageData(pixels, frame.width_px, height), 0, 0);
  picture = {frame, canvas};
  return canvas;
}

/** `height`: of the visible part, in device pixels. */
export function paintBars(canvas: HTMLCanvasElement, height: number, s: State): void {
  const width = plotPx(s);
  prepare(canvas, width, height, s.layout.ratio);
  const context = canvas.getContext('2d');
  const {frame, view, layout} = s;
  if (context === null || frame === null || frame.pixels.length === 0) return;
  const perNs = width / (view.to - view.from);
  const lane = lanePx(layout.ratio);
  context.imageSmoothingEnabled = false;
  context.drawImage(
    pictureOf(frame),
    (frame.from_ns - view.from) * perNs,
    s.frameLane * lane - Math.round(layout.scroll * layout.ratio),
    (frame.to_ns - frame.from_ns) * perNs,
    frame.counts.length * lane,
  );
}

/** The lane at a height in the visible part, in CSS pixels; null below the last. */
export function laneAt(s: State, y: number): number | null {
  const lane = Math.floor((y + s.layout.scroll) / laneCss(s.layout.ratio));
  return lane < (deviceAt(s)?.lanes.length ?? 0) ? lane : null;
}

/** The block at an instant of a lane, or one a few pixels beside. */
export function blockAt(s: State, ns: number, y: number): Hover['block'] {
  const {frame} = s;
  const lane = laneAt(s, y);
  if (frame === null || lane === null || !covers(frame, ns)) return null;
  const row = lane - s.frameLane;
  if (row < 0 || row >= frame.counts.length) return null;
  const column = columnOf(frame, ns);
  for (let off = 0; off <= NEAR_PX; off++) {
    for (const near of [column - off, column + off]) {
      if (near < 0 || near >= frame.width_px) continue;
      const block = frame.blocks[row * frame.width_px + near] ?? NO_BLOCK;
      if (block !== NO_BLOCK) return block;
    }
  }
  return null;
}
