/**
 * Settles every exchange that holds money, however it ended: decides the charge, stores it durably and
 * frees the hold in the same step. The only caller of `ledger.settle`.
 */
import type { Clock } from '../base/clock.ts'
import { addPicos, zeroPicos, type Picos } from '../base/money.ts'
import { isStoredWithAnswer } from '../formats/answer.ts'
import { keptStateMs, type MadeStates } from '../ledger/answer-state-store.ts'
import type { AttemptRecord, ExchangeRecord, Hold } from '../ledger/ledger.ts'
import { pricesAt, type Prices } from '../metering/prices.ts'
import { isUse, usageClasses, type Usage, type UsageMark } from '../metering/usage.ts'
import {
  cameToNothing,
  decideCharge,
  type ChargeDecision,
  type SettlementFacts,
} from '../metering/settlement.ts'
import type { ExchangeSummary, Telemetry } from '../telemetry/events.ts'
import { withStreamEnd } from './attempt-records.ts'
import { clientFacts, type ClientFacts } from './client-facts.ts'
import type { Delivered, Settled } from './deliver.ts'
import { stateKey } from './earlier-answers.ts'
import { recordFree } from './free-record.ts'
import { noteCounts } from './counts-seen.ts'
import { askWaiver, likelyPicos, mayReason } from './leaving.ts'
import { askedName } from './prepare.ts'
import { outputTokensMax, outputTokensMaxOn } from './output-limits.ts'
import {
  addLostCosts,
  inputTokensBelieved,
  isHoldFinal,
  lostCostOf,
  noLostCost,
} from './request-costs.ts'
import type { Admitted, AttemptNotes, LostCost, RelayServices } from './stages.ts'
import { endTrace, isReason } from './trace-facts.ts'

type SettleServices = Pick<
  RelayServices,
  | 'clock'
  | 'ledger'
  | 'waivers'
  | 'freeExchanges'
  | 'answerStates'
  | 'telemetry'
  | 'tokenCounter'
  | 'counts'
  | 'settings'
  | 'onTracePoint'
>

/**
 * Resolves once the charge, and what later requests may name of the answer, are durable; with
 * `isDurable` false where they could not be stored: then the client must not get a complete answer. Where
 * there is neither, the client does not wait for the store. Without a hold there is nothing to charge.
 */
export async function settle(
  admitted: Admitted,
  delivered: Delivered,
  notes: AttemptNotes,
  services: SettleServices,
): Promise<Settled> {
  const { clock, ledger, waivers, telemetry, tokenCounter, settings, onTracePoint } = services
  const { hold } = admitted
  if (hold === undefined) {
    await forgetDeleted(admitted, delivered, services)
    recordFree(admitted, delivered, notes, services)
    return { isDurable: true, chargedPicos: zeroPicos }
  }
  const facts = settlementFacts(admitted, delivered, { hold, settings })
  const isForNothing = cameToNothing(facts)
  const isWaived = isForNothing && (await askWaiver(admitted, services))
  const isNotFree = isForNothing && !isWaived
  const deciding = decideCharge(isNotFree ? { ...facts, isNotFree } : facts, tokenCounter)
  const decision = deciding instanceof Promise ? await deciding : deciding
  noteCounts(admitted, delivered, decision, services)
  const lost = addLostCosts(
    notes.lost,
    lostOfAnswer(admitted, delivered, { decision, notes, clock }),
  )
  const record = exchangeRecord(admitted, delivered, {
    decision,
    marks: marksOf({ hold, isNotFree, lost }, decision),
    notes,
    lost,
    endedAtMs: clock.now(),
    waivedPicos: isWaived ? likelyPicos(admitted) : undefined,
    attempts: attemptsOf(delivered, notes, clock),
    client: clientFacts(admitted.request, settings.recordAddresses),
  })
  onTracePoint?.('charge_submitted', admitted.exchangeId)
  const stored = ledger.settle(hold, record)
  if (record.amountPicos > 0n || record.made !== undefined) {
    try {
      await stored
    } catch (error) {
      telemetry.fault(error, 'settle')
      endTrace(admitted, delivered, { ...record, code: 'ledger.unavailable', status: 503 })
      return { isDurable: false, chargedPicos: zeroPicos }
    } finally {
      waivers.ended(record)
    }
    onTracePoint?.('charge_durable', admitted.exchangeId)
  } else {
    void stored
      .catch((error: unknown) => telemetry.fault(error, 'settle'))
      .finally(() => waivers.ended(record))
  }
  report(record, clock.monotonic() - admitted.startedMonotonicMs, telemetry)
  endTrace(admitted, delivered, record)
  return { isDurable: true, chargedPicos: record.amountPicos }
}

interface Causes {
  readonly hold: Hold
  readonly isNotFree: boolean
  readonly lost: LostCost
}

/** Adds what the charge does not show: how the exchange was admitted, and the causes of its cost. */
function marksOf(
  { hold, isNotFree, lost }: Causes,
  { marks: charged }: ChargeDecision,
): readonly UsageMark[] {
  const { isUncovered } = hold
  if (!isUncovered && !isNotFree && !lost.isForOutput) return charged
  return [
    ...(isUncovered ? (['uncovered'] as const) : []),
    ...(isNotFree ? (['not_free'] as const) : []),
    ...(lost.isForOutput ? (['lost_estimated'] as const) : []),
    ...charged,
  ]
}

/** The possible cost of an uncharged answer. For a cut one that reasoned, time says more than text. */
function lostOfAnswer(
  admitted: Admitted,
  { ending, reading }: Delivered,
  { decision, notes, clock }: Pick<Outcome, 'decision' | 'notes'> & Pick<RelayServices, 'clock'>,
): LostCost {
  const counted = { picos: decision.operatorCostPicos, isForOutput: false }
  const { stream } = notes
  const isCut =
    ending === 'upstream_cut' && reading?.isFinal !== true && decision.amountPicos === 0n
  if (!isCut || stream === undefined || !mayReason(admitted)) return counted
  const timed = lostCostOf(admitted, { lease: stream.lease, endedMs: clock.monotonic() })
  return timed.picos > counted.picos ? timed : counted
}

/** Frees the hold of an exchange that ended in the gateway's own fault. Never rejects. */
export async function settleFault(admitted: Admitted, services: SettleServices): Promise<void> {
  const delivered = { ...failedDelivery, finish: () => undefined }
  const notes: AttemptNotes = {
    count: 0,
    lost: noLostCost,
    attempts: [],
    firstEventMs: undefined,
    stream: undefined,
  }
  try {
    await settle(admitted, delivered, notes, services)
  } catch (error) {
    services.telemetry.fault(error, 'settle')
  }
}

const failedDelivery = {
  ending: 'failed',
  status: 500,
  channel: undefined,
  reading: undefined,
  isUnseen: false,
  vendorRequestId: undefined,
  code: 'gateway.internal',
} as const

function settlementFacts(
  admitted: Admitted,
  delivered: Delivered,
  { hold, settings }: { readonly hold: Hold } & Pick<RelayServices, 'settings'>,
): SettlementFacts {
  const { facts, model, prices, principal, format, snapshot, startedAtMs } = admitted
  const cost = delivered.channel?.cost
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
      ...facts.extras,
      promptTokensLikely: facts.prompt.likely,
      audioTokensLikely: facts.prompt.audioLikely,
      inputTokensMax: inputTokensBelieved(admitted),
      maxOutputTokens: outputTokensMaxOn(admitted, delivered.channel),
      choiceCount: facts.choiceCount,
    },
    holdPicos: hold.amountPicos,
    isHoldFinal: isHoldFinal(admitted),
    holdsMost: admitted.holdsMost,
    multiplierPpm: principal.priceMultiplierPpm,
    cutPolicy: settings.upstreamCut,
    isUnseen: delivered.isUnseen,
    cost: cost === undefined ? undefined : { prices: cost, atMs: startedAtMs },
  }
}

function attemptsOf(
  delivered: Delivered,
  { attempts, stream }: AttemptNotes,
  clock: Clock,
): readonly AttemptRecord[] {
  if (stream === undefined) return attempts
  return withStreamEnd(attempts, delivered, clock.monotonic() - stream.startedMs)
}

interface Outcome {
  readonly decision: ChargeDecision
  readonly marks: readonly UsageMark[]
  readonly notes: AttemptNotes
  readonly lost: LostCost
  readonly endedAtMs: number
  readonly waivedPicos: Picos | undefined
  /** With the end of the delivered stream. */
  readonly attempts: readonly AttemptRecord[]
  readonly client: ClientFacts
}

function exchangeRecord(
  admitted: Admitted,
  delivered: Delivered,
  { decision, marks, notes, lost, endedAtMs, waivedPicos, attempts, client }: Outcome,
): ExchangeRecord {
  return {
    exchangeId: admitted.exchangeId,
    accountId: admitted.principal.accountId,
    keyId: admitted.principal.keyId,
    vendor: admitted.vendor.name,
    model: admitted.model.id,
    askedModel: askedName(admitted.model, admitted.facts.model),
    operation: admitted.operation.name,
    isStream: admitted.facts.isStream,
    channel: delivered.channel?.name,
    startedAtMs: admitted.startedAtMs,
    endedAtMs,
    ending: delivered.ending,
    status: delivered.status,
    attemptCount: notes.count,
    amountPicos: decision.amountPicos,
    usage: decision.usage,
    marks,
    priceLines: decision.priceLines,
    vendorRequestId: delivered.vendorRequestId,
    finishReason: delivered.reading?.finishReasons?.find(isReason),
    operatorCostPicos: lost.picos,
    firstEventMs: notes.firstEventMs,
    attempts,
    code: delivered.code,
    client: client.client,
    address: client.address,
    label: client.label,
    ownCostPicos: decision.ownCostPicos,
    isOwnCostKnown: decision.isOwnCostKnown,
    waivedPicos,
    made: madeStates(admitted, delivered, { decision, endedAtMs }),
  }
}

/** State that the vendor does not keep for clients is not remembered: later requests may not name it. */
function madeStates(
  admitted: Admitted,
  { reading }: Delivered,
  { decision, endedAtMs }: Pick<Outcome, 'decision' | 'endedAtMs'>,
): MadeStates | undefined {
  const { vendor, facts } = admitted
  const made = reading?.made ?? []
  const known =
    vendor.storedResponses === 'own' ? made : made.filter(({ kind }) => !isStoredWithAnswer(kind))
  if (known.length === 0) return undefined
  // Without a count the most that the answer can have been.
  const counted = decision.usage?.reported ?? {
    inputTokens: facts.prompt.likely + facts.prompt.audioLikely,
    outputTokens: outputTokensMax(admitted),
  }
  const { inputTokens, outputTokens } = counted
  return {
    keys: known.map(stateKey),
    expiresAtMs: endedAtMs + keptStateMs,
    inputTokens,
    outputTokens,
  }
}

/** The vendor has deleted it. Where that cannot be noted, later requests for it get the vendor's own 404. */
async function forgetDeleted(
  { operation, storedId, vendor, principal }: Admitted,
  { reading }: Delivered,
  { answerStates, telemetry }: SettleServices,
): Promise<void> {
  if (operation.kind !== 'stored' || !operation.deletesAnswer || reading === undefined) return
  if (storedId === undefined) return
  try {
    const { accountId } = principal
    await answerStates.forget(storedId, { vendor: vendor.name, accountId })
  } catch (error) {
    telemetry.fault(error, 'settle')
  }
}

function report(record: ExchangeRecord, durationMs: number, telemetry: Telemetry): void {
  telemetry.exchangeEnded({
    exchangeId: record.exchangeId,
    accountId: record.accountId,
    keyId: record.keyId,
    vendor: record.vendor,
    model: record.model,
    operation: record.operation,
    channel: record.channel,
    ending: record.ending,
    status: record.status,
    attemptCount: record.attemptCount,
    durationMs,
    firstEventMs: record.firstEventMs,
    amountPicos: record.amountPicos,
    operatorCostPicos: unpaidPicos(record),
    isEstimated: record.marks.includes('estimated'),
    tokens: tokensOf(record.usage),
  })
}

const tokenClasses = usageClasses.filter((usageClass) => !isUse(usageClass))

function tokensOf(usage: Usage | undefined): ExchangeSummary['tokens'] {
  const tokens: Record<string, number> = {}
  for (const { counts } of usage?.parts ?? [])
    for (const tokenClass of tokenClasses) {
      const count = counts[tokenClass] ?? 0
      if (count > 0) tokens[tokenClass] = (tokens[tokenClass] ?? 0) + count
    }
  return tokens
}

/** Costs that no account pays: estimates, and the own cost of an answer that is not charged. */
function unpaidPicos({ amountPicos, ownCostPicos, operatorCostPicos }: ExchangeRecord): Picos {
  return amountPicos === 0n ? addPicos(operatorCostPicos, ownCostPicos) : operatorCostPicos
}
