import {useMemo} from 'preact/hooks';
import type {BetweenAnswer, DeviceSummary, DifferenceRow, ShareSummary} from '../../../target/plain/pkg/oomscope';
import {column, exactBytes, int, signedSize, time} from '../../format';
import {useMessages} from '../../i18n';
import {put} from '../../instants';
import {isCurrent} from '../../panels';
import type {State} from '../../state';
import {MOST_ROWS, isNarrowed, set} from '../../state';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {TimeField} from '../TimeField';
import {GroupDetail, chooseGroup, groupColumn} from './Group';
import {GroupBy, NoGroups} from './GroupBy';
import {More} from './More';
import {EmptyPanel, Panel} from './Panel';

interface Props {
  s: State;
  device: DeviceSummary;
}

/** What changed from A to B. */
export function Between({s, device}: Props) {
  const t = useMessages();
  const marks = (
    <>
      <TimeField label="A" ns={s.a} device={device} test="a-field" take={ns => put('a', ns)} />
      <Spots side="a" s={s} device={device} />
      <TimeField label="B" ns={s.b} device={device} test="b-field" take={ns => put('b', ns)} />
      <Spots side="b" s={s} device={device} />
    </>
  );
  if (s.a === null || s.b === null) return <EmptyPanel test="between" title={t.tabNames.between} text={t.betweenEmpty} controls={marks} />;
  const answer = s.answers.between;
  const controls = <>{marks}<GroupBy s={s} /></>;
  if (answer === undefined) return <Panel s={s} test="between" title={null} controls={controls} />;
  const {value} = answer;
  const net = isNarrowed(s) ? value.new.bytes - value.freed.bytes : (value.b?.total_bytes ?? 0) - (value.a?.total_bytes ?? 0);
  return (
    <Panel s={s} test="between" controls={controls} stale={!isCurrent(s, answer)} exact={exactBytes(t, net)}
      title={t.betweenTitle(time(t, value.a_ns, device.end_ns), time(t, value.b_ns, device.end_ns), signedSize(net), value.new.blocks, value.freed.blocks)}>
      {value.groups === null || value.groups === undefined ? <NoGroups s={s} /> : <Rows s={s} device={device} value={value} groups={value.groups} />}
    </Panel>
  );
}

/** Instants that are one click away: without a pointer over the charts, or without keys. */
function Spots({side, s, device}: Props & {side: 'a' | 'b'}) {
  const t = useMessages();
  const spots: [string, number | null][] = [[t.start, 0], [t.peakSpot, device.peak.time_ns], [t.cursorSpot, s.cursor], [t.end, device.end_ns]];
  return (
    <span class="spots">
      {spots.map(([name, ns]) => ns !== null && <button key={name} type="button" class="plain link" aria-label={`${side.toUpperCase()}: ${name}`} disabled={s[side] === ns} onClick={() => put(side, ns)}>{name}</button>)}
    </span>
  );
}

function Rows({s, device, value, groups}: Props & {value: BetweenAnswer; groups: DifferenceRow[]}) {
  const t = useMessages();
  const narrowed = isNarrowed(s);
  const baseline = (value.b?.baseline_bytes ?? 0) - (value.a?.baseline_bytes ?? 0);
  const largest = [value.new, value.freed, value.common].map(share => share.bytes);
  const {unit, show} = column(Math.max(1, Math.abs(baseline), ...largest));
  const signed = (bytes: number): string => `${bytes > 0 ? '+' : bytes < 0 ? '−' : ''}${show(Math.abs(bytes))}`;
  const columns = useMemo((): Column<DifferenceRow>[] => {
    const share = (key: 'new' | 'freed' | 'common', name: string): Column<DifferenceRow>[] => [
      {...bytesColumn<DifferenceRow>(t, {key: `${key}_bytes`, name: `${name}, ${unit}`, of: row => row[key].bytes, show}), cell: row => row[key].blocks === 0 ? '' : show(row[key].bytes)},
      {...countColumn<DifferenceRow>(t, `${key}_blocks`, t.blocks, row => row[key].blocks), cell: row => row[key].blocks === 0 ? '' : int(t, row[key].blocks)},
    ];
    return [
      groupColumn(t, s.by, device, row => row.label),
      bytesColumn(t, {key: 'net_bytes', name: `${t.net}, ${unit}`, title: t.netTitle, of: row => row.net_bytes, show, signed: true, data: 'net'}),
      ...share('new', t.newBytes), ...share('freed', t.freedBytes), ...share('common', t.commonBytes),
    ];
  }, [t, s.by, device, unit]);
  const net = (bytes: number) => <td class="number" data-net={bytes} title={exactBytes(t, bytes)}>{signed(bytes)}</td>;
  const share = ({bytes, blocks}: ShareSummary) => (
    <>
      <td class="number" title={exactBytes(t, bytes)}>{blocks === 0 ? '' : show(bytes)}</td>
      <td class="number">{blocks === 0 ? '' : int(t, blocks)}</td>
    </>
  );
  const rest = value.count - groups.length;
  const whole = narrowed ? value.new.bytes - value.freed.bytes : (value.b?.total_bytes ?? 0) - (value.a?.total_bytes ?? 0);
  return (
    <Table test="difference" label={t.tabNames.between} columns={columns} rows={groups} id={row => `${row.label.lane ?? ''} ${row.label.text} ${row.label.stack.join('\n')}`} class="groups" file="between"
      choose={row => chooseGroup(row.label)} detail={row => <GroupDetail label={row.label} by={s.by} />} rowAttrs={() => ({'data-row': 'group'})}
      all={rest > 0 ? () => set({rows: MOST_ROWS}) : undefined}
      foot={(
        <>
          {rest > 0 && <tr><td colSpan={8}><More rest={rest} s={s} /></td></tr>}
          {!narrowed && <tr data-row="baseline"><td title={t.baselineTitle}>{t.baseline}</td>{net(baseline)}<td colSpan={6} /></tr>}
          <tr class="sum" data-row="total"><th scope="row">{t.total}</th>{net(whole)}{share(value.new)}{share(value.freed)}{share(value.common)}</tr>
        </>
      )} />
  );
}
