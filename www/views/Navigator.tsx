import {useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {useMessages} from '../i18n';
import {paintOverview} from '../overview';
import {Slider} from '../slider';
import type {State} from '../state';
import {lengthOf} from '../state';
import {goBack, goForward} from '../hash';
import {setLeastMib, showLargest, showNextLarge} from '../jumps';
import {busiestShown, moved, peakShown} from '../said';
import {fit, pan, setEnd, showAll, zoomByKey} from '../window';
import {Act} from './Act';
import {Search} from './Search';
import {TextField} from './TextField';
import {TimeField} from './TimeField';

/** The whole capture as a strip with the window on it, the window's exact ends, and buttons for what the keys do. */
export function Navigator({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const canFit = s.selection !== null || s.detail !== null;
  return (
    <div class="navigator">
      <Search s={s} device={device} />
      <Strip s={s} device={device} />
      <div class="controls">
        <TimeField test="field-from" ns={s.view.from} label={t.left} device={device} take={ns => setEnd('from', ns)} />
        <TimeField test="field-to" ns={s.view.to} label={t.right} device={device} take={ns => setEnd('to', ns)} />
        <span class="muted">ms</span>
        <span class="buttons">
          <Sign label={t.previousWindow} sign="⟨" act={() => moved(() => pan(-1))} />
          <Sign label={t.nextWindow} sign="⟩" act={() => moved(() => pan(1))} />
          <Sign label={t.zoomIn} sign="+" act={() => moved(() => zoomByKey(true))} />
          <Sign label={t.zoomOut} sign="−" act={() => moved(() => zoomByKey(false))} />
          <Sign label={t.back} sign="←" act={goBack} />
          <Sign label={t.forward} sign="→" act={goForward} />
        </span>
        <span class="buttons">
          <Act label={t.wholeCapture} shortcut="0" act={() => moved(showAll)} />
          <Act label={t.toPeak} shortcut="P" act={peakShown} test="to-peak" />
          <Act label={t.toSelection} shortcut="F" act={() => moved(fit)} title={t.toSelectionTitle} disabled={!canFit} />
          <Act label={t.busiest} shortcut="M" act={() => void busiestShown()} title={t.busiestTitle} test="busiest" />
          <Act label={t.largestBlock} shortcut="L" act={() => void showLargest()} title={t.largestBlockTitle} test="largest-block" />
        </span>
        <span class="buttons next-large">
          <Act label={t.nextLarge} shortcut="N" act={() => void showNextLarge()} title={t.nextLargeTitle} test="next-large" />
          <TextField text={String(s.leastMib)} label={t.leastMib} unit="MiB" title={t.leastMibTitle} test="least-mib" take={setLeastMib} />
          <span class="muted">MiB</span>
        </span>
      </div>
    </div>
  );
}

function Sign({label, sign, act}: {label: string; sign: string; act: () => void}) {
  return <button type="button" class="sign" aria-label={label} title={label} onClick={act}>{sign}</button>;
}

function Strip({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const strip = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const slider = useMemo(() => new Slider(() => strip.current), []);
  const {overview, theme, layout, view, hits} = s;
  useLayoutEffect(() => {
    if (canvas.current !== null) paintOverview(canvas.current, overview, hits?.marks ?? null, theme, layout.ratio);
  }, [overview, hits, theme, layout]);
  const end = lengthOf(device);
  return (
    <div class="strip" ref={strip} style={{marginLeft: `${layout.gutter}px`, width: `${layout.plot}px`}}
      onPointerDown={slider.down} onPointerMove={slider.move} onPointerUp={slider.up} onPointerCancel={slider.up}>
      <canvas ref={canvas} role="img" aria-label={t.overviewLabel} />
      <div class="strip-window" style={{left: `${view.from / end * 100}%`, width: `${(view.to - view.from) / end * 100}%`}} />
    </div>
  );
}
