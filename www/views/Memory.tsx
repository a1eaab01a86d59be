import {useRef} from 'preact/hooks';
import {size} from '../format';
import {useMessages} from '../i18n';
import {LEAST, MOST, bytesOfBudget, chosenBudget} from '../memory';
import {set} from '../state';
import {memo} from './memo';

/** How much memory captures take and may take; behind it, the field that changes that. */
export const Memory = memo(function Memory({used, budget}: {used: number | null; budget: number}) {
  const t = useMessages();
  const details = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (details.current !== null) details.current.open = false;
  };
  const left = (event: FocusEvent): void => {
    if (!details.current?.contains(event.relatedTarget as Node | null)) close();
  };
  const take = (field: HTMLInputElement): void => {
    const chosen = chosenBudget(field.value);
    field.value = String(chosen ?? budget);
    if (chosen !== null) set({memoryBudget: chosen});
  };
  const most = size(bytesOfBudget(budget));
  return (
    <details class="menu memory" ref={details} onFocusOut={left} onKeyDown={event => event.key === 'Escape' && close()}>
      <summary data-test="memory" data-used={used ?? undefined} data-budget={bytesOfBudget(budget)} title={t.memory.why}>{used === null ? t.memory.upTo(most) : t.memory.of(size(used), most)}</summary>
      <div class="menu-list">
        <label>{t.memory.field} <input type="number" data-test="memory-budget" min={LEAST} max={MOST} step="1" value={budget}
          onChange={event => take(event.currentTarget)} /> MiB</label>
        <p class="muted">{t.memory.why}</p>
      </div>
    </details>
  );
});
