/** The usage of an account, as `turnpike usage` and `GET /v1/usage` show it. */
import { z } from 'zod'
import { invariant } from '../../base/errors.ts'
import { formatUsd, picos, usdNumber, type Picos } from '../../base/money.ts'
import type { ModelUsage, UsageSummary, UsagePeriod } from '../../ledger/ledger.ts'
import { readUsage } from '../../ledger/usage.ts'
import { getAccount } from '../accounts/accounts.ts'
import { currency, usd } from '../answer-forms.ts'
import { accountReference } from '../input.ts'
import { operation } from '../operation.ts'

const periods = ['day', 'month', 'total'] as const

const usageInput = z.strictObject({
  account: accountReference,
  period: z
    .enum(['day', 'month', 'total'], 'must be day, month or total')
    .default('day')
    .describe('The current day or month (UTC), or all time.'),
})

const ofModel = {
  requests: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: usd,
}

const usageForm = z.strictObject({
  balance_usd: usd,
  currency,
  period: z.enum(periods),
  limits: z.strictObject({
    daily_usd: usd,
    daily_used_usd: usd,
    window_minutes: z.int(),
    rpm: z.int(),
  }),
  usage: z.strictObject({ ...ofModel, cache_tokens: z.int() }),
  by_model: z.array(z.strictObject({ model: z.string(), ...ofModel })),
})

/** Amounts are exact decimal text. */
export const accountUsage = operation(
  { input: usageInput, answer: usageForm },
  ({ database, clock }, { account: reference, period }) =>
    database.snapshot(async (snapshot) => {
      const account = await getAccount(snapshot, reference)
      const atMs = clock.now()
      const usage = await readUsage(snapshot, { accountId: account.id, period, atMs })
      invariant(usage !== undefined, 'an account has a usage')
      return viewUsage(usage, period, formatUsd)
    }),
)

export type UsageAnswer = ReturnType<typeof usageAnswer>

/** Returns the answer of `/v1/usage`: amounts are JSON numbers. */
export function usageAnswer(usage: UsageSummary, period: UsagePeriod) {
  return viewUsage(usage, period, usdNumber)
}

function viewUsage<Amount>(
  usage: UsageSummary,
  period: UsagePeriod,
  printUsd: (amount: Picos) => Amount,
) {
  const { byModel } = usage
  const sum = (read: (model: ModelUsage) => number): number =>
    byModel.reduce((total, model) => total + read(model), 0)
  const costPicos = byModel.reduce((total, model) => total + model.costPicos, 0n)
  return {
    balance_usd: printUsd(usage.balancePicos),
    currency: 'USD' as const,
    period,
    limits: {
      daily_usd: printUsd(usage.dailyLimitPicos),
      daily_used_usd: printUsd(usage.dailyUsedPicos),
      window_minutes: usage.windowMinutes,
      rpm: usage.rpm,
    },
    usage: {
      input_tokens: sum((model) => model.inputTokens),
      output_tokens: sum((model) => model.outputTokens),
      cache_tokens: sum((model) => model.cacheTokens),
      requests: sum((model) => model.requests),
      cost_usd: printUsd(picos(costPicos)),
    },
    by_model: byModel.map((model) => ({
      model: model.model,
      requests: model.requests,
      input_tokens: model.inputTokens,
      output_tokens: model.outputTokens,
      cost_usd: printUsd(model.costPicos),
    })),
  }
}
