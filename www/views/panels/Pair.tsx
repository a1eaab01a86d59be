import type {ComponentChildren} from 'preact';
import {useMemo} from 'preact/hooks';
import type {ComparedCapture, ComparisonSummary, DeviceDifference, OperatorChange, StackChange} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, signedSize} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {choosePair} from '../../pair';
import type {State} from '../../state';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {OperatorName} from '../OperatorName';
import {Stack} from '../Stack';

/** Two captures at their peaks: what B holds more or less than A, by operator and by call stack. */
export function Pair({s, comparison}: {s: State; comparison: ComparisonSummary}) {
  const t = useMessages();
  const choices = comparison.captures.flatMap((capture, place) => capture.kind === 'ascend' ? [{capture, place}] : []);
  if (choices.length < 2) return null;
  const [a, b] = s.pair ?? [-1, -1];
  return (
    <section class="answers" data-test="panel-pair">
      <div class="answers-head">
        <h2>{t.pairTitle}</h2>
        {([['a', a], ['b', b]] as const).map(([side, chosen]) => (
          <label key={side}>{side.toUpperCase()}{' '}
            <select data-test={`pair-${side}`} value={String(chosen)} onChange={event => void choosePair(side, Number(event.currentTarget.value))}>
              {chosen < 0 && <option value="-1">{t.pairChoose}</option>}
              {choices.map(({capture, place}) => <option key={place} value={String(place)}>{nameOf(t, capture)}</option>)}
            </select>
          </label>
        ))}
      </div>
      {s.difference === null ? <p class="muted">{a < 0 || b < 0 ? t.pairEmpty : t.panelLoading}</p>
        : s.difference.devices.map((device, at) => <Changes key={at} device={device} nth={at} />)}
    </section>
  );
}

function nameOf(t: Messages, {source, role, rank}: ComparedCapture): string {
  const names = [role, rank === null || rank === undefined ? null : t.rankName(rank)].filter(Boolean).join(' · ');
  return names === '' ? clip(source) : `${names} · ${clip(source, 60)}`;
}

function Changes({device, nth}: {device: DeviceDifference; nth: number}) {
  const t = useMessages();
  const {total_bytes: total, baseline_bytes: baseline, by_operator: operators, by_stack: stacks} = device;
  const unit = column(Math.max(1, Math.abs(total.difference), ...operators.slice(0, 1).map(each => Math.abs(each.difference_bytes))));
  // Those of the first device are known by their plain names.
  const test = (name: string): string => nth === 0 ? name : `${name}-${nth}`;
  const sum = (test: string, name: string, {a, b, difference}: Spread) => (
    <tr class="sum">
      <th scope="row">{name}</th><td class="number" data-test={test} data-bytes={difference} title={exactBytes(t, difference)}>{signed(unit.show, difference)}</td>
      <td class="number" title={exactBytes(t, a)}>{unit.show(a)}</td><td /><td class="number" title={exactBytes(t, b)}>{unit.show(b)}</td><td />
    </tr>
  );
  return (
    <>
      <h3 title={exactBytes(t, total.difference)}>{t.pairDevice(device.b_device ?? device.a_device ?? '', device.pool, signedSize(total.difference))}</h3>
      <ChangesTable test={test('pair-operators')} unit={unit} rows={operators} first={sum(test('pair-baseline'), t.baseline, baseline)} foot={sum(test('pair-total'), t.total, total)}
        name={{key: 'operator', name: t.operator, value: each => each.name, cell: each => <OperatorName name={each.name || t.unattributed} />, attrs: () => ({class: 'group'})}} />
      {stacks !== null && stacks !== undefined && (
        <details class="pair-stacks">
          <summary>{t.pairStacks(stacks.length)}</summary>
          <ChangesTable test={test('pair-stacks')} unit={unit} rows={stacks} detail={each => each.stack.length === 0 ? t.noStack : <Stack frames={each.stack} user={null} />}
            name={{
              key: 'stack', name: t.callStack, value: each => each.stack.join('; '), attrs: () => ({class: 'group'}),
              cell: each => each.stack.length === 0 ? t.noStack : <code>{clip(each.stack.at(-1) ?? '')}</code>,
            }} />
        </details>
      )}
    </>
  );
}

type Spread = DeviceDifference['total_bytes'];

const signed = (show: (bytes: number) => string, bytes: number): string => `${bytes > 0 ? '+' : bytes < 0 ? '−' : ''}${show(Math.abs(bytes))}`;

interface ChangesProps<R> {
  test: string;
  unit: {unit: string; show: (bytes: number) => string};
  rows: R[];
  /** The column that says whose change it is. */
  name: Column<R>;
  first?: ComponentChildren;
  foot?: ComponentChildren;
  detail?: (row: R) => ComponentChildren;
}

function ChangesTable<R extends OperatorChange | StackChange>({test, unit: {unit, show}, rows, name, first, foot, detail}: ChangesProps<R>) {
  const t = useMessages();
  const numbers = useMemo(() => new Map(rows.map((row, at) => [row, at])), [rows]);
  const columns = useMemo((): Column<R>[] => [
    name,
    bytesColumn(t, {key: 'net_bytes', name: `${t.net}, ${unit}`, of: each => each.difference_bytes, show, signed: true}),
    bytesColumn(t, {key: 'a_bytes', name: `A, ${unit}`, of: each => each.a_bytes, show, data: 'a'}),
    countColumn(t, 'a_blocks', t.blocks, each => each.a_blocks),
    bytesColumn(t, {key: 'b_bytes', name: `B, ${unit}`, of: each => each.b_bytes, show, data: 'b'}),
    countColumn(t, 'b_blocks', t.blocks, each => each.b_blocks),
  ], [t, unit]);
  return (
    <Table test={test} label={t.pairTitle} columns={columns} rows={rows} id={row => numbers.get(row) ?? 0} class="groups" file={test} first={first} foot={foot}
      {...detail === undefined ? {} : {detail}} />
  );
}
