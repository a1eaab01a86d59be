// What to say about paths that hold nothing for this version.
import type {Messages} from './i18n';

const NAMES_SHOWN = 4;

export function nothingFound(paths: string[]): (t: Messages) => string {
  return t => t.nothingFound(paths.length, paths.slice(0, NAMES_SHOWN), paths.length > NAMES_SHOWN);
}
