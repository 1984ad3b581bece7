/**
 * What a request will cost, before it runs: likely, which decides whether it is admitted, and at most, which
 * is held. Pure: facts of the request, the model and the prices in, facts for a quote out.
 */
import type { Channel } from '../channels/channel.ts'
import { zeroPicos, type Picos } from '../base/money.ts'
import { quote, type QuoteFacts } from '../metering/charge.ts'
import { costPricesAt } from '../metering/cost-prices.ts'
import { unchangedPpm } from '../metering/prices.ts'
import type { Admitted, Prepared, RelayServices } from './stages.ts'

/**
 * Estimates what the prompt alone costs the operator on a channel, at its cost prices or at list price: an
 * attempt without an answer may have cost that much.
 */
export function promptCostPicos(admitted: Admitted, { cost }: Pick<Channel, 'cost'>): Picos {
  if (admitted.hold === undefined) return zeroPicos
  const facts = { ...quoteFacts(admitted), maxOutputTokens: 0, multiplierPpm: unchangedPpm }
  const prices = costPricesAt(cost, admitted.model.id, admitted.startedAtMs)
  return prices === undefined
    ? quote({ ...facts, multiplierPpm: cost?.factorPpm ?? unchangedPpm })
    : quote({ ...facts, prices })
}

function quoteFacts(prepared: Prepared): QuoteFacts {
  const { facts, prices, otherPrices, principal, format } = prepared
  return {
    ...facts.extras,
    prices,
    otherPrices,
    format: format.name,
    inputTokens: facts.inputTokensEstimate + (facts.extras.storedPromptTokens ?? 0),
    maxOutputTokens: outputTokensMax(prepared),
    choiceCount: facts.choiceCount,
    multiplierPpm: principal.priceMultiplierPpm,
    asksOneHourCache: facts.asksOneHourCache,
    ...(facts.service === undefined ? {} : { requested: facts.service }),
  }
}

/** What has to be left for the request: the likely, or the most where the account or the setting says so. */
export function neededFacts(
  prepared: Prepared,
  { settings }: Pick<RelayServices, 'settings'>,
): QuoteFacts {
  const { holds = settings.holds } = prepared.principal
  return holds === 'most' ? mostFacts(prepared) : quoteFacts(prepared)
}

/**
 * A vendor's own tools, and documents by address, put before the model what no body shows: the hold covers
 * the most that a model of the request reads.
 */
export function mostFacts(prepared: Prepared): QuoteFacts {
  const facts = quoteFacts(prepared)
  if (!hasAddedInput(prepared)) return facts
  return {
    ...facts,
    inputTokens: Math.max(facts.inputTokens, inputTokensMax(prepared)),
    hasAddedInput: true,
  }
}

export function hasAddedInput({ facts: { extras } }: Prepared): boolean {
  return extras.hasServerTools || extras.hasRemoteDocuments
}

/** Used where the catalogue does not say how much a model reads. */
const defaultInputTokens = 200_000

export function inputTokensMax({ facts, model, snapshot }: Prepared): number {
  const others = facts.extras.otherModels.map((id) => snapshot.models.get(id))
  return Math.max(...[model, ...others].map((one) => one?.maxInputTokens ?? defaultInputTokens))
}

/** Returns the most tokens that one choice of the answer may have. */
export function outputTokensMax({ facts, model, operation }: Prepared): number {
  if (operation.outputLimitField === undefined) return 0
  return facts.maxOutputTokens ?? model.maxOutputTokens ?? defaultOutputTokens
}

/** Used where neither request nor catalogue bounds the answer: the most that current models give. */
const defaultOutputTokens = 128_000
