// The self-test: every built-in sample is read in a worker of its own, and what comes out is compared with what is known of it.
import type {CheckedSummary} from '../target/plain/pkg/oomscope';
import {sampleNames, wasm, worker} from './embedded';
import {sample, selfTestOnly} from './open';
import type {Opened} from './open';
import type {FromWorker, ToWorker} from './protocol';

export async function selfTest(): Promise<CheckedSummary[]> {
  const [module, opened] = await Promise.all([wasm('plain'), Promise.all([...sampleNames().map(sample), selfTestOnly()])]);
  const files = new Map(await Promise.all(opened.flat().map(bytesOf)));
  const checker = worker('plain');
  try {
    return await new Promise((resolve, reject) => {
      checker.onerror = event => reject(new Error(event.message));
      checker.onmessage = ({data}: MessageEvent<FromWorker>) => {
        if (data.type === 'checked') resolve(data.rows);
        if (data.type === 'panic') reject(new Error(data.message));
      };
      checker.postMessage({type: 'self_test', module, files} satisfies ToWorker);
    });
  } finally {
    checker.terminate();
  }
}

const bytesOf = async ({path, file}: Opened): Promise<[string, Uint8Array]> => [path, new Uint8Array(await (await file()).arrayBuffer())];
