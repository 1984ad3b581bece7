/**
 * Counts what the gateway must have charged, and compares it with the ledger at the end. The load tool
 * drops the requests that run at its end. So its complete answers are the lower bound of the charges,
 * and the upstream's answers the upper bound. Streams are exact.
 */
import { multiplyPicos, parseUsd, usdNumber, addPicos, type Picos } from '../../src/base/money.ts'
import { answerCounts, models, price, streamStartCounts } from '../exchanges.ts'
import type { AuditReport, ModelUsage } from '../proxies/turnpike.ts'
import type { MoneyLine } from './figures.ts'

export interface Served {
  /** Answers that a client received completely. */
  complete: number
  /** Answers that the upstream gave. */
  answered: number
  /** Output tokens of these answers, counted by the upstream; 0 if each has the same number. */
  outputTokens: number
}

export class ServedCounts {
  readonly #byModel = new Map<string, Served>()

  add(model: string, served: Served): void {
    const sum = this.#byModel.get(model) ?? { complete: 0, answered: 0, outputTokens: 0 }
    sum.complete += served.complete
    sum.answered += served.answered
    sum.outputTokens += served.outputTokens
    this.#byModel.set(model, sum)
  }

  compare(usage: readonly ModelUsage[], audit: AuditReport): readonly MoneyLine[] {
    const lines = [...this.#byModel].map(([model, served]) => {
      const charged = usage.find((line) => line.model === model)
      return compareModel(model, served, charged)
    })
    const { exchanges, charges, differences } = audit.counts
    lines.push({
      what:
        `audit: ${charges} charges of ${exchanges} recorded exchanges recomputed, ` +
        `${differences} differences`,
      isRight: audit.clean && charges === usage.reduce((sum, line) => sum + line.requests, 0),
    })
    return lines
  }
}

function compareModel(model: string, served: Served, usage: ModelUsage | undefined): MoneyLine {
  const charged = usage?.requests ?? 0
  const expected = expectedUsage(model, charged, served)
  const isCounted =
    served.complete <= charged &&
    charged <= served.answered &&
    (usage?.input_tokens ?? 0) === expected.inputTokens &&
    (usage?.output_tokens ?? 0) === expected.outputTokens
  const isPriced = (usage?.cost_usd ?? 0) === usdNumber(expected.costPicos)
  return {
    what:
      `${model}: ${served.complete} complete answers, ${charged} charged, ` +
      `${served.answered} given by the upstream; ` +
      `${usage?.input_tokens ?? 0} + ${usage?.output_tokens ?? 0} tokens, ` +
      `${usage?.cost_usd ?? 0} USD, ${isPriced ? 'equal' : 'NOT equal'} to the prices`,
    isRight: isCounted && isPriced,
  }
}

interface ExpectedUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costPicos: Picos
}

/** Returns the usage and cost of this many charges, by the upstream's counts. */
export function expectedUsage(model: string, charged: number, served: Served): ExpectedUsage {
  const isStream = model !== models.chat && model !== models.messages
  const inputTokens = charged * (isStream ? streamStartCounts.input : answerCounts.input)
  const outputTokens = isStream ? served.outputTokens : charged * answerCounts.output
  const costPicos = addPicos(
    multiplyPicos(picosPerToken(price.input), inputTokens),
    multiplyPicos(picosPerToken(price.output), outputTokens),
  )
  return { inputTokens, outputTokens, costPicos }
}

/** Converts USD per million tokens into picos per token. */
function picosPerToken(usdPerMillion: number): Picos {
  const whole = parseUsd(String(usdPerMillion))
  if (whole === undefined) throw new Error('the price of the benchmark is not an amount')
  return (whole / 1_000_000n) as Picos
}
