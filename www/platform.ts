// Small things that a host may refuse, such as storage in a sandboxed frame.

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A choice that isn't kept is no reason to bother anyone.
  }
}

export function downloadBlob(name: string, parts: BlobPart[], type: string): void {
  const address = URL.createObjectURL(new Blob(parts, {type}));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.rel = 'noopener';
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
