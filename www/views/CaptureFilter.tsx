import type {CaptureSummary} from '../../target/plain/pkg/oomscope';
import {filterBy} from '../filter';
import {useMessages} from '../i18n';
import type {Filter} from '../state';

/** Which captures the page offers: by a list of ranks, as on the command line, and by role. */
export function CaptureFilter({captures, filter}: {captures: CaptureSummary[]; filter: Filter}) {
  const t = useMessages();
  const roles = [...new Set(captures.map(capture => capture.role).filter(role => role !== null && role !== undefined))].sort();
  return (
    <span class="group-by">
      <label>{t.ranks} <input class="ranks" data-test="filter-ranks" placeholder="0,2-5" autocomplete="off" spellcheck={false} value={filter.ranks}
        aria-invalid={filter.wrong} title={t.ranksTitle} onInput={event => filterBy(event.currentTarget.value, filter.role)} /></label>
      {roles.length > 1 && (
        <label>{t.role} <select data-test="filter-role" value={filter.role ?? ''} onChange={event => filterBy(filter.ranks, event.currentTarget.value || null)}>
          <option value="">{t.allRoles}</option>
          {roles.map(role => <option key={role} value={role}>{role}</option>)}
        </select></label>
      )}
      {filter.wrong && <span class="bad" role="status">{t.ranksWrong}</span>}
    </span>
  );
}
