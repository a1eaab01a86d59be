// What a page asks for and complains about, as both drivers tell it.

/** `asks` tells requests: the page, or what holds the page and its workers. Both lists grow as long as the page lives. */
export const watch = (page, asks = page) => {
  const requests = [];
  const problems = [];
  asks.on('request', request => requests.push(request.url()));
  page.on('console', message => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', error => problems.push(`${error}`));
  return {requests, problems};
};
