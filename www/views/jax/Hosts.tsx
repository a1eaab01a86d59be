import type {Diagnosis} from '../../../target/plain/pkg/oomscope';
import {clip, int, size} from '../../format';
import {useMessages} from '../../i18n';
import {jaxWorstFirst, show} from '../../session';
import type {Place, Session} from '../../state';

const gravest = (diagnosis: Diagnosis[]): Diagnosis | null => diagnosis[0] ?? null;

/** Every JAX capture that was opened, a host each as a rule, the worst first. */
export function Hosts({session, place}: {session: Session; place: Place | null}) {
  const t = useMessages();
  return (
    <div class="table-box">
      <table class="groups" data-test="hosts">
        <thead><tr><th>{t.source}</th><th>{t.host}</th><th>{t.module}</th><th class="number">{t.planNeeded}</th><th class="number">{t.executionsShort}</th><th>{t.worstVerdict}</th><th>jax</th><th>jaxlib</th></tr></thead>
        <tbody>
          {jaxWorstFirst(session).map(([capture, report]) => {
            const module = report.modules.find(({name}) => name === report.chosen_module);
            const verdict = gravest(report.diagnosis);
            return (
              <tr key={capture} class={place?.capture === capture ? 'current' : ''}>
                <td class="path"><button type="button" class="plain link" aria-current={place?.capture === capture} onClick={() => show({capture, device: 0})}>{clip(report.source)}</button></td>
                <td>{report.host ?? t.unknown}</td>
                <td class="path"><code>{clip(report.chosen_module ?? '')}</code></td>
                <td class="number">{module === undefined ? '–' : size(module.needed_bytes)}</td>
                <td class="number">{int(t, session.executions.get(capture) ?? report.executions.length)}</td>
                <td class={`text ${verdict?.severity === 'error' ? 'bad' : verdict?.severity === 'warning' ? 'warn' : ''}`}>{verdict === null ? t.noVerdict : t.verdict(verdict)}</td>
                <td>{report.versions.jax ?? t.unknown}</td>
                <td>{report.versions.jaxlib ?? t.unknown}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
