import {classSize} from '../format';
import {useMessages} from '../i18n';

/** What stands for the blocks that were folded. */
export function Folded({upTo}: {upTo: number}) {
  const t = useMessages();
  return <span class="muted" data-test="folded" title={t.foldedWhy}>{t.folded(classSize(upTo))}</span>;
}
