import type {AllocatorRow, DeviceSummary, TopSort} from '../../../target/plain/pkg/oomscope';
import {byteSeconds, clip, column, duration, exactBytes, int, size} from '../../format';
import {useMessages} from '../../i18n';
import {isCurrent} from '../../panels';
import type {State} from '../../state';
import {set} from '../../state';
import {Group, useGroupHeading} from './Group';
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
  const title = s.by !== 'operator' || most === null ? t.topAll(size(bytes), blocks) : t.topTitle(clip(most.label.text || t.unattributed, 60), size(most.bytes), size(bytes));
  return (
    <Panel s={s} test="top" title={title} exact={exactBytes(t, bytes)} stale={!isCurrent(s, answer)} controls={controls}>
      <div class="table-box">
        <table class="groups" data-test="top">
          <Head s={s} device={device} bytesUnit={unitOf(allocators).unit} />
          <tbody>
            {allocators.map((row, at) => <Row key={at} row={row} s={s} device={device} show={unitOf(allocators).show} />)}
            {value.groups > allocators.length && <tr><td colSpan={7}><More rest={value.groups - allocators.length} s={s} /></td></tr>}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

const unitOf = (rows: AllocatorRow[]) => column(Math.max(1, ...rows.map(row => Math.max(row.bytes, row.peak_without_bytes))));

function Head({s, device, bytesUnit}: {s: State; device: DeviceSummary; bytesUnit: string}) {
  const t = useMessages();
  const heading = useGroupHeading(s.by, device);
  const columns: [TopSort, string, string | undefined][] = [
    ['bytes', `${t.allocatedBytes}, ${bytesUnit}`, undefined], ['blocks', t.blocks, undefined], ['largest', `${t.largest}, ${bytesUnit}`, undefined],
    ['mean_lifetime', t.meanLifetime, t.meanLifetimeTitle], ['byte_seconds', t.byteSeconds, t.byteSecondsTitle],
    ['peak_without', `${t.peakWithout}, ${bytesUnit}`, t.peakWithoutTitle],
  ];
  return <thead><tr><th>{heading}</th>{columns.map(([sort, name, title]) => <SortHead key={sort} s={s} sort={sort} name={name} title={title} />)}</tr></thead>;
}

/** A heading that sorts; pressed again, the other way round. What would lower the peak most comes first. */
function SortHead({s, sort, name, title}: {s: State; sort: TopSort; name: string; title: string | undefined}) {
  const current = s.topSort.sort === sort;
  const ascending = current ? !s.topSort.ascending : sort === 'peak_without';
  return (
    <th class="number" title={title} aria-sort={!current ? 'none' : s.topSort.ascending ? 'ascending' : 'descending'}>
      <button type="button" class="plain sort" data-test={`sort-${sort}`} onClick={() => set({topSort: {sort, ascending}})}>
        {name}{current && <span aria-hidden="true"> {s.topSort.ascending ? '▲' : '▼'}</span>}
      </button>
    </th>
  );
}

function Row({row, s, device, show}: {row: AllocatorRow; s: State; device: DeviceSummary; show: (bytes: number) => string}) {
  const t = useMessages();
  const {mean_lifetime_ns: mean, open_blocks, byte_ns} = row;
  const open = open_blocks > 0 ? t.notReleasedOf(open_blocks, row.blocks) : undefined;
  return (
    <tr data-row="group">
      <td class="group"><Group label={row.label} by={s.by} device={device} /></td>
      <td class="number" data-bytes={row.bytes} title={exactBytes(t, row.bytes)}>{show(row.bytes)}</td>
      <td class="number">{int(t, row.blocks)}</td>
      <td class="number" title={exactBytes(t, row.largest_bytes)}>{show(row.largest_bytes)}</td>
      <td class="number" title={open}>{mean === null || mean === undefined ? t.noneReleased : duration(mean)}</td>
      <td class="number" data-byte-ns={byte_ns} title={t.byteNanoseconds(int(t, BigInt(byte_ns)))}>{byteSeconds(byte_ns)}</td>
      <td class="number" data-without={row.peak_without_bytes} title={exactBytes(t, row.peak_without_bytes)}>{show(row.peak_without_bytes)}</td>
    </tr>
  );
}
