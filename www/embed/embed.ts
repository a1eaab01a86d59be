// Other pages open files here by messages, and get the report back. Who may: an origin on the list in the address, or with a person's yes.
// A report goes only over the port that came with the files it reports on, and only while these are what is open.
import type {Fault, Id, Incoming, Outgoing} from './messages';
import {envelope, parse} from './messages';
import {EngineEnded, engine} from '../engine';
import {bytesOf, itemsOf} from '../found';
import {isFramed} from '../isolation';
import type {Opened} from '../open';
import {PARAMETERS} from '../parameters';
import {takeView, viewNow, wrongInView} from '../hash';
import {REPORT_TOP} from '../protocol';
import {openGiven} from '../session';
import type {Scan, Session} from '../state';
import {get, set, subscribe} from '../state';

/** Progress and views are told this often at most. */
const TELL_MS = 200;

type Answer = (message: Outgoing) => void;

/** An `open` that is followed: what it opened, and where to tell of it. */
interface Followed {
  id: Id;
  opened: Opened[];
  answer: Answer;
  /** `opening` until the page has listed the files; `told`: the report is out. */
  phase: 'opening' | 'reading' | 'reporting' | 'told';
  view: string | null;
  wanted: string | null;
  /** Of a `select` that is to be answered with what it shows. */
  selected: {id: Id} | null;
}

/** The person said yes to these, for as long as the page lives. */
const trusted = new Set<string>(PARAMETERS.allow);
/** How often the person said no to whom; beyond the limit nobody is asked any more. */
const refusals = new Map<string, number>();
const MOST_REFUSALS = 3;
let followed: Followed | null = null;
let timer = 0;

export function startEmbedding(): void {
  if (!PARAMETERS.embed) return;
  addEventListener('message', event => {
    if (event.source !== null && event.source !== self) void take(event, event.source as Window);
  });
  subscribe(() => {
    if (timer === 0) timer = setTimeout(tell, TELL_MS);
  });
  // To whoever it is: it says nothing but that the page is there.
  if (isFramed()) parent.postMessage(envelope({type: 'ready'}), '*');
}

async function take({data, origin, ports}: MessageEvent, source: Window): Promise<void> {
  const parsed = parse(data);
  if (parsed === null) return;
  const {id, message, fault} = parsed;
  const [port] = ports;
  // An error holds nothing of anybody's files.
  const answer: Answer = port === undefined ? said => source.postMessage(envelope(said), '*') : said => port.postMessage(envelope(said));
  const refuse = (fault: Fault): void => answer({type: 'error', id, ...fault});
  if (fault !== undefined) return refuse(fault);
  if (message.type === 'ping') return answer({type: 'pong', id, allowed: isAllowed(origin)});
  if (message.type === 'select') return refuse({code: 'no-port', message: 'select goes over the port that came with open'});
  if (port === undefined) return refuse({code: 'no-port', message: 'open needs a MessagePort, over which the report goes back'});
  if (get().asked !== null) return refuse({code: 'busy', message: 'a person is being asked about other files'});
  const wrong = wrongInView(message.view ?? '');
  if (wrong !== null) return refuse({code: 'malformed', message: `view: ${wrong}`});
  if (!isAllowed(origin)) {
    if ((refusals.get(origin) ?? 0) >= MOST_REFUSALS) return refuse({code: 'refused', message: `the person before the page said no ${MOST_REFUSALS} times and is not asked again`});
    answer({type: 'asking', id});
    if (!await isPermitted(origin, message.files)) return refuse({code: 'refused', message: 'the person before the page said no'});
  }
  await open(message, port, answer);
}

const isNamed = (origin: string): boolean => origin !== 'null' && origin !== '';

/** The page's own origin could do as it likes anyway. Those without a name are asked about each time: "null" may be anybody. */
const isAllowed = (origin: string): boolean => isNamed(origin) && (trusted.has(origin) || origin === self.origin);

/** Asks the person before the page. */
async function isPermitted(origin: string, files: {data: Blob}[]): Promise<boolean> {
  const named = isNamed(origin);
  const yes = await new Promise<boolean>(resolve => set({
    asked: {origin: named ? origin : null, files: files.length, bytes: files.reduce((sum, {data}) => sum + data.size, 0), answer: resolve},
  }));
  set({asked: null});
  if (!yes) refusals.set(origin, (refusals.get(origin) ?? 0) + 1);
  else if (named) trusted.add(origin);
  return yes;
}

async function open({id, files, view}: Extract<Incoming, {type: 'open'}>, port: MessagePort, answer: Answer): Promise<void> {
  const opened = files.map(({path, data}): Opened => ({path, file: () => Promise.resolve(asFile(path, data))}));
  if (followed !== null) drop({code: 'replaced', message: 'other files were opened'});
  const mine: Followed = {id, opened, answer, phase: 'opening', view: null, wanted: view, selected: null};
  followed = mine;
  port.onmessage = ({data}) => select(mine, data);
  const before = get().session?.opened;
  await openGiven(opened);
  if (followed !== mine) return;
  const now = get().session?.opened;
  if (get().engineFailure !== null) return drop({code: 'engine', message: 'the engine does not start in this browser'});
  if (now === before) return drop({code: 'nothing-found', message: 'there is no capture among these files'});
  if (now !== opened) return drop({code: 'replaced', message: 'other files were opened'});
  mine.phase = 'reading';
  tell();
}

const asFile = (path: string, data: Blob): File => data instanceof File ? data : new File([data], path.slice(path.lastIndexOf('/') + 1));

/** What comes over the port is from who opened the files. */
function select(from: Followed, data: unknown): void {
  const parsed = parse(data);
  if (parsed === null) return;
  const {id, message, fault} = parsed;
  const refuse = (fault: Fault): void => from.answer({type: 'error', id, ...fault});
  if (fault !== undefined) return refuse(fault);
  if (message.type === 'ping') return from.answer({type: 'pong', id, allowed: true});
  if (message.type !== 'select') return refuse({code: 'unknown-type', message: 'over the port only select and ping are heard'});
  if (followed !== from) return refuse({code: 'replaced', message: 'other files were opened'});
  const wrong = wrongInView(message.view);
  if (wrong !== null) return refuse({code: 'malformed', message: `view: ${wrong}`});
  from.selected = {id};
  takeView(message.view);
  tell();
}

function drop(fault: Fault): void {
  followed?.answer({type: 'error', id: followed.id, ...fault});
  followed = null;
}

/** After a change of the state: how far it is, the report when it is there, then the views. */
function tell(): void {
  clearTimeout(timer);
  timer = 0;
  if (followed === null || followed.phase === 'opening') return;
  const {session, walked} = get();
  if (session?.opened !== followed.opened) return drop({code: 'replaced', message: 'other files were opened'});
  // An engine that ended is started anew with the same files, unless that was in vain.
  if (session.lost && walked !== null) return;
  if (session.lost) return drop({code: 'engine', message: 'the engine ended'});
  if (session.scans.some(({phase}) => phase === 'cancelled')) return drop({code: 'cancelled', message: 'the person before the page cancelled the reading'});
  if (followed.phase === 'reading') {
    followed.answer({type: 'progress', id: followed.id, ...progressOf(session)});
    if (session.readingSince === null) void report(followed);
  }
  if (followed.phase === 'told') tellView(followed);
}

function progressOf({found, sizes, scans}: Session): Pick<Extract<Outgoing, {type: 'progress'}>, 'bytes_read' | 'bytes_total' | 'captures_ready' | 'captures_total'> {
  const totals = itemsOf(found).map(item => bytesOf(item, sizes));
  const isReady = ({phase}: Scan): boolean => phase === 'done' || phase === 'failed';
  return {
    // Readers tell what they read only now and then.
    bytes_read: scans.reduce((sum, scan, index) => sum + (isReady(scan) ? totals[index] ?? 0 : Math.min(scan.bytesRead, totals[index] ?? 0)), 0),
    bytes_total: totals.reduce((sum, bytes) => sum + bytes, 0),
    captures_ready: scans.filter(isReady).length,
    captures_total: scans.length,
  };
}

async function report(to: Followed): Promise<void> {
  to.phase = 'reporting';
  try {
    const report = await engine.call('report', [REPORT_TOP]);
    // Other files may be open by now.
    if (followed !== to || get().session?.opened !== to.opened) return;
    to.phase = 'told';
    to.answer({type: 'report', id: to.id, report});
    if (to.wanted !== null) takeView(to.wanted);
    tell();
  } catch (error) {
    if (followed !== to) return;
    if (error instanceof EngineEnded) to.phase = 'reading';
    else drop({code: 'engine', message: 'the report cannot be made'});
  }
}

function tellView(to: Followed): void {
  const view = viewNow();
  if (view === null || (view === to.view && to.selected === null)) return;
  to.answer({type: 'select', id: (to.selected ?? to).id, view});
  to.view = view;
  to.selected = null;
}
