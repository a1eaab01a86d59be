import type {Colouring, DeviceSummary} from '../../target/plain/pkg/oomscope';
import type {GanttView, LaneSort} from '../gantt';
import {COLOURINGS, LANE_SORTS, chooseGantt, hiddenCount, isLanes, laneOrder, laneSetKey, lanesOf, rampOf, ranksOf, showHidden, viewsOf} from '../gantt';
import type {Messages} from '../i18n';
import {useMessages} from '../i18n';
import {chosenNow} from '../narrow';
import type {State} from '../state';
import {captureAt, ofJax, set} from '../state';
import {SavePicture} from './SavePicture';
import {TextField} from './TextField';

/** What the chart shows, to be chosen in its title, and how its rows are ordered, coloured and looked through. */
export function GanttTitle({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const hidden = hiddenCount(s);
  const lanes = isLanes(s.gantt);
  return (
    <div class="gantt-title">
      <h2>
        <select class="title-select" data-test="gantt-view" aria-label={t.ganttView} value={s.gantt} onChange={event => chooseGantt(event.currentTarget.value as GanttView)}>
          {viewsOf(s).map(view => <option key={view} value={view}>{nameOf(t, view, device)}</option>)}
        </select>
        <span class="muted" data-test="gantt-counts">{countsOf(t, s, device)}{foldedOf(t, s, device)}</span>
      </h2>
      <span class="gantt-controls">
        {s.gantt !== 'ranks' && (
          <label>{t.colourBy} <select data-test="gantt-colour" value={s.colouring} onChange={event => set({colouring: event.currentTarget.value as Colouring})}>
            {COLOURINGS.map(colouring => <option key={colouring} value={colouring}>{colouring === 'operator' && ofJax(device) ? t.colourByOwner : t.colourings[colouring]}</option>)}
          </select></label>
        )}
        {lanes && (
          <label>{t.sortBy} <select data-test="lane-sort" value={s.laneSort} onChange={event => set({laneSort: event.currentTarget.value as LaneSort})}>
            {LANE_SORTS.map(sort => <option key={sort} value={sort}>{t.laneSorts[sort]}</option>)}
          </select></label>
        )}
        {lanes && (
          <TextField text={s.laneSearch} label={t.laneSearch} title={t.laneSearchTitle} test="lane-search"
            take={typed => { set({laneSearch: typed.trim(), layout: {...s.layout, scroll: 0}}); return true; }} />
        )}
        {hidden > 0 && <button type="button" class="plain link" data-test="show-hidden" onClick={showHidden}>{t.showHidden(hidden)}</button>}
      </span>
      <Legend s={s} device={device} />
      <SavePicture chart="lanes" />
    </div>
  );
}

function nameOf(t: Messages, view: GanttView, device: DeviceSummary): string {
  return view === 'operator' && ofJax(device) ? t.blocksByOwner : view === 'ranks' && ofJax(device) ? t.allocatorsSide : t.ganttViews[view];
}

function countsOf(t: Messages, s: State, device: DeviceSummary): string {
  if (s.gantt === 'ranks') return t.ranksCount(ranksOf(s).length);
  const blocks = chosenNow(s)?.blocks ?? device.blocks;
  if (s.gantt === 'stacked') return t.blocksCount(blocks);
  if (s.gantt === 'blocks') return s.frame?.rows_total === undefined ? t.blocksCount(device.blocks) : t.blocksInWindow(s.frame.rows_total, device.blocks);
  const [all, shown] = [lanesOf(s).length, laneOrder(s).length];
  if (all === 0 && s.gantt !== 'operator') {
    if (s.laneSet?.lanes === null && captureAt(s)?.stacks === null) return t.noTrace;
    if (s.laneSet?.key !== laneSetKey(s)) return t.drawing;
  }
  return t.lanesCount(shown, all, blocks);
}

/** Their lanes are not drawn, though their blocks count. */
function foldedOf(t: Messages, s: State, device: DeviceSummary): string {
  const blocks = device.folded?.blocks ?? 0;
  return blocks === 0 || s.gantt === 'ranks' ? '' : t.ofThemFolded(blocks);
}

function Legend({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const steps = rampOf(s);
  return (
    <span class="legend">
      {steps !== null && (
        <span class="ramp" data-test="ramp">
          {steps.map((step, nth) => <span key={step}><i class={`swatch ramp-${nth}`} aria-hidden="true" /> {nth + 1 < steps.length ? t.upTo(step) : t.larger}</span>)}
        </span>
      )}
      {s.gantt === 'stacked' && <span title={t.baselineTitle}><i class="swatch hue-baseline" aria-hidden="true" /> {t.baseline}</span>}
      {s.gantt === 'stacked' && <span title={t.smallBlocksTitle}><i class="swatch hue-12" aria-hidden="true" /> {t.smallBlocks}</span>}
      {isLanes(s.gantt) && <span title={t.foldedTitle}><i class="key folded" aria-hidden="true" /> {t.foldedKey}</span>}
      {s.gantt !== 'ranks' && s.gantt !== 'stacked' && device.alive_at_end_blocks > 0 && <span title={t.hatchedTitle}><i class="key hatched" aria-hidden="true" /> {t.hatched}</span>}
    </span>
  );
}
