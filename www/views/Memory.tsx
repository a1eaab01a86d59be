import {size} from '../format';
import {useMessages} from '../i18n';
import {bytesOfBudget, chosenBudget} from '../memory';
import {set} from '../state';
import {usePopup} from './Menu';
import {TextField} from './TextField';
import {memo} from './memo';

/** How much memory captures take and may take; behind it, the field that changes that. */
export const Memory = memo(function Memory({used, budget}: {used: number | null; budget: number}) {
  const t = useMessages();
  const {popup} = usePopup();
  const take = (typed: string): boolean => {
    const chosen = chosenBudget(typed);
    if (chosen !== null) set({memoryBudget: chosen});
    return chosen !== null;
  };
  const most = size(bytesOfBudget(budget));
  return (
    <details class="menu memory" {...popup}>
      <summary data-test="memory" data-used={used ?? undefined} data-budget={bytesOfBudget(budget)} title={t.memory.why}>{used === null ? t.memory.upTo(most) : t.memory.of(size(used), most)}</summary>
      <div class="menu-list">
        <p class="amount"><TextField text={String(budget)} label={t.memory.field} unit="MiB" title={t.memory.why} test="memory-budget" take={take} /> MiB</p>
        <p class="muted">{t.memory.why}</p>
      </div>
    </details>
  );
});
