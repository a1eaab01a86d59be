// Keeps the report about the chosen module of the shown JAX capture, and the curve of that module's heap, in step with the state.
import type {JaxAnswer} from '../target/plain/pkg/oomscope';
import {engine, ignoreEnded} from './engine';
import {newest} from './newest';
import type {HeapCurve} from './protocol';
import {REPORT_TOP} from './protocol';
import {get, jaxAt, plotWidth, set} from './state';

interface Question {
  capture: number;
  /** Null: the one that matters most, whose report is there already. */
  chosen: string | null;
  /** Whose heap. */
  module: string | null;
  columns: number;
}

interface Answer {
  report: JaxAnswer | null;
  heap: HeapCurve | null;
}

const ask = newest<Question, Answer>(
  async ({capture, chosen, module, columns}) => ({
    report: chosen === null ? null : await engine.call('jax', [capture, chosen, REPORT_TOP]),
    heap: module === null ? null : await engine.call('heap', [capture, module, columns]),
  }),
  ({report, heap}, {capture, chosen}) => {
    const {place, module} = get();
    if (place?.capture !== capture || module !== chosen) return;
    set({heap, jaxReport: report === null ? null : {capture, report: report.report}});
  },
  ignoreEnded,
);

let asked = '';

/** Called after each change of the state. */
export function syncJax(): void {
  const s = get();
  const report = jaxAt(s);
  if (s.place === null || report === null || s.session?.lost !== false) {
    asked = '';
    return;
  }
  const planned = (name: string | null | undefined): string | null => report.modules.some(module => module.name === name) ? name ?? null : null;
  const question: Question = {capture: s.place.capture, chosen: s.module, module: planned(s.module ?? report.chosen_module), columns: plotWidth(s)};
  const key = JSON.stringify([question, s.session.captures.length]);
  if (key === asked) return;
  asked = key;
  ask(question);
}
