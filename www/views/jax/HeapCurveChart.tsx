import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {ModuleReport} from '../../../target/plain/pkg/oomscope';
import {paintHeap} from '../../draw';
import {size} from '../../format';
import {useMessages} from '../../i18n';
import type {State} from '../../state';
import {SavePicture} from '../SavePicture';

/** What the module's temporaries hold, event by event of the schedule. */
export function HeapCurveChart({s, module}: {s: State; module: ModuleReport}) {
  const t = useMessages();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const {heap, layout: {ratio}, theme, canDraw} = s;
  useLayoutEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [module]);
  useLayoutEffect(() => {
    if (canvas.current !== null && heap !== null) paintHeap(canvas.current, heap, s, t);
  }, [heap, width, ratio, theme, canDraw, t]);
  if (module.heap_peak === null || module.heap_peak === undefined) return null;
  return (
    <section class="panel heap-curve" data-test="heap-curve">
      <h2>{heap === null ? t.drawing : t.heapCurve(heap.events)}</h2>
      {heap !== null && <SavePicture chart="heap" />}
      <div class="heap-box" ref={box}><canvas ref={canvas} class="heap-canvas" role="img" aria-label={heap === null ? t.drawing : `${t.heapCurve(heap.events)}. ${t.peakLabel(size(heap.peak_bytes))} ${t.asTable(t.tabNames.buffers)}`} /></div>
      <p class="axis-name muted">{t.heapAxis}</p>
    </section>
  );
}
