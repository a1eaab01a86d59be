import {useMemo, useState} from 'preact/hooks';
import type {Warning} from '../../target/plain/pkg/oomscope';
import {clip} from '../format';
import {useMessages} from '../i18n';
import type {Place, Session} from '../state';
import {countColumn} from '../table/cells';
import type {Column} from '../table/model';
import {Table} from '../table/Table';
import {memo} from './memo';

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
  const [shown, setShown] = useState(false);
  const all = useMemo(() => notesOf(session), [session]);
  const source = session.captures.find(capture => capture.capture === place?.capture)?.source;
  const notes = useMemo(() => shown && source !== undefined ? all.filter(note => note.source === source) : all, [all, shown, source]);
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
      {notes.length > 0 && <Notes notes={notes} source={source} />}
    </section>
  );
});

function Notes({notes, source}: {notes: Note[]; source: string | undefined}) {
  const t = useMessages();
  const numbers = useMemo(() => new Map(notes.map((note, at) => [note, at])), [notes]);
  const columns = useMemo((): Column<Note>[] => [
    {key: 'note', name: t.what, value: ({warning}) => t.warning(warning), attrs: ({warning}) => ({class: 'text', title: warning.message})},
    {
      key: 'capture', name: t.source, width: 220, value: note => note.source, attrs: note => ({class: 'path', title: note.source}),
      cell: note => <>{clip(note.source, 400)}{note.source === source && <small class="muted"> {t.shownNow}</small>}</>,
    },
    {key: 'file', name: t.file, width: 200, value: ({warning}) => warning.file, cell: ({warning, source}) => clip(below(warning.file, source), 400), attrs: ({warning}) => ({class: 'path', title: warning.file})},
    countColumn(t, 'line', t.lineShort, ({warning}) => warning.line),
    {key: 'column', name: t.field, width: 140, value: ({warning}) => warning.field},
    {key: 'value', name: t.value, width: 140, value: ({warning}) => warning.value, cell: ({warning}) => clip(warning.value ?? ''), attrs: () => ({class: 'path'})},
  ], [t, source]);
  return (
    <Table test="notes" label={t.tabNames.quality} columns={columns} rows={notes} id={note => numbers.get(note) ?? 0} file="data-quality"
      rowAttrs={note => note.source === source ? {class: 'of-shown'} : {}} detail={({warning}) => <p class="whole">{clip(warning.message, 4000)}</p>} />
  );
}

/** The path of a file within its capture. */
const below = (file: string, source: string): string => file.startsWith(`${source}/`) ? file.slice(source.length + 1) : file;
