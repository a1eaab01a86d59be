import type {LiveAnswer} from '../../target/plain/pkg/oomscope';
import {shortFrame} from '../flame';
import {clip, column, exactBytes, int} from '../format';
import {useMessages} from '../i18n';
import {set} from '../state';
import {memo} from './memo';

/** The lines that ask for most of what is alive at the peak. */
export const PeakLines = memo(function PeakLines({answer}: {answer: LiveAnswer}) {
  const t = useMessages();
  const groups = answer.groups ?? [];
  const [largest] = groups;
  if (largest === undefined) return null;
  const {unit, show} = column(largest.bytes);
  return (
    <section class="panel peak-lines" data-test="peak-lines">
      <h2>{t.peakLines}
        <button type="button" class="plain link" title={t.moreAtPeakTitle} onClick={() => set({tab: 'peak', by: 'user-frame'})}>{t.allOfThem}</button></h2>
      <table class="peak">
        <thead>
          <tr><th>{t.byHeadings['user-frame']}</th><th class="number">{unit}</th><th class="number">{t.blocks}</th></tr>
        </thead>
        <tbody>
          {groups.map(({label, bytes, blocks}) => (
            <tr key={label.number}>
              <td>{label.text === '' ? <span class="muted">{t.noStack}</span> : <code title={clip(label.text)}>{clip(shortFrame(label.text))}</code>}</td>
              <td class="number" title={exactBytes(t, bytes)}>{show(bytes)}</td>
              <td class="number">{int(t, blocks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
});
