// For the sake of a text field Chromium asks its maker's autofill service over the network: what is typed goes into www/views/TextField.tsx.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const www = fileURLToPath(new URL('../../www', import.meta.url));

test('the page has no <input> and no <textarea> for text', () => {
  const views = fs.readdirSync(www, {recursive: true}).filter(file => file.endsWith('.tsx'));
  assert.ok(views.length > 30);
  for (const view of views) {
    const text = fs.readFileSync(path.join(www, view), 'utf8').replace(/\/\*[^]*?\*\//g, '');
    for (const [input] of text.matchAll(/<(?:input|textarea)\b[^]*?\/>/g)) assert.match(input, /\btype="(?:checkbox|file)"/, view);
  }
});
