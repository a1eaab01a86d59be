// The page's own instance of the wasm draws the trend and the grid. It must never block the page: plain, instantiated asynchronously.
import type {DeviceSummary, TrendStyle} from '../target/plain/pkg/oomscope';
import init, {draw_grid, draw_heap, draw_trend, set_panic_hook} from '../target/plain/pkg/oomscope';
import {wasm} from './embedded';
import {size, time} from './format';
import type {Messages} from './i18n';
import type {Frame, HeapCurve} from './protocol';
import {reasonOf} from './reason';
import type {State} from './state';
import {deviceAt, linesOf, notify, set} from './state';

const TOP = 18;
const BOTTOM = 22;
const HEAP_LEFT = 52;
const HEAP_RIGHT = 16;
/** A narrower plot names the peak by its size alone. */
const ROOM_FOR_TIME = 400;

export async function startDrawing(): Promise<void> {
  try {
    await init({module_or_path: await wasm('plain')});
    set_panic_hook();
    set({canDraw: true});
  } catch (error) {
    giveUp(error);
  }
}

function giveUp(error: unknown): void {
  set({canDraw: false});
  notify('error', t => t.drawingFailed(reasonOf(error)));
}

/** A canvas' size in device pixels; setting it clears the canvas. The style sheet gives the height. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void {
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width / ratio}px`;
}

/** How curves look, at the layout's ratio. */
function curveStyle({layout: {ratio}, theme}: State, left: number, right: number): Omit<TrendStyle, 'peak_ns' | 'peak_bytes' | 'peak_label'> {
  const px = (css: number): number => Math.round(css * ratio);
  const {text, grid, total, baseline, reserved, active, peak, font} = theme;
  return {ratio, left_px: px(left), right_px: px(right), top_px: px(TOP), bottom_px: px(BOTTOM), font, text, grid, total, baseline, reserved, active, peak};
}

export function trendStyle(s: State, device: DeviceSummary, t: Messages): TrendStyle {
  const {total_bytes, time_ns} = device.peak;
  return {
    ...curveStyle(s, s.layout.gutter, s.layout.margin),
    peak_ns: time_ns,
    peak_bytes: total_bytes,
    peak_label: s.layout.plot < ROOM_FOR_TIME ? size(total_bytes) : `${t.peak} ${size(total_bytes)} · ${time(t, time_ns, device.end_ns)}`,
  };
}

export const heapStyle = (s: State, heap: HeapCurve, t: Messages): TrendStyle => ({
  ...curveStyle(s, HEAP_LEFT, HEAP_RIGHT), peak_ns: heap.peak_event, peak_bytes: heap.peak_bytes, peak_label: `${t.peak} ${size(heap.peak_bytes)}`,
});

/** `height`: in CSS pixels. */
export function paintTrend(canvas: HTMLCanvasElement, frame: Frame, height: number, s: State, t: Messages): void {
  const device = deviceAt(s);
  if (!s.canDraw || device === null) return;
  const {ratio, gutter, margin} = s.layout;
  const px = (css: number): number => Math.round(css * ratio);
  prepare(canvas, px(gutter) + frame.width_px + px(margin), px(height), ratio);
  try {
    draw_trend(canvas, frame, trendStyle(s, device, t), linesOf(s), Uint32Array.from(linesOf(s), line => s.theme.lines[line]));
  } catch (error) {
    giveUp(error);
  }
}

export function paintHeap(canvas: HTMLCanvasElement, heap: HeapCurve, s: State, t: Messages): void {
  if (!s.canDraw) return;
  const {ratio} = s.layout;
  const px = (css: number): number => Math.round(css * ratio);
  const {clientWidth, clientHeight} = canvas.parentElement ?? canvas;
  if (clientWidth === 0) return;
  prepare(canvas, px(clientWidth), px(clientHeight), ratio);
  try {
    draw_heap(canvas, heap.min, heap.max, heap.events, heapStyle(s, heap, t));
  } catch (error) {
    giveUp(error);
  }
}

export function paintGrid(canvas: HTMLCanvasElement, width: number, height: number, s: State): void {
  if (!s.canDraw || width < 1 || height < 1) return;
  prepare(canvas, width, height, s.layout.ratio);
  try {
    draw_grid(canvas, s.view.from, s.view.to, {ratio: s.layout.ratio, grid: s.theme.grid});
  } catch (error) {
    giveUp(error);
  }
}
