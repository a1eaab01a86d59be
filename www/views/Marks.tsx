import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import type {State} from '../state';

/** What lies over a plot: the cursor, the selection, the instant of the peak. */
export function Marks({s, device}: {s: State; device: DeviceSummary}) {
  const {view, layout, hover, selection} = s;
  const x = (ns: number): number => (ns - view.from) / (view.to - view.from) * layout.plot;
  const inside = (at: number): boolean => at >= 0 && at <= layout.plot;
  const peak = x(device.peak.time_ns);
  return (
    <>
      {selection !== null && <Selection from={x(selection.from)} to={x(selection.to)} width={layout.plot} />}
      {inside(peak) && <div class="peak-line" style={{left: `${peak}px`}} />}
      {hover !== null && <div class="cursor" style={{left: `${hover.plotX}px`}} />}
    </>
  );
}

function Selection({from, to, width}: {from: number; to: number; width: number}) {
  const [left, right] = [Math.max(0, from), Math.min(width, to)];
  if (right <= left) return null;
  return <div class="selection" style={{left: `${left}px`, width: `${right - left}px`}} />;
}
