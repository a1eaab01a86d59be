import type {BetweenAnswer, DeviceSummary, DifferenceRow, ShareSummary} from '../../../target/plain/pkg/oomscope';
import {column, exactBytes, int, signedSize, time} from '../../format';
import {useMessages} from '../../i18n';
import {put} from '../../instants';
import {isCurrent} from '../../panels';
import type {State} from '../../state';
import {TimeField} from '../TimeField';
import {Group, useGroupHeading} from './Group';
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
      <TimeField label="B" ns={s.b} device={device} test="b-field" take={ns => put('b', ns)} />
    </>
  );
  if (s.a === null || s.b === null) return <EmptyPanel test="between" title={t.tabNames.between} text={t.betweenEmpty} controls={marks} />;
  const answer = s.answers.between;
  const controls = <>{marks}<GroupBy s={s} /></>;
  if (answer === undefined) return <Panel s={s} test="between" title={null} controls={controls} />;
  const {value} = answer;
  const net = (value.b?.total_bytes ?? 0) - (value.a?.total_bytes ?? 0);
  return (
    <Panel s={s} test="between" controls={controls} stale={!isCurrent(s, answer)} exact={exactBytes(t, net)}
      title={t.betweenTitle(time(t, value.a_ns, device.end_ns), time(t, value.b_ns, device.end_ns), signedSize(net), value.new.blocks, value.freed.blocks)}>
      {value.groups === null || value.groups === undefined ? <NoGroups s={s} /> : <Rows s={s} device={device} value={value} groups={value.groups} />}
    </Panel>
  );
}

function Rows({s, device, value, groups}: Props & {value: BetweenAnswer; groups: DifferenceRow[]}) {
  const t = useMessages();
  const heading = useGroupHeading(s.by, device);
  const baseline = (value.b?.baseline_bytes ?? 0) - (value.a?.baseline_bytes ?? 0);
  const largest = [value.new, value.freed, value.common].map(share => share.bytes);
  const {unit, show} = column(Math.max(1, Math.abs(baseline), ...largest));
  const signed = (bytes: number): string => `${bytes > 0 ? '+' : bytes < 0 ? '−' : ''}${show(Math.abs(bytes))}`;
  const net = (bytes: number) => <td class="number" data-net={bytes} title={exactBytes(t, bytes)}>{signed(bytes)}</td>;
  const share = ({bytes, blocks}: ShareSummary) => (
    <>
      <td class="number" title={exactBytes(t, bytes)}>{blocks === 0 ? '' : show(bytes)}</td>
      <td class="number">{blocks === 0 ? '' : int(t, blocks)}</td>
    </>
  );
  return (
    <div class="table-box">
      <table class="groups" data-test="difference">
        <thead>
          <tr>
            <th>{heading}</th><th class="number" title={t.netTitle}>{t.net}, {unit}</th>
            <th class="number">{t.newBytes}, {unit}</th><th class="number">{t.blocks}</th>
            <th class="number">{t.freedBytes}, {unit}</th><th class="number">{t.blocks}</th>
            <th class="number">{t.commonBytes}, {unit}</th><th class="number">{t.blocks}</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group, at) => (
            <tr key={at} data-row="group">
              <td class="group"><Group label={group.label} by={s.by} device={device} /></td>
              {net(group.net_bytes)}{share(group.new)}{share(group.freed)}{share(group.common)}
            </tr>
          ))}
          {value.count > groups.length && <tr><td colSpan={8}><More rest={value.count - groups.length} s={s} /></td></tr>}
          <tr data-row="baseline"><td title={t.baselineTitle}>{t.baseline}</td>{net(baseline)}<td colSpan={6} /></tr>
        </tbody>
        <tfoot>
          <tr class="sum" data-row="total">
            <th scope="row">{t.total}</th>
            {net((value.b?.total_bytes ?? 0) - (value.a?.total_bytes ?? 0))}{share(value.new)}{share(value.freed)}{share(value.common)}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
