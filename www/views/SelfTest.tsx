import {useState} from 'preact/hooks';
import type {CheckedSummary} from '../../target/plain/pkg/oomscope';
import {clip} from '../format';
import {useMessages} from '../i18n';
import {reasonOf} from '../reason';
import {selfTest} from '../selftest';

type Outcome = 'none' | 'running' | CheckedSummary[] | {failed: string};

/** Whether this page reads what it should in this browser: every value of the built-in samples beside what it should be. */
export function SelfTest() {
  const t = useMessages();
  const [outcome, setOutcome] = useState<Outcome>('none');
  const run = (): void => {
    setOutcome('running');
    selfTest().then(setOutcome).catch(error => setOutcome({failed: reasonOf(error)}));
  };
  return (
    <section class="self-test">
      <h3>{t.selfTestTitle}</h3>
      <p class="muted">{t.selfTestWhat}</p>
      <button type="button" data-test="self-test" disabled={outcome === 'running'} onClick={run}>{t.selfTestRun}</button>
      <span role="status">{outcome === 'running' ? ` ${t.selfTestRunning}` : ''}</span>
      {typeof outcome === 'object' && ('failed' in outcome ? <p class="bad">{clip(outcome.failed)}</p> : <Rows rows={outcome} />)}
    </section>
  );
}

function Rows({rows}: {rows: CheckedSummary[]}) {
  const t = useMessages();
  const wrong = rows.filter(({equal}) => !equal).length;
  return (
    <>
      <p class={wrong === 0 ? '' : 'bad'} data-test="self-test-result" data-rows={rows.length} data-wrong={wrong}>{t.selfTestResult(rows.length, wrong)}</p>
      <div class="table-box">
        <table class="groups">
          <thead><tr><th>{t.selfTestSample}</th><th>{t.selfTestFigure}</th><th class="number">{t.selfTestExpected}</th><th class="number">{t.selfTestFound}</th><th>{t.selfTestEqual}</th></tr></thead>
          <tbody>
            {rows.map(({sample, figure, expected, found, equal}) => (
              <tr key={`${sample} ${figure}`}>
                <td>{t.selfTestSamples[sample] ?? sample}</td>
                <td class="path"><code>{figure}</code></td>
                <td class="number path"><code>{expected}</code></td>
                <td class="number path"><code>{clip(found)}</code></td>
                <td class={equal ? '' : 'bad'}>{equal ? t.selfTestYes : t.selfTestNo}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
