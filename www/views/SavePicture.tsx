import {useMessages} from '../i18n';
import type {Chart} from '../pictures';
import {savePicture} from '../pictures';
import {Menu} from './Menu';

/** Saves a chart as it is seen. */
export function SavePicture({chart}: {chart: Chart}) {
  const t = useMessages();
  return (
    <span class="save-picture">
      <Menu label={t.picture} title={t.pictureTitle} test={`picture-${chart}`} acts={(['png', 'svg'] as const).map(kind => ({
        label: t.pictureKinds[kind], act: () => void savePicture(chart, kind), test: `picture-${chart}-${kind}`,
      }))} />
    </span>
  );
}
