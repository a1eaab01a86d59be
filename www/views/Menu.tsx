import type {Ref} from 'preact';
import {useRef} from 'preact/hooks';

interface Act {
  label: string;
  act: () => void;
  title?: string;
  test?: string;
}

interface MenuProps {
  label: string;
  acts: Act[];
  title?: string;
  test?: string;
  disabled?: boolean;
}

interface Popup {
  ref: Ref<HTMLDetailsElement>;
  onFocusOut(event: FocusEvent): void;
  onKeyDown(event: KeyboardEvent): void;
}

/** What hangs below a summary: it closes when the focus goes elsewhere, and with Escape, which gives the focus back to the summary. */
export function usePopup(): {popup: Popup; close: () => void} {
  const ref = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    const box = ref.current;
    if (box === null || !box.open) return;
    if (box.contains(document.activeElement)) box.querySelector('summary')?.focus();
    box.open = false;
  };
  const popup: Popup = {
    ref,
    onFocusOut: event => {
      if (ref.current?.contains(event.relatedTarget as Node | null) === false) ref.current.open = false;
    },
    onKeyDown: event => {
      if (event.key !== 'Escape' || ref.current?.open !== true) return;
      event.preventDefault();
      // The page's own Escape unpins.
      event.stopPropagation();
      close();
    },
  };
  return {popup, close};
}

/** From which of so many items a key leads to which; before the first there is the button that opens them. */
const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (Math.max(at, 0) + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** A list of acts behind a button. */
export function Menu({label, acts, title, test, disabled = false}: MenuProps) {
  const {popup, close} = usePopup();
  const key = (event: KeyboardEvent): void => {
    popup.onKeyDown(event);
    const box = event.currentTarget as HTMLDetailsElement;
    const step = STEPS[event.key];
    if (!box.open || step === undefined) return;
    // The page must not scroll beneath it.
    event.preventDefault();
    event.stopPropagation();
    const items = [...box.querySelectorAll<HTMLElement>('.menu-list button')];
    items[step(items.indexOf(document.activeElement as HTMLElement), items.length)]?.focus();
  };
  return (
    <details class="menu" {...popup} onKeyDown={key}>
      <summary title={title} data-test={test} aria-disabled={disabled} tabIndex={disabled ? -1 : 0} onClick={event => disabled && event.preventDefault()}>{label}</summary>
      <div class="menu-list">
        {acts.map(({label: name, act, title, test}) => (
          <button key={name} type="button" data-test={test} title={title} onClick={() => { close(); act(); }}>{name}</button>
        ))}
      </div>
    </details>
  );
}
