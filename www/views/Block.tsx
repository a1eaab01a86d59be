import type {BlockDetail, BlockFilter, DeviceSummary, OriginDetail, OverlapDetail, TotalsDetail} from '../../target/plain/pkg/oomscope';
import {absoluteNs, clip, column, duration, exactBytes, exactTime, instant, int, size, time} from '../format';
import {pin} from '../frames';
import {useMessages} from '../i18n';
import type {StackReason} from '../i18n/en';
import {narrow} from '../narrow';
import {ofJax} from '../state';
import {memo} from './memo';
import {Stack} from './Stack';
import {Swatch} from './Swatch';

interface Props {
  pinned: number | null;
  detail: BlockDetail | null;
  device: DeviceSummary;
  /** The call stacks are being read. */
  tracing: boolean;
}

/** The pinned block, and the blocks of its operator that lived beside it. */
export const Block = memo(function Block({pinned, detail, device, tracing}: Props) {
  const t = useMessages();
  if (pinned === null) return <section class="panel block"><h2>{t.blockTitle}</h2><p class="muted">{t.blockEmpty}</p></section>;
  if (detail === null) return <section class="panel block"><h2>{t.blockTitle}</h2><p class="muted" role="status">{t.blockLoading}</p></section>;
  return (
    <section class="panel block pinned" data-test="block-detail" data-block={detail.block}>
      <h2>
        <Swatch hue={device.lanes[detail.lane]?.hue ?? 12} /> <span class="name">{clip(t.ownerName(detail.name || t.unattributed))}</span> {size(detail.bytes)}
        <button type="button" class="quiet" title={t.unpin} aria-label={t.unpin} onClick={() => pin(null)}>×</button>
      </h2>
      <CodeLine origin={detail.origin} />
      <ToOverlaps detail={detail} device={device} />
      {detail.origin !== null && detail.origin !== undefined ? <Origin origin={detail.origin} /> : !ofJax(device) && <p class="muted" data-test="no-stacks">{tracing ? t.traceUnderWay : t.noTrace}</p>}
      <Only detail={detail} device={device} />
      <Facts detail={detail} device={device} />
      <Totals allocation={detail.at_allocation} release={detail.at_release} />
      <Overlaps detail={detail} device={device} />
    </section>
  );
});

function Facts({detail, device}: {detail: BlockDetail; device: DeviceSummary}) {
  const t = useMessages();
  const {end_ns, active_end_ns, duration_ns} = detail;
  const released = end_ns !== null && end_ns !== undefined;
  return (
    <dl>
      <dt>{t.size}</dt><dd>{exactBytes(t, detail.bytes)}</dd>
      <dt>{t.start}</dt><dd><Instant ns={detail.start_ns} device={device} /></dd>
      <dt title={t.endTitle}>{t.end}</dt><dd>{released ? <Instant ns={end_ns} device={device} /> : t.notReleased}</dd>
      {active_end_ns !== null && active_end_ns !== undefined && (
        <><dt title={t.backInPoolTitle}>{t.backInPool}</dt><dd><BackInPool ns={active_end_ns} end={released ? end_ns : null} device={device} /></dd></>
      )}
      <dt>{t.duration}</dt><dd title={`${int(t, duration_ns)} ns`}>{released ? duration(duration_ns) : t.openEnd(duration(duration_ns))}</dd>
      <dt>{t.device}</dt><dd>{detail.device} {device.pool}</dd>
      {detail.stream !== '' && <><dt>{t.stream}</dt><dd class="path">{clip(detail.stream)}</dd></>}
      <dt>{t.line}</dt><dd>{int(t, detail.line)}</dd>
    </dl>
  );
}

function Origin({origin}: {origin: OriginDetail}) {
  const t = useMessages();
  return (
    <>
      <h3>{t.callStack}</h3>
      <p class={origin.reason === 'nearest' ? 'warn' : 'muted'} data-test="stack-reason" data-reason={origin.reason}>{t.stackReasons[origin.reason as StackReason] ?? origin.reason}</p>
      <Stack frames={origin.stack} user={origin.user_frame} boxed />
    </>
  );
}

/** What the charts and tables can be narrowed to, from here. */
function Only({detail, device}: {detail: BlockDetail; device: DeviceSummary}) {
  const t = useMessages();
  const {operator, stream, stream_number, origin} = detail;
  const only = (test: string, text: string, filter: BlockFilter) => <button type="button" class="plain link" data-test={`only-${test}`} onClick={() => narrow(filter)}>{text}</button>;
  return (
    <p class="acts">
      <span class="muted">{t.only}</span>
      {only('operator', ofJax(device) ? t.onlyOwner : t.onlyOperator, {operator})}
      {origin !== null && origin !== undefined && origin.stack.length > 0 && only('stack', t.onlyStack, {stack: origin.number})}
      {stream !== '' && only('stream', t.onlyStream, {stream: stream_number})}
    </p>
  );
}

/** The line that asked for the block: what most people look for. */
export function CodeLine({origin}: {origin: OriginDetail | null | undefined}) {
  const t = useMessages();
  const frame = origin?.user_frame ?? origin?.stack.at(-1);
  if (frame === undefined) return null;
  return <p class="headline" title={t.userFrame} data-test="headline">{origin?.reason === 'nearest' && <span class="warn">{t.guess} </span>}<code>{clip(frame)}</code></p>;
}

function Instant({ns, device}: {ns: number; device: DeviceSummary}) {
  const t = useMessages();
  return (
    <>
      {exactTime(t, ns, device.end_ns)}
      <small class="muted" title={`${absoluteNs(device.base_ns, ns)} ns`}>{instant(device.base_ns, ns)}</small>
    </>
  );
}

/** Against the release where there is one: which of the two comes first says whether another stream held the block. */
function BackInPool({ns, end, device}: {ns: number; end: number | null; device: DeviceSummary}) {
  const t = useMessages();
  if (end === null) return <Instant ns={ns} device={device} />;
  const title = exactTime(t, ns, device.end_ns);
  if (ns <= end) return <span title={title}>{ns === end ? t.backWithEnd : t.backBeforeEnd(duration(end - ns))}</span>;
  return <span title={title}>{t.backAfterEnd(duration(ns - end))}</span>;
}

function Totals({allocation, release}: {allocation: TotalsDetail; release: TotalsDetail}) {
  const t = useMessages();
  const rows: [string, keyof TotalsDetail][] = [[t.allocated, 'allocated_bytes'], [t.active, 'active_bytes'], [t.reserved, 'reserved_bytes']];
  const {unit, show} = column(Math.max(...rows.flatMap(([, key]) => [allocation[key] ?? 0, release[key] ?? 0])));
  const cell = (bytes: number | null | undefined) => bytes === null || bytes === undefined
    ? <td class="number muted">–</td>
    : <td class="number" title={exactBytes(t, bytes)}>{show(bytes)}</td>;
  return (
    <table>
      <thead><tr><th>{t.totals}, {unit}</th><th class="number">{t.atAllocation}</th><th class="number">{t.atRelease}</th></tr></thead>
      <tbody>{rows.map(([name, key]) => <tr key={key}><th scope="row">{name}</th>{cell(allocation[key])}{cell(release[key])}</tr>)}</tbody>
    </table>
  );
}

/** They stand below the stack, as a rule out of sight. */
function ToOverlaps({detail: {overlapping, overlapping_bytes}, device}: {detail: BlockDetail; device: DeviceSummary}) {
  const t = useMessages();
  if (overlapping === 0) return null;
  const go = (event: MouseEvent): void => (event.currentTarget as HTMLElement).closest('section')?.querySelector('.overlaps')?.scrollIntoView({block: 'nearest'});
  return <p class="to-overlaps"><button type="button" class="plain link" data-test="to-overlaps" onClick={go}>{(ofJax(device) ? t.overlappingOwner : t.overlapping)(overlapping, size(overlapping_bytes))} ↓</button></p>;
}

function Overlaps({detail, device}: {detail: BlockDetail; device: DeviceSummary}) {
  const t = useMessages();
  const {overlaps, overlapping, overlapping_bytes} = detail;
  const words = ofJax(device) ? t.overlappingOwner : t.overlapping;
  if (overlapping === 0) return <p class="muted">{words(0, '')}</p>;
  const {unit, show} = column(Math.max(...overlaps.map(overlap => overlap.bytes)));
  return (
    <>
      <h3 title={exactBytes(t, overlapping_bytes)}>{words(overlapping, size(overlapping_bytes))}</h3>
      {overlapping > overlaps.length && <p class="muted">{t.largestOf(overlaps.length, overlapping)}</p>}
      <div class="table-box overlaps">
        <table>
          <thead><tr><th class="number">{unit}</th><th class="number">{t.start}</th><th class="number">{t.duration}</th></tr></thead>
          <tbody>{overlaps.map(overlap => <OverlapRow key={overlap.block} overlap={overlap} device={device} show={show} />)}</tbody>
        </table>
      </div>
    </>
  );
}

function OverlapRow({overlap, device, show}: {overlap: OverlapDetail; device: DeviceSummary; show: (bytes: number) => string}) {
  const t = useMessages();
  const {block, bytes, start_ns, end_ns} = overlap;
  const released = end_ns !== null && end_ns !== undefined;
  return (
    <tr>
      <td class="number" title={exactBytes(t, bytes)}>{show(bytes)}</td>
      <td class="number"><button type="button" class="plain link" onClick={() => pin(block)}>{time(t, start_ns, device.end_ns)}</button></td>
      <td class="number">{released ? duration(end_ns - start_ns) : t.openEnd(duration(device.end_ns - start_ns))}</td>
    </tr>
  );
}
