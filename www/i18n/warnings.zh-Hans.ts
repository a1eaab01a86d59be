// 警告的中文：由代码和参数组成句子；没有收录的代码用英文原文。
import type {Warning} from '../../target/plain/pkg/oomscope';
import {size} from '../format';
import type {WarningCode} from './warnings';

const arg = (w: Warning, name: string): string => String(w.args[name] ?? '');
const count = (w: Warning, name: string): string => Number(arg(w, name)).toLocaleString('zh-Hans');
const place = (w: Warning): string => [
  w.line === null || w.line === undefined ? '' : `第 ${w.line.toLocaleString('zh-Hans')} 行`,
  w.field === null || w.field === undefined ? '' : `“${w.field}”列`,
].filter(Boolean).join('');
const value = (w: Warning): string => w.value === null || w.value === undefined ? '' : `：“${w.value}”`;

/** Reasons come in English from the parser; the common ones are known here. */
const REASONS = new Map([
  ['not a number', '不是数字'],
  ['out of range', '超出范围'],
  ['scientific notation: its digits are gone', '科学计数法，精度已丢失'],
]);
const reason = (w: Warning): string => REASONS.get(arg(w, 'reason')) ?? arg(w, 'reason');

const SENTENCES: Record<WarningCode, (w: Warning) => string> = {
  'missing-trace': () => '没有 trace_view.json：因此没有调用栈。采集时设置 with_stack=True，并把该文件与 CSV 一起打开。',
  'missing-metadata': () => '没有 profiler_metadata.json：角色取自上级文件夹的名字。',
  'unknown-rank': () => '不知道 rank：没有 profiler_info_<rank>.json，也没有 rank_id。该采集作为一个未命名的 rank 显示。',
  'duplicate-rank': w => `同一文件夹里有多个 profiler_info 文件：采用了其中最小的 rank ${arg(w, 'taken')}。每个 rank 请各放一个文件夹。`,
  'missing-column': w => arg(w, 'required') === '1'
    ? `缺少必需的列“${w.field ?? ''}”；文件里有这些列：${arg(w, 'columns')}。请使用分析工具生成的原始 operator_memory.csv。`
    : `没有“${w.field ?? ''}”列，因此不知道该项数字；文件里有这些列：${arg(w, 'columns')}。`,
  'bad-value': w => `${place(w)}的值无法采用${value(w)}（${reason(w)}）。该行未采用。`,
  'imprecise-time': w => `${place(w)}的时间用了科学计数法${value(w)}，精度已丢失，通常是用电子表格保存造成的。请使用分析工具生成的原始文件。`,
  'empty-name': w => `${count(w, 'rows')} 行没有算子名，归入“（未归属）”。`,
  'cut-file': w => w.args['events'] === undefined ? '文件在最后一行中间中断：之前的行都已采用。' : `trace 在此中断，没有结束的括号：之前的 ${count(w, 'events')} 个事件已采用。`,
  'damaged-file': w => `文件有损坏：${reason(w)}。`,
  'baseline-rise': w => `基线上升了 ${count(w, 'count')} 次，共 ${size(Number(arg(w, 'bytes')))}：文件缺少这些申请的行。`,
  'no-stacks': () => 'trace 中没有调用栈：采集时设置 with_stack=True（或 with_modules=True）。',
  'missing-memory-record': () => '没有 memory_record.csv，也没有 npu_module_mem.csv：不知道框架以外的内存。',
  'unsupported-export': () => '本版本尚不能读取这种导出。请同时导出文本：export_type=[ExportType.Text]，它会生成 operator_memory.csv。',
  'not-analysed': w => `这是尚未解析的原始采集。请在装有 torch_npu 的机器上运行 torch_npu.profiler.profiler.analyse("${w.file}")，再打开该文件夹。`,
  'no-operator-memory': () => '文件夹里没有 operator_memory.csv：采集时设置 profile_memory=True。',
  'no-totals': () => '没有任何一行给出已分配总量，因此不知道采集之前申请的内存：显示的只是各内存块之和，不是设备的内存。',
  'no-blocks': () => '文件里没有一行可用：没有可显示的内存块。',
  'unreadable-file': w => `文件读取失败：${reason(w)}。它可能在读取时被移动、修改或禁止访问；请重新打开。`,
  'more-warnings': w => `还有 ${count(w, 'count')} 条 ${arg(w, 'code')} 说明没有逐条列出。`,
  'unsupported-report': w => `本版本不能读取 ${arg(w, 'what')}。请用更新的版本打开，或用本版本重新生成报告。`,
  'duplicate-capture': () => '同一份采集打开了不止一次：只计一次。',
  'same-source': () => '不同的采集路径相同：全部计入。要区分它们，请从名字各不相同的文件夹生成报告。',
  'ge-release-only': w => `GE 内存池有 ${count(w, 'rows')} 行只有释放、没有申请：它们的申请早于采集。`,
};

const byCode = new Map<string, (w: Warning) => string>(Object.entries(SENTENCES));

export function warningZhHans(warning: Warning): string {
  return byCode.get(warning.code)?.(warning) ?? warning.message;
}
