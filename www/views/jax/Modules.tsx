import type {ModuleReport} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, int} from '../../format';
import {useMessages} from '../../i18n';

interface Props {
  modules: ModuleReport[];
  chosen: string | null;
  choose: (module: string) => void;
}

/** Every compiled module with its plan; one is looked at. */
export function Modules({modules, chosen, choose}: Props) {
  const t = useMessages();
  if (modules.length === 0) return <p class="empty">{t.modulesEmpty}</p>;
  const unit = column(Math.max(1, ...modules.map(each => each.needed_bytes)));
  const bytes = (value: number) => <td class="number" title={exactBytes(t, value)}>{unit.show(value)}</td>;
  return (
    <div class="table-box">
      <table class="groups" data-test="modules">
        <thead>
          <tr><th>{t.module}</th><th class="number">{t.planNeeded}, {unit.unit}</th><th class="number">{t.planParameters1}</th><th class="number">{t.planDonated1}</th>
            <th class="number">{t.planOutputs}</th><th class="number">{t.planTemp}</th><th class="number">{t.heapPeak}</th><th class="number">{t.executionsShort}</th><th>{t.launched}</th></tr>
        </thead>
        <tbody>
          {modules.map(module => (
            <tr key={module.name} class={module.name === chosen ? 'current' : ''}>
              <td class="path"><button type="button" class="plain link" aria-current={module.name === chosen} onClick={() => choose(module.name)}><code>{clip(module.name)}</code></button></td>
              {bytes(module.needed_bytes)}{bytes(module.parameters.bytes)}{bytes(module.parameters.donated_bytes)}{bytes(module.non_aliased_outputs_bytes)}{bytes(module.temp_bytes)}
              {module.heap_peak === null || module.heap_peak === undefined ? <td class="number">–</td> : bytes(module.heap_peak.bytes)}
              <td class="number">{int(t, module.executions)}</td>
              <td class={module.launched === false ? 'bad' : ''}>{module.executions === 0 ? '' : t.launchedWords(module.launched ?? null)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
