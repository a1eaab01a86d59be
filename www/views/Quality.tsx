import {useState} from 'preact/hooks';
import type {Warning} from '../../target/plain/pkg/oomscope';
import {int} from '../format';
import {useMessages} from '../i18n';
import type {Session} from '../state';
import {memo} from './memo';

const ROWS_AT_ONCE = 200;

/** Everything that the captures left to be noted; before a capture is built, what its files alone say. */
export function notesOf({found, captures, comparison}: Session): Warning[] {
  const built = new Set(captures.map(capture => capture.source));
  return [
    ...captures.flatMap(capture => capture.warnings),
    ...comparison?.captures.filter(capture => capture.report !== null && capture.report !== undefined).flatMap(capture => capture.warnings) ?? [],
    ...comparison?.warnings ?? [],
    ...found.captures.filter(capture => !built.has(capture.source)).flatMap(capture => capture.warnings),
  ];
}

export const Quality = memo(function Quality({notes}: {notes: Warning[]}) {
  const t = useMessages();
  const [rows, setRows] = useState(ROWS_AT_ONCE);
  if (notes.length === 0) return <p class="empty">{t.qualityEmpty}</p>;
  return (
    <div class="table-box">
      <table>
        <thead>
          <tr><th>{t.what}</th><th>{t.file}</th><th class="number">{t.lineShort}</th><th>{t.field}</th><th>{t.value}</th></tr>
        </thead>
        <tbody>
          {notes.slice(0, rows).map((note, index) => (
            <tr key={index}>
              <td class="text" title={note.message}>{t.warning(note)}</td>
              <td class="path">{note.file}</td>
              <td class="number">{note.line === undefined || note.line === null ? '' : int(t, note.line)}</td>
              <td>{note.field ?? ''}</td>
              <td class="path">{note.value ?? ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {notes.length > rows && (
        <button type="button" class="plain link" onClick={() => setRows(rows + ROWS_AT_ONCE)}>{t.more(notes.length - rows)}</button>
      )}
    </div>
  );
});
