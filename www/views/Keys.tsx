import {useMessages} from '../i18n';
import {set} from '../state';
import {Modal} from './Modal';

/** What the keys do. */
export function Keys() {
  const t = useMessages();
  const close = (): void => set({keys: false});
  return (
    <Modal kind="keys" label={t.keysTitle} close={close} light>
      <h2>{t.keysTitle}<button type="button" class="quiet" aria-label={t.close} title={t.close} onClick={close}>×</button></h2>
      <dl>{t.keyList.map(([keys, what]) => [<dt>{keys.split(' ').map(key => <kbd key={key}>{key}</kbd>)}</dt>, <dd>{what}</dd>])}</dl>
    </Modal>
  );
}
