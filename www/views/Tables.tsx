import type {DeviceSummary, StackGroups} from '../../target/plain/pkg/oomscope';
import type {Place, Session, Tab} from '../state';
import {set} from '../state';
import {useMessages} from '../i18n';
import {Captures, reportedOnly} from './Captures';
import {Quality, notesOf} from './Quality';
import {StacksTable} from './StacksTable';
import {memo} from './memo';

interface Props {
  session: Session;
  place: Place | null;
  tab: Tab;
  stacks: StackGroups | null;
  device: DeviceSummary | null;
}

/** The tables below the charts, one at a time. */
export const Tables = memo(function Tables({session, place, tab, stacks, device}: Props) {
  const t = useMessages();
  const notes = notesOf(session);
  const tabs: [Tab, string][] = [
    ['captures', `${t.captures} ${session.captures.length + reportedOnly(session).length}`],
    ['stacks', stacks === null ? t.stacks : `${t.stacks} ${stacks.length}`],
    ['quality', `${t.quality} ${notes.length}`],
  ];
  return (
    <section class="tables">
      <div class="tabs" role="tablist">
        {tabs.map(([each, label]) => (
          <button key={each} type="button" role="tab" id={`tab-${each}`} aria-selected={tab === each} aria-controls="table-panel" data-test={`tab-${each}`}
            onClick={() => set({tab: each})}>{label}</button>
        ))}
      </div>
      <div id="table-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'captures' && <Captures session={session} place={place} />}
        {tab === 'stacks' && <StacksTable stacks={stacks} device={device} />}
        {tab === 'quality' && <Quality notes={notes} />}
      </div>
    </section>
  );
});
