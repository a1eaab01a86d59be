// The clipboard, which pages on plain http and in some frames do not have.
import {set} from './state';

/** True where the text is on the clipboard now; else it is shown, selected, to be copied by hand. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (copyByEvent(text)) return true;
    set({byHand: text});
    return false;
  }
}

/** The old way, as by the menu. Without a field to select: Chromium asks its maker's autofill service about fields of text. */
function copyByEvent(text: string): boolean {
  let given = false;
  const give = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    given = event.clipboardData !== null;
  };
  document.addEventListener('copy', give);
  try {
    return document.execCommand('copy') && given;
  } catch {
    // A host may forbid this too.
    return false;
  } finally {
    document.removeEventListener('copy', give);
  }
}
