/**
 * Fills a store as a business has it after two months: by default 200,000 requests of 2,000 accounts on 60
 * channels. The same seed makes the same business; only ids and secrets differ. The books pass the audit.
 */
import { utcDay } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/id.ts'
import { noKeyLimits } from '../../../src/base/key-limits.ts'
import {
  maxPicos,
  picos,
  picosPerUsd,
  subtractPicos,
  zeroPicos,
  type Picos,
} from '../../../src/base/money.ts'
import { seededRandom, type Random } from '../../../src/base/random.ts'
import { hashSecret, headOf, makeSecret } from '../../../src/access/key.ts'
import { insertKey, saveKeyUses } from '../../../src/access/key-store.ts'
import { insertAccount } from '../../../src/ledger/account-store.ts'
import { credit } from '../../../src/ledger/entry-store.ts'
import { saveFreeExchanges } from '../../../src/ledger/free-exchange-store.ts'
import type { ExchangeRecord } from '../../../src/ledger/ledger.ts'
import { refund } from '../../../src/ledger/refund-store.ts'
import type { OperationContext } from '../../../src/operations/operation.ts'
import { applyCatalogue } from '../operations.ts'
import { analyzeTables, bookPast, dayMs, hourMs } from './book-past.ts'
import { makeBusiness, models, type Business, type ChannelForm, type Offer } from './business.ts'
import { drawRefusals, pick, writeAudits, writeOutages } from './past.ts'
import { drawCourse, makeExchange } from './traffic.ts'

export interface LargeShape {
  readonly requests: number
  readonly accounts: number
  readonly channels: number
  readonly models: number
  readonly days: number
  readonly seed: number
  /** Where the channels lead. */
  readonly vendorUrl: string
}

export const largeShape: LargeShape = {
  requests: 200_000,
  accounts: 2_000,
  channels: 60,
  models: 30,
  days: 60,
  seed: 17,
  vendorUrl: 'http://127.0.0.1:9',
}

/** An account with what the generator knows of it. */
interface Holder {
  readonly id: string
  readonly name: string
  readonly keyIds: readonly string[]
  /** What it uses, the favourite one first. */
  readonly offers: readonly Offer[]
  readonly client: string
  /** Decides which channel serves it. */
  readonly place: number
  /** What it pays in at once. */
  readonly creditPicos: Picos
  balancePicos: Picos
}

/** Fills an empty store whose schema is current, up to the present moment of the context's clock. */
export async function fillLargeStore(
  context: OperationContext,
  shape: LargeShape = largeShape,
): Promise<void> {
  const { database } = context
  const random = seededRandom(shape.seed)
  const nowMs = context.clock.now()
  const startMs = nowMs - shape.days * dayMs
  const past = { ...context, clock: { ...context.clock, now: () => startMs } }
  const business = largeBusiness(shape)
  await applyCatalogue(past, { text: business.catalogueText })
  const refunded: ExchangeRecord[] = []
  const holders = drawHolders(shape, business, { random, startMs })
  await insertHolders(context, holders, startMs)

  let drawn = 0
  await bookPast(database, { fromMs: startMs, untilMs: nowMs }, async (span) => {
    await payIn(context, holders, span.fromMs)
    const share = (span.untilMs - startMs) / (nowMs - startMs)
    const count = Math.round(shape.requests * share) - drawn
    drawn += count
    const records = drawExchanges({ ...span, count }, { holders, business, random })
    const last = records.findLast(({ amountPicos }) => amountPicos > 1n)
    if (last !== undefined) refunded.push(last)
    return records
  })
  await refundHalf(context, refunded)
  await payIn(context, holders, nowMs)

  const span = { fromMs: startMs, untilMs: nowMs - hourMs }
  const keys = holders.flatMap(({ id, keyIds }) =>
    keyIds.map((key) => ({ id: key, accountId: id })),
  )
  await writeOutages(database, { business, span, count: 400, random })
  await writeAudits(database, { span, count: 240, random })
  await saveFreeExchanges(database, drawRefusals({ business, span, count: 2_000, random, keys }))
  await database.transact((transaction) =>
    saveKeyUses(
      transaction,
      keys.map(({ id }) => [id, Math.floor(nowMs - random() * dayMs)] as const),
    ),
  )
  await analyzeTables(database)
}

const regions = ['us-east', 'us-west', 'eu-central', 'eu-north', 'asia'] as const

function largeBusiness(shape: LargeShape): Business {
  const base = Object.entries(models)
  const editions = Math.ceil(shape.models / base.length)
  const modelForms = Array.from({ length: editions }, (_, edition) =>
    base.map(([id, form]) => [edition === 0 ? id : `${id}-edition-${edition}`, form] as const),
  ).flat()
  const channelForms = Array.from({ length: shape.channels }, (_, index) => {
    const vendor = index % 2 === 0 ? 'anthropic' : 'openai'
    const region = regions[index % regions.length] ?? 'asia'
    const name = `${vendor}-${region}-${String(index + 1).padStart(2, '0')}`
    const form: ChannelForm = {
      vendor,
      url: `${shape.vendorUrl}/${name}`,
      credential: `credential-of-${name}`,
      rank: index % 3 === 2 ? 1 : 0,
      check: 'none',
      ...(index % 5 !== 4 && { costFactor: 0.6 + (index % 4) * 0.1 }),
    }
    return [name, form] as const
  })
  return makeBusiness(
    Object.fromEntries(modelForms.slice(0, shape.models)),
    Object.fromEntries(channelForms),
  )
}

const clients = ['claude-code', 'openai-python', 'anthropic-js', 'openai-js', 'litellm', 'curl']
const words = ['harbour', 'lantern', 'meadow', 'quarry', 'summit', 'willow', 'orchard', 'beacon']
const kinds = ['labs', 'studio', 'health', 'legal', 'games', 'retail', 'press', 'robotics']

/** A few accounts have most of the traffic. */
function drawHolders(
  shape: LargeShape,
  business: Business,
  { random, startMs }: { readonly random: Random; readonly startMs: number },
): Holder[] {
  return Array.from({ length: shape.accounts }, (_, index) => ({
    id: newId('acc', startMs + index),
    name: `${pick(words, random)}-${pick(kinds, random)}-${index + 1}`,
    keyIds: Array.from({ length: 1 + (index % 3) }, () => newId('key', startMs + index)),
    offers: Array.from({ length: 3 }, () => pick(business.offers, random)),
    client: pick(clients, random),
    place: Math.floor(random() * 1_000),
    creditPicos: picos(BigInt(index < shape.accounts / 50 ? 200 : 5) * picosPerUsd),
    balancePicos: zeroPicos,
  }))
}

async function insertHolders(
  { database }: OperationContext,
  holders: readonly Holder[],
  startMs: number,
): Promise<void> {
  await database.transact(async (transaction) => {
    for (const { id, name, keyIds } of holders) {
      await insertAccount(transaction, {
        id,
        name,
        createdAtMs: startMs,
        creditLinePicos: zeroPicos,
        holds: undefined,
        dailyLimitPicos: zeroPicos,
        monthlyLimitPicos: zeroPicos,
        rpm: 0,
        windowMinutes: 1,
        tpm: 0,
        priceMultiplierPpm: 1_000_000,
      })
      for (const [index, keyId] of keyIds.entries()) {
        const secret = makeSecret('client')
        await insertKey(transaction, {
          id: keyId,
          kind: 'client',
          accountId: id,
          name: ['production', 'staging', 'laptop'][index] ?? 'other',
          head: headOf(secret),
          secretHash: hashSecret(secret),
          allowedModels: undefined,
          ipRanges: undefined,
          limits: noKeyLimits,
          createdAtMs: startMs,
          expiresAtMs: undefined,
        })
      }
    }
  })
}

/** Accounts with little left pay in. */
async function payIn(
  { database }: OperationContext,
  holders: readonly Holder[],
  atMs: number,
): Promise<void> {
  const due = holders.filter(({ balancePicos, creditPicos }) => balancePicos * 4n < creditPicos)
  await database.transact(async (transaction) => {
    for (const holder of due) {
      const missing = maxPicos(subtractPicos(zeroPicos, holder.balancePicos), zeroPicos)
      const amountPicos = picos(holder.creditPicos * (1n + missing / holder.creditPicos))
      await credit(transaction, {
        accountId: holder.id,
        kind: 'credit',
        amountPicos,
        reference: `payment-${utcDay(atMs)}-${atMs}`,
        atMs,
      })
      holder.balancePicos = picos(holder.balancePicos + amountPicos)
    }
  })
}

interface Parts {
  readonly holders: readonly Holder[]
  readonly business: Business
  readonly random: Random
}

function drawExchanges(
  wanted: { readonly fromMs: number; readonly untilMs: number; readonly count: number },
  { holders, business, random }: Parts,
): ExchangeRecord[] {
  const { fromMs, untilMs, count } = wanted
  // The last exchanges end before the present.
  const times = Array.from({ length: count }, () => {
    const spanMs = untilMs - fromMs
    return Math.floor(fromMs + random() * Math.max(spanMs - 120_000, spanMs / 2))
  })
  return times
    .sort((left, right) => left - right)
    .map((startedAtMs) => {
      const holder = holders[Math.floor(holders.length * random() ** 2.2)] ?? pick(holders, random)
      const offer = holder.offers[Math.floor(random() ** 2 * holder.offers.length)]
      if (offer === undefined) throw new Error(`${holder.name} uses no model`)
      const ways = business.waysOf(offer)
      const first = holder.place % ways.length
      const record = makeExchange({
        random,
        course: drawCourse(random),
        startedAtMs,
        accountId: holder.id,
        keyId: pick(holder.keyIds, random),
        multiplierPpm: 1_000_000,
        client: holder.client,
        offer,
        ways: [...ways.slice(first), ...ways.slice(0, first)],
      })
      holder.balancePicos = subtractPicos(holder.balancePicos, record.amountPicos)
      return record
    })
}

async function refundHalf(
  { database }: OperationContext,
  records: readonly ExchangeRecord[],
): Promise<void> {
  await database.transact(async (transaction) => {
    for (const record of records) {
      const { amountPicos, channel = '', label = '', endedAtMs } = record
      await refund(transaction, {
        exchange: { ...record, channel, label, chargePicos: amountPicos },
        amountPicos: picos(amountPicos / 2n),
        reason: 'answer was incomplete',
        atMs: endedAtMs + 60_000,
      })
    }
  })
}
