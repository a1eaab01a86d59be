// What a table shows and what it hands out: columns over rows of any kind, sorted, filtered, as text.
import type {ComponentChildren} from 'preact';

/** What is sorted, copied and exported: exact, without a unit. */
export type Value = string | number | null | undefined;

export interface Column<R> {
  /** Its heading in files: the same in every language, with the unit of its values. */
  key: string;
  /** Its heading on the page. */
  name: string;
  /** What the column means. */
  title?: string;
  /** At the right, and at first the largest on top. */
  number?: boolean;
  /** Where many rows share one layout: in px; what is left goes to those without. */
  width?: number;
  value: (row: R) => Value;
  /** What is seen where that is not the value itself. */
  cell?: (row: R) => ComponentChildren;
  /** Further attributes of the cell, its title among them. */
  attrs?: (row: R) => {[name: string]: unknown};
  /** Only to be looked at. */
  picture?: boolean;
  /** Not to be sorted by. */
  fixed?: boolean;
}

export interface Sort {
  key: string;
  ascending: boolean;
}

/** Rows that are somewhere else and come in pages. */
export interface Remote<R> {
  count: number;
  /** Undefined: not here yet. */
  at: (index: number) => R | undefined;
  /** These are on screen. */
  need: (from: number, count: number) => void;
  /** All rows as CSV. */
  csv: () => Promise<BlobPart[]>;
  /** The first rows. */
  first: (count: number) => Promise<R[]>;
}

export const isRemote = <R>(rows: R[] | Remote<R>): rows is Remote<R> => !Array.isArray(rows);

/** By a column; rows without a value come last either way, equal ones keep their order. */
export function sorted<R>(rows: R[], {value}: Column<R>, ascending: boolean): R[] {
  const sign = ascending ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a) ?? null, value(b) ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)));
  });
}

/** Those with a text in any of their columns, whatever its case. */
export function matching<R>(rows: R[], columns: Column<R>[], text: string): R[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return rows;
  return rows.filter(row => columns.some(({value}) => String(value(row) ?? '').toLowerCase().includes(wanted)));
}

const exported = <R>(columns: Column<R>[]): Column<R>[] => columns.filter(({picture}) => picture !== true);

/** Text that a spreadsheet would take for a formula gets an apostrophe before it, as the command line's table has it. */
const guarded = (value: Value): string => typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');

function csvCell(value: Value): string {
  const text = guarded(value);
  return text !== String(value ?? '') || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csv = <R>(columns: Column<R>[], rows: R[]): string => {
  const told = exported(columns);
  return [told.map(({key}) => csvCell(key)), ...rows.map(row => told.map(({value}) => csvCell(value(row))))].map(cells => `${cells.join(',')}\n`).join('');
};

/** For the clipboard: spreadsheets take it apart at the tabs. */
export const tsv = <R>(columns: Column<R>[], rows: R[], head: boolean): string => {
  const told = exported(columns);
  const plain = (value: Value): string => guarded(value).replace(/[\t\r\n]+/g, ' ');
  const lines = rows.map(row => told.map(({value}) => plain(value(row))));
  return (head ? [told.map(({key}) => plain(key)), ...lines] : lines).map(cells => cells.join('\t')).join('\n');
};
