// What an address asks of the page before its #: how a page that embeds it, or a link, wants it. Anything else is left alone.

export interface Parameters {
  /** Little around the charts, and messages of other pages are heard. */
  embed: boolean;
  /** A language's tag, and a theme, as written. */
  lang: string | null;
  theme: string | null;
  /** MiB that captures may take, as written. */
  memory: string | null;
  /** A view as it stands behind the #, without that. */
  view: string | null;
  /** Origins whose files need nobody's yes. */
  allow: string[];
}

export function parametersOf(search: string): Parameters {
  const query = new URLSearchParams(search);
  return {
    embed: query.get('embed') === '1',
    lang: query.get('lang'),
    theme: query.get('theme'),
    memory: query.get('memory'),
    view: query.get('view')?.replace(/^#/, '') ?? null,
    allow: (query.get('allow') ?? '').split(',').map(originOf).filter(origin => origin !== null),
  };
}

/** As browsers name it: `https://a.example:8080`. Those without a name (files, sandboxed frames) cannot be told apart and so not be allowed. */
function originOf(address: string): string | null {
  try {
    const {protocol, origin} = new URL(address.trim());
    return /^https?:$/.test(protocol) ? origin : null;
  } catch {
    return null;
  }
}

export const PARAMETERS: Parameters = parametersOf(globalThis.location?.search ?? '');
