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

/** Base64 of gzip → bytes. */
export async function inflate(id: string): Promise<ArrayBuffer> {
  const packed = Uint8Array.from(atob(text(id)), c => c.charCodeAt(0));
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

/** Names of the samples inside the page. */
export function sampleNames(): string[] {
  return [...document.querySelectorAll(`script[id^="${SAMPLE_PREFIX}"]`)].map(tag => tag.id.slice(SAMPLE_PREFIX.length));
}

/** In another page it is that page's files that matter. */
export const offeredSamples = (): string[] => PARAMETERS.embed ? [] : sampleNames();

export const sampleBytes = (name: string): Promise<ArrayBuffer> => inflate(SAMPLE_PREFIX + name);

export const selfTestBytes = (): Promise<ArrayBuffer> => inflate('self-test');
