// How much memory captures may take, where nobody says.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {load} from './bundled.mjs';

const {LEAST, MOST, chosenBudget, defaultBudget} = await load('www/memory.ts');

test('half of the machine, as far as the browser tells of it', () => {
  assert.equal(defaultBudget(undefined), 2048);
  assert.deepEqual([0.25, 2, 8, 32].map(defaultBudget), [128, 1024, MOST, MOST]);
});

test('what a person writes is an amount within bounds, or nothing', () => {
  assert.deepEqual(['512', '1.4', '99999'].map(chosenBudget), [512, LEAST, MOST]);
  assert.deepEqual(['512M', '1 GiB', '1.5g', '1GB', '64 mib'].map(chosenBudget), [512, 1024, 1536, 954, 64]);
  assert.deepEqual(['', ' ', 'x', '-5', '0', 'Infinity', '5 parsecs', '1e3', 'GiB'].map(chosenBudget), Array(9).fill(null));
});
