// README claims no speed that `make bench` does not print.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const readme = fs.readFileSync('README.md', 'utf8');
const [, table] = /<!-- figures: written by scripts\/bench\.mjs -->\n([^]*?)<!-- end -->/.exec(readme);

test('every line of README’s figures is a row of the bench', () => {
  const bench = fs.readFileSync('scripts/bench.mjs', 'utf8');
  const lines = table.split('\n').filter(line => line.startsWith('| ')).slice(2).map(line => line.split('|').map(cell => cell.trim()));
  assert.ok(lines.length >= 5, table);
  for (const [, what, , , peer] of lines) for (const words of [what, peer]) assert.ok(bench.includes(`'${words}'`), words);
});

test('README claims speed nowhere else', () => {
  assert.doesNotMatch(readme.replace(table, ''), /\d ?(?:×|MB\/s|GB\/s)|faster|as fast|times (?:less|smaller)/);
});
