// What the page and its workers say to each other. The small messages of the engine come from Rust (tsify); this is the rest.
import type {
  BetweenAnswer, BetweenRequest, BlockDetail, BlocksAnswer, BlocksRequest, By, CaptureFiles, CaptureSummary, CheckedSummary, ChosenAnswer, ComparisonSummary,
  Difference, FlameAnswer, FlameRequest, FoundMessage, Gantt, GroupedRequest, GrowthAnswer, HistogramAnswer, JaxAnswer, LanesAnswer, LiveAnswer,
  LiveRequest, ReserveAnswer, SavedPage, SearchAnswer, SearchRequest, SelectAnswer, SomeRequest, TopAnswer, TopRequest, ViewRequest,
} from '../target/plain/pkg/oomscope';

/** So many rows have the lists of the report that have no end of their own, as on the command line. */
export const REPORT_TOP = 25;

export type Variant = 'plain' | 'threads';

/** One drawing of a view: a value per pixel column, a bar picture per lane. Made by the engine, owned by the page. */
export interface Frame {
  from_ns: number;
  to_ns: number;
  width_px: number;
  total_min: Float64Array;
  total_max: Float64Array;
  baseline_min: Float64Array;
  baseline_max: Float64Array;
  reserved_min: Float64Array;
  reserved_max: Float64Array;
  active_min: Float64Array;
  active_max: Float64Array;
  y_max: number;
  /** The further curves that were asked for, and the largest value among them. */
  outside_min?: Float64Array;
  outside_max?: Float64Array;
  reserved_gap_min?: Float64Array;
  reserved_gap_max?: Float64Array;
  active_gap_min?: Float64Array;
  active_gap_max?: Float64Array;
  filtered_min?: Float64Array;
  filtered_max?: Float64Array;
  lines_max: number;
  /** What lies below the curves, as it was asked for; the fields below belong to it. */
  gantt: Gantt | null;
  /** Whether stacks were guessed. */
  nearest: boolean;
  /** Counts the pictures. */
  picture: number;
  pixels?: Uint8ClampedArray;
  /** The same as rectangles, where they were asked for. */
  shapes?: Uint32Array;
  /** Rows × columns: the block there, or a number from FIRST_NO_BLOCK on. Of lanes two rows each, front and second; of a stack one a pixel. */
  blocks?: Uint32Array;
  /** Lanes × columns: how many further blocks live there. */
  folded?: Uint32Array;
  /** Of lanes: the blocks that live in the window; and where the second bar begins. */
  counts?: Uint32Array;
  split_px?: number;
  /** Of a row for each block: who they are, the lanes of their operators, their sizes, how many there are in the window, and how many can have a row. */
  row_blocks?: Uint32Array;
  row_lanes?: Uint32Array;
  row_bytes?: Float64Array;
  rows_total?: number;
  rows_most?: number;
  /** Of a stack: the bytes at its lower and its upper edge. */
  y_from?: number;
  y_to?: number;
  /** Of ranks: rows × columns, the largest total. */
  rank_max?: Float64Array;
}

/** What a module's heap holds over its schedule, a value per column. */
export interface HeapCurve {
  min: Float64Array;
  max: Float64Array;
  events: number;
  peak_event: number;
  peak_bytes: number;
}

/** In the cells of a stack: blocks too thin for a band of their own; memory from before the capture. No block: 0xffffffff. */
export const FIRST_NO_BLOCK = 0xfffffffd;
export const SMALL_BLOCKS = FIRST_NO_BLOCK;
export const BASELINE = 0xfffffffe;

/** What the engine can be asked. */
export interface EngineCalls {
  discover(paths: string[]): FoundMessage;
  add(scanned: Scanned): void;
  build(): CaptureSummary[];
  attach(capture: number, origins: Scanned): CaptureSummary;
  frame(request: ViewRequest): Frame;
  block(capture: number, device: number, block: number, nearest: boolean): BlockDetail;
  lanes(capture: number, device: number, by: By, nearest: boolean): LanesAnswer;
  lane_of(capture: number, device: number, by: By, nearest: boolean, block: number): number | undefined;
  neighbour(of: SomeRequest, by: By, block: number, later: boolean): number | undefined;
  busiest(of: SomeRequest, length_ns: number): number | undefined;
  largest_block(of: SomeRequest): number | undefined;
  next_large(of: SomeRequest, least_bytes: number, after_ns: number): number | undefined;
  chosen(of: SomeRequest): ChosenAnswer;
  search(request: SearchRequest): SearchAnswer;
  live(request: LiveRequest): LiveAnswer;
  between(request: BetweenRequest): BetweenAnswer;
  growth(request: GroupedRequest): GrowthAnswer;
  blocks(request: BlocksRequest): BlocksAnswer;
  blocks_csv(request: BlocksRequest): Uint8Array;
  flame(request: FlameRequest): FlameAnswer | null;
  reserve(capture: number, device: number): ReserveAnswer;
  top(request: TopRequest): TopAnswer;
  histograms(request: GroupedRequest): HistogramAnswer;
  select(ranks: string, role: string | undefined): SelectAnswer;
  sniff(first: Uint8Array): 'report' | 'page' | 'other' | undefined;
  add_report(path: string, bytes: Uint8Array): void;
  add_page(path: string, bytes: Uint8Array): SavedPage;
  comparison(top: number): ComparisonSummary;
  difference(a: number, b: number): Difference;
  markdown(top: number): string;
  text(top: number): string;
  jax(capture: number, module: string | undefined, top: number): JaxAnswer;
  heap(capture: number, module: string, columns: number): HeapCurve | null;
  report(top: number): string;
  table_begin(lines: boolean, nearest: boolean): void;
  table_next(): Uint8Array;
  saved(stacks: boolean, folders: boolean): Uint8Array;
  saved_page(page: string, packed: Uint8Array, view: string): Uint8Array;
  open_saved(packed: Uint8Array): CaptureSummary[];
  memory(): number;
  clear(): void;
}

/** What a scanner hands over, blocks, parts of a trace or origins: opaque to the page, but for the buffers that move with it. */
export interface Scanned {
  transfer: ArrayBuffer[];
}

/** From, until; the last range of a file has no end. */
export type ByteRange = readonly [number, number];

/** A file under the path that `discover` was given. */
export interface ListedFile {
  path: string;
  file: File;
}

/** A capture to be scanned. */
export type ScanInput = AscendInput | {xplane: ListedFile; memory: MemoryPart};

/** What all captures may take, and the bytes of the files of this one and of all: each has the part of its files. */
export interface MemoryPart {
  bytes: number;
  own: number;
  all: number;
}

export interface AscendInput {
  memory: MemoryPart;
  capture: CaptureFiles;
  operator_memory: ListedFile[];
  profiler_info: ListedFile | null;
  profiler_metadata: ListedFile | null;
  memory_record: ListedFile | null;
  npu_module_mem: ListedFile | null;
  trace: ListedFile | null;
}

/** What a thread of the engine's pool needs to join it. */
export interface ThreadStart {
  type: 'thread';
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  receiver: number;
}

export type ToWorker =
  | {type: 'main'; module: WebAssembly.Module; threads: number}
  | ThreadStart
  | {type: 'threads_up'}
  /** For the scanner of a capture; a trace is cut into at most so many pieces. */
  | {type: 'scan'; module: WebAssembly.Module; input: ScanInput; pieces: number}
  /** For the same: what another worker has read of the trace. */
  | {type: 'part'; part: Scanned}
  /** For a helper: a range of a trace to read. */
  | {type: 'range'; module: WebAssembly.Module; trace: ListedFile; range: ByteRange}
  /** The files of the self-test, by their paths. */
  | {type: 'self_test'; module: WebAssembly.Module; files: Map<string, Uint8Array>}
  | {type: 'call'; id: number; method: keyof EngineCalls; args: unknown[]};

export type FromWorker =
  /** It holds the lock that tells that it lives. */
  | {type: 'alive'}
  | {type: 'ready'; threads: number}
  | {type: 'spawn'; count: number; init: ThreadStart}
  | {type: 'up'}
  | {type: 'progress'; bytes: number}
  /** How the trace is cut for helpers; no ranges where the scanner reads it alone. */
  | {type: 'cut'; ranges: ByteRange[]}
  /** A range is read. */
  | {type: 'part'; part: Scanned}
  /** The tables are read: blocks to draw. */
  | {type: 'scanned'; result: Scanned}
  /** The trace is read, or there is none: the scanner has done its work. */
  | {type: 'traced'; result: Scanned | null}
  /** What the self-test found. */
  | {type: 'checked'; rows: CheckedSummary[]}
  | {type: 'reply'; id: number; value: unknown}
  | {type: 'refused'; id: number; message: string}
  /** The wasm trapped: this worker is of no more use. */
  | {type: 'panic'; message: string};
