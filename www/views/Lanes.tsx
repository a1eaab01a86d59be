import {useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import type {DeviceSummary, LaneSummary} from '../../target/plain/pkg/oomscope';
import {paintBars, placeOfLane} from '../bars';
import {paintGrid} from '../draw';
import {clip, size} from '../format';
import {pin} from '../frames';
import {hideLane, isLanes, laneId, laneOrder, laneSetKey, lanesOf, pinLane, ranksOf, rowCount} from '../gantt';
import {Gestures} from '../gestures';
import {useMessages} from '../i18n';
import {plotPx, rowCss} from '../lanes';
import {isFrames, laneText, placeName, spoken, withoutFolders} from '../names';
import {show} from '../place';
import type {State} from '../state';
import {get, set} from '../state';
import {GanttTitle} from './GanttTitle';
import {Marks} from './Marks';
import {OperatorName} from './OperatorName';
import {Swatch} from './Swatch';

/** The blocks below the curves: on lanes, a row each, or stacked by size. What is out of sight isn't there. */
export function Lanes({s, device}: {s: State; device: DeviceSummary}) {
  const scroller = useRef<HTMLDivElement>(null);
  const {scroll, lanes: visible} = s.layout;
  const rest = Math.max(0, rowCount(s) * rowCss(s) - visible);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && Math.abs(element.scrollTop - scroll) > 1) element.scrollTop = scroll;
  }, [scroll, visible, rest]);
  const scrolled = (): void => {
    const {layout} = get();
    const top = scroller.current?.scrollTop ?? 0;
    if (top !== layout.scroll) set({layout: {...layout, scroll: top}, hover: null, hoverDetail: null});
  };
  return (
    <div class="lanes">
      <GanttTitle s={s} device={device} />
      <div class="lanes-scroll" ref={scroller} onScroll={scrolled} tabIndex={-1}>
        <div class="lanes-view">
          <div class="lanes-names">
            {isLanes(s.gantt) && <LaneNames s={s} />}
            {s.gantt === 'blocks' && <BlockNames s={s} device={device} />}
            {s.gantt === 'ranks' && <RankNames s={s} />}
            {s.gantt === 'stacked' && <StackScale s={s} />}
          </div>
          <Plot s={s} device={device} />
        </div>
        <div style={{height: `${rest}px`}} />
      </div>
    </div>
  );
}

/** The rows in sight, and where each lies. */
function inSight(s: State): {rows: number[]; style: (row: number) => Record<string, string>} {
  const height = rowCss(s);
  const first = Math.max(0, Math.floor(s.layout.scroll / height));
  const last = Math.min(rowCount(s), first + Math.ceil(s.layout.lanes / height) + 1);
  return {
    rows: Array.from({length: Math.max(0, last - first)}, (_, nth) => first + nth),
    style: row => ({top: `${row * height - s.layout.scroll}px`, height: `${height}px`, lineHeight: `${height}px`}),
  };
}

function LaneNames({s}: {s: State}) {
  const {rows, style} = inSight(s);
  const order = laneOrder(s);
  const lanes = lanesOf(s);
  const drawn = s.frame?.gantt?.kind === 'lanes' ? s.frame.gantt.lanes : [];
  return (
    <>
      {rows.map(row => {
        const number = order[row] ?? -1;
        const lane = lanes[number];
        if (lane === undefined) return null;
        const absent = s.frame?.counts?.[drawn.indexOf(number)] === 0;
        return <LaneName key={number} s={s} lane={lane} absent={absent} style={style(row)} />;
      })}
    </>
  );
}

function LaneName({s, lane, absent, style}: {s: State; lane: LaneSummary; absent: boolean; style: Record<string, string>}) {
  const t = useMessages();
  const id = laneId(s.gantt, lane);
  const pinned = s.pinnedLanes.has(id);
  const name = laneText(t, s.gantt, lane);
  const title = [t.laneTitle(name, lane.blocks, size(lane.bytes)), ...lane.stack.map(frame => clip(frame))].join('\n');
  return (
    <div class={`lane-name${absent ? ' absent' : ''}${pinned ? ' kept' : ''}`} title={title} style={style} data-test="lane-name">
      {s.gantt === 'operator' && s.colouring === 'operator' && <><Swatch hue={lane.hue} /> </>}
      <span class="lane-text">{isFrames(s.gantt) ? withoutFolders(name) : <OperatorName name={name} />}</span>
      <span class="lane-acts">
        <button type="button" class="quiet" aria-pressed={pinned} aria-label={t.pinLane(name)} title={t.pinLane(name)} onClick={() => pinLane(id)}>{pinned ? '▼' : '▲'}</button>
        <button type="button" class="quiet" aria-label={t.hideLane(name)} title={t.hideLane(name)} onClick={() => hideLane(id)}>×</button>
      </span>
    </div>
  );
}

function BlockNames({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const {rows, style} = inSight(s);
  const {frame} = s;
  if (frame?.gantt?.kind !== 'blocks') return null;
  const {first} = frame.gantt;
  return (
    <>
      {rows.map(row => {
        const block = frame.row_blocks?.[row - first];
        if (block === undefined) return null;
        const lane = device.lanes[frame.row_lanes?.[row - first] ?? -1];
        const name = clip(t.ownerName(lane?.name || t.unattributed));
        const bytes = size(frame.row_bytes?.[row - first] ?? 0);
        return (
          <div key={row} class={`lane-name${s.pinned === block ? ' kept' : ''}`} style={style(row)}>
            <button type="button" class="plain row-name" title={`${name} · ${bytes}`} onClick={() => pin(block)}>
              <Swatch hue={lane?.hue ?? 12} /> <span class="row-bytes">{bytes}</span> <OperatorName name={name} />
            </button>
          </div>
        );
      })}
    </>
  );
}

function RankNames({s}: {s: State}) {
  const t = useMessages();
  const {rows, style} = inSight(s);
  const places = ranksOf(s);
  return (
    <>
      {rows.map(row => {
        const place = places[row];
        const capture = s.session?.captures.find(each => each.capture === place?.capture);
        const device = capture?.devices[place?.device ?? -1];
        if (place === undefined || capture === undefined || device === undefined) return null;
        const shown = s.place?.capture === place.capture && s.place.device === place.device;
        const name = placeName(t, capture, device);
        return (
          <div key={row} class={`lane-name${shown ? ' kept' : ''}`} style={style(row)} data-test="rank-name">
            <button type="button" class="plain row-name" aria-current={shown} title={`${name}: ${t.rankLaneTitle(size(device.peak.total_bytes))}\n${clip(capture.source)}`} onClick={() => show(place)}>{name}</button>
          </div>
        );
      })}
    </>
  );
}

/** So many lines has the scale of a stack. */
const SCALE_LINES = 4;

function StackScale({s}: {s: State}) {
  const {frame, layout} = s;
  if (frame?.y_from === undefined || frame.y_to === undefined) return null;
  const {y_from: from, y_to: to} = frame;
  return (
    <>
      {Array.from({length: SCALE_LINES + 1}, (_, line) => (
        <div key={line} class="scale" style={{bottom: `${Math.min(layout.lanes - 15, Math.max(0, layout.lanes * line / SCALE_LINES - 8))}px`}}>{size(Math.round(from + (to - from) * line / SCALE_LINES))}</div>
      ))}
    </>
  );
}

function Plot({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const plot = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLCanvasElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const gestures = useMemo(() => new Gestures('lanes', () => plot.current), []);
  const {frame, view, layout, theme, canDraw, gantt} = s;
  const width = plotPx(s);
  const height = Math.round(layout.lanes * layout.ratio);
  const order = laneOrder(s);
  useLayoutEffect(() => {
    if (grid.current !== null) paintGrid(grid.current, width, height, s);
  }, [view, width, height, layout.ratio, theme, canDraw]);
  useLayoutEffect(() => {
    if (bars.current !== null) paintBars(bars.current, height, s);
  }, [frame, view, layout, order, gantt, s.nearest]);
  return (
    <div class="plot lanes-plot" ref={plot}
      onWheel={gestures.wheel} onPointerDown={gestures.down} onPointerMove={gestures.move} onPointerUp={gestures.up}
      onPointerCancel={gestures.cancel} onPointerLeave={gestures.leave}>
      <canvas ref={grid} aria-hidden="true" />
      <canvas ref={bars} data-test="gantt" data-gantt={frame?.gantt?.kind} data-picture={frame?.picture} role="img" tabIndex={0} aria-label={spoken(t, s, device, t.ganttLabels[isLanes(gantt) ? 'lanes' : gantt](rowCount(s)), gantt === 'ranks' ? 'ranks' : 'blocks')} />
      <Pinned s={s} />
      <Marks s={s} device={device} />
    </div>
  );
}

/** The pinned block's whole extent: other blocks of its lane may lie on top of it. */
function Pinned({s}: {s: State}) {
  const {detail, view, layout, pinnedLane} = s;
  if (detail === null) return null;
  const place = rowOfPinned(s);
  if (place === null) return null;
  const x = (ns: number): number => (ns - view.from) / (view.to - view.from) * layout.plot;
  const left = Math.max(-2, x(detail.start_ns));
  const right = Math.min(layout.plot + 2, x(detail.start_ns + detail.duration_ns));
  if (right < 0 || left > layout.plot) return null;
  const height = rowCss(s);
  return <div class="pinned-box" style={{left: `${left}px`, width: `${Math.max(3, right - left)}px`, top: `${place * height - layout.scroll}px`, height: `${height}px`}} />;

  function rowOfPinned(s: State): number | null {
    if (s.gantt === 'blocks' && s.frame?.gantt?.kind === 'blocks' && s.pinned !== null) {
      const row = s.frame.row_blocks?.indexOf(s.pinned) ?? -1;
      return row < 0 ? null : s.frame.gantt.first + row;
    }
    if (!isLanes(s.gantt) || pinnedLane === null || pinnedLane.lane === null || pinnedLane.key !== `${s.pinned} ${laneSetKey(s)}`) return null;
    return placeOfLane(s, pinnedLane.lane);
  }
}
