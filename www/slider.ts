// Dragging on the overview strip: the window itself moves, its edges resize it, a press beside it takes it there.
import type {Range} from './state';
import {deviceAt, get} from './state';
import {panTo, showRange} from './window';

const EDGE_PX = 8;

type Part = 'window' | 'from' | 'to';

interface Drag {
  part: Part;
  x: number;
  view: Range;
}

export class Slider {
  #drag: Drag | null = null;

  constructor(private readonly strip: () => HTMLElement | null) {}

  readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const {view} = get();
    const part = this.#part(event.clientX, view);
    if (part === null) panTo(this.#ns(event.clientX) - (view.to - view.from) / 2);
    this.#drag = {part: part ?? 'window', x: event.clientX, view: get().view};
  };

  readonly move = (event: PointerEvent): void => {
    if (this.#drag === null) return;
    const {part, x, view} = this.#drag;
    const by = this.#ns(event.clientX) - this.#ns(x);
    if (part === 'window') panTo(view.from + by);
    else showRange({...view, [part]: view[part] + by});
  };

  readonly up = (): void => {
    this.#drag = null;
  };

  #part(x: number, view: Range): Part | null {
    const [left, right] = [this.#x(view.from), this.#x(view.to)];
    if (Math.abs(x - left) <= EDGE_PX && right - left > 2 * EDGE_PX) return 'from';
    if (Math.abs(x - right) <= EDGE_PX && right - left > 2 * EDGE_PX) return 'to';
    return x > left && x < right ? 'window' : null;
  }

  #ns(x: number): number {
    const box = this.strip()?.getBoundingClientRect();
    return box === undefined ? 0 : (x - box.left) / Math.max(1, box.width) * this.#end();
  }

  #x(ns: number): number {
    const box = this.strip()?.getBoundingClientRect();
    return box === undefined ? 0 : box.left + ns / this.#end() * box.width;
  }

  #end(): number {
    return Math.max(1, deviceAt(get())?.end_ns ?? 1);
  }
}
