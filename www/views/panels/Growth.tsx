import type {DeviceSummary, GrowthAnswer, GrowthGroup} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, int, signedSize, size} from '../../format';
import {useMessages} from '../../i18n';
import {isCurrent, traceShare} from '../../panels';
import type {State} from '../../state';
import {captureAt} from '../../state';
import {showRange} from '../../window';
import {Group} from './Group';
import {Nearest} from './GroupBy';
import {More} from './More';
import {EmptyPanel, Panel} from './Panel';

interface Props {
  s: State;
  device: DeviceSummary;
}

/** Beyond these, steps in the middle are left out: a table of a thousand columns helps nobody. */
const STEPS_SHOWN = 12;

/** What every step leaves more of. */
export function Growth({s, device}: Props) {
  const t = useMessages();
  const answer = s.answers.growth;
  if (answer === undefined) return <Panel s={s} test="growth" title={null} />;
  const {traced, steps, count, freed_later, bytes} = answer.value;
  if (!traced) return <EmptyPanel test="growth" title={t.tabNames.growth} text={traceShare(s.session, captureAt(s)) === null ? t.growthNoTrace : t.traceUnderWay} />;
  if (steps.length === 0) return <EmptyPanel test="growth" title={t.growthNoSteps} text={t.growthNoStepsWhy} />;
  const kept = count - freed_later;
  const title = steps.length < 2 ? t.growthOneStep(steps[0]?.phase.name ?? '')
    : kept > 0 ? t.growthTitle(kept, size(bytes), steps.length)
      : freed_later > 0 ? t.growthFreed(freed_later, steps.length) : t.growthNone(steps.length);
  return (
    <Panel s={s} test="growth" title={title} exact={exactBytes(t, bytes)} stale={!isCurrent(s, answer)} controls={<Nearest s={s} />}>
      {kept > 0 && freed_later > 0 && <p class="muted">{t.growthFreedToo(freed_later)}</p>}
      {count > 0 && <Groups s={s} device={device} value={answer.value} />}
      <Steps value={answer.value} />
    </Panel>
  );
}

function Groups({s, device, value}: Props & {value: GrowthAnswer}) {
  const t = useMessages();
  const {groups, steps, count} = value;
  const shown = columnsShown(steps.length);
  return (
    <div class="table-box">
      <table class="groups" data-test="growth-groups">
        <thead>
          <tr>
            <th>{t.operator}</th><th>{t.userFrame}</th><th class="number">{t.size}</th>
            {shown.map(step => <th key={step} class="number" title={step === null ? undefined : steps[step]?.phase.name}>{step === null ? '…' : stepNumber(steps[step]?.phase.name ?? '')}</th>)}
            <th class="number" title={t.grownTitle}>{t.grown}</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group, at) => <Row key={at} group={group} device={device} shown={shown} />)}
          {count > groups.length && <tr><td colSpan={shown.length + 4}><More rest={count - groups.length} s={s} /></td></tr>}
        </tbody>
      </table>
    </div>
  );
}

function Row({group, device, shown}: {group: GrowthGroup; device: DeviceSummary; shown: (number | null)[]}) {
  const t = useMessages();
  return (
    <tr data-row="group" data-freed={group.kept_blocks === 0} class={group.kept_blocks === 0 ? 'muted' : undefined}>
      <td class="group"><Group label={{text: group.name, lane: group.lane, stack: [], user_frame: null, distinction: null}} by="operator" device={device} /></td>
      <td class="group"><Group label={group.stack} by="stack" device={device} /></td>
      <td class="number" title={exactBytes(t, group.size_bytes)}>{size(group.size_bytes)}</td>
      {shown.map(step => <td key={step} class="number">{step === null ? '' : int(t, group.per_step_blocks[step] ?? 0)}</td>)}
      <td class="number" title={exactBytes(t, group.bytes)}>{signedSize(group.bytes)}{group.kept_blocks === 0 && <small class="muted">{t.freedLater}</small>}</td>
    </tr>
  );
}

/** What each step allocated, freed and left. */
function Steps({value}: {value: GrowthAnswer}) {
  const t = useMessages();
  const {steps} = value;
  const {unit, show} = column(Math.max(1, ...steps.flatMap(step => [step.allocated_bytes, step.freed_bytes, step.total_bytes ?? 0])));
  const cell = (bytes: number) => <td class="number" title={exactBytes(t, bytes)}>{show(bytes)}</td>;
  return (
    <div class="table-box">
      <table data-test="steps">
        <thead>
          <tr>
            <th>{t.step}</th><th class="number">{t.allocatedIn} {unit}</th><th class="number">{t.blocks}</th>
            <th class="number">{t.freedIn} {unit}</th><th class="number">{t.blocks}</th><th class="number">{t.totalAtEnd} {unit}</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step, at) => (
            <tr key={at}>
              <td><button type="button" class="plain link" onClick={() => showRange({from: step.phase.from_ns, to: step.phase.to_ns})}>{clip(step.phase.name)}</button></td>
              {cell(step.allocated_bytes)}<td class="number">{int(t, step.allocated_blocks)}</td>
              {cell(step.freed_bytes)}<td class="number">{int(t, step.freed_blocks)}</td>
              {step.total_bytes === null || step.total_bytes === undefined ? <td class="number muted">–</td> : cell(step.total_bytes)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The first and the last steps; null where some are left out. */
function columnsShown(steps: number): (number | null)[] {
  const all = Array.from({length: steps}, (_, step) => step);
  return steps <= STEPS_SHOWN ? all : [...all.slice(0, STEPS_SHOWN / 2), null, ...all.slice(-STEPS_SHOWN / 2)];
}

const stepNumber = (name: string): string => clip(name.slice(name.indexOf('#')), 16);
