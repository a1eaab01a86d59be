import type {ComponentChildren} from 'preact';
import type {ComparedCapture, ComparisonSummary, DeviceDifference, OperatorChange, StackChange} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, int, signedSize} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {choosePair} from '../../pair';
import type {State} from '../../state';
import {OperatorName} from '../OperatorName';

const ROWS = 25;

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
        : s.difference.devices.map((device, at) => <Changes key={at} device={device} />)}
    </section>
  );
}

function nameOf(t: Messages, {source, role, rank}: ComparedCapture): string {
  const names = [role, rank === null || rank === undefined ? null : t.rankName(rank)].filter(Boolean).join(' · ');
  return names === '' ? clip(source) : `${names} · ${clip(source, 60)}`;
}

function Changes({device}: {device: DeviceDifference}) {
  const t = useMessages();
  const {total_bytes: total, baseline_bytes: baseline, by_operator: operators, by_stack: stacks} = device;
  const unit = column(Math.max(1, Math.abs(total.difference), ...operators.slice(0, 1).map(each => Math.abs(each.difference_bytes))));
  return (
    <>
      <h3 title={exactBytes(t, total.difference)}>{t.pairDevice(device.b_device ?? device.a_device ?? '', device.pool, signedSize(total.difference))}</h3>
      <div class="table-box">
        <table class="groups" data-test="pair-operators">
          <Head name={t.operator} unit={unit.unit} />
          <tbody>
            <Row name={t.baseline} change={{a_bytes: baseline.a, b_bytes: baseline.b, difference_bytes: baseline.difference}} show={unit.show} />
            {operators.slice(0, ROWS).map(change => <Row key={change.name} name={<OperatorName name={change.name} />} change={change} blocks={[change.a_blocks, change.b_blocks]} show={unit.show} />)}
            <Rest rest={operators.slice(ROWS)} show={unit.show} />
          </tbody>
          <tfoot><Row name={t.total} change={{a_bytes: total.a, b_bytes: total.b, difference_bytes: total.difference}} show={unit.show} test="pair-total" /></tfoot>
        </table>
      </div>
      {stacks !== null && stacks !== undefined && (
        <details class="pair-stacks">
          <summary>{t.pairStacks(stacks.length)}</summary>
          <div class="table-box">
            <table class="groups" data-test="pair-stacks">
              <Head name={t.callStack} unit={unit.unit} />
              <tbody>
                {stacks.slice(0, ROWS).map((change, at) => (
                  <Row key={at} change={change} blocks={[change.a_blocks, change.b_blocks]} show={unit.show}
                    name={change.stack.length === 0 ? t.noStack : <code title={clip(change.stack.join('\n'), 4000)}>{clip(change.stack.at(-1) ?? '')}</code>} />
                ))}
                <Rest rest={stacks.slice(ROWS)} show={unit.show} />
              </tbody>
            </table>
          </div>
        </details>
      )}
    </>
  );
}

function Head({name, unit}: {name: string; unit: string}) {
  const t = useMessages();
  return <thead><tr><th>{name}</th><th class="number">{t.net}, {unit}</th><th class="number">A, {unit}</th><th class="number">{t.blocks}</th><th class="number">B, {unit}</th><th class="number">{t.blocks}</th></tr></thead>;
}

interface Bytes {
  a_bytes: number;
  b_bytes: number;
  difference_bytes: number;
}

interface RowProps {
  name: ComponentChildren;
  change: Bytes;
  blocks?: [number, number];
  show: (bytes: number) => string;
  test?: string;
}

function Row({name, change, blocks, show, test}: RowProps) {
  const t = useMessages();
  const {a_bytes, b_bytes, difference_bytes: net} = change;
  return (
    <tr>
      <td class="group">{name}</td>
      <td class="number" data-test={test} data-bytes={net} title={exactBytes(t, net)}>{net > 0 ? '+' : net < 0 ? '−' : ''}{show(Math.abs(net))}</td>
      <td class="number" title={exactBytes(t, a_bytes)}>{show(a_bytes)}</td><td class="number">{blocks === undefined ? '' : int(t, blocks[0])}</td>
      <td class="number" title={exactBytes(t, b_bytes)}>{show(b_bytes)}</td><td class="number">{blocks === undefined ? '' : int(t, blocks[1])}</td>
    </tr>
  );
}

/** What is not told row by row, so that the rows still sum to the total. */
function Rest({rest, show}: {rest: (OperatorChange | StackChange)[]; show: (bytes: number) => string}) {
  const t = useMessages();
  if (rest.length === 0) return null;
  const sum = (key: keyof Bytes): number => rest.reduce((sum, change) => sum + change[key], 0);
  return <Row name={t.pairRest(rest.length)} change={{a_bytes: sum('a_bytes'), b_bytes: sum('b_bytes'), difference_bytes: sum('difference_bytes')}} show={show} />;
}
