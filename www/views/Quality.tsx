import {useState} from 'preact/hooks';
import type {Warning} from '../../target/plain/pkg/oomscope';
import {clip, int} from '../format';
import {useMessages} from '../i18n';
import type {Place, Session} from '../state';
import {memo} from './memo';

const ROWS_AT_ONCE = 200;

/** A warning and the capture, or the report file, that it belongs to. */
interface Note {
  source: string;
  warning: Warning;
}

/** Everything that the captures left to be noted; before a capture is built, what its files alone say. */
export function notesOf({found, captures, comparison}: Session): Note[] {
  const built = new Set(captures.map(capture => capture.source));
  const notes = ({source, warnings}: {source: string; warnings: Warning[]}): Note[] => warnings.map(warning => ({source, warning}));
  return [
    ...captures.flatMap(notes),
    ...comparison?.captures.filter(capture => capture.report !== null && capture.report !== undefined).flatMap(notes) ?? [],
    ...comparison?.warnings.map(warning => ({source: warning.file, warning})) ?? [],
    ...found.captures.filter(capture => !built.has(capture.source)).flatMap(notes),
  ];
}

export const Quality = memo(function Quality({session, place}: {session: Session; place: Place | null}) {
  const t = useMessages();
  const [rows, setRows] = useState(ROWS_AT_ONCE);
  const [shown, setShown] = useState(false);
  const all = notesOf(session);
  const source = session.captures.find(capture => capture.capture === place?.capture)?.source;
  const notes = shown && source !== undefined ? all.filter(note => note.source === source) : all;
  if (all.length === 0) return <p class="empty">{t.qualityEmpty}</p>;
  return (
    <section class="answers" data-test="panel-quality">
      <div class="answers-head">
        <h2>{t.qualityTitle(notes.length, new Set(notes.map(note => note.source)).size)}</h2>
        {source !== undefined && session.found.captures.length > 1 && (
          <label><input type="checkbox" data-test="quality-shown" checked={shown} onChange={event => setShown(event.currentTarget.checked)} /> {t.onlyShownCapture}</label>
        )}
      </div>
      {notes.length === 0 && <p class="muted">{t.qualityEmptyHere}</p>}
      {notes.length > 0 && (
        <div class="table-box">
          <table>
            <thead>
              <tr><th>{t.what}</th><th>{t.source}</th><th>{t.file}</th><th class="number">{t.lineShort}</th><th>{t.field}</th><th>{t.value}</th></tr>
            </thead>
            <tbody>{notes.slice(0, rows).map((note, index) => <Row key={index} note={note} current={note.source === source} />)}</tbody>
          </table>
        </div>
      )}
      {notes.length > rows && (
        <button type="button" class="plain link" onClick={() => setRows(rows + ROWS_AT_ONCE)}>{t.more(notes.length - rows)}</button>
      )}
    </section>
  );
});

function Row({note: {source, warning}, current}: {note: Note; current: boolean}) {
  const t = useMessages();
  const {file, line, field, value, message} = warning;
  return (
    <tr class={current ? 'of-shown' : undefined}>
      <td class="text" title={clip(message, 1000)}>{t.warning(warning)}</td>
      <td class="path">{source}{current && <small class="muted"> {t.shownNow}</small>}</td>
      <td class="path" title={file}>{below(file, source)}</td>
      <td class="number">{line === undefined || line === null ? '' : int(t, line)}</td>
      <td>{field ?? ''}</td>
      <td class="path">{clip(value ?? '')}</td>
    </tr>
  );
}

/** The path of a file within its capture. */
const below = (file: string, source: string): string => file.startsWith(`${source}/`) ? file.slice(source.length + 1) : file;
