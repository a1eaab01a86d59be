import type {CaptureSummary, DeviceSummary} from '../../target/plain/pkg/oomscope';
import {clip, exactBytes, exactTime, instant, size, time} from '../format';
import {useMessages} from '../i18n';
import {placeName} from '../names';
import {show} from '../place';
import {peakShown} from '../said';
import type {Place} from '../state';
import {set} from '../state';
import {memo} from './memo';

interface Props {
  captures: CaptureSummary[];
  /** Those that the filter takes; null: all. */
  taken: ReadonlySet<number> | null;
  place: Place;
  capture: CaptureSummary;
  device: DeviceSummary;
}

/** One line says the answer. */
export const Answer = memo(function Answer({captures, taken, place, capture, device}: Props) {
  const t = useMessages();
  const {peak} = device;
  const peakTitle = `${exactBytes(t, peak.total_bytes)} · ${exactTime(t, peak.time_ns, device.end_ns)} · ${instant(device.base_ns, peak.time_ns)}`;
  return (
    <div class="answer">
      <PlaceSelect captures={captures} taken={taken} place={place} />
      <button type="button" class="plain strong" title={peakTitle} onClick={peakShown}>
        {t.peakAt(size(peak.total_bytes), time(t, peak.time_ns, device.end_ns))}
      </button>
      <button type="button" class="plain" data-test="alive-at-end" title={exactBytes(t, device.alive_at_end_bytes)} onClick={() => set({tab: 'end'})}>
        {t.aliveAtEnd(device.alive_at_end_blocks, size(device.alive_at_end_bytes))}
      </button>
      {capture.warnings.some(warning => warning.code === 'unreadable-file') && (
        <button type="button" class="plain bad" onClick={() => set({tab: 'quality'})}>{t.readInPart}</button>
      )}
      {capture.warnings.length > 0 && (
        <button type="button" class="plain warn" onClick={() => set({tab: 'quality'})}>{t.notes(capture.warnings.length)}</button>
      )}
    </div>
  );
});

export function PlaceSelect({captures, taken, place}: Pick<Props, 'captures' | 'taken' | 'place'>) {
  const t = useMessages();
  const choose = (value: string): void => {
    const [capture = 0, device = 0] = value.split(' ').map(Number);
    show({capture, device});
  };
  const names = captures.flatMap(capture => capture.devices.map(device => placeName(t, capture, device)));
  // Two captures of one rank and role would read alike once the list is closed.
  const named = (capture: CaptureSummary, device: DeviceSummary): string => {
    const name = placeName(t, capture, device);
    return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} · ${clip(capture.source)}`;
  };
  return (
    <select data-test="capture-select" aria-label={t.captureSelect} value={`${place.capture} ${place.device}`}
      title={clip(captures.find(capture => capture.capture === place.capture)?.source ?? '')}
      onChange={event => choose(event.currentTarget.value)}>
      {captures.filter(capture => taken === null || taken.has(capture.capture) || capture.capture === place.capture).map(capture => (
        <optgroup key={capture.capture} label={clip(capture.source)}>
          {capture.devices.length === 0 && <option value={`${capture.capture} 0`}>{clip(capture.role ?? capture.source)}</option>}
          {capture.devices.map((device, index) => (
            <option key={index} value={`${capture.capture} ${index}`}>{named(capture, device)}</option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}
