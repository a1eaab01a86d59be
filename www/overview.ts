// The strip below the charts: the whole capture's total and baseline, small.
import type {Frame} from './protocol';
import type {Theme} from './theme';

const hex = (rgb: number): string => `#${rgb.toString(16).padStart(6, '0')}`;

export function paintOverview(canvas: HTMLCanvasElement, frame: Frame | null, marks: Uint32Array | null, theme: Theme, ratio: number): void {
  canvas.width = frame?.width_px ?? 0;
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const context = canvas.getContext('2d');
  if (context === null || frame === null) return;
  const most = frame.total_max.reduce((most, value) => value > most ? value : most, 1);
  area(context, frame.total_max, most, hex(theme.total));
  area(context, frame.baseline_max, most, hex(theme.baseline));
  if (marks !== null) ticks(context, marks, hex(theme.outline));
}

/** Where something was found: a tick from above, the longer the more of it. */
function ticks(context: CanvasRenderingContext2D, marks: Uint32Array, colour: string): void {
  const {width, height} = context.canvas;
  context.fillStyle = colour;
  context.globalAlpha = 1;
  marks.forEach((count, mark) => {
    if (count === 0) return;
    const long = Math.min(1, 0.25 + Math.log2(count) / 16) * height;
    context.fillRect(Math.floor(mark / marks.length * width), 0, Math.max(1, width / marks.length), long);
  });
}

function area(context: CanvasRenderingContext2D, values: Float64Array, most: number, colour: string): void {
  const {height} = context.canvas;
  context.fillStyle = colour;
  context.globalAlpha = 0.6;
  values.forEach((value, x) => {
    const bar = Number.isNaN(value) ? 0 : Math.round(value / most * height);
    context.fillRect(x, height - bar, 1, bar);
  });
}
