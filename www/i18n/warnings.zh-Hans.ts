// 警告的中文：由代码和参数组成句子；没有收录的代码用英文原文。
import type {Warning} from '../../target/plain/pkg/oomscope';
import {classSize, size} from '../format';
import type {WarningCode} from './warnings';

const arg = (w: Warning, name: string): string => String(w.args[name] ?? '');
const count = (w: Warning, name: string): string => Number(arg(w, name)).toLocaleString('zh-Hans');
const place = (w: Warning): string => [
  w.line === null || w.line === undefined ? '' : `第 ${w.line.toLocaleString('zh-Hans')} 行`,
  w.field === null || w.field === undefined ? '' : `“${w.field}”${w.line === null || w.line === undefined ? '字段' : '列'}`,
].filter(Boolean).join('');
const value = (w: Warning): string => w.value === null || w.value === undefined ? '' : `：“${w.value}”`;

const ORIGINAL = '请使用分析工具生成的原始文件';

/** What helps where memory is short. */
const ROOM = '请减少同时打开的采集，或在页面顶部提高内存上限；命令行默认不设上限。';

/** Whether what is missing was switched off when the capture was made. */
const isOff = (w: Warning): boolean => arg(w, 'off') === '1';

/** Reasons come in English from the parser. What follows a colon or stands in brackets may be anything and stays as it is. */
const REASONS = new Map([
  ['not a number', '不是数字'],
  ['the header stands here once more: two files were joined', '这里又出现了表头：两个文件被合并了'],
  ['a comma in a number, as some spreadsheets write it; take the file that the profiler wrote', `数字里有逗号，有些电子表格会这样保存；${ORIGINAL}`],
  ['out of range', '超出范围'],
  ['scientific notation: its digits are gone', '科学计数法，精度已丢失'],
  ['a block needs a size', '内存块必须有大小'],
  ['a block needs an allocation time', '内存块必须有申请时间'],
  ['an allocation is larger than 0', '申请的大小必须大于 0'],
  ['no block is that large', '不可能有这么大的内存块'],
  ['no capture has blocks of so many bytes in all', '任何采集的内存块合计都不会有这么多字节'],
  ['the release lies before the allocation', '释放早于申请'],
  ['a total is not negative', '总量不会是负数'],
  ['a sample needs a time', '采样必须有时间'],
  ['the file is empty', '文件是空的'],
  ['this is a zip archive or a spreadsheet; take the file that the profiler wrote', `这是 zip 压缩包或电子表格；${ORIGINAL}`],
  ['the text is UTF-16; save it as UTF-8, or take the file that the profiler wrote', `文本是 UTF-16 编码；请另存为 UTF-8，或${ORIGINAL.replace('请', '')}`],
  ['this is JSON, not CSV; take the file that the profiler wrote', `这是 JSON，不是 CSV；${ORIGINAL}`],
  ['this is no text; take the file that the profiler wrote', `这不是文本文件；${ORIGINAL}`],
  ['this is HTML or XML, not CSV; take the file that the profiler wrote', `这是 HTML 或 XML，不是 CSV；${ORIGINAL}`],
  ['semicolons stand between the cells, as some spreadsheets write them; take the file that the profiler wrote', `单元格之间是分号，有些电子表格会这样保存；${ORIGINAL}`],
  ['tabs stand between the cells; take the file that the profiler wrote', `单元格之间是制表符；${ORIGINAL}`],
  ['the first line is no header; take the file that the profiler wrote', `第一行不是表头；${ORIGINAL}`],
  ['the line is longer than 1 MiB; the row was set aside', '该行超过 1 MiB，未采用'],
  ['a quote is not closed; the row was set aside', '引号没有闭合，该行未采用'],
  ['a carriage return stands inside the row: lines must end with a line feed; the row was set aside', '行内有回车符（每行必须以换行符结束），该行未采用'],
  ['the header cannot be read', '表头无法读取'],
  ['the line is longer than 1 MiB', '该行超过 1 MiB'],
  ['a quote is not closed', '引号没有闭合'],
  ['a carriage return stands inside the row: lines must end with a line feed', '行内有回车符（每行必须以换行符结束）'],
  ['this is no JSON', '这不是 JSON'],
  ['this is no JSON object', '这不是 JSON 对象'],
  ['this event is no JSON; it was set aside', '这个事件不是 JSON，未采用'],
  ['this event has no end within 4 MiB, longer than profilers write; it was set aside', '这个事件在 4 MiB 内没有结束，比分析工具写出的事件更长，未采用'],
  ['this event is longer than 4 MiB, longer than profilers write; it was set aside', '这个事件超过 4 MiB，比分析工具写出的事件更长，未采用'],
  ['the trace ends before this place, but more of it, or another one, follows and was not read; take the file that the profiler wrote', `trace 在此之前已经结束，但后面还有事件或另一个 trace，它们没有读取；${ORIGINAL}`],
  ['the trace ends before this place, and what follows is none of it and was not read; take the file that the profiler wrote', `trace 在此之前已经结束，后面的内容不属于它，没有读取；${ORIGINAL}`],
  ['this is no trace: neither a JSON array nor an object with traceEvents', '这不是 trace：既不是 JSON 数组，也没有 traceEvents'],
  ['the file is too large to be what its name says', '文件太大，与其名称不符'],
  ['this is a folder, a pipe or a device, so it was not read; put the file that the profiler wrote in its place', '这是文件夹、管道或设备，没有读取；请在此处放上分析工具写出的文件'],
  ['the gzip archive is cut or damaged', 'gzip 压缩包不完整或已损坏，请重新复制该文件'],
  ['the captures in this page are cut or damaged', '这个页面里的采集不完整或已损坏，请重新复制该文件'],
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
  ['cpu', '它是在 CPU 上采集的，XLA 的分配器不统计 CPU 内存；请在 GPU 上采集'],
  ['damaged', '文件被截断或损坏，它们可能在丢失的部分里；请重新复制文件'],
  ['tpu', '它是在 TPU 上采集的，其分配器不写事件；只有编译计划可看'],
  ['gpu', '它是在 GPU 上采集的，但 host_tracer_level 低于 2，或使用了 platform 分配器；请设置 jax.profiler.ProfileOptions().host_tracer_level = 2 并使用默认分配器'],
]);

const SENTENCES: Record<WarningCode, (w: Warning) => string> = {
  'missing-trace': w => `没有 trace_view.json${isOff(w) ? '，采集时也设置了 with_stack=False' : ''}：因此没有调用栈。采集时设置 with_stack=True，并把该文件与 CSV 一起打开。`,
  'missing-metadata': () => '没有 profiler_metadata.json：角色取自上级文件夹的名字。',
  'unknown-rank': () => '不知道 rank：没有 profiler_info_<rank>.json，也没有 rank_id。该采集作为一个未命名的 rank 显示。',
  'duplicate-rank': w => `同一文件夹里有多个 profiler_info 文件：采用了其中最小的 rank ${arg(w, 'taken')}。每个 rank 请各放一个文件夹。`,
  'missing-column': w => arg(w, 'required') === '1'
    ? `缺少必需的列“${w.field ?? ''}”；文件里有这些列：${arg(w, 'columns')}。请使用分析工具生成的原始 operator_memory.csv。`
    : `没有“${w.field ?? ''}”列，因此不知道该项数字；文件里有这些列：${arg(w, 'columns')}。`,
  'bad-value': w => `${place(w)}的值无法采用${value(w)}（${reason(w)}）。${w.line === null || w.line === undefined ? '该事件' : '该行'}未采用。`,
  'imprecise-time': w => `${place(w)}的时间用了科学计数法${value(w)}，精度已丢失，通常是用电子表格保存造成的。请使用分析工具生成的原始文件。`,
  'empty-name': w => `${count(w, 'rows')} 行没有算子名，归入“（未归属）”。`,
  'cut-file': w => w.args['planes'] !== undefined ? '文件在此处的一个消息中间中断：之前完整的部分都已采用。请重新复制该文件。' : w.args['events'] === undefined ? '文件在最后一行中间中断：之前的行都已采用。' : `trace 在此中断，没有结束的括号：之前的 ${count(w, 'events')} 个事件已采用。`,
  'damaged-file': w => w.args['cells'] === undefined ? `文件有损坏：${reason(w)}。` : `该行有 ${count(w, 'cells')} 个单元格，而表头有 ${count(w, 'header')} 个：该行未采用。`,
  'not-utf8': w => `${count(w, 'rows')} 行的算子名不是 UTF-8 编码，有些字符已丢失。${ORIGINAL}。`,
  'doubled-rows': w => `${count(w, 'rows')} 行重复出现（时间、大小和总量都相同），被计算了两次。${ORIGINAL}。`,
  'foreign-trace': () => 'trace 中没有任何算子与内存块在同一时间运行，因此没有调用栈。请使用同一次采集的 trace_view.json。',
  'duplicate-file': w => `同一文件夹里还有 ${arg(w, 'taken')}，采用的是那个文件；这个文件没有读取。`,
  'baseline-rise': w => `基线上升了 ${count(w, 'count')} 次，共 ${size(Number(arg(w, 'bytes')))}：文件缺少这些申请的行。`
    + (arg(w, 'set_aside') === '0' ? '' : `有 ${count(w, 'set_aside')} 行未采用，可能就是缺少的行。`),
  'no-stacks': w => `trace 中没有调用栈${isOff(w) ? '，采集时设置了 with_stack=False' : ''}：采集时设置 with_stack=True（或 with_modules=True）。`,
  'missing-memory-record': () => '没有 memory_record.csv，也没有 npu_module_mem.csv：不知道框架以外的内存。',
  'unsupported-export': w => arg(w, 'snapshot') === '1'
    ? '这是 torch 内存分配器的快照，本版本尚不能读取。请用 torch_npu.profiler.profile(profile_memory=True, with_stack=True) 采集，它会生成 operator_memory.csv。'
    : '本版本尚不能读取这种导出。请同时导出文本：export_type=[ExportType.Text]，它会生成 operator_memory.csv。',
  'not-analysed': w => `这是尚未解析的原始采集。请在装有 torch_npu 的机器上运行 torch_npu.profiler.profiler.analyse("${w.file}")，再打开该文件夹。`,
  'no-operator-memory': w => `文件夹里没有 operator_memory.csv${isOff(w) ? '，采集时设置了 profile_memory=False' : ''}：采集时设置 profile_memory=True。`,
  'no-totals': () => '没有任何一行给出已分配总量，因此不知道采集之前申请的内存：显示的只是各内存块之和，不是设备的内存。',
  'no-blocks': () => '文件里没有一行可用：没有可显示的内存块。',
  'unreadable-file': w => `文件读取失败：${reason(w)}。它可能在读取时被移动、修改或禁止访问；请重新打开。`,
  'blocks-folded': w => `由于内存不足，${count(w, 'blocks')} 个不超过 ${classSize(Number(arg(w, 'up_to_bytes')))} 的内存块已折叠：它们仍计入所有总量（峰值时共 ${size(Number(arg(w, 'peak_bytes')))}），但没有名字、调用栈和行号。${ROOM}`,
  'names-dropped': w => `由于内存不足，${count(w, 'rows')} 行丢失了算子名，归入 (name dropped)。${ROOM}`,
  'stacks-dropped': w => `由于内存不足，${count(w, 'operators')} 个算子丢失了调用栈。${ROOM}`,
  'memory-full': () => `内存已用尽：从这一行起的各行没有计入。${ROOM}`,
  'events-too-many': () => `内存不足以保存运行时的事件：只给出编译计划。${ROOM}`,
  'more-warnings': w => `还有 ${count(w, 'count')} 条 ${arg(w, 'code')} 说明没有逐条列出。`,
  'empty-report': () => '这份报告里没有采集。请在采集所在的文件夹重新生成报告。',
  'unsupported-report': w => `本版本不能读取 ${arg(w, 'what')}。请用更新的版本打开，或用本版本重新生成报告。`,
  'no-session': () => '这个网页里没有保存采集数据。请在其中打开采集，再选择“导出 ▸ 保存为 HTML”。',
  'duplicate-capture': () => '同一份采集打开了不止一次：只计一次。',
  'same-source': () => '不同的采集路径相同：全部计入。要区分它们，请从名字各不相同的文件夹生成报告。',
  'joined-capture': w => `平面 ${arg(w, 'plane')} 出现了两次：两份采集被合并成了一个文件，并被当作一份读取。请打开 profiler 写出的原始文件。`,
  'no-allocator-events': w => `采集中没有分配器事件，因此不知道运行时的内存：${MADE_ON.get(arg(w, 'made_on')) ?? ''}。`,
  'no-hlo-proto': w => arg(w, 'tensorflow') === '1'
    ? '采集中没有编译计划（没有任何模块的 Hlo Proto）：TensorFlow 不会写入它。'
    : '采集中没有编译计划（没有任何模块的 Hlo Proto）：采集时关闭了 enable_hlo_proto，或者某个工具在缩短文件时去掉了 /host:metadata。请用 jax.profiler.trace 重新采集。',
  'ge-release-only': w => `GE 内存池有 ${count(w, 'rows')} 行只有释放、没有申请：它们的申请早于采集。`,
};

const byCode = new Map<string, (w: Warning) => string>(Object.entries(SENTENCES));

export function warningZhHans(warning: Warning): string {
  return byCode.get(warning.code)?.(warning) ?? warning.message;
}
