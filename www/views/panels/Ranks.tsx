import {useMemo} from 'preact/hooks';
import type {ComparisonSummary, DeviceSummary, Outlier, RankGroup, RankRow, Spread} from '../../../target/plain/pkg/oomscope';
import {clip, column, int, signedSize, size} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {show} from '../../place';
import type {Filter, Place, Session, State} from '../../state';
import {bytesColumn, countColumn} from '../../table/cells';
import type {Column} from '../../table/model';
import {Table} from '../../table/Table';
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
  rows: Placed[];
  comparison: ComparisonSummary;
  outliers: PoolOutlier[];
  place: Place | null;
  session: Session;
}

/** A row and its place in the comparison. */
interface Placed {
  row: RankRow;
  place: number;
}

function RanksTable({rows, comparison, outliers, place: shown, session}: TableProps) {
  const t = useMessages();
  const {unit, show: bytes} = column(most(rows.map(({row}) => row.peak_bytes ?? 0)));
  const departures = useMemo(() => new Map(outliers.map(outlier => [outlier.row, new Set(outlier.departures.map(({figure}) => figure))])), [comparison]);
  const where = ({row}: Placed): Place | null => {
    const capture = comparison.captures[row.capture]?.capture ?? null;
    const device = deviceIndex(session, capture, row);
    return capture === null || device === null ? null : {capture, device};
  };
  const columns = useMemo((): Column<Placed>[] => [
    {
      key: 'capture', name: t.source, value: ({row}) => row.source, attrs: () => ({class: 'path'}),
      cell: each => <>{where(each) === null ? clip(each.row.source) : <span class="link">{clip(each.row.source)}</span>}{departures.has(each.place) && <small class="warn">◆ {t.outlier}</small>}</>,
    },
    {key: 'role', name: t.role, value: ({row}) => row.role},
    {key: 'rank', name: t.rank, number: true, value: ({row}) => row.rank, cell: ({row}) => row.rank ?? t.unknown},
    {key: 'device', name: t.device, value: ({row}) => [row.device, row.pool].filter(Boolean).join(' '), attrs: () => ({class: 'one-line'})},
    ...FIGURES.map((figure): Column<Placed> => bytesColumn(t, {
      key: figure, name: `${t.figures[figure]}, ${unit}`, of: ({row}) => row[figure],
      show: value => bytes(value), class: ({place}) => departures.get(place)?.has(figure) === true ? 'warn strong departs' : '',
    })),
    countColumn(t, 'alive_at_end_blocks', t.blocks, ({row}) => row.alive_at_end_blocks),
    {key: 'stacks_found', name: t.stacksColumn, number: true, value: ({row}) => row.stacks_found, cell: ({row}) => stacks(t, row)},
    countColumn(t, 'notes', t.noteCount, ({row}) => row.warnings),
  ], [t, unit, departures, session.captures]);
  const current = rows.find(each => {
    const at = where(each);
    return shown !== null && at?.capture === shown.capture && at.device === shown.device;
  });
  return (
    <Table test="ranks" label={t.tabNames.ranks} columns={columns} rows={rows} id={({place}) => place} current={current?.place ?? null} file="ranks"
      rowAttrs={() => ({'data-row': 'rank'})} choose={each => {
        const at = where(each);
        if (at !== null) show(at);
      }} />
  );
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
  const {source, role, rank, device, pool, departures} = outlier;
  const name = [rank === null || rank === undefined ? t.rankUnknown : t.rankName(rank), role, `${device} ${pool}`].filter(Boolean).join(' · ');
  return (
    <details class="outlier" data-test="outlier">
      <summary title={source}>
        <strong class="warn">◆ {clip(name)}</strong> {departures.map(({figure, value, median, difference}) => t.departs(t.figures[figure], size(value), size(median), signedSize(difference))).join(' · ')}
      </summary>
      <Causes outlier={outlier} />
    </details>
  );
}

/** The operators that make the difference. */
function Causes({outlier: {row, by_operator}}: {outlier: PoolOutlier}) {
  const t = useMessages();
  const {unit, show} = column(most(by_operator.flatMap(({bytes, median_bytes}) => [bytes, median_bytes])));
  const columns = useMemo((): Column<Cause>[] => [
    {key: 'operator', name: t.operator, value: ({name}) => name, cell: ({name}) => <span class="name"><OperatorName name={name || t.unattributed} /></span>, attrs: () => ({class: 'group'})},
    bytesColumn(t, {key: 'difference_bytes', name: `${t.difference}, ${unit}`, of: each => each.difference_bytes, show, signed: true}),
    bytesColumn(t, {key: 'bytes', name: `${t.here}, ${unit}`, of: each => each.bytes, show}),
    bytesColumn(t, {key: 'median_bytes', name: `${t.median}, ${unit}`, of: each => each.median_bytes, show}),
  ], [t, unit]);
  return <Table test={`outlier-${row}`} label={t.outlier} columns={columns} rows={by_operator} id={({name}) => name} class="groups" file="outlier" />;
}

type Cause = PoolOutlier['by_operator'][number];

/** A figure over ranks of one role, or over all of them. */
interface Spreading {
  group: RankGroup;
  figure: Figure;
  spread: Spread;
}

/** How each figure is spread. */
function Spreads({groups}: {groups: RankGroup[]}) {
  const t = useMessages();
  const rows = useMemo(() => groups.flatMap(group => FIGURES.flatMap((figure): Spreading[] => {
    const spread = group[figure];
    return spread === null || spread === undefined ? [] : [{group, figure, spread}];
  })), [groups]);
  const {unit, show} = column(most(rows.map(({spread}) => spread.max)));
  const columns = useMemo((): Column<Spreading>[] => [
    {key: 'role', name: t.role, value: ({group}) => group.across_roles ? t.allRoles : group.role, cell: ({group}) => group.across_roles ? t.allRoles : group.role ?? t.unknown},
    {key: 'pool', name: t.pool, value: ({group}) => group.pool},
    countColumn(t, 'ranks', t.members, ({group}) => group.members),
    {key: 'figure', name: t.figure, value: ({figure}) => t.figures[figure], attrs: () => ({class: 'one-line'})},
    bytesColumn(t, {key: 'least_bytes', name: `${t.least}, ${unit}`, of: ({spread}) => spread.min, show}),
    bytesColumn(t, {key: 'median_bytes', name: `${t.median}, ${unit}`, of: ({spread}) => spread.median, show}),
    bytesColumn(t, {key: 'most_bytes', name: `${t.mostOfAll}, ${unit}`, of: ({spread}) => spread.max, show}),
  ], [t, unit]);
  return <Table test="spreads" label={t.spreadTitle} columns={columns} rows={rows} id={({group, figure}) => `${groups.indexOf(group)} ${figure}`} class="groups" file="spreads" />;
}
