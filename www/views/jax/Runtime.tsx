import {useMemo} from 'preact/hooks';
import type {ExecutionReport, HostEventReport, LiveReport, PoolReport, RetryReport} from '../../../target/plain/pkg/oomscope';
import {clip, column, duration, exactBytes, exactTime, int, moment, size} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';

const deviceName = (t: Messages, device: number | null | undefined): string => device === null || device === undefined ? t.unknown : `GPU ${device}`;
const endOf = (events: {start_ns: number; duration_ns: number}[]): number => Math.max(0, ...events.map(({start_ns, duration_ns}) => start_ns + duration_ns));

/** What was alive when the module last began, by who made it; the rows sum to what was used. */
export function LiveAtStart({live, module}: {live: LiveReport[]; module: string}) {
  const t = useMessages();
  if (live.length === 0) return <p class="empty">{t.liveAtStartEmpty}</p>;
  return (
    <div data-test="live-at-start">
      {live.map(({device, execution, used_bytes, groups}) => {
        const unit = column(Math.max(1, used_bytes));
        return (
          <section class="answers" key={`${device}`}>
            <h2 title={exactBytes(t, used_bytes)}>{t.liveAtStartTitle(deviceName(t, device), clip(module), execution, size(used_bytes))}</h2>
            <div class="table-box">
              <table class="groups">
                <thead><tr><th>{t.owner}</th><th class="number">{t.bytesIn(unit.unit)}</th><th class="number">{t.blocks}</th></tr></thead>
                <tbody>
                  {groups.map(({owner, bytes, blocks}) => (
                    <tr key={owner}>
                      <td class="path">{clip(t.ownerName(owner))}</td>
                      <td class="number" data-bytes={bytes} title={exactBytes(t, bytes)}>{unit.show(bytes)}</td>
                      <td class="number">{blocks === 0 ? '–' : int(t, blocks)}</td>
                    </tr>
                  ))}
                </tbody>
                <tfoot><tr><th>{t.usedAtStart}</th><td class="number strong" data-test="used-at-start" data-bytes={used_bytes} title={exactBytes(t, used_bytes)}>{unit.show(used_bytes)}</td><td /></tr></tfoot>
              </table>
            </div>
          </section>
        );
      })}
    </div>
  );
}

interface HostEvents {
  first: HostEventReport;
  count: number;
  duration_ns: number;
}

/** Equal events folded: those of one name, on one device, within the same Python functions; by the start of the first. */
function folded(events: HostEventReport[]): HostEvents[] {
  const groups = new Map<string, HostEvents>();
  for (const event of events) {
    const key = JSON.stringify([event.device, event.highlight, event.name, event.frames]);
    const same = groups.get(key);
    if (same === undefined) {
      groups.set(key, {first: event, count: 1, duration_ns: event.duration_ns});
    } else {
      same.count += 1;
      same.duration_ns += event.duration_ns;
    }
  }
  return [...groups.values()];
}

/** What the host did between the last two executions: who might hold on to the outputs is marked, with the functions around it. */
export function BetweenExecutions({events}: {events: HostEventReport[]}) {
  const t = useMessages();
  if (events.length === 0) return <p class="empty">{t.betweenExecutionsEmpty}</p>;
  const end = endOf(events);
  return (
    <div class="table-box">
      <table class="groups" data-test="between-executions">
        <thead><tr><th>{t.device}</th><th class="number">{t.start}</th><th class="number">{t.hostEventCount}</th><th class="number">{t.duration}</th><th>{t.hostEvent}</th></tr></thead>
        <tbody>
          {folded(events).map(({first, count, duration_ns}, at) => (
            <tr key={at} class={first.highlight ? 'highlight' : ''}>
              <td>{deviceName(t, first.device)}</td>
              <td class="number" title={exactTime(t, first.start_ns, end)}>{moment(t, first.start_ns)}</td>
              <td class="number">{int(t, count)}</td>
              <td class="number">{duration(duration_ns)}</td>
              <td class="path">
                <code>{clip(first.name)}</code>{first.highlight && <small class="warn"> {t.mayHold}</small>}
                <Around frames={first.frames ?? []} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The Python functions around an event, the innermost first. */
function Around({frames}: {frames: string[]}) {
  if (frames.length === 0) return null;
  return <ol class="frames-around">{[...frames].reverse().map((frame, nth) => <li key={nth}><code>{clip(frame)}</code></li>)}</ol>;
}

/** Every execution, and every wait for memory. */
export function Executions({executions, all, retries}: {executions: ExecutionReport[]; all: number; retries: RetryReport[]}) {
  const t = useMessages();
  if (executions.length === 0 && retries.length === 0) return <p class="empty">{t.executionsEmpty}</p>;
  const end = endOf([...executions, ...retries]);
  return (
    <div class="answers">
      {retries.length > 0 && (
        <ul class="retries" data-test="retries">
          {retries.map((retry, at) => (
            <li key={at}>{t.retry(deviceName(t, retry.device), moment(t, retry.start_ns), duration(retry.duration_ns), retry.module ? `${clip(retry.module)} ${retry.execution ?? ''}` : null, retry.inferred)}</li>
          ))}
        </ul>
      )}
      {all > executions.length && <p class="muted" data-test="last-executions">{t.lastExecutions(executions.length, all)}</p>}
      <Launches executions={executions} end={end} />
    </div>
  );
}

function Launches({executions, end}: {executions: ExecutionReport[]; end: number}) {
  const t = useMessages();
  const {unit, show} = column(Math.max(1, ...executions.map(each => each.used_at_start_bytes ?? 0)));
  const columns = useMemo((): Column<ExecutionReport>[] => [
    {key: 'module', name: t.module, value: each => each.module, cell: each => <code>{clip(each.module)}</code>, attrs: () => ({class: 'path'})},
    countColumn(t, 'execution', '№', each => each.n),
    {key: 'device', name: t.device, width: 90, value: each => deviceName(t, each.device)},
    {key: 'start_ns', name: t.start, number: true, width: 130, value: each => each.start_ns, cell: each => moment(t, each.start_ns), attrs: each => ({title: exactTime(t, each.start_ns, end)})},
    {key: 'duration_ns', name: t.duration, number: true, width: 110, value: each => each.duration_ns, cell: each => duration(each.duration_ns)},
    {key: 'launched', name: t.launched, width: 110, value: each => t.launchedWords(each.launched ?? null), attrs: each => ({class: each.launched === false ? 'bad' : ''})},
    bytesColumn(t, {key: 'used_at_start_bytes', name: `${t.usedAtStart}, ${unit}`, of: each => each.used_at_start_bytes, show}),
  ], [t, unit, end]);
  return (
    <Table test="executions" label={t.tabNames.executions} columns={columns} rows={executions} id={each => `${each.module} ${each.n} ${each.device ?? ''}`} class="groups" file="executions" />
  );
}

/** The pools of memory, and what they held. */
export function Allocators({allocators}: {allocators: PoolReport[]}) {
  const t = useMessages();
  if (allocators.length === 0) return <p class="empty">{t.allocatorsEmpty}</p>;
  const unit = column(Math.max(1, ...allocators.map(each => each.capacity_bytes)));
  return (
    <div class="table-box">
      <table class="groups" data-test="allocators">
        <thead>
          <tr><th>{t.allocator}</th><th>{t.device}</th><th class="number">{t.capacity}, {unit.unit}</th><th class="number">{t.peakBytes}, {unit.unit}</th>
            <th class="number" title={t.peakBeforeTitle}>{t.peakBefore}, {unit.unit}</th><th class="number">{t.hbm}, {unit.unit}</th><th class="number">{t.events}</th></tr>
        </thead>
        <tbody>
          {allocators.map(each => (
            <tr key={each.name}>
              <td><code>{clip(each.name)}</code></td>
              <td>{deviceName(t, each.device)}</td>
              <td class="number" title={exactBytes(t, each.capacity_bytes)}>{unit.show(each.capacity_bytes)}</td>
              <td class="number" title={exactBytes(t, each.peak_bytes)}>{unit.show(each.peak_bytes)}</td>
              <td class="number" title={exactBytes(t, each.peak_before_first_execution_bytes)}>{unit.show(each.peak_before_first_execution_bytes)}</td>
              <td class="number">{each.hbm_bytes === null || each.hbm_bytes === undefined ? t.unknown : unit.show(each.hbm_bytes)}</td>
              <td class="number">{int(t, each.events)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
