// What can be taken away: the report and the table, the same bytes as the command line writes.
import {saveFile} from './downloads';
import {EngineEnded, engine} from './engine';
import {REPORT_TOP} from './protocol';
import {reasonOf} from './reason';
import {get, notify} from './state';

/** What the menu offers. */
export type Export = 'json' | 'markdown' | 'text' | 'csv' | 'jsonl';

export async function save(what: Export): Promise<void> {
  try {
    switch (what) {
      case 'json': return saveFile('oomscope-report.json', [await engine.call('report', [REPORT_TOP])], 'application/json');
      case 'markdown': return saveFile('oomscope-report.md', [await engine.call('markdown', [REPORT_TOP])], 'text/markdown');
      case 'text': return saveFile('oomscope-report.txt', [await engine.call('text', [REPORT_TOP])], 'text/plain');
      case 'csv': return saveFile('oomscope-blocks.csv', await table(false), 'text/csv');
      case 'jsonl': return saveFile('oomscope-blocks.jsonl', await table(true), 'application/jsonl');
    }
  } catch (error) {
    if (!(error instanceof EngineEnded)) notify('error', t => t.exportFailed(reasonOf(error)));
  }
}

/** In parts: the browser may keep them on disk. */
async function table(lines: boolean): Promise<BlobPart[]> {
  const parts: BlobPart[] = [];
  await engine.call('table_begin', [lines, get().nearest]);
  for (;;) {
    const part = await engine.call('table_next', []);
    if (part.length === 0) return parts;
    parts.push(part as Uint8Array<ArrayBuffer>);
  }
}
