// Fuzzes the messages of other pages: `node tests/fuzz/page/run.mjs SECONDS GROWN KEPT FOUND`, three folders: of what reaches new code, of the kept
// seeds, and of what fails. Says at its end how many inputs there were, in libFuzzer's words.
import {createHash} from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {format} from 'node:util';
import {addressOf} from '../../page/bundled.mjs';
import {checkOf} from './messages.mjs';
import {fuzz} from './guided.mjs';

const MODULE = 'www/embed/messages.ts';
const [seconds, grown, seeds, found] = process.argv.slice(2);

const read = folder => fs.readdirSync(folder).map(file => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')));
const write = (folder, tree) => {
  const text = JSON.stringify(tree);
  const file = path.join(folder, `${createHash('sha1').update(text).digest('hex')}.json`);
  fs.writeFileSync(file, text);
  return file;
};

const url = await addressOf(MODULE);
const end = performance.now() + Number(seconds) * 1000;
const {finding, ...told} = fuzz({
  check: checkOf(await import(url)), url, kept: [...read(seeds), ...read(grown)], keep: tree => write(grown, tree), goesOn: () => performance.now() < end, seed: Date.now(),
});
console.error(JSON.stringify(told));
if (finding) console.error(`${write(found, finding.tree)}\n${format('%s', finding.error.stack)}\n${JSON.stringify(finding.tree).slice(0, 2000)}`);
console.error(`stat::number_of_executed_units: ${told.executions}`);
process.exitCode = finding ? 1 : 0;
