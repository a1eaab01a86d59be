import {useMemo} from 'preact/hooks';
import type {Diagnosis, XplaneReport} from '../../../target/plain/pkg/oomscope';
import {clip, exactBytes, size} from '../../format';
import {useMessages} from '../../i18n';
import {jaxWorstFirst, show} from '../../place';
import type {Place, Session} from '../../state';
import {countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';

interface Host {
  capture: number;
  report: XplaneReport;
  /** What its chosen module needs. */
  needed: number | null;
  verdict: Diagnosis | null;
}

/** Every JAX capture that was opened, a host each as a rule, the worst first. */
export function Hosts({session, place}: {session: Session; place: Place | null}) {
  const t = useMessages();
  const {jax, executions} = session;
  const rows = useMemo(() => jaxWorstFirst(session).map(([capture, report]): Host => {
    const module = report.modules.find(({name}) => name === report.chosen_module);
    return {capture, report, needed: module?.needed_bytes ?? null, verdict: report.diagnosis[0] ?? null};
  }), [jax]);
  const columns = useMemo((): Column<Host>[] => [
    {key: 'capture', name: t.source, value: ({report}) => report.source, cell: ({report}) => <span class="link">{clip(report.source)}</span>, attrs: () => ({class: 'path'})},
    {key: 'host', name: t.host, value: ({report}) => report.host, cell: ({report}) => report.host ?? t.unknown},
    {key: 'module', name: t.module, value: ({report}) => report.chosen_module, cell: ({report}) => <code>{clip(report.chosen_module ?? '')}</code>, attrs: () => ({class: 'path'})},
    {key: 'needed_bytes', name: t.planNeeded, number: true, width: 104, value: ({needed}) => needed, cell: ({needed}) => needed === null ? '–' : size(needed), attrs: ({needed}) => needed === null ? {} : {title: exactBytes(t, needed)}},
    countColumn(t, 'executions', t.executionsShort, ({capture, report}) => executions.get(capture) ?? report.executions.length),
    {
      key: 'verdict', name: t.worstVerdict, width: 320, value: ({verdict}) => verdict === null ? null : t.verdict(verdict), cell: ({verdict}) => verdict === null ? t.noVerdict : t.verdict(verdict),
      attrs: ({verdict}) => ({class: `text ${verdict?.severity === 'error' ? 'bad' : verdict?.severity === 'warning' ? 'warn' : ''}`}),
    },
    {key: 'jax', name: 'jax', width: 90, value: ({report}) => report.versions.jax, cell: ({report}) => report.versions.jax ?? t.unknown},
    {key: 'jaxlib', name: 'jaxlib', width: 90, value: ({report}) => report.versions.jaxlib, cell: ({report}) => report.versions.jaxlib ?? t.unknown},
  ], [t, executions]);
  return (
    <Table test="hosts" label={t.tabNames.hosts} columns={columns} rows={rows} id={({capture}) => capture} current={place?.capture ?? null} class="groups" file="hosts"
      choose={({capture}) => show({capture, device: 0})} />
  );
}
