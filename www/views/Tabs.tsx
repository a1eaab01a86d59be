import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import {useMessages} from '../i18n';
import type {Tab} from '../state';
import {ROWS_AT_FIRST, set} from '../state';

interface Props {
  tabs: Tab[];
  open: Tab;
  counts: Partial<Record<Tab, number>>;
}

const choose = (tab: Tab): void => set({tab, ownTab: null, rows: ROWS_AT_FIRST, panelFailure: null});

/** The strip of tabs: in lines where there is room for that, else it scrolls, and its ends fade where there is more. */
export function Tabs({tabs, open, counts}: Props) {
  const t = useMessages();
  const strip = useRef<HTMLDivElement>(null);
  const [more, setMore] = useState('');
  const look = (): void => {
    const box = strip.current;
    if (box === null) return;
    const before = box.scrollLeft > 1;
    const after = box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
    setMore(`${before ? 'before' : ''} ${after ? 'after' : ''}`.trim());
  };
  useLayoutEffect(() => {
    const box = strip.current;
    const tab = box?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (box !== null && tab) box.scrollLeft = tab.offsetLeft - box.offsetLeft - (box.clientWidth - tab.offsetWidth) / 2;
    look();
  }, [open, tabs.length, t]);
  useLayoutEffect(() => {
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  const key = (event: KeyboardEvent): void => {
    const at = tabs.indexOf(open);
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1}[event.key];
    const tab = to === undefined ? undefined : tabs.at(to % tabs.length);
    if (tab === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(tab);
    strip.current?.querySelector<HTMLElement>(`#tab-${tab}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" ref={strip} data-more={more} onScroll={look} onKeyDown={key}>
      {tabs.map(tab => (
        <button key={tab} type="button" role="tab" id={`tab-${tab}`} aria-selected={open === tab} aria-controls="table-panel" tabIndex={open === tab ? 0 : -1}
          data-test={`tab-${tab}`} onClick={() => choose(tab)}>{t.tabNames[tab]}{counts[tab] !== undefined && ` ${counts[tab]}`}</button>
      ))}
    </div>
  );
}
