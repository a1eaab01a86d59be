import {useMemo} from 'preact/hooks';
import type {ExecutionReport, HostEventReport, LiveReport, OwnerReport, PoolReport, RetryReport} from '../../../target/plain/pkg/oomscope';
import {clip, column, duration, exactBytes, exactTime, moment, size} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {barColumn, bytesColumn, countColumn} from '../../table/cells';
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
      {live.map(each => (
        <section class="answers" key={`${each.device}`}>
          <h2 title={exactBytes(t, each.used_bytes)}>{t.liveAtStartTitle(deviceName(t, each.device), clip(module), each.execution, size(each.used_bytes))}</h2>
          <Owners live={each} />
        </section>
      ))}
    </div>
  );
}

function Owners({live: {device, used_bytes, groups}}: {live: LiveReport}) {
  const t = useMessages();
  const {unit, show} = column(Math.max(1, used_bytes));
  const columns = useMemo((): Column<OwnerReport>[] => [
    {key: 'owner', name: t.owner, value: each => each.owner, cell: each => clip(t.ownerName(each.owner)), attrs: () => ({class: 'path'})},
    bytesColumn(t, {key: 'bytes', name: t.bytesIn(unit), of: each => each.bytes, show}),
    barColumn(each => each.bytes / Math.max(1, used_bytes), () => 0),
    countColumn(t, 'blocks', t.blocks, each => each.blocks === 0 ? null : each.blocks),
  ], [t, unit, used_bytes]);
  return (
    <Table test={`owners-${device ?? 'any'}`} label={t.tabNames.live_start} columns={columns} rows={groups} id={each => each.owner} class="groups" file="live-at-start"
      foot={<tr class="sum"><th scope="row">{t.usedAtStart}</th><td class="number strong" data-test="used-at-start" data-bytes={used_bytes} title={exactBytes(t, used_bytes)}>{show(used_bytes)}</td><td /><td /></tr>} />
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
  return <Folded events={events} />;
}

function Folded({events}: {events: HostEventReport[]}) {
  const t = useMessages();
  const end = endOf(events);
  const rows = useMemo(() => folded(events), [events]);
  const numbers = useMemo(() => new Map(rows.map((row, at) => [row, at])), [rows]);
  const columns = useMemo((): Column<HostEvents>[] => [
    {key: 'device', name: t.device, width: 90, value: ({first}) => deviceName(t, first.device)},
    {key: 'start_ns', name: t.start, number: true, width: 130, value: ({first}) => first.start_ns, cell: ({first}) => moment(t, first.start_ns), attrs: ({first}) => ({title: exactTime(t, first.start_ns, end)})},
    countColumn(t, 'events', t.hostEventCount, ({count}) => count),
    {key: 'duration_ns', name: t.duration, number: true, width: 110, value: row => row.duration_ns, cell: row => duration(row.duration_ns)},
    {
      key: 'event', name: t.hostEvent, value: ({first}) => first.name, attrs: () => ({class: 'path'}),
      cell: ({first}) => <><code>{clip(first.name)}</code>{first.highlight && <small class="warn"> {t.mayHold}</small>}</>,
    },
    {key: 'functions', name: t.hostFunctions, value: ({first}) => [...first.frames ?? []].reverse().join('; '), cell: ({first}) => <Around frames={first.frames ?? []} />, attrs: () => ({class: 'path'})},
  ], [t, end]);
  return (
    <Table test="between-executions" label={t.tabNames.between_runs} columns={columns} rows={rows} id={row => numbers.get(row) ?? 0} class="groups" file="between-executions"
      rowAttrs={({first}) => first.highlight ? {class: 'highlight'} : {}} />
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
  return <Pools pools={allocators} />;
}

function Pools({pools}: {pools: PoolReport[]}) {
  const t = useMessages();
  const {unit, show} = column(Math.max(1, ...pools.map(each => each.capacity_bytes)));
  const columns = useMemo((): Column<PoolReport>[] => [
    {key: 'allocator', name: t.allocator, value: each => each.name, cell: each => <code>{clip(each.name)}</code>},
    {key: 'device', name: t.device, value: each => deviceName(t, each.device)},
    bytesColumn(t, {key: 'capacity_bytes', name: `${t.capacity}, ${unit}`, of: each => each.capacity_bytes, show}),
    bytesColumn(t, {key: 'peak_bytes', name: `${t.peakBytes}, ${unit}`, of: each => each.peak_bytes, show}),
    bytesColumn(t, {key: 'peak_before_first_execution_bytes', name: `${t.peakBefore}, ${unit}`, title: t.peakBeforeTitle, of: each => each.peak_before_first_execution_bytes, show}),
    bytesColumn(t, {key: 'hbm_bytes', name: `${t.hbm}, ${unit}`, of: each => each.hbm_bytes, show}),
    countColumn(t, 'events', t.events, each => each.events),
  ], [t, unit]);
  return <Table test="allocators" label={t.tabNames.allocators} columns={columns} rows={pools} id={each => each.name} class="groups" file="allocators" />;
}
