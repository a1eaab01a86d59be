import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {duration, size} from '../format';
import {useMessages} from '../i18n';
import {isStep, phasesInView} from '../phases';
import type {State} from '../state';

/** What lies over a plot: steps, the cursor, the selection, the instants of the peak and of A and B. */
export function Marks({s, device}: {s: State; device: DeviceSummary}) {
  const {view, layout, hover, selection, cursor, a, b} = s;
  const x = (ns: number): number => (ns - view.from) / (view.to - view.from) * layout.plot;
  const inside = (at: number): boolean => at >= 0 && at <= layout.plot;
  const peak = x(device.peak.time_ns);
  const mark = (ns: number | null, name: string) => ns !== null && inside(x(ns)) && <div key={name} class={`mark mark-${name}`} style={{left: `${x(ns)}px`}} />;
  return (
    <>
      <Shades s={s} device={device} />
      {selection !== null && <Selection from={x(selection.from)} to={x(selection.to)} width={layout.plot} />}
      {inside(peak) && <div class="peak-line" style={{left: `${peak}px`}} />}
      {mark(cursor, 'cursor')}{mark(a, 'a')}{mark(b, 'b')}
      {hover !== null && <div class="cursor" style={{left: `${hover.plotX}px`}} />}
    </>
  );
}

/** When the allocator had no room, and for what: beside the wait, which may be cut off. */
export function Waits({s, device: {waits}}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const {view, layout} = s;
  const x = (ns: number): number => (ns - view.from) / (view.to - view.from) * layout.plot;
  const shown = waits.filter(({time_ns, duration_ns}) => time_ns <= view.to && time_ns + duration_ns >= view.from);
  return (
    <>
      {shown.map(({time_ns, duration_ns, bytes, failed}, at) => {
        const left = Math.max(0, x(time_ns));
        const right = Math.min(layout.plot, x(time_ns + duration_ns));
        const before = left > layout.plot / 2;
        return (
          <div key={at} class={failed ? 'wait failed' : 'wait'} data-test="wait" style={{left: `${left}px`, width: `${Math.max(2, right - left)}px`}}>
            <span class={before ? 'wait-label before' : 'wait-label'}>{t.waitMark(bytes === null || bytes === undefined ? null : size(bytes), duration(duration_ns), failed)}</span>
          </div>
        );
      })}
    </>
  );
}

/** Every other step, and every optimizer step. */
function Shades({s, device: {phases}}: {s: State; device: DeviceSummary}) {
  const steps = phasesInView(phases.filter(isStep), s).filter(placed => placed.odd);
  const optimizers = phasesInView(phases.filter(phase => !isStep(phase)), s);
  return (
    <>
      {steps.map(({phase, left, width}) => <div key={`s${phase.from_ns}`} class="shade" style={{left: `${left}px`, width: `${width}px`}} />)}
      {optimizers.map(({phase, left, width}) => <div key={`o${phase.from_ns}`} class="shade optimizer" style={{left: `${left}px`, width: `${width}px`}} />)}
    </>
  );
}

function Selection({from, to, width}: {from: number; to: number; width: number}) {
  const [left, right] = [Math.max(0, from), Math.min(width, to)];
  if (right <= left) return null;
  return <div class="selection" style={{left: `${left}px`, width: `${right - left}px`}} />;
}
