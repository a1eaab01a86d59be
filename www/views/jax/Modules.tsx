import {useMemo} from 'preact/hooks';
import type {ModuleReport} from '../../../target/plain/pkg/oomscope';
import {clip, column} from '../../format';
import {useMessages} from '../../i18n';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';

interface Props {
  modules: ModuleReport[];
  chosen: string | null;
  choose: (module: string) => void;
}

/** Every compiled module with its plan; one is looked at. */
export function Modules({modules, chosen, choose}: Props) {
  const t = useMessages();
  const {unit, show} = column(Math.max(1, ...modules.map(each => each.needed_bytes)));
  const columns = useMemo((): Column<ModuleReport>[] => {
    const bytes = (key: string, name: string, of: (module: ModuleReport) => number | null | undefined): Column<ModuleReport> => bytesColumn(t, {key, name, of, show});
    return [
      {key: 'module', name: t.module, value: module => module.name, cell: module => <code class="link">{clip(module.name)}</code>, attrs: () => ({class: 'path'})},
      bytes('needed_bytes', `${t.planNeeded}, ${unit}`, module => module.needed_bytes),
      bytes('parameters_bytes', t.planParameters1, module => module.parameters.bytes),
      bytes('donated_bytes', t.planDonated1, module => module.parameters.donated_bytes),
      bytes('outputs_bytes', t.planOutputs, module => module.non_aliased_outputs_bytes),
      bytes('temp_bytes', t.planTemp, module => module.temp_bytes),
      bytes('heap_peak_bytes', t.heapPeak, module => module.heap_peak?.bytes),
      countColumn(t, 'executions', t.executionsShort, module => module.executions),
      {
        key: 'launched', name: t.launched, width: 120, value: module => module.executions === 0 ? null : t.launchedWords(module.launched ?? null),
        attrs: module => ({class: module.launched === false ? 'bad' : ''}),
      },
    ];
  }, [t, unit]);
  if (modules.length === 0) return <p class="empty">{t.modulesEmpty}</p>;
  return (
    <Table test="modules" label={t.tabNames.modules} columns={columns} rows={modules} id={module => module.name} current={chosen} class="groups" file="modules"
      rowAttrs={module => ({'data-module': module.name})} choose={module => choose(module.name)} />
  );
}
