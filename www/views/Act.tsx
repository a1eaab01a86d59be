interface ActProps {
  label: string;
  /** The key that does the same. */
  shortcut: string;
  act: () => void;
  title?: string;
  test?: string;
  disabled?: boolean;
}

/** A button for what a key does. */
export function Act({label, shortcut, act, title, test, disabled}: ActProps) {
  return (
    <button type="button" data-test={test} title={title} disabled={disabled} aria-keyshortcuts={shortcut} onClick={act}>
      {label}<kbd class="hint-key" aria-hidden="true">{shortcut}</kbd>
    </button>
  );
}
