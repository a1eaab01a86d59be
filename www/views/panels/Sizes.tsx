import type {BinSummary} from '../../../target/plain/pkg/oomscope';
import {classSize, column, duration, exactBytes, int, percent} from '../../format';
import {useMessages} from '../../i18n';
import type {State} from '../../state';
import {Bar} from './Live';
import {Panel} from './Panel';

/** How large the blocks are and how long they live. */
export function Sizes({s}: {s: State}) {
  const t = useMessages();
  const answer = s.answers.sizes;
  if (answer === undefined) return <Panel s={s} test="sizes" title={null} />;
  const {sizes, lifetimes, open_blocks, open_bytes} = answer.value;
  const all = sum(sizes, 'blocks');
  const most = largest(sizes, 'blocks');
  const weight = largest(sizes, 'bytes');
  const title = most === undefined || weight === undefined ? t.tabNames.sizes : t.sizesTitle(percent(most.blocks / Math.max(1, all)), classSize(most.up_to), percent(weight.bytes / Math.max(1, sum(sizes, 'bytes'))), classSize(weight.up_to));
  return (
    <Panel s={s} test="sizes" title={title}>
      <div class="histograms">
        <Histogram test="size-histogram" name={t.sizeUpTo} bins={sizes} label={classSize} exact={value => exactBytes(t, value)} />
        <Histogram test="lifetime-histogram" name={t.lifetimeUpTo} bins={lifetimes} label={duration} exact={value => `${int(t, value)} ns`}
          last={{name: t.notReleased, blocks: open_blocks, bytes: open_bytes}} />
      </div>
    </Panel>
  );
}

const sum = (bins: BinSummary[], of: 'blocks' | 'bytes'): number => bins.reduce((sum, bin) => sum + bin[of], 0);

const largest = (bins: BinSummary[], of: 'blocks' | 'bytes'): BinSummary | undefined =>
  bins.reduce<BinSummary | undefined>((most, bin) => most === undefined || bin[of] > most[of] ? bin : most, undefined);

interface Props {
  test: string;
  name: string;
  bins: BinSummary[];
  label: (value: number) => string;
  exact: (value: number) => string;
  last?: {name: string; blocks: number; bytes: number};
}

/** The bars and the table are one: a row a class. */
function Histogram({test, name, bins, label, exact, last}: Props) {
  const t = useMessages();
  const rows = last === undefined || last.blocks === 0 ? [] : [last];
  const mostBlocks = Math.max(1, ...bins.map(bin => bin.blocks), ...rows.map(row => row.blocks));
  const mostBytes = Math.max(1, ...bins.map(bin => bin.bytes), ...rows.map(row => row.bytes));
  const {unit, show} = column(mostBytes);
  const cells = ({blocks, bytes}: {blocks: number; bytes: number}) => (
    <>
      <td class="number" data-blocks={blocks}>{int(t, blocks)}</td>
      <Bar share={blocks / mostBlocks} hue={0} />
      <td class="number" data-bytes={bytes} title={exactBytes(t, bytes)}>{show(bytes)}</td>
      <Bar share={bytes / mostBytes} hue={1} />
    </>
  );
  return (
    <div class="table-box">
      <table class="histogram" data-test={test}>
        <thead>
          <tr><th>{name}</th><th class="number">{t.blocks}</th><th class="bar-cell" aria-hidden="true" /><th class="number">{unit}</th><th class="bar-cell" aria-hidden="true" /></tr>
        </thead>
        <tbody>
          {bins.map(bin => <tr key={bin.up_to} data-row="bin"><td title={exact(bin.up_to)}>≤ {label(bin.up_to)}</td>{cells(bin)}</tr>)}
          {rows.map(row => <tr key="last" data-row="open"><td>{row.name}</td>{cells(row)}</tr>)}
        </tbody>
        <tfoot>
          <tr class="sum">
            <th scope="row">{t.total}</th>
            <td class="number">{int(t, sum(bins, 'blocks') + (rows[0]?.blocks ?? 0))}</td><td />
            <td class="number" title={exactBytes(t, sum(bins, 'bytes') + (rows[0]?.bytes ?? 0))}>{show(sum(bins, 'bytes') + (rows[0]?.bytes ?? 0))}</td><td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
