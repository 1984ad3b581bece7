/** The mails to account holders, in Simplified Chinese. docs/terms.md has the terms. */
import type { HolderMessages } from './english.ts'

export const chinese: HolderMessages = {
  titles: {
    'account.balance_low': '账户 {account} 余额不足：{balance} 美元',
    'account.running_out': '账户 {account} 的余额约可再用 {hours} 小时',
    'account.exhausted': '账户 {account} 的余额已用尽',
    'account.limit_used':
      '账户 {account} 已使用{limitOf, select, day {每日} other {每月}}限额的 {step}%',
    'account.daily_limit_reached': '账户 {account} 已达到每日限额',
    'account.monthly_limit_reached': '账户 {account} 已达到每月限额',
    'key.limit_reached':
      '账户 {account} 的密钥 {key} 已达到限额（{period, select, total {累计} other {{period}}}）',
  },
  texts: {
    'account.balance_low': '余额为 {balance} 美元。请尽快充值，以免请求被拒绝。',
    'account.running_out':
      '余额为 {balance} 美元，过去 24 小时消费 {spend} 美元。请尽快充值，以免请求被拒绝。',
    'account.exhausted': '余额已不足以支付一次普通请求。充值之前，请求将返回 402。',
    'account.limit_used':
      '限额 {limit} 美元，已用 {used} 美元。达到限额后，到{limitOf, select, day { UTC 00:00 } other {下个月（UTC）开始}}为止，请求将返回 429；运营方可以提高限额。',
    'account.daily_limit_reached':
      '限额 {limit} 美元，已用 {used} 美元。限额恢复之前，请求将返回 429；运营方可以提高限额。',
    'account.monthly_limit_reached':
      '限额 {limit} 美元，已用 {used} 美元。限额恢复之前，请求将返回 429；运营方可以提高限额。',
    'key.limit_reached':
      '限额 {limit} 美元，已用 {used} 美元。限额恢复之前，请求将返回 429；运营方可以提高限额。',
  },
  resolved: '已恢复：{title}',
  over: '此情况已结束。',
  since: '开始时间：{since, date, moment}',
}
