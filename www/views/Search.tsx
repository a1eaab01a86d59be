import {useEffect, useRef} from 'preact/hooks';
import type {DeviceSummary, PhaseSummary} from '../../target/plain/pkg/oomscope';
import {clip, duration, int, size, time} from '../format';
import {pin} from '../frames';
import {useMessages} from '../i18n';
import {narrow} from '../narrow';
import {closeSearch} from '../search';
import type {State} from '../state';
import {set} from '../state';
import {showRange} from '../window';
import {OperatorName} from './OperatorName';
import {Swatch} from './Swatch';

const MOST_PHASES = 12;

/** The steps, or the executions of a module, whose names hold a text. */
function phasesNamed({phases}: DeviceSummary, search: string): PhaseSummary[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return [];
  return phases.filter(({name}) => name.toLowerCase().includes(wanted)).slice(0, MOST_PHASES);
}

/** Operators and frames that hold a text; each leads to its largest block. */
export function Search({s, device}: {s: State; device: DeviceSummary}) {
  const t = useMessages();
  const box = useRef<HTMLSpanElement>(null);
  const {search, hits} = s;
  useEffect(() => {
    if (box.current !== null && box.current.textContent !== search) box.current.textContent = search;
  }, [search === null]);
  if (search === null) return null;
  const first = hits?.hits[0];
  const phases = phasesNamed(device, search);
  const key = (event: KeyboardEvent): void => {
    if (event.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') closeSearch();
    else if (first !== undefined) pin(first.largest);
  };
  return (
    <section class="search" role="search" aria-label={t.searchTitle}>
      <div class="search-line">
        {/* No <input>: see TextField. */}
        <span ref={box} class="time search-text" role="searchbox" tabIndex={0} contenteditable={true} spellcheck={false} data-test="search" aria-label={t.searchTitle} title={t.searchHint}
          onBeforeInput={event => event.inputType.startsWith('insertParagraph') && event.preventDefault()}
          onInput={event => set({search: event.currentTarget.textContent ?? ''})} onKeyDown={key} />
        <span class="muted" role="status" data-test="search-found">
          {search.trim() === '' ? t.searchHint : hits === null ? t.drawing : t.searchFound(hits.found, hits.blocks, size(hits.bytes))}
        </span>
        {hits !== null && hits.blocks > 0 && <button type="button" class="plain link" data-test="search-only" onClick={() => narrow({text: search.trim()})}>{t.onlyThese}</button>}
        <button type="button" class="quiet" aria-label={t.close} title={t.close} onClick={closeSearch}>×</button>
      </div>
      {hits !== null && hits.hits.length + phases.length > 0 && (
        <ul class="search-hits">
          {phases.map(({name, from_ns, to_ns}) => (
            <li key={`phase ${from_ns}`}>
              <button type="button" class="plain" title={t.searchGoPhase} onClick={() => showRange({from: from_ns, to: to_ns})}>
                {clip(name)}<span class="muted">{time(t, from_ns, device.end_ns)} · {duration(to_ns - from_ns)}</span>
              </button>
            </li>
          ))}
          {hits.hits.map(hit => (
            <li key={`${hit.lane ?? ''} ${hit.text}`}>
              <button type="button" class="plain" title={t.searchGo} onClick={() => pin(hit.largest)}>
                {hit.lane !== null && hit.lane !== undefined ? <><Swatch hue={device.lanes[hit.lane]?.hue ?? 12} /> <OperatorName name={hit.text} /></> : <code>{clip(hit.text)}</code>}
                <span class="muted">{size(hit.bytes)} · {int(t, hit.blocks)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
