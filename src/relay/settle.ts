/**
 * Runs for every exchange that holds money, however it ended: decides the charge, has it booked
 * durably and the hold freed in the same step. The only caller of `ledger.settle`.
 */
import { addPicos, zeroPicos } from '../base/money.ts'
import type { ExchangeRecord, Ledger } from '../ledger/ledger.ts'
import { pricesAt, type Prices } from '../metering/price-book.ts'
import {
  decideCharge,
  type ChargeDecision,
  type CutPolicy,
  type SettlementFacts,
} from '../metering/settlement.ts'
import type { TokenCounter } from '../metering/token-counter.ts'
import type { Telemetry } from '../telemetry/events.ts'
import { outputTokensMax } from './admit.ts'
import type { Delivered } from './deliver.ts'
import type { Admitted, AttemptNotes } from './stages.ts'

export interface SettleParts {
  readonly ledger: Ledger
  readonly telemetry: Telemetry
  readonly tokenCounter: TokenCounter
  readonly cutPolicy: CutPolicy
  readonly now: () => number
  readonly monotonic: () => number
}

/**
 * Resolves true once the charge is durable, false where it could not be booked: then the client
 * must not get a complete answer. An ending that costs nothing does not make the client wait.
 */
export async function settle(
  admitted: Admitted,
  delivered: Delivered,
  notes: AttemptNotes,
  parts: SettleParts,
): Promise<boolean> {
  const decided = decideCharge(settlementFacts(admitted, delivered, parts), parts.tokenCounter)
  const decision = decided instanceof Promise ? await decided : decided
  const record = exchangeRecord(admitted, delivered, { decision, notes, endedAtMs: parts.now() })
  parts.telemetry.milestone('charge_submitted', admitted.exchangeId)
  const booked = parts.ledger.settle(admitted.hold, record)
  if (record.amountPicos > 0n) {
    try {
      await booked
    } catch (error) {
      parts.telemetry.fault(error, 'settle')
      return false
    }
    parts.telemetry.milestone('charge_durable', admitted.exchangeId)
  } else {
    booked.catch((error: unknown) => parts.telemetry.fault(error, 'settle'))
  }
  report(admitted, record, parts)
  return true
}

/** Frees the hold of an exchange that ended in a fault of the gateway's own. Never rejects. */
export async function settleFault(admitted: Admitted, parts: SettleParts): Promise<void> {
  const delivered = { ...failedDelivery, finish: () => undefined }
  const notes: AttemptNotes = { count: 0, operatorCostPicos: zeroPicos }
  try {
    await settle(admitted, delivered, notes, parts)
  } catch (error) {
    parts.telemetry.fault(error, 'settle')
  }
}

const failedDelivery = {
  ending: 'failed',
  status: 500,
  channel: undefined,
  reading: undefined,
  vendorRequestId: undefined,
} as const

function settlementFacts(
  admitted: Admitted,
  delivered: Delivered,
  parts: SettleParts,
): SettlementFacts {
  const { facts, model, prices, principal, hold, body, format, snapshot, startedAtMs } = admitted
  return {
    ending: delivered.ending,
    counts: delivered.reading,
    format: format.name,
    requestedModel: model.id,
    upstreamModel: delivered.channel?.models.get(model.id),
    prices,
    pricesFor(id): Prices | undefined {
      const other = snapshot.models.get(id)
      return other === undefined ? undefined : pricesAt(other.prices, startedAtMs)
    },
    bounds: {
      inputTokensEstimate: facts.inputTokensEstimate,
      blobTokensMax: facts.extras.blobTokensMax,
      audioTokens: facts.extras.audioTokens,
      audioTokensUsual: facts.extras.audioTokensUsual,
      asksAudioOutput: facts.extras.asksAudioOutput,
      isSpeechCompressed: facts.extras.isSpeechCompressed,
      webSearchesMax: facts.extras.webSearchesMax,
      hasServerTools: facts.extras.hasServerTools,
      hasStoredPrompt: facts.extras.hasStoredPrompt,
      maxOutputTokens: outputTokensMax(admitted),
      choiceCount: facts.choiceCount,
      bodyBytes: body.byteLength,
    },
    holdPicos: hold.amountPicos,
    multiplierPpm: principal.priceMultiplierPpm,
    cutPolicy: parts.cutPolicy,
  }
}

interface Outcome {
  readonly decision: ChargeDecision
  readonly notes: AttemptNotes
  readonly endedAtMs: number
}

function exchangeRecord(
  admitted: Admitted,
  delivered: Delivered,
  { decision, notes, endedAtMs }: Outcome,
): ExchangeRecord {
  return {
    exchangeId: admitted.exchangeId,
    accountId: admitted.principal.accountId,
    keyId: admitted.principal.keyId,
    vendor: admitted.vendor.name,
    model: admitted.model.id,
    operation: admitted.operation,
    isStream: admitted.facts.isStream,
    channel: delivered.channel?.name,
    startedAtMs: admitted.startedAtMs,
    endedAtMs,
    ending: delivered.ending,
    status: delivered.status,
    attemptCount: notes.count,
    amountPicos: decision.amountPicos,
    usage: decision.usage,
    marks: decision.marks,
    priceLines: decision.priceLines,
    vendorRequestId: delivered.vendorRequestId,
    operatorCostPicos: addPicos(notes.operatorCostPicos, decision.operatorCostPicos),
  }
}

function report(admitted: Admitted, record: ExchangeRecord, parts: SettleParts): void {
  parts.telemetry.exchangeEnded({
    exchangeId: record.exchangeId,
    accountId: record.accountId,
    keyId: record.keyId,
    vendor: record.vendor,
    model: record.model,
    channel: record.channel,
    ending: record.ending,
    status: record.status,
    attemptCount: record.attemptCount,
    durationMs: parts.monotonic() - admitted.startedMonotonicMs,
    amountPicos: record.amountPicos,
    operatorCostPicos: record.operatorCostPicos,
    isEstimated: record.marks.includes('estimated'),
  })
}
