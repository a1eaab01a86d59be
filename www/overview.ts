// The strip below the charts: the whole capture's total and baseline, small.
import type {Frame} from './protocol';
import type {Theme} from './theme';

const hex = (rgb: number): string => `#${rgb.toString(16).padStart(6, '0')}`;

export function paintOverview(canvas: HTMLCanvasElement, frame: Frame | null, theme: Theme, ratio: number): void {
  canvas.width = frame?.width_px ?? 0;
  canvas.height = Math.round(canvas.clientHeight * ratio);
  const context = canvas.getContext('2d');
  if (context === null || frame === null) return;
  const most = frame.total_max.reduce((most, value) => value > most ? value : most, 1);
  area(context, frame.total_max, most, hex(theme.total));
  area(context, frame.baseline_max, most, hex(theme.baseline));
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
