import {useLayoutEffect, useRef} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {useMessages} from '../i18n';
import {openAgain} from '../session';
import type {State} from '../state';
import {get, set} from '../state';
import {Lanes} from './Lanes';
import {Navigator} from './Navigator';
import {Trend} from './Trend';

/** The linked charts: one window of time for all of them. */
export function Charts({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const box = useRef<HTMLElement>(null);
  useLayoutEffect(() => watchSize(box.current), []);
  return (
    <section class="charts" ref={box}>
      {s.session?.lost === true
        ? <p class="lost">{t.chartsLost} <button type="button" onClick={openAgain}>{t.openAgain}</button></p>
        : <><Trend s={s} device={device} /><Lanes s={s} device={device} /><Navigator s={s} device={device} /></>}
    </section>
  );
}

/** Keeps the state's layout true to the screen: the style sheet decides, this reads it off. */
function watchSize(box: HTMLElement | null): (() => void) | void {
  if (box === null) return;
  const measure = (): void => {
    const lanes = box.querySelector<HTMLElement>('.lanes-view');
    const plot = box.querySelector<HTMLElement>('.lanes-plot');
    if (lanes === null || plot === null) return;
    const next = {
      ratio: devicePixelRatio || 1,
      gutter: plot.offsetLeft,
      margin: Math.max(0, lanes.clientWidth - plot.offsetLeft - plot.clientWidth),
      plot: plot.clientWidth,
      lanes: lanes.clientHeight,
    };
    const {layout} = get();
    if (Object.entries(next).some(([key, value]) => layout[key as keyof typeof next] !== value)) set({layout: {...layout, ...next}});
  };
  const observer = new ResizeObserver(measure);
  for (const part of box.querySelectorAll('.lanes-view, .lanes-plot')) observer.observe(part);
  addEventListener('resize', measure);
  const stopWatching = watchRatio(measure);
  measure();
  return () => {
    observer.disconnect();
    removeEventListener('resize', measure);
    stopWatching();
  };
}

/** A window taken to another screen changes its pixels and nothing else. */
function watchRatio(changed: () => void): () => void {
  const watching = new AbortController();
  const watch = (): void => matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
    changed();
    watch();
  }, {once: true, signal: watching.signal});
  watch();
  return () => watching.abort();
}
