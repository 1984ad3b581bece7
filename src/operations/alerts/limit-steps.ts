/**
 * Tells that an account has used 50 or 80 % of its daily or monthly limit: a message without an end, not an
 * alert, because half of all accounts may be there every day. The limit itself is an alert: see
 * account-rules.ts. Invariant: a step is sent once for a limit in its period, over restarts and all nodes,
 * and not after a higher one.
 */
import { newId } from '../../base/id.ts'
import { formatUsd, zeroPicos } from '../../base/money.ts'
import type { WatchedAccount } from '../../ledger/account-conditions.ts'
import type { KeySpend } from '../../ledger/usage.ts'
import {
  limitsOf,
  spendingOf,
  untilWords,
  type AccountLimit,
  type RuleMoment,
} from './account-rules.ts'
import type { Finding, Notice } from './alert-kind.ts'
import { limitReachedStep, saveStep, type LimitStep } from './limit-step-store.ts'
import { notify, type RaiseOptions } from './raise.ts'

/** Per cent, the highest first. */
const toldSteps = [
  { step: 80, severity: 'warning' },
  { step: 50, severity: 'info' },
] as const

/** Steps of one look; the next one tells the rest. */
const stepsPerLook = 500

export interface ReachedStep extends LimitStep {
  /** Undefined: an alert tells it. */
  readonly told: Pick<Notice, 'severity' | 'condition'> | undefined
}

/** `conditions`: those that hold for the account. */
export function findLimitSteps(
  account: WatchedAccount,
  {
    spend,
    conditions,
  }: { readonly spend: readonly KeySpend[]; readonly conditions: readonly Finding[] },
  moment: RuleMoment,
): readonly ReachedStep[] {
  if (account.status !== 'active') return []
  const limits = limitsOf({ account }, spendingOf(spend, moment), moment)
  return limits.flatMap((limit) => stepOf(account, limit, conditions) ?? [])
}

function stepOf(
  account: WatchedAccount,
  limit: AccountLimit,
  conditions: readonly Finding[],
): ReachedStep | undefined {
  const { name: limitOf, limit: limitPicos, used, period } = limit
  if (limitPicos === zeroPicos) return undefined
  const place = { accountId: account.id, limitOf, period, limitPicos }
  if (conditions.some(({ kind }) => kind === limit.kind))
    return { ...place, step: limitReachedStep, told: undefined }
  const next = toldSteps.find(({ step }) => used * 100n >= limitPicos * BigInt(step))
  if (next === undefined) return undefined
  const { step, severity } = next
  return { ...place, step, told: { severity, condition: conditionOf(account, limit, step) } }
}

function conditionOf(
  { id, name: account }: WatchedAccount,
  { name, limit, used, period, option }: AccountLimit,
  step: number,
): Finding {
  return {
    kind: 'account.limit_used',
    subject: id,
    accountId: id,
    title: `${step} % of the ${name === 'day' ? 'daily' : 'monthly'} limit of ${account} is used`,
    text:
      `The account ${account} has spent ${formatUsd(used)} of ${formatUsd(limit)} USD (${name}). When the ` +
      `limit is reached, its requests get 429 ${untilWords[name]}.`,
    command: `turnpike account limits ${account} ${option} USD`,
    facts: {
      account,
      step,
      limit_of: name,
      limit_usd: formatUsd(limit),
      used_usd: formatUsd(used),
      period,
    },
  }
}

export async function tellLimitSteps(
  options: RaiseOptions,
  steps: readonly ReachedStep[],
  nowMs: number,
): Promise<void> {
  if (steps.length === 0) return
  await notify(options, nowMs, async (transaction) => {
    const notices: Notice[] = []
    for (const step of steps.slice(0, stepsPerLook)) {
      const isNew = await saveStep(transaction, step)
      if (isNew && step.told !== undefined) notices.push(noticeOf(step.told, nowMs))
    }
    return notices
  })
}

function noticeOf(told: NonNullable<ReachedStep['told']>, nowMs: number): Notice {
  return {
    ...told,
    alertId: newId('alr', nowMs),
    event: 'firing',
    type: told.condition.kind,
    includes: [],
    firedAtMs: nowMs,
    atMs: nowMs,
  }
}
