// What captures and lanes are called.
import type {CaptureSummary, DeviceSummary, LaneSummary} from '../target/plain/pkg/oomscope';
import {clip, size} from './format';
import type {GanttView} from './gantt';
import type {Messages} from './i18n';

export function placeName(t: Messages, capture: CaptureSummary, device: DeviceSummary): string {
  if (capture.kind === 'xplane') return [capture.role, device.device].filter(Boolean).join(' · ');
  const rank = capture.rank === undefined || capture.rank === null ? t.rankUnknown : t.rankName(capture.rank);
  return [rank, capture.role, `${device.device} ${device.pool}`].filter(Boolean).join(' · ');
}

/** What a lane is called. */
export const laneText = (t: Messages, gantt: GanttView, {name}: LaneSummary): string =>
  gantt === 'size-class' ? t.upTo(size(Number(name))) : clip(name || (gantt === 'operator' ? t.unattributed : gantt === 'stream' ? t.noStream : t.noStack));

export const isFrames = (gantt: GanttView): boolean => gantt === 'user-frame' || gantt === 'stack';

/** The same where there is little room. */
export const shortLaneText = (t: Messages, gantt: GanttView, lane: LaneSummary): string =>
  isFrames(gantt) ? withoutFolders(laneText(t, gantt, lane)) : laneText(t, gantt, lane);

/** The end of a frame tells most: the folders before the file are in the title. */
export const withoutFolders = (frame: string): string => frame.replace(/^.*[/\\](?=[^/\\]*\()/, '');
