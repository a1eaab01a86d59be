// The clipboard, which pages on plain http and in some frames do not have.
import {set} from './state';

/** True where the text is on the clipboard now; else it is shown, selected, to be copied by hand. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (copySelected(text)) return true;
    set({byHand: text});
    return false;
  }
}

/** The old way: what is selected in the page, as by the menu. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'off-screen';
  document.body.append(field);
  field.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    // A host may forbid this too.
  }
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}
