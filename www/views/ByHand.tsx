import {useEffect, useRef} from 'preact/hooks';
import {useMessages} from '../i18n';
import {set} from '../state';
import {Modal} from './Modal';

/** What the clipboard did not take, selected: the browser's own keys and menu copy it. */
export function ByHand({text}: {text: string}) {
  const t = useMessages();
  const told = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (told.current === null) return;
    told.current.focus();
    getSelection()?.selectAllChildren(told.current);
  }, [text]);
  const close = (): void => set({byHand: null});
  return (
    <Modal kind="by-hand" label={t.byHandTitle} close={close} light>
      <h2>{t.byHandTitle}<button type="button" class="quiet" aria-label={t.close} title={t.close} onClick={close}>×</button></h2>
      <p>{t.byHandWhy}</p>
      <pre ref={told} tabIndex={0}>{text}</pre>
    </Modal>
  );
}
