import type {DeviceSummary, Gap} from '../../../target/plain/pkg/oomscope';
import {clip, column, size, time} from '../../format';
import {useMessages} from '../../i18n';
import type {State, Switched} from '../../state';
import {set} from '../../state';
import {bytesColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {showAround} from '../../window';
import {Panel} from './Panel';

/** What is held beside what is allocated: by the allocator, by other streams, outside the framework. */
export function Reserve({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const answer = s.answers.reserve;
  if (answer === undefined) return <Panel s={s} test="reserve" title={null} />;
  const {reserved_gap, active_gap, outside, process, components} = answer.value;
  const title = reserved_gap === null || reserved_gap === undefined ? t.reserveUnknown
    : t.reserveTitle(size(reserved_gap.at_peak_bytes ?? 0), size(reserved_gap.most_bytes), time(t, reserved_gap.most_ns, device.end_ns));
  const rows: Held[] = [
    {name: t.reservedGap, note: t.reservedGapTitle, gap: reserved_gap ?? null, line: 'reserved_gap', kind: 'reserved_gap', missing: t.notReported},
    {name: t.activeGap, note: t.activeGapTitle, gap: active_gap ?? null, line: 'active_gap', kind: 'active_gap', missing: t.notReported},
    {name: t.outside, note: t.outsideTitle, gap: outside ?? null, line: 'outside', kind: 'outside', missing: t.outsideMissing},
    ...(components ?? []).map((component): Held => ({name: t.ofIt(clip(component.name)), note: t.componentTitle, gap: component.held, line: null, kind: 'component', missing: ''})),
    ...process === null || process === undefined ? [] : [{name: t.wholeProcess, note: t.wholeProcessTitle, gap: process, line: null, kind: 'process', missing: ''} satisfies Held],
  ];
  return (
    <Panel s={s} test="reserve" title={title}>
      <Rows s={s} device={device} rows={rows} />
      {(components === null || components === undefined) && <p class="muted">{t.componentsMissing}</p>}
    </Panel>
  );
}

/** Something that is held beside what is allocated. */
interface Held {
  name: string;
  note: string;
  /** Null: nothing was reported of it. */
  gap: Gap | null;
  /** Its curve on the trend. */
  line: Switched | null;
  kind: string;
  /** Why nothing is known. */
  missing: string;
}

function Rows({s, device, rows}: {s: State; device: DeviceSummary; rows: Held[]}) {
  const t = useMessages();
  const {unit, show} = column(Math.max(1, ...rows.map(({gap}) => gap?.most_bytes ?? 0)));
  const columns: Column<Held>[] = [
    {
      key: 'what', name: t.what, value: row => row.name, attrs: row => ({title: row.note}),
      cell: row => <>{row.name}{(row.line !== null || row.kind === 'process') && <small class="muted">{row.gap === null ? row.missing : row.note}</small>}</>,
    },
    bytesColumn(t, {key: 'at_peak_bytes', name: `${t.atThePeak} ${unit}`, of: row => row.gap?.at_peak_bytes, show}),
    bytesColumn(t, {key: 'most_bytes', name: `${t.most} ${unit}`, of: row => row.gap?.most_bytes, show, data: 'most'}),
    {key: 'most_ns', name: t.mostAt, number: true, value: row => row.gap?.most_ns, cell: ({gap}) => gap === null ? '' : <At ns={gap.most_ns} device={device} />},
    {key: 'line', name: t.onTheTrend, fixed: true, value: row => row.line !== null && s.lines.includes(row.line) ? 1 : 0, cell: ({line, gap}) => line !== null && gap !== null && <LineSwitch s={s} line={line} />},
  ];
  return (
    <Table test="reserve" label={t.tabNames.reserve} columns={columns} rows={rows} id={row => row.kind === 'component' ? `component ${row.name}` : row.kind} file="reserve"
      rowAttrs={row => ({'data-row': row.kind, ...row.kind === 'process' ? {class: 'apart'} : {}})} />
  );
}

/** Samples can be older than the first event, where the charts begin. */
function At({ns, device}: {ns: number; device: DeviceSummary}) {
  const text = time(useMessages(), ns, device.end_ns);
  return ns < 0 ? <>{text}</> : <button type="button" class="plain link" onClick={() => showAround(ns)}>{text}</button>;
}

/** Puts a further curve on the trend, or takes it away. */
export function LineSwitch({s, line}: {s: State; line: Switched}) {
  const t = useMessages();
  const on = s.lines.includes(line);
  return (
    <label class="line-switch" title={t.lineTitles[line]}>
      <input type="checkbox" data-test={`line-${line}`} checked={on} onChange={() => set({lines: on ? s.lines.filter(each => each !== line) : [...s.lines, line]})} />
      {' '}<i class={`key ${line}`} aria-hidden="true" /> {t.lineNames[line]}
    </label>
  );
}
