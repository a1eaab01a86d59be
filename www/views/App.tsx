import {useLayoutEffect, useRef} from 'preact/hooks';
import {itemsOf} from '../found';
import {LanguageProvider, messagesOf, useMessages} from '../i18n';
import type {State} from '../state';
import {captureAt, deviceAt, hasSomething, isUsable, jaxAt} from '../state';
import {Answer} from './Answer';
import {ByHand} from './ByHand';
import {Consent} from './Consent';
import {DropHint, Header} from './Header';
import {Notices} from './Notices';
import {Found} from './Found';
import {Jax} from './jax/Jax';
import {Keys} from './Keys';
import {Progress} from './Progress';
import {SaveHtml} from './SaveHtml';
import {Start} from './Start';
import {Tables} from './Tables';
import {Tooltip} from './Tooltip';
import {Work} from './Work';

/** The whole page: a function of the state. */
export function App({s}: {s: State}) {
  // Not before everything is read: a report must not lack what is still to come.
  const canExport = s.session !== null && !s.session.lost && s.session.readingSince === null && hasSomething(s.session);
  return (
    <LanguageProvider value={messagesOf(s.locale)}>
      <Header locale={s.locale} themeChoice={s.themeChoice} threads={s.threads} memoryUsed={s.memoryUsed} memoryBudget={s.memoryBudget} host={s.host} failed={s.engineFailure !== null} canExport={canExport} started={s.session !== null} />
      <Notices notices={s.notices} failure={s.engineFailure} />
      <Progress walked={s.walked} session={s.session} />
      {s.session === null ? <Start /> : <Session s={s} />}
      <p class="word" role="status" data-test="saved-file">{s.savedFile !== null && messagesOf(s.locale).fileSaved(s.savedFile)}</p>
      {s.saving !== null && <SaveHtml saving={s.saving} />}
      {s.keys && <Keys />}
      {s.byHand !== null && <ByHand text={s.byHand} />}
      {s.asked !== null && <Consent asked={s.asked} replaces={s.session !== null} />}
      {s.dragging && <DropHint replaces={s.session !== null} />}
    </LanguageProvider>
  );
}

function NothingToShow() {
  return <p class="nothing">{useMessages().nothingToShow}</p>;
}

/** Where the charts will be: nothing below them moves when they come. */
function Room() {
  return <><div class="answer" aria-hidden="true">…</div><div class="work" aria-hidden="true" /></>;
}

function Session({s}: {s: State}) {
  const {session, place} = s;
  const main = useRef<HTMLElement>(null);
  // The button that was pressed went with the first page. In another page's frame the focus may be that page's.
  useLayoutEffect(() => {
    if (document.hasFocus() && document.activeElement === document.body) main.current?.focus({preventScroll: true});
  }, []);
  if (session === null) return null;
  const capture = captureAt(s);
  const device = deviceAt(s);
  const jax = jaxAt(s);
  return (
    <main class="session" ref={main} tabIndex={-1}>
      <Found session={session} />
      {session.readingSince !== null && place === null && itemsOf(session.found).length > 0 && <Room />}
      {session.readingSince === null && session.captures.length > 0 && place === null && <NothingToShow />}
      {jax !== null && capture !== null && <Jax s={s} session={session} capture={capture} report={jax} />}
      {jax === null && device !== null && capture !== null && place !== null && (
        <>
          <Answer captures={session.captures.filter(each => isUsable(session, each))} taken={s.filter.taken} place={place} capture={capture} device={device} />
          <Work s={s} device={device} />
        </>
      )}
      <Tables s={s} session={session} device={device} />
      <Tooltip s={s} device={device} />
    </main>
  );
}
