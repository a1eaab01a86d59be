import {useLayoutEffect, useRef, useState} from 'preact/hooks';
import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {fieldMs, parseMs} from '../format';
import {useMessages} from '../i18n';
import {setEnd} from '../window';

interface Props {
  which: 'from' | 'to';
  ns: number;
  label: string;
  device: DeviceSummary;
}

/**
 * An exact end of the window, to be typed. No `<input>`: for the sake of a text field, Chromium asks its maker's autofill service over the
 * network, and nothing may leave because of this page.
 */
export function TimeField({which, ns, label, device}: Props) {
  const t = useMessages();
  const box = useRef<HTMLSpanElement>(null);
  const [typing, setTyping] = useState(false);
  const [wrong, setWrong] = useState(false);
  useLayoutEffect(() => {
    if (box.current !== null && !typing) box.current.textContent = fieldMs(ns);
  }, [ns, typing]);
  const commit = (): void => {
    if (!typing) return;
    const typed = parseMs(box.current?.textContent ?? '');
    const taken = typed !== null && setEnd(which, typed);
    setWrong(!taken);
    if (taken) setTyping(false);
  };
  const revert = (): void => {
    setTyping(false);
    setWrong(false);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') commit();
    else if (event.key === 'Escape') revert();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span class="field">
      {label}{' '}
      <span ref={box} class="time" role="textbox" tabIndex={0} contenteditable={true} inputMode="decimal" spellcheck={false}
        aria-label={`${label}, ms`} aria-invalid={wrong} data-test={`field-${which}`} title={t.fieldTitle(fieldMs(device.end_ns))}
        onBeforeInput={oneLineOfText} onInput={() => setTyping(true)} onKeyDown={key} onFocus={selectAll}
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
