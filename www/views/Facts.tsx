import type {CaptureSummary, Schedule} from '../../target/plain/pkg/oomscope';
import {clip} from '../format';
import type {Messages} from '../i18n';
import {useMessages} from '../i18n';

/** How a capture was made, and what that costs: from profiler_info and profiler_metadata. */
export function Facts({capture}: {capture: CaptureSummary}) {
  const t = useMessages();
  const {facts, torch_npu, cann} = capture;
  const versions = [['torch_npu', torch_npu], ['CANN', cann]].flatMap(([name, version]) => version ? [`${name} ${version}`] : []).join(', ');
  if (!facts && versions === '') return <p class="muted">{t.factsMissing}</p>;
  const rows: [string, string, string?][] = [
    ...versions === '' ? [] : [[t.factVersions, versions] as [string, string]],
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
      ...[...facts.environment, ...facts.distributed].map(({name, value}): [string, string] => [name, value]),
    ],
  ];
  return (
    <div class="table-box">
      <table class="groups" data-test="facts">
        <thead><tr><th>{t.factSetting}</th><th>{t.value}</th><th>{t.factCost}</th></tr></thead>
        <tbody>
          {rows.map(([name, value, cost]) => <tr key={name}><td class="path"><code>{clip(name)}</code></td><td class="path">{clip(value)}</td><td class="muted">{cost ?? ''}</td></tr>)}
        </tbody>
      </table>
    </div>
  );
}

const given = (name: string, value: string | null | undefined, cost?: string): [string, string, string?][] => value ? [[name, value, cost]] : [];

type Toggle = keyof Messages['factCosts'] & ('profile_memory' | 'with_stack' | 'with_modules' | 'record_shapes' | 'with_flops');

function toggle(t: Messages, name: Toggle, on: boolean | null | undefined): [string, string, string?][] {
  return on === null || on === undefined ? [] : [[name, on ? t.on : t.off, t.factCosts[name](on)]];
}

const schedule = (given: Schedule): string =>
  Object.entries(given).filter(([, steps]) => steps !== null && steps !== undefined).map(([name, steps]) => `${name} ${steps}`).join(', ');
