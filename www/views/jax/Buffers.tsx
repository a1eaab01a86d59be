import type {ModuleReport} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, int, size} from '../../format';
import {useMessages} from '../../i18n';

/** The buffers that live at the heap's peak: equal ones in one row, with the Python line that made them. */
export function Buffers({module}: {module: ModuleReport}) {
  const t = useMessages();
  const heap = module.heap_peak;
  if (heap === null || heap === undefined) return <p class="empty">{t.heapPeakNoneWhy}</p>;
  const listed = heap.buffers.reduce((sum, {bytes}) => sum + bytes, 0);
  const rest = heap.replay_bytes - listed;
  const unit = column(Math.max(1, ...heap.buffers.map(({bytes}) => bytes)));
  return (
    <div class="table-box">
      <table class="groups buffers" data-test="buffers">
        <thead>
          <tr>
            <th>{t.bufferShape}</th><th class="number">{t.bytesIn(unit.unit)}</th><th class="number">{t.bufferCount}</th><th>{t.bufferRole}</th><th>{t.bufferLine}</th>
            <th>{t.bufferOp}</th><th>{t.bufferName}</th>
          </tr>
        </thead>
        <tbody>
          {heap.buffers.map((buffer, at) => (
            <tr key={at}>
              <td><code>{clip(buffer.shape)}</code>{buffer.square && <small class="muted" title={t.squareTitle}> {t.square}</small>}</td>
              <td class="number" data-bytes={buffer.bytes} title={exactBytes(t, buffer.bytes)}>{unit.show(buffer.bytes)}</td>
              <td class="number">{int(t, buffer.count)}</td>
              <td><span class={`plan-key role-${buffer.role}`} aria-hidden="true" /> {t.roles[buffer.role] ?? buffer.role}
                {buffer.via !== null && buffer.via !== undefined && <small class="muted"> {t.bufferVia(clip(buffer.via))}</small>}
                {buffer.user_remat && <small class="muted"> {t.userRemat}</small>}</td>
              <td class="path">{buffer.file === null || buffer.file === undefined ? <span class="muted">{t.unknown}</span>
                : <code>{clip(buffer.file)}:{buffer.line ?? ''}{buffer.function ? ` ${clip(buffer.function)}` : ''}</code>}</td>
              <td class="path"><code>{clip(buffer.op_name)}</code></td>
              <td class="path muted">{clip(buffer.name)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          {rest > 0 && <tr class="muted"><th>{t.otherBuffers}</th><td class="number" title={exactBytes(t, rest)}>{unit.show(rest)}</td><td colSpan={5} /></tr>}
          <tr><th>{t.heapPeakReplay}</th><td class="number strong" title={exactBytes(t, heap.replay_bytes)}>{unit.show(heap.replay_bytes)}</td><td colSpan={5}>{size(heap.replay_bytes)}</td></tr>
        </tfoot>
      </table>
    </div>
  );
}
