import {useLayoutEffect, useRef} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {useMessages} from '../i18n';
import type {Session, State, Tab} from '../state';
import {OF_JAX, ROWS_AT_FIRST, jaxAt, set} from '../state';
import {Captures, reportedOnly} from './Captures';
import {AtCursor, AtEnd, AtPeak} from './panels/Live';
import {Between} from './panels/Between';
import {Growth} from './panels/Growth';
import {Ranks} from './panels/Ranks';
import {Reserve} from './panels/Reserve';
import {Sizes} from './panels/Sizes';
import {Top} from './panels/Top';
import {Quality, notesOf} from './Quality';
import {OfJax} from './jax/Tables';

interface Props {
  s: State;
  session: Session;
  device: DeviceSummary | null;
}

/** Those about the device on the charts. */
const OF_DEVICE: Tab[] = ['cursor', 'peak', 'between', 'end', 'growth', 'top', 'sizes', 'reserve'];

/** Of these, those about an allocator of JAX: it has no steps and no stacks. */
const OF_ALLOCATOR: Tab[] = ['cursor', 'peak', 'between', 'end', 'top', 'sizes'];

/** The tables below the charts, one at a time. */
export function Tables({s, session, device}: Props) {
  const t = useMessages();
  const strip = useRef<HTMLDivElement>(null);
  const {tab} = s;
  const notes = notesOf(session);
  const counts: Partial<Record<Tab, number>> = {captures: session.captures.length + reportedOnly(session).length, quality: notes.length};
  const jax = jaxAt(s);
  const ofDevice = device === null ? [] : jax === null ? OF_DEVICE : OF_ALLOCATOR;
  const ofJax = jax === null ? [] : [...OF_JAX].filter(each => each !== 'hosts' || session.jax.size > 1);
  const tabs: Tab[] = jax === null ? [...ofDevice, 'ranks', 'captures', 'quality'] : [...ofJax, ...ofDevice, 'captures', 'quality'];
  // On a narrow screen the strip scrolls: the open tab is in sight.
  useLayoutEffect(() => {
    const box = strip.current;
    const open = box?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (box !== null && open) box.scrollLeft = open.offsetLeft - box.offsetLeft - (box.clientWidth - open.offsetWidth) / 2;
  }, [tab]);
  return (
    <section class="tables">
      <div class="tabs" role="tablist" ref={strip}>
        {tabs.map(each => (
          <button key={each} type="button" role="tab" id={`tab-${each}`} aria-selected={tab === each} aria-controls="table-panel" data-test={`tab-${each}`}
            onClick={() => set({tab: each, rows: ROWS_AT_FIRST, panelFailure: null})}>{t.tabNames[each]}{counts[each] !== undefined && ` ${counts[each]}`}</button>
        ))}
      </div>
      <div id="table-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'captures' && <Captures session={session} place={s.place} filter={s.filter} />}
        {jax !== null && <OfJax s={s} session={session} report={jax} />}
        {device !== null && <OfDevice s={s} device={device} />}
        {tab === 'ranks' && <Ranks s={s} session={session} place={s.place} filter={s.filter} />}
        {tab === 'quality' && <Quality session={session} place={s.place} />}
      </div>
    </section>
  );
}

function OfDevice({s, device}: {s: State; device: DeviceSummary}) {
  switch (s.tab) {
    case 'cursor': return <AtCursor s={s} device={device} />;
    case 'peak': return <AtPeak s={s} device={device} />;
    case 'between': return <Between s={s} device={device} />;
    case 'end': return <AtEnd s={s} device={device} />;
    case 'growth': return <Growth s={s} device={device} />;
    case 'top': return <Top s={s} device={device} />;
    case 'sizes': return <Sizes s={s} />;
    case 'reserve': return <Reserve s={s} device={device} />;
    default: return null;
  }
}
