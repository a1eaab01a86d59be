// 警告的中文：由代码和参数组成句子；没有收录的代码用英文原文。
import type {Warning} from '../../target/plain/pkg/oomscope';
import {size} from '../format';
import type {WarningCode} from './warnings';

const arg = (w: Warning, name: string): string => String((w.args as unknown as Record<string, unknown>)[name] ?? '');
const count = (w: Warning, name: string): string => Number(arg(w, name)).toLocaleString('zh-Hans');
const place = (w: Warning): string => [
  w.line === null || w.line === undefined ? '' : `第 ${w.line.toLocaleString('zh-Hans')} 行`,
  w.field === null || w.field === undefined ? '' : `“${w.field}”列`,
].filter(Boolean).join('');
const value = (w: Warning): string => w.value === null || w.value === undefined ? '' : `：“${w.value}”`;

const SENTENCES: Record<WarningCode, (w: Warning) => string> = {
  'missing-trace': () => '没有 trace_view.json：因此没有调用栈。采集时设置 with_stack=True，并把该文件与 CSV 一起打开。',
  'missing-metadata': () => '没有 profiler_metadata.json：角色取自上级文件夹的名字。',
  'unknown-rank': () => '不知道 rank：没有 profiler_info_<rank>.json，也没有 rank_id。该采集作为一个未命名的 rank 显示。',
  'duplicate-rank': () => '同一文件夹里有多个 profiler_info 文件：采用了编号较小的一个。',
  'missing-column': w => `缺少必需的列${w.field ? `“${w.field}”` : ''}；文件里有这些列：${arg(w, 'columns')}。`,
  'bad-value': w => `${place(w)}的值无法读取${value(w)}。该行未采用。`,
  'imprecise-time': w => `${place(w)}的时间用了科学计数法${value(w)}，精度已丢失，通常是用电子表格保存造成的。请使用分析工具生成的原始文件。`,
  'empty-name': w => `${count(w, 'rows')} 行没有算子名，归入“（未归属）”。`,
  'cut-file': () => '文件在最后一行中间中断：之前的行都已采用。',
  'damaged-file': () => '文件已损坏：能读取的部分已采用。',
  'baseline-rise': w => `基线上升了 ${count(w, 'count')} 次，共 ${size(Number(arg(w, 'bytes')))}：文件缺少这些申请的行。`,
  'no-stacks': () => '采集里没有调用栈：采集时设置 with_stack=True。',
  'unsupported-export': () => '这是 SQLite 导出（.db），本版本尚不能读取。采集时设置 export_type=Text。',
  'not-analysed': () => '这是尚未解析的原始采集。请先运行 torch_npu.profiler.profiler.analyse(path)，再打开生成的文件夹。',
  'no-operator-memory': () => '文件夹里没有 operator_memory.csv：采集时设置 profile_memory=True。',
  'no-blocks': () => '文件里没有一行可用：没有可显示的内存块。',
  'unreadable-file': w => `文件读取失败：${arg(w, 'reason')}。它可能在读取时被移动、修改或禁止访问；请重新打开。`,
  'more-warnings': w => `还有 ${count(w, 'count')} 条同类说明没有逐条列出。`,
  'ge-release-only': w => `GE 内存池有 ${count(w, 'rows')} 行只有释放、没有申请：它们的申请早于采集。`,
};

const byCode = new Map<string, (w: Warning) => string>(Object.entries(SENTENCES));

export function warningZhHans(warning: Warning): string {
  return byCode.get(warning.code)?.(warning) ?? warning.message;
}
