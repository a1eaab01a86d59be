import {useState} from 'preact/hooks';
import {parseMs, parseSize} from '../format';
import {useMessages} from '../i18n';
import {NO_BLOCK_FILTER, chips, narrow, widen} from '../narrow';
import type {State} from '../state';
import {deviceAt, set} from '../state';
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
      {told.map(({part, text}) => (
        <span key={part} class="chip" data-test={`chip-${part}`}>{text} <button type="button" class="plain" aria-label={t.removeFilter(text)} title={t.removeFilter(text)} onClick={() => widen(part)}>×</button></span>
      ))}
      {told.length > 1 && <button type="button" class="plain link" data-test="clear-filter" onClick={() => set({blockFilter: NO_BLOCK_FILTER})}>{t.clearFilter}</button>}
      {told.length > 0 && <span class="muted">{t.filterReach}</span>}
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
