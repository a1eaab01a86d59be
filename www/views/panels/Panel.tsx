import type {ComponentChildren} from 'preact';
import {useMessages} from '../../i18n';
import type {State} from '../../state';

interface Props {
  s: State;
  test: string;
  /** The panel's answer; null while there is none. */
  title: ComponentChildren;
  /** The exact figure behind the title. */
  exact?: string;
  /** The figures belong to an earlier question. */
  stale?: boolean;
  controls?: ComponentChildren;
  children?: ComponentChildren;
}

/** A panel: its answer as its title, what steers it, its figures; or how far it is. */
export function Panel({s, test, title, exact, stale = false, controls, children}: Props) {
  const t = useMessages();
  const failed = s.panelFailure;
  return (
    <section class="answers" data-test={`panel-${test}`} aria-busy={title === null || stale}>
      <div class="answers-head">
        <h2 title={exact}>{title ?? (failed === null ? t.panelLoading : t.panelFailed)}</h2>
        {controls}
      </div>
      {failed !== null && <p class="bad">{t.panelFailure(failed)}</p>}
      {children}
    </section>
  );
}

/** A panel that has nothing to show, and why. */
export function EmptyPanel({test, title, text, controls, children}: {test: string; title: string; text: string; controls?: ComponentChildren; children?: ComponentChildren}) {
  return (
    <section class="answers" data-test={`panel-${test}`}>
      <div class="answers-head"><h2>{title}</h2>{controls}</div>
      <p class="muted">{text}</p>
      {children}
    </section>
  );
}
