// What a script would try that wants to get data out of the page. Each function runs in the page, or in a worker, and needs nothing from here.

/** Tries everything a page can be made to ask for, each below `base` by a name of its own; says what its policy said, and what got through. */
export const fromPage = async base => {
  const said = [];
  document.addEventListener('securitypolicyviolation', event => said.push({directive: event.effectiveDirective, address: event.blockedURI}));
  const through = [];
  const at = name => `${base}${name}`;
  const tried = async (name, act) => {
    try {
      const value = await act(at(name));
      if (value !== undefined) through.push(name);
    } catch {
      // Refused, as it should be.
    }
  };
  const element = (tag, attributes, parent = document.body) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  await tried('fetch', url => fetch(url, {mode: 'no-cors'}));
  await tried('xhr', url => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.onload = resolve;
    request.onerror = reject;
    request.open('POST', url);
    request.send('secret');
  }));
  await tried('socket', url => new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'));
    socket.onopen = resolve;
    socket.onerror = reject;
  }));
  await tried('events', url => new Promise((resolve, reject) => {
    const source = new EventSource(url);
    source.onopen = resolve;
    source.onerror = () => {
      source.close();
      reject(new Error());
    };
  }));
  await tried('beacon', url => void navigator.sendBeacon(url, 'secret'));
  await tried('import', url => import(url));
  await tried('eval', () => (0, eval)('1'));
  await tried('font', url => new FontFace('stolen', `url(${url})`).load());
  await tried('worker', url => void new Worker(url));
  for (const [name, tag, attribute, further] of [
    ['image', 'img', 'src'], ['script', 'script', 'src'], ['style', 'link', 'href', {rel: 'stylesheet'}], ['frame', 'iframe', 'src'],
    ['video', 'video', 'src'], ['object', 'object', 'data'], ['icon', 'link', 'href', {rel: 'manifest'}],
  ]) element(tag, {...further, [attribute]: at(name)});
  element('script', {}).textContent = 'globalThis.ranInline = true';
  element('p', {}).setAttribute('style', `background: url(${at('background')})`);
  element('p', {onclick: 'globalThis.ranHandler = true'}).click();
  element('base', {href: at('base/')}, document.head);
  const form = element('form', {action: at('form'), method: 'post'});
  element('input', {name: 'secret', value: '1'}, form);
  await tried('form', () => form.submit());
  await new Promise(resolve => setTimeout(resolve, 1500));
  if (globalThis.ranInline) through.push('inline script');
  if (globalThis.ranHandler) through.push('inline handler');
  return {said, through};
};

/**
 * The same in a worker that is made as the page makes its own, from the text of the page's own worker script with the attack behind it. A worker
 * that makes another one comes to a standstill in some of Firefox's page loads, timers and all: after some silence what it said last is taken.
 */
export const fromWorker = ([base, attack, variant]) => new Promise(resolve => {
  const script = `${document.getElementById(`worker-${variant}`).textContent}\n;(${attack})(${JSON.stringify(base)});`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], {type: 'text/javascript'})));
  let silence;
  const heard = outcome => {
    clearTimeout(silence);
    silence = setTimeout(resolve, 10_000, outcome);
  };
  heard({said: [], through: [], tried: []});
  worker.onmessage = ({data: {attacked, whole}}) => whole ? resolve(attacked) : attacked && heard(attacked);
  worker.onerror = event => resolve({failed: event.message});
});

/** What runs in the worker. It answers after each attempt, for it may come to no other. */
export const inWorker = async base => {
  const said = [];
  self.addEventListener('securitypolicyviolation', event => said.push({directive: event.effectiveDirective, address: event.blockedURI}));
  const through = [];
  const attempts = [];
  const answer = whole => postMessage({attacked: {said, through, tried: attempts}, whole});
  const tried = async (name, act) => {
    try {
      const value = await act(`${base}${name}`);
      if (value !== undefined) through.push(name);
    } catch {
      // Refused, as it should be.
    }
    attempts.push(name);
    answer(false);
  };
  await tried('worker-fetch', url => fetch(url, {mode: 'no-cors'}));
  await tried('worker-xhr', url => {
    const request = new XMLHttpRequest();
    request.open('GET', url, false);
    request.send();
    return request.status;
  });
  await tried('worker-socket', url => new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'));
    socket.onopen = resolve;
    socket.onerror = reject;
  }));
  await tried('worker-events', url => new Promise((resolve, reject) => {
    const source = new EventSource(url);
    source.onopen = resolve;
    source.onerror = () => {
      source.close();
      reject(new Error());
    };
  }));
  await tried('worker-scripts', url => (importScripts(url), true));
  await tried('worker-import', url => import(url));
  await tried('worker-eval', () => (0, eval)('1'));
  // What the policy says of the last of them comes later.
  await tried('worker-nothing', () => new Promise(resolve => setTimeout(resolve, 500)));
  // Workers last, for the standstill. A worker's own worker is under the same policy.
  await tried('worker-foreign', url => void new Worker(url));
  await tried('worker-nested', url => new Promise((resolve, reject) => {
    const script = `fetch(${JSON.stringify(url)}, {mode: 'no-cors'}).then(() => postMessage(true), () => postMessage(false))`;
    const nested = new Worker(URL.createObjectURL(new Blob([script], {type: 'text/javascript'})));
    nested.onmessage = ({data}) => data ? resolve(true) : reject(new Error());
    nested.onerror = reject;
  }));
  await new Promise(resolve => setTimeout(resolve, 500));
  answer(true);
};
