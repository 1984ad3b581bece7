/** Charges what a meter has read, as the relay does, and holds the charge against the quote. */
import assert from 'node:assert/strict'
import { quote } from '../../src/metering/charge.ts'
import { parsePrices } from '../../src/metering/price-form.ts'
import { unchangedPpm } from '../../src/metering/prices.ts'
import type { UsageFormat } from '../../src/metering/rates.ts'
import { decideCharge, type AnswerCounts, type Ending } from '../../src/metering/settlement.ts'
import type { TokenCounter } from '../../src/metering/token-counter.ts'
import { estimateTokens } from '../../src/metering/token-estimate.ts'

const prices = parsePrices({
  input: 3,
  output: 15,
  cache_read: 0.3,
  cache_write_5m: 3.75,
  cache_write_1h: 6,
  web_search: 10_000,
  request: 0.001,
})
const otherPrices = parsePrices({ input: 30, output: 150 })

const bounds = {
  promptTokensLikely: 71,
  inputTokensMax: 2_300,
  maxOutputTokens: 4_096,
  choiceCount: 1,
}

const counter: TokenCounter = {
  count: (text) => Promise.resolve(estimateTokens(text)),
  close: () => Promise.resolve(),
}

const endings: readonly Ending[] = [
  'completed',
  'client_left',
  'upstream_cut',
  'gateway_cut',
  'refused',
  'failed',
]

/** However the answer ended: a charge is never negative, and never above the highest cost that was quoted. */
export async function checkCharges(format: UsageFormat, counts: AnswerCounts): Promise<void> {
  const most = quote({
    prices,
    format,
    multiplierPpm: unchangedPpm,
    cacheWrite: 'long',
    inputTokens: bounds.inputTokensMax,
    maxOutputTokens: bounds.maxOutputTokens,
    choiceCount: 1,
  })
  for (const ending of endings) {
    const { amountPicos, usage, operatorCostPicos, ownCostPicos } = await decideCharge(
      {
        ending,
        counts,
        format,
        bounds,
        prices,
        requestedModel: 'large-1',
        holdPicos: most,
        isHoldFinal: true,
        holdsMost: true,
        multiplierPpm: unchangedPpm,
        pricesFor: (model) => (model === 'other-1' ? otherPrices : undefined),
        cutPolicy: 'delivered',
      },
      counter,
    )
    assert.ok(amountPicos >= 0n && operatorCostPicos >= 0n && ownCostPicos >= 0n)
    assert.ok(amountPicos <= most, `${ending}: ${amountPicos} is above the quote of ${most}`)
    if (usage === undefined) continue
    for (const count of Object.values(usage.reported))
      assert.ok(Number.isSafeInteger(count) && count >= 0, 'shown counts are counts')
  }
}
