import {useMemo} from 'preact/hooks';
import type {CaptureSummary, Schedule} from '../../target/plain/pkg/oomscope';
import {clip} from '../format';
import type {Messages} from '../i18n';
import {useMessages} from '../i18n';
import type {Column} from '../table/model';
import {Table} from '../table/Table';

/** How a capture was made, and what that costs: from profiler_info and profiler_metadata. */
export function Facts({capture}: {capture: CaptureSummary}) {
  const t = useMessages();
  const {facts, torch_npu, cann} = capture;
  const versions = [['torch_npu', torch_npu], ['CANN', cann]].flatMap(([name, version]) => version ? [`${name} ${version}`] : []).join(', ');
  if (!facts && versions === '') return <p class="muted">{t.factsMissing}</p>;
  const rows: Setting[] = [
    ...versions === '' ? [] : [[t.factVersions, versions] as Setting],
    ...!facts ? [] : [
      ...given('profiler_level', facts.profiler_level),
      ...given('activities', facts.activities.join(', ')),
      ...toggle(t, 'profile_memory', facts.profile_memory),
      ...toggle(t, 'with_stack', facts.with_stack),
      ...toggle(t, 'with_modules', facts.with_modules),
      ...toggle(t, 'record_shapes', facts.record_shapes),
      ...toggle(t, 'with_flops', facts.with_flops),
      ...given('schedule', facts.schedule ? schedule(facts.schedule) : '', t.factCosts.schedule),
      ...given('export_type', facts.export_type.join(', ')),
      ...[...facts.environment, ...facts.distributed].map(({name, value}): Setting => [name, value]),
    ],
  ];
  return <Settings rows={rows} />;
}

function Settings({rows}: {rows: Setting[]}) {
  const t = useMessages();
  const columns = useMemo((): Column<Setting>[] => [
    {key: 'setting', name: t.factSetting, value: ([name]) => name, cell: ([name]) => <code>{clip(name)}</code>, attrs: () => ({class: 'path'})},
    {key: 'value', name: t.value, value: ([, value]) => value, cell: ([, value]) => clip(value), attrs: () => ({class: 'path'})},
    {key: 'cost', name: t.factCost, value: ([, , cost]) => cost, attrs: () => ({class: 'muted'})},
  ], [t]);
  return <Table test="facts" label={t.factSetting} columns={columns} rows={rows} id={([name]) => name} class="groups" file="facts" />;
}

/** Its name, its value, and what that costs. */
type Setting = [string, string, string?];

const given = (name: string, value: string | null | undefined, cost?: string): Setting[] => value ? [[name, value, cost]] : [];

type Toggle = keyof Messages['factCosts'] & ('profile_memory' | 'with_stack' | 'with_modules' | 'record_shapes' | 'with_flops');

function toggle(t: Messages, name: Toggle, on: boolean | null | undefined): Setting[] {
  return on === null || on === undefined ? [] : [[name, on ? t.on : t.off, t.factCosts[name](on)]];
}

const schedule = (given: Schedule): string =>
  Object.entries(given).filter(([, steps]) => steps !== null && steps !== undefined).map(([name, steps]) => `${name} ${steps}`).join(', ');
