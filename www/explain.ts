// What to say about paths that hold nothing for this version.
import {clip} from './format';
import type {Messages} from './i18n';

const NAMES_SHOWN = 4;

export function nothingFound(paths: string[]): (t: Messages) => string {
  const page = paths.find(path => /\.html?(\.gz)?$/.test(path)) ?? null;
  const shown = paths.slice(0, NAMES_SHOWN).map(path => clip(path));
  return t => t.nothingFound(paths.length, shown, paths.length > NAMES_SHOWN, page === null ? null : clip(page));
}
