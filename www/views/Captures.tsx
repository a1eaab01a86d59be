import {useMemo} from 'preact/hooks';
import type {CaptureSummary, ComparedCapture, DeviceSummary} from '../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, exactTime, time} from '../format';
import type {Messages} from '../i18n';
import {useMessages} from '../i18n';
import {show} from '../place';
import {openAgain} from '../session';
import type {Filter, Place, Reported, Session} from '../state';
import {isUsable, reportedOnly} from '../state';
import {bytesColumn, countColumn} from '../table/cells';
import type {Column} from '../table/model';
import {Table} from '../table/Table';
import {CaptureFilter} from './CaptureFilter';
import {Facts} from './Facts';
import {memo} from './memo';

/** Every device of every capture, side by side. */
export const Captures = memo(function Captures({session, place, filter}: {session: Session; place: Place | null; filter: Filter}) {
  const t = useMessages();
  const all = session.captures;
  const reported = reportedOnly(session);
  if (all.length + reported.length === 0) return <Empty stopped={session.readingSince === null} />;
  const told = reported.filter(({row}) => filter.compared === null || filter.compared.has(row.capture));
  const shown = all.find(capture => capture.capture === place?.capture);
  const captures = all.filter(capture => filter.taken === null || filter.taken.has(capture.capture));
  return (
    <section class="answers" data-test="panel-captures">
      <div class="answers-head">
        <h2>{t.capturesTitle(captures.length + told.length, all.length + reported.length)}</h2>
        {all.length + reported.length > 1 && <CaptureFilter roles={[...all, ...reported.map(({capture}) => capture)].map(({role}) => role)} filter={filter} />}
      </div>
      <CapturesTable session={session} captures={captures} reported={told} place={place} />
      {shown !== undefined && shown.kind !== 'xplane' && <><h2 class="answers-head">{t.factsTitle(clip(shown.source))}</h2><Facts capture={shown} /></>}
    </section>
  );
});

/** A device of a capture; a capture without any; or what only a report tells of. */
interface Line {
  source: string;
  role: string | null;
  rank: number | null;
  time: string;
  /** Null: there are no charts of it. */
  place: Place | null;
  device: DeviceSummary | null;
  reported: Reported | null;
  /** Where there is no device, why. */
  why: string;
  rows: number | null;
  setAside: number | null;
  notes: number;
}

function CapturesTable({session, captures, reported, place}: {session: Session; captures: CaptureSummary[]; reported: Reported[]; place: Place | null}) {
  const t = useMessages();
  const lines = useMemo(() => [...captures.flatMap(capture => linesOf(t, session, capture)), ...reported.map(each => lineOf(t, each))], [t, session, captures, reported]);
  const {unit, show: bytes} = column(lines.reduce((most, line) => Math.max(most, peakOf(line) ?? 0), 0));
  const columns = useMemo((): Column<Line>[] => [
    {key: 'capture', name: t.source, value: line => line.source, cell: line => line.place === null ? clip(line.source) : <span class="link">{clip(line.source)}</span>, attrs: line => ({class: 'path', title: line.source})},
    {key: 'role', name: t.role, width: 110, value: line => line.role, attrs: line => ({title: line.role ?? ''})},
    {key: 'rank', name: t.rank, number: true, width: 70, value: line => line.rank, cell: line => line.rank ?? t.unknown},
    {key: 'time', name: t.captureTime, width: 130, value: line => line.time, attrs: () => ({class: 'one-line'})},
    {
      key: 'device', name: t.device, width: 110, value: line => line.device?.device ?? line.reported?.row.device ?? line.why, attrs: line => line.why === '' ? {} : {class: 'muted', title: line.why},
      cell: line => line.device?.device ?? <>{line.reported?.row.device} {line.why}</>,
    },
    {key: 'pool', name: t.pool, width: 64, value: line => line.device?.pool ?? line.reported?.row.pool},
    bytesColumn(t, {key: 'peak_bytes', name: `${t.peakBytes} ${unit}`, of: peakOf, show: bytes}),
    {
      key: 'peak_ns', name: t.peakTime, number: true, width: 110, value: line => line.device?.peak.time_ns, cell: ({device}) => device === null ? '–' : time(t, device.peak.time_ns, device.end_ns),
      attrs: ({device}) => device === null ? {} : {title: exactTime(t, device.peak.time_ns, device.end_ns)},
    },
    bytesColumn(t, {key: 'baseline_bytes', name: `${t.baselineAtPeak} ${unit}`, of: line => line.device?.peak.baseline_bytes ?? line.reported?.row.baseline_bytes, show: bytes, data: 'baseline'}),
    {
      ...countColumn<Line>(t, 'alive_at_end_blocks', t.aliveBlocks, line => line.device?.alive_at_end_blocks ?? line.reported?.row.alive_at_end_blocks),
      attrs: line => ({title: exactBytes(t, line.device?.alive_at_end_bytes ?? line.reported?.row.alive_at_end_bytes ?? 0)}),
    },
    countColumn(t, 'blocks', t.blocks, line => line.device?.blocks),
    countColumn(t, 'rows_read', t.rowsRead, line => line.rows),
    {...countColumn<Line>(t, 'rows_set_aside', t.rowsSetAside, line => line.setAside), attrs: line => ({class: (line.setAside ?? 0) > 0 ? 'warn' : ''})},
    countColumn(t, 'notes', t.noteCount, line => line.notes),
  ], [t, unit]);
  const current = lines.findIndex(line => line.place !== null && line.place.capture === place?.capture && line.place.device === place.device);
  const numbers = useMemo(() => new Map(lines.map((line, at) => [line, at])), [lines]);
  return (
    <Table test="captures" label={t.tabNames.captures} columns={columns} rows={lines} id={line => numbers.get(line) ?? 0} current={current < 0 ? null : current} file="captures"
      rowAttrs={line => line.reported === null ? {} : {'data-test': 'reported', title: line.why}} choose={line => { if (line.place !== null) show(line.place); }} />
  );
}

const peakOf = ({device, reported}: Line): number | null => device?.peak.total_bytes ?? reported?.row.peak_bytes ?? null;

function linesOf(t: Messages, session: Session, capture: CaptureSummary): Line[] {
  const line: Line = {
    ...whose(capture), place: null, device: null, reported: null, why: '', rows: capture.rows_read, setAside: capture.rows_set_aside, notes: capture.warnings.length,
  };
  if (capture.devices.length > 0) return capture.devices.map((device, index) => ({...line, device, place: {capture: capture.capture, device: index}}));
  // Nothing could be read of it, or it is a JAX capture without allocator events.
  return [isUsable(session, capture) ? {...line, place: {capture: capture.capture, device: 0}, why: t.plansAlone} : {...line, why: t.notUsable}];
}

function lineOf(t: Messages, reported: Reported): Line {
  const {capture, row} = reported;
  return {...whose(capture), place: null, device: null, reported, why: t.fromReport(capture.report ?? ''), rows: null, setAside: null, notes: row.warnings};
}

const whose = ({source, role, rank, capture_time}: CaptureSummary | ComparedCapture): Pick<Line, 'source' | 'role' | 'rank' | 'time'> =>
  ({source, role: role ?? null, rank: rank ?? null, time: (capture_time ?? '').replace('T', ' ')});

function Empty({stopped}: {stopped: boolean}) {
  const t = useMessages();
  if (!stopped) return <p class="empty">{t.capturesEmpty}</p>;
  return <p class="empty">{t.capturesStopped} <button type="button" onClick={openAgain}>{t.openAgain}</button></p>;
}
