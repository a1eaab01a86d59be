import {useEffect, useRef} from 'preact/hooks';
import {useMessages} from '../i18n';
import {set} from '../state';

/** What the clipboard did not take, selected: the browser's own keys and menu copy it. */
export function ByHand({text}: {text: string}) {
  const t = useMessages();
  const dialog = useRef<HTMLDialogElement>(null);
  const told = useRef<HTMLPreElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    if (told.current === null) return;
    told.current.focus();
    getSelection()?.selectAllChildren(told.current);
  }, [text]);
  const close = (): void => set({byHand: null});
  return (
    <dialog ref={dialog} class="by-hand" data-test="by-hand" aria-label={t.byHandTitle} onClose={close} onClick={event => event.target === dialog.current && close()}>
      <h2>{t.byHandTitle}<button type="button" class="quiet" aria-label={t.close} title={t.close} onClick={close}>×</button></h2>
      <p>{t.byHandWhy}</p>
      <pre ref={told} tabIndex={0}>{text}</pre>
    </dialog>
  );
}
