/**
 * The cost of a request before it runs: likely, which decides whether it is admitted, and at most, which
 * is held. Pure: facts of the request, the model and the prices in, facts for a quote out.
 */
import type { Model } from '../channels/channel.ts'
import { unknownLimits } from '../channels/model-limits.ts'
import { findNamedModel } from '../channels/model-names.ts'
import type { Lease } from '../channels/route.ts'
import { addPicos, zeroPicos } from '../base/money.ts'
import { quote, type QuoteFacts } from '../metering/charge.ts'
import { costPricesAt } from '../metering/cost-prices.ts'
import { unchangedPpm } from '../metering/prices.ts'
import { outputTokensMax, outputTokensMaxOn } from './output-limits.ts'
import type { Admitted, LostCost, Prepared } from './stages.ts'

export const noLostCost: LostCost = { picos: zeroPicos, isForOutput: false }

/**
 * Estimates the cost of an attempt that was cut, at the channel's cost prices or at list price: the
 * prompt, and the output and thought that are possible since the head of its answer.
 */
export function lostCostOf(admitted: Admitted, cut: CutAttempt): LostCost {
  if (admitted.hold === undefined) return noLostCost
  const { cost } = cut.lease.channel
  const maxOutputTokens = outputTokensSince(admitted, cut)
  const facts = {
    ...likelyFacts(admitted),
    choiceCount: 1,
    maxOutputTokens,
    multiplierPpm: unchangedPpm,
  }
  const prices = costPricesAt(cost, admitted.model.id, admitted.startedAtMs)
  const picos =
    prices === undefined
      ? quote({ ...facts, multiplierPpm: cost?.factorPpm ?? unchangedPpm })
      : quote({ ...facts, prices })
  return { picos, isForOutput: maxOutputTokens > 0 }
}

export function addLostCosts(left: LostCost, right: LostCost): LostCost {
  return {
    picos: addPicos(left.picos, right.picos),
    isForOutput: left.isForOutput || right.isForOutput,
  }
}

interface CutAttempt {
  readonly lease: Lease
  /** Monotonic. */
  readonly endedMs: number
}

function outputTokensSince(admitted: Admitted, { lease, endedMs }: CutAttempt): number {
  const { channel, patience, tokensPerSecond } = lease
  if (patience.headAt === undefined) return 0
  const most = outputTokensMaxOn(admitted, channel) * admitted.facts.choiceCount
  return Math.min(most, Math.round(((endedMs - patience.headAt) / 1_000) * tokensPerSecond))
}

/** Facts of the amount that must be left: the likely, or the most by rule of the account or the setting. */
export function neededFacts(prepared: Prepared): QuoteFacts {
  return prepared.holdsMost ? mostFacts(prepared) : likelyFacts(prepared)
}

/**
 * Whether no charge may be above the hold. One may where the vendor runs tools, whose results no body bounds,
 * and where the catalogue does not say how much the model reads.
 */
export function isHoldFinal(prepared: Prepared): boolean {
  if (prepared.holdsMost) return true
  if (prepared.facts.extras.serverTools !== undefined) return false
  return isBoundedByBytes(prepared) || inputTokensMax(prepared) !== undefined
}

export function likelyFacts(prepared: Prepared): QuoteFacts {
  const { prompt, cacheWrite } = prepared.facts
  const { likely, audioLikely } = prompt
  const inputTokens = Math.min(likely + audioLikely, inputTokensHeld(prepared))
  const audioTokens = Math.min(audioLikely, inputTokens)
  return quoteFacts(prepared, { inputTokens, audioTokens, cacheWrite })
}

/**
 * Where nothing bounds the audio, all input may be audio, for a model with a price for it. A vendor that
 * counts cache writes on chat, and tools that it runs, write without being asked.
 */
export function mostFacts(prepared: Prepared): QuoteFacts {
  const { facts, prices, format } = prepared
  const { prompt, extras } = facts
  const turns = prepared.holdsMost ? turnsOf(prepared) : 1
  const inputTokens = inputTokensHeld(prepared) * turns
  const mayBeAudio = prompt.audioMost < Infinity || prices.classes.input_audio !== undefined
  const writes =
    extras.serverTools !== undefined ||
    (format.name === 'chat' && prices.classes.cache_write_5m !== undefined)
  const audioTokens = mayBeAudio ? Math.min(prompt.audioMost, inputTokens) : 0
  const cacheWrite = facts.cacheWrite ?? (writes ? 'short' : undefined)
  return quoteFacts(prepared, { inputTokens, audioTokens, cacheWrite })
}

type PromptFact = 'inputTokens' | 'audioTokens' | 'cacheWrite'

/** Without a spread copy: every exchange is quoted twice. */
function quoteFacts(
  prepared: Prepared,
  { inputTokens, audioTokens, cacheWrite }: Pick<QuoteFacts, PromptFact>,
): QuoteFacts {
  const { facts, prices, otherPrices, principal, format } = prepared
  const { asksAudioOutput, webSearchesMax, vendorTools } = facts.extras
  return {
    prices,
    otherPrices,
    format: format.name,
    inputTokens,
    audioTokens,
    maxOutputTokens: outputTokensMax(prepared),
    choiceCount: facts.choiceCount,
    multiplierPpm: principal.priceMultiplierPpm,
    cacheWrite,
    requested: facts.service,
    asksAudioOutput,
    webSearchesMax,
    vendorTools,
  }
}

/** The most input that the hold is for, or the likely where no limit of the model is known. */
export function inputTokensHeld(prepared: Prepared): number {
  const most = inputTokensOf(prepared)
  if (isBoundedByBytes(prepared)) return most
  return Math.min(most, inputTokensMax(prepared) ?? unknownLimits.inputTokensHeld)
}

/** Whether the hold follows the bytes alone: no limit of the model holds for all texts together. */
function isBoundedByBytes(prepared: Prepared): boolean {
  return prepared.operation.hasManyTexts === true && inputTokensOf(prepared) < Infinity
}

/** The most input that the vendor may count, in all parts of its answer together. */
export function inputTokensBelieved(prepared: Prepared): number {
  const most = inputTokensOf(prepared)
  const base =
    most < Infinity ? most : (inputTokensMax(prepared) ?? unknownLimits.inputTokensBelieved)
  return base * turnsOf(prepared)
}

/** Infinite where bytes do not bound the prompt. */
function inputTokensOf(prepared: Prepared): number {
  const { most, images, audioMost } = prepared.facts.prompt
  return most + (images === 0 ? 0 : images * tokensPerImage(prepared)) + audioMost
}

function tokensPerImage(prepared: Prepared): number {
  const unknown = unknownLimits.imageTokens[prepared.format.name]
  return Math.max(...modelsOf(prepared).map((model) => model?.imageTokens ?? unknown))
}

/** How much the model reads, and each other model that the request names; undefined where one is unknown. */
function inputTokensMax(prepared: Prepared): number | undefined {
  if (prepared.facts.extras.otherModels.length === 0) return prepared.model.maxInputTokens
  const limits = modelsOf(prepared).map((model) => model?.maxInputTokens)
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === limits.length ? Math.max(...known) : undefined
}

function modelsOf({ facts, model, snapshot }: Prepared): readonly (Model | undefined)[] {
  return [model, ...facts.extras.otherModels.map((name) => findNamedModel(snapshot, name))]
}

/** The prompt is read again for each use of a tool that the vendor runs, and by each other model. */
function turnsOf({ facts: { extras } }: Prepared): number {
  return 1 + (extras.serverTools?.uses ?? 0) + extras.otherModels.length
}
