// A file that goes out, and a word about it: some browsers save without showing anything.
import {downloadBlob} from './platform';
import {set} from './state';

const TOLD_MS = 8000;

let timer = 0;

export function saveFile(name: string, parts: BlobPart[], type: string): void {
  downloadBlob(name, parts, type);
  clearTimeout(timer);
  set({savedFile: name});
  timer = setTimeout(() => set({savedFile: null}), TOLD_MS);
}
