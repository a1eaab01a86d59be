import type {BlockDetail, DeviceSummary} from '../../target/plain/pkg/oomscope';
import {rowAt} from '../bars';
import {clip, duration, exactBytes, instant, int, size, time} from '../format';
import {ranksOf} from '../gantt';
import {useMessages} from '../i18n';
import type {Frame} from '../protocol';
import type {State} from '../state';
import {nsAt, ofJax} from '../state';
import {columnOf, covers} from '../stretch';
import {placeName} from '../names';
import {CodeLine} from './Block';
import {Swatch} from './Swatch';

const AWAY_PX = 14;

/** What is under the pointer: the curves' values, or a block. */
export function Tooltip({s, device}: {s: State; device: DeviceSummary | null}) {
  const {hover, frame, pinned} = s;
  if (hover === null || device === null || !says(s)) return null;
  // The panel beside tells of a pinned block.
  if (hover.block !== null && hover.block === pinned) return null;
  const ns = nsAt(s, hover.plotX);
  const content = hover.chart === 'trend'
    ? frame !== null && covers(frame, ns) && <Values frame={frame} ns={ns} device={device} />
    : <OfLanes s={s} device={device} ns={ns} />;
  if (!content) return null;
  const right = hover.x > innerWidth / 2;
  const low = hover.y > innerHeight * 0.6;
  return (
    <div class="tooltip" role="tooltip" style={{
      left: right ? 'auto' : `${hover.x + AWAY_PX}px`,
      right: right ? `${innerWidth - hover.x + AWAY_PX}px` : 'auto',
      top: low ? 'auto' : `${hover.y + AWAY_PX}px`,
      bottom: low ? `${innerHeight - hover.y + AWAY_PX}px` : 'auto',
    }}>
      {content}
    </div>
  );
}

/** Whether there is anything to say of what is under the pointer. */
function says({hover, hoverDetail, gantt}: State): boolean {
  if (hover === null) return false;
  if (hover.chart === 'trend' || hover.small || hover.baseline || hover.folded > 0 || gantt === 'ranks') return true;
  return hoverDetail !== null && hoverDetail.block === hover.block;
}

function OfLanes({s, device, ns}: {s: State; device: DeviceSummary; ns: number}) {
  const t = useMessages();
  const {hover, hoverDetail} = s;
  if (hover === null) return null;
  if (s.gantt === 'ranks') return <OfRank s={s} ns={ns} />;
  return (
    <>
      {hoverDetail !== null && hoverDetail.block === hover.block && <OfBlock detail={hoverDetail} device={device} />}
      {hover.small && <strong>{t.smallBlocks}</strong>}
      {hover.baseline && <strong>{t.baseline}</strong>}
      {hover.folded > 0 && <div class="muted">{t.foldedHere(hover.folded)}</div>}
    </>
  );
}

function OfRank({s, ns}: {s: State; ns: number}) {
  const t = useMessages();
  const {hover, frame} = s;
  const row = hover === null ? null : rowAt(s, hover.plotY);
  const place = row === null ? undefined : ranksOf(s)[row];
  const capture = s.session?.captures.find(each => each.capture === place?.capture);
  const device = capture?.devices[place?.device ?? -1];
  if (row === null || frame?.rank_max === undefined || capture === undefined || device === undefined || !covers(frame, ns)) return null;
  const bytes = frame.rank_max[row * frame.width_px + columnOf(frame, ns)] ?? NaN;
  return (
    <>
      <strong>{placeName(t, capture, device)}</strong>
      <dl>
        <dt>{time(t, ns, device.end_ns)}</dt><dd>{Number.isNaN(bytes) ? t.unknown : <>{size(bytes)} · {exactBytes(t, bytes)}</>}</dd>
        <dt>{t.peak}</dt><dd>{size(device.peak.total_bytes)}<small>{time(t, device.peak.time_ns, device.end_ns)}</small></dd>
      </dl>
    </>
  );
}

function Values({frame, ns, device}: {frame: Frame; ns: number; device: DeviceSummary}) {
  const t = useMessages();
  const column = columnOf(frame, ns);
  const rows: [string, Float64Array | undefined, Float64Array | undefined][] = [
    [t.total, frame.total_min, frame.total_max],
    [t.lineNames.filtered, frame.filtered_min, frame.filtered_max],
    [t.baseline, frame.baseline_min, frame.baseline_max],
    [t.active, frame.active_min, frame.active_max],
    [t.reserved, frame.reserved_min, frame.reserved_max],
    [t.lineNames.outside, frame.outside_min, frame.outside_max],
    [t.lineNames.reserved_gap, frame.reserved_gap_min, frame.reserved_gap_max],
    [t.lineNames.active_gap, frame.active_gap_min, frame.active_gap_max],
  ];
  return (
    <>
      <strong>{time(t, ns, device.end_ns)}</strong>
      <small>{instant(device.base_ns, ns)}</small>
      <dl>{rows.map(([name, min, max]) => <Extremes key={name} name={name} min={min?.[column] ?? NaN} max={max?.[column] ?? NaN} />)}</dl>
    </>
  );
}

/** A pixel's width of time can hold more than one value. */
function Extremes({name, min, max}: {name: string; min: number; max: number}) {
  if (Number.isNaN(max)) return null;
  const t = useMessages();
  const [least, most] = [Math.round(min), Math.round(max)];
  const exact = least === most ? exactBytes(t, most) : `${int(t, least)} – ${exactBytes(t, most)}`;
  return <><dt>{name}</dt><dd>{size(least) === size(most) ? size(most) : `${size(least)} – ${size(most)}`}<small>{exact}</small></dd></>;
}

function OfBlock({detail, device}: {detail: BlockDetail; device: DeviceSummary}) {
  const t = useMessages();
  const {end_ns, start_ns, duration_ns} = detail;
  const released = end_ns !== null && end_ns !== undefined;
  return (
    <>
      <strong class="name"><Swatch hue={device.lanes[detail.lane]?.hue ?? 12} /> {clip(t.ownerName(detail.name || t.unattributed))}</strong>
      <CodeLine origin={detail.origin} />
      <dl>
        <dt>{t.size}</dt><dd>{size(detail.bytes)} · {exactBytes(t, detail.bytes)}</dd>
        <dt>{t.start}</dt><dd>{time(t, start_ns, device.end_ns)}<small>{instant(device.base_ns, start_ns)}</small></dd>
        <dt>{t.end}</dt><dd>{released ? <>{time(t, end_ns, device.end_ns)}<small>{instant(device.base_ns, end_ns)}</small></> : t.notReleased}</dd>
        <dt>{t.duration}</dt><dd>{released ? duration(duration_ns) : t.openEnd(duration(duration_ns))}</dd>
      </dl>
      <span>{(ofJax(device) ? t.overlappingOwner : t.overlapping)(detail.overlapping, size(detail.overlapping_bytes))}</span>
    </>
  );
}
