/**
 * Makes records of exchanges as the relay writes them: tokens, attempts, times, charge and own cost, priced
 * by the program's own arithmetic. A seeded generator draws all of it.
 */
import { newId } from '../../../src/base/id.ts'
import { addPicos, zeroPicos } from '../../../src/base/money.ts'
import type { Random } from '../../../src/base/random.ts'
import type { AttemptRecord, ExchangeRecord } from '../../../src/ledger/ledger.ts'
import { charge } from '../../../src/metering/charge.ts'
import { ownCost } from '../../../src/metering/cost-prices.ts'
import { formatPriceLines } from '../../../src/metering/price-lines.ts'
import type { Usage, UsageCounts } from '../../../src/metering/usage.ts'
import type { Offer, Way } from './business.ts'

/** How an exchange went. */
export type Course =
  | 'answered'
  | 'failed_over'
  | 'estimated'
  | 'client_left'
  | 'cut'
  | 'refused'
  | 'failed'
  | 'withheld'

export interface Drawn {
  readonly random: Random
  readonly course: Course
  readonly startedAtMs: number
  readonly accountId: string
  readonly keyId: string
  readonly multiplierPpm: number
  readonly client: string
  readonly offer: Offer
  /** The channels in the order in which the gateway tries them. */
  readonly ways: readonly Way[]
}

/** Out of a thousand exchanges. The rest is answered. */
const courses: readonly (readonly [Course, number])[] = [
  ['failed_over', 22],
  ['client_left', 18],
  ['refused', 14],
  ['failed', 6],
  ['cut', 5],
  ['estimated', 3],
  ['withheld', 1],
]

export const rareCourses: readonly Course[] = courses.map(([course]) => course)

export function drawCourse(random: Random): Course {
  let place = random() * 1_000
  for (const [course, count] of courses) {
    if (place < count) return course
    place -= count
  }
  return 'answered'
}

export function makeExchange(drawn: Drawn): ExchangeRecord {
  const { course } = drawn
  if (course === 'refused' || course === 'failed') return withoutAnswer(drawn)
  const answered = withAnswer(drawn)
  return course === 'withheld' ? withhold(answered) : answered
}

function withAnswer(drawn: Drawn): ExchangeRecord {
  const { random, course, offer, ways } = drawn
  const failed: readonly AttemptRecord[] =
    course === 'failed_over' && ways.length > 1 ? [faultOf(drawn)] : []
  const way = ways[failed.length] ?? ways[0]
  if (way === undefined) throw new Error(`no channel offers ${offer.id}`)
  const usage = drawUsage(drawn)
  const facts = {
    usage,
    format: offer.format,
    requestedModel: offer.id,
    prices: offer.prices,
    pricesFor: () => undefined,
  }
  const charged = charge(usage, { ...facts, multiplierPpm: drawn.multiplierPpm })
  const cost = ownCost({ ...facts, cost: way.cost, atMs: drawn.startedAtMs })
  const firstMs = Math.round(offer.firstEventMs * (0.6 + random() ** 3 * 4))
  const waitedMs = failed.reduce((sum, { durationMs }) => sum + durationMs, 0)
  const durationMs = firstMs + Math.round(usage.reported.outputTokens * (6 + random() * 14))
  const last: AttemptRecord = {
    channel: way.channel,
    status: 200,
    class: course === 'cut' ? 'cut' : 'answered',
    startedMs: waitedMs + 1,
    firstEventMs: firstMs,
    durationMs,
  }
  return {
    ...common(drawn),
    endedAtMs: drawn.startedAtMs + waitedMs + durationMs,
    channel: way.channel,
    ending:
      course === 'client_left' ? 'client_left' : course === 'cut' ? 'upstream_cut' : 'completed',
    status: 200,
    attemptCount: failed.length + 1,
    attempts: [...failed, last],
    amountPicos: charged.amountPicos,
    usage,
    marks: course === 'estimated' ? ['estimated'] : charged.marks,
    priceLines: formatPriceLines(charged.bill),
    vendorRequestId: `req_${drawHex(random)}`,
    operatorCostPicos: zeroPicos,
    firstEventMs: waitedMs + firstMs,
    code: undefined,
    // As the relay: a cost that is not known is in no sum.
    ownCostPicos: cost.isKnown ? cost.amountPicos : zeroPicos,
    isOwnCostKnown: cost.isKnown,
  }
}

/** The charge could not be stored, so the client got no end of the answer and pays nothing. */
function withhold(record: ExchangeRecord): ExchangeRecord {
  return {
    ...record,
    ending: 'failed',
    amountPicos: zeroPicos,
    usage: undefined,
    marks: [],
    priceLines: '',
    operatorCostPicos: addPicos(record.operatorCostPicos, record.amountPicos),
    code: 'ledger.unavailable',
    ownCostPicos: zeroPicos,
    isOwnCostKnown: false,
  }
}

function withoutAnswer(drawn: Drawn): ExchangeRecord {
  const { course, random, ways } = drawn
  const isRefused = course === 'refused'
  const attempts = isRefused
    ? [attemptOf(drawn, { status: 400, class: 'client', durationMs: 90 + random() * 200 })]
    : inTurn(ways.slice(0, 2).map((_, index) => faultOf(drawn, index)))
  const durationMs = attempts.reduce((sum, attempt) => sum + attempt.durationMs, 0)
  return {
    ...common(drawn),
    endedAtMs: drawn.startedAtMs + durationMs,
    channel: isRefused ? attempts[0]?.channel : undefined,
    ending: isRefused ? 'refused' : 'failed',
    status: isRefused ? 400 : 502,
    attemptCount: attempts.length,
    attempts,
    amountPicos: zeroPicos,
    usage: undefined,
    marks: [],
    priceLines: '',
    vendorRequestId: isRefused ? `req_${drawHex(random)}` : undefined,
    operatorCostPicos: zeroPicos,
    firstEventMs: undefined,
    code: isRefused ? undefined : 'relay.upstream_failed',
    ownCostPicos: zeroPicos,
    isOwnCostKnown: true,
  }
}

function common(drawn: Drawn) {
  const { accountId, keyId, offer, startedAtMs, client, random } = drawn
  return {
    exchangeId: newId('ex', startedAtMs),
    accountId,
    keyId,
    vendor: offer.vendor,
    model: offer.id,
    operation: offer.operation,
    isStream: offer.hasOutput && random() < 0.8,
    startedAtMs,
    client,
    address: '',
  }
}

const faults = [
  { status: 529, class: 'throttle', durationMs: 240 },
  { status: 429, class: 'throttle', durationMs: 120 },
  { status: 503, class: 'hard', durationMs: 310 },
  { status: null, class: 'connect', durationMs: 1_040 },
] as const

function faultOf(drawn: Drawn, wayIndex = 0): AttemptRecord {
  const fault = faults[Math.floor(drawn.random() * faults.length)] ?? faults[0]
  return attemptOf(drawn, fault, wayIndex)
}

/** Each attempt begins where the one before it ended. */
function inTurn(attempts: readonly AttemptRecord[]): readonly AttemptRecord[] {
  let startedMs = 1
  return attempts.map((attempt) => {
    const placed = { ...attempt, startedMs }
    startedMs += attempt.durationMs
    return placed
  })
}

function attemptOf(
  { ways }: Drawn,
  fault: Pick<AttemptRecord, 'status' | 'class' | 'durationMs'>,
  wayIndex = 0,
): AttemptRecord {
  return {
    channel: ways[wayIndex]?.channel ?? '',
    status: fault.status,
    class: fault.class,
    startedMs: 1,
    firstEventMs: null,
    durationMs: Math.round(fault.durationMs),
  }
}

/** Many small requests, some with a long prompt that comes mostly from the cache. */
function drawUsage({ random, offer, course }: Drawn): Usage {
  const prompt = Math.round(200 + 60_000 * random() ** 4 + 3_000 * random())
  const isCached = offer.hasOutput && prompt > 3_000 && random() < 0.7
  const cached = isCached ? Math.round(prompt * (0.5 + 0.45 * random())) : 0
  const isWritten = isCached && offer.format === 'messages' && random() < 0.2
  const whole = Math.round(30 + 2_400 * random() ** 2)
  const share = course === 'client_left' || course === 'cut' ? random() : 1
  const output = offer.hasOutput ? Math.ceil(whole * share) : 0
  const counts: UsageCounts = {
    input: prompt - cached,
    ...(output > 0 && { output }),
    ...(cached > 0 && (isWritten ? { cache_write_5m: cached } : { cache_read: cached })),
  }
  return {
    parts: [{ counts, promptTokens: prompt }],
    reported: {
      // The chat format counts cached tokens as input too.
      inputTokens: offer.format === 'messages' ? prompt - cached : prompt,
      outputTokens: output,
      cacheTokens: cached,
    },
  }
}

function drawHex(random: Random): string {
  return Math.floor(random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0')
}
