import {useEffect, useRef} from 'preact/hooks';
import {useMessages} from '../i18n';
import {set} from '../state';

/** What the clipboard did not take, selected: the browser's own keys and menu copy it. */
export function ByHand({text}: {text: string}) {
  const t = useMessages();
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    field.current?.select();
  }, [text]);
  const close = (): void => set({byHand: null});
  return (
    <dialog ref={dialog} class="by-hand" data-test="by-hand" aria-label={t.byHandTitle} onClose={close} onClick={event => event.target === dialog.current && close()}>
      <h2>{t.byHandTitle}<button type="button" class="quiet" aria-label={t.close} title={t.close} onClick={close}>×</button></h2>
      <p>{t.byHandWhy}</p>
      <textarea ref={field} readOnly rows={12} value={text} aria-label={t.byHandTitle} />
    </dialog>
  );
}
