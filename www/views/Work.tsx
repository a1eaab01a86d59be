import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {clip, size, time} from '../format';
import {useMessages} from '../i18n';
import type {State} from '../state';
import {traceShare} from '../panels';
import {captureAt} from '../state';
import {Block} from './Block';
import {Charts} from './Charts';
import {Peak} from './Peak';
import {PeakLines} from './PeakLines';

/** The charts, beside what was alive at the peak and the pinned block. */
export function Work({s, device}: {s: State; device: DeviceSummary}) {
  return (
    <div class="work">
      <Charts s={s} device={device} />
      <Spoken s={s} device={device} />
      <aside class="side">
        <Peak device={device} />
        {s.peakLines !== null && s.pinned === null && <PeakLines answer={s.peakLines} />}
        <Block pinned={s.pinned} detail={s.detail} device={device} tracing={traceShare(s.session, captureAt(s)) !== null} />
      </aside>
    </div>
  );
}

/** What a key has led to, a block or a window, for who does not see the panel. */
function Spoken({s: {pinned, detail, said}, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const told = said !== null ? said(t) : pinned === null || detail === null ? '' : t.blockSpoken(clip(t.ownerName(detail.name || t.unattributed)), size(detail.bytes), time(t, detail.start_ns, device.end_ns));
  return <p class="off-screen" role="status" data-test="spoken">{told}</p>;
}
