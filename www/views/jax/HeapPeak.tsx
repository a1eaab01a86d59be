import {useState} from 'preact/hooks';
import type {BufferReport, HeapPeakReport, ModuleReport} from '../../../target/plain/pkg/oomscope';
import {clip, exactBytes, size} from '../../format';
import {useMessages} from '../../i18n';
import type {Rect} from '../../treemap';
import {treemap} from '../../treemap';
import {SavePicture} from '../SavePicture';

const WIDTH = 100;
const HEIGHT = 56;
/** Below this share of the box a name does not fit. */
const NAMED = 0.03;

interface Tile extends Rect {
  role: string;
  bytes: number;
  /** Null: the buffers that are not listed one by one. */
  buffer: BufferReport | null;
}

function tilesOf(heap: HeapPeakReport): Tile[] {
  const roles = [...heap.roles].filter(({bytes}) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const boxes = treemap(roles.map(({bytes}) => bytes), {x: 0, y: 0, width: WIDTH, height: HEIGHT});
  return roles.flatMap(({role, bytes}, at) => {
    const buffers: (BufferReport | null)[] = heap.buffers.filter(buffer => buffer.role === role);
    const sizes = buffers.map(buffer => buffer?.bytes ?? 0);
    const rest = bytes - sizes.reduce((sum, each) => sum + each, 0);
    if (rest > 0) {
      buffers.push(null);
      sizes.push(rest);
    }
    return treemap(sizes, boxes[at] ?? {x: 0, y: 0, width: 0, height: 0}).map((rect, nth) => ({...rect, role, bytes: sizes[nth] ?? 0, buffer: buffers[nth] ?? null}));
  });
}

/** What lives when the plan holds most: by role, and within it by buffer. */
export function HeapPeak({module}: {module: ModuleReport}) {
  const t = useMessages();
  const heap = module.heap_peak;
  if (heap === null || heap === undefined) {
    return <section class="panel" data-test="heap-peak"><h2>{t.heapPeakNone}</h2><p class="muted">{t.heapPeakNoneWhy}</p></section>;
  }
  return (
    <section class="panel" data-test="heap-peak">
      <h2 title={exactBytes(t, heap.bytes)}>{t.heapPeakTitle(size(heap.bytes), size(heap.replay_bytes))}</h2>
      <SavePicture chart="heap-peak" />
      <Tiles heap={heap} />
      <table class="groups">
        <tbody>
          {heap.roles.map(({role, bytes}) => (
            <tr key={role} class={bytes === 0 ? 'muted' : ''}>
              <td><span class={`plan-key role-${role}`} aria-hidden="true" /> {t.roles[role] ?? role}</td>
              <td class="number" data-role={role} data-bytes={bytes} title={exactBytes(t, bytes)}>{size(bytes)}</td>
              <td class="number">{heap.replay_bytes > 0 ? `${(bytes / heap.replay_bytes * 100).toFixed(1)} %` : ''}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr><th>{t.heapPeakReplay}</th><td class="number strong" title={exactBytes(t, heap.replay_bytes)}>{size(heap.replay_bytes)}</td><td /></tr>
          {heap.plan_fragmentation_bytes > 0 && (
            <tr class="muted"><th>{t.planFragmentation}</th><td class="number" title={exactBytes(t, heap.plan_fragmentation_bytes)}>{size(heap.plan_fragmentation_bytes)}</td><td /></tr>
          )}
        </tfoot>
      </table>
      {heap.square.count > 0 && <p class="muted">{t.squareHint(heap.square.count, size(heap.square.bytes))}</p>}
    </section>
  );
}

function Tiles({heap}: {heap: HeapPeakReport}) {
  const t = useMessages();
  const [shown, setShown] = useState<Tile | null>(null);
  const tiles = tilesOf(heap);
  const told = shown ?? tiles[0] ?? null;
  return (
    <>
      <div class="treemap" role="img" aria-label={heap.roles.map(({role, bytes}) => `${t.roles[role] ?? role} ${size(bytes)}`).join(', ')} onPointerLeave={() => setShown(null)}>
        {tiles.map((tile, at) => (
          <div key={at} class={`tile role-${tile.role}`} onPointerEnter={() => setShown(tile)}
            style={{left: `${tile.x / WIDTH * 100}%`, top: `${tile.y / HEIGHT * 100}%`, width: `${tile.width / WIDTH * 100}%`, height: `${tile.height / HEIGHT * 100}%`}}>
            {tile.width * tile.height > NAMED * WIDTH * HEIGHT && <span>{tile.buffer === null ? t.otherBuffers : clip(tile.buffer.shape)}</span>}
          </div>
        ))}
      </div>
      {told !== null && <p class="tile-told muted">{told.buffer === null ? `${t.roles[told.role] ?? told.role} · ${t.otherBuffers} · ${size(told.bytes)}` : bufferLine(told.buffer, t.roles[told.role] ?? told.role)}</p>}
    </>
  );
}

const bufferLine = ({shape, bytes, count, file, line, function: name}: BufferReport, role: string): string =>
  [role, count > 1 ? `${clip(shape)} × ${count}` : clip(shape), size(bytes), file === null || file === undefined ? '' : `${clip(file)}:${line ?? ''} ${clip(name ?? '')}`].filter(Boolean).join(' · ');
