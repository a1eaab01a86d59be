import type {By} from '../../../target/plain/pkg/oomscope';
import {percent} from '../../format';
import {useMessages} from '../../i18n';
import {traceShare} from '../../panels';
import type {State} from '../../state';
import {ROWS_AT_FIRST, captureAt, deviceAt, ofJax, set} from '../../state';

const ALL: By[] = ['operator', 'stack', 'user-frame', 'stream', 'size-class'];
/** Of an allocator of JAX: it has owners instead of operators, and neither stacks nor streams. */
const OF_JAX: By[] = ['operator', 'size-class'];

const needsTrace = (by: By): boolean => by === 'stack' || by === 'user-frame';

/** How the open panel groups blocks; for stacks, whether to guess those that are missing. */
export function GroupBy({s}: {s: State}) {
  const t = useMessages();
  const share = traceShare(s.session, captureAt(s));
  const device = deviceAt(s);
  const jax = device !== null && ofJax(device);
  return (
    <span class="group-by">
      <label>{t.groupBy} <select data-test="group-by" value={s.by} onChange={event => set({by: event.currentTarget.value as By, rows: ROWS_AT_FIRST})}>
        {(jax ? OF_JAX : ALL).map(by => <option key={by} value={by}>{jax && by === 'operator' ? t.byOwner : t.byNames[by]}</option>)}
      </select></label>
      {needsTrace(s.by) && <Nearest s={s} />}
      {needsTrace(s.by) && share !== null && <span class="muted" role="status">{t.traceRead(percent(share))}</span>}
    </span>
  );
}

/** Whether blocks without a call stack get a guessed one. */
export function Nearest({s}: {s: State}) {
  const t = useMessages();
  return (
    <label title={t.nearestTitle}>
      <input type="checkbox" data-test="nearest" checked={s.nearest} onChange={event => set({nearest: event.currentTarget.checked})} /> {t.nearest}
    </label>
  );
}

/** Why there are no groups. */
export function NoGroups({s}: {s: State}) {
  const t = useMessages();
  if (s.by === 'stream') return <p class="muted">{t.noStreams}</p>;
  return <p class="muted">{traceShare(s.session, captureAt(s)) === null ? t.noTrace : t.traceUnderWay}</p>;
}
