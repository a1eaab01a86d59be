// 简体中文：关于 JAX 采集的文字。
import type {Diagnosis} from '../../target/plain/pkg/oomscope';
import {duration, size} from '../format';
import type {jaxEn} from './jax.en';

const n = (value: number): string => value.toLocaleString('zh-Hans');
const ROLES: {[role: string]: string} = {forward: '前向，为反向保留', backward: '反向', workspace: '库的工作区', other: '其他'};

const OWNERS = new Map([
  ['allocated before the capture started', '采集开始之前分配的'],
  ['freed without an event', '没有事件记录的释放'],
  ['(no event around it)', '（周围没有事件）'],
]);

/** 内存的来源：报告里是英文。 */
function ownerName(owner: string): string {
  const [, what, module, execution] = /^(outputs|temporaries) of (.+) execution (\d+)$/.exec(owner) ?? [];
  if (what === undefined) return OWNERS.get(owner) ?? owner;
  // 先说是什么：名称在图上会被截短。
  return `${what === 'outputs' ? '输出' : '临时内存'}：${module} 第 ${execution} 次执行`;
}

/** 由代码和参数组成的结论；没有收录的代码用英文原文。 */
function verdict({code, args, text}: Diagnosis): string {
  const number = (name: string): number => Number(args[name] ?? 0);
  const bytes = (name: string): string => size(number(name));
  const word = (name: string): string => String(args[name] ?? '');
  const percent = (name: string): string => `${(number(name) / 10).toFixed(1)} %`;
  switch (code) {
    case 'step-does-not-fit': {
      const head = `这一步本身就放不下：需要 ${bytes('needed')}，只有 ${bytes('capacity')}`;
      return 'role' in args ? `${head}；临时内存峰值中 ${percent('permille')} 属于“${ROLES[word('role')] ?? word('role')}”。` : `${head}。`;
    }
    case 'fits-alone': {
      const head = `这一步单独放得下，与其他数组一起就放不下：开始时已用 ${bytes('used')}，还要 ${bytes('adds')}，只有 ${bytes('capacity')}`;
      return 'owner' in args ? `${head}；其他数组中最大的一组 ${bytes('bytes')}，来自 ${ownerName(word('owner'))}。` : `${head}。`;
    }
    case 'grows-per-execution':
      return `每执行一次增长 ${bytes('grown')}，是非别名输出的 ${(number('ratio_permille') / 1000).toFixed(2)} 倍，已用从 ${bytes('first')} 到 ${bytes('last')}：`
        + `${number('keeps') === 1 ? '程序保留了每一步的输出' : '原因不明'}；还能再执行 ${n(number('more'))} 次。`;
    case 'not-donated':
      return `${number('donated') === 0 ? '没有参数被捐赠（donate）' : `${n(number('count'))} 个参数中只有 ${n(number('donated'))} 个被捐赠（donate）`}：捐赠状态最多可省 ${bytes('saves')}。`;
    case 'other-live-arrays': return `其他存活数组占去 ${bytes('others')}；最大的一组 ${bytes('bytes')}，来自 ${ownerName(word('owner'))}。`;
    case 'allocator-retry': {
      const basis = number('inferred') === 0 ? '' : `（其中 ${n(number('inferred'))} 次由耗时推断）`;
      return `AllocatorRetry：等待内存 ${n(number('count'))} 次，最长 ${duration(number('longest_ns'))}${number('idle') > 0 ? `，${n(number('idle'))} 次没有启动任何内核` : ''}${basis}。`;
    }
    case 'fragmentation': return `碎片：空闲 ${bytes('available')}，但不连续：最大的一块 ${bytes('largest')}，而申请的是 ${bytes('request')}。`;
    case 'xla-rematerialized': return `XLA 已经重算了 ${n(number('count'))} 条指令：它已到极限。`;
    case 'near-limit': return `这一步放得下，但只剩 ${bytes('margin')}：分配器要求临时内存连续，单是碎片就可能使它失败。`;
    case 'capacity-below-hbm':
      return `内存池只有设备 ${bytes('hbm')} 中的 ${bytes('capacity')}（${percent('permille')}）：设置过 XLA_PYTHON_CLIENT_MEM_FRACTION（采集里没有记录）；只有 GPU 真有空闲时调大它才有用。`;
    case 'no-gradient': return `${word('module')} 不求梯度：它是评估，缓冲区的角色没有意义。`;
    case 'eager': return `逐算子执行的程序：${n(number('modules'))} 个小模块共执行 ${n(number('executions'))} 次，最大的需要 ${bytes('largest')}：请看运行时，而不是计划。`;
    case 'missing-data': return word('what') === 'hlo-proto' ? '采集里没有 Hlo Proto，所以对内存计划无话可说。' : '采集里没有分配器事件，所以对运行时的内存无话可说。';
    default: return text;
  }
}

export const jaxZhHans: typeof jaxEn = {
  jaxNeeds: (needed, capacity) => capacity === null ? `需要 ${needed}` : `需要 ${needed}，共有 ${capacity}`,
  jaxCounts: (modules, executions) => `${n(modules)} 个模块 · ${n(executions)} 次执行`,
  moduleSelect: '模块',
  plansAlone: '仅有计划：没有分配器的记录',
  noModule: '没有模块',

  noVerdict: '这份采集中没有内存不足的迹象。',
  severities: {error: '错误', warning: '警告', info: '提示'},
  verdict,
  fix: '对策',
  fixSaves: '节省',
  fixFits: '之后',
  fixCost: '代价',
  fixConfirm: '如何确认',
  fixActions: {
    'checkpoint': '对该块使用 jax.checkpoint',
    'micro-batch': '批量减半，梯度累积两次',
    'shorter-sequence': '序列长度减半（S × S 的缓冲区缩小到四分之一）',
    'fused-attention': '融合注意力（jax.nn.dot_product_attention），不保留分数矩阵',
    'fsdp': '把参数、梯度和优化器状态分到两个设备（FSDP）',
    'narrow-gradients': '梯度用 bfloat16，不留 float32 副本',
    'smaller-workspace': '减少库的工作区（换算法，或减小该次调用的批量）',
    'donate': '在 jax.jit 中对状态使用 donate_argnums',
    'drop-reference': '不再持有每一步的输出',
    'reduce-inside': '在步内归约要保留的值（均值、范数）',
    'device-get': '对必须保留的值使用 jax.device_get',
    'stream-from-host': '把它们放在主机上按需传送，或释放（del、array.delete()）',
    'smaller-type': '为它们选用更小的类型（bfloat16 代替 float32）',
    'profile-earlier': '更早开始采集，才能知道它们从何而来',
    'raise-pool': '若 GPU 上没有别的用途，调大 XLA_PYTHON_CLIENT_MEM_FRACTION',
    'defragment': '在第一步之前分配长期存活的数组；TF_GPU_ALLOCATOR=cuda_malloc_async，或更大的内存池',
    'change-program': '改程序（checkpoint、减小批量）：XLA 已经尽力',
  },
  fixCosts: {
    'checkpoint': '约多一次前向',
    'micro-batch': '一步变成两个小步',
    'shorter-sequence': '上下文变短',
    'fused-attention': '设备有相应内核时几乎没有',
    'fsdp': '每层都要通信',
    'narrow-gradients': '求和精度降低',
    'smaller-workspace': '内核可能变慢',
    'donate': '被捐赠的数组在调用后不能再用',
    'drop-reference': '无',
    'reduce-inside': '得不到完整的值',
    'device-get': '每一步都要拷贝到主机',
    'stream-from-host': '每一步都要拷贝到设备',
    'smaller-type': '数值精度降低',
    'profile-earlier': '采集文件变大',
    'raise-pool': '其他进程可用的变少',
    'defragment': '需要重启',
    'change-program': '取决于改动',
  },
  upTo: bytes => `最多 ${bytes}`,
  fitsThen: '放得下',
  fitsNot: '仍放不下',
  bases: {measured: '实测', read: '读自计划', estimated: '估算'},
  figureLabels: {
    'needed': '需要', 'capacity': '容量', 'temporaries at their peak': '临时内存峰值', 'share of the temporaries': '占临时内存',
    'forward': '前向', 'backward': '反向', 'workspace': '工作区', 'other': '其他', 'buffers with two equal trailing dimensions': '末两维相等的缓冲区',
    'used at the last start': '最后一次开始时已用', 'outputs and temporaries': '输出与临时内存', 'largest other group': '其他数组中最大的一组',
    'growth per execution': '每次执行增长', 'of the non-aliased outputs': '与非别名输出之比', 'used at the first start': '第一次开始时已用',
    'non-aliased outputs': '非别名输出', 'more executions': '还能执行', 'parameters': '参数', 'donated': '已捐赠', 'can be saved': '可节省',
    'other arrays': '其他数组', 'waits for memory': '等待内存', 'longest': '最长', 'launched none': '没有启动内核', 'free': '空闲',
    'largest free chunk': '最大的空闲块', 'asked for': '申请', 'rematerialized instructions': '重算的指令', 'wanted': '需要', 'margin': '余量',
    'memory of the device': '设备内存', 'share': '占比', 'executions': '执行', 'modules': '模块', 'largest plan that ran': '执行过的最大计划',
  },

  planTitle: (needed, capacity) => capacity === null ? `计划：需要 ${needed}` : `计划：需要 ${needed}，共有 ${capacity}`,
  planDonated: '参数，已捐赠',
  planNotDonated: '参数，未捐赠',
  planOutputs: '自有内存的输出',
  planConstants: '常量',
  planTemp: '临时内存',
  planNeeded: '共需',
  planParameters1: '参数',
  planDonated1: '已捐赠',
  capacity: '内存池容量',
  planParameters: (count, donated) => `${n(count)} 个参数，其中 ${n(donated)} 个已捐赠。`,
  planThreadLocal: bytes => `另有线程私有 ${bytes}。`,
  planOtherSpace: (space, bytes) => `另有内存空间 ${space}${space === 5 ? '（主机）' : ''} 中的 ${bytes}。`,
  planRemat: count => `XLA 重算了 ${n(count)} 条指令。`,
  planFragmentation: '计划中缓冲区之间的空隙',
  termsTitle: '用训练的术语来说',
  terms: [
    '模块的参数：模型权重和优化器状态。float32 的 Adam 每个参数 12 字节：权重、动量、方差。',
    '梯度：峰值处的反向角色；若该步返回梯度，还有输出。',
    '激活：前向，为反向保留。',
    '第 1 步成功而第 N 步失败：JAX 的状态在第 1 步之前就已存在，所以要看各次执行之间的增长。',
  ],

  heapPeak: '堆峰值',
  heapPeakTitle: (bytes, replay) => `堆峰值：${bytes}，其中临时内存 ${replay}`,
  heapPeakNone: '没有临时内存',
  heapPeakNoneWhy: '这个模块没有堆的模拟：它不需要临时内存，或者采集只含总量。',
  heapPeakReplay: '临时内存峰值',
  roles: ROLES,
  otherBuffers: '较小的缓冲区',
  squareHint: (count, bytes) => `${n(count)} 个缓冲区的末两维相等，共 ${bytes}：可能是注意力的分数矩阵（B · H · S · S）。`,
  square: 'S × S？',
  squareTitle: '末两维相等：可能是注意力的分数矩阵',
  heapCurve: events => `堆随调度的变化：${n(events)} 个事件`,

  bufferShape: '形状',
  bufferCount: '数量',
  bufferRole: '角色',
  bufferLine: 'Python 行',
  bufferOp: '操作',
  bufferName: '最大的指令',
  bufferVia: via => `经由 ${via}`,
  userRemat: '按要求重算',
  bytesIn: unit => unit,
  owner: '来自',
  usedAtStart: '开始时已用',
  liveAtStartTitle: (device, module, execution, bytes) => `${device}：${module} 第 ${n(execution)} 次执行开始时已用 ${bytes}`,
  liveAtStartEmpty: '对运行时的内存一无所知：采集里没有分配器事件，或者这个模块没有执行过。',
  betweenExecutionsEmpty: '这个模块没有执行过两次，或者最后两次执行之间没有主机事件的记录。',
  hostEvent: '主机事件',
  hostFunctions: '外层 Python 函数',
  mayHold: '可能持有输出',
  executionsShort: '次数',
  executionsEmpty: '没有执行的记录。',
  launched: '启动',
  launchedWords: launched => launched === null ? '未知' : launched ? '是' : '什么也没有',
  retry: (device, start, duration, execution, inferred) =>
    `${device}：在 ${start} 等待内存 ${duration}${execution === null ? '' : `，位于 ${execution}`}${inferred ? '（由耗时推断）' : ''}。`,
  module: '模块',
  modulesEmpty: '采集里没有编译后的模块：它不含 Hlo Proto。',
  allocator: '分配器',
  allocatorsEmpty: '没有分配器事件：CPU 或 TPU 的采集，或者 host_tracer_level 小于 2。',
  peakBefore: '首次执行之前',
  peakBeforeTitle: '采集的首个事件之前的最大用量：编译、自动调优、更早的步',
  hbm: '设备内存',
  events: '事件',
  host: '主机',
  worstVerdict: '最严重的结论',
  hostEventCount: '次数',
  lastExecutions: (shown, all) => `${n(all)} 次执行中的最后 ${n(shown)} 次；JSON 报告包含全部。`,
  heapAxis: '调度中的事件，按顺序 →',
  waitMark: (bytes, time, failed) => failed ? `申请 ${bytes ?? '内存'} 未果：${time}` : `等待内存：${time}`,
  showWait: '在图上显示',
  ownerName,
  byOwner: '来源',
  moreOfOwners: '按来源、大小……',
  overlappingOwner: (blocks, bytes) => blocks === 0 ? '没有同一来源的其他块与它重叠' : `同一来源的 ${n(blocks)} 块与它重叠，共 ${bytes}`,

  selfTestTitle: '自检',
  selfTestWhat: '在这个浏览器中读取内置的样例，并与已知的数值比较。不会上传任何内容。',
  selfTestRun: '运行自检',
  selfTestRunning: '正在读取样例……',
  selfTestResult: (values, wrong) => wrong === 0 ? `${n(values)} 个数值全部正确。` : `${n(values)} 个数值中有 ${n(wrong)} 个不正确。`,
  selfTestSample: '样例',
  selfTestFigure: '数值',
  selfTestExpected: '应为',
  selfTestFound: '实为',
  selfTestEqual: '相等',
  selfTestYes: '是',
  selfTestNo: '否',
  selfTestSamples: {
    'ascend-step': 'Ascend：带调用栈的训练步',
    'ascend-ge': 'Ascend：图引擎的第二个内存池',
    'jax-oom': 'JAX：放不下的一步',
    'jax-scan': 'JAX：带 scan 且放得下的一步',
    'tf-retry': 'TensorFlow：等待内存的分配器',
  },
};
