import type {Diagnosis, Fix, Number as Figure, WaitSummary} from '../../../target/plain/pkg/oomscope';
import {exactBytes, duration, int, size} from '../../format';
import type {Messages} from '../../i18n';
import {useMessages} from '../../i18n';
import {showRange} from '../../window';

/** So much of a wait is shown, as a part of the time before it. */
const BESIDE = 0.15;

const SIGNS = new Map([['error', '✖'], ['warning', '!'], ['info', 'i']]);

/** What is wrong, the gravest first, with what helps and what that costs. */
export function Verdicts({diagnosis, wait}: {diagnosis: Diagnosis[]; wait: WaitSummary | null}) {
  const t = useMessages();
  if (diagnosis.length === 0) return <p class="verdicts muted" data-test="verdicts">{t.noVerdict}</p>;
  return (
    <ul class="verdicts" data-test="verdicts">
      {diagnosis.map((verdict, at) => <Verdict key={at} verdict={verdict} open={at === 0 && verdict.severity === 'error'} wait={verdict.code === 'allocator-retry' ? wait : null} />)}
    </ul>
  );
}

function Verdict({verdict, open, wait}: {verdict: Diagnosis; open: boolean; wait: WaitSummary | null}) {
  const t = useMessages();
  const {code, severity, fixes, numbers} = verdict;
  const head = (
    <>
      <span class={`sign-${severity}`} role="img" aria-label={t.severities[severity as keyof typeof t.severities] ?? severity}>{SIGNS.get(severity) ?? ''}</span>
      {' '}<span class="verdict-text">{t.verdict(verdict)}</span>
    </>
  );
  if (fixes.length === 0 && numbers.length === 0) return <li class="verdict" data-code={code}>{head}</li>;
  return (
    <li class="verdict" data-code={code}>
      <details open={open}>
        <summary>{head}{fixes[0] !== undefined && <span class="verdict-fix muted"> → {t.fixActions[fixes[0].code] ?? fixes[0].action}</span>}</summary>
        {fixes.length > 0 && <Fixes fixes={fixes} />}
        {numbers.length > 0 && <Figures numbers={numbers} />}
        {wait !== null && <p class="confirm"><button type="button" class="plain link" data-test="show-wait" onClick={() => showWait(wait)}>{t.showWait}</button></p>}
      </details>
    </li>
  );
}

/** Takes the charts to where the allocator had no room. */
function showWait({time_ns, duration_ns}: WaitSummary): void {
  // A wait takes ten seconds; what led to it some milliseconds.
  const before = Math.max(1, time_ns);
  showRange({from: 0, to: time_ns + Math.min(duration_ns, before * BESIDE)});
  document.querySelector('.charts')?.scrollIntoView({block: 'nearest'});
}

function Fixes({fixes}: {fixes: Fix[]}) {
  const t = useMessages();
  return (
    <div class="table-box">
      <table class="fixes">
        <thead><tr><th>{t.fix}</th><th class="number">{t.fixSaves}</th><th>{t.fixFits}</th><th>{t.fixCost}</th></tr></thead>
        <tbody>
          {fixes.map(fix => (
            <tr key={fix.code}>
              <td class="text">{t.fixActions[fix.code] ?? fix.action}</td>
              <td class="number" title={isKnown(fix.saves_bytes) ? exactBytes(t, fix.saves_bytes) : undefined}>
                {isKnown(fix.saves_bytes) ? t.upTo(size(fix.saves_bytes)) : t.unknown}
                <small class="muted"> {t.bases[fix.basis] ?? fix.basis}</small>
              </td>
              <td>{isKnown(fix.fits_after) ? fix.fits_after ? t.fitsThen : t.fitsNot : t.unknown}</td>
              <td>{t.fixCosts[fix.code] ?? fix.cost}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {[...new Set(fixes.map(({confirm}) => confirm))].map(confirm => <p key={confirm} class="confirm muted">{t.fixConfirm}: <code>{confirm}</code></p>)}
    </div>
  );
}

function Figures({numbers}: {numbers: Figure[]}) {
  const t = useMessages();
  return (
    <dl class="figures">
      {numbers.map(({label, value, unit, basis}) => (
        <div key={label}>
          <dt>{t.figureLabels[label] ?? label}</dt>
          <dd title={unit === 'byte' ? exactBytes(t, value) : undefined}>{figure(t, value, unit)} <small class="muted">{t.bases[basis] ?? basis}</small></dd>
        </div>
      ))}
    </dl>
  );
}

const isKnown = <T,>(value: T | null | undefined): value is T => value !== null && value !== undefined;

function figure(t: Messages, value: number, unit: string): string {
  switch (unit) {
    case 'byte': return size(value);
    case 'ns': return duration(value);
    case 'permille': return `${(value / 10).toFixed(1)} %`;
    default: return int(t, value);
  }
}
