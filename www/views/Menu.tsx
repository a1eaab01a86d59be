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

/** A list of acts behind a button. */
export function Menu({label, acts, title, test, disabled = false}: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false;
  };
  const left = (event: FocusEvent): void => {
    if (!menu.current?.contains(event.relatedTarget as Node | null)) close();
  };
  return (
    <details class="menu" ref={menu} onFocusOut={left} onKeyDown={event => event.key === 'Escape' && close()}>
      <summary title={title} data-test={test} aria-disabled={disabled} tabIndex={disabled ? -1 : 0} onClick={event => disabled && event.preventDefault()}>{label}</summary>
      <div class="menu-list">
        {acts.map(({label: name, act, title, test}) => (
          <button key={name} type="button" data-test={test} title={title} onClick={() => { close(); act(); }}>{name}</button>
        ))}
      </div>
    </details>
  );
}
