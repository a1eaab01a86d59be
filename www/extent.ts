// How much there is to read of a capture, and how much of it is read.
import type {CaptureFiles} from '../target/plain/pkg/oomscope';
import type {Scan} from './state';

/** The files whose reading takes time, in the order in which they are read. */
export function bigFiles(capture: CaptureFiles): number[] {
  const rest = [capture.memory_record, capture.npu_module_mem, capture.trace];
  return [...capture.operator_memory, ...rest.filter(index => index !== null && index !== undefined)];
}

export const bytesOf = (capture: CaptureFiles, sizes: ReadonlyMap<number, number>): number =>
  bigFiles(capture).reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0);

/** A worker has it, or will have it. */
export const isUnderWay = (scan: Scan): boolean => scan.phase === 'waiting' || scan.phase === 'reading' || scan.phase === 'building' || scan.phase === 'tracing';
