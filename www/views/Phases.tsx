import type {DeviceSummary, PhaseSummary} from '../../target/plain/pkg/oomscope';
import {clip, exactTime} from '../format';
import {useMessages} from '../i18n';
import {hasTrace} from '../panels';
import {isStep, phasesInView} from '../phases';
import type {State} from '../state';
import {captureAt} from '../state';
import {showRange} from '../window';

/** A name's first letter alone says nothing. */
const NARROWEST_NAME_PX = 30;

/** The steps by name, above the charts that they shade. */
export function Phases({s, device}: {s: State; device: DeviceSummary}) {
  const {phases} = device;
  // A trace that is still read may have some: their room is kept, so that nothing moves.
  if (phases.length === 0 && !hasTrace(s.session, captureAt(s))) return null;
  // Optimizer steps lie within steps, and upon them.
  const placed = [phases.filter(isStep), phases.filter(phase => !isStep(phase))].flatMap(kind => phasesInView(kind, s));
  return (
    <div class="phases" data-test="phases" style={{marginLeft: `${s.layout.gutter}px`, width: `${s.layout.plot}px`}}>
      {placed.map(each => <Name key={`${each.phase.name} ${each.phase.from_ns}`} {...each} device={device} />)}
    </div>
  );
}

function Name({phase, left, width, device}: {phase: PhaseSummary; left: number; width: number; device: DeviceSummary}) {
  const t = useMessages();
  const {name, from_ns, to_ns} = phase;
  const title = `${clip(name)}: ${exactTime(t, from_ns, device.end_ns)} – ${exactTime(t, to_ns, device.end_ns)}`;
  return (
    <button type="button" class={isStep(phase) ? 'phase' : 'phase optimizer'} title={title} tabIndex={-1} style={{left: `${left}px`, width: `${width}px`}}
      onClick={() => showRange({from: from_ns, to: to_ns})}>{width < NARROWEST_NAME_PX ? '' : clip(name)}</button>
  );
}
