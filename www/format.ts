// Figures as text. Sizes and instants arrive as exact integers and stay exact in titles and copies.
import type {Messages} from './i18n';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;
const KIB = 1024;
const SECOND = 1e9;
const MILLISECOND = 1e6;
/** Captures at least this long are told in seconds. */
const IN_SECONDS = 10 * SECOND;

const grouping = new Map<string, Intl.NumberFormat>();

/** An integer with the language's separators. */
export function int(t: Messages, value: number | bigint): string {
  let format = grouping.get(t.code);
  if (format === undefined) grouping.set(t.code, format = new Intl.NumberFormat(t.code));
  return format.format(value);
}

export const exactBytes = (t: Messages, value: number): string => `${int(t, value)} B`;

/** Four significant digits. */
function fourDigits(value: number): string {
  const rounded = Number(value.toPrecision(4));
  return rounded.toFixed(Math.max(0, 3 - Math.floor(Math.log10(Math.max(1, rounded)))));
}

function unitOf(value: number): number {
  let unit = 0;
  for (let rest = Math.abs(value); rest >= KIB && unit < UNITS.length - 1; rest /= KIB) unit++;
  return unit;
}

/** 2.880 GiB */
export function size(value: number): string {
  const unit = unitOf(value);
  if (unit === 0) return `${value} B`;
  return `${fourDigits(value / KIB ** unit)} ${UNITS[unit]}`;
}

/** Control characters, and those that turn the direction of writing. Line ends and tabs are only room. */
const STEERING = /(?![\n\r\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
/** A sentence with what it says of a file. */
const LONGEST_SENTENCE = 1000;

/** Texts of a file can be of any length; this much tells them apart. What would steer the reader's eye is shown as what it is: no letter. */
export const clip = (text: string, longest = 200): string =>
  (text.length <= longest ? text : `${text.slice(0, longest)}…`).replace(STEERING, '\ufffd');

export const clipSentence = (text: string): string => clip(text, LONGEST_SENTENCE);

/** A power of two has no decimals worth showing: 32 MiB */
export const classSize = (value: number): string => size(value).replace(/\.0+ /, ' ');

/** With its sign: +30.20 MiB */
export const signedSize = (value: number): string => `${value > 0 ? '+' : value < 0 ? '−' : ''}${size(Math.abs(value))}`;

/** A share of the whole, with one decimal where that says something. */
export function percent(share: number): string {
  const value = share * 100;
  return `${Math.abs(value) >= 99.95 || value === 0 ? value.toFixed(0) : value.toFixed(1)} %`;
}

/** Bytes × nanoseconds (an integer as text) as bytes × seconds: 2.880 GiB·s */
export const byteSeconds = (byteNs: string): string => {
  const value = Number(BigInt(byteNs)) / SECOND;
  return `${size(value < KIB ? Number(value.toPrecision(3)) : value)}·s`;
};

/** One unit for a column: that of its largest value. */
export function column(largest: number): {unit: string; show(value: number): string} {
  const unit = unitOf(largest);
  const scale = KIB ** unit;
  const decimals = unit === 0 ? 0 : 3;
  const least = 10 ** -decimals;
  return {
    unit: UNITS[unit] ?? 'B',
    show: value => value !== 0 && Math.abs(value / scale) < least / 2 ? `< ${least.toFixed(decimals)}` : (value / scale).toFixed(decimals),
  };
}

/** A decimal fraction of integer nanoseconds, without a float in between. */
function decimal(t: Messages, ns: number, perUnit: number, digits: number): string {
  const places = Math.log10(perUnit);
  const whole = Math.round(Math.abs(ns));
  const fraction = String(whole % perUnit).padStart(places, '0').slice(0, digits);
  return `${ns < 0 ? '−' : ''}${int(t, Math.floor(whole / perUnit))}.${fraction}`;
}

/** A relative instant; its unit follows the capture's length, but where nothing of it would show in that. */
export function time(t: Messages, ns: number, end_ns: number): string {
  if (end_ns >= IN_SECONDS && ns !== 0 && Math.abs(ns) < MILLISECOND) return moment(t, ns);
  return end_ns >= IN_SECONDS ? `${decimal(t, ns, SECOND, 6)} s` : `${decimal(t, ns, MILLISECOND, 3)} ms`;
}

/** A relative instant, its unit by its own size: of a capture's first microseconds nothing shows in seconds. */
export function moment(t: Messages, ns: number): string {
  const size = Math.abs(ns);
  if (size < MILLISECOND) return `${decimal(t, ns, 1000, 3)} µs`;
  return size < SECOND ? `${decimal(t, ns, MILLISECOND, 3)} ms` : `${decimal(t, ns, SECOND, 6)} s`;
}

/** To the nanosecond. */
export function exactTime(t: Messages, ns: number, end_ns: number): string {
  return end_ns >= IN_SECONDS ? `${decimal(t, ns, SECOND, 9)} s` : `${decimal(t, ns, MILLISECOND, 6)} ms`;
}

export function duration(ns: number): string {
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  if (ns < 1e6) return `${fourDigits(ns / 1e3)} µs`;
  if (ns < 1e9) return `${fourDigits(ns / 1e6)} ms`;
  return `${fourDigits(ns / 1e9)} s`;
}

export const absoluteNs = (base: string, ns: number): bigint => BigInt(base) + BigInt(Math.round(ns));

/** 2025-11-27 12:07:57.390971790 UTC */
export function instant(base: string, ns: number): string {
  const at = absoluteNs(base, ns);
  const date = new Date(Number(at / 1_000_000n));
  if (Number.isNaN(date.getTime())) return `${at} ns`;
  const nanos = String(at % 1_000_000_000n).padStart(9, '0');
  return `${date.toISOString().slice(0, 19).replace('T', ' ')}.${nanos} UTC`;
}

/** The text of a time field: milliseconds with six decimals. */
export function fieldMs(ns: number): string {
  const whole = Math.round(ns);
  const sign = whole < 0 ? '-' : '';
  const digits = String(Math.abs(whole)).padStart(7, '0');
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** A comma is taken where it separates thousands: elsewhere it may be meant as a decimal point. */
const THOUSANDS = /^-?\d{1,3}(,\d{3})+(\.\d*)?$/;

/** Nanoseconds of a time field, or null where the text is no number. */
export function parseMs(text: string): number | null {
  const packed = text.replace(/[\s_]/g, '');
  const found = /^(-?)(\d*)(?:\.(\d*))?$/.exec(THOUSANDS.test(packed) ? packed.replaceAll(',', '') : packed);
  if (found === null || (found[2] === '' && (found[3] ?? '') === '')) return null;
  const ns = Number(found[2] || 0) * MILLISECOND + Number((found[3] ?? '').slice(0, 6).padEnd(6, '0'));
  if (!Number.isSafeInteger(ns)) return null;
  return found[1] === '-' ? -ns : ns;
}

/** "32 MiB", "1.5G", "4096": bytes; null where it is no size. */
export function parseSize(text: string): number | null {
  const [, figure = '', letter = ''] = /^(\d+(?:\.\d+)?)([KMGTP]?)(?:i?B)?$/i.exec(text.replace(/[\s_,]/g, '')) ?? [];
  if (figure === '') return null;
  const bytes = Math.round(Number(figure) * KIB ** (letter === '' ? 0 : 'KMGTP'.indexOf(letter.toUpperCase()) + 1));
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** "12 s", "3 min" */
export function roughly(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
