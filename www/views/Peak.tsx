import {useState} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {revealLane} from '../frames';
import {clip, column, exactBytes, int, size} from '../format';
import {useMessages} from '../i18n';
import {ofJax, set} from '../state';
import {memo} from './memo';
import {Folded} from './Folded';
import {OperatorName} from './OperatorName';
import {Swatch} from './Swatch';

const ROWS_FIRST = 6;

/** What filled the memory at its peak: the baseline and every operator, summing to the total. */
export const Peak = memo(function Peak({device}: {device: DeviceSummary}) {
  const t = useMessages();
  const [all, setAll] = useState(false);
  const {peak, lanes} = device;
  const {unit, show} = column(Math.max(peak.total_bytes, Math.abs(peak.baseline_bytes), ...peak.by_operator.slice(0, 1).map(group => group.bytes)));
  const groups = all ? peak.by_operator : peak.by_operator.slice(0, ROWS_FIRST);
  const hidden = peak.by_operator.length - ROWS_FIRST;
  const largest = Math.max(1, peak.baseline_bytes, ...peak.by_operator.slice(0, 1).map(group => group.bytes));
  return (
    <section class="panel at-peak">
      <h2 title={exactBytes(t, peak.total_bytes)}>{t.atPeak(size(peak.total_bytes))}
        <button type="button" class="plain link" data-test="peak-details" title={t.moreAtPeakTitle} onClick={() => set({tab: 'peak'})}>{ofJax(device) ? t.moreOfOwners : t.moreAtPeak}</button></h2>
      <table class="peak">
        <thead>
          <tr><th>{ofJax(device) ? t.owner : t.operator}</th><th class="number">{unit}</th><th class="number">{t.blocks}</th><th class="bar-cell" aria-hidden="true" /></tr>
        </thead>
        <tbody>
          <tr>
            <td title={t.baselineTitle}><span class="swatched"><Swatch hue="baseline" /> {t.baseline}</span></td>
            <td class="number" title={exactBytes(t, peak.baseline_bytes)}>{show(peak.baseline_bytes)}</td>
            <td class="number muted">–</td>
            <Bar share={peak.baseline_bytes / largest} hue="baseline" />
          </tr>
          {groups.map(group => {
            const lane = group.lane ?? null;
            const hue = lane === null ? 12 : lanes[lane]?.hue ?? 12;
            const name = group.name || t.unattributed;
            return (
              <tr key={lane}>
                <td>
                  {lane === null ? <Folded upTo={device.folded?.up_to_bytes ?? 0} /> : <button type="button" class="plain swatched" title={`${clip(t.ownerName(name))}: ${t.showLane}`} onClick={() => revealLane(lane)}>
                    <Swatch hue={hue} /> <span class="name"><OperatorName name={name} /></span>
                  </button>}
                </td>
                <td class="number" title={exactBytes(t, group.bytes)}>{show(group.bytes)}</td>
                <td class="number">{int(t, group.blocks)}</td>
                <Bar share={group.bytes / largest} hue={hue} />
              </tr>
            );
          })}
          {hidden > 0 && (
            <tr><td colSpan={4}><button type="button" class="plain link" aria-expanded={all} onClick={() => setAll(!all)}>{all ? t.fewer : t.more(hidden)}</button></td></tr>
          )}
        </tbody>
        <tfoot>
          <tr class="sum">
            <th scope="row">{t.total}</th>
            <td class="number" data-test="peak-total" data-bytes={peak.total_bytes} title={exactBytes(t, peak.total_bytes)}>{show(peak.total_bytes)}</td>
            <td class="number">{int(t, peak.live_blocks)}</td>
            <td />
          </tr>
          {!ofJax(device) && <Extra name={t.active} bytes={peak.active_bytes} show={show} />}
          <Extra name={t.reserved} bytes={peak.reserved_bytes} show={show} />
        </tfoot>
      </table>
    </section>
  );
});

function Bar({share, hue}: {share: number; hue: number | 'baseline'}) {
  return <td class="bar-cell" aria-hidden="true"><span class={`bar hue-${hue}`} style={{width: `${Math.max(0, Math.min(1, share)) * 100}%`}} /></td>;
}

function Extra({name, bytes, show}: {name: string; bytes: number | null | undefined; show: (bytes: number) => string}) {
  const t = useMessages();
  const known = bytes !== null && bytes !== undefined;
  return (
    <tr class="muted">
      <th scope="row">{name}</th>
      <td class="number" title={known ? exactBytes(t, bytes) : undefined}>{known ? show(bytes) : t.unknown}</td>
      <td /><td />
    </tr>
  );
}
