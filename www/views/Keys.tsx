import {useEffect, useRef} from 'preact/hooks';
import {useMessages} from '../i18n';
import {set} from '../state';

/** What the keys do. */
export function Keys() {
  const t = useMessages();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => set({keys: false});
  return (
    <dialog ref={dialog} class="keys" data-test="keys" aria-label={t.keysTitle} onClose={close} onClick={event => event.target === dialog.current && close()}>
      <h2>{t.keysTitle}<button type="button" class="quiet" aria-label={t.close} title={t.close} onClick={close}>×</button></h2>
      <dl>{t.keyList.map(([keys, what]) => [<dt>{keys.split(' ').map(key => <kbd key={key}>{key}</kbd>)}</dt>, <dd>{what}</dd>])}</dl>
    </dialog>
  );
}
