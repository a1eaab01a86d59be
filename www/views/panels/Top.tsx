import {useMemo} from 'preact/hooks';
import type {AllocatorRow, DeviceSummary, TopAnswer, TopSort} from '../../../target/plain/pkg/oomscope';
import {byteSeconds, clip, column, duration, exactBytes, int, size} from '../../format';
import {useMessages} from '../../i18n';
import {isCurrent} from '../../panels';
import type {State} from '../../state';
import {set} from '../../state';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {GroupDetail, chooseGroup, groupColumn} from './Group';
import {GroupBy, NoGroups} from './GroupBy';
import {More} from './More';
import {EmptyPanel, Panel} from './Panel';

interface Props {
  s: State;
  device: DeviceSummary;
}

/** Who allocated most over the whole capture. */
export function Top({s, device}: Props) {
  const t = useMessages();
  const answer = s.answers.top;
  const controls = <GroupBy s={s} />;
  if (answer === undefined) return <Panel s={s} test="top" title={null} controls={controls} />;
  const {value} = answer;
  const {allocators, bytes, blocks} = value;
  if (allocators === null || allocators === undefined) {
    return <EmptyPanel test="top" title={t.topAll(size(bytes), blocks)} text="" controls={controls}><NoGroups s={s} /></EmptyPanel>;
  }
  // What the title names is the largest, however the rows are sorted.
  const most = allocators.reduce<AllocatorRow | null>((most, row) => most === null || row.bytes > most.bytes ? row : most, null);
  const title = s.by !== 'operator' || most === null ? t.topAll(size(bytes), blocks) : t.topTitle(clip(t.ownerName(most.label.text || t.unattributed), 60), size(most.bytes), size(bytes));
  return (
    <Panel s={s} test="top" title={title} exact={exactBytes(t, bytes)} stale={!isCurrent(s, answer)} controls={controls}>
      <Allocators s={s} device={device} value={value} allocators={allocators} />
    </Panel>
  );
}

const FIGURES: {[key: string]: TopSort} = {
  bytes: 'bytes', blocks: 'blocks', largest_bytes: 'largest', mean_lifetime_ns: 'mean_lifetime', byte_ns: 'byte_seconds', peak_without_bytes: 'peak_without',
};

function Allocators({s, device, value, allocators}: Props & {value: TopAnswer; allocators: AllocatorRow[]}) {
  const t = useMessages();
  const {unit, show} = column(Math.max(1, ...allocators.map(row => Math.max(row.bytes, row.peak_without_bytes))));
  const columns = useMemo((): Column<AllocatorRow>[] => [
    {...groupColumn<AllocatorRow>(t, s.by, device, row => row.label), fixed: true},
    bytesColumn(t, {key: 'bytes', name: `${t.allocatedBytes}, ${unit}`, of: row => row.bytes, show}),
    countColumn(t, 'blocks', t.blocks, row => row.blocks),
    bytesColumn(t, {key: 'largest_bytes', name: `${t.largest}, ${unit}`, of: row => row.largest_bytes, show, data: 'largest'}),
    {
      key: 'mean_lifetime_ns', name: t.meanLifetime, title: t.meanLifetimeTitle, number: true, width: 120, value: row => row.mean_lifetime_ns,
      cell: ({mean_lifetime_ns: mean}) => mean === null || mean === undefined ? t.noneReleased : duration(mean),
      attrs: ({open_blocks, blocks}) => open_blocks > 0 ? {title: t.notReleasedOf(open_blocks, blocks)} : {},
    },
    {
      key: 'byte_ns', name: t.byteSeconds, title: t.byteSecondsTitle, number: true, width: 120, value: row => row.byte_ns, cell: row => byteSeconds(row.byte_ns),
      attrs: row => ({'data-byte-ns': row.byte_ns, title: t.byteNanoseconds(int(t, BigInt(row.byte_ns)))}),
    },
    bytesColumn(t, {key: 'peak_without_bytes', name: `${t.peakWithout}, ${unit}`, title: t.peakWithoutTitle, of: row => row.peak_without_bytes, show, data: 'without'}),
  ], [t, s.by, device, unit]);
  const {sort, ascending} = s.topSort;
  const rest = value.groups - allocators.length;
  return (
    <Table test="top" label={t.tabNames.top} columns={columns} rows={allocators} class="groups" file="top" id={row => `${row.label.lane ?? ''} ${row.label.text} ${row.label.stack.join('\n')}`}
      sort={{key: Object.keys(FIGURES).find(key => FIGURES[key] === sort) ?? 'bytes', ascending}}
      // What would lower the peak most comes first.
      onSort={next => {
        const figure = FIGURES[next.key] ?? 'bytes';
        set({topSort: {sort: figure, ascending: figure === sort ? !ascending : figure === 'peak_without'}});
      }}
      choose={row => chooseGroup(row.label)} detail={row => <GroupDetail label={row.label} by={s.by} />} rowAttrs={() => ({'data-row': 'group'})}
      foot={rest > 0 ? <tr><td colSpan={columns.length}><More rest={rest} s={s} /></td></tr> : null} />
  );
}
