// English. Its keys are the keys of every language: a language that lacks one does not type-check.
import type {Warning} from '../../target/plain/pkg/oomscope';

const n = (value: number): string => value.toLocaleString('en');
const many = (value: number, one: string, more: string): string => `${n(value)} ${value === 1 ? one : more}`;
const list = (names: string[], more: boolean): string => names.map(name => `“${name}”`).join(', ') + (more ? ', …' : '');

/** The sentence of a warning where a table shows its place in columns of its own. */
function withoutPlace({message, file}: Warning): string {
  if (!message.startsWith(file)) return message;
  const rest = message.slice(file.length).replace(/^ line \d+/, '').replace(/^ \(?byte \d+\)?/, '');
  const sentence = rest.startsWith(': ') ? rest.slice(2) : `the file${rest}`;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

export const en = {
  code: 'en',
  name: 'English',

  // Header
  open: 'Open',
  openFiles: 'Files…',
  openFolder: 'Folder…',
  samples: 'Samples',
  sampleNames: {ascend_sample: 'Ascend, two roles of two ranks'} as {[name: string]: string},
  exportJson: 'Export JSON',
  exportTitle: 'The report of all captures, as the command line writes it',
  language: 'Language',
  privacy: (threads: number) => `nothing leaves this page · ${many(threads, 'thread', 'threads')}`,
  privacyStarting: 'nothing leaves this page · starting',
  close: 'Close',
  openAgain: 'Open again',

  // First visit
  startTitle: 'What filled the device’s memory, when, and who asked for it',
  startReads: 'Reads the folders of the Ascend PyTorch Profiler (*_ascend_pt, with operator_memory.csv): one rank or many, VeRL’s roles included.',
  startShows: 'Shows the peak to the byte, every block that was alive at it, and each allocation on a time line.',
  startPrivate: 'Files are read where they lie, by this page. Nothing is uploaded: the page’s own policy forbids every connection.',
  startDrop: 'Drop a folder or files anywhere, or',
  startOpenFiles: 'Open files…',
  startOpenFolder: 'Open a folder…',
  folderQuestion: 'The browser asks whether to “upload” the folder’s files: it means handing them to this page. They are not sent anywhere.',
  startSample: (name: string) => `Try a sample: ${name}`,
  startHow: 'How to make such a capture',
  startTorch: 'torch_npu, in the training script',
  startVerl: 'VeRL, in the configuration',
  startJax: 'JAX: .xplane.pb files of jax.profiler.trace are not read by this version yet.',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Select and copy by hand',
  dropHere: (replaces: boolean): string => replaces ? 'Drop to open: what is open now is replaced' : 'Drop to open',

  // Opening
  walking: (paths: number) => `Looking through the folders: ${many(paths, 'file', 'files')} so far`,
  reading: (done: string, total: string) => `Reading ${done} of ${total}`,
  rate: (perSecond: string) => `${perSecond}/s`,
  timeLeft: (text: string) => `about ${text} left`,
  replaying: (captures: number) => `Replaying ${many(captures, 'capture', 'captures')}`,
  cancel: 'Cancel',
  foundTitle: (captures: number, paths: number) => `Found ${many(captures, 'capture', 'captures')} in ${many(paths, 'file', 'files')}`,
  foundRead: (captures: number) => `${n(captures)} read`,
  foundFailed: (captures: number) => `${n(captures)} not usable`,
  foundCancelled: (captures: number) => `${n(captures)} cancelled`,
  source: 'Capture',
  role: 'Role',
  rank: 'Rank',
  memoryFile: 'operator_memory.csv',
  traceFile: 'trace_view.json',
  missing: 'Missing, and what that costs',
  status: 'State',
  none: 'none',
  unknown: 'unknown',
  costTrace: 'trace_view.json: no call stacks',
  costMetadata: 'profiler_metadata.json: the role comes from the folder’s name',
  costRecord: 'memory_record.csv: nothing about memory outside the framework',
  phases: {
    waiting: 'waiting', reading: 'reading', tracing: 'read; reading call stacks', building: 'replaying', done: 'read', failed: 'not read', cancelled: 'cancelled',
  },
  unusable: 'not usable',
  rows: (read: number) => many(read, 'row', 'rows'),
  setAside: (rows: number) => `${n(rows)} set aside`,

  // One line says the answer
  captureSelect: 'Capture and device',
  rankName: (rank: number) => `rank ${rank}`,
  rankUnknown: 'rank unknown',
  peak: 'peak',
  peakAt: (bytes: string, time: string) => `peak ${bytes} at ${time}`,
  aliveAtEnd: (blocks: number, bytes: string) =>
    blocks === 0 ? 'no block alive at the end' : `alive at the end: ${many(blocks, 'block', 'blocks')}, ${bytes}`,
  readInPart: 'read in part: the figures may be too low',
  notes: (count: number) => many(count, 'note', 'notes'),

  // Charts
  trendTitle: 'Device memory over time',
  trendLabel: (peak: string, time: string) => `Memory over time: peak ${peak} at ${time}. W and S zoom, A and D pan, P goes to the peak.`,
  total: 'total',
  baseline: 'baseline',
  reserved: 'reserved',
  active: 'active',
  baselineTitle: 'Allocated before the capture began: it has no rows of its own',
  lanesTitle: (operators: number, blocks: number) => `Blocks by operator: ${many(operators, 'operator', 'operators')}, ${many(blocks, 'block', 'blocks')}`,
  lanesLabel: (operators: number) => `A lane for each of ${many(operators, 'operator', 'operators')}, a bar for each block. Click a bar for its block.`,
  laneTitle: (name: string, blocks: number, bytes: string) => `${name}: ${many(blocks, 'block', 'blocks')}, ${bytes} in all`,
  unattributed: '(unattributed)',
  drawing: 'Drawing…',
  chartsLost: 'What had been read went with the engine that ended. The figures beside are still right; for the charts open the files again.',
  overviewLabel: 'The whole capture, with the window on screen',
  left: 'Left',
  right: 'Right',
  fieldTitle: (end: string) => `Milliseconds since the first event, 0 to ${end}`,
  previousWindow: 'Previous window ([)',
  nextWindow: 'Next window (])',
  zoomIn: 'Zoom in (W)',
  zoomOut: 'Zoom out (S)',
  wholeCapture: 'All (0)',
  toPeak: 'Peak (P)',
  toSelection: 'Fit the selection (F)',
  hint: 'wheel, W S zoom · drag, A D pan · drag on the trend selects · F fits it · 0 all · P peak · click pins',

  // Blocks
  size: 'Size',
  start: 'Start',
  end: 'End',
  duration: 'Duration',
  notReleased: 'not released in the capture',
  openEnd: (text: string) => `at least ${text}`,
  overlapping: (blocks: number, bytes: string) =>
    blocks === 0 ? 'no other block of this operator overlaps it' : `${many(blocks, 'block', 'blocks')} of the same operator overlap it, ${bytes}`,
  blockTitle: 'Block',
  blockEmpty: 'Click a bar to see its block here.',
  blockLoading: 'Asking for the block…',
  backInPool: 'Back in the pool',
  totals: 'Totals reported',
  atAllocation: 'at allocation',
  atRelease: 'at release',
  allocated: 'allocated',
  stream: 'Stream',
  device: 'Device',
  line: 'Line of the file',
  largestOf: (shown: number, all: number) => `the ${n(shown)} largest of ${n(all)}`,
  unpin: 'Unpin (Esc)',

  // Call stacks
  callStack: 'Call stack, outermost first',
  stackReasons: {
    'own': 'own: the operator carries it',
    'task-queue': 'task queue: the operator that queued this work carries it',
    'ancestor': 'ancestor: the operator around it carries it',
    'forward': 'forward: the stack of the forward operator that this backward belongs to',
    'python': 'python: the Python functions around the operator',
    'no-stacks': 'None: the trace holds no call stacks (profile with with_stack=True).',
    'no-operator': 'None: no operator of this name was running at this time.',
    'ambiguous': 'None: operators of this name were running on several threads at this time.',
    'not-carried': 'None: neither the operator nor anything around it carries a stack.',
  },
  stacks: 'Call stacks at the peak',
  stacksEmpty: 'No call stacks: they come from trace_view.json, once it is read.',
  stacksFound: (found: number, all: number) => `${n(found)} of ${n(all)} blocks with a call stack`,
  userFrame: 'First user frame',
  noStack: '(no call stack)',

  // Peak
  atPeak: (bytes: string) => `At the peak: ${bytes}`,
  operator: 'Operator',
  blocks: 'Blocks',
  more: (count: number) => `${n(count)} more…`,
  fewer: 'Fewer',
  showLane: 'Show its lane',

  // Tables
  captures: 'Captures',
  quality: 'Data quality',
  qualityEmpty: 'Nothing to note: every row was used.',
  captureTime: 'Taken',
  pool: 'Pool',
  rowsRead: 'Rows',
  rowsSetAside: 'Set aside',
  peakBytes: 'Peak',
  peakTime: 'Peak at',
  baselineAtPeak: 'Baseline',
  aliveBlocks: 'Alive at the end',
  noteCount: 'Notes',
  fromReport: (file: string) => `from the report ${file}: no curves`,
  notUsable: 'could not be used: see Data quality',
  what: 'What',
  file: 'File',
  lineShort: 'Line',
  field: 'Column',
  value: 'Value',
  capturesEmpty: 'No capture is ready yet.',
  capturesStopped: 'Nothing was read. The files are still at hand.',
  nothingToShow: 'None of the captures could be used. Data quality says why.',

  // Trouble
  nothingFound: (paths: number, names: string[], more: boolean) =>
    paths === 0
      ? 'Nothing was found: what was dropped holds no files. Looked for folders *_ascend_pt or *_ascend_ms with operator_memory.csv.'
      : `No capture among ${many(paths, 'file', 'files')}: ${list(names, more)}. Looked for operator_memory.csv, best inside its folder *_ascend_pt or *_ascend_ms.`,
  notYetRead: (paths: string[]) =>
    `${many(paths.length, 'JAX capture is', 'JAX captures are')} not read by this version yet: ${list(paths.slice(0, 3), paths.length > 3)}.`,
  folderUnreadable: (name: string, count: number) =>
    `This browser does not let the page read ${count > 1 ? `${n(count)} dropped folders, “${name}” among them` : `the dropped folder “${name}”`}. `
    + 'What works: Open ▸ Folder…, or dropping the folder’s files themselves.',
  tooDeep: (path: string, count: number, deepest: number) =>
    `${many(count, 'folder lies', 'folders lie')} more than ${n(deepest)} levels deep and ${count === 1 ? 'was' : 'were'} not looked into: “${path}”${count > 1 ? ', …' : ''}.`
    + ' Drop a folder nearer to the capture.',
  tooMany: (most: number) => `Only the first ${n(most)} files were looked at. Drop a folder nearer to the captures.`,
  openFailed: (reason: string) => `What was dropped could not be opened: ${reason}`,
  captureFailed: (source: string, reason: string) =>
    `“${source}” could not be read: ${reason}. Everything else goes on.`,
  fileFailed: (path: string, reason: string) => `“${path}” could not be opened, so what it would tell is missing: ${reason}. Open it again.`,
  engineDied: (reason: string) =>
    `The engine ended: ${reason}. A fresh one has been started; the files are still at hand and can be opened again with one click.`,
  engineFailed: (reason: string) =>
    `The engine did not start: ${reason}. It needs WebAssembly with SIMD and DecompressionStream: Chrome 91, Firefox 113, Safari 16.4 or newer.`,
  drawingFailed: (reason: string) => `The trend cannot be drawn: ${reason}. Figures, lanes and tables are not affected.`,
  exportFailed: (reason: string) => `The report could not be written: ${reason}`,

  warning: withoutPlace,
};

export type StackReason = keyof typeof en.stackReasons;
