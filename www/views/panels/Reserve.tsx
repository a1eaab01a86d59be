import type {DeviceSummary, Gap} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, size, time} from '../../format';
import {useMessages} from '../../i18n';
import type {State, Switched} from '../../state';
import {set} from '../../state';
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
  const {unit, show} = column(Math.max(1, ...[reserved_gap, active_gap, outside, process, ...(components ?? []).map(component => component.held)].map(gap => gap?.most_bytes ?? 0)));
  const row = (name: string, note: string | undefined, gap: Gap | null | undefined, line: Switched | null, missing: string) => (
    <Row s={s} device={device} name={name} note={note} gap={gap} line={line} missing={missing} show={show} />
  );
  return (
    <Panel s={s} test="reserve" title={title}>
      <div class="table-box">
        <table data-test="reserve">
          <thead>
            <tr><th>{t.what}</th><th class="number">{t.atThePeak} {unit}</th><th class="number">{t.most} {unit}</th><th class="number">{t.mostAt}</th><th>{t.onTheTrend}</th></tr>
          </thead>
          <tbody>
            {row(t.reservedGap, t.reservedGapTitle, reserved_gap, 'reserved_gap', t.notReported)}
            {row(t.activeGap, t.activeGapTitle, active_gap, 'active_gap', t.notReported)}
            {row(t.outside, t.outsideTitle, outside, 'outside', t.outsideMissing)}
            {(components ?? []).map(component => <Row key={component.name} s={s} device={device} name={t.ofIt(clip(component.name))} note={t.componentTitle} gap={component.held} line={null} missing="" show={show} />)}
            {process !== null && process !== undefined && <Row s={s} device={device} name={t.wholeProcess} note={t.wholeProcessTitle} gap={process} line={null} kind="process" missing="" show={show} />}
          </tbody>
        </table>
      </div>
      {(components === null || components === undefined) && <p class="muted">{t.componentsMissing}</p>}
    </Panel>
  );
}

interface RowProps {
  s: State;
  device: DeviceSummary;
  name: string;
  note: string | undefined;
  gap: Gap | null | undefined;
  line: Switched | null;
  /** Where no line says what row it is. */
  kind?: string;
  missing: string;
  show: (bytes: number) => string;
}

function Row({s, device, name, note, gap, line, kind = 'component', missing, show}: RowProps) {
  const t = useMessages();
  if (gap === null || gap === undefined) return <tr><td title={note}>{name}</td><td colSpan={4} class="muted">{missing}</td></tr>;
  const {at_peak_bytes: atPeak, most_bytes, most_ns} = gap;
  return (
    <tr data-row={line ?? kind} class={kind === 'process' ? 'apart' : undefined}>
      <td title={note}>{name}{(line !== null || kind === 'process') && <small class="muted">{note}</small>}</td>
      {atPeak === null || atPeak === undefined ? <td class="number muted">{t.unknown}</td> : <td class="number" data-bytes={atPeak} title={exactBytes(t, atPeak)}>{show(atPeak)}</td>}
      <td class="number" data-most={most_bytes} title={exactBytes(t, most_bytes)}>{show(most_bytes)}</td>
      <td class="number"><At ns={most_ns} device={device} /></td>
      <td>{line !== null && <LineSwitch s={s} line={line} />}</td>
    </tr>
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
