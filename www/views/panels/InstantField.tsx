import {useState} from 'preact/hooks';
import type {DeviceSummary} from '../../../target/plain/pkg/oomscope';
import {fieldMs, parseMs} from '../../format';
import {useMessages} from '../../i18n';

interface Props {
  label: string;
  ns: number | null;
  device: DeviceSummary;
  set: (ns: number) => void;
  test: string;
}

/** An exact instant, to read and to type. */
export function InstantField({label, ns, device, set, test}: Props) {
  const t = useMessages();
  const [draft, setDraft] = useState<string | null>(null);
  const typed = draft === null ? null : parseMs(draft);
  const wrong = draft !== null && (typed === null || typed < 0 || typed > device.end_ns);
  const commit = (): void => {
    if (typed !== null && !wrong) set(typed);
    setDraft(null);
  };
  return (
    <label>
      {label} <input class="time" inputMode="decimal" autocomplete="off" spellcheck={false} data-test={test} title={t.fieldTitle(fieldMs(device.end_ns))}
        value={draft ?? (ns === null ? '' : fieldMs(ns))} aria-invalid={wrong} onInput={event => setDraft(event.currentTarget.value)}
        onKeyDown={event => event.key === 'Enter' && commit()} onBlur={commit} /> ms
    </label>
  );
}
