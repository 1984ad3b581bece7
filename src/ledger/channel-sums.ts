/**
 * Sums the exchanges of a period by channel and model: charges with their tokens by price class, and
 * exchanges that were not charged. Reads account by account along the index; memory holds sums only.
 */
import { addPicos, maxPicos, subtractPicos, zeroPicos, type Picos } from '../base/money.ts'
import { usageClasses, type UsageClass } from '../metering/usage.ts'
import { eachRow, type Queryable, type Row } from '../storage/database.ts'
import { findIds } from './exchange-ids.ts'
import { parseUsage } from './stored-usage.ts'
import { readPicos } from './usage.ts'

export type ClassCounts = { [Class in UsageClass]?: number }

export interface ChannelModel {
  /** Empty where no channel's answer was delivered. */
  readonly channel: string
  readonly model: string
}

export interface ChannelSums extends ChannelModel {
  charged: number
  /** The charged tokens by class. */
  readonly counts: ClassCounts
  chargedPicos: Picos
  /** The largest single charge. */
  largestPicos: Picos
  /** Charged by an estimate because the answer had no usable count. */
  estimated: number
  readonly estimatedCounts: ClassCounts
  estimatedPicos: Picos
  /** Limited to the hold because the counts were implausible, and the amount beyond it. */
  capped: number
  notChargedPicos: Picos
  /** Answered by the channel and not charged: empty answers, refusals, broken streams. */
  uncharged: number
  /** Attempts besides the delivered one, on any channel. */
  otherAttempts: number
  /** The highest cost of all of these for the operator. */
  operatorCostPicos: Picos
  /** What the vendor may count beyond the charges: that cost, and what was charged by an estimate. */
  explainedPicos: Picos
  /** What the vendor counted, at cost prices. */
  ownCostPicos: Picos
  /** Charged requests whose own cost is not known exactly. */
  unknownCosts: number
}

interface SumsPeriod {
  /** Exchanges that ended in it; from inclusive, to exclusive. */
  readonly fromMs: number
  readonly toMs: number
}

export interface SumsQuestion extends SumsPeriod {
  /** Returns the amount of the counts in price lines without the limit of the hold. */
  readonly readUncapped: (priceLines: string) => Picos
  /** Whether `served` is the channel's own name for the model. */
  readonly isOwnName: (place: ChannelModel, served: string) => boolean
}

const pageSize = 1_000

export async function sumChannels(
  snapshot: Queryable,
  question: SumsQuestion,
): Promise<readonly ChannelSums[]> {
  const sums = new Map<string, ChannelSums>()
  for (const { id } of await snapshot.query('SELECT id FROM account ORDER BY id'))
    for await (const row of eachExchange(snapshot, String(id), question)) add(sums, row, question)
  return [...sums.values()]
}

async function* eachExchange(
  snapshot: Queryable,
  accountId: string,
  { fromMs, toMs }: SumsPeriod,
): AsyncGenerator<Row> {
  const ids = await findIds(snapshot, { accountId, fromMs, toMs })
  yield* eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT exchange_id, channel, model, attempt_count, amount_picos, usage, marks,
              price_lines, operator_cost_picos, own_cost_picos, is_own_cost_known
         FROM exchange
        WHERE account_id = $1 AND exchange_id > $2 AND exchange_id < $3
          AND ended_at_ms >= $4 AND ended_at_ms < $5
        ORDER BY exchange_id LIMIT $6`,
      [accountId, last?.['exchange_id'] ?? ids.after, ids.before, fromMs, toMs, pageSize],
    ),
  )
}

function add(sums: Map<string, ChannelSums>, row: Row, question: SumsQuestion): void {
  const channel = typeof row['channel'] === 'string' ? row['channel'] : ''
  const model = String(row['model'])
  const sum = sumsOf(sums, channel, model)
  const amountPicos = readPicos(row, 'amount_picos')
  const attempts = Number(row['attempt_count'])
  sum.otherAttempts += channel === '' ? attempts : Math.max(attempts - 1, 0)
  const ownCost = readPicos(row, 'own_cost_picos')
  sum.ownCostPicos = addPicos(sum.ownCostPicos, ownCost)
  const estimate = readPicos(row, 'operator_cost_picos')
  const unpaid = amountPicos === 0n ? addPicos(estimate, ownCost) : estimate
  sum.operatorCostPicos = addPicos(sum.operatorCostPicos, unpaid)
  const marks = String(row['marks']).split(',')
  if (marks.includes('implausible')) {
    const beyond = subtractPicos(question.readUncapped(String(row['price_lines'])), amountPicos)
    if (beyond > 0n) sum.capped++
    sum.notChargedPicos = addPicos(sum.notChargedPicos, beyond)
  }
  const isEstimated = amountPicos > 0n && marks.includes('estimated')
  // The estimates of one answer's charge and of its cost are about the same tokens.
  const explained = isEstimated ? maxPicos(unpaid, amountPicos) : unpaid
  sum.explainedPicos = addPicos(sum.explainedPicos, explained)
  if (amountPicos === 0n) {
    if (channel !== '') sum.uncharged++
    return
  }
  sum.charged++
  if (isEstimated || Number(row['is_own_cost_known']) === 0) sum.unknownCosts++
  sum.chargedPicos = addPicos(sum.chargedPicos, amountPicos)
  sum.largestPicos = maxPicos(sum.largestPicos, amountPicos)
  if (isEstimated) {
    sum.estimated++
    sum.estimatedPicos = addPicos(sum.estimatedPicos, amountPicos)
  }
  const { parts } = parseUsage(String(row['usage']))
  for (const { model: served, counts } of parts) {
    // The vendor counts a part that another model served under that model.
    const isOwn = served === undefined || question.isOwnName(sum, served)
    const own = isOwn ? sum : sumsOf(sums, channel, served)
    addCounts(own.counts, counts)
    if (isEstimated) addCounts(own.estimatedCounts, counts)
  }
}

export function addCounts(sum: ClassCounts, counts: Readonly<ClassCounts>): void {
  for (const usageClass of usageClasses) {
    const count = counts[usageClass]
    if (count !== undefined && count > 0) sum[usageClass] = (sum[usageClass] ?? 0) + count
  }
}

function sumsOf(sums: Map<string, ChannelSums>, channel: string, model: string): ChannelSums {
  const name = `${channel}\0${model}`
  const known = sums.get(name)
  if (known !== undefined) return known
  const sum = noSums(channel, model)
  sums.set(name, sum)
  return sum
}

/** Returns zeros for a channel and model. */
export function noSums(channel: string, model: string): ChannelSums {
  return {
    channel,
    model,
    charged: 0,
    counts: {},
    chargedPicos: zeroPicos,
    largestPicos: zeroPicos,
    estimated: 0,
    estimatedCounts: {},
    estimatedPicos: zeroPicos,
    capped: 0,
    notChargedPicos: zeroPicos,
    uncharged: 0,
    otherAttempts: 0,
    operatorCostPicos: zeroPicos,
    explainedPicos: zeroPicos,
    ownCostPicos: zeroPicos,
    unknownCosts: 0,
  }
}
