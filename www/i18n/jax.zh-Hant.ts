// 繁體中文：關於 JAX 採集的文字。
import type {Diagnosis} from '../../target/plain/pkg/oomscope';
import {duration, size} from '../format';
import type {jaxEn} from './jax.en';

const n = (value: number): string => value.toLocaleString('zh-Hant');
const ROLES: {[role: string]: string} = {forward: '前向，為反向保留', backward: '反向', workspace: '庫的工作區', other: '其他'};

const OWNERS = new Map([
  ['allocated before the capture started', '採集開始之前配置的'],
  ['freed without an event', '沒有事件記錄的釋放'],
  ['(no event around it)', '（周圍沒有事件）'],
]);

/** 記憶體的來源：報告裡是英文。 */
function ownerName(owner: string): string {
  const [, what, module, execution] = /^(outputs|temporaries) of (.+) execution (\d+)$/.exec(owner) ?? [];
  if (what === undefined) return OWNERS.get(owner) ?? owner;
  // 先說是什麼：名稱在圖上會被截短。
  return `${what === 'outputs' ? '輸出' : '臨時記憶體'}：${module} 第 ${execution} 次執行`;
}

/** 由程式碼和參數組成的結論；沒有收錄的程式碼用英文原文。 */
function verdict({code, args, text}: Diagnosis): string {
  const number = (name: string): number => Number(args[name] ?? 0);
  const bytes = (name: string): string => size(number(name));
  const word = (name: string): string => String(args[name] ?? '');
  const percent = (name: string): string => `${(number(name) / 10).toFixed(1)} %`;
  switch (code) {
    case 'step-does-not-fit': {
      const head = `這一步本身就放不下：需要 ${bytes('needed')}，只有 ${bytes('capacity')}`;
      return 'role' in args ? `${head}；臨時記憶體峰值中 ${percent('permille')} 屬於「${ROLES[word('role')] ?? word('role')}」。` : `${head}。`;
    }
    case 'fits-alone': {
      const head = `這一步單獨放得下，與其他陣列一起就放不下：開始時已用 ${bytes('used')}，還要 ${bytes('adds')}，只有 ${bytes('capacity')}`;
      return 'owner' in args ? `${head}；其他陣列中最大的一組 ${bytes('bytes')}，來自 ${ownerName(word('owner'))}。` : `${head}。`;
    }
    case 'grows-per-execution':
      return `每執行一次增長 ${bytes('grown')}，是非別名輸出的 ${(number('ratio_permille') / 1000).toFixed(2)} 倍，已用從 ${bytes('first')} 到 ${bytes('last')}：`
        + `${number('keeps') === 1 ? '程式保留了每一步的輸出' : '原因不明'}；還能再執行 ${n(number('more'))} 次。`;
    case 'not-donated':
      return `${number('donated') === 0 ? '沒有參數被捐贈（donate）' : `${n(number('count'))} 個參數中只有 ${n(number('donated'))} 個被捐贈（donate）`}：捐贈狀態最多可省 ${bytes('saves')}。`;
    case 'other-live-arrays': return `其他存活陣列佔去 ${bytes('others')}；最大的一組 ${bytes('bytes')}，來自 ${ownerName(word('owner'))}。`;
    case 'allocator-retry': {
      const basis = number('inferred') === 0 ? '' : `（其中 ${n(number('inferred'))} 次由耗時推斷）`;
      return `AllocatorRetry：等待記憶體 ${n(number('count'))} 次，最長 ${duration(number('longest_ns'))}${number('idle') > 0 ? `，${n(number('idle'))} 次沒有啟動任何核心` : ''}${basis}。`;
    }
    case 'fragmentation': return `碎片：空閒 ${bytes('available')}，但不連續：最大的一塊 ${bytes('largest')}，而申請的是 ${bytes('request')}。`;
    case 'xla-rematerialized': return `XLA 已經重算了 ${n(number('count'))} 條指令：它已到極限。`;
    case 'near-limit': return `這一步放得下，但只剩 ${bytes('margin')}：配置器要求臨時記憶體連續，單是碎片就可能使它失敗。`;
    case 'capacity-below-hbm':
      return `記憶體池只有裝置 ${bytes('hbm')} 中的 ${bytes('capacity')}（${percent('permille')}）：設定過 XLA_PYTHON_CLIENT_MEM_FRACTION（採集裡沒有記錄）；只有 GPU 真有空閒時調大它才有用。`;
    case 'no-gradient': return `${word('module')} 不求梯度：它是評估，緩衝區的角色沒有意義。`;
    case 'eager': return `逐運算子執行的程式：${n(number('modules'))} 個小模組共執行 ${n(number('executions'))} 次，最大的需要 ${bytes('largest')}：請看執行時，而不是計劃。`;
    case 'missing-data': return word('what') === 'hlo-proto' ? '採集裡沒有 Hlo Proto，所以對記憶體計劃無話可說。' : '採集裡沒有配置器事件，所以對執行時的記憶體無話可說。';
    default: return text;
  }
}

export const jaxZhHant: typeof jaxEn = {
  jaxNeeds: (needed, capacity) => capacity === null ? `需要 ${needed}` : `需要 ${needed}，共有 ${capacity}`,
  jaxCounts: (modules, executions) => `${n(modules)} 個模組 · ${n(executions)} 次執行`,
  moduleSelect: '模組',
  plansAlone: '僅有計劃：沒有配置器的記錄',
  noModule: '沒有模組',

  noVerdict: '這份採集中沒有記憶體不足的跡象。',
  severities: {error: '錯誤', warning: '警告', info: '提示'},
  verdict,
  fix: '對策',
  fixSaves: '節省',
  fixFits: '之後',
  fixCost: '代價',
  fixConfirm: '如何確認',
  fixActions: {
    'checkpoint': '對該塊使用 jax.checkpoint',
    'micro-batch': '批次減半，梯度累積兩次',
    'shorter-sequence': '序列長度減半（S × S 的緩衝區縮小到四分之一）',
    'fused-attention': '融合注意力（jax.nn.dot_product_attention），不保留分數矩陣',
    'fsdp': '把參數、梯度和最佳化器狀態分到兩個裝置（FSDP）',
    'narrow-gradients': '梯度用 bfloat16，不留 float32 副本',
    'smaller-workspace': '減少庫的工作區（換演算法，或減小該次呼叫的批次）',
    'donate': '在 jax.jit 中對狀態使用 donate_argnums',
    'drop-reference': '不再持有每一步的輸出',
    'reduce-inside': '在步內歸約要保留的值（均值、範數）',
    'device-get': '對必須保留的值使用 jax.device_get',
    'stream-from-host': '把它們放在主機上按需傳送，或釋放（del、array.delete()）',
    'smaller-type': '為它們選用更小的型別（bfloat16 代替 float32）',
    'profile-earlier': '更早開始採集，才能知道它們從何而來',
    'raise-pool': '若 GPU 上沒有別的用途，調大 XLA_PYTHON_CLIENT_MEM_FRACTION',
    'defragment': '在第一步之前配置長期存活的陣列；TF_GPU_ALLOCATOR=cuda_malloc_async，或更大的記憶體池',
    'change-program': '改程式（checkpoint、減小批次）：XLA 已經盡力',
  },
  fixCosts: {
    'checkpoint': '約多一次前向',
    'micro-batch': '一步變成兩個小步',
    'shorter-sequence': '上下文變短',
    'fused-attention': '裝置有相應核心時幾乎沒有',
    'fsdp': '每層都要通訊',
    'narrow-gradients': '求和精度降低',
    'smaller-workspace': '核心可能變慢',
    'donate': '被捐贈的陣列在呼叫後不能再用',
    'drop-reference': '無',
    'reduce-inside': '得不到完整的值',
    'device-get': '每一步都要複製到主機',
    'stream-from-host': '每一步都要複製到裝置',
    'smaller-type': '數值精度降低',
    'profile-earlier': '採集檔案變大',
    'raise-pool': '其他程序可用的變少',
    'defragment': '需要重啟',
    'change-program': '取決於改動',
  },
  upTo: bytes => `最多 ${bytes}`,
  fitsThen: '放得下',
  fitsNot: '仍放不下',
  bases: {measured: '實測', read: '讀自計劃', estimated: '估算'},
  figureLabels: {
    'needed': '需要', 'capacity': '容量', 'temporaries at their peak': '臨時記憶體峰值', 'share of the temporaries': '佔臨時記憶體',
    'forward': '前向', 'backward': '反向', 'workspace': '工作區', 'other': '其他', 'buffers with two equal trailing dimensions': '末兩維相等的緩衝區',
    'used at the last start': '最後一次開始時已用', 'outputs and temporaries': '輸出與臨時記憶體', 'largest other group': '其他陣列中最大的一組',
    'growth per execution': '每次執行增長', 'of the non-aliased outputs': '與非別名輸出之比', 'used at the first start': '第一次開始時已用',
    'non-aliased outputs': '非別名輸出', 'more executions': '還能執行', 'parameters': '參數', 'donated': '已捐贈', 'can be saved': '可節省',
    'other arrays': '其他陣列', 'waits for memory': '等待記憶體', 'longest': '最長', 'launched none': '沒有啟動核心', 'free': '空閒',
    'largest free chunk': '最大的空閒塊', 'asked for': '申請', 'rematerialized instructions': '重算的指令', 'wanted': '需要', 'margin': '餘量',
    'memory of the device': '裝置記憶體', 'share': '佔比', 'executions': '執行', 'modules': '模組', 'largest plan that ran': '執行過的最大計劃',
  },

  planTitle: (needed, capacity) => capacity === null ? `計劃：需要 ${needed}` : `計劃：需要 ${needed}，共有 ${capacity}`,
  planDonated: '參數，已捐贈',
  planNotDonated: '參數，未捐贈',
  planOutputs: '自有記憶體的輸出',
  planConstants: '常量',
  planTemp: '臨時記憶體',
  planNeeded: '共需',
  planParameters1: '參數',
  planDonated1: '已捐贈',
  capacity: '記憶體池容量',
  planParameters: (count, donated) => `${n(count)} 個參數，其中 ${n(donated)} 個已捐贈。`,
  planThreadLocal: bytes => `另有執行緒私有 ${bytes}。`,
  planOtherSpace: (space, bytes) => `另有記憶體空間 ${space}${space === 5 ? '（主機）' : ''} 中的 ${bytes}。`,
  planRemat: count => `XLA 重算了 ${n(count)} 條指令。`,
  planFragmentation: '計劃中緩衝區之間的空隙',
  termsTitle: '用訓練的術語來說',
  terms: [
    '模組的參數：模型權重和最佳化器狀態。float32 的 Adam 每個參數 12 位元組：權重、動量、方差。',
    '梯度：峰值處的反向角色；若該步返回梯度，還有輸出。',
    '啟用：前向，為反向保留。',
    '第 1 步成功而第 N 步失敗：JAX 的狀態在第 1 步之前就已存在，所以要看各次執行之間的增長。',
  ],

  heapPeak: '堆峰值',
  heapPeakTitle: (bytes, replay) => `堆峰值：${bytes}，其中臨時記憶體 ${replay}`,
  heapPeakNone: '沒有臨時記憶體',
  heapPeakNoneWhy: '這個模組沒有堆的模擬：它不需要臨時記憶體，或者採集只含總量。',
  heapPeakReplay: '臨時記憶體峰值',
  roles: ROLES,
  otherBuffers: '較小的緩衝區',
  squareHint: (count, bytes) => `${n(count)} 個緩衝區的末兩維相等，共 ${bytes}：可能是注意力的分數矩陣（B · H · S · S）。`,
  square: 'S × S？',
  squareTitle: '末兩維相等：可能是注意力的分數矩陣',
  heapCurve: events => `堆隨排程的變化：${n(events)} 個事件`,

  bufferShape: '形狀',
  bufferCount: '數量',
  bufferRole: '角色',
  bufferLine: 'Python 行',
  bufferOp: '操作',
  bufferName: '最大的指令',
  bufferVia: via => `經由 ${via}`,
  userRemat: '按要求重算',
  bytesIn: unit => unit,
  owner: '來自',
  usedAtStart: '開始時已用',
  liveAtStartTitle: (device, module, execution, bytes) => `${device}：${module} 第 ${n(execution)} 次執行開始時已用 ${bytes}`,
  liveAtStartEmpty: '對執行時的記憶體一無所知：採集裡沒有配置器事件，或者這個模組沒有執行過。',
  betweenExecutionsEmpty: '這個模組沒有執行過兩次，或者最後兩次執行之間沒有主機事件的記錄。',
  hostEvent: '主機事件',
  hostFunctions: '外層 Python 函式',
  mayHold: '可能持有輸出',
  executionsShort: '次數',
  executionsEmpty: '沒有執行的記錄。',
  launched: '啟動',
  launchedWords: launched => launched === null ? '未知' : launched ? '是' : '什麼也沒有',
  retry: (device, start, duration, execution, inferred) =>
    `${device}：在 ${start} 等待記憶體 ${duration}${execution === null ? '' : `，位於 ${execution}`}${inferred ? '（由耗時推斷）' : ''}。`,
  module: '模組',
  modulesEmpty: '採集裡沒有編譯後的模組：它不含 Hlo Proto。',
  allocator: '配置器',
  allocatorsEmpty: '沒有配置器事件：CPU 或 TPU 的採集，或者 host_tracer_level 小於 2。',
  peakBefore: '首次執行之前',
  peakBeforeTitle: '採集的首個事件之前的最大用量：編譯、自動調優、更早的步',
  hbm: '裝置記憶體',
  events: '事件',
  host: '主機',
  worstVerdict: '最嚴重的結論',
  hostEventCount: '次數',
  lastExecutions: (shown, all) => `${n(all)} 次執行中的最後 ${n(shown)} 次；JSON 報告包含全部。`,
  heapAxis: '排程中的事件，按順序 →',
  waitMark: (bytes, time, failed) => failed ? `申請 ${bytes ?? '記憶體'} 未果：${time}` : `等待記憶體：${time}`,
  showWait: '在圖上顯示',
  ownerName,
  byOwner: '來源',
  moreOfOwners: '按來源、大小……',
  overlappingOwner: (blocks, bytes) => blocks === 0 ? '沒有同一來源的其他塊與它重疊' : `同一來源的 ${n(blocks)} 塊與它重疊，共 ${bytes}`,

  selfTestTitle: '自檢',
  selfTestWhat: '在這個瀏覽器中讀取內建的範例，並與已知的數值比較。不會上傳任何內容。',
  selfTestRun: '執行自檢',
  selfTestRunning: '正在讀取範例……',
  selfTestResult: (values, wrong) => wrong === 0 ? `${n(values)} 個數值全部正確。` : `${n(values)} 個數值中有 ${n(wrong)} 個不正確。`,
  selfTestSample: '範例',
  selfTestFigure: '數值',
  selfTestExpected: '應為',
  selfTestFound: '實為',
  selfTestEqual: '相等',
  selfTestYes: '是',
  selfTestNo: '否',
  selfTestSamples: {
    'ascend-step': 'Ascend：帶呼叫堆疊的訓練步',
    'ascend-ge': 'Ascend：圖引擎的第二個記憶體池',
    'jax-oom': 'JAX：放不下的一步',
    'jax-scan': 'JAX：帶 scan 且放得下的一步',
    'tf-retry': 'TensorFlow：等待記憶體的配置器',
  },
};
