// Whether the page is isolated from others, as threads need it, and if not, why; and sw.js, which isolates it where a host does not.
import {get, set} from './state';

/**
 * Where the page is: isolated, or what keeps it from being so. `waiting`: sw.js is on its way; `next`: it is there for the next start; `refused`: it
 * took not the page that the host sends.
 */
export type Host = 'isolated' | 'file' | 'frame' | 'insecure' | 'plain' | 'waiting' | 'next' | 'refused';

/** What is known at once. Nobody is asked for threads who cannot give them. */
export function hostAtFirst(): Host {
  if (self.crossOriginIsolated) return 'isolated';
  if (location.protocol === 'file:') return 'file';
  if (isFramed()) return 'frame';
  if (!self.isSecureContext) return 'insecure';
  return canHaveWorker() ? 'waiting' : 'plain';
}

export const isFramed = (): boolean => self !== self.top;

/** The worker stands beside index.html and answers for this address alone. */
function canHaveWorker(): boolean {
  return /^https?:$/.test(location.protocol) && !isFramed() && self.isSecureContext && 'serviceWorker' in navigator && /\/(index\.html)?$/.test(location.pathname);
}

/** Somebody has begun to use the page: it is theirs now, and stays. */
let touched = false;

const isIdle = ({session, walked, notices, dragging}: ReturnType<typeof get>): boolean =>
  !touched && session === null && walked === null && notices.length === 0 && !dragging;

/** A page that was reloaded never does so by itself: that is the guard against a second time, and needs no storage. */
const wasReloaded = (): boolean => performance.getEntriesByType('navigation').some(entry => (entry as PerformanceNavigationTiming).type === 'reload');

/** Lets sw.js keep the page. A host without it, or a browser that will not, leaves the page as it is. */
export async function startWorker(): Promise<void> {
  if (!canHaveWorker()) return;
  for (const event of ['pointerdown', 'keydown', 'dragenter']) addEventListener(event, () => { touched = true; }, {once: true, capture: true});
  const found = await installed().catch(() => 'none');
  if (get().host !== 'waiting') return;
  if (found === 'refused') return set({host: 'refused'});
  const later = found === 'active' && navigator.serviceWorker.controller === null;
  if (later && isIdle(get()) && !wasReloaded()) location.reload();
  else set({host: later ? 'next' : 'plain'});
}

/** Whether a worker of this page is active in the end, or refused to be: it takes no page but that of its own version. */
async function installed(): Promise<'active' | 'refused' | 'none'> {
  const registration = await navigator.serviceWorker.register('sw.js', {updateViaCache: 'none'});
  const {installing, waiting} = registration;
  const coming = installing ?? waiting;
  if (registration.active !== null) return 'active';
  if (coming === null) return 'none';
  return new Promise(resolve => {
    const look = (): void => {
      // One that ends itself is there to end an earlier one: docs/deploying.md.
      if (coming.state === 'activated') resolve(navigator.serviceWorker.getRegistration('./').then(found => found === undefined ? 'none' : 'active'));
      if (coming.state === 'redundant') resolve('refused');
    };
    coming.addEventListener('statechange', look);
    look();
  });
}
