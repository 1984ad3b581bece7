/**
 * Counts what the gateway must have charged, and compares it with the ledger at the end: at least each answer
 * that a client has received, at most each that the vendor has given, and the prices of what these counted.
 */
import { answerCounts, models, price, streamStartCounts } from '../exchanges.ts'

/** What the gateway has charged for a model. */
interface ModelUsage {
  readonly model: string
  readonly requests: number
  readonly cost_usd: number
}

interface AuditReport {
  readonly clean: boolean
  readonly counts: { readonly charges: number }
}

export interface MoneyLine {
  readonly what: string
  readonly isRight: boolean
}

interface Served {
  /** Answers that a client received completely. */
  complete: number
  /** Answers that the vendor gave. */
  answered: number
  /** Output tokens of these answers; 0 if each has the same number. */
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
    const lines = [...this.#byModel].map(([model, served]) =>
      compareModel(
        served,
        usage.find((line) => line.model === model) ?? { model, requests: 0, cost_usd: 0 },
      ),
    )
    const charges = usage.reduce((sum, line) => sum + line.requests, 0)
    return [
      ...lines,
      {
        what: `the audit of ${audit.counts.charges} charges is clean`,
        isRight: audit.clean && audit.counts.charges === charges,
      },
    ]
  }
}

function compareModel(served: Served, { model, requests, cost_usd: cost }: ModelUsage): MoneyLine {
  const { complete, answered, outputTokens } = served
  const isStream = ![models.chat, models.messages].some((one) => one === model)
  const input = requests * (isStream ? streamStartCounts.input : answerCounts.input)
  const output = isStream ? outputTokens : requests * answerCounts.output
  // In whole micro-dollars, as both prices are.
  const isPriced = Math.round(cost * 1e6) === input * price.input + output * price.output
  return {
    what:
      `${model}: ${complete} complete answers, ${requests} charged, ${answered} given; ` +
      `${cost} USD, ${isPriced ? '' : 'NOT '}equal to the prices`,
    isRight: complete <= requests && requests <= answered && isPriced,
  }
}
