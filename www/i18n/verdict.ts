// Verdicts in languages other than the report's: sentences as data, filled from a verdict's arguments.
import type {Diagnosis} from '../../target/plain/pkg/oomscope';
import {duration, size} from '../format';

/**
 * For each code a sentence with its arguments in braces. `[…]` stands only where all arguments in it are there and not 0, `[…|…]` else says
 * the latter; `{?name}` asks for an argument and says nothing. A code with a kind is followed by it: `missing-data:hlo-proto`.
 */
export type VerdictWords = {[code: string]: string};

/** What a language calls things. */
export interface Naming {
  tag: string;
  roles: {[role: string]: string};
  ownerName: (owner: string) => string;
}

type Say = (value: string | number, naming: Naming) => string;

const bytes: Say = value => size(Number(value));
const count: Say = (value, {tag}) => Number(value).toLocaleString(tag);

/** How each argument is told. */
const SAYS: {[name: string]: Say} = {
  ...Object.fromEntries(['needed', 'capacity', 'used', 'adds', 'bytes', 'grown', 'first', 'last', 'saves', 'others', 'available', 'largest', 'request', 'margin', 'hbm'].map(name => [name, bytes])),
  ...Object.fromEntries(['more', 'donated', 'count', 'inferred', 'idle', 'modules', 'executions'].map(name => [name, count])),
  permille: value => `${(Number(value) / 10).toFixed(1)} %`,
  ratio_permille: value => (Number(value) / 1000).toFixed(2),
  longest_ns: value => duration(Number(value)),
  role: (value, {roles}) => Object.hasOwn(roles, value) ? roles[value] ?? '' : String(value),
  owner: (value, {ownerName}) => ownerName(String(value)),
};

/** A verdict in words; one whose code has none, in the report's. */
export function verdictIn(words: VerdictWords, naming: Naming, {code, args, text}: Diagnosis): string {
  const kind = 'what' in args ? `${code}:${args.what}` : code;
  // A report that is read back may hold any code.
  const sentence = Object.hasOwn(words, kind) ? words[kind] : undefined;
  if (sentence === undefined) return text;
  const there = (part: string): boolean => [...part.matchAll(/\{\??(\w+)\}/g)].every(([, name = '']) => name in args && args[name] !== 0 && args[name] !== '0');
  const told = (name: string): string => name in args ? (SAYS[name] ?? String)(args[name] ?? '', naming) : '';
  return sentence
    .replace(/\[([^|\]]*)\|?([^\]]*)\]/g, (_, part: string, other: string) => there(part) ? part : other)
    .replace(/\{\?\w+\}/g, '')
    .replace(/\{(\w+)\}/g, (_, name: string) => told(name));
}
