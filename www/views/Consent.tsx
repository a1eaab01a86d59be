import {exactBytes, size} from '../format';
import {useMessages} from '../i18n';
import type {Asked} from '../state';
import {Modal} from './Modal';

/** Another page wants to open files here, and is not on the list of those that may. */
export function Consent({asked, replaces}: {asked: Asked; replaces: boolean}) {
  const t = useMessages();
  const {origin, files, bytes, answer} = asked;
  return (
    <Modal kind="consent" label={t.consentTitle} close={() => answer(false)}>
      <h2>{t.consentTitle}</h2>
      <p>{origin === null ? t.consentNameless : <strong class="path" data-test="consent-origin">{origin}</strong>}</p>
      <p title={exactBytes(t, bytes)}>{t.consentWhat(files, size(bytes))}</p>
      <p class="muted">{replaces && t.consentReplaces} {t.consentBack}</p>
      <p class="acts">
        <button type="button" data-test="consent-no" onClick={() => answer(false)}>{t.consentNo}</button>
        <button type="button" class="main" data-test="consent-yes" onClick={() => answer(true)}>{t.consentYes}</button>
      </p>
    </Modal>
  );
}
