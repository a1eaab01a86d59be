import {useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {paintTrend} from '../draw';
import {size, time} from '../format';
import {Gestures} from '../gestures';
import {useMessages} from '../i18n';
import {spoken} from '../names';
import {openSearch} from '../search';
import type {State} from '../state';
import {isNarrowed, set} from '../state';
import {stretch} from '../stretch';
import {Act} from './Act';
import {Marks, Waits} from './Marks';
import {LineSwitch} from './panels/Reserve';
import {Phases} from './Phases';
import {SavePicture} from './SavePicture';

/** Memory over time: total over baseline, reserved and active as lines, the peak marked. */
export function Trend({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const canvas = useRef<HTMLCanvasElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const gestures = useMemo(() => new Gestures('trend', () => plot.current), []);
  const {frame, overview, view, layout, theme, canDraw} = s;
  // The style sheet's, which changes with the page's width: asked for at each drawing, it would make the browser lay out the page each time.
  const heightPx = useRef(0);
  useLayoutEffect(() => {
    heightPx.current = canvas.current?.clientHeight ?? 0;
  }, [layout.plot, layout.ratio]);
  useLayoutEffect(() => {
    if (canvas.current === null || frame === null) return;
    paintTrend(canvas.current, stretch(frame, overview, view), heightPx.current, s, t);
  }, [frame, overview, view, layout, theme, canDraw, t]);
  return (
    <div class="trend">
      <Legend s={s} device={device} />
      <Phases s={s} device={device} />
      <div class="trend-box">
        <canvas ref={canvas} class="trend-canvas" data-test="trend" role="img" tabIndex={0}
          aria-label={spoken(t, s, device, t.trendLabel(size(device.peak.total_bytes), time(t, device.peak.time_ns, device.end_ns)), 'peak')} />
        <div ref={plot} class="plot trend-plot" style={{left: `${layout.gutter}px`, width: `${layout.plot}px`}}
          onWheel={gestures.wheel} onPointerDown={gestures.down} onPointerMove={gestures.move} onPointerUp={gestures.up}
          onPointerCancel={gestures.cancel} onPointerLeave={gestures.leave}>
          <Marks s={s} device={device} />
          <Waits s={s} device={device} />
        </div>
        {frame === null && <p class="drawing" role="status">{t.drawing}</p>}
      </div>
    </div>
  );
}

const isKnown = (bytes: number | null | undefined): boolean => bytes !== null && bytes !== undefined;

function Legend({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  return (
    <h2 class="chart-title">
      {t.trendTitle}
      <span class="legend">
        <span><i class="key total" aria-hidden="true" /> {t.total}</span>
        <span title={t.baselineTitle}><i class="key baseline" aria-hidden="true" /> {t.baseline}</span>
        <span><i class="key reserved" aria-hidden="true" /> {t.reserved}</span>
        {isKnown(device.peak.active_bytes) && <span><i class="key active" aria-hidden="true" /> {t.active}</span>}
        {device.has_outside && <LineSwitch s={s} line="outside" />}
        {isNarrowed(s) && <span title={t.lineTitles.filtered} data-test="line-filtered"><i class="key filtered" aria-hidden="true" /> {t.lineNames.filtered}</span>}
        {s.lines.filter(line => line !== 'outside').map(line => <LineSwitch key={line} s={s} line={line} />)}
      </span>
      <span class="chart-acts">
        <Act label={t.searchOpen} shortcut="/" act={openSearch} test="open-search" />
        <Act label={t.keysOpen} shortcut="?" act={() => set({keys: true})} test="open-keys" />
        <SavePicture chart="trend" />
      </span>
    </h2>
  );
}
