import {useMemo} from 'preact/hooks';
import type {DeviceSummary, GroupLabel, GrowthAnswer, GrowthGroup, StepSummary} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, signedSize, size} from '../../format';
import {useMessages} from '../../i18n';
import {isCurrent, traceShare} from '../../panels';
import type {State} from '../../state';
import {MOST_ROWS, captureAt, set} from '../../state';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {showRange} from '../../window';
import {GroupDetail, chooseGroup, groupColumn} from './Group';
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
  const columns = useMemo((): Column<GrowthGroup>[] => [
    groupColumn<GrowthGroup>(t, 'operator', device, group => operatorOf(device, group)),
    {...groupColumn<GrowthGroup>(t, 'stack', device, group => group.stack), name: t.userFrame},
    {...bytesColumn<GrowthGroup>(t, {key: 'size_bytes', name: t.size, of: group => group.size_bytes, show: size})},
    ...columnsShown(steps.length).map((step, at): Column<GrowthGroup> => step === null ? {key: `…${at}`, name: '…', picture: true, value: () => null} : {
      ...countColumn<GrowthGroup>(t, clip(steps[step]?.phase.name ?? `${step}`, 60), stepNumber(steps[step]?.phase.name ?? ''), group => group.per_step_blocks[step], steps[step]?.phase.name),
      attrs: () => ({'data-step': step}),
    }),
    {
      ...bytesColumn<GrowthGroup>(t, {key: 'grown_bytes', name: t.grown, title: t.grownTitle, of: group => group.bytes, show: signedSize}),
      cell: group => <>{signedSize(group.bytes)}{isFreed(group) && <small class="muted">{t.freedLater}</small>}</>,
    },
  ], [t, device, steps]);
  const rest = count - groups.length;
  return (
    <Table test="growth-groups" label={t.tabNames.growth} columns={columns} rows={groups} class="groups" file="growth"
      id={group => `${group.lane} ${group.size_bytes} ${group.stack.stack.join('\n')}`} choose={group => chooseGroup(operatorOf(device, group))}
      detail={group => <GroupDetail label={{...operatorOf(device, group), stack: group.stack.stack, user_frame: group.stack.user_frame}} by="operator" />}
      rowAttrs={group => ({'data-row': 'group', 'data-freed': isFreed(group), ...isFreed(group) ? {class: 'muted'} : {}})}
      all={rest > 0 ? () => set({rows: MOST_ROWS}) : undefined}
      foot={rest > 0 ? <tr><td colSpan={columns.length}><More rest={rest} s={s} /></td></tr> : null} />
  );
}

const isFreed = ({kept_blocks}: GrowthGroup): boolean => kept_blocks === 0;

const operatorOf = (device: DeviceSummary, {name, lane}: GrowthGroup): GroupLabel => ({number: device.lanes[lane]?.key ?? 0, text: name, lane, stack: [], user_frame: null, distinction: null, folded_up_to: null});

/** What each step allocated, freed and left, whatever the filter. */
function Steps({value}: {value: GrowthAnswer}) {
  const t = useMessages();
  const {steps} = value;
  const {unit, show} = column(Math.max(1, ...steps.flatMap(step => [step.allocated_bytes, step.freed_bytes, step.total_bytes ?? 0])));
  const columns = useMemo((): Column<StepSummary>[] => [
    {key: 'step', name: t.step, value: step => step.phase.name, cell: step => clip(step.phase.name)},
    bytesColumn(t, {key: 'allocated_bytes', name: `${t.allocatedIn} ${unit}`, of: step => step.allocated_bytes, show}),
    countColumn(t, 'allocated_blocks', t.blocks, step => step.allocated_blocks),
    bytesColumn(t, {key: 'freed_bytes', name: `${t.freedIn} ${unit}`, of: step => step.freed_bytes, show}),
    countColumn(t, 'freed_blocks', t.blocks, step => step.freed_blocks),
    bytesColumn(t, {key: 'total_at_end_bytes', name: `${t.totalAtEnd} ${unit}`, of: step => step.total_bytes, show}),
  ], [t, unit]);
  return (
    <Table test="steps" label={t.step} columns={columns} rows={steps} id={step => step.phase.from_ns} file="steps"
      choose={step => showRange({from: step.phase.from_ns, to: step.phase.to_ns})} />
  );
}

/** The first and the last steps; null where some are left out. */
function columnsShown(steps: number): (number | null)[] {
  const all = Array.from({length: steps}, (_, step) => step);
  return steps <= STEPS_SHOWN ? all : [...all.slice(0, STEPS_SHOWN / 2), null, ...all.slice(-STEPS_SHOWN / 2)];
}

const stepNumber = (name: string): string => clip(name.slice(name.indexOf('#')), 16);
