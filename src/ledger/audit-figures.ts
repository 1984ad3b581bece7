/**
 * The audit's part about figures: sums charged exchanges by day, month and for ever, and compares
 * with what the rollup tables say. Holds the sums of one account at a time.
 */
import { utcDay, utcMonth } from '../base/clock.ts'
import { picos, zeroPicos, type Picos } from '../base/money.ts'
import type { Queryable, Row } from '../storage/database.ts'
import { report, usd, type Findings } from './audit-findings.ts'
import { readPicos, totalMonth } from './usage.ts'

export interface Figures {
  requests: number
  inputTokens: number
  outputTokens: number
  cacheTokens: number
  costPicos: Picos
}

export function addToFigures(figures: Map<string, Figures>, row: Row): void {
  const amount = readPicos(row, 'amount_picos')
  if (amount === 0n) return
  const endedAtMs = Number(row['ended_at_ms'])
  const model = String(row['model'])
  const reported = readReported(row['usage'])
  const names = [
    figureName('usage_day', [utcDay(endedAtMs), String(row['key_id']), model]),
    figureName('usage_month', [utcMonth(endedAtMs), model]),
    figureName('usage_month', [totalMonth, model]),
  ]
  for (const name of names) {
    const sum = figures.get(name) ?? noFigures()
    sum.requests++
    sum.inputTokens += reported.inputTokens
    sum.outputTokens += reported.outputTokens
    sum.cacheTokens += reported.cacheTokens
    sum.costPicos = picos(sum.costPicos + amount)
    figures.set(name, sum)
  }
}

interface FiguresQuestion {
  readonly accountId: string
  readonly table: 'usage_day' | 'usage_month'
  /** Derived from exchanges, by `figureName`. */
  readonly figures: ReadonlyMap<string, Figures>
}

const keyColumns = {
  usage_day: ['day', 'key_id', 'model'],
  usage_month: ['month', 'model'],
} as const

export async function auditFigures(
  snapshot: Queryable,
  question: FiguresQuestion,
  findings: Findings,
): Promise<void> {
  const { accountId, table, figures } = question
  const unseen = new Set([...figures.keys()].filter((name) => name.startsWith(table)))
  const rows = await snapshot.query(`SELECT * FROM ${table} WHERE account_id = $1`, [accountId])
  for (const row of rows) {
    const name = figureName(
      table,
      keyColumns[table].map((column) => String(row[column])),
    )
    unseen.delete(name)
    const stored = describe(readStored(row))
    const derived = describe(figures.get(name) ?? noFigures())
    if (stored !== derived)
      report(findings, accountId, table, { text: figureTitle(name), stored, derived })
  }
  for (const name of unseen)
    report(findings, accountId, table, {
      text: figureTitle(name),
      stored: 'nothing',
      derived: describe(figures.get(name) ?? noFigures()),
    })
}

function figureName(table: FiguresQuestion['table'], key: readonly string[]): string {
  return [table, ...key].join('\0')
}

function figureTitle(name: string): string {
  const [table, ...key] = name.split('\0')
  return `figures of ${String(table)} for ${key.join(', ')}`
}

function noFigures(): Figures {
  return { requests: 0, inputTokens: 0, outputTokens: 0, cacheTokens: 0, costPicos: zeroPicos }
}

function readStored(row: Row): Figures {
  return {
    requests: Number(row['requests']),
    inputTokens: Number(row['input_tokens']),
    outputTokens: Number(row['output_tokens']),
    cacheTokens: Number(row['cache_tokens']),
    costPicos: readPicos(row, 'cost_picos'),
  }
}

function readReported(usage: unknown): Omit<Figures, 'requests' | 'costPicos'> {
  const parsed: unknown = typeof usage === 'string' ? JSON.parse(usage) : undefined
  const reported = (parsed as { reported?: Partial<Figures> } | undefined)?.reported
  return {
    inputTokens: reported?.inputTokens ?? 0,
    outputTokens: reported?.outputTokens ?? 0,
    cacheTokens: reported?.cacheTokens ?? 0,
  }
}

function describe(figures: Figures): string {
  const { requests, inputTokens, outputTokens, cacheTokens, costPicos } = figures
  return `${requests} requests, ${inputTokens} + ${outputTokens} + ${cacheTokens} tokens, ${usd(costPicos)}`
}
