import type {By, DeviceSummary, GroupLabel} from '../../../target/plain/pkg/oomscope';
import {classSize, clip, exactBytes} from '../../format';
import {revealLane} from '../../frames';
import {useMessages} from '../../i18n';
import {ofJax} from '../../state';
import {OperatorName} from '../OperatorName';
import {Stack} from '../Stack';
import {Swatch} from '../Swatch';

/** What names a group: an operator leads to its lane, a stack opens. */
export function Group({label, by, device}: {label: GroupLabel; by: By; device: DeviceSummary}) {
  const t = useMessages();
  const {text, lane, stack, user_frame, distinction} = label;
  switch (by) {
    case 'operator': {
      const name = text || t.unattributed;
      if (lane === null || lane === undefined) return <span class="name"><OperatorName name={name} /></span>;
      return (
        <button type="button" class="plain swatched" title={`${clip(t.ownerName(name))}: ${t.showLane}`} onClick={() => revealLane(lane)}>
          <Swatch hue={device.lanes[lane]?.hue ?? 12} /> <span class="name"><OperatorName name={name} /></span>
        </button>
      );
    }
    case 'stack':
      if (stack.length === 0) return <span class="muted">{t.noStack}</span>;
      return (
        <details class="stack-group">
          <summary>
            <code>{clip(text)}</code>
            {distinction !== null && distinction !== undefined && distinction !== text && <small class="muted"><code>{clip(distinction)}</code></small>}
          </summary>
          <Stack frames={stack} user={user_frame} />
        </details>
      );
    case 'user-frame': return text === '' ? <span class="muted">{t.noStack}</span> : <code class="path">{clip(text)}</code>;
    case 'stream': return <span class="path">{text || t.unknown}</span>;
    case 'size-class': return <span title={exactBytes(t, Number(text))}>≤ {classSize(Number(text))}</span>;
  }
}

/** The heading of the groups' column. */
export function useGroupHeading(by: By, device: DeviceSummary): string {
  const t = useMessages();
  return by === 'operator' && ofJax(device) ? t.owner : t.byHeadings[by];
}
