// The page with the captures in it: what goes along, how large it is, and the file.
import {saveFile} from './downloads';
import {EngineEnded, engine} from './engine';
import {currentHash} from './hash';
import {newest} from './newest';
import {reasonOf} from './reason';
import {whatIsOpen} from './names';
import type {State} from './state';
import {get, notify, set} from './state';

/** The page as it was served. Taken before the first drawing: the policy forbids to fetch it again. */
const OWN_HTML = `<!doctype html>\n${document.documentElement.outerHTML}`;

/** Of a name in the file's name. */
const LONGEST_NAME = 48;

/** What is asked before a page is saved. */
export interface Saving {
  stacks: boolean;
  folders: boolean;
  /** The captures, packed; null while they are. */
  packed: Uint8Array | null;
}

const pack = newest<Saving, Uint8Array>(
  ({stacks, folders}) => engine.call('saved', [stacks, folders]),
  (packed, wanted) => {
    const {saving} = get();
    if (saving?.stacks === wanted.stacks && saving.folders === wanted.folders) set({saving: {...saving, packed}});
  },
  failed,
);

export function beginSaving(change: Partial<Saving> = {}): void {
  const saving = {stacks: true, folders: true, ...get().saving, ...change, packed: null};
  set({saving});
  pack(saving);
}

export const endSaving = (): void => set({saving: null});

let ownBytes = 0;

/** Of the file, as Base64 makes it. */
export const savedBytes = (packed: Uint8Array): number => (ownBytes ||= new Blob([OWN_HTML]).size) + Math.ceil(packed.length / 3) * 4;

/** The page's name tells what is in it, in letters that any file system takes. */
function savedName(s: State): string {
  const {name, more} = whatIsOpen(s);
  const safe = name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, LONGEST_NAME).replace(/^[-.]+|[-.]+$/g, '') || 'captures';
  return `oomscope-${safe}${more > 0 ? `-and-${more}-more` : ''}.html`;
}

export async function savePage(): Promise<void> {
  const packed = get().saving?.packed;
  if (packed === null || packed === undefined) return;
  try {
    const page = await engine.call('saved_page', [OWN_HTML, packed, currentHash()]);
    saveFile(savedName(get()), [page as Uint8Array<ArrayBuffer>], 'text/html');
    endSaving();
  } catch (error) {
    failed(error);
  }
}

function failed(error: unknown): void {
  endSaving();
  if (!(error instanceof EngineEnded)) notify('error', t => t.exportFailed(reasonOf(error)));
}
