import {size} from '../format';
import {useMessages} from '../i18n';
import type {Saving} from '../saved';
import {beginSaving, endSaving, savePage, savedBytes} from '../saved';
import {Modal} from './Modal';
import {memo} from './memo';

/** What goes along with a saved page, and its size before it is saved. */
export const SaveHtml = memo(function SaveHtml({saving}: {saving: Saving}) {
  const t = useMessages();
  const {packed} = saving;
  return (
    <Modal kind="save-html" label={t.saveHtml.title} close={endSaving}>
      <h2>{t.saveHtml.title}</h2>
      <p>{t.saveHtml.what}</p>
      <label><input type="checkbox" data-test="save-stacks" checked={saving.stacks} onChange={event => beginSaving({stacks: event.currentTarget.checked})} /> {t.saveHtml.stacks}</label>
      <label><input type="checkbox" data-test="save-folders" checked={saving.folders} onChange={event => beginSaving({folders: event.currentTarget.checked})} /> {t.saveHtml.folders}</label>
      <p class="muted small" data-test="save-stays">{t.saveHtml.stays}</p>
      <p role="status" data-test="save-size">{packed === null ? t.saveHtml.packing : t.saveHtml.size(size(savedBytes(packed)))}</p>
      <div class="acts">
        <button type="button" onClick={endSaving}>{t.saveHtml.cancel}</button>
        <button type="button" class="main" data-test="save-now" disabled={packed === null} onClick={() => void savePage()}>{t.saveHtml.save}</button>
      </div>
    </Modal>
  );
});
