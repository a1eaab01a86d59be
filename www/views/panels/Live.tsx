import {useMemo} from 'preact/hooks';
import type {DeviceSummary, GroupLabel, LiveAnswer, LiveGroup} from '../../../target/plain/pkg/oomscope';
import {column, exactBytes, int, percent, size, time} from '../../format';
import {useMessages} from '../../i18n';
import {put} from '../../instants';
import type {Answered} from '../../panels';
import {isCurrent} from '../../panels';
import type {State, Tab} from '../../state';
import {MOST_ROWS, isNarrowed, set} from '../../state';
import {barColumn, bytesColumn, countColumn, shareColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {Swatch} from '../Swatch';
import {TimeField} from '../TimeField';
import {GroupDetail, chooseGroup, groupColumn} from './Group';
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
      {value.groups === null || value.groups === undefined ? <NoGroups s={s} /> : <Groups s={s} device={device} live={value} groups={value.groups} test={test} />}
    </Panel>
  );
}

function Groups({s, device, live, groups, test}: Props & {live: LiveAnswer; groups: LiveGroup[]; test: string}) {
  const t = useMessages();
  const {total_bytes, baseline_bytes, tracked_bytes, rest} = live;
  const narrowed = isNarrowed(s);
  // Baseline and total are of all blocks.
  const whole = narrowed ? tracked_bytes : total_bytes ?? tracked_bytes;
  const {unit, show} = column(Math.max(whole, Math.abs(narrowed ? 0 : baseline_bytes ?? 0), ...groups.map(group => group.bytes)));
  const largest = Math.max(1, narrowed ? 0 : baseline_bytes ?? 0, ...groups.map(group => group.bytes));
  const without = groups.some(group => group.peak_without_bytes !== null && group.peak_without_bytes !== undefined);
  const columns = useMemo((): Column<LiveGroup>[] => [
    groupColumn(t, s.by, device, group => group.label),
    bytesColumn(t, {key: 'bytes', name: unit, of: group => group.bytes, show}),
    shareColumn('percent', group => whole > 0 ? group.bytes / whole : 0),
    countColumn(t, 'blocks', t.blocks, group => group.blocks),
    barColumn(group => group.bytes / largest, group => hueOf(group, device)),
    ...without ? [bytesColumn<LiveGroup>(t, {key: 'peak_without_bytes', name: `${t.peakWithout}, ${unit}`, title: t.peakWithoutTitle, of: group => group.peak_without_bytes, show, data: 'without'})] : [],
  ], [t, s.by, device, unit, whole, largest, without]);
  const figure = (bytes: number) => <><td class="number" data-bytes={bytes} title={exactBytes(t, bytes)}>{show(bytes)}</td><td class="number muted">{whole > 0 ? percent(bytes / whole) : ''}</td></>;
  return (
    <Table test="groups" label={t.tabNames[test as Tab]} columns={columns} rows={groups} id={group => labelId(group.label)} class="groups" file={test} choose={group => chooseGroup(group.label)}
      detail={group => <GroupDetail label={group.label} by={s.by} />} rowAttrs={() => ({'data-row': 'group'})} all={rest.groups > 0 ? () => set({rows: MOST_ROWS}) : undefined}
      first={!narrowed && (
        <tr data-row="baseline">
          <td title={t.baselineTitle}><span class="swatched"><Swatch hue="baseline" /> {t.baseline}</span></td>
          {baseline_bytes === null || baseline_bytes === undefined ? <><td class="number muted">{t.unknown}</td><td /></> : figure(baseline_bytes)}
          <td class="number muted">–</td>
          <td class="bar-cell" aria-hidden="true">{(baseline_bytes ?? 0) > 0 && <span class="bar hue-baseline" style={{width: `${(baseline_bytes ?? 0) / largest * 100}%`}} />}</td>
          {without && <td />}
        </tr>
      )}
      foot={(
        <>
          {rest.groups > 0 && (
            <tr data-row="rest">
              <td><More rest={rest.groups} s={s} /></td>
              {figure(rest.bytes)}
              <td class="number">{int(t, rest.blocks)}</td>
              <td />{without && <td />}
            </tr>
          )}
          <tr class="sum" data-row="total">
            <th scope="row">{t.total}</th>
            <td class="number" data-bytes={whole} title={exactBytes(t, whole)}>{show(whole)}</td><td />
            <td class="number">{int(t, live.live_blocks)}</td><td />{without && <td />}
          </tr>
          {!narrowed && <><Extra name={t.active} bytes={live.active_bytes} show={show} /><Extra name={t.reserved} bytes={live.reserved_bytes} show={show} /></>}
        </>
      )} />
  );
}

/** Labels tell groups apart. */
const labelId = ({text, lane, stack}: GroupLabel): string => stack.length > 0 ? stack.join('\n') : `${lane ?? ''} ${text}`;

const hueOf = (group: LiveGroup, device: DeviceSummary): number => {
  const lane = group.label.lane;
  return lane === null || lane === undefined ? 12 : device.lanes[lane]?.hue ?? 12;
};

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
