import {useLayoutEffect, useMemo, useRef} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {useMessages} from '../i18n';
import {paintOverview} from '../overview';
import {Slider} from '../slider';
import type {State} from '../state';
import {lengthOf} from '../state';
import {fit, pan, setEnd, showAll, showPeak, zoomByKey} from '../window';
import {TimeField} from './TimeField';

/** The whole capture as a strip with the window on it, the window's exact ends, and buttons for what the keys do. */
export function Navigator({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const canFit = s.selection !== null || s.detail !== null;
  return (
    <div class="navigator">
      <Strip s={s} device={device} />
      <div class="controls">
        <TimeField test="field-from" ns={s.view.from} label={t.left} device={device} take={ns => setEnd('from', ns)} />
        <TimeField test="field-to" ns={s.view.to} label={t.right} device={device} take={ns => setEnd('to', ns)} />
        <span class="muted">ms</span>
        <span class="buttons">
          <Act label={t.previousWindow} sign="⟨" act={() => pan(-1)} />
          <Act label={t.nextWindow} sign="⟩" act={() => pan(1)} />
          <Act label={t.zoomIn} sign="+" act={() => zoomByKey(true)} />
          <Act label={t.zoomOut} sign="−" act={() => zoomByKey(false)} />
        </span>
        <span class="buttons">
          <button type="button" onClick={showAll}>{t.wholeCapture}</button>
          <button type="button" onClick={showPeak}>{t.toPeak}</button>
          <button type="button" disabled={!canFit} onClick={fit}>{t.toSelection}</button>
        </span>
      </div>
      <p class="hint muted">{t.hint}</p>
    </div>
  );
}

function Act({label, sign, act}: {label: string; sign: string; act: () => void}) {
  return <button type="button" class="sign" aria-label={label} title={label} onClick={act}>{sign}</button>;
}

function Strip({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const strip = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const slider = useMemo(() => new Slider(() => strip.current), []);
  const {overview, theme, layout, view} = s;
  useLayoutEffect(() => {
    if (canvas.current !== null) paintOverview(canvas.current, overview, theme, layout.ratio);
  }, [overview, theme, layout]);
  const end = lengthOf(device);
  return (
    <div class="strip" ref={strip} style={{marginLeft: `${layout.gutter}px`, width: `${layout.plot}px`}}
      onPointerDown={slider.down} onPointerMove={slider.move} onPointerUp={slider.up} onPointerCancel={slider.up}>
      <canvas ref={canvas} role="img" aria-label={t.overviewLabel} />
      <div class="strip-window" style={{left: `${view.from / end * 100}%`, width: `${(view.to - view.from) / end * 100}%`}} />
    </div>
  );
}
