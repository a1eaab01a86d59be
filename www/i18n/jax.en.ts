// English: what is said of JAX captures.
import type {Diagnosis} from '../../target/plain/pkg/oomscope';

const n = (value: number): string => value.toLocaleString('en');
const many = (value: number, one: string, more: string): string => `${n(value)} ${value === 1 ? one : more}`;

export const jaxEn = {
  // One line says the answer
  jaxNeeds: (needed: string, capacity: string | null): string => capacity === null ? `needs ${needed}` : `needs ${needed} of ${capacity}`,
  /** Before a line of Python. */
  jaxLine: (bytes: string, count: number) => `${bytes} at the peak, in ${many(count, 'buffer', 'buffers')}:`,
  jaxCounts: (modules: number, executions: number) => `${many(modules, 'module', 'modules')} · ${many(executions, 'execution', 'executions')}`,
  moduleSelect: 'Module',
  plansAlone: 'plans alone: nothing of an allocator was recorded',
  noModule: 'no module',

  // Verdicts
  noVerdict: 'Nothing in this capture points at a lack of memory.',
  severities: {error: 'error', warning: 'warning', info: 'note'},
  /** A name at its beginning stays as it is. */
  verdict: ({text}: Diagnosis): string => text.replace(/^[a-z]+(?=[\s:])/, word => word.charAt(0).toUpperCase() + word.slice(1)) + (text.endsWith('.') ? '' : '.'),
  fix: 'What helps',
  fixSaves: 'Saves',
  fixFits: 'Then',
  fixCost: 'Costs',
  fixConfirm: 'Confirm by',
  fixActions: {} as {[code: string]: string},
  fixCosts: {} as {[code: string]: string},
  upTo: (bytes: string) => `up to ${bytes}`,
  fitsThen: 'fits',
  fitsNot: 'does not fit yet',
  bases: {measured: 'measured', read: 'read', estimated: 'estimated'} as {[basis: string]: string},
  figureLabels: {} as {[label: string]: string},

  // Plan
  planTitle: (needed: string, capacity: string | null): string => capacity === null ? `Plan: needs ${needed}` : `Plan: needs ${needed} of ${capacity}`,
  planDonated: 'parameters, donated',
  planNotDonated: 'parameters, not donated',
  planOutputs: 'outputs with memory of their own',
  planConstants: 'constants',
  planTemp: 'temporaries',
  planNeeded: 'needed',
  planParameters1: 'parameters',
  planDonated1: 'donated',
  capacity: 'capacity of the pool',
  planParameters: (count: number, donated: number) => `${many(count, 'parameter', 'parameters')}, ${n(donated)} donated.`,
  planThreadLocal: (bytes: string) => `Beside it ${bytes} of the threads’ own.`,
  planOtherSpace: (space: number, bytes: string) => `Beside it ${bytes} in memory space ${space}${space === 5 ? ' (host)' : ''}.`,
  planRemat: (count: number) => `XLA rematerialized ${many(count, 'instruction', 'instructions')}.`,
  planFragmentation: 'lost between buffers in the plan',
  termsTitle: 'In the terms of training',
  terms: [
    'Parameters of the module: the model’s weights and the optimizer’s state. Adam in float32 has 12 bytes a parameter: weight, momentum, variance.',
    'Gradients: the backward role at the peak, and outputs where the step returns them.',
    'Activations: forward, kept for the backward pass.',
    'Step 1 passes and step N fails: in JAX the state is there before step 1, so look for growth from one execution to the next.',
  ],

  // Heap
  heapPeak: 'Heap peak',
  heapPeakTitle: (bytes: string, replay: string) => `At the heap’s peak: ${bytes}, ${replay} of it temporaries`,
  heapPeakNone: 'No temporaries',
  heapPeakNoneWhy: 'This module has no simulated heap: it needs no temporary memory, or the capture holds totals only.',
  heapPeakReplay: 'temporaries at their peak',
  roles: {forward: 'forward, kept for the backward pass', backward: 'backward', workspace: 'workspace of libraries', other: 'other'} as {[role: string]: string},
  otherBuffers: 'smaller buffers',
  squareHint: (count: number, bytes: string) =>
    `${many(count, 'buffer has', 'buffers have')} two equal trailing dimensions, ${bytes} together: a hint at attention’s scores (B · H · S · S).`,
  square: 'S × S?',
  squareTitle: 'Two equal trailing dimensions: a hint at attention’s scores',
  heapCurve: (events: number) => `Heap over the schedule: ${many(events, 'event', 'events')}`,

  // Tables
  bufferShape: 'Shape',
  bufferCount: 'Count',
  bufferRole: 'Role',
  bufferLine: 'Python line',
  bufferOp: 'Operation',
  bufferName: 'Largest instruction',
  bufferVia: (via: string) => `via ${via}`,
  userRemat: 'rematerialized on request',
  bytesIn: (unit: string) => unit,
  owner: 'From',
  usedAtStart: 'used at its start',
  liveAtStartTitle: (device: string, module: string, execution: number, bytes: string) => `${device}: ${bytes} in use when ${module} began, execution ${n(execution)}`,
  liveAtStartEmpty: 'Nothing is known of memory at run time: the capture has no allocator events, or this module did not run.',
  betweenExecutionsEmpty: 'This module did not run twice, or nothing of the host was recorded between its last two executions.',
  hostEvent: 'Host event',
  hostFunctions: 'Python functions around it',
  mayHold: 'may hold on to outputs',
  executionsShort: 'Runs',
  executionsEmpty: 'No execution was recorded.',
  launched: 'Launched',
  launchedWords: (launched: boolean | null): string => launched === null ? 'unknown' : launched ? 'yes' : 'nothing',
  retry: (device: string, start: string, duration: string, execution: string | null, inferred: boolean) =>
    `${device}: waited ${duration} for memory at ${start}${execution === null ? '' : `, in ${execution}`}${inferred ? ' (inferred from how long it took)' : ''}.`,
  module: 'Module',
  modulesEmpty: 'No compiled module is in this capture: it was made without Hlo Proto.',
  allocator: 'Allocator',
  allocatorsEmpty: 'No allocator events: a CPU or TPU capture, or one made with host_tracer_level below 2.',
  peakBefore: 'Before the first execution',
  peakBeforeTitle: 'The largest use before the first event of the capture: compilation, autotuning, earlier steps',
  hbm: 'Memory of the device',
  events: 'Events',
  host: 'Host',
  worstVerdict: 'Gravest verdict',
  hostEventCount: 'Times',
  lastExecutions: (shown: number, all: number) => `The last ${n(shown)} of ${many(all, 'execution', 'executions')}; the JSON report has them all.`,
  heapAxis: 'events of the schedule, in order →',
  waitMark: (bytes: string | null, duration: string, failed: boolean) => `${failed ? `asked for ${bytes ?? 'memory'} in vain` : 'waited for memory'}: ${duration}`,
  showWait: 'Show it on the chart',
  /** Who asked for memory, as the report names it. */
  ownerName: (owner: string): string => owner,
  byOwner: 'owner',
  moreOfOwners: 'by owner, size…',
  overlappingOwner: (blocks: number, bytes: string) =>
    blocks === 0 ? 'no other block of this owner overlaps it' : `${many(blocks, 'block', 'blocks')} of the same owner overlap it, ${bytes}`,

  // Self-test
  selfTestTitle: 'Self-test',
  selfTestWhat: 'Reads the built-in samples in this browser and compares what comes out with what is known of them. Nothing is uploaded.',
  selfTestRun: 'Run the self-test',
  selfTestRunning: 'Reading the samples…',
  selfTestResult: (values: number, wrong: number) => wrong === 0 ? `All ${n(values)} values are as they should be.` : `${n(wrong)} of ${n(values)} values are not as they should be.`,
  selfTestSample: 'Sample',
  selfTestFigure: 'Figure',
  selfTestExpected: 'Expected',
  selfTestFound: 'Found',
  selfTestEqual: 'Equal',
  selfTestYes: 'yes',
  selfTestNo: 'no',
  selfTestSamples: {
    'ascend-step': 'Ascend: a training step with call stacks',
    'ascend-ge': 'Ascend: a second pool, of the graph engine',
    'jax-oom': 'JAX: a step that does not fit',
    'jax-scan': 'JAX: a step with a scan that fits',
    'tf-retry': 'TensorFlow: an allocator that waits',
  } as {[code: string]: string},
};
