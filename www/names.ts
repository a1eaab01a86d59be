// What captures and lanes are called.
import type {CaptureSummary, DeviceSummary, LaneSummary} from '../target/plain/pkg/oomscope';
import {clip, size, time} from './format';
import type {GanttView} from './gantt';
import type {Messages} from './i18n';
import type {State, Tab} from './state';
import {isUsable, reportedCounts, reportedOnly} from './state';

export function placeName(t: Messages, capture: CaptureSummary, device: DeviceSummary): string {
  if (capture.kind === 'xplane') return clip([capture.role, device.device].filter(Boolean).join(' · '));
  const rank = capture.rank === undefined || capture.rank === null ? t.rankUnknown : t.rankName(capture.rank);
  return [rank, clip(capture.role ?? '', 60), clip(`${device.device} ${device.pool}`, 60)].filter(Boolean).join(' · ');
}

/** A capture by what tells it from its neighbours; where nothing is known of it, by its file's or folder's name. */
function shortName({kind, role, rank, source}: {kind?: string; role?: string | null | undefined; rank?: number | null | undefined; source: string}): string {
  const known = [role, rank === null || rank === undefined || kind === 'xplane' ? '' : `rank${rank}`].filter(Boolean).join('-');
  return known || source.replace(/.*[/\\](?=.)/, '').replace(/\.(xplane\.pb|csv|json)(\.gz)?$/, '');
}

/** The capture that is shown, or the first; and how many there are beside it. */
export function whatIsOpen({session, place}: State): {name: string; more: number} {
  if (session === null) return {name: '', more: 0};
  const usable = session.captures.filter(capture => isUsable(session, capture));
  const first = usable.find(({capture}) => capture === place?.capture) ?? usable[0] ?? reportedOnly(session)[0]?.capture;
  return {name: first === undefined ? '' : shortName(first), more: Math.max(0, usable.length + reportedCounts(session).captures - 1)};
}

/** What a lane is called. */
export const laneText = (t: Messages, gantt: GanttView, {name}: LaneSummary): string =>
  gantt === 'size-class' ? t.upTo(size(Number(name))) : clip((gantt === 'operator' ? t.ownerName(name) : name) || (gantt === 'operator' ? t.unattributed : gantt === 'stream' ? t.noStream : t.noStack));

export const isFrames = (gantt: GanttView): boolean => gantt === 'user-frame' || gantt === 'stack';

/** The same where there is little room. */
export const shortLaneText = (t: Messages, gantt: GanttView, lane: LaneSummary): string =>
  isFrames(gantt) ? withoutFolders(laneText(t, gantt, lane)) : laneText(t, gantt, lane);

/** The end of a frame tells most: the folders before the file are in the title. */
export const withoutFolders = (frame: string): string => frame.replace(/^.*[/\\](?=[^/\\]*\()/, '');

/** What is said of a chart to who does not see it: what it is, its window, and where its figures stand as a table. */
export const spoken = (t: Messages, {view}: State, {end_ns}: DeviceSummary, what: string, tab: Tab): string =>
  [what, t.windowLabel(time(t, view.from, end_ns), time(t, view.to, end_ns)), t.asTable(t.tabNames[tab])].join(' ');
