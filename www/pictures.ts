// Charts to take away as they are seen: the page's own wasm draws them, the same picture on a canvas (PNG) and as SVG.
import type {DeviceSummary, Label, PhaseSummary, Picture} from '../target/plain/pkg/oomscope';
import {Saved} from '../target/plain/pkg/oomscope';
import {saveFile} from './downloads';
import {heapStyle, trendStyle} from './draw';
import {EngineEnded, engine} from './engine';
import {FRAME_PX, depthOf, hueOf, shortFrame} from './flame';
import {clip, clipSentence, size, time} from './format';
import {frameRequest} from './frames';
import {isLanes, laneOrder, lanesOf, rampOf, ranksOf, rowCount} from './gantt';
import type {Messages} from './i18n';
import {messagesOf} from './i18n';
import {rowCss, rowPx} from './lanes';
import {placeName, shortLaneText} from './names';
import {isStep, phasesInView} from './phases';
import type {Frame} from './protocol';
import {reasonOf} from './reason';
import type {State} from './state';
import {captureAt, deviceAt, get, isNarrowed, linesOf, notify} from './state';

export type Chart = 'trend' | 'lanes' | 'flame' | 'sizes' | 'heap' | 'heap-peak' | 'plan';

const TITLE_Y = 16;
const TOP = 34;
const BOTTOM = 26;
const SIDE = 12;
const NARROW = 600;
const LETTERS = 12;
const SMALL_LETTERS = 11;
const NAMED_FRAME = 24;
const NAMED_PHASE = 30;
/** Between the title and the bars: where their colours are explained, and the names of phases. */
const LEGEND = 18;
const PHASES = 13;
const GREY = 12;
/** The marks of a shape: the engine's HATCHED and the like are set by it alone. */
const NO_MARKS = 0;
const SCALE_LINES = 4;

/** A picture in the making. Lengths go in as CSS pixels. */
class Sketch {
  readonly labels: Label[] = [];
  readonly shapes: number[] = [];
  grid: Picture['grid'];
  curves: [number, number] = [0, 0];

  constructor(readonly s: State, readonly width: number, readonly height: number) {}

  px(css: number): number {
    return Math.round(css * this.s.layout.ratio);
  }

  label(text: string, x: number, y: number, room: number, {letters = LETTERS, colour = this.s.theme.name, ends = false} = {}): void {
    this.labels.push({text: clipSentence(text), x: this.px(x), y: this.px(y), room_px: Math.max(0, this.px(room)), size: letters, ends, colour});
  }

  box(x: number, y: number, width: number, height: number, colour: number, alpha = 255): void {
    const [left, top] = [Math.max(0, this.px(x)), Math.max(0, this.px(y))];
    this.shapes.push(left, top, Math.max(1, this.px(x + width) - left), Math.max(1, this.px(y + height) - top), colour, alpha, NO_MARKS);
  }

  get picture(): Picture {
    const {theme, layout} = this.s;
    return {
      width_px: this.px(this.width), height_px: this.px(this.height), ratio: layout.ratio, font: theme.font, background: theme.background,
      labels: this.labels, grid: this.grid, curves_px: [this.px(this.curves[0]), this.px(this.curves[1])],
    };
  }
}

/** A sketch, and what curves are to be put into it. */
interface Drawn {
  sketch: Sketch;
  curves?: (saved: Saved) => void;
}

export async function savePicture(chart: Chart, kind: 'png' | 'svg'): Promise<void> {
  // Before anything is waited for: the picture is of what is seen now. SVG has no pixels of a screen.
  const s = get();
  const seen: State = kind === 'svg' ? {...s, layout: {...s.layout, ratio: 1}} : s;
  try {
    const drawn = await draw(chart, seen, messagesOf(s.locale));
    if (drawn === null) return;
    const saved = new Saved(drawn.sketch.picture, Uint32Array.from(drawn.sketch.shapes));
    try {
      drawn.curves?.(saved);
      if (kind === 'svg') saveFile(`oomscope-${chart}.svg`, [saved.svg()], 'image/svg+xml');
      else saveFile(`oomscope-${chart}.png`, [await png(saved, drawn.sketch.picture)], 'image/png');
    } finally {
      saved.free();
    }
  } catch (error) {
    if (!(error instanceof EngineEnded)) notify('error', t => t.exportFailed(reasonOf(error)));
  }
}

async function png(saved: Saved, {width_px, height_px}: Picture): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = width_px;
  canvas.height = height_px;
  saved.paint(canvas);
  const blob = await new Promise<Blob | null>(resolve => canvas.toBlob(resolve, 'image/png'));
  if (blob === null) throw new Error(`no picture of ${width_px} × ${height_px}`);
  return blob;
}

async function draw(chart: Chart, s: State, t: Messages): Promise<Drawn | null> {
  switch (chart) {
    case 'trend': return trend(s, t);
    case 'lanes': return lanes(s, t);
    case 'flame': return flame(s, t);
    case 'heap': return heap(s, t);
    case 'sizes': return asLaidOut(s, t, t.tabNames.sizes, '.histograms');
    case 'heap-peak': return asLaidOut(s, t, null, '[data-test="heap-peak"]');
    case 'plan': return asLaidOut(s, t, null, '[data-test="plan"]');
  }
}

/** Whose memory it is. */
function whose(s: State, t: Messages): string {
  const [capture, device] = [captureAt(s), deviceAt(s)];
  if (capture === null) return '';
  return device === null ? clip(capture.source) : placeName(t, capture, device);
}

function windowed(s: State, t: Messages, device: DeviceSummary): string {
  const range = `${time(t, s.view.from, device.end_ns)} – ${time(t, s.view.to, device.end_ns)}`;
  return isNarrowed(s) ? `${range} · ${t.lineNames.filtered}` : range;
}

function begin(s: State, width: number, height: number, title: string[]): Sketch {
  const sketch = new Sketch(s, width, height);
  sketch.label(title.filter(Boolean).join(' · '), SIDE, TITLE_Y, width - 2 * SIDE, {letters: 14});
  return sketch;
}

const chartsWidth = ({layout: {gutter, plot, margin}}: State): number => gutter + plot + margin;

/** The phases whose names stand above a chart: steps; of a JAX capture, executions. */
function namedPhases({phases}: DeviceSummary): PhaseSummary[] {
  const steps = phases.filter(isStep);
  return steps.length > 0 ? steps : phases;
}

const roomForNames = (device: DeviceSummary): number => device.phases.length > 0 ? PHASES : 0;

/** What lies over both charts: steps with their names above, the peak, the cursor, A and B. */
function marks(sketch: Sketch, device: DeviceSummary, namesY: number, top: number, height: number): void {
  const {s} = sketch;
  const {gutter, plot} = s.layout;
  const x = (ns: number): number => (ns - s.view.from) / (s.view.to - s.view.from) * plot;
  for (const {left, width, odd} of phasesInView(device.phases.filter(isStep), s)) if (odd) sketch.box(gutter + left, top, width, height, s.theme.name, 12);
  for (const {phase, left, width} of phasesInView(namedPhases(device), s)) {
    if (width >= NAMED_PHASE) sketch.label(clip(phase.name), gutter + left + 2, namesY, width - 4, {letters: SMALL_LETTERS, colour: s.theme.text});
  }
  const line = (ns: number | null, name: string, alpha: number): void => {
    if (ns === null || x(ns) < 0 || x(ns) > plot) return;
    sketch.box(gutter + x(ns), top, 1 / s.layout.ratio, height, s.theme.peak, alpha);
    if (name !== '') sketch.label(name, gutter + x(ns) + 3, top + 6, 20, {letters: SMALL_LETTERS});
  };
  line(device.peak.time_ns, '', 90);
  line(s.cursor, '', 160);
  line(s.a, 'A', 200);
  line(s.b, 'B', 200);
}

async function trend(s: State, t: Messages): Promise<Drawn | null> {
  const [device, request] = [deviceAt(s), frameRequest(s)];
  if (device === null || request === null) return null;
  const frame = await engine.call('frame', [{...request, gantt: undefined}]);
  const chart = document.querySelector('.trend-canvas')?.clientHeight ?? 0;
  const curvesTop = TOP + 14 + roomForNames(device);
  const sketch = begin(s, chartsWidth(s), curvesTop + chart, [t.trendTitle, whose(s, t), windowed(s, t, device)]);
  sketch.curves = [curvesTop, chart];
  const lines = linesOf(s);
  const colours = Uint32Array.from(lines, line => s.theme.lines[line]);
  legend(sketch, [
    [t.total, s.theme.total], [t.baseline, s.theme.baseline], [t.reserved, s.theme.reserved],
    ...(device.peak.active_bytes ?? null) === null ? [] : [[t.active, s.theme.active] satisfies [string, number]],
    ...lines.filter(line => line !== 'outside' || device.has_outside).map((line): [string, number] => [t.lineNames[line], s.theme.lines[line]]),
  ]);
  marks(sketch, device, curvesTop - 5, curvesTop + 18, chart - 18 - 22);
  return {sketch, curves: saved => saved.trend(frame, trendStyle(s, device, t), lines, colours)};
}

function legend(sketch: Sketch, entries: [string, number][]): void {
  let x = SIDE;
  for (const [text, colour] of entries) {
    sketch.box(x, TOP - 4, 10, 10, colour);
    sketch.label(text, x + 15, TOP + 1, 300, {colour: sketch.s.theme.text});
    x += 30 + [...text].reduce((sum, letter) => sum + (letter > '\u2e80' ? 13 : 7), 0);
  }
}

async function lanes(s: State, t: Messages): Promise<Drawn | null> {
  const [device, asked] = [deviceAt(s), frameRequest(s)];
  if (device === null || asked?.gantt === undefined) return null;
  const row = rowCss(s);
  const first = Math.max(0, Math.floor(s.layout.scroll / row));
  const count = Math.max(1, Math.min(Math.ceil(s.layout.lanes / row), rowCount(s) - first));
  const {gantt} = asked;
  if (gantt.kind === 'lanes') gantt.lanes = laneOrder(s).slice(first, first + count);
  if (gantt.kind === 'blocks') Object.assign(gantt, {first, count});
  if (gantt.kind === 'ranks') gantt.places = ranksOf(s).slice(first, first + count);
  const frame = await engine.call('frame', [{...asked, shapes: true}]);
  const height = gantt.kind === 'stack' ? s.layout.lanes : count * row;
  const {gutter, plot} = s.layout;
  const ramp = rampOf(s);
  const top = TOP + (ramp === null ? 0 : LEGEND) + roomForNames(device);
  const sketch = begin(s, chartsWidth(s), top + height + BOTTOM, [t.ganttViews[s.gantt], whose(s, t), windowed(s, t, device)]);
  if (ramp !== null) legend(sketch, ramp.map((step, nth) => [nth + 1 < ramp.length ? t.upTo(step) : t.larger, s.theme.ramp[nth] ?? s.theme.text]));
  sketch.grid = {
    x: sketch.px(gutter), y: sketch.px(top), width: sketch.px(plot), height: sketch.px(height),
    from_ns: s.view.from, to_ns: s.view.to, colour: s.theme.grid, text: s.theme.text,
  };
  bars(sketch, frame, top, rowPx(s) * count);
  marks(sketch, device, top - 8, top, height);
  names(sketch, frame, t, top, first, count);
  return {sketch};
}

/** The engine's rectangles begin at the plot's corner. */
function bars(sketch: Sketch, {shapes}: Frame, topCss: number, height: number): void {
  const NUMBERS = 7;
  const [left, top] = [sketch.px(sketch.s.layout.gutter), sketch.px(topCss)];
  for (let at = 0; shapes !== undefined && at < shapes.length; at += NUMBERS) {
    const [x = 0, y = 0, ...rest] = shapes.subarray(at, at + NUMBERS);
    if (sketch.s.gantt === 'stacked' || y < height) sketch.shapes.push(left + x, top + y, ...rest);
  }
}

/** What stands beside the rows. */
function names(sketch: Sketch, frame: Frame, t: Messages, top: number, first: number, count: number): void {
  const {s} = sketch;
  const {gutter, lanes: visible} = s.layout;
  const row = rowCss(s);
  const name = (nth: number, text: string, hue: number | null): void => {
    const y = top + (nth + 0.5) * row;
    if (hue !== null) sketch.box(SIDE, y - 5, 10, 10, s.theme.palette[hue] ?? s.theme.text);
    const x = hue === null ? SIDE : SIDE + 16;
    sketch.label(text, x, y, gutter - x - 6);
  };
  if (isLanes(s.gantt)) {
    const [lanes, order, gantt] = [lanesOf(s), laneOrder(s), s.gantt];
    const coloured = gantt === 'operator' && s.colouring === 'operator';
    for (let nth = 0; nth < count; nth++) {
      const lane = lanes[order[first + nth] ?? -1];
      if (lane !== undefined) name(nth, shortLaneText(t, gantt, lane), coloured ? lane.hue : null);
    }
  } else if (s.gantt === 'blocks') {
    const operators = deviceAt(s)?.lanes ?? [];
    frame.row_bytes?.forEach((bytes, nth) => {
      const lane = operators[frame.row_lanes?.[nth] ?? -1];
      name(nth, `${size(bytes)} ${clip(t.ownerName(lane?.name || t.unattributed))}`, lane?.hue ?? GREY);
    });
  } else if (s.gantt === 'ranks') {
    ranksOf(s).slice(first, first + count).forEach((place, nth) => {
      const capture = s.session?.captures.find(each => each.capture === place.capture);
      const device = capture?.devices[place.device];
      if (capture !== undefined && device !== undefined) name(nth, placeName(t, capture, device), null);
    });
  } else if (frame.y_from !== undefined && frame.y_to !== undefined) {
    for (let line = 0; line <= SCALE_LINES; line++) {
      const bytes = Math.round(frame.y_from + (frame.y_to - frame.y_from) * line / SCALE_LINES);
      sketch.label(size(bytes), gutter - 8, top + visible * (1 - line / SCALE_LINES), gutter, {ends: true, colour: s.theme.text});
    }
  }
}

function flame(s: State, t: Messages): Drawn | null {
  const answer = s.answers.flame?.value ?? null;
  if (answer === null) return null;
  const width = Math.max(NARROW, chartsWidth(s));
  const inner = width - 2 * SIDE;
  const title = t.flameTitle(t.flameMeasures[s.flame.measure], size(answer.bytes), answer.blocks);
  const sketch = begin(s, width, TOP + depthOf(answer) * FRAME_PX + SIDE, [title, whose(s, t)]);
  const searched = answer.rects.some(({found}) => found);
  answer.rects.forEach((rect, at) => {
    const frame = answer.frames[rect.frame] ?? '';
    const [x, y, wide] = [SIDE + rect.from * inner, TOP + rect.depth * FRAME_PX, rect.width * inner - 1];
    sketch.box(x, y, wide, FRAME_PX - 1, s.theme.palette[hueOf(frame)] ?? s.theme.text, searched && !rect.found ? 41 : 97);
    if (wide >= NAMED_FRAME) sketch.label(at === 0 ? t.flameAll : shortFrame(frame) || t.noStack, x + 4, y + FRAME_PX / 2, wide - 6, {letters: SMALL_LETTERS});
  });
  return {sketch};
}

function heap(s: State, t: Messages): Drawn | null {
  const {heap} = s;
  const box = document.querySelector('.heap-box');
  if (heap === null || box === null) return null;
  const {clientWidth, clientHeight} = box;
  const sketch = begin(s, clientWidth, TOP + clientHeight, [t.heapCurve(heap.events), whose(s, t)]);
  sketch.curves = [TOP, clientHeight];
  return {sketch, curves: saved => saved.heap(heap.min, heap.max, heap.events, heapStyle(s, heap, t))};
}

/** A chart that the browser lays out: every box with a colour of its own, and every text, where they are. */
function asLaidOut(s: State, t: Messages, name: string | null, selector: string): Drawn | null {
  const root = document.querySelector<HTMLElement>(selector);
  if (root === null) return null;
  const whole = root.getBoundingClientRect();
  const sketch = begin(s, Math.max(NARROW / 2, whole.width + 2 * SIDE), TOP + whole.height + SIDE, [name ?? '', whose(s, t)]);
  const place = ({left, top}: DOMRect): [number, number] => [left - whole.left + SIDE, top - whole.top + TOP];
  const skipped = 'button:not(.sort), .table-tools, .grip, details, .save-picture, .off-screen, select';
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, node =>
    node instanceof HTMLElement && node.matches(skipped) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  while (walker.nextNode() !== null) {
    const node = walker.currentNode;
    if (node instanceof HTMLElement) filled(sketch, node, place);
    else for (const line of linesIn(node as Text)) written(sketch, line, place);
  }
  return {sketch};
}

function filled(sketch: Sketch, element: HTMLElement, place: (rect: DOMRect) => [number, number]): void {
  const {backgroundColor, borderLeftColor, borderLeftWidth} = getComputedStyle(element);
  const [colour, edge, border] = [colourOf(backgroundColor), colourOf(borderLeftColor), parseFloat(borderLeftWidth)];
  const rect = element.getBoundingClientRect();
  if (rect.width === 0 || rect.height === 0) return;
  const [x, y] = place(rect);
  if (border > 0 && edge !== null) sketch.box(x, y, colour === null ? border : rect.width, rect.height, edge.rgb, edge.alpha);
  if (colour !== null) sketch.box(x + border, y + border, rect.width - 2 * border, rect.height - 2 * border, colour.rgb, colour.alpha);
}

/** A text as the browser breaks it: without the room before and after each line. */
function linesIn(node: Text): Range[] {
  const lines: Range[] = [];
  let middle = -Infinity;
  // By letter: Chinese has no words between which a line is broken.
  for (const {index, 0: letter} of node.data.matchAll(/\S/gu)) {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + letter.length);
    const {top, bottom} = range.getBoundingClientRect();
    if (top > middle) lines.push(range);
    else lines.at(-1)?.setEnd(node, index + letter.length);
    middle = (top + bottom) / 2;
  }
  return lines;
}

function written(sketch: Sketch, range: Range, place: (rect: DOMRect) => [number, number]): void {
  const [text, parent] = [range.toString().replace(/\s+/g, ' '), range.startContainer.parentElement];
  const rect = range.getBoundingClientRect();
  if (parent === null || rect.width === 0) return;
  const {color, fontSize, textAlign} = getComputedStyle(parent);
  const [x, y] = place(rect);
  const ends = textAlign === 'end' || textAlign === 'right';
  // Cut where the box that holds it is; widths are rough, so what fits on the page has some more room.
  const room = Math.min(rect.width * 1.5, Math.max(parent.getBoundingClientRect().width, rect.width) + 8);
  sketch.label(text, ends ? x + rect.width : x, y + rect.height / 2, parent.closest('.tile') === null ? room : parent.clientWidth, {
    letters: parseFloat(fontSize), colour: colourOf(color)?.rgb ?? sketch.s.theme.name, ends,
  });
}

function colourOf(css: string): {rgb: number; alpha: number} | null {
  const [r = 0, g = 0, b = 0, alpha = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return alpha === 0 || css === '' ? null : {rgb: Math.round(r) << 16 | Math.round(g) << 8 | Math.round(b), alpha: Math.round(alpha * 255)};
}
