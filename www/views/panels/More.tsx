import {useMessages} from '../../i18n';
import type {State} from '../../state';
import {set} from '../../state';

const FACTOR = 10;

/** Asks for more rows. */
export function More({rest, s}: {rest: number; s: State}) {
  const t = useMessages();
  return <button type="button" class="plain link" data-test="more-rows" onClick={() => set({rows: s.rows * FACTOR})}>{t.more(rest)}</button>;
}
