import {useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {paintBars} from '../bars';
import {paintGrid} from '../draw';
import {clip, size} from '../format';
import {Gestures} from '../gestures';
import {useMessages} from '../i18n';
import {laneCss, plotPx} from '../lanes';
import type {State} from '../state';
import {get, ofJax, set} from '../state';
import {Marks} from './Marks';
import {OperatorName} from './OperatorName';
import {Swatch} from './Swatch';

/** A lane for each operator, a bar for each block. What is out of sight isn't there. */
export function Lanes({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const scroller = useRef<HTMLDivElement>(null);
  const {scroll, lanes: visible, ratio} = s.layout;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && Math.abs(element.scrollTop - scroll) > 1) element.scrollTop = scroll;
  }, [scroll, visible]);
  const scrolled = (): void => {
    const {layout} = get();
    const top = scroller.current?.scrollTop ?? 0;
    if (top !== layout.scroll) set({layout: {...layout, scroll: top}, hover: null, hoverDetail: null});
  };
  const rest = Math.max(0, device.lanes.length * laneCss(ratio) - visible);
  return (
    <div class="lanes">
      <h2 class="chart-title">{ofJax(device) ? t.lanesByOwner(device.lanes.length, device.blocks) : t.lanesTitle(device.lanes.length, device.blocks)}
        {device.alive_at_end_blocks > 0 && <span class="legend"><span title={t.hatchedTitle}><i class="key hatched" aria-hidden="true" /> {t.hatched}</span></span>}
      </h2>
      <div class="lanes-scroll" ref={scroller} onScroll={scrolled} tabIndex={-1}>
        <div class="lanes-view">
          <Names s={s} device={device} />
          <Plot s={s} device={device} />
        </div>
        <div style={{height: `${rest}px`}} />
      </div>
    </div>
  );
}

function Names({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const height = laneCss(s.layout.ratio);
  const first = Math.max(0, Math.floor(s.layout.scroll / height));
  const last = Math.min(device.lanes.length, first + Math.ceil(s.layout.lanes / height) + 1);
  return (
    <div class="lanes-names">
      {device.lanes.slice(first, last).map((lane, index) => {
        const number = first + index;
        const inWindow = s.frame?.counts[number - s.frameLane];
        const name = clip(lane.name || t.unattributed);
        return (
          <div key={number} class={inWindow === 0 ? 'lane-name absent' : 'lane-name'} title={t.laneTitle(name, lane.blocks, size(lane.bytes))}
            style={{top: `${number * height - s.layout.scroll}px`, height: `${height}px`, lineHeight: `${height}px`}}>
            <Swatch hue={lane.hue} /> <OperatorName name={name} />
          </div>
        );
      })}
    </div>
  );
}

function Plot({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const plot = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLCanvasElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const gestures = useMemo(() => new Gestures('lanes', () => plot.current), []);
  const {frame, view, layout, theme, canDraw} = s;
  const width = plotPx(s);
  const height = Math.round(layout.lanes * layout.ratio);
  useLayoutEffect(() => {
    if (grid.current !== null) paintGrid(grid.current, width, height, s);
  }, [view, width, height, layout.ratio, theme, canDraw]);
  useLayoutEffect(() => {
    if (bars.current !== null) paintBars(bars.current, height, s);
  }, [frame, view, layout]);
  return (
    <div class="plot lanes-plot" ref={plot}
      onWheel={gestures.wheel} onPointerDown={gestures.down} onPointerMove={gestures.move} onPointerUp={gestures.up}
      onPointerCancel={gestures.cancel} onPointerLeave={gestures.leave}>
      <canvas ref={grid} aria-hidden="true" />
      <canvas ref={bars} data-test="gantt" role="img" tabIndex={0} aria-label={t.lanesLabel(device.lanes.length)} />
      <Pinned s={s} />
      <Marks s={s} device={device} />
    </div>
  );
}

/** The pinned block's whole extent: other blocks of its lane may lie on top of it. */
function Pinned({s}: {s: State}) {
  const {detail, view, layout} = s;
  if (detail === null) return null;
  const x = (ns: number): number => (ns - view.from) / (view.to - view.from) * layout.plot;
  const left = Math.max(-2, x(detail.start_ns));
  const right = Math.min(layout.plot + 2, x(detail.start_ns + detail.duration_ns));
  if (right < 0 || left > layout.plot) return null;
  const height = laneCss(layout.ratio);
  return <div class="pinned-box" style={{left: `${left}px`, width: `${Math.max(3, right - left)}px`, top: `${detail.lane * height - layout.scroll}px`, height: `${height}px`}} />;
}
