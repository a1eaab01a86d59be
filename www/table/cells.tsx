// Columns that many tables have.
import {exactBytes, int, percent} from '../format';
import type {Messages} from '../i18n';
import type {Column} from './model';

type Known = number | null | undefined;

const isKnown = (value: Known): value is number => value !== null && value !== undefined;

interface Bytes<R> {
  key: string;
  name: string;
  title?: string;
  of: (row: R) => Known;
  /** The column's unit. */
  show: (bytes: number) => string;
  /** Stands in the cell's data attribute of this name, for tests. */
  data?: string;
  /** A change: with its sign. */
  signed?: boolean;
  /** Beside the figure. */
  class?: (row: R) => string;
}

/** Exact bytes in the title and in files. */
export const bytesColumn = <R,>(t: Messages, {key, name, title, of, show, data = 'bytes', signed = false, class: classOf}: Bytes<R>): Column<R> => ({
  key, name, number: true, width: 116,
  ...title === undefined ? {} : {title},
  value: of,
  cell: row => {
    const bytes = of(row);
    if (!isKnown(bytes)) return <span class="muted">–</span>;
    return signed ? `${bytes > 0 ? '+' : bytes < 0 ? '−' : ''}${show(Math.abs(bytes))}` : show(bytes);
  },
  attrs: row => {
    const bytes = of(row);
    const own = classOf === undefined ? {} : {class: classOf(row)};
    return isKnown(bytes) ? {[`data-${data}`]: bytes, title: exactBytes(t, bytes), ...own} : own;
  },
});

export const countColumn = <R,>(t: Messages, key: string, name: string, of: (row: R) => Known, title?: string): Column<R> => ({
  key, name, number: true, width: 96,
  ...title === undefined ? {} : {title},
  value: of,
  cell: row => {
    const count = of(row);
    return isKnown(count) ? int(t, count) : <span class="muted">–</span>;
  },
});

export const shareColumn = <R,>(key: string, of: (row: R) => number): Column<R> => ({
  key, name: '%', number: true, width: 76, value: row => Number(of(row).toPrecision(6)), cell: row => percent(of(row)), attrs: () => ({class: 'muted'}),
});

/** A picture of a share, 0 to 1. */
export const barColumn = <R,>(of: (row: R) => number, hue: (row: R) => number | 'baseline', key = 'bar'): Column<R> => ({
  key, name: '', picture: true, width: 150, value: () => null,
  cell: row => {
    const share = Math.max(0, Math.min(1, of(row)));
    return share > 0 && <span class={`bar hue-${hue(row)}`} style={{width: `${share * 100}%`}} />;
  },
});

export const textColumn = <R,>(key: string, name: string, of: (row: R) => string | null | undefined, width?: number): Column<R> => ({
  key, name, value: of, ...width === undefined ? {} : {width},
});
