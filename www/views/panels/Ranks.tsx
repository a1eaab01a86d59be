import type {ComparisonSummary, DeviceSummary, Outlier, RankGroup, RankRow, Spread} from '../../../target/plain/pkg/oomscope';
import {clip, column, exactBytes, int, signedSize, size} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {show} from '../../session';
import type {Filter, Place, Session, State} from '../../state';
import {CaptureFilter} from '../CaptureFilter';
import {OperatorName} from '../OperatorName';
import {Pair} from './Pair';
import {EmptyPanel} from './Panel';

interface PoolOutlier extends Outlier {
  pool: string;
}

interface Props {
  s: State;
  session: Session;
  place: Place | null;
  filter: Filter;
}

const FIGURES = ['peak_bytes', 'baseline_bytes', 'max_reserved_gap_bytes', 'alive_at_end_bytes'] as const;

type Figure = typeof FIGURES[number];

/** All ranks side by side, the worst first; which depart from the others, and by which operators. */
export function Ranks({s, session, place, filter}: Props) {
  const t = useMessages();
  const {comparison} = session;
  if (comparison === null) return <EmptyPanel test="ranks" title={t.tabNames.ranks} text={session.readingSince === null ? t.ranksNone : t.ranksWaiting} />;
  const {ranks, groups} = comparison.comparison;
  const rows = ranks.map((row, place) => ({row, place})).filter(({row}) => filter.compared === null || filter.compared.has(row.capture));
  const outliers = groups.filter(group => !group.across_roles).flatMap(({pool, outliers}) => (outliers ?? []).map(outlier => ({...outlier, pool})));
  const peaks = rows.flatMap(({row}) => row.peak_bytes ?? []);
  const title = rows.length < 2 ? t.ranksOne(rows.length)
    : groups.every(group => group.outliers === null || group.outliers === undefined) ? t.ranksUntested(rows.length, size(least(peaks)), size(most(peaks)))
    : outliers.length > 0 ? t.ranksOutliers(outliers.length, rows.length)
      : t.ranksTitleLine(rows.length, size(least(peaks)), size(most(peaks)));
  return (
    <section class="answers" data-test="panel-ranks">
      <div class="answers-head">
        <h2>{title}</h2>
        {comparison.captures.length > 1 && <CaptureFilter roles={comparison.captures.map(({role}) => role)} filter={filter} />}
      </div>
      {outliers.map(outlier => <OutlierDetails key={outlier.row} outlier={outlier} />)}
      <RanksTable rows={rows} comparison={comparison} outliers={outliers} place={place} session={session} />
      {groups.length > 0 && ranks.length > 1 && <Spreads groups={groups} />}
      {ranks.length > 1 && <p class="muted">{t.outlierRule}</p>}
      <Pair s={s} comparison={comparison} />
    </section>
  );
}

const most = (values: number[]): number => values.reduce((most, value) => Math.max(most, value), 0);
const least = (values: number[]): number => values.reduce((least, value) => Math.min(least, value), values[0] ?? 0);

interface TableProps {
  rows: {row: RankRow; place: number}[];
  comparison: ComparisonSummary;
  outliers: PoolOutlier[];
  place: Place | null;
  session: Session;
}

function RanksTable({rows, comparison, outliers, place: shown, session}: TableProps) {
  const t = useMessages();
  const unit = column(most(rows.map(({row}) => row.peak_bytes ?? 0)));
  const departures = new Map(outliers.map(outlier => [outlier.row, new Set(outlier.departures.map(({figure}) => figure))]));
  return (
    <div class="table-box">
      <table data-test="ranks">
        <thead>
          <tr>
            <th>{t.source}</th><th>{t.role}</th><th class="number">{t.rank}</th><th>{t.device}</th>
            {FIGURES.map(figure => <th key={figure} class="number">{t.figures[figure]}, {unit.unit}</th>)}
            <th class="number">{t.blocks}</th><th class="number">{t.stacksColumn}</th><th class="number">{t.noteCount}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({row, place}) => {
            const capture = comparison.captures[row.capture]?.capture ?? null;
            const device = deviceIndex(session, capture, row);
            const current = shown !== null && capture === shown.capture && device === shown.device;
            return (
              <tr key={place} data-row="rank" class={current ? 'current' : undefined}>
                <td class="path">
                  {capture !== null && device !== null
                    ? <button type="button" class="plain link" aria-current={current} onClick={() => show({capture, device})}>{clip(row.source)}</button>
                    : clip(row.source)}
                  {departures.has(place) && <small class="warn">◆ {t.outlier}</small>}
                </td>
                <td>{row.role ?? ''}</td>
                <td class="number">{row.rank ?? t.unknown}</td>
                <td>{[row.device, row.pool].filter(Boolean).join(' ')}</td>
                {FIGURES.map(figure => <Bytes key={figure} bytes={row[figure]} show={unit.show} departs={departures.get(place)?.has(figure) === true} />)}
                <td class="number">{row.alive_at_end_blocks === null || row.alive_at_end_blocks === undefined ? '–' : int(t, row.alive_at_end_blocks)}</td>
                <td class="number">{stacks(t, row)}</td>
                <td class="number">{int(t, row.warnings)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Bytes({bytes, show, departs}: {bytes: number | null | undefined; show: (bytes: number) => string; departs: boolean}) {
  const t = useMessages();
  if (bytes === null || bytes === undefined) return <td class="number muted">–</td>;
  return <td class={departs ? 'number warn strong' : 'number'} data-bytes={bytes} title={exactBytes(t, bytes)}>{departs ? '◆ ' : ''}{show(bytes)}</td>;
}

function stacks(t: Messages, {stacks_found: found, stacks_none: none}: RankRow): string {
  return found === null || found === undefined ? '–' : `${int(t, found)} / ${int(t, found + (none ?? 0))}`;
}

/** The engine's number of the device that a row tells of. */
function deviceIndex(session: Session, capture: number | null, row: RankRow): number | null {
  const devices: DeviceSummary[] = session.captures.find(each => each.capture === capture)?.devices ?? [];
  const index = devices.findIndex(device => device.device === row.device && device.pool === row.pool);
  return index < 0 ? null : index;
}

/** One that departs: in which figures, and which operators make the difference. */
function OutlierDetails({outlier}: {outlier: PoolOutlier}) {
  const t = useMessages();
  const {source, role, rank, device, pool, departures, by_operator} = outlier;
  const name = [rank === null || rank === undefined ? t.rankUnknown : t.rankName(rank), role, `${device} ${pool}`].filter(Boolean).join(' · ');
  const {unit, show} = column(most(by_operator.flatMap(({bytes, median_bytes}) => [bytes, median_bytes])));
  return (
    <details class="outlier" data-test="outlier">
      <summary title={source}>
        <strong class="warn">◆ {clip(name)}</strong> {departures.map(({figure, value, median, difference}) => t.departs(t.figures[figure], size(value), size(median), signedSize(difference))).join(' · ')}
      </summary>
      <div class="table-box">
        <table class="groups">
          <thead><tr><th>{t.operator}</th><th class="number">{t.difference}, {unit}</th><th class="number">{t.here}, {unit}</th><th class="number">{t.median}, {unit}</th></tr></thead>
          <tbody>
            {by_operator.map(({name, bytes, median_bytes, difference_bytes}) => (
              <tr key={name}>
                <td class="group"><span class="name"><OperatorName name={name || t.unattributed} /></span></td>
                <td class="number" title={exactBytes(t, difference_bytes)}>{difference_bytes < 0 ? '−' : '+'}{show(Math.abs(difference_bytes))}</td>
                <td class="number" title={exactBytes(t, bytes)}>{show(bytes)}</td>
                <td class="number" title={exactBytes(t, median_bytes)}>{show(median_bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** How each figure is spread over ranks of one role, and over all of them. */
function Spreads({groups}: {groups: RankGroup[]}) {
  const t = useMessages();
  const figure = (group: RankGroup, figure: Figure): Spread | null => group[figure] ?? null;
  const {unit, show} = column(most(groups.flatMap(group => FIGURES.map(each => figure(group, each)?.max ?? 0))));
  return (
    <div class="table-box">
      <table data-test="spreads">
        <thead>
          <tr><th>{t.role}</th><th>{t.pool}</th><th class="number">{t.members}</th>{FIGURES.map(each => <th key={each} class="number" title={t.spreadTitle}>{t.figures[each]}, {unit}<br /><small>{t.spreadShort}</small></th>)}</tr>
        </thead>
        <tbody>
          {groups.map((group, at) => (
            <tr key={at}>
              <td>{group.across_roles ? t.allRoles : group.role ?? t.unknown}</td>
              <td>{group.pool}</td>
              <td class="number">{int(t, group.members)}</td>
              {FIGURES.map(each => {
                const spread = figure(group, each);
                return spread === null ? <td key={each} class="number muted">–</td> : (
                  <td key={each} class="number" title={[spread.min, spread.median, spread.max].map(bytes => exactBytes(t, bytes)).join(' · ')}>
                    {[spread.min, spread.median, spread.max].map(show).join(' · ')}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
