// The fuzzer of messages (tests/fuzz/page) finds defects that are put into the page's module, and none in the module as it is.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {test} from 'node:test';
import {addressOf} from './bundled.mjs';
import {fuzz} from '../fuzz/page/guided.mjs';
import {checkOf} from '../fuzz/page/messages.mjs';

const SEEDS = 'tests/fuzz/corpus/messages';
const kept = fs.readdirSync(SEEDS).map(file => JSON.parse(fs.readFileSync(`${SEEDS}/${file}`, 'utf8')));
const MOST = 200_000;

const run = async (change, most) => {
  const url = await addressOf('www/embed/messages.ts', change);
  return fuzz({check: checkOf(await import(url)), url, kept, keep: () => {}, goesOn: executions => executions < most, seed: 1});
};

test('the module as it is stands', async () => {
  const {finding, outcomes, covered} = await run(text => text, 10_000);
  assert.equal(finding, undefined, finding?.error.stack);
  assert.ok(outcomes > 12 && covered > 2000, `${outcomes} outcomes, ${covered} characters`);
});

for (const [defect, pattern, instead] of [
  ['a path may climb', /\|\|\w+===".."/, ''],
  ['inherited fields count', /Object\.hasOwn\((\w+),(\w+)\)\?\1\[\2\]:void 0/, '$1[$2]'],
  ['a field is read twice', /Object\.hasOwn\((\w+),(\w+)\)\?\1\[\2\]:void 0/, 'Object.hasOwn($1,$2)?($1[$2],$1[$2]):void 0'],
  ['a limit is one too high', /\.length>4096\)throw new \w+\("malformed","view/, match => match.replace('4096', '4097')],
  ['an id may lose digits', 'Number.isSafeInteger', 'Number.isInteger'],
  ['two files of one path', /throw new \w+\("malformed",`files\[\$\{\w+\}\]: there are two/, match => match.replace('throw', 'void')],
  ['an answer is answered', '"report","error"]', '"report"]'],
  ['a refusal names no field', 'view must be', 'this must be'],
  ['a prototype is changed', '"a message"', '(Object.prototype.seen=1,"a message")'],
]) {
  test(`found: ${defect}`, async t => {
    t.after(() => delete Object.prototype.seen);
    const {finding, executions} = await run(text => {
      const changed = text.replace(pattern, instead);
      assert.notEqual(changed, text, 'the defect is in');
      return changed;
    }, MOST);
    assert.ok(finding, `not in ${executions} inputs`);
    t.diagnostic(`after ${executions} inputs: ${finding.error.message.split('\n')[0]}`);
  });
}
