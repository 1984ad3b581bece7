/** Words of the form of a key, in Chinese. */
import type { keyForm as english } from '../en/key-form.ts'
import type { Translation } from '../translation.ts'

export const keyForm = {
  addresses: '来源地址',
  addressesHint: '地址或网段，例如 192.0.2.0/24，每行一个；留空表示不限',
  budgetsHint: '预算（美元）；0 表示不限',
  chosen: '所选模型',
  chosenModels: '仅限所选模型',
  everyModel: '所有模型，包括以后新增的',
  expires: '到期日',
  expiresHint: '当日结束前（UTC）有效；留空表示不限',
  keyNameHint: '例如 production',
  lostSecret: '它已创建，但含明文的响应丢失了。请吊销后重新创建。',
  models: '模型',
  name: '名称',
  perDay: '每日',
  perMonth: '每月',
  ratesHint: '每分钟限额；0 表示不限',
  requests: '请求',
  setVariables: '请设置以下变量，SDK 和智能体会读取它们。',
  shellVariables: 'Shell 变量',
  tokens: 'Token',
  total: '总计',
} as const satisfies Translation<typeof english>
