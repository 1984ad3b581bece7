/**
 * The mails to account holders, in English, in the message form of ICU. The other languages have the same
 * keys and arguments. `period` is a UTC day, a UTC month or `total`.
 */
import type { HolderKind } from '../account-rules.ts'

type Texts = Readonly<Record<HolderKind, string>>

export const english = {
  titles: {
    'account.balance_low': 'Balance of {account} is low: {balance} USD',
    'account.running_out': 'Balance of {account} lasts about {hours} h',
    'account.exhausted': 'Balance of {account} is used up',
    'account.limit_used':
      '{step} % of the {limitOf, select, day {daily} other {monthly}} limit of {account} is used',
    'account.daily_limit_reached': 'Daily limit of {account} is reached',
    'account.monthly_limit_reached': 'Monthly limit of {account} is reached',
    'key.limit_reached':
      'Limit of the key {key} of {account} is reached ({period, select, total {total} other {{period}}})',
  } satisfies Texts,
  texts: {
    'account.balance_low':
      'The balance is {balance} USD. Pay in soon, so that your requests are not refused.',
    'account.running_out':
      'The balance is {balance} USD, and you have spent {spend} USD in the last 24 hours. Pay in soon, so that your requests are not refused.',
    'account.exhausted':
      'The balance does not pay for a usual request. Your requests get 402 until you pay in.',
    'account.limit_used':
      'Of {limit} USD, {used} USD are used. At the limit, requests get 429 {limitOf, select, day {until 00:00 UTC} other {until the next month (UTC) begins}}; the operator can raise it.',
    'account.daily_limit_reached':
      'Of {limit} USD, {used} USD are used. Requests get 429 until the limit is free again; the operator can raise it.',
    'account.monthly_limit_reached':
      'Of {limit} USD, {used} USD are used. Requests get 429 until the limit is free again; the operator can raise it.',
    'key.limit_reached':
      'Of {limit} USD, {used} USD are used. Requests get 429 until the limit is free again; the operator can raise it.',
  } satisfies Texts,
  resolved: 'Resolved: {title}',
  over: 'This is over.',
  since: 'Since: {since, date, moment}',
} as const

/** The same keys, each with a text; the compiler names those that are missing. */
export type HolderMessages = {
  readonly [Key in keyof typeof english]: (typeof english)[Key] extends string ? string : Texts
}
