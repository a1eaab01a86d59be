import {useLayoutEffect, useRef, useState} from 'preact/hooks';

interface Props {
  /** What it shows while nobody types. */
  text: string;
  label: string;
  unit?: string;
  title: string;
  test: string;
  /** Takes what was typed; false where it makes no sense. */
  take: (typed: string) => boolean;
  /** Told of every letter. */
  typed?: (typed: string) => void;
}

/**
 * A line of text to be typed. No `<input>`: for the sake of a text field, Chromium asks its maker's autofill service over the network, and
 * nothing may leave because of this page.
 */
export function TextField({text, label, unit, title, test, take, typed}: Props) {
  const box = useRef<HTMLSpanElement>(null);
  const [typing, setTyping] = useState(false);
  const [wrong, setWrong] = useState(false);
  useLayoutEffect(() => {
    if (box.current !== null && !typing) box.current.textContent = text;
  }, [text, typing]);
  const commit = (): void => {
    if (!typing) return;
    const taken = take(box.current?.textContent ?? '');
    setWrong(!taken);
    if (taken) setTyping(false);
  };
  const revert = (): void => {
    setTyping(false);
    setWrong(false);
  };
  const key = (event: KeyboardEvent): void => {
    // The Enter that ends the input of an East Asian word is the input method's.
    if (event.isComposing) return;
    if (event.key === 'Enter') commit();
    else if (event.key === 'Escape' && typing) revert();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="field">
      {label}{' '}
      <span ref={box} class="time" role="textbox" tabIndex={0} contenteditable={true} inputMode={unit === undefined ? undefined : 'decimal'} spellcheck={false}
        aria-label={unit === undefined ? label : `${label}, ${unit}`} aria-invalid={wrong} data-test={test} title={title}
        onBeforeInput={oneLineOfText} onInput={() => { setTyping(true); typed?.(box.current?.textContent ?? ''); }} onKeyDown={key} onFocus={selectAll}
        onBlur={() => { commit(); revert(); }} />
    </span>
  );
}

function selectAll({currentTarget}: {currentTarget: HTMLElement}): void {
  getSelection()?.selectAllChildren(currentTarget);
}

/** What is pasted or dropped becomes plain text; there are no lines and no formats. */
function oneLineOfText(event: InputEvent): void {
  const {inputType, dataTransfer} = event;
  if (dataTransfer !== null) {
    event.preventDefault();
    document.execCommand('insertText', false, dataTransfer.getData('text/plain').replace(/\s+/g, ' ').trim());
  } else if (inputType === 'insertParagraph' || inputType === 'insertLineBreak' || inputType.startsWith('format')) {
    event.preventDefault();
  }
}
