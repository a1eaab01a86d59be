import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import type {State} from '../state';
import {traceShare} from '../panels';
import {captureAt} from '../state';
import {Block} from './Block';
import {Charts} from './Charts';
import {Peak} from './Peak';

/** The charts, beside what was alive at the peak and the pinned block. */
export function Work({s, device}: {s: State; device: DeviceSummary}) {
  return (
    <div class="work">
      <Charts s={s} device={device} />
      <aside class="side">
        <Peak device={device} />
        <Block pinned={s.pinned} detail={s.detail} device={device} tracing={traceShare(s.session, captureAt(s)) !== null} />
      </aside>
    </div>
  );
}
