// The opened files, each asked for once, and what is read of many of them at a time.
import type {Item} from './found';
import {bigFiles} from './found';
import type {Opened} from './open';
import type {ListedFile} from './protocol';
import {reasonOf} from './reason';
import {notify, patchSession} from './state';

/** Files that are looked into at once. */
const FILES_AT_ONCE = 32;
/** Sizes are shown this many captures at a time. */
const SIZES_AT_ONCE = 32;

/** The files behind the paths, each asked for once. */
export class Files {
  #files = new Map<number, Promise<File>>();

  constructor(private readonly opened: Opened[]) {}

  get(index: number): Promise<File> {
    let file = this.#files.get(index);
    if (file === undefined) {
      file = this.opened[index]?.file() ?? Promise.reject(new Error(`no path ${index}`));
      this.#files.set(index, file);
    }
    return file;
  }

  async listed(index: number): Promise<ListedFile> {
    return {path: this.#path(index), file: await this.get(index)};
  }

  /** A file without which its capture cannot be read: of several it is told which one is at fault. */
  async needed(index: number): Promise<ListedFile> {
    return this.listed(index).catch(error => { throw new Error(`${this.#path(index)}: ${reasonOf(error)}`); });
  }

  #path(index: number): string {
    return this.opened[index]?.path ?? '';
  }

  /** A file that can be done without. */
  async maybe(index: number | null | undefined): Promise<ListedFile | null> {
    if (index === null || index === undefined) return null;
    return this.listed(index).catch(error => {
      notify('warning', t => t.fileFailed(this.#path(index), reasonOf(error)));
      return null;
    });
  }
}

export const firstBytes = async (file: File, count: number): Promise<Uint8Array> => new Uint8Array(await file.slice(0, count).arrayBuffer());

/** Some at once: folders can hold thousands of files. */
export async function eachOf(indices: number[], signal: AbortSignal, each: (index: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < indices.length && !signal.aborted; at += FILES_AT_ONCE) await Promise.all(indices.slice(at, at + FILES_AT_ONCE).map(each));
}

/** Sizes for the list of captures, as they come in. */
export async function askSizes(items: Item[], files: Files, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < items.length && !signal.aborted; at += SIZES_AT_ONCE) {
    const wanted = items.slice(at, at + SIZES_AT_ONCE).flatMap(bigFiles);
    const sizes = await Promise.all(wanted.map(async index => [index, (await files.listed(index).catch(() => null))?.file.size ?? 0] as const));
    if (!signal.aborted) patchSession(session => ({sizes: new Map([...session.sizes, ...sizes])}));
  }
}
