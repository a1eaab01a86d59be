import {offeredSamples} from '../embedded';
import type {Locale} from '../i18n';
import {LOCALES, messagesOf, useMessages} from '../i18n';
import type {Export} from '../exports';
import {save} from '../exports';
import type {Host} from '../isolation';
import {beginSaving} from '../saved';
import {PARAMETERS} from '../parameters';
import {openPicked, openSample} from '../session';
import {setLocale, setTheme} from '../settings';
import type {ThemeChoice} from '../theme';
import {THEME_CHOICES} from '../theme';
import {Memory} from './Memory';
import {Menu} from './Menu';
import {memo} from './memo';

interface Props {
  locale: Locale;
  themeChoice: ThemeChoice;
  threads: number | null;
  memoryUsed: number | null;
  memoryBudget: number;
  host: Host;
  failed: boolean;
  canExport: boolean;
  started: boolean;
}

const EXPORTS: Export[] = ['json', 'markdown', 'text', 'csv', 'jsonl'];

const FILES = 'open-files';
const FOLDER = 'open-folder';

/** A phone's browser has the property and no folders to pick, but says so itself. */
const foldersCanBePicked = 'webkitdirectory' in HTMLInputElement.prototype;

const press = (id: string): void => document.getElementById(id)?.click();
export const pickFiles = (): void => press(FILES);
export const pickFolder = foldersCanBePicked ? (): void => press(FOLDER) : null;

export const Header = memo(function Header({locale, themeChoice, threads, memoryUsed, memoryBudget, host, failed, canExport, started}: Props) {
  const t = useMessages();
  const samples = offeredSamples();
  return (
    <header class="top">
      <h1>oomscope</h1>
      <Pickers />
      <Menu label={t.open} acts={[
        {label: t.openFiles, act: pickFiles},
        ...pickFolder === null ? [] : [{label: t.openFolder, act: pickFolder, title: t.folderQuestion}],
      ]} />
      {samples.length > 0 && started && (
        <Menu label={t.samples} acts={samples.map(name => ({
          label: t.sampleNames[name] ?? name, act: () => void openSample(name), test: `sample-${name}`,
        }))} />
      )}
      <Menu label={t.export} title={t.exportTitle} test="export-menu" disabled={!canExport} acts={[
        ...EXPORTS.map(what => ({label: t.exportNames[what], act: () => void save(what), test: `export-${what}`})),
        {label: t.saveHtml.menu, act: () => beginSaving(), test: 'export-html'},
      ]} />
      {!failed && <Privacy threads={threads} host={host} />}
      <Memory used={memoryUsed} budget={memoryBudget} />
      <select class="theme" data-test="theme" aria-label={t.theme} title={t.theme} value={themeChoice} onChange={event => setTheme(event.currentTarget.value as ThemeChoice)}>
        {THEME_CHOICES.map(each => <option key={each} value={each}>{t.themeNames[each]}</option>)}
      </select>
      <select class="language" data-test="language" aria-label={t.language} title={t.language} value={locale} onChange={event => setLocale(event.currentTarget.value as Locale)}>
        {LOCALES.map(each => <option key={each} value={each} lang={each}>{messagesOf(each).name}</option>)}
      </select>
    </header>
  );
});

/** What the page promises, and with how many threads; with one, why there are no more. */
function Privacy({threads, host}: {threads: number | null; host: Host}) {
  const t = useMessages();
  const why = threads === 1 ? whyOne(host) : null;
  return (
    <span class="privacy" data-test="threads" data-threads={threads ?? undefined} data-why={why ?? undefined} title={why === null ? undefined : `${t.oneThread[why].short}. ${t.oneThread[why].why}`}>
      {threads === null ? t.privacyStarting : (PARAMETERS.embed ? t.privacyEmbedded : t.privacy)(threads)}{why !== null && ` (${t.oneThread[why].short})`}
    </span>
  );
}

type WhyOne = Exclude<Host, 'isolated'> | 'core' | 'failed';

function whyOne(host: Host): WhyOne {
  if (host !== 'isolated') return host;
  return navigator.hardwareConcurrency === 1 ? 'core' : 'failed';
}

/** The pickers' inputs: always there, never seen. */
function Pickers() {
  const picked = (event: {currentTarget: HTMLInputElement}): void => {
    const input = event.currentTarget;
    const files = [...input.files ?? []];
    // The same choice made again must be a change again.
    input.value = '';
    if (files.length > 0) void openPicked(files);
  };
  return (
    <>
      <input id={FILES} data-test="open-files" class="off-screen" type="file" multiple tabIndex={-1} aria-hidden="true" onChange={picked} />
      {foldersCanBePicked && (
        <input id={FOLDER} data-test="open-folder" class="off-screen" type="file" multiple tabIndex={-1} aria-hidden="true" onChange={picked}
          ref={input => input?.setAttribute('webkitdirectory', '')} />
      )}
    </>
  );
}

export function DropHint({replaces}: {replaces: boolean}) {
  return <div class="drop-hint">{useMessages().dropHere(replaces)}</div>;
}
