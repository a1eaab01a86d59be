import {useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {BlockFilter, DeviceSummary, FlameAnswer, FlameRect, FlameRow} from '../../../target/plain/pkg/oomscope';
import {frameAt, heightOf, neighbour, paintFlame, pathTo} from '../../flame';
import {clip, column, exactBytes, int, percent, size, time} from '../../format';
import {useMessages} from '../../i18n';
import {narrow} from '../../narrow';
import {isCurrent, traceShare} from '../../panels';
import type {FlameView, State} from '../../state';
import {captureAt, get, set} from '../../state';
import {barColumn, bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
import {SavePicture} from '../SavePicture';
import {TextField} from '../TextField';
import {Nearest} from './GroupBy';
import {EmptyPanel, Panel} from './Panel';

const MEASURES: FlameView['measure'][] = ['peak', 'cursor', 'end', 'volume'];

const look = (change: Partial<FlameView>): void => set({flame: {...get().flame, ...change}});

/** Bytes by call stack, the outermost frame on top. */
export function Flame({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const {measure, zoom, search} = s.flame;
  const answer = s.answers.flame;
  const controls = (
    <span class="group-by">
      <label>{t.flameOf} <select data-test="flame-measure" value={measure} onChange={event => look({measure: event.currentTarget.value as FlameView['measure']})}>
        {MEASURES.map(each => <option key={each} value={each}>{t.flameMeasures[each]}</option>)}
      </select></label>
      <TextField text={search} label={t.flameSearch} title={t.flameSearchTitle} test="flame-search" take={typed => { look({search: typed.trim()}); return true; }} />
      <button type="button" data-test="flame-reset" disabled={zoom.length === 0 && search === ''} onClick={() => look({zoom: [], search: ''})}>{t.flameReset}</button>
      <Nearest s={s} />
      {(answer?.value?.rects.length ?? 0) > 1 && <SavePicture chart="flame" />}
    </span>
  );
  if (measure === 'cursor' && s.cursor === null) return <EmptyPanel test="flame" title={t.tabNames.flame} text={t.cursorEmpty} controls={controls} />;
  if (answer === undefined) return <Panel s={s} test="flame" title={null} controls={controls} />;
  const {value} = answer;
  if (value === null) return <EmptyPanel test="flame" title={t.tabNames.flame} text={traceShare(s.session, captureAt(s)) === null ? t.noTrace : t.traceUnderWay} controls={controls} />;
  const when = measure === 'cursor' && s.cursor !== null ? time(t, s.cursor, device.end_ns) : t.flameMeasures[measure];
  return (
    <Panel s={s} test="flame" title={t.flameTitle(when, size(value.bytes), value.blocks)} exact={exactBytes(t, value.bytes)} stale={!isCurrent(s, answer)} controls={controls}>
      {value.without_stack_bytes > 0 && <p class="muted">{t.flameWithout(size(value.without_stack_bytes), percent(value.without_stack_bytes / Math.max(1, value.bytes)))}</p>}
      {search !== '' && <p role="status" data-test="flame-found" data-bytes={value.found_bytes}>{t.flameFound(clip(search, 60), size(value.found_bytes), percent(value.found_bytes / Math.max(1, value.bytes)))}</p>}
      {value.rects.length > 1 ? <Picture s={s} answer={value} /> : <p class="muted">{t.flameEmpty}</p>}
      <Frames value={value} />
    </Panel>
  );
}

/** The frames as rectangles; one has the focus, and is told in words beneath. */
function Picture({s, answer}: {s: State; answer: FlameAnswer}) {
  const t = useMessages();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [active, setActive] = useState<number | null>(null);
  const {layout: {ratio}, theme} = s;
  useLayoutEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => setActive(null), [answer]);
  useLayoutEffect(() => {
    if (canvas.current !== null && width > 0) paintFlame(canvas.current, answer, {width, ratio, theme, active, all: t.flameAll, none: t.noStack});
  }, [answer, width, ratio, theme, active, t]);
  const here = active ?? Math.max(0, answer.path - 1);
  const under = ({clientX, clientY}: MouseEvent): number | null => {
    const rect = canvas.current?.getBoundingClientRect();
    return rect === undefined ? null : frameAt(answer, width, clientX - rect.left, clientY - rect.top);
  };
  const zoomTo = (at: number | null): void => {
    if (at !== null) look({zoom: pathTo(answer, at)});
  };
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow')) {
      const next = neighbour(answer, here, event.key);
      if (next !== null && next >= 0) setActive(next);
    } else if (event.key === 'Enter' || event.key === ' ') zoomTo(here);
    else if (event.key === 'Backspace' || event.key === 'Escape') look({zoom: s.flame.zoom.slice(0, -1)});
    else if (event.key === 'Home') look({zoom: []});
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const told = answer.rects[here];
  const name = told === undefined ? '' : here === 0 ? t.flameAll : answer.frames[told.frame] || t.noStack;
  return (
    <div class="flame" data-test="flame-graph" data-rects={answer.rects.length}>
      <div ref={box} style={{height: `${heightOf(answer)}px`}}>
        <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription={t.tabNames.flame} aria-label={t.flameLabel(size(answer.bytes), answer.blocks)} aria-describedby="flame-told"
          onKeyDown={key} onPointerMove={event => setActive(under(event))} onPointerLeave={() => setActive(null)} onClick={event => zoomTo(under(event))} />
      </div>
      <p id="flame-told" class="flame-told" role="status" data-test="flame-told">
        {told !== undefined && <><code>{clip(name, 300)}</code> {size(told.bytes)} · {percent(told.bytes / Math.max(1, answer.bytes))} · {t.blocksOf(told.blocks)}{told.own_bytes > 0 && told.own_bytes !== told.bytes && ` · ${t.flameOwn(size(told.own_bytes))}`}{here > 0 && <> <button type="button" class="plain link" data-test="flame-only" onClick={() => narrow(onlyRect(told))}>{told.bytes === told.own_bytes ? t.onlyThisStack : t.onlyBeneath}</button></>}</>}
      </p>
      <p class="hint muted">{t.flameHint}</p>
    </div>
  );
}

/** The blocks of a rectangle: of one stack, or of all that begin with its frames. */
const onlyRect = ({bytes, own_bytes, stack, depth}: FlameRect): BlockFilter => bytes === own_bytes ? {stack} : {beneath: {stack, frames: depth}};

/** The same as a table: every frame with all that it holds. */
function Frames({value}: {value: FlameAnswer}) {
  const t = useMessages();
  const {table, count, bytes} = value;
  const {unit, show} = column(Math.max(1, ...table.slice(0, 1).map(row => row.bytes)));
  const columns = useMemo((): Column<FlameRow>[] => [
    {key: 'frame', name: t.frame, value: row => row.frame, cell: row => row.frame === '' ? <span class="muted">{t.noStack}</span> : <code>{clip(row.frame)}</code>, attrs: () => ({class: 'group'})},
    bytesColumn(t, {key: 'bytes', name: `${t.flameTotal}, ${unit}`, title: t.flameTotalTitle, of: row => row.bytes, show}),
    barColumn(row => row.bytes / Math.max(1, bytes), () => 0),
    bytesColumn(t, {key: 'own_bytes', name: `${t.flameOwnName}, ${unit}`, title: t.flameOwnTitle, of: row => row.own_bytes, show, data: 'own'}),
    countColumn(t, 'blocks', t.blocks, row => row.blocks),
  ], [t, unit, bytes]);
  return (
    <Table test="frames" label={t.framesTitle} columns={columns} rows={table} id={row => row.frame} class="groups" file="frames" rowAttrs={() => ({'data-row': 'frame'})}
      choose={row => look({search: row.frame})} foot={count > table.length ? <tr><td colSpan={columns.length} class="muted">{t.largestOf(table.length, count)} ({int(t, count)})</td></tr> : null} />
  );
}
