/** An account's figures, the same that the account's own read-only token is shown. */
import { z } from 'zod'
import { invariant } from '../base/errors.ts'
import { picos, usdNumber } from '../base/money.ts'
import type { ModelFigures, UsageFigures, UsagePeriod } from '../ledger/ledger.ts'
import { readUsage } from '../ledger/usage.ts'
import { getAccount } from './accounts.ts'
import { parseInput, type OperationContext } from './context.ts'
import { accountReference } from './input.ts'

const usageInput = z.strictObject({
  account: accountReference,
  period: z.enum(['day', 'month', 'total'], 'must be day, month or total').default('day'),
})

export function accountUsage(
  context: OperationContext,
  input: unknown,
): Promise<{ readonly period: UsagePeriod; readonly figures: UsageFigures }> {
  const { account: reference, period } = parseInput(usageInput, input)
  return context.database.snapshot(async (snapshot) => {
    const account = await getAccount(snapshot, reference)
    const question = { accountId: account.id, period, atMs: context.clock.now() }
    const figures = await readUsage(snapshot, question)
    invariant(figures !== undefined, 'an account that was found has figures')
    return { period, figures }
  })
}

export interface UsageAnswer {
  readonly balance_usd: number
  readonly currency: 'USD'
  readonly period: UsagePeriod
  readonly limits: {
    readonly daily_usd: number
    readonly daily_used_usd: number
    readonly window_minutes: number
    readonly rpm: number
  }
  readonly usage: {
    readonly input_tokens: number
    readonly output_tokens: number
    readonly cache_tokens: number
    readonly requests: number
    readonly cost_usd: number
  }
  readonly by_model: readonly {
    readonly model: string
    readonly requests: number
    readonly input_tokens: number
    readonly output_tokens: number
    readonly cost_usd: number
  }[]
}

/** As `/v1/usage` and `turnpike usage --json` show it. */
export function usageAnswer(figures: UsageFigures, period: UsagePeriod): UsageAnswer {
  const { byModel } = figures
  const sum = (read: (model: ModelFigures) => number): number =>
    byModel.reduce((total, model) => total + read(model), 0)
  const costPicos = byModel.reduce((total, model) => total + model.costPicos, 0n)
  return {
    balance_usd: usdNumber(figures.balancePicos),
    currency: 'USD',
    period,
    limits: {
      daily_usd: usdNumber(figures.dailyLimitPicos),
      daily_used_usd: usdNumber(figures.dailyUsedPicos),
      window_minutes: figures.windowMinutes,
      rpm: figures.rpm,
    },
    usage: {
      input_tokens: sum((model) => model.inputTokens),
      output_tokens: sum((model) => model.outputTokens),
      cache_tokens: sum((model) => model.cacheTokens),
      requests: sum((model) => model.requests),
      cost_usd: usdNumber(picos(costPicos)),
    },
    by_model: byModel.map((model) => ({
      model: model.model,
      requests: model.requests,
      input_tokens: model.inputTokens,
      output_tokens: model.outputTokens,
      cost_usd: usdNumber(model.costPicos),
    })),
  }
}
