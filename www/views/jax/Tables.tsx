import type {XplaneReport} from '../../../target/plain/pkg/oomscope';
import {useMessages} from '../../i18n';
import type {Session, State} from '../../state';
import {set} from '../../state';
import {Buffers} from './Buffers';
import {Hosts} from './Hosts';
import {moduleAt} from './Jax';
import {Modules} from './Modules';
import {Allocators, BetweenExecutions, Executions, LiveAtStart} from './Runtime';

/** The tables about a JAX capture. */
export function OfJax({s, session, report}: {s: State; session: Session; report: XplaneReport}) {
  const t = useMessages();
  const module = moduleAt(s, report);
  const chosen = module?.name ?? report.chosen_module ?? null;
  switch (s.tab) {
    case 'buffers': return module === null ? <p class="empty">{t.modulesEmpty}</p> : <Buffers module={module} />;
    case 'live_start': return <LiveAtStart live={report.live_at_last_start} module={chosen ?? ''} />;
    case 'between_runs': return <BetweenExecutions events={report.between_last_two} />;
    case 'executions': return <Executions executions={report.executions} all={session.executions.get(s.place?.capture ?? -1) ?? 0} retries={report.retries} />;
    case 'modules': return <Modules modules={report.modules} chosen={chosen} choose={module => set({module})} />;
    case 'allocators': return <Allocators allocators={report.allocators} />;
    case 'hosts': return <Hosts session={session} place={s.place} />;
    default: return null;
  }
}
