import type {CaptureSummary, ModuleReport, PoolReport, XplaneReport} from '../../../target/plain/pkg/oomscope';
import {clip, size} from '../../format';
import {useMessages} from '../../i18n';
import {deviceAt, isUsable, set} from '../../state';
import type {Session, State} from '../../state';
import {PlaceSelect} from '../Answer';
import {Work} from '../Work';
import {lineOf} from './Buffers';
import {HeapCurveChart} from './HeapCurveChart';
import {HeapPeak} from './HeapPeak';
import {Plan} from './Plan';
import {Verdicts} from './Verdicts';

interface Props {
  s: State;
  session: Session;
  capture: CaptureSummary;
  report: XplaneReport;
}

export const moduleAt = (s: State, report: XplaneReport): ModuleReport | null => report.modules.find(module => module.name === (s.module ?? report.chosen_module)) ?? null;

/** The pool that the verdicts speak of: of the device where the module went worst, else the largest. */
function poolOf(report: XplaneReport): PoolReport | null {
  const device = report.live_at_last_start[0]?.device;
  const same = report.allocators.find(pool => pool.device !== null && pool.device !== undefined && pool.device === device);
  return same ?? report.allocators.reduce<PoolReport | null>((most, pool) => most === null || pool.capacity_bytes > most.capacity_bytes ? pool : most, null);
}

/** A JAX capture: verdicts first, then what the compiler planned, then what happened. */
export function Jax({s, session, capture, report}: Props) {
  const device = deviceAt(s);
  const module = moduleAt(s, report);
  const capacity = poolOf(report)?.capacity_bytes ?? null;
  return (
    <>
      <Answer s={s} session={session} capture={capture} report={report} module={module} capacity={capacity} />
      <Verdicts diagnosis={report.diagnosis} wait={device?.waits[0] ?? null} />
      {module !== null && (
        <div class="plans">
          <Plan module={module} capacity={capacity} />
          <HeapPeak module={module} />
          <HeapCurveChart s={s} module={module} />
        </div>
      )}
      {device !== null && <Work s={s} device={device} />}
    </>
  );
}

interface AnswerProps extends Props {
  module: ModuleReport | null;
  capacity: number | null;
}

/** The line that asked for most of what lives at the heap's peak. */
function LargestLine({module}: {module: ModuleReport}) {
  const t = useMessages();
  const placed = (module.heap_peak?.buffers ?? []).flatMap(buffer => {
    const place = lineOf(buffer);
    return place === null ? [] : [{place, bytes: buffer.bytes, count: buffer.count}];
  });
  const [largest] = placed.sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined) return null;
  return (
    <button type="button" class="plain jax-line" data-test="jax-line" title={clip(largest.place)} onClick={() => set({tab: 'buffers'})}>
      {t.jaxLine(size(largest.bytes), largest.count)} <code>{clip(largest.place.slice(largest.place.lastIndexOf('/') + 1))}</code>
    </button>
  );
}

function Answer({s, session, capture, report, module, capacity}: AnswerProps) {
  const t = useMessages();
  return (
    <div class="answer">
      {s.place !== null && <PlaceSelect captures={session.captures.filter(each => isUsable(session, each))} taken={s.filter.taken} place={s.place} />}
      {report.modules.length > 0 && (
        <select data-test="module-select" aria-label={t.moduleSelect} value={module?.name ?? ''} onChange={event => set({module: event.currentTarget.value})}>
          {module === null && <option value="">{t.noModule}</option>}
          {report.modules.map(({name}) => <option key={name} value={name}>{clip(name)}</option>)}
        </select>
      )}
      {module !== null && (
        <strong class={capacity !== null && module.needed_bytes > capacity ? 'bad' : ''} data-test="jax-needs">
          {t.jaxNeeds(size(module.needed_bytes), capacity === null ? null : size(capacity))}
        </strong>
      )}
      {module !== null && <LargestLine module={module} />}
      <span>{t.jaxCounts(report.modules.length, session.executions.get(capture.capture) ?? report.executions.length)}</span>
      {capture.warnings.length > 0 && (
        <button type="button" class="plain warn" onClick={() => set({tab: 'quality'})}>{t.notes(capture.warnings.length)}</button>
      )}
    </div>
  );
}
