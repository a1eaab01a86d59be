import type {DeviceSummary} from '../../target/plain/pkg/oomscope';
import {fieldMs, parseMs} from '../format';
import {useMessages} from '../i18n';
import {TextField} from './TextField';

interface Props {
  /** null: no instant is chosen. */
  ns: number | null;
  label: string;
  device: DeviceSummary;
  test: string;
  /** False where the instant makes no sense. */
  take: (ns: number) => boolean;
}

/** An exact instant, to be read and to be typed. */
export function TimeField({ns, label, device, test, take}: Props) {
  const t = useMessages();
  const taken = (typed: string): boolean => {
    const ns = parseMs(typed);
    return ns !== null && take(ns);
  };
  return <TextField text={ns === null ? '' : fieldMs(ns)} label={label} unit="ms" title={t.fieldTitle(fieldMs(device.end_ns))} test={test} take={taken} />;
}
