import {useMemo} from 'preact/hooks';
import type {BinSummary} from '../../../target/plain/pkg/oomscope';
import {classSize, column, duration, exactBytes, int, percent} from '../../format';
import {useMessages} from '../../i18n';
import type {State} from '../../state';
import {barColumn, bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {SavePicture} from '../SavePicture';
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
    <Panel s={s} test="sizes" title={title} controls={<SavePicture chart="sizes" />}>
      <div class="histograms">
        <Histogram test="size-histogram" name={t.sizeUpTo} endKey="up_to_bytes" bins={sizes} label={classSize} exact={value => exactBytes(t, value)} />
        <Histogram test="lifetime-histogram" name={t.lifetimeUpTo} endKey="up_to_ns" label={duration} exact={value => `${int(t, value)} ns`}
          bins={open_blocks === 0 ? lifetimes : [...lifetimes, {up_to: null, blocks: open_blocks, bytes: open_bytes}]} />
      </div>
    </Panel>
  );
}

const sum = (bins: Bin[], of: 'blocks' | 'bytes'): number => bins.reduce((sum, bin) => sum + bin[of], 0);

const largest = (bins: BinSummary[], of: 'blocks' | 'bytes'): BinSummary | undefined =>
  bins.reduce<BinSummary | undefined>((most, bin) => most === undefined || bin[of] > most[of] ? bin : most, undefined);

/** A class, or what has none: the bar of blocks that were not released. */
interface Bin {
  /** Null: no upper end. */
  up_to: number | null;
  blocks: number;
  bytes: number;
}

interface Props {
  test: string;
  name: string;
  /** Of the classes' ends, in files. */
  endKey: string;
  bins: Bin[];
  label: (value: number) => string;
  exact: (value: number) => string;
}

/** The bars and the table are one: a row a class. */
function Histogram({test, name, endKey, bins, label, exact}: Props) {
  const t = useMessages();
  const mostBlocks = Math.max(1, ...bins.map(bin => bin.blocks));
  const mostBytes = Math.max(1, ...bins.map(bin => bin.bytes));
  const {unit, show} = column(mostBytes);
  const columns = useMemo((): Column<Bin>[] => [
    {
      key: endKey, name, value: bin => bin.up_to, cell: ({up_to: end}) => end === null ? t.notReleased : `≤ ${label(end)}`,
      attrs: ({up_to: end}) => end === null ? {} : {title: exact(end)},
    },
    {...countColumn<Bin>(t, 'blocks', t.blocks, bin => bin.blocks), attrs: bin => ({'data-blocks': bin.blocks})},
    barColumn(bin => bin.blocks / mostBlocks, () => 0, 'bar_blocks'),
    bytesColumn(t, {key: 'bytes', name: unit, of: bin => bin.bytes, show}),
    barColumn(bin => bin.bytes / mostBytes, () => 1, 'bar_bytes'),
  ], [t, name, unit, mostBlocks, mostBytes]);
  const [blocks, bytes] = [sum(bins, 'blocks'), sum(bins, 'bytes')];
  return (
    <Table test={test} label={name} columns={columns} rows={bins} id={bin => bin.up_to ?? 'open'} class="histogram" file={test} rowAttrs={bin => ({'data-row': bin.up_to === null ? 'open' : 'bin'})}
      foot={(
        <tr class="sum">
          <th scope="row">{t.total}</th>
          <td class="number">{int(t, blocks)}</td><td />
          <td class="number" title={exactBytes(t, bytes)}>{show(bytes)}</td><td />
        </tr>
      )} />
  );
}
