// 警告的中文：由程式碼和參數組成句子；沒有收錄的程式碼用英文原文。
import type {Warning} from '../../target/plain/pkg/oomscope';
import {classSize, size} from '../format';
import type {WarningCode} from './warnings';

const arg = (w: Warning, name: string): string => String(w.args[name] ?? '');
const count = (w: Warning, name: string): string => Number(arg(w, name)).toLocaleString('zh-Hant');
const place = (w: Warning): string => [
  w.line === null || w.line === undefined ? '' : `第 ${w.line.toLocaleString('zh-Hant')} 行`,
  w.field === null || w.field === undefined ? '' : `「${w.field}」${w.line === null || w.line === undefined ? '欄位' : '欄'}`,
].filter(Boolean).join('');
const value = (w: Warning): string => w.value === null || w.value === undefined ? '' : `：「${w.value}」`;

const ORIGINAL = '請使用分析工具生成的原始檔案';

/** What helps where memory is short. */
const ROOM = '請減少同時開啟的採集，或在頁面頂部提高記憶體上限；命令列預設不設上限。';

/** Whether what is missing was switched off when the capture was made. */
const isOff = (w: Warning): boolean => arg(w, 'off') === '1';

/** Reasons come in English from the parser. What follows a colon or stands in brackets may be anything and stays as it is. */
const REASONS = new Map([
  ['not a number', '不是數字'],
  ['the header stands here once more: two files were joined', '這裡又出現了表頭：兩個檔案被合併了'],
  ['a comma in a number, as some spreadsheets write it; take the file that the profiler wrote', `數字裡有逗號，有些電子表格會這樣儲存；${ORIGINAL}`],
  ['out of range', '超出範圍'],
  ['scientific notation: its digits are gone', '科學計數法，精度已丟失'],
  ['a block needs a size', '記憶體區塊必須有大小'],
  ['a block needs an allocation time', '記憶體區塊必須有申請時間'],
  ['an allocation is larger than 0', '申請的大小必須大於 0'],
  ['no block is that large', '不可能有這麼大的記憶體區塊'],
  ['no capture has blocks of so many bytes in all', '任何採集的記憶體區塊合計都不會有這麼多位元組'],
  ['the release lies before the allocation', '釋放早於申請'],
  ['a total is not negative', '總量不會是負數'],
  ['a sample needs a time', '取樣必須有時間'],
  ['the file is empty', '檔案是空的'],
  ['this is a zip archive or a spreadsheet; take the file that the profiler wrote', `這是 zip 壓縮包或電子表格；${ORIGINAL}`],
  ['the text is UTF-16; save it as UTF-8, or take the file that the profiler wrote', `文字是 UTF-16 編碼；請另存為 UTF-8，或${ORIGINAL.replace('請', '')}`],
  ['this is JSON, not CSV; take the file that the profiler wrote', `這是 JSON，不是 CSV；${ORIGINAL}`],
  ['this is no text; take the file that the profiler wrote', `這不是文字檔案；${ORIGINAL}`],
  ['this is HTML or XML, not CSV; take the file that the profiler wrote', `這是 HTML 或 XML，不是 CSV；${ORIGINAL}`],
  ['semicolons stand between the cells, as some spreadsheets write them; take the file that the profiler wrote', `單元格之間是分號，有些電子表格會這樣儲存；${ORIGINAL}`],
  ['tabs stand between the cells; take the file that the profiler wrote', `單元格之間是製表符；${ORIGINAL}`],
  ['the first line is no header; take the file that the profiler wrote', `第一行不是表頭；${ORIGINAL}`],
  ['the line is longer than 1 MiB; the row was set aside', '該行超過 1 MiB，未採用'],
  ['a quote is not closed; the row was set aside', '引號沒有閉合，該行未採用'],
  ['a carriage return stands inside the row: lines must end with a line feed; the row was set aside', '行內有回車符（每行必須以換行符結束），該行未採用'],
  ['the header cannot be read', '表頭無法讀取'],
  ['the line is longer than 1 MiB', '該行超過 1 MiB'],
  ['a quote is not closed', '引號沒有閉合'],
  ['a carriage return stands inside the row: lines must end with a line feed', '行內有回車符（每行必須以換行符結束）'],
  ['this is no JSON', '這不是 JSON'],
  ['this is no JSON object', '這不是 JSON 物件'],
  ['this event is no JSON; it was set aside', '這個事件不是 JSON，未採用'],
  ['this event has no end within 4 MiB, longer than profilers write; it was set aside', '這個事件在 4 MiB 內沒有結束，比分析工具寫出的事件更長，未採用'],
  ['this event is longer than 4 MiB, longer than profilers write; it was set aside', '這個事件超過 4 MiB，比分析工具寫出的事件更長，未採用'],
  ['the trace ends before this place, but more of it, or another one, follows and was not read; take the file that the profiler wrote', `trace 在此之前已經結束，但後面還有事件或另一個 trace，它們沒有讀取；${ORIGINAL}`],
  ['the trace ends before this place, and what follows is none of it and was not read; take the file that the profiler wrote', `trace 在此之前已經結束，後面的內容不屬於它，沒有讀取；${ORIGINAL}`],
  ['this is no trace: neither a JSON array nor an object with traceEvents', '這不是 trace：既不是 JSON 陣列，也沒有 traceEvents'],
  ['the file is too large to be what its name says', '檔案太大，與其名稱不符'],
  ['this is a folder, a pipe or a device, so it was not read; put the file that the profiler wrote in its place', '這是資料夾、管道或裝置，沒有讀取；請在此處放上分析工具寫出的檔案'],
  ['the gzip archive is cut or damaged', 'gzip 壓縮包不完整或已損壞，請重新複製該檔案'],
  ['the captures in this page are cut or damaged', '這個頁面裡的採集不完整或已損壞，請重新複製該檔案'],
]);
const translated = (text: string): string => {
  const whole = REASONS.get(text);
  if (whole !== undefined) return whole;
  const [, known, rest] = /^([^:(]*?)(?::| \() ?(.*)$/.exec(text) ?? [];
  const start = REASONS.get(known ?? '');
  if (start === undefined) return text;
  return text.includes(' (') ? `${start}（${/\(([^)]*)\)/.exec(text)?.[1] ?? ''}）` : `${start}：${translated(rest ?? '')}`;
};
/** Without a full stop of its own: the sentence has one. */
const reason = (w: Warning): string => translated(arg(w, 'reason')).replace(/[.。]+$/, '');

const MADE_ON = new Map([
  ['cpu', '它是在 CPU 上採集的，XLA 的配置器不統計 CPU 記憶體；請在 GPU 上採集'],
  ['damaged', '檔案被截斷或損壞，它們可能在丟失的部分裡；請重新複製檔案'],
  ['tpu', '它是在 TPU 上採集的，其配置器不寫事件；只有編譯計劃可看'],
  ['gpu', '它是在 GPU 上採集的，但 host_tracer_level 低於 2，或使用了 platform 配置器；請設定 jax.profiler.ProfileOptions().host_tracer_level = 2 並使用預設配置器'],
]);

const SENTENCES: Record<WarningCode, (w: Warning) => string> = {
  'missing-trace': w => `沒有 trace_view.json${isOff(w) ? '，採集時也設定了 with_stack=False' : ''}：因此沒有呼叫堆疊。採集時設定 with_stack=True，並把該檔案與 CSV 一起開啟。`,
  'missing-metadata': () => '沒有 profiler_metadata.json：角色取自上級資料夾的名字。',
  'unknown-rank': () => '不知道 rank：沒有 profiler_info_<rank>.json，也沒有 rank_id。該採集作為一個未命名的 rank 顯示。',
  'duplicate-rank': w => `同一資料夾裡有多個 profiler_info 檔案：採用了其中最小的 rank ${arg(w, 'taken')}。每個 rank 請各放一個資料夾。`,
  'missing-column': w => arg(w, 'required') === '1'
    ? `缺少必需的欄「${w.field ?? ''}」；檔案裡有這些欄：${arg(w, 'columns')}。請使用分析工具生成的原始 operator_memory.csv。`
    : `沒有「${w.field ?? ''}」欄，因此不知道該項數字；檔案裡有這些欄：${arg(w, 'columns')}。`,
  'bad-value': w => `${place(w)}的值無法採用${value(w)}（${reason(w)}）。${w.line === null || w.line === undefined ? '該事件' : '該行'}未採用。`,
  'imprecise-time': w => `${place(w)}的時間用了科學計數法${value(w)}，精度已丟失，通常是用電子表格儲存造成的。請使用分析工具生成的原始檔案。`,
  'empty-name': w => `${count(w, 'rows')} 行沒有運算子名，歸入「（未歸屬）」。`,
  'cut-file': w => w.args['planes'] !== undefined ? '檔案在此處的一個訊息中間中斷：之前完整的部分都已採用。請重新複製該檔案。' : w.args['events'] === undefined ? '檔案在最後一行中間中斷：之前的行都已採用。' : `trace 在此中斷，沒有結束的括號：之前的 ${count(w, 'events')} 個事件已採用。`,
  'damaged-file': w => w.args['cells'] === undefined ? `檔案有損壞：${reason(w)}。` : `該行有 ${count(w, 'cells')} 個單元格，而表頭有 ${count(w, 'header')} 個：該行未採用。`,
  'not-utf8': w => `${count(w, 'rows')} 行的運算子名不是 UTF-8 編碼，有些字元已丟失。${ORIGINAL}。`,
  'doubled-rows': w => `${count(w, 'rows')} 行重複出現（時間、大小和總量都相同），被計算了兩次。${ORIGINAL}。`,
  'foreign-trace': () => 'trace 中沒有任何運算子與記憶體區塊在同一時間執行，因此沒有呼叫堆疊。請使用同一次採集的 trace_view.json。',
  'duplicate-file': w => `同一資料夾裡還有 ${arg(w, 'taken')}，採用的是那個檔案；這個檔案沒有讀取。`,
  'baseline-rise': w => `基線上升了 ${count(w, 'count')} 次，共 ${size(Number(arg(w, 'bytes')))}：檔案缺少這些申請的行。`
    + (arg(w, 'set_aside') === '0' ? '' : `有 ${count(w, 'set_aside')} 行未採用，可能就是缺少的行。`),
  'no-stacks': w => `trace 中沒有呼叫堆疊${isOff(w) ? '，採集時設定了 with_stack=False' : ''}：採集時設定 with_stack=True（或 with_modules=True）。`,
  'missing-memory-record': () => '沒有 memory_record.csv，也沒有 npu_module_mem.csv：不知道框架以外的記憶體。',
  'unsupported-export': w => arg(w, 'snapshot') === '1'
    ? '這是 torch 記憶體配置器的快照，本版本尚不能讀取。請用 torch_npu.profiler.profile(profile_memory=True, with_stack=True) 採集，它會生成 operator_memory.csv。'
    : '本版本尚不能讀取這種匯出。請同時匯出文字：export_type=[ExportType.Text]，它會生成 operator_memory.csv。',
  'not-analysed': w => `這是尚未解析的原始採集。請在裝有 torch_npu 的機器上執行 torch_npu.profiler.profiler.analyse("${w.file}")，再開啟該資料夾。`,
  'no-operator-memory': w => `資料夾裡沒有 operator_memory.csv${isOff(w) ? '，採集時設定了 profile_memory=False' : ''}：採集時設定 profile_memory=True。`,
  'no-totals': () => '沒有任何一行給出已配置總量，因此不知道採集之前申請的記憶體：顯示的只是各記憶體區塊之和，不是裝置的記憶體。',
  'no-blocks': () => '檔案裡沒有一行可用：沒有可顯示的記憶體區塊。',
  'unreadable-file': w => `檔案讀取失敗：${reason(w)}。它可能在讀取時被移動、修改或禁止訪問；請重新開啟。`,
  'blocks-folded': w => `由於記憶體不足，${count(w, 'blocks')} 個不超過 ${classSize(Number(arg(w, 'up_to_bytes')))} 的記憶體區塊已折疊：它們仍計入所有總量（峰值時共 ${size(Number(arg(w, 'peak_bytes')))}），但沒有名字、呼叫堆疊和行號。${ROOM}`,
  'names-dropped': w => `由於記憶體不足，${count(w, 'rows')} 行遺失了運算子名，歸入 (name dropped)。${ROOM}`,
  'stacks-dropped': w => `由於記憶體不足，${count(w, 'operators')} 個運算子遺失了呼叫堆疊。${ROOM}`,
  'memory-full': () => `記憶體已用盡：從這一行起的各行沒有計入。${ROOM}`,
  'events-too-many': () => `記憶體不足以保存執行時的事件：只給出編譯計劃。${ROOM}`,
  'more-warnings': w => `還有 ${count(w, 'count')} 條 ${arg(w, 'code')} 說明沒有逐條列出。`,
  'empty-report': () => '這份報告裡沒有採集。請在採集所在的資料夾重新生成報告。',
  'unsupported-report': w => `本版本不能讀取 ${arg(w, 'what')}。請用更新的版本開啟，或用本版本重新生成報告。`,
  'no-session': () => '這個網頁裡沒有儲存採集資料。請在其中開啟採集，再選擇「匯出 ▸ 儲存為 HTML」。',
  'duplicate-capture': () => '同一份採集開啟了不止一次：只計一次。',
  'same-source': () => '不同的採集路徑相同：全部計入。要區分它們，請從名字各不相同的資料夾生成報告。',
  'joined-capture': w => `平面 ${arg(w, 'plane')} 出現了兩次：兩份採集被合併成了一個檔案，並被當作一份讀取。請開啟 profiler 寫出的原始檔案。`,
  'no-allocator-events': w => `採集中沒有配置器事件，因此不知道執行時的記憶體：${MADE_ON.get(arg(w, 'made_on')) ?? ''}。`,
  'no-hlo-proto': w => arg(w, 'tensorflow') === '1'
    ? '採集中沒有編譯計劃（沒有任何模組的 Hlo Proto）：TensorFlow 不會寫入它。'
    : '採集中沒有編譯計劃（沒有任何模組的 Hlo Proto）：採集時關閉了 enable_hlo_proto，或者某個工具在縮短檔案時去掉了 /host:metadata。請用 jax.profiler.trace 重新採集。',
  'ge-release-only': w => `GE 記憶體池有 ${count(w, 'rows')} 行只有釋放、沒有申請：它們的申請早於採集。`,
};

const byCode = new Map<string, (w: Warning) => string>(Object.entries(SENTENCES));

export function warningZhHant(warning: Warning): string {
  return byCode.get(warning.code)?.(warning) ?? warning.message;
}
