// The flame graph's picture: rectangles by depth, a caller above what it calls.
import type {FlameAnswer, FlameRect} from '../target/plain/pkg/oomscope';
import {prepare} from './draw';
import {clip} from './format';
import type {Theme} from './theme';

export const FRAME_PX = 18;
/** A narrower frame has no room for its name, in CSS pixels. */
const NAMED_PX = 24;
const GREY = 12;
const FILL = 0.38;
const FILL_BESIDE = 0.16;

/** The same file has the same hue everywhere; libraries are grey, as in a stack. */
export function hueOf(frame: string): number {
  const path = frame.split('(')[0] ?? '';
  if (path === '' || path.split(/[/\\]/).some(part => part === 'site-packages' || part === 'torch' || part === 'torch_npu') || path.startsWith('<')) return GREY;
  let hash = 0;
  for (const letter of path) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return hash % GREY;
}

export const depthOf = ({rects}: FlameAnswer): number => rects.reduce((most, {depth}) => Math.max(most, depth), 0) + 1;

export const heightOf = (answer: FlameAnswer): number => depthOf(answer) * FRAME_PX;

/** What a rectangle says: the frame's function first, for that is what fits. */
export const shortFrame = (frame: string): string => {
  const [, path = '', line = '', name = ''] = /^(.*?)\((\d+)\): (.*)$/.exec(frame) ?? [];
  return name === '' ? frame : `${name} ${path.slice(path.lastIndexOf('/') + 1)}:${line}`;
};

export interface FlameLook {
  width: number;
  ratio: number;
  theme: Theme;
  /** The rectangle with the focus, and what the root and blocks without a stack are called. */
  active: number | null;
  all: string;
  none: string;
}

export function paintFlame(canvas: HTMLCanvasElement, answer: FlameAnswer, {width, ratio, theme, active, all, none}: FlameLook): void {
  const px = (css: number): number => Math.round(css * ratio);
  prepare(canvas, px(width), px(heightOf(answer)), ratio);
  canvas.style.height = `${heightOf(answer)}px`;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const css = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;
  const searched = answer.rects.some(({found}) => found);
  const hues = answer.frames.map(hueOf);
  context.font = `${px(11)}px ${theme.font}`;
  context.textBaseline = 'middle';
  answer.rects.forEach((rect, at) => {
    const [x, y] = [px(rect.from * width), px(rect.depth * FRAME_PX)];
    const [w, h] = [Math.max(1, px((rect.from + rect.width) * width) - x - 1), px(FRAME_PX) - 1];
    context.globalAlpha = searched && !rect.found ? FILL_BESIDE : FILL;
    context.fillStyle = css(theme.palette[hues[rect.frame] ?? GREY] ?? theme.text);
    context.fillRect(x, y, w, h);
    context.globalAlpha = 1;
    if (rect.found || at === active) {
      context.strokeStyle = css(theme.outline);
      context.lineWidth = px(at === active ? 2 : 1);
      context.strokeRect(x + context.lineWidth / 2, y + context.lineWidth / 2, Math.max(1, w - context.lineWidth), h - context.lineWidth);
    }
    if (rect.width * width < NAMED_PX) return;
    const name = at === 0 ? all : shortFrame(answer.frames[rect.frame] ?? '') || none;
    context.fillStyle = css(theme.peak);
    context.save();
    context.beginPath();
    context.rect(x, y, w - px(2), h);
    context.clip();
    context.fillText(clip(name), x + px(4), y + h / 2);
    context.restore();
  });
}

/** The rectangle at a place, in CSS pixels. */
export function frameAt({rects}: FlameAnswer, width: number, x: number, y: number): number | null {
  const [depth, at] = [Math.floor(y / FRAME_PX), x / Math.max(1, width)];
  const found = rects.findIndex(rect => rect.depth === depth && at >= rect.from && at < rect.from + rect.width);
  return found < 0 ? null : found;
}

/** The frames down to a rectangle, the root left out. */
export function pathTo({rects, frames}: FlameAnswer, at: number): string[] {
  const path: string[] = [];
  for (let next = at; next > 0; next = rects[next]?.parent ?? 0) path.unshift(frames[rects[next]?.frame ?? 0] ?? '');
  return path;
}

/** Where an arrow key leads: the caller, the largest that is called, those beside it. */
export function neighbour({rects}: FlameAnswer, at: number, key: string): number | null {
  const rect: FlameRect | undefined = rects[at];
  if (rect === undefined) return null;
  if (key === 'ArrowUp') return rect.parent;
  if (key === 'ArrowDown') return rects.findIndex((other, place) => place > 0 && place !== at && other.parent === at);
  const line = rects.flatMap((other, place) => other.depth === rect.depth ? [place] : []).sort((a, b) => (rects[a]?.from ?? 0) - (rects[b]?.from ?? 0));
  return line[line.indexOf(at) + (key === 'ArrowRight' ? 1 : -1)] ?? null;
}
