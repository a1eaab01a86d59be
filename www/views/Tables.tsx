import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import type {Session, State, Tab} from '../state';
import {OF_JAX, isNarrowed, jaxAt, reportedOnly} from '../state';
import {Captures} from './Captures';
import {AtCursor, AtEnd, AtPeak} from './panels/Live';
import {Chips} from './Chips';
import {Between} from './panels/Between';
import {Blocks} from './panels/Blocks';
import {Flame} from './panels/Flame';
import {Growth} from './panels/Growth';
import {Ranks} from './panels/Ranks';
import {Reserve} from './panels/Reserve';
import {Sizes} from './panels/Sizes';
import {Top} from './panels/Top';
import {Quality, notesOf} from './Quality';
import {OfJax} from './jax/Tables';
import {Tabs} from './Tabs';

interface Props {
  s: State;
  session: Session;
  device: DeviceSummary | null;
}

/** Those about the device on the charts. */
const OF_DEVICE: Tab[] = ['cursor', 'peak', 'between', 'end', 'growth', 'top', 'sizes', 'blocks', 'flame', 'reserve'];

/** Those that count blocks, as the filter has it. */
const NARROWED: ReadonlySet<Tab> = new Set(['cursor', 'peak', 'between', 'end', 'growth', 'top', 'sizes', 'blocks', 'flame']);

/** Of these, those about an allocator of JAX: it has no steps and no stacks. */
const OF_ALLOCATOR: Tab[] = ['cursor', 'peak', 'between', 'end', 'top', 'sizes', 'blocks'];

/** The tables below the charts, one at a time. */
export function Tables({s, session, device}: Props) {
  const {tab} = s;
  const notes = notesOf(session);
  const counts: Partial<Record<Tab, number>> = {captures: session.captures.length + reportedOnly(session).length, quality: notes.length};
  const jax = jaxAt(s);
  const ofDevice = device === null ? [] : jax === null ? OF_DEVICE : OF_ALLOCATOR;
  const ofJax = jax === null ? [] : [...OF_JAX].filter(each => each !== 'hosts' || session.jax.size > 1);
  const tabs: Tab[] = jax === null ? [...ofDevice, 'ranks', 'captures', 'quality'] : [...ofJax, ...ofDevice, 'captures', 'quality'];
  return (
    <section class="tables">
      <Tabs tabs={tabs} open={tab} counts={counts} />
      <div id="table-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {(NARROWED.has(tab) || isNarrowed(s)) && <Chips s={s} />}
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
    case 'blocks': return <Blocks s={s} device={device} />;
    case 'flame': return <Flame s={s} device={device} />;
    case 'reserve': return <Reserve s={s} device={device} />;
    default: return null;
  }
}
