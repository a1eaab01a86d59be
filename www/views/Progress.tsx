import {roughly, size} from '../format';
import {useMessages} from '../i18n';
import {bytesOf, itemsOf} from '../found';
import {cancel} from '../session';
import type {Session} from '../state';
import {isUnderWay} from '../state';
import {memo} from './memo';

/** What is being done, how far it is, and the way out of it. */
export const Progress = memo(function Progress({walked, session}: {walked: number | null; session: Session | null}) {
  const t = useMessages();
  if (walked !== null) return <Line text={t.walking(walked)} share={null} />;
  if (session === null || session.readingSince === null) return null;
  const {read, total} = readOf(session);
  const building = session.scans.filter(scan => scan.phase === 'building').length;
  const reading = session.scans.some(scan => scan.phase === 'waiting' || scan.phase === 'reading' || scan.phase === 'tracing');
  if (!reading) return <Line text={t.replaying(building)} share={1} />;
  const seconds = (performance.now() - session.readingSince) / 1000;
  const rate = read / Math.max(seconds, 0.001);
  const parts = [t.reading(size(read), size(total))];
  if (seconds > 0.3 && read > 0) parts.push(t.rate(size(rate)), t.timeLeft(roughly((total - read) / rate)));
  return <Line text={parts.join(' · ')} share={total > 0 ? read / total : 0} />;
});

function Line({text, share}: {text: string; share: number | null}) {
  const t = useMessages();
  return (
    <div class="progress" data-test="progress" role="status">
      <span>{text}</span>
      <progress max={1} value={share ?? undefined} aria-label={text} />
      <button type="button" data-test="cancel" onClick={cancel}>{t.cancel}</button>
    </div>
  );
}

function readOf({found, scans, sizes}: Session): {read: number; total: number} {
  let read = 0;
  let total = 0;
  itemsOf(found).forEach((item, index) => {
    const scan = scans[index];
    const all = bytesOf(item, sizes);
    total += all;
    read += scan === undefined || isUnderWay(scan) ? scan?.bytesRead ?? 0 : all;
  });
  return {read: Math.min(read, total), total};
}
