import type {ComponentChildren} from 'preact';
import type {CaptureSummary, ComparedCapture, DeviceSummary, RankRow} from '../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, exactTime, int, time} from '../format';
import {useMessages} from '../i18n';
import {openAgain, show} from '../session';
import type {Filter, Place, Session} from '../state';
import {isUsable} from '../state';
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

function CapturesTable({session, captures, reported, place}: {session: Session; captures: CaptureSummary[]; reported: Reported[]; place: Place | null}) {
  const t = useMessages();
  const peaks = [...captures.flatMap(capture => capture.devices.map(device => device.peak.total_bytes)), ...reported.map(({row}) => row.peak_bytes ?? 0)];
  const bytes = column(peaks.reduce((most, peak) => Math.max(most, peak), 0));
  return (
    <div class="table-box">
      <table data-test="captures">
        <thead>
          <tr>
            <th>{t.source}</th><th>{t.role}</th><th class="number">{t.rank}</th><th>{t.captureTime}</th><th>{t.device}</th><th>{t.pool}</th>
            <th class="number">{t.peakBytes} {bytes.unit}</th><th class="number">{t.peakTime}</th><th class="number">{t.baselineAtPeak} {bytes.unit}</th>
            <th class="number">{t.aliveBlocks}</th><th class="number">{t.blocks}</th><th class="number">{t.rowsRead}</th>
            <th class="number">{t.rowsSetAside}</th><th class="number">{t.noteCount}</th>
          </tr>
        </thead>
        <tbody>
          {captures.flatMap(capture => capture.devices.length === 0
            ? [<WithoutDevices key={capture.capture} capture={capture} usable={isUsable(session, capture)} current={place?.capture === capture.capture} />]
            : capture.devices.map((device, index) => (
              <DeviceRow key={`${capture.capture} ${index}`} capture={capture} device={device} index={index} show={bytes.show}
                current={place?.capture === capture.capture && place.device === index} />
            )))}
          {reported.map(({capture, row}, index) => <ReportedRow key={`reported ${index}`} capture={capture} row={row} show={bytes.show} />)}
        </tbody>
      </table>
    </div>
  );
}

interface Reported {
  capture: ComparedCapture;
  row: RankRow;
}

/** What only reports tell of: it has figures, but no curves. */
export function reportedOnly(session: Session): Reported[] {
  const {captures = [], comparison} = session.comparison ?? {};
  return (comparison?.ranks ?? []).flatMap(row => {
    const capture = captures[row.capture];
    return capture !== undefined && (capture.capture === null || capture.capture === undefined) ? [{capture, row}] : [];
  });
}

function Empty({stopped}: {stopped: boolean}) {
  const t = useMessages();
  if (!stopped) return <p class="empty">{t.capturesEmpty}</p>;
  return <p class="empty">{t.capturesStopped} <button type="button" onClick={openAgain}>{t.openAgain}</button></p>;
}

interface RowProps {
  capture: CaptureSummary;
  device: DeviceSummary;
  index: number;
  current: boolean;
  show: (bytes: number) => string;
}

function DeviceRow({capture, device, index, current, show: bytes}: RowProps) {
  const t = useMessages();
  const {peak} = device;
  return (
    <tr class={current ? 'current' : ''}>
      <Source capture={capture}>
        <button type="button" class="plain link" aria-current={current} onClick={() => show({capture: capture.capture, device: index})}>{capture.source}</button>
      </Source>
      <td>{device.device}</td>
      <td>{device.pool}</td>
      <td class="number" title={exactBytes(t, peak.total_bytes)}>{bytes(peak.total_bytes)}</td>
      <td class="number" title={exactTime(t, peak.time_ns, device.end_ns)}>{time(t, peak.time_ns, device.end_ns)}</td>
      <td class="number" title={exactBytes(t, peak.baseline_bytes)}>{bytes(peak.baseline_bytes)}</td>
      <td class="number" title={exactBytes(t, device.alive_at_end_bytes)}>{int(t, device.alive_at_end_blocks)}</td>
      <td class="number">{int(t, device.blocks)}</td>
      <Rows capture={capture} />
    </tr>
  );
}

function ReportedRow({capture, row, show: bytes}: Reported & {show: (bytes: number) => string}) {
  const t = useMessages();
  const size = (value: number | null | undefined) => value === null || value === undefined
    ? <td class="number muted">{t.none}</td>
    : <td class="number" title={exactBytes(t, value)}>{bytes(value)}</td>;
  return (
    <tr title={t.fromReport(capture.report ?? '')} data-test="reported">
      <Source capture={capture}>{capture.source}</Source>
      <td>{row.device ?? ''}</td>
      <td>{row.pool ?? ''}</td>
      {size(row.peak_bytes)}
      <td class="number muted">{t.none}</td>
      {size(row.baseline_bytes)}
      <td class="number" title={exactBytes(t, row.alive_at_end_bytes ?? 0)}>{int(t, row.alive_at_end_blocks ?? 0)}</td>
      <td colSpan={3} class="muted">{t.fromReport(capture.report ?? '')}</td>
      <td class="number">{int(t, row.warnings)}</td>
    </tr>
  );
}

/** Nothing could be read of it, or it is a JAX capture without allocator events. */
function WithoutDevices({capture, usable, current}: {capture: CaptureSummary; usable: boolean; current: boolean}) {
  const t = useMessages();
  return (
    <tr>
      <Source capture={capture}>
        {usable ? <button type="button" class="plain link" aria-current={current} onClick={() => show({capture: capture.capture, device: 0})}>{capture.source}</button> : capture.source}
      </Source>
      <td colSpan={7} class="muted">{usable ? t.plansAlone : t.notUsable}</td>
      <Rows capture={capture} />
    </tr>
  );
}

function Source({capture, children}: {capture: CaptureSummary | ComparedCapture; children: ComponentChildren}) {
  const t = useMessages();
  return (
    <>
      <td class="path">{children}</td>
      <td>{capture.role ?? ''}</td>
      <td class="number">{capture.rank ?? t.unknown}</td>
      <td class="time-cell">{(capture.capture_time ?? '').replace('T', ' ')}</td>
    </>
  );
}

function Rows({capture}: {capture: CaptureSummary}) {
  const t = useMessages();
  return (
    <>
      <td class="number">{int(t, capture.rows_read)}</td>
      <td class={`number ${capture.rows_set_aside > 0 ? 'warn' : ''}`}>{int(t, capture.rows_set_aside)}</td>
      <td class="number">{int(t, capture.warnings.length)}</td>
    </>
  );
}
