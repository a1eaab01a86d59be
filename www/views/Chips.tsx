import {useState} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {clip, exactBytes, parseMs, parseSize, size} from '../format';
import {useMessages} from '../i18n';
import {filterBy} from '../filter';
import {NO_BLOCK_FILTER, chips, chosenNow, narrow, widen} from '../narrow';
import type {State} from '../state';
import {captureAt, deviceAt, set} from '../state';
import {cursorNs} from '../panels';
import {TextField} from './TextField';

/** What the blocks are narrowed to, a chip a condition; and what can be added. */
export function Chips({s}: {s: State}) {
  const t = useMessages();
  const [open, setOpen] = useState(false);
  const device = deviceAt(s);
  if (device === null) return null;
  const told = chips(t, s);
  const instant = cursorNs(s) ?? device.peak.time_ns;
  const lifetime = (ms: string): number | null => parseMs(ms);
  return (
    <div class="chips" data-test="chips" role="group" aria-label={t.filterTitle}>
      <button type="button" class="plain link" aria-expanded={open} data-test="add-filter" onClick={() => setOpen(!open)}>{t.filterTitle}</button>
      {told.map(({part, text, title}) => (
        <span key={part} class="chip" data-test={`chip-${part}`} title={title}>{text} <button type="button" class="plain" aria-label={t.removeFilter(text)} title={t.removeFilter(text)} onClick={() => widen(part)}>×</button></span>
      ))}
      {told.length > 1 && <button type="button" class="plain link" data-test="clear-filter" onClick={() => set({blockFilter: NO_BLOCK_FILTER})}>{t.clearFilter}</button>}
      <RankChips s={s} />
      {told.length > 0 && <Passing s={s} device={device} />}
      {open && (
        <div class="filter-form">
          <TextField text={s.blockFilter.text ?? ''} label={t.filterText} title={t.filterTextTitle} test="filter-text" take={text => { if (text.trim() === '') widen('text'); else narrow({text: text.trim()}); return true; }} />
          <Amount label={t.filterMinBytes} title={t.filterBytesTitle} test="filter-min-bytes" read={parseSize} take={bytes => bytes === null ? widen('min_bytes') : narrow({min_bytes: bytes})} />
          <Amount label={t.filterMaxBytes} title={t.filterBytesTitle} test="filter-max-bytes" read={parseSize} take={bytes => bytes === null ? widen('max_bytes') : narrow({max_bytes: bytes})} />
          <Amount label={t.filterMinLifetime} title={t.filterLifetimeTitle} test="filter-min-lifetime" read={lifetime} take={ns => ns === null ? widen('min_lifetime_ns') : narrow({min_lifetime_ns: ns})} />
          <Amount label={t.filterMaxLifetime} title={t.filterLifetimeTitle} test="filter-max-lifetime" read={lifetime} take={ns => ns === null ? widen('max_lifetime_ns') : narrow({max_lifetime_ns: ns})} />
          <button type="button" data-test="filter-alive" onClick={() => narrow({alive_at_ns: instant})}>{cursorNs(s) === null ? t.filterAliveAtPeak : t.filterAliveAtCursor}</button>
          <button type="button" data-test="filter-unreleased" onClick={() => narrow({unreleased: true})}>{t.chips.unreleased}</button>
        </div>
      )}
    </div>
  );
}

/** How much passes; that nothing does is said aloud. */
function Passing({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const chosen = chosenNow(s);
  if (chosen === null) return <span class="muted">…</span>;
  if (chosen.blocks === 0) return <strong class="warn" role="status" data-test="none-pass">{asksForStacks(s) && captureAt(s)?.stacks === null ? t.filterNoTrace : t.filterNone}</strong>;
  return <span class="muted" role="status" data-test="passing" data-blocks={chosen.blocks} data-bytes={chosen.bytes} title={exactBytes(t, chosen.bytes)}>{t.blocksSome(chosen.blocks, device.blocks, size(chosen.bytes))}. {t.filterReach}</span>;
}

const asksForStacks = ({blockFilter: {stack, user_frame, beneath}}: State): boolean => [stack, user_frame, beneath].some(part => part !== undefined);

/** The ranks and the role to which captures are narrowed: the lists of ranks and the ranks' totals go by them. */
function RankChips({s}: {s: State}) {
  const t = useMessages();
  const {ranks, role} = s.filter;
  const chip = (test: string, text: string, remove: () => void) => (
    <span class="chip" data-test={test}>{text} <button type="button" class="plain" aria-label={t.removeFilter(text)} title={t.removeFilter(text)} onClick={remove}>×</button></span>
  );
  return (
    <>
      {ranks.trim() !== '' && chip('chip-ranks', t.chips.ranks(clip(ranks, 40)), () => filterBy('', role))}
      {role !== null && chip('chip-role', t.chips.role(clip(role, 40)), () => filterBy(ranks, null))}
    </>
  );
}

interface AmountProps {
  label: string;
  title: string;
  test: string;
  read: (typed: string) => number | null;
  take: (amount: number | null) => void;
}

/** Typed once; what it came to stands in the chip. */
function Amount({label, title, test, read, take}: AmountProps) {
  return (
    <TextField text="" label={label} title={title} test={test} take={typed => {
      const amount = typed.trim() === '' ? null : read(typed);
      if (typed.trim() !== '' && amount === null) return false;
      if (amount !== null) take(amount);
      return true;
    }} />
  );
}
