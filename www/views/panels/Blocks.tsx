import {useMemo} from 'preact/hooks';
import type {BlockRow, BlockSort, DeviceSummary} from '../../../target/plain/pkg/oomscope';
import {areCurrent, blockRows, sortBlocks} from '../../blocks';
import {classSize, clip, duration, exactBytes, exactTime, int, size, time} from '../../format';
import {pin} from '../../frames';
import {useMessages} from '../../i18n';
import type {State} from '../../state';
import {isNarrowed, ofJax} from '../../state';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {OperatorName} from '../OperatorName';
import {Swatch} from '../Swatch';
import {Nearest} from './GroupBy';
import {Panel} from './Panel';

const SORTS: {[key: string]: BlockSort} = {
  operator: 'operator', bytes: 'bytes', start_ns: 'start', end_ns: 'end', lifetime_ns: 'lifetime', stream: 'stream', first_user_frame: 'user_frame', line: 'line',
};

/** Every block, however many there are; the one that is chosen is the one on the charts. */
export function Blocks({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const table = s.blockTable;
  const rows = useMemo(() => blockRows(s), [table, s.place, s.blockFilter, s.nearest, s.blocks.sort, s.blocks.ascending, s.session?.lost]);
  const columns = useMemo((): Column<BlockRow>[] => [
    {
      key: 'operator', name: ofJax(device) ? t.owner : t.operator, width: 240, value: row => device.lanes[row.lane]?.name ?? '', attrs: row => ({title: clip(device.lanes[row.lane]?.name || t.unattributed)}),
      cell: row => <span class="swatched"><Swatch hue={device.lanes[row.lane]?.hue ?? 12} /> <span class="name"><OperatorName name={device.lanes[row.lane]?.name || t.unattributed} /></span></span>,
    },
    // From bytes to GiB: each with its unit.
    {key: 'bytes', name: t.size, number: true, width: 104, value: row => row.bytes, cell: row => size(row.bytes), attrs: row => ({'data-bytes': row.bytes, title: exactBytes(t, row.bytes)})},
    {key: 'start_ns', name: t.start, number: true, width: 116, value: row => row.start_ns, cell: row => time(t, row.start_ns, device.end_ns), attrs: row => ({title: exactTime(t, row.start_ns, device.end_ns)})},
    {
      key: 'end_ns', name: t.end, number: true, width: 116, value: row => row.end_ns, cell: ({end_ns}) => end_ns === null || end_ns === undefined ? <span class="muted">{t.stillAlive}</span> : time(t, end_ns, device.end_ns),
      attrs: ({end_ns}) => ({title: end_ns === null || end_ns === undefined ? t.notReleased : exactTime(t, end_ns, device.end_ns)}),
    },
    {
      key: 'lifetime_ns', name: t.lifetimeUpTo, number: true, width: 104, value: row => row.lifetime_ns, attrs: row => ({title: `${int(t, row.lifetime_ns)} ns`}),
      cell: ({end_ns, lifetime_ns}) => end_ns === null || end_ns === undefined ? `≥ ${duration(lifetime_ns)}` : duration(lifetime_ns),
    },
    {key: 'stream', name: t.stream, width: 110, value: row => row.stream, attrs: row => ({title: row.stream})},
    {
      key: 'first_user_frame', name: t.userFrame, value: row => row.user_frame, attrs: row => ({class: 'tail', title: clip(row.user_frame, 1000)}),
      cell: row => row.user_frame === '' ? <span class="muted">{t.noStack}</span> : <code>{clip(row.user_frame)}</code>,
    },
    {key: 'line', name: t.lineShort, title: t.line, number: true, width: 84, value: row => row.line, cell: row => int(t, row.line)},
  ], [t, device]);
  const {folded} = device;
  const found = table?.found?.block === s.pinned ? table?.found ?? null : null;
  return (
    <Panel s={s} test="blocks" title={table === null ? null : isNarrowed(s) ? t.blocksSome(table.total, device.blocks, size(table.bytes)) : t.blocksAll(table.total, size(table.bytes))}
      exact={table === null ? undefined : exactBytes(t, table.bytes)} stale={!areCurrent(s)} controls={<Nearest s={s} />}>
      {folded !== null && folded !== undefined && !isNarrowed(s) && <p class="muted" data-test="folded-beside" title={t.foldedWhy}>{t.foldedBeside(folded.blocks, classSize(folded.up_to_bytes), size(folded.bytes))}</p>}
      <Table test="blocks" label={t.tabNames.blocks} columns={columns} rows={rows} id={row => row.block} current={s.pinned} choose={row => pin(row.block)} file="all-blocks" reveal={found}
        sort={{key: Object.keys(SORTS).find(key => SORTS[key] === s.blocks.sort) ?? 'bytes', ascending: s.blocks.ascending}}
        onSort={({key, ascending}) => sortBlocks(SORTS[key] ?? 'bytes', ascending)} rowAttrs={row => ({'data-block': row.block})} />
    </Panel>
  );
}
