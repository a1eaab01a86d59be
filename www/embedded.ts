// What the build put into the page: both variants of the wasm, the worker scripts, the samples.
import {freshName, whenFree} from './alive';
import {PARAMETERS} from './parameters';
import type {FromWorker, Variant} from './protocol';

const SAMPLE_PREFIX = 'sample-';

function text(id: string): string {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`this page was built without its part "${id}"`);
  return element.textContent ?? '';
}

const unbase64 = (packed: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(packed), c => c.charCodeAt(0));

/** Base64 of gzip → bytes. */
export async function inflate(id: string): Promise<ArrayBuffer> {
  const packed = unbase64(text(id));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

const modules = new Map<Variant, Promise<WebAssembly.Module>>();

/** The compiled wasm of a variant; compiled once. */
export function wasm(variant: Variant): Promise<WebAssembly.Module> {
  let module = modules.get(variant);
  if (module === undefined) {
    module = inflate(`wasm-${variant}`).then(bytes => WebAssembly.compile(bytes));
    modules.set(variant, module);
  }
  return module;
}

const scripts = new Map<Variant, string>();

/** A fresh worker of a variant; its end is an error of it, too. The Blob's address is kept: workers are made again and again. */
export function worker(variant: Variant): Worker {
  let script = scripts.get(variant);
  if (script === undefined) {
    script = URL.createObjectURL(new Blob([text(`worker-${variant}`)], {type: 'text/javascript'}));
    scripts.set(variant, script);
  }
  const name = freshName();
  const made = new Worker(script, {name});
  made.addEventListener('message', ({data}: MessageEvent<FromWorker>) => {
    if (data.type === 'alive') void whenFree(name).then(() => made.dispatchEvent(new ErrorEvent('error', {message: 'the browser ended its worker'})));
  });
  return made;
}

const SAVED = 'session';

/** Whether captures were saved with this page. */
export const isSaved = (): boolean => document.getElementById(SAVED) !== null;

/** The captures saved with this page, packed; and the view of them. */
export function savedSession(): Uint8Array {
  try {
    return unbase64(text(SAVED));
  } catch {
    throw new Error('they are cut or were changed');
  }
}

export const savedView = (): string => document.getElementById(SAVED)?.dataset.view ?? '';

let title: HTMLTitleElement | null = null;

/**
 * A saved page that is open bears its captures' name; null: the page's own. That stays where it was, for a copy that the browser makes is known by
 * it.
 */
export function entitle(named: {name: string; more: number} | null): void {
  title?.remove();
  title = null;
  if (named === null || named.name === '') return;
  title = document.createElement('title');
  title.textContent = `${named.name}${named.more > 0 ? ` + ${named.more}` : ''} – oomscope`;
  document.querySelector('title')?.before(title);
}

/** Names of the samples inside the page. */
export function sampleNames(): string[] {
  return [...document.querySelectorAll(`script[id^="${SAMPLE_PREFIX}"]`)].map(tag => tag.id.slice(SAMPLE_PREFIX.length));
}

/** In another page it is that page's files that matter. */
export const offeredSamples = (): string[] => PARAMETERS.embed ? [] : sampleNames();

export const sampleBytes = (name: string): Promise<ArrayBuffer> => inflate(SAMPLE_PREFIX + name);

export const selfTestBytes = (): Promise<ArrayBuffer> => inflate('self-test');
