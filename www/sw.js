// The page's service worker, beside index.html where that is served. It keeps the page for use without a network, and gives it the headers that
// isolate it, without which there are no threads: hosts of static files seldom let one set headers.
//
// A version of it knows the page it was built with by its hash and takes no other, so page and worker are never of two versions. The page being
// one file, a new version is simply what the next start gets, and open pages stay as they are. It asks the network for nothing but that page.
const SHA256 = '<!-- sha256 -->';
/** Of these pages only: others of the same origin have caches too. */
const MINE = `oomscope ${self.registration.scope} `;
const CACHE = MINE + SHA256;
/** The page's two addresses. */
const ADDRESSES = ['./', 'index.html'].map(name => new URL(name, self.registration.scope).href);

/** With what the host sent, so that its own rules go on: who may frame the page, for one. */
const isolated = (body, {status, statusText, headers: sent}) => {
  const headers = new Headers(sent);
  // The body was unpacked on its way here.
  headers.delete('Content-Encoding');
  headers.delete('Content-Length');
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  // An isolated page may only frame what says that it may.
  if (!headers.has('Cross-Origin-Resource-Policy')) headers.set('Cross-Origin-Resource-Policy', 'cross-origin');
  return new Response(body, {status, statusText, headers});
};

const sha256 = async bytes => Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), byte => byte.toString(16).padStart(2, '0')).join('');

/** The page of this version; refuses while the host still has, or already has, another. */
const fetchPage = async () => {
  for (const address of ADDRESSES) {
    const response = await fetch(address, {cache: 'no-cache'}).catch(() => null);
    if (response === null || !response.ok) continue;
    const bytes = await response.arrayBuffer();
    if (await sha256(bytes) === SHA256) return isolated(bytes, response);
  }
  throw new Error('the host has no page of this version');
};

const install = async () => {
  const page = await fetchPage();
  const cache = await caches.open(CACHE);
  await cache.put(ADDRESSES[0], page);
  await self.skipWaiting();
};

const activate = async () => {
  for (const name of await caches.keys()) if (name.startsWith(MINE) && name !== CACHE) await caches.delete(name);
};

/** Browsers may throw a cache away. */
const answer = async request => {
  const kept = await caches.match(ADDRESSES[0], {cacheName: CACHE});
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  return response.ok ? isolated(response.body, response) : response;
};

self.addEventListener('install', event => event.waitUntil(install()));
self.addEventListener('activate', event => event.waitUntil(activate()));
self.addEventListener('fetch', event => {
  const {request} = event;
  const {origin, pathname} = new URL(request.url);
  if (request.mode === 'navigate' && request.method === 'GET' && ADDRESSES.includes(origin + pathname)) event.respondWith(answer(request));
});
