import {useMemo} from 'preact/hooks';
import type {BufferReport, HeapPeakReport, ModuleReport} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, size} from '../../format';
import {useMessages} from '../../i18n';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';

/** The buffers that live at the heap's peak: equal ones in one row, with the Python line that made them. */
export function Buffers({module}: {module: ModuleReport}) {
  const t = useMessages();
  const heap = module.heap_peak;
  if (heap === null || heap === undefined) return <p class="empty">{t.heapPeakNoneWhy}</p>;
  return <AtPeak heap={heap} />;
}

/** The Python line that made them. */
export const lineOf = ({file, line, function: name}: BufferReport): string | null =>
  file === null || file === undefined ? null : `${file}:${line ?? ''}${name ? ` ${name}` : ''}`;

function AtPeak({heap}: {heap: HeapPeakReport}) {
  const t = useMessages();
  const listed = heap.buffers.reduce((sum, {bytes}) => sum + bytes, 0);
  const rest = heap.replay_bytes - listed;
  const {unit, show} = column(Math.max(1, ...heap.buffers.map(({bytes}) => bytes)));
  const numbers = useMemo(() => new Map(heap.buffers.map((buffer, at) => [buffer, at])), [heap]);
  const columns = useMemo((): Column<BufferReport>[] => [
    {
      key: 'shape', name: t.bufferShape, width: 190, value: buffer => buffer.shape,
      cell: buffer => <><code>{clip(buffer.shape)}</code>{buffer.square && <small class="muted" title={t.squareTitle}> {t.square}</small>}</>,
    },
    bytesColumn(t, {key: 'bytes', name: t.bytesIn(unit), of: buffer => buffer.bytes, show}),
    countColumn(t, 'count', t.bufferCount, buffer => buffer.count),
    {
      key: 'role', name: t.bufferRole, width: 180, value: buffer => buffer.role,
      cell: buffer => (
        <>
          <span class={`plan-key role-${buffer.role}`} aria-hidden="true" /> {t.roles[buffer.role] ?? buffer.role}
          {buffer.via !== null && buffer.via !== undefined && <small class="muted"> {t.bufferVia(clip(buffer.via))}</small>}
          {buffer.user_remat && <small class="muted"> {t.userRemat}</small>}
        </>
      ),
    },
    {
      key: 'python_line', name: t.bufferLine, value: lineOf, attrs: () => ({class: 'path'}),
      cell: buffer => {
        const place = lineOf(buffer);
        return place === null ? <span class="muted">{t.unknown}</span> : <code>{clip(place, 400)}</code>;
      },
    },
    {key: 'op_name', name: t.bufferOp, value: buffer => buffer.op_name, cell: buffer => <code>{clip(buffer.op_name)}</code>, attrs: () => ({class: 'path'})},
    {key: 'instruction', name: t.bufferName, width: 160, value: buffer => buffer.name, cell: buffer => clip(buffer.name), attrs: () => ({class: 'path muted'})},
  ], [t, unit]);
  return (
    <Table test="buffers" label={t.tabNames.buffers} columns={columns} rows={heap.buffers} id={buffer => numbers.get(buffer) ?? 0} class="groups buffers" file="buffers"
      foot={(
        <>
          {rest > 0 && <tr class="muted"><th>{t.otherBuffers}</th><td class="number" title={exactBytes(t, rest)}>{show(rest)}</td><td colSpan={5} /></tr>}
          <tr><th>{t.heapPeakReplay}</th><td class="number strong" title={exactBytes(t, heap.replay_bytes)}>{show(heap.replay_bytes)}</td><td colSpan={5}>{size(heap.replay_bytes)}</td></tr>
        </>
      )} />
  );
}
