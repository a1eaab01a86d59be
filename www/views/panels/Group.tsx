import type {By, DeviceSummary, GroupLabel} from '../../../target/plain/pkg/oomscope';
import {classSize, clip, exactBytes} from '../../format';
import {revealLane} from '../../frames';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {narrow, ofGroup} from '../../narrow';
import {ofJax, set} from '../../state';
import type {Column} from '../../table/model';
import {Folded} from '../Folded';
import {OperatorName} from '../OperatorName';
import {Stack} from '../Stack';
import {Swatch} from '../Swatch';

const isFolded = (label: GroupLabel): label is GroupLabel & {folded_up_to: number} => label.folded_up_to !== null && label.folded_up_to !== undefined;

/** What names a group. */
export function Group({label, by, device}: {label: GroupLabel; by: By; device: DeviceSummary}) {
  const t = useMessages();
  const {text, lane, distinction} = label;
  if (isFolded(label)) return <Folded upTo={label.folded_up_to} />;
  switch (by) {
    case 'operator': return (
      <span class="swatched" title={clip(t.ownerName(text || t.unattributed))}>
        {lane !== null && lane !== undefined && <Swatch hue={device.lanes[lane]?.hue ?? 12} />} <span class="name"><OperatorName name={text || t.unattributed} /></span>
      </span>
    );
    case 'stack':
      if (text === '') return <span class="muted">{t.noStack}</span>;
      return (
        <>
          <code>{clip(text)}</code>
          {distinction !== null && distinction !== undefined && distinction !== text && <small class="muted"><code>{clip(distinction)}</code></small>}
        </>
      );
    case 'user-frame': return text === '' ? <span class="muted">{t.noStack}</span> : <code class="path">{clip(text)}</code>;
    case 'stream': return <span class="path">{clip(text) || t.unknown}</span>;
    case 'size-class': return <span title={exactBytes(t, Number(text))}>≤ {classSize(Number(text))}</span>;
  }
}

/** The column that names the groups. */
export const groupColumn = <R,>(t: Messages, by: By, device: DeviceSummary, of: (row: R) => GroupLabel): Column<R> => ({
  key: by.replaceAll('-', '_'),
  name: by === 'operator' && ofJax(device) ? t.owner : t.byHeadings[by],
  value: row => by === 'stack' && of(row).stack.length > 0 ? of(row).stack.join('; ') : by === 'size-class' ? Number(of(row).text) : of(row).text || null,
  cell: row => <Group label={of(row)} by={by} device={device} />,
  attrs: () => ({class: 'group'}),
});

/** An operator's lane comes into sight when its row is chosen. */
export function chooseGroup({lane}: GroupLabel): void {
  if (lane !== null && lane !== undefined) revealLane(lane);
}

/** What a chosen group can do, and its call stack. */
export function GroupDetail({label, by}: {label: GroupLabel; by: By}) {
  const t = useMessages();
  if (isFolded(label)) return <p class="muted">{t.foldedWhy}</p>;
  const only = ofGroup(by, label);
  return (
    <>
      {label.stack.length > 0 && <Stack frames={label.stack} user={label.user_frame} />}
      <p class="acts">
        <button type="button" class="plain link" data-test="list-blocks" onClick={() => { narrow(only); set({tab: 'blocks'}); }}>{t.listBlocks}</button>
        <button type="button" class="plain link" data-test="only-these" onClick={() => narrow(only)}>{t.onlyThese}</button>
      </p>
    </>
  );
}
