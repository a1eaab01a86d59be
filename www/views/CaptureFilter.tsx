import {clip} from '../format';
import {filterBy} from '../filter';
import {useMessages} from '../i18n';
import type {Filter} from '../state';
import {TextField} from './TextField';

/** Which captures the page offers: by a list of ranks, as on the command line, and by role. */
export function CaptureFilter({roles: all, filter}: {roles: (string | null | undefined)[]; filter: Filter}) {
  const t = useMessages();
  const roles = [...new Set(all.filter(role => role !== null && role !== undefined))].sort();
  return (
    <span class="group-by">
      <TextField text={filter.ranks} label={t.ranks} title={t.ranksTitle} test="filter-ranks" take={ranks => filterBy(ranks, filter.role)} />
      {roles.length > 1 && (
        <label>{t.role} <select data-test="filter-role" value={filter.role ?? ''} onChange={event => filterBy(filter.ranks, event.currentTarget.value || null)}>
          <option value="">{t.allRoles}</option>
          {roles.map(role => <option key={role} value={role}>{clip(role, 60)}</option>)}
        </select></label>
      )}
      {filter.wrong && <span class="bad" role="status">{t.ranksWrong}</span>}
    </span>
  );
}
