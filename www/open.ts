// From a drop, a picker or a sample to a list of paths with their files. Folders are walked without asking for the files' contents.
import {sampleBytes, selfTestBytes} from './embedded';
import {reasonOf} from './reason';

/** A file that was opened: its path begins with the name of the dropped item. */
export interface Opened {
  path: string;
  file(): Promise<File>;
}

/** One dropped item, in every form that the browser gave it. */
export interface Dropped {
  name: string;
  handle: Promise<FileSystemHandle | null> | null;
  entry: FileSystemEntry | null;
  file: File | null;
}

export interface Walk {
  opened: Opened[];
  /** Folders that the browser would not read. */
  unreadable: string[];
  /** Folders that lie too deep to be looked into. */
  tooDeep: string[];
  /** There were more files than are looked at. */
  tooMany: boolean;
}

/** Files that are all at hand. */
export const atHand = (opened: Opened[]): Walk => ({opened, unreadable: [], tooDeep: [], tooMany: false});

type Progress = (paths: number) => void;

/** Links may lead a folder back into itself. */
export const DEEPEST = 64;
export const MOST_PATHS = 2_000_000;

/** Must run inside the drop event: afterwards the items are gone. */
export function collect(transfer: DataTransfer): Dropped[] {
  return [...transfer.items].filter(item => item.kind === 'file').map(item => {
    const withHandle = item as DataTransferItem & {getAsFileSystemHandle?(): Promise<FileSystemHandle | null>};
    // On file:// Chromium gives entries that cannot be read, but handles that can: the handle first.
    const handle = withHandle.getAsFileSystemHandle?.().catch(() => null) ?? null;
    const entry = item.webkitGetAsEntry?.() ?? null;
    const file = item.getAsFile();
    return {name: entry?.name ?? file?.name ?? '', handle, entry, file};
  });
}

/** Everything below the dropped items. */
export async function walk(items: Dropped[], progress: Progress, signal: AbortSignal): Promise<Walk> {
  const walker = new Walker(progress, signal);
  const names = new Names();
  for (const item of items) await walker.item(item, names);
  return walker;
}

/** Files of a picker; those of a folder picker bring their path. */
export function picked(files: Iterable<File>): Opened[] {
  const names = new Names();
  return [...files].map(file => ({
    path: file.webkitRelativePath || names.unique(file.name),
    file: () => Promise.resolve(file),
  }));
}

interface SampleFile {
  path: string;
  size: number;
}

export const sample = async (name: string): Promise<Opened[]> => unpack(await sampleBytes(name));

/** What the self-test reads beside the samples. */
export const selfTestOnly = async (): Promise<Opened[]> => unpack(await selfTestBytes());

/** A sample: four bytes of length (little endian), a JSON list of paths and sizes, the files one after the other. */
function unpack(bytes: ArrayBuffer): Opened[] {
  const header = new DataView(bytes).getUint32(0, true);
  const list = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, header))) as SampleFile[];
  let at = 4 + header;
  return list.map(({path, size}) => {
    const file = new File([bytes.slice(at, at + size)], path.slice(path.lastIndexOf('/') + 1));
    at += size;
    return {path, file: () => Promise.resolve(file)};
  });
}

/** Two dropped items of one name stay apart. */
class Names {
  #seen = new Map<string, number>();

  unique(name: string): string {
    const times = (this.#seen.get(name) ?? 0) + 1;
    this.#seen.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
  }
}

class Walker implements Walk {
  readonly opened: Opened[] = [];
  readonly unreadable: string[] = [];
  readonly tooDeep: string[] = [];
  tooMany = false;
  #told = 0;

  constructor(private readonly progress: Progress, private readonly signal: AbortSignal) {}

  async item({name, handle, entry, file}: Dropped, names: Names): Promise<void> {
    const got = await handle;
    const path = names.unique(got?.name ?? name);
    if (got?.kind === 'directory') return this.#folder(path, got as FileSystemDirectoryHandle);
    if (got?.kind === 'file') return this.#add(path, () => (got as FileSystemFileHandle).getFile());
    if (entry?.isDirectory === true) return this.#entries(path, entry as FileSystemDirectoryEntry);
    if (file !== null) return this.#add(path, () => Promise.resolve(file));
    this.unreadable.push(path);
  }

  async #folder(path: string, folder: FileSystemDirectoryHandle, depth = 0): Promise<void> {
    if (this.#enough(path, depth)) return;
    try {
      for await (const child of (folder as unknown as {values(): AsyncIterable<FileSystemHandle>}).values()) {
        this.signal.throwIfAborted();
        const below = `${path}/${child.name}`;
        if (child.kind === 'directory') await this.#folder(below, child as FileSystemDirectoryHandle, depth + 1);
        else this.#add(below, () => (child as FileSystemFileHandle).getFile());
      }
    } catch (error) {
      this.#skip(path, error);
    }
  }

  async #entries(path: string, folder: FileSystemDirectoryEntry, depth = 0): Promise<void> {
    if (this.#enough(path, depth)) return;
    try {
      const reader = folder.createReader();
      for (let batch = await readSome(reader); batch.length > 0; batch = await readSome(reader)) {
        for (const child of batch) {
          this.signal.throwIfAborted();
          const below = `${path}/${child.name}`;
          if (child.isDirectory) await this.#entries(below, child as FileSystemDirectoryEntry, depth + 1);
          else this.#add(below, () => fileOf(child as FileSystemFileEntry));
        }
      }
    } catch (error) {
      this.#skip(path, error);
    }
  }

  #add(path: string, file: () => Promise<File>): void {
    this.opened.push({path, file});
    const now = performance.now();
    if (now - this.#told < 100) return;
    this.#told = now;
    this.progress(this.opened.length);
  }

  #enough(path: string, depth: number): boolean {
    this.signal.throwIfAborted();
    if (depth > DEEPEST) this.tooDeep.push(path);
    if (this.opened.length >= MOST_PATHS) this.tooMany = true;
    return this.tooMany || depth > DEEPEST;
  }

  #skip(path: string, error: unknown): void {
    this.signal.throwIfAborted();
    console.warn(`oomscope: ${path}: ${reasonOf(error)}`);
    this.unreadable.push(path);
  }
}

const readSome = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject));

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));
