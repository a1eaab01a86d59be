// What both drivers share: what a page asks for and complains about, and when it has drawn.

/** What Chromium itself says where a host has no sw.js. */
const NO_WORKER = 'A bad HTTP response code (404) was received when fetching the script.';

/** `asks` tells requests: the page, or what holds the page and its workers. Both lists grow as long as the page lives. */
export const watch = (page, asks = page) => {
  const requests = [];
  const problems = [];
  asks.on('request', request => requests.push(request.url()));
  page.on('console', message => message.type() === 'error' && message.text() !== NO_WORKER && problems.push(message.text()));
  page.on('pageerror', error => problems.push(`${error}`));
  return {requests, problems};
};

/** The page draws what changed in its next frame: an act is done when that was drawn. A hidden page has no frames. */
export const drawn = page => async act => {
  await act;
  await page.evaluate(() => new Promise(resolve => {
    setTimeout(resolve, 500);
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  }));
};
