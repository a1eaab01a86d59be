// The one table of the page: rows by the hundred as the browser lays them out, rows by the million one line each and only those on screen.
import type {ComponentChildren} from 'preact';
import {useEffect, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import {useMessages} from '../i18n';
import {copy} from '../clipboard';
import {saveFile} from '../downloads';
import {clipSentence} from '../format';
import {TextField} from '../views/TextField';
import type {Column, Remote, Sort} from './model';
import {csv, isRemote, matching, sorted, tsv} from './model';
import type {Geometry} from './scroll';
import {boxPx, clampOffset, isCoarse, offsetOf, revealed, scrollTopOf, visible} from './scroll';

export interface Props<R> {
  /** Names it to tests, and its rows to screen readers. */
  test: string;
  /** What it shows, in words. */
  label: string;
  columns: Column<R>[];
  rows: R[] | Remote<R>;
  id: (row: R) => string | number;
  rowAttrs?: (row: R) => {[name: string]: unknown};
  /** The row that the charts show too. */
  current?: string | number | null;
  /** Enter, or a click. */
  choose?: (row: R) => void;
  /** What a chosen row has to say beyond its cells. */
  detail?: (row: R) => ComponentChildren;
  /** Rows that take no part: before all others, and after them. */
  first?: ComponentChildren;
  foot?: ComponentChildren;
  /** Where somebody else sorts. */
  sort?: Sort;
  onSort?: (sort: Sort) => void;
  /** There are more rows than these: called before they are sorted or searched, to get them all. */
  all?: () => void;
  /** A row to be brought into sight, whenever it is another object. */
  reveal?: {index: number} | null;
  /** Of the file that is saved. */
  file: string;
  class?: string;
}

/** More rows than these get one line each, and only those on screen are drawn. */
const LAID_OUT = 300;
/** Fewer rows than these need no search. */
const SEARCHED = 8;
/** So many rows go onto the clipboard. */
const COPIED = 10_000;
const ROW_PX = 24;
const COLUMN_PX = 120;
const NARROWEST_PX = 40;
const WIDEN_PX = 16;

export function Table<R>(props: Props<R>) {
  const {test, label, columns, rows: given, id, current = null, choose, detail, first, foot, file} = props;
  const t = useMessages();
  const [text, setText] = useState('');
  const [own, setOwn] = useState<Sort | null>(null);
  const [active, setActive] = useState(0);
  const [opened, setOpened] = useState<string | number | null>(null);
  const [widths, setWidths] = useState<ReadonlyMap<string, number> | null>(null);
  const [told, setTold] = useState('');
  const table = useRef<HTMLTableElement>(null);
  const sort = props.sort ?? own;
  const rows = useMemo(() => {
    if (isRemote(given)) return given;
    const column = props.sort === undefined ? columns.find(({key}) => key === own?.key) : undefined;
    const found = matching(given, columns, text);
    return column === undefined ? found : sorted(found, column, own?.ascending === true);
  }, [given, columns, text, own, props.sort]);
  const count = isRemote(rows) ? rows.count : rows.length;
  const at = (index: number): R | undefined => isRemote(rows) ? rows.at(index) : rows[index];
  const lined = count > LAID_OUT || isRemote(rows);
  const view = useWindow(lined, count, props.reveal ?? null);
  const {from, to} = lined ? view : {from: 0, to: count};
  useEffect(() => {
    if (isRemote(rows)) rows.need(from, to - from);
  }, [given, from, to]);
  useEffect(() => {
    if (props.reveal) setActive(props.reveal.index);
  }, [props.reveal]);
  const last = Math.max(0, count - 1);
  const focused = Math.min(active, last);

  const move = (index: number): void => {
    const next = Math.max(0, Math.min(last, index));
    setActive(next);
    if (lined) view.show(next);
    else table.current?.querySelector(`#${test}-${next}`)?.scrollIntoView({block: 'nearest'});
  };
  const take = (index: number): void => {
    const row = at(index);
    if (row === undefined) return;
    setActive(index);
    choose?.(row);
    if (detail !== undefined) setOpened(opened === id(row) ? null : id(row));
  };
  const key = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.altKey) return;
    const page = lined ? view.page : 10;
    const row = at(focused);
    if ((event.ctrlKey || event.metaKey) && event.key === 'c' && row !== undefined && getSelection()?.isCollapsed !== false) {
      void copy(tsv(columns, [row], false)).then(copied => setTold(copied ? t.rowsCopied(1) : t.copyFailed));
      table.current?.focus();
      return event.preventDefault();
    }
    if (event.ctrlKey || event.metaKey) return;
    const to = {ArrowDown: focused + 1, ArrowUp: focused - 1, PageDown: focused + page, PageUp: focused - page, Home: 0, End: last}[event.key];
    if (to !== undefined) move(to);
    else if (event.key === 'Enter' || event.key === ' ') take(focused);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const sortBy = (column: Column<R>): void => {
    const next = {key: column.key, ascending: sort?.key === column.key ? !sort.ascending : column.number !== true};
    props.all?.();
    if (props.onSort !== undefined) props.onSort(next);
    else setOwn(next);
  };
  const rowsDrawn = Array.from({length: Math.max(0, to - from)}, (_, nth) => from + nth);
  // Beneath the table: its rows are all of one height.
  const openedRow = lined && opened !== null ? rowsDrawn.map(at).find(row => row !== undefined && id(row) === opened) : undefined;
  const shape = widths ?? (lined ? new Map(columns.flatMap(({key, width}) => width === undefined ? [] : [[key, width]])) : null);
  return (
    <div class="data-table">
      <div class="table-tools">
        {(text !== '' || (!isRemote(given) && given.length >= SEARCHED)) && (
          <TextField text={text} label={t.tableFind} title={t.tableFindTitle} test={`find-${test}`} take={() => true}
            typed={typed => { props.all?.(); setText(typed); setActive(0); }} />
        )}
        {!isRemote(given) && text.trim() !== '' && <span class="muted" role="status">{t.rowsOf(count, given.length)}</span>}
        <span class="table-acts">
          <button type="button" class="plain link" data-test={`copy-${test}`} title={t.copyRowsTitle} onClick={() => void copyRows(rows, columns).then(copied => setTold(copied === null ? t.copyFailed : t.rowsCopied(copied)))}>{t.copy}</button>
          <button type="button" class="plain link" data-test={`csv-${test}`} title={t.saveCsvTitle} onClick={() => void saveCsv(rows, columns, file)}>CSV</button>
          <span class="muted" role="status">{told}</span>
        </span>
      </div>
      <div class={lined ? 'table-box lined' : 'table-box'} ref={view.box} onScroll={view.scrolled}>
        <table ref={table} role="grid" class={props.class} data-test={test} aria-label={label} aria-rowcount={count + 1} tabIndex={0}
          style={shape === null ? undefined : fixed(columns, shape)} aria-activedescendant={count > 0 ? `${test}-${focused}` : undefined} onKeyDown={key}>
          {shape !== null && <colgroup>{columns.map(({key}) => <col key={key} style={{width: shape.has(key) ? `${shape.get(key)}px` : undefined}} />)}</colgroup>}
          <thead>
            <tr>{columns.map(column => <Heading key={column.key} column={column} sort={sort} press={() => sortBy(column)} widths={widths} setWidths={setWidths} table={table} />)}</tr>
          </thead>
          <tbody>
            {first}
            {lined && <tr aria-hidden="true" class="filler"><td colSpan={columns.length} style={{height: `${view.topPx}px`}} /></tr>}
            {rowsDrawn.flatMap(index => {
              const row = at(index);
              if (row === undefined) return [<tr key={`#${index}`} class="absent"><td colSpan={columns.length}>…</td></tr>];
              const number = id(row);
              const drawn = (
                <Row key={number} row={row} index={index} test={test} columns={columns} active={index === focused} chosen={number === current || number === opened}
                  attrs={props.rowAttrs?.(row)} take={choose === undefined && detail === undefined ? undefined : () => take(index)} />
              );
              if (lined || number !== opened || detail === undefined) return [drawn];
              return [drawn, <tr key={`${number} detail`} class="row-detail"><td colSpan={columns.length}>{detail(row)}</td></tr>];
            })}
            {lined && <tr aria-hidden="true" class="filler"><td colSpan={columns.length} style={{height: `${Math.max(0, view.height - view.topPx - (to - from) * ROW_PX)}px`}} /></tr>}
          </tbody>
          {foot !== undefined && foot !== null && <tfoot>{foot}</tfoot>}
        </table>
      </div>
      {openedRow !== undefined && detail !== undefined && <div class="row-detail">{detail(openedRow)}</div>}
    </div>
  );
}

interface RowProps<R> {
  row: R;
  index: number;
  test: string;
  columns: Column<R>[];
  active: boolean;
  chosen: boolean;
  attrs: {[name: string]: unknown} | undefined;
  take: (() => void) | undefined;
}

function Row<R>({row, index, test, columns, active, chosen, attrs, take}: RowProps<R>) {
  const click = (event: MouseEvent): void => {
    // What is in a cell may have an act of its own, and text is selected to be copied.
    if ((event.target as HTMLElement).closest('button, a, input, summary, label') !== null || getSelection()?.isCollapsed === false) return;
    take?.();
  };
  const {class: own, ...others} = attrs ?? {};
  const names = [own, active ? 'active' : '', chosen ? 'current' : '', take === undefined ? '' : 'choosable'].filter(Boolean).join(' ');
  return (
    <tr id={`${test}-${index}`} aria-rowindex={index + 2} aria-selected={take === undefined ? undefined : chosen} {...others} class={names === '' ? undefined : names} onClick={click}>
      {columns.map(column => {
        const {class: cellClass, title, ...cellAttrs} = column.attrs?.(row) ?? {};
        const classes = [column.number === true ? 'number' : '', column.picture === true ? 'bar-cell' : '', cellClass].filter(Boolean).join(' ');
        return <td key={column.key} class={classes === '' ? undefined : classes} aria-hidden={column.picture === true ? true : undefined} title={typeof title === 'string' ? clipSentence(title) : undefined} {...cellAttrs}>{column.cell === undefined ? harmless(column.value(row)) ?? '' : column.cell(row)}</td>;
      })}
    </tr>
  );
}

/** What a file says may be of any length. */
const harmless = <V,>(value: V): V | string => typeof value === 'string' ? clipSentence(value) : value;

interface HeadingProps<R> {
  column: Column<R>;
  sort: Sort | null;
  press: () => void;
  widths: ReadonlyMap<string, number> | null;
  setWidths: (widths: ReadonlyMap<string, number> | null) => void;
  table: {current: HTMLTableElement | null};
}

/** A heading sorts; its edge is dragged, or moved by Alt and the arrow keys, to make the column wider or narrower. */
function Heading<R>({column, sort, press, widths, setWidths, table}: HeadingProps<R>) {
  const t = useMessages();
  const {key, name, title, number, picture} = column;
  if (picture === true) return <th class="bar-cell" aria-hidden="true" data-column={key}>{name}</th>;
  const mine = sort?.key === key ? sort : null;
  const widen = (by: number, from: ReadonlyMap<string, number>): void => setWidths(new Map(from).set(key, Math.max(NARROWEST_PX, (from.get(key) ?? COLUMN_PX) + by)));
  const measured = (): ReadonlyMap<string, number> => widths ?? new Map([...table.current?.querySelectorAll<HTMLElement>('th[data-column]') ?? []].map(th => [th.dataset.column ?? '', th.offsetWidth]));
  const pull = (event: PointerEvent): void => {
    const handle = event.currentTarget as HTMLElement;
    const [from, start] = [measured(), event.clientX];
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
    const drag = ({clientX}: PointerEvent): void => widen(clientX - start, from);
    const end = (): void => {
      handle.removeEventListener('pointermove', drag);
      handle.removeEventListener('pointerup', end);
    };
    handle.addEventListener('pointermove', drag);
    handle.addEventListener('pointerup', end);
  };
  const byKey = (event: KeyboardEvent): void => {
    const by = {ArrowLeft: -WIDEN_PX, ArrowRight: WIDEN_PX}[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    widen(by, measured());
  };
  return (
    <th scope="col" class={number === true ? 'number' : undefined} title={title} data-column={key} aria-sort={mine === null ? undefined : mine.ascending ? 'ascending' : 'descending'}>
      {column.fixed === true ? name : (
        <button type="button" class="plain sort" data-test={`sort-${key}`} title={[title, t.headingTitle].filter(Boolean).join('\n')} onClick={press} onKeyDown={byKey}>
          {name}{mine !== null && <span aria-hidden="true"> {mine.ascending ? '▲' : '▼'}</span>}
        </button>
      )}
      <span class="grip" aria-hidden="true" onPointerDown={pull} onDblClick={() => setWidths(null)} />
    </th>
  );
}

/** All columns of a known width make the table as wide as they are together; else what is left goes to those without one. */
function fixed<R>(columns: Column<R>[], shape: ReadonlyMap<string, number>): {[property: string]: string} {
  const known = columns.every(({key}) => shape.has(key));
  const sum = columns.reduce((sum, {key}) => sum + (shape.get(key) ?? COLUMN_PX), 0);
  return known ? {tableLayout: 'fixed', width: `${sum}px`} : {tableLayout: 'fixed', minWidth: `${sum}px`};
}

interface Scrolled {
  box: {current: HTMLDivElement | null};
  scrolled: () => void;
  from: number;
  to: number;
  topPx: number;
  height: number;
  /** Rows on a screen. */
  page: number;
  show: (index: number) => void;
}

/** The rows on screen, as the box is scrolled. */
function useWindow(on: boolean, count: number, reveal: {index: number} | null): Scrolled {
  const box = useRef<HTMLDivElement>(null);
  const exact = useRef({offset: 0, scrollTop: 0});
  const [, draw] = useState(0);
  const again = (): void => draw(nth => nth + 1);
  // Kept, not asked for: asking while the page is drawn makes the browser lay all of it out at once.
  const seenPx = useRef(400);
  const of = (): Geometry => ({count, rowPx: ROW_PX, viewPx: seenPx.current});
  const headPx = (): number => box.current?.querySelector<HTMLElement>('thead')?.offsetHeight ?? ROW_PX;
  const put = (offset: number): void => {
    const element = box.current;
    if (element === null) return;
    const next = clampOffset({...of(), count: count + 2}, offset);
    element.scrollTop = scrollTopOf(of(), next);
    // What the browser makes of it is rounded.
    exact.current = {offset: next, scrollTop: element.scrollTop};
    again();
  };
  const show = (index: number): void => put(revealed(of(), exact.current.offset, index, headPx()));
  const scrolled = (): void => {
    const element = box.current;
    if (!on || element === null || Math.abs(element.scrollTop - exact.current.scrollTop) < 1) return;
    exact.current = {offset: offsetOf(of(), element.scrollTop), scrollTop: element.scrollTop};
    again();
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (!on || element === null) return;
    const measure = (): void => {
      if (seenPx.current === element.clientHeight) return;
      seenPx.current = element.clientHeight;
      again();
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [on]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!on || element === null) return;
    // Where the box stands for more than it is, the wheel still goes row by row.
    const wheel = (event: WheelEvent): void => {
      if (!isCoarse(of()) || event.ctrlKey || event.deltaY === 0) return;
      event.preventDefault();
      put(exact.current.offset + event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? ROW_PX : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? of().viewPx : 1));
    };
    element.addEventListener('wheel', wheel, {passive: false});
    return () => element.removeEventListener('wheel', wheel);
  }, [on, count]);
  useLayoutEffect(() => {
    if (!on) return;
    exact.current = {offset: offsetOf(of(), box.current?.scrollTop ?? 0), scrollTop: box.current?.scrollTop ?? 0};
    again();
  }, [on, count]);
  useLayoutEffect(() => {
    if (on && reveal !== null) put(Math.max(0, reveal.index * ROW_PX - of().viewPx / 2));
  }, [reveal]);
  const geometry = of();
  return {
    box, scrolled, show,
    ...visible(geometry, exact.current.offset, exact.current.scrollTop),
    height: boxPx(geometry),
    page: Math.max(1, Math.floor(geometry.viewPx / ROW_PX) - 2),
  };
}

/** How many rows are on the clipboard now; null: none. */
async function copyRows<R>(rows: R[] | Remote<R>, columns: Column<R>[]): Promise<number | null> {
  const some = isRemote(rows) ? await rows.first(COPIED) : rows.slice(0, COPIED);
  return await copy(tsv(columns, some, true)) ? some.length : null;
}

async function saveCsv<R>(rows: R[] | Remote<R>, columns: Column<R>[], file: string): Promise<void> {
  saveFile(`oomscope-${file}.csv`, isRemote(rows) ? await rows.csv() : [csv(columns, rows)], 'text/csv');
}

