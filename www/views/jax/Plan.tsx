import type {ModuleReport} from '../../../target/plain/pkg/oomscope';
import {exactBytes, size} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {SavePicture} from '../SavePicture';

interface Part {
  key: string;
  name: string;
  bytes: number;
}

function partsOf(t: Messages, {parameters, non_aliased_outputs_bytes, constants_bytes, temp_bytes}: ModuleReport): Part[] {
  return [
    {key: 'donated', name: t.planDonated, bytes: parameters.donated_bytes},
    {key: 'kept', name: t.planNotDonated, bytes: parameters.bytes - parameters.donated_bytes},
    {key: 'outputs', name: t.planOutputs, bytes: non_aliased_outputs_bytes},
    {key: 'constants', name: t.planConstants, bytes: constants_bytes},
    {key: 'temp', name: t.planTemp, bytes: temp_bytes},
  ];
}

/** What XLA plans to need, part by part, as a bar against what there is. */
export function Plan({module, capacity}: {module: ModuleReport; capacity: number | null}) {
  const t = useMessages();
  const {needed_bytes: needed, parameters} = module;
  const parts = partsOf(t, module);
  const scale = Math.max(needed, capacity ?? 0, 1);
  const tooMuch = capacity !== null && needed > capacity;
  return (
    <section class="panel plan" data-test="plan">
      <h2>{t.planTitle(size(needed), capacity === null ? null : size(capacity))}</h2>
      <SavePicture chart="plan" />
      <div class="plan-bar" role="img" aria-label={parts.map(({name, bytes}) => `${name} ${size(bytes)}`).join(', ')}>
        {parts.filter(part => part.bytes > 0).map(({key, name, bytes}) => (
          <div key={key} class={`plan-part part-${key}`} style={{width: `${bytes / scale * 100}%`}} title={`${name}: ${exactBytes(t, bytes)} (${t.bases['read']})`} />
        ))}
        {capacity !== null && (
          <div class={`plan-capacity ${tooMuch ? 'bad' : ''}`} style={{insetInlineStart: `${capacity / scale * 100}%`}} title={`${t.capacity}: ${exactBytes(t, capacity)} (${t.bases['measured']})`} />
        )}
      </div>
      <table class="groups plan-parts">
        <tbody>
          {parts.map(({key, name, bytes}) => (
            <tr key={key} class={bytes === 0 ? 'muted' : ''}>
              <td><span class={`plan-key part-${key}`} aria-hidden="true" /> {name}</td>
              <td class="number" data-part={key} data-bytes={bytes} title={exactBytes(t, bytes)}>{size(bytes)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr><th>{t.planNeeded}</th><td class="number strong" data-test="plan-needed" data-bytes={needed} title={exactBytes(t, needed)}>{size(needed)}</td></tr>
          {capacity !== null && <tr><th>{t.capacity} <small class="muted">{t.bases['measured']}</small></th><td class={`number ${tooMuch ? 'bad' : ''}`} title={exactBytes(t, capacity)}>{size(capacity)}</td></tr>}
        </tfoot>
      </table>
      <p class="muted plan-notes">
        {t.planParameters(parameters.count, parameters.donated_count)}
        {module.thread_local_bytes > 0 && ` ${t.planThreadLocal(size(module.thread_local_bytes))}`}
        {module.other_spaces.map(({memory_space, bytes}) => ` ${t.planOtherSpace(memory_space, size(bytes))}`).join('')}
        {module.xla_rematerialized > 0 && ` ${t.planRemat(module.xla_rematerialized)}`}
      </p>
      <details class="terms">
        <summary>{t.termsTitle}</summary>
        <ul>{t.terms.map(term => <li key={term}>{term}</li>)}</ul>
      </details>
    </section>
  );
}
