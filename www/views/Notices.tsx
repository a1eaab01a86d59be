import {clipSentence} from '../format';
import {useMessages} from '../i18n';
import {openAgain} from '../session';
import type {Notice} from '../state';
import {dismiss} from '../state';
import {memo} from './memo';

/** What went wrong, where, and what to do. */
export const Notices = memo(function Notices({notices, failure}: {notices: Notice[]; failure: string | null}) {
  const t = useMessages();
  if (notices.length === 0 && failure === null) return null;
  return (
    <div class="notices">
      {failure !== null && <div class="notice error" role="alert" data-test="message"><p>{clipSentence(t.engineFailed(failure))}</p></div>}
      {notices.map(({id, kind, text, again}) => (
        <div key={id} class={`notice ${kind}`} role="alert" data-test="message">
          <p>{clipSentence(text(t))}</p>
          {again && <button type="button" onClick={openAgain}>{t.openAgain}</button>}
          <button type="button" class="quiet" aria-label={t.close} title={t.close} onClick={() => dismiss(id)}>×</button>
        </div>
      ))}
    </div>
  );
});
