/**
 * Sums the exchanges of a period by channel and model: charges with their tokens by price class, and what
 * the vendor should bill. Reads account by account along the index; memory holds sums only.
 */
import { addPicos, zeroPicos, type Picos } from '../base/money.ts'
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
  /** With a charge. */
  requests: number
  /** The charged tokens by class. */
  readonly counts: ClassCounts
  chargedPicos: Picos
  /**
   * The bill that is expected of the vendor: the own cost of a request, or its charge where that cost is not
   * known exactly, and the possible cost of answers and attempts that were not charged.
   */
  expectedPicos: Picos
}

interface SumsPeriod {
  /** Exchanges that ended in it; from inclusive, to exclusive. */
  readonly fromMs: number
  readonly toMs: number
}

export interface SumsQuestion extends SumsPeriod {
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
      `SELECT exchange_id, channel, model, amount_picos, usage, operator_cost_picos,
              own_cost_picos, is_own_cost_known
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
  const isOwnCostKnown = Number(row['is_own_cost_known']) !== 0
  const servedPicos = isOwnCostKnown ? readPicos(row, 'own_cost_picos') : amountPicos
  const otherPicos = readPicos(row, 'operator_cost_picos')
  sum.expectedPicos = addPicos(sum.expectedPicos, addPicos(servedPicos, otherPicos))
  if (amountPicos === 0n) return
  sum.requests++
  sum.chargedPicos = addPicos(sum.chargedPicos, amountPicos)
  const { parts } = parseUsage(String(row['usage']))
  for (const { model: served, counts } of parts) {
    // The vendor counts a part that another model served under that model.
    const isOwn = served === undefined || question.isOwnName(sum, served)
    addCounts((isOwn ? sum : sumsOf(sums, channel, served)).counts, counts)
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
    requests: 0,
    counts: {},
    chargedPicos: zeroPicos,
    expectedPicos: zeroPicos,
  }
}
