// Whether a worker still lives. One that the browser ends tells nobody, but a lock that it held is free then.
// Locks are not to be had in sandboxed frames and on insecure hosts.

/** In the worker: holds its lock as long as it lives. */
export async function hold(name: string, held: () => void): Promise<void> {
  try {
    await navigator.locks.request(name, () => {
      held();
      return new Promise<never>(() => {});
    });
  } catch {
    // Then nobody waits for it.
  }
}

/** In the page, once it is held: waits until it is free. */
export async function whenFree(name: string): Promise<void> {
  await navigator.locks.request(name, () => {});
}

/** Whether the end of a worker can be seen. */
export const endIsSeen = (): boolean => self.isSecureContext && self.origin !== 'null' && 'locks' in navigator;

let made = 0;

/** A name that no other page of this host has. */
export const freshName = (): string => `oomscope-${Math.random()}-${made++}`;
