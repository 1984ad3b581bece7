/** Words of costs and margins, for operators, in Chinese. */
import type { margin as english } from '../en/margin.ts'
import type { Translation } from '../translation.ts'

export const margin = {
  equation: '从消费到毛利',
  unknownCost: '有 {count, number} 个请求由没有成本价的渠道处理，其消费不计入毛利。',
  spend: '消费',
  spendMeaning: '向账户收取的金额，未减退款。',
  refunds: '退款',
  refundsMeaning: '退回账户的扣费，计入扣费当天。',
  ownCost: '自身成本',
  ownCostMeaning: '供应商计量的用量，按渠道的成本价计算。',
  lost: '失败尝试与探测',
  lostMeaning: '估算值：没有账户付费的尝试和响应，以及对渠道的探测。',
  ofUnknownCost: '成本未知部分',
  ofUnknownCostMeaning: '没有成本价的渠道上的请求消费，已减退款。',
  margin: '毛利',
  marginMeaning: '消费减去其他各项后的余额。',
} as const satisfies Translation<typeof english>
