import type {DeviceSummary, LiveAnswer, LiveGroup} from '../../../target/plain/pkg/oomscope';
import {column, exactBytes, int, percent, size, time} from '../../format';
import {useMessages} from '../../i18n';
import {put} from '../../instants';
import type {Answered} from '../../panels';
import {isCurrent} from '../../panels';
import type {State} from '../../state';
import {Swatch} from '../Swatch';
import {TimeField} from '../TimeField';
import {Group, useGroupHeading} from './Group';
import {GroupBy, NoGroups} from './GroupBy';
import {More} from './More';
import {EmptyPanel, Panel} from './Panel';

interface Props {
  s: State;
  device: DeviceSummary;
}

/** What is alive under the pointer, or at the instant that was clicked. */
export function AtCursor({s, device}: Props) {
  const t = useMessages();
  const answer = s.answers.cursor;
  const field = <TimeField label={t.instant} ns={s.cursor} device={device} test="cursor-field" take={ns => put('cursor', ns)} />;
  if (answer === undefined) return <EmptyPanel test="cursor" title={t.tabNames.cursor} text={t.cursorEmpty} controls={field} />;
  const {time_ns, total_bytes, tracked_bytes, live_blocks} = answer.value;
  const total = total_bytes ?? tracked_bytes;
  return (
    <Live s={s} device={device} answer={answer} test="cursor" exact={exactBytes(t, total)} before={field}
      title={t.liveAt(time(t, time_ns, device.end_ns), size(total), live_blocks)} />
  );
}

/** What was alive at the peak, and what the peak would be without each of it. */
export function AtPeak({s, device}: Props) {
  const t = useMessages();
  const {total_bytes, live_blocks, time_ns} = device.peak;
  return (
    <Live s={s} device={device} answer={s.answers.peak} test="peak" exact={exactBytes(t, total_bytes)}
      title={t.atPeakWith(size(total_bytes), time(t, time_ns, device.end_ns), live_blocks)} />
  );
}

/** What was never released within the capture. */
export function AtEnd({s, device}: Props) {
  const t = useMessages();
  const {alive_at_end_blocks, alive_at_end_bytes} = device;
  const total = s.answers.end?.value.total_bytes ?? null;
  if (alive_at_end_blocks === 0) return <EmptyPanel test="end" title={t.noneAliveAtEnd} text={t.noneAliveAtEndWhy} />;
  return (
    <Live s={s} device={device} answer={s.answers.end} test="end" exact={exactBytes(t, alive_at_end_bytes)} note={t.aliveIsNoLeak}
      title={t.aliveAtEndTitle(alive_at_end_blocks, size(alive_at_end_bytes), total === null ? null : size(total))} />
  );
}

interface LiveProps extends Props {
  answer: Answered<LiveAnswer> | undefined;
  test: string;
  title: string;
  exact: string;
  note?: string;
  before?: preact.JSX.Element;
}

function Live({s, device, answer, test, title, exact, note, before}: LiveProps) {
  const controls = <>{before}<GroupBy s={s} /></>;
  if (answer === undefined) return <Panel s={s} test={test} title={null} controls={controls} />;
  const {value} = answer;
  return (
    <Panel s={s} test={test} title={title} exact={exact} stale={test !== 'cursor' && !isCurrent(s, answer)} controls={controls}>
      {note !== undefined && <p class="muted">{note}</p>}
      {value.groups === null || value.groups === undefined ? <NoGroups s={s} /> : <Groups s={s} device={device} live={value} groups={value.groups} />}
    </Panel>
  );
}

function Groups({s, device, live, groups}: Props & {live: LiveAnswer; groups: LiveGroup[]}) {
  const t = useMessages();
  const heading = useGroupHeading(s.by, device);
  const {total_bytes, baseline_bytes, tracked_bytes, rest} = live;
  const whole = total_bytes ?? tracked_bytes;
  const {unit, show} = column(Math.max(whole, Math.abs(baseline_bytes ?? 0), ...groups.map(group => group.bytes)));
  const largest = Math.max(1, baseline_bytes ?? 0, ...groups.map(group => group.bytes));
  const without = groups.some(group => group.peak_without_bytes !== null && group.peak_without_bytes !== undefined);
  const bytesCell = (bytes: number) => <td class="number" data-bytes={bytes} title={exactBytes(t, bytes)}>{show(bytes)}</td>;
  const shareCell = (bytes: number) => <td class="number muted">{whole > 0 ? percent(bytes / whole) : ''}</td>;
  return (
    <div class="table-box">
      <table class="groups" data-test="groups">
        <thead>
          <tr>
            <th>{heading}</th><th class="number">{unit}</th><th class="number">%</th><th class="number">{t.blocks}</th><th class="bar-cell" aria-hidden="true" />
            {without && <th class="number" title={t.peakWithoutTitle}>{t.peakWithout}, {unit}</th>}
          </tr>
        </thead>
        <tbody>
          <tr data-row="baseline">
            <td title={t.baselineTitle}><span class="swatched"><Swatch hue="baseline" /> {t.baseline}</span></td>
            {baseline_bytes === null || baseline_bytes === undefined
              ? <><td class="number muted">{t.unknown}</td><td /></>
              : <>{bytesCell(baseline_bytes)}{shareCell(baseline_bytes)}</>}
            <td class="number muted">–</td>
            <Bar share={(baseline_bytes ?? 0) / largest} hue="baseline" />
            {without && <td />}
          </tr>
          {groups.map((group, at) => (
            <tr key={at} data-row="group">
              <td class="group"><Group label={group.label} by={s.by} device={device} /></td>
              {bytesCell(group.bytes)}
              {shareCell(group.bytes)}
              <td class="number">{int(t, group.blocks)}</td>
              <Bar share={group.bytes / largest} hue={hueOf(group, device)} />
              {without && <Without bytes={group.peak_without_bytes ?? 0} peak={device.peak.total_bytes} show={show} />}
            </tr>
          ))}
          {rest.groups > 0 && (
            <tr data-row="rest">
              <td><More rest={rest.groups} s={s} /></td>
              {bytesCell(rest.bytes)}
              {shareCell(rest.bytes)}
              <td class="number">{int(t, rest.blocks)}</td>
              <td />{without && <td />}
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr class="sum" data-row="total">
            <th scope="row">{t.total}</th>
            {bytesCell(whole)}<td />
            <td class="number">{int(t, live.live_blocks)}</td><td />{without && <td />}
          </tr>
          <Extra name={t.active} bytes={live.active_bytes} show={show} />
          <Extra name={t.reserved} bytes={live.reserved_bytes} show={show} />
        </tfoot>
      </table>
    </div>
  );
}

const hueOf = (group: LiveGroup, device: DeviceSummary): number => {
  const lane = group.label.lane;
  return lane === null || lane === undefined ? 12 : device.lanes[lane]?.hue ?? 12;
};

function Without({bytes, peak, show}: {bytes: number; peak: number; show: (bytes: number) => string}) {
  const t = useMessages();
  return <td class="number" data-without={bytes} title={`${exactBytes(t, bytes)} (${bytes - peak < 0 ? '−' : ''}${exactBytes(t, Math.abs(bytes - peak))})`}>{show(bytes)}</td>;
}

export function Bar({share, hue}: {share: number; hue: number | 'baseline'}) {
  return <td class="bar-cell" aria-hidden="true">{share > 0 && <span class={`bar hue-${hue}`} style={{width: `${Math.max(0, Math.min(1, share)) * 100}%`}} />}</td>;
}

function Extra({name, bytes, show}: {name: string; bytes: number | null | undefined; show: (bytes: number) => string}) {
  const t = useMessages();
  const known = bytes !== null && bytes !== undefined;
  return (
    <tr class="muted">
      <th scope="row">{name}</th>
      <td class="number" title={known ? exactBytes(t, bytes) : undefined}>{known ? show(bytes) : t.unknown}</td>
    </tr>
  );
}
