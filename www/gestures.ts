// Wheel, drag, pinch and hover on a chart. Both charts share them; they differ in what a drag and a click do.
import {blockAt} from './bars';
import {hoverBlock, overAt, pin} from './frames';
import {keep} from './instants';
import type {Hover, Range} from './state';
import {get, nsAt, set} from './state';
import {pan, panTo, showRange, zoom} from './window';

const NOTHING_OVER = {block: null, folded: 0, small: false, baseline: false};

const CLICK_PX = 4;
const LINE_PX = 16;
/** Of zoom, for a pixel of the wheel: a notch of 100 px zooms by about a fifth. */
const WHEEL_ZOOM = 0.002;
/** The trackpad's pinch arrives as a wheel with the control key and small steps. */
const PINCH_ZOOM = 0.01;
const MOST_WHEEL_PX = 300;

interface Point {
  x: number;
  y: number;
}

interface Drag {
  from: Point;
  view: Range;
  scroll: number;
  moved: boolean;
}

export class Gestures {
  #points = new Map<number, Point>();
  #drag: Drag | null = null;
  #spread = 0;

  constructor(private readonly chart: Hover['chart'], private readonly plot: () => HTMLElement | null) {}

  readonly wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? innerHeight : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const sideways = event.shiftKey ? dx || dy : Math.abs(dx) > Math.abs(dy) ? dx : 0;
    if (sideways !== 0) return pan(sideways / this.#width());
    const step = Math.max(-MOST_WHEEL_PX, Math.min(MOST_WHEEL_PX, dy));
    zoom(Math.exp(step * (event.ctrlKey ? PINCH_ZOOM : WHEEL_ZOOM)), this.#ns(event.clientX));
  };

  readonly down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const at = {x: event.clientX, y: event.clientY};
    this.#points.set(event.pointerId, at);
    const {view, layout} = get();
    this.#drag = this.#points.size === 1 ? {from: at, view, scroll: layout.scroll, moved: false} : null;
    this.#spread = this.#measure();
  };

  /** Of two fingers one is left: it drags on, and is no click. */
  #dragOn(): void {
    const [at] = [...this.#points.values()];
    const {view, layout} = get();
    if (this.#points.size === 1 && at !== undefined) this.#drag = {from: at, view, scroll: layout.scroll, moved: true};
  }

  readonly move = (event: PointerEvent): void => {
    if (this.#points.has(event.pointerId)) {
      this.#points.set(event.pointerId, {x: event.clientX, y: event.clientY});
      if (this.#points.size > 1) this.#pinch();
      else this.#dragged(event);
    }
    if (event.pointerType !== 'touch' && this.#drag?.moved !== true) this.#hover(event);
  };

  readonly up = (event: PointerEvent): void => {
    const drag = this.#drag;
    this.#points.delete(event.pointerId);
    this.#drag = null;
    if (drag === null) return this.#dragOn();
    if (!drag.moved) this.#click(event);
    else if (this.#selects(event)) finishSelection();
  };

  readonly cancel = (event: PointerEvent): void => {
    this.#points.delete(event.pointerId);
    this.#drag = null;
    this.#dragOn();
  };

  readonly leave = (): void => {
    if (get().hover?.chart !== this.chart) return;
    set({hover: null, hoverDetail: null});
  };

  /** A finger takes the window along, as everywhere; it has two to zoom with. */
  #selects({pointerType}: PointerEvent): boolean {
    return this.chart === 'trend' && pointerType !== 'touch';
  }

  #dragged(event: PointerEvent): void {
    const drag = this.#drag;
    if (drag === null) return;
    const [dx, dy] = [event.clientX - drag.from.x, event.clientY - drag.from.y];
    if (!drag.moved && Math.hypot(dx, dy) < CLICK_PX) return;
    if (!drag.moved) set({hover: null, hoverDetail: null});
    drag.moved = true;
    if (this.#selects(event)) {
      set({selection: ordered(this.#ns(drag.from.x), this.#ns(event.clientX))});
    } else {
      panTo(drag.view.from - dx / this.#width() * (drag.view.to - drag.view.from));
      // A finger scrolls the page by itself; the lanes have their own scroll.
      if (event.pointerType !== 'touch') set({layout: {...get().layout, scroll: Math.max(0, drag.scroll - dy)}});
    }
  }

  #pinch(): void {
    const spread = this.#measure();
    const [a, b] = [...this.#points.values()];
    if (a !== undefined && b !== undefined && spread > 0 && this.#spread > 0) zoom(this.#spread / spread, this.#ns((a.x + b.x) / 2));
    this.#spread = spread;
  }

  /** How far two fingers are apart, sideways. */
  #measure(): number {
    const [a, b] = [...this.#points.values()];
    return a === undefined || b === undefined ? 0 : Math.abs(a.x - b.x);
  }

  #hover(event: PointerEvent): void {
    const {x: plotX, y: plotY} = this.#place(event);
    const over = this.chart === 'trend' ? NOTHING_OVER : overAt(get(), nsAt(get(), plotX), plotY);
    const seen = get().hover;
    set({hover: {chart: this.chart, plotX, plotY, x: event.clientX, y: event.clientY, ...over}});
    if (seen?.block !== over.block) hoverBlock(over.block);
  }

  #click(event: PointerEvent): void {
    if (this.chart === 'trend') keep(this.#ns(event.clientX));
    else pin(this.#block(event));
  }

  #block(event: PointerEvent): number | null {
    const {x, y} = this.#place(event);
    return this.chart === 'trend' ? null : blockAt(get(), nsAt(get(), x), y);
  }

  #width(): number {
    return Math.max(1, get().layout.plot);
  }

  /** In the plot; sideways never outside of it. */
  #place({clientX, clientY}: {clientX: number; clientY: number}): Point {
    const box = this.plot()?.getBoundingClientRect();
    return {x: Math.max(0, Math.min(this.#width(), clientX - (box?.left ?? 0))), y: clientY - (box?.top ?? 0)};
  }

  #ns(clientX: number): number {
    return nsAt(get(), this.#place({clientX, clientY: 0}).x);
  }
}

const ordered = (a: number, b: number): Range => ({from: Math.round(Math.min(a, b)), to: Math.round(Math.max(a, b))});

function finishSelection(): void {
  const {selection} = get();
  if (selection !== null) showRange(selection);
}
