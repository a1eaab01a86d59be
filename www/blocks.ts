// Keeps the pages of the table of all blocks in step with the state: what is on screen, in the order and of the filter that are chosen.
import type {BlockRow, BlockSort, BlocksAnswer, BlocksRequest} from '../target/plain/pkg/oomscope';
import {EngineEnded, engine, ignoreEnded} from './engine';
import {newest} from './newest';
import {reasonOf} from './reason';
import type {State} from './state';
import {captureAt, get, set} from './state';
import type {Remote} from './table/model';

const PAGE = 200;
/** Pages that are kept; those that were seen first go first. */
const PAGES = 40;
const CSV_ROWS = 50_000;

export interface BlockTable {
  /** Of which question: answers of another are of no use. */
  key: string;
  total: number;
  bytes: number;
  pages: ReadonlyMap<number, BlockRow[]>;
  /** Where the pinned block stands, and which that is. */
  found: {block: number; index: number} | null;
}

type Order = Pick<BlocksRequest, 'capture' | 'device' | 'nearest' | 'filter' | 'sort' | 'ascending'>;

function orderOf(s: State): Order | null {
  if (s.place === null || s.session?.lost !== false || captureAt(s) === null) return null;
  return {...s.place, nearest: s.nearest, filter: s.blockFilter, sort: s.blocks.sort, ascending: s.blocks.ascending};
}

const keyOf = (s: State, order: Order): string => JSON.stringify([s.session?.opened.length, order, captureAt(s)?.stacks ?? null]);

const ask = newest<{key: string; request: BlocksRequest}, BlocksAnswer>(
  ({request}) => engine.call('blocks', [request]),
  (answer, {key, request}) => {
    const s = get();
    const order = orderOf(s);
    if (order === null || keyOf(s, order) !== key) return;
    const before = s.blockTable?.key === key ? s.blockTable : null;
    const pages = new Map([...before?.pages ?? []].slice(-PAGES));
    pages.set(answer.from / PAGE, answer.rows);
    const block = request.find;
    const found = block === undefined ? before?.found ?? null
      : answer.found === null || answer.found === undefined ? null : {block, index: answer.found};
    set({blockTable: {key, total: answer.total, bytes: answer.bytes, pages, found}});
  },
  error => {
    if (error instanceof EngineEnded) ignoreEnded(error);
    else set({panelFailure: reasonOf(error)});
  },
);

let asked = '';

/** Called after each change of the state. */
export function syncBlocks(): void {
  const s = get();
  const order = s.tab === 'blocks' ? orderOf(s) : null;
  if (order === null) {
    asked = '';
    return;
  }
  const key = keyOf(s, order);
  const table = s.blockTable?.key === key ? s.blockTable : null;
  const find = s.pinned !== null && table?.found?.block !== s.pinned ? s.pinned : undefined;
  const [first, last] = [Math.floor(s.blocks.from / PAGE), Math.floor(Math.max(s.blocks.from, s.blocks.from + s.blocks.count - 1) / PAGE)];
  const missing = Array.from({length: last - first + 1}, (_, nth) => first + nth).find(page => table?.pages.has(page) !== true && (table === null || page * PAGE < table.total));
  if (missing === undefined && find === undefined) return;
  const request: BlocksRequest = {...order, from: (missing ?? first) * PAGE, count: PAGE, find};
  const question = JSON.stringify([key, request.from, find]);
  if (question === asked) return;
  asked = question;
  ask({key, request});
}

/** Whether what is shown answers the state's question, and not an earlier one. */
export function areCurrent(s: State): boolean {
  const order = orderOf(s);
  return order !== null && s.blockTable?.key === keyOf(s, order);
}

export const sortBlocks = (sort: BlockSort, ascending: boolean): void => set({blocks: {...get().blocks, sort, ascending, from: 0}});

/** The blocks as a table's rows. */
export function blockRows(s: State): Remote<BlockRow> {
  const table = s.blockTable;
  const order = orderOf(s);
  return {
    count: table?.total ?? 0,
    at: index => table?.pages.get(Math.floor(index / PAGE))?.[index % PAGE],
    need: (from, count) => {
      if (get().blocks.from !== from || get().blocks.count !== count) set({blocks: {...get().blocks, from, count}});
    },
    first: async count => order === null ? [] : (await engine.call('blocks', [{...order, from: 0, count, find: undefined}])).rows,
    csv: async () => {
      const parts: BlobPart[] = [];
      for (let from = 0; order !== null && from < Math.max(1, table?.total ?? 0); from += CSV_ROWS) {
        parts.push(await engine.call('blocks_csv', [{...order, from, count: CSV_ROWS, find: undefined}]) as Uint8Array<ArrayBuffer>);
      }
      return parts;
    },
  };
}
