// What a drop holds, as a list of things to read: Ascend captures, then JAX captures. Scans and items share their numbers.
import type {CaptureFiles, FoundMessage, XplaneFile} from '../target/plain/pkg/oomscope';

export type Item =
  | {kind: 'ascend'; source: string; capture: CaptureFiles}
  | {kind: 'xplane'; source: string; xplane: XplaneFile};

export const itemsOf = ({captures, xplanes}: FoundMessage): Item[] => [
  ...captures.map(capture => ({kind: 'ascend' as const, source: capture.source, capture})),
  ...xplanes.map(xplane => ({kind: 'xplane' as const, source: xplane.source, xplane})),
];

/** The files whose reading takes time, in the order in which they are read. */
export function bigFiles(item: Item): number[] {
  if (item.kind === 'xplane') return [item.xplane.file];
  const {operator_memory, memory_record, npu_module_mem, trace} = item.capture;
  return [...operator_memory, ...[memory_record, npu_module_mem, trace].filter(index => index !== null && index !== undefined)];
}

/** All files that are read of it. */
export function allFiles(item: Item): number[] {
  if (item.kind === 'xplane') return [item.xplane.file];
  const {profiler_info, profiler_metadata} = item.capture;
  return [...bigFiles(item), ...[profiler_info, profiler_metadata].filter(index => index !== null && index !== undefined)];
}

export const bytesOf = (item: Item, sizes: ReadonlyMap<number, number>): number => bigFiles(item).reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0);
