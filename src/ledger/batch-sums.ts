/**
 * Adds up what a batch of ended exchanges changes in the tables of sums, before anything is written: reports
 * by day, from their sums the usage of each month, model and key, and the tokens by second. Knows no SQL.
 * Invariant: one row for each row of a table, however many exchanges add to it, with the values in the order
 * of the table's columns.
 */
import { dayMs, utcDay } from '../base/clock.ts'
import { addPicos, zeroPicos, type Picos } from '../base/money.ts'
import { indexOf, type EndedExchange } from './exchange-row.ts'
import { addExchange, noReport, reportValues, usageOf, type ReportSums } from './report-day.ts'
import type { LabelPlace } from './label-day.ts'
import { addUsage, isUsed, noUsage, totalMonth, type UsageSums } from './usage.ts'

type Values = readonly (string | number | bigint)[]

type TokenMinute = [accountId: string, second: number, keyId: string, tokens: number]

/** Rows of these tables, each with what it grows by. */
export interface BatchSums {
  readonly reportDay: readonly Values[]
  readonly usageMonth: readonly Values[]
  readonly usageKeyMonth: readonly Values[]
  readonly tokenMinute: readonly TokenMinute[]
  /** The sum of the charges of each charged account. */
  readonly chargedPicos: ReadonlyMap<string, Picos>
}

interface Report {
  readonly key: readonly [
    day: string,
    accountId: string,
    keyId: string,
    model: string,
    channel: string,
    label: string,
  ]
  readonly sums: ReportSums
}

interface Month {
  readonly key: readonly [accountId: string, of: string, month: string]
  readonly usage: UsageSums
}

interface SumOptions {
  /** What a month grows by is also a row of all time. */
  readonly hasTotals?: boolean
  /** Under which label one that a request has given counts; the store decides it where this is absent. */
  readonly countedLabel?: CountLabel
}

type CountLabel = (place: LabelPlace) => string

export function sumBatch(
  exchanges: readonly EndedExchange[],
  { hasTotals = false, countedLabel = ({ label }) => label }: SumOptions = {},
): BatchSums {
  const reports = new Map<string, Report>()
  const seconds = new Map<string, TokenMinute>()
  for (const exchange of exchanges) {
    const { sums, key } = reportOf(reports, exchange, countedLabel)
    addTo(sums, exchange)
    const [input, output] = exchange.tokens
    if (input + output === 0) continue
    const [, accountId, keyId] = key
    const second = Math.floor(exchange.row[indexOf.endedAtMs] / 1_000)
    const ofSecond = itemOf<TokenMinute>(seconds, `${accountId} ${keyId} ${second}`, () => [
      accountId,
      second,
      keyId,
      0,
    ])
    ofSecond[3] += input + output
  }
  return { ...sumReports([...reports.values()], hasTotals), tokenMinute: [...seconds.values()] }
}

function reportOf(
  reports: Map<string, Report>,
  { row }: EndedExchange,
  countedLabel: CountLabel,
): Report {
  const accountId = row[indexOf.accountId]
  const keyId = row[indexOf.keyId]
  const model = row[indexOf.model]
  const channel = row[indexOf.channel] ?? ''
  const atMs = row[indexOf.endedAtMs]
  const given = row[indexOf.label]
  const label = given === '' ? '' : countedLabel({ accountId, day: utcDay(atMs), label: given })
  const name = `${Math.floor(atMs / dayMs)}\0${accountId}\0${keyId}\0${model}\0${channel}\0${label}`
  return itemOf(reports, name, () => ({
    key: [utcDay(atMs), accountId, keyId, model, channel, label],
    sums: noReport(),
  }))
}

function addTo(sums: ReportSums, { row, tokens }: EndedExchange): void {
  const [input, output, cache, cacheWrite, prompt] = tokens
  addExchange(sums, {
    ending: row[indexOf.ending],
    attemptCount: row[indexOf.attemptCount],
    amountPicos: row[indexOf.amountPicos],
    operatorCostPicos: row[indexOf.operatorCostPicos],
    ownCostPicos: row[indexOf.ownCostPicos],
    isOwnCostKnown: row[indexOf.isOwnCostKnown] === 1,
    firstEventMs: row[indexOf.firstEventMs],
    tokens: { input, output, cache, cacheWrite, prompt },
  })
}

function sumReports(
  reports: readonly Report[],
  hasTotals: boolean,
): Omit<BatchSums, 'tokenMinute'> {
  const months = new Map<string, Month>()
  const keys = new Map<string, Month>()
  const chargedPicos = new Map<string, Picos>()
  for (const { key, sums } of reports) {
    const [day, accountId, keyId, model] = key
    const usage = usageOf(sums)
    const ofDay = day.slice(0, 'YYYY-MM'.length)
    for (const month of hasTotals ? [ofDay, totalMonth] : [ofDay]) {
      if (isUsed(usage)) addMonth(months, [accountId, model, month], usage)
      if (usage.costPicos > 0n) addMonth(keys, [accountId, keyId, month], usage)
    }
    if (usage.costPicos === 0n) continue
    chargedPicos.set(accountId, addPicos(chargedPicos.get(accountId) ?? zeroPicos, usage.costPicos))
  }
  return {
    reportDay: reports.map(({ key, sums }) => [...key, ...reportValues(sums)]),
    usageMonth: Array.from(months.values(), ({ key: [accountId, model, month], usage }) => [
      accountId,
      month,
      model,
      ...usageValues(usage),
    ]),
    usageKeyMonth: Array.from(keys.values(), ({ key, usage }) => [...key, usage.costPicos]),
    chargedPicos,
  }
}

function addMonth(months: Map<string, Month>, key: Month['key'], added: UsageSums): void {
  const month = itemOf(months, key.join('\0'), () => ({ key, usage: { ...noUsage } }))
  addUsage(month.usage, added)
}

function itemOf<Item>(items: Map<string, Item>, name: string, make: () => Item): Item {
  const known = items.get(name)
  if (known !== undefined) return known
  const made = make()
  items.set(name, made)
  return made
}

function usageValues(usage: UsageSums): Values {
  const { requests, inputTokens, outputTokens, cacheTokens, costPicos } = usage
  return [requests, inputTokens, outputTokens, cacheTokens, costPicos]
}
