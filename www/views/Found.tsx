import type {CaptureFiles, CaptureSummary} from '../../target/plain/pkg/oomscope';
import type {Item} from '../found';
import {bytesOf, itemsOf} from '../found';
import {clip, clipSentence, exactBytes, size} from '../format';
import type {Messages} from '../i18n';
import {useMessages} from '../i18n';
import type {Scan, Session} from '../state';
import {isUsable, reportedCounts} from '../state';
import {memo} from './memo';

/** Warnings that have a column of their own here. */
const IN_COLUMNS = new Set(['missing-trace', 'missing-metadata', 'missing-memory-record']);

/** What lies in the opened folders: listed at once, followed while it is read, folded away when there are charts. */
export const Found = memo(function Found({session}: {session: Session}) {
  const t = useMessages();
  const {found, scans, captures} = session;
  const reported = reportedCounts(session);
  const told = reported.captures > 0 ? t.foundReported(reported.captures, reported.reports) : null;
  if (found.paths === 0) return <Line parts={[captures.length > 0 ? t.savedHere(captures.length) : t.savedReports, told]} />;
  const items = itemsOf(found);
  const read = captures.filter(capture => isUsable(session, capture)).length;
  const failed = scans.filter(scan => scan.phase === 'failed').length + captures.length - read;
  const cancelled = scans.filter(scan => scan.phase === 'cancelled').length;
  const bySource = new Map(captures.map(capture => [capture.source, capture]));
  const sources = new Set(items.map(({source}) => source));
  const ofPages = captures.filter(({source}) => !sources.has(source)).length;
  if (items.length + ofPages === 0 && (told !== null || session.readingSince !== null)) return <Line parts={[told ?? t.walking(found.paths)]} />;
  const title = t.foundTitle(items.length + ofPages, found.paths);
  const state = (
    <span class="muted"> · {t.foundRead(read)}{cancelled > 0 && <> · {t.foundCancelled(cancelled)}</>}{failed > 0 && <> · <strong class="bad">{t.foundFailed(failed)}</strong></>}
      {told !== null && <> · {told}</>}</span>
  );
  // Of saved pages and reports there are no files to list.
  if (items.length === 0) return <p class="found-saved" data-test="found-list">{title}{state}</p>;
  return (
    <details class="found" open={read === 0} data-test="found-list">
      <summary>{title}{state}</summary>
      <div class="table-box">
        <table>
          <thead>
            <tr>
              <th>{t.source}</th><th>{t.role}</th><th class="number">{t.rank}</th><th class="number">{t.memoryFile}</th>
              <th class="number">{t.traceFile}</th><th>{t.status}</th><th>{t.missing}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item, index) => {
              const scan = scans[index];
              return scan === undefined ? null
                : <Row key={index} item={item} scan={scan} session={session} summary={bySource.get(item.source)} />;
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
});

function Line({parts}: {parts: (string | null)[]}) {
  return <p class="found-saved" data-test="found-list">{parts.filter(part => part !== null).join(' ')}</p>;
}

interface RowProps {
  item: Item;
  scan: Scan;
  session: Session;
  summary: CaptureSummary | undefined;
}

const Row = memo(function Row({item, scan, session, summary}: RowProps) {
  const t = useMessages();
  const {sizes} = session;
  const usable = summary === undefined || isUsable(session, summary);
  const state = <td class={scan.phase === 'failed' || !usable ? 'state bad' : 'state'} title={clipSentence(scan.reason)}>{usable || scan.phase !== 'done' ? status(t, item, scan, sizes, summary) : t.unusable}</td>;
  if (item.kind === 'xplane') {
    return <tr><td class="path">{clip(item.source, 400)}</td><td>{clip(summary?.role ?? '')}</td><td /><Size of={[item.xplane.file]} sizes={sizes} /><td />{state}<td /></tr>;
  }
  const {capture} = item;
  const rank = summary?.rank ?? capture.rank;
  return (
    <tr>
      <td class="path">{clip(capture.source, 400)}</td>
      <td>{clip(summary?.role ?? capture.role ?? '')}</td>
      <td class="number">{rank ?? t.unknown}</td>
      <Size of={capture.operator_memory} sizes={sizes} />
      <Size of={capture.trace === undefined || capture.trace === null ? [] : [capture.trace]} sizes={sizes} />
      {state}
      <td>{missing(t, capture).map(text => <div key={text}>{text}</div>)}</td>
    </tr>
  );
});

function Size({of, sizes}: {of: number[]; sizes: ReadonlyMap<number, number>}) {
  const t = useMessages();
  if (of.length === 0) return <td class="number muted">{t.none}</td>;
  const known = of.map(index => sizes.get(index)).filter(value => value !== undefined);
  if (known.length < of.length) return <td class="number muted">…</td>;
  const bytes = known.reduce((sum, value) => sum + value, 0);
  return <td class="number" title={exactBytes(t, bytes)}>{size(bytes)}</td>;
}

function status(t: Messages, item: Item, scan: Scan, sizes: ReadonlyMap<number, number>, summary?: CaptureSummary): string {
  const phase = t.phases[scan.phase];
  if (scan.phase === 'reading' || scan.phase === 'tracing') {
    const total = bytesOf(item, sizes);
    return total > 0 ? `${phase} ${Math.floor(100 * Math.min(1, scan.bytesRead / total))} %` : phase;
  }
  if (scan.phase !== 'done' || summary === undefined) return phase;
  if (item.kind === 'xplane') return phase;
  const aside = summary.rows_set_aside > 0 ? `, ${t.setAside(summary.rows_set_aside)}` : '';
  const stacks = summary.stacks === null || summary.stacks === undefined ? '' : `, ${t.stacksFound(summary.stacks.found, summary.stacks.found + summary.stacks.none)}`;
  return `${phase}: ${t.rows(summary.rows_read)}${aside}${stacks}`;
}

function missing(t: Messages, capture: CaptureFiles): string[] {
  const lacks = (index: number | null | undefined): boolean => index === undefined || index === null;
  const usable = capture.operator_memory.length > 0;
  return [
    ...usable && lacks(capture.trace) ? [t.costTrace] : [],
    ...usable && lacks(capture.profiler_metadata) ? [t.costMetadata] : [],
    ...usable && lacks(capture.memory_record) && lacks(capture.npu_module_mem) ? [t.costRecord] : [],
    ...capture.warnings.filter(warning => !IN_COLUMNS.has(warning.code)).map(warning => clipSentence(t.warning(warning))),
  ];
}
