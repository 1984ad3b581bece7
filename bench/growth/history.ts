/**
 * Makes a store with a long past: exchanges, charges, figures and balances of so many requests a day,
 * over many accounts, keys and models, day after day in the order in which a gateway would have
 * written them. The books of it agree, so an audit can be measured on it as well.
 */
import { utcDay, utcMonth } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { seededRandom } from '../../src/base/random.ts'
import { hashCredit } from '../../src/ledger/entry-store.ts'
import { picos } from '../../src/base/money.ts'
import { openConnection, type SqliteConnection } from '../../src/storage/sqlite-connection.ts'

export interface HistoryShape {
  readonly accounts: number
  readonly keysPerAccount: number
  readonly models: number
  readonly requestsPerDay: number
}

export interface History {
  readonly accountIds: readonly string[]
  /** Rows of table exchange, and as many charges. */
  readonly requests: number
  /** The first moment of the next day that has no requests yet. */
  readonly untilMs: number
  /** Adds whole days until there are at least so many requests. */
  extendTo(requests: number): History
}

const dayMs = 86_400_000
const creditPicos = 8_000_000n * 10n ** 12n

/** What one answer used and cost; of a few kinds, since only sizes matter here. */
const kinds = Array.from({ length: 16 }, (_, index) => {
  const input = 400 + 350 * index
  const output = 40 + 60 * index
  const cacheRead = index % 2 === 0 ? 2_000 : 0
  const counts = { input, output, ...(cacheRead > 0 && { cache_read: cacheRead }) }
  const lines = [
    ['input', input, '3000000'],
    ['output', output, '15000000'],
    ...(cacheRead > 0 ? [['cache_read', cacheRead, '300000']] : []),
  ]
  return {
    amount:
      BigInt(input) * 3_000_000n + BigInt(output) * 15_000_000n + BigInt(cacheRead) * 300_000n,
    reported: [input, output, cacheRead] as const,
    usage: JSON.stringify({
      parts: [{ promptTokens: input + cacheRead, counts }],
      reported: { inputTokens: input, outputTokens: output, cacheTokens: cacheRead },
    }),
    bill: (model: string) => JSON.stringify({ parts: [{ model, lines }] }),
  }
})

type Sums = Map<string, [key: readonly string[], figures: bigint[]]>

/** `path` is a migrated store without accounts. */
export function makeHistory(path: string, shape: HistoryShape, startMs: number): History {
  const connection = openConnection(path)
  // Only while the past is being made up; whoever opens the store afterwards syncs as ever.
  connection.script('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000')
  const accountIds = makeAccounts(connection, shape, startMs)
  connection.close()
  return history({ path, shape, accountIds, requests: 0, untilMs: startMs })
}

interface Past {
  readonly path: string
  readonly shape: HistoryShape
  readonly accountIds: readonly string[]
  readonly requests: number
  readonly untilMs: number
}

function history(past: Past): History {
  const { accountIds, requests, untilMs } = past
  return {
    accountIds,
    requests,
    untilMs,
    extendTo(wanted) {
      const connection = openConnection(past.path)
      connection.script('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000')
      let { requests: made, untilMs: nextMs } = past
      for (; made < wanted; made += past.shape.requestsPerDay, nextMs += dayMs)
        connection.transact(() => writeDay(connection, past, nextMs))
      connection.script('PRAGMA wal_checkpoint(TRUNCATE)')
      connection.close()
      return history({ ...past, requests: made, untilMs: nextMs })
    },
  }
}

function makeAccounts(
  connection: SqliteConnection,
  shape: HistoryShape,
  startMs: number,
): readonly string[] {
  const amountPicos = picos(creditPicos)
  const hash = hashCredit({ kind: 'credit', amountPicos })
  return connection.transact(() =>
    Array.from({ length: shape.accounts }, (_, index) => {
      const id = newId('acc', startMs + index)
      connection.all(
        'INSERT INTO account (id, name, balance_picos, created_at_ms) VALUES ($1, $2, $3, $4)',
        [id, `account-${index}`, amountPicos, startMs],
      )
      connection.all(
        `INSERT INTO entry (account_id, kind, reference, amount_picos, input_hash, created_at_ms)
         VALUES ($1, 'credit', 'opening-balance', $2, $3, $4)`,
        [id, amountPicos, hash, startMs],
      )
      return id
    }),
  )
}

function writeDay(connection: SqliteConnection, past: Past, dayStartMs: number): void {
  const { shape, accountIds } = past
  const random = seededRandom(dayStartMs / dayMs)
  const pick = (count: number): number => Math.floor(random() * count)
  const insertExchange = connection.prepare(
    `INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream,
       channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
       price_lines, vendor_request_id)
     VALUES ($1, $2, $3, 'alpha', $4, 'messages.create', 1, 'alpha-main', $5, $6, 'completed', 200,
       1, $7, $8, $9, $10)`,
  )
  const insertEntry = connection.prepare(
    `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
     VALUES ($1, 'charge', $2, $3, $4)`,
  )
  const days: Sums = new Map()
  const months: Sums = new Map()
  const spent = new Map<string, bigint>()
  const stepMs = dayMs / (shape.requestsPerDay + 1)
  for (let index = 0; index < shape.requestsPerDay; index++) {
    const startedAtMs = Math.floor(dayStartMs + index * stepMs)
    // Some accounts use far more than others.
    const accountId = accountIds[Math.floor(random() ** 2 * accountIds.length)] ?? ''
    const keyId = `key_${accountId}_${pick(shape.keysPerAccount)}`
    const model = `model-${pick(shape.models)}`
    const kind = kinds[pick(kinds.length)]
    if (kind === undefined) continue
    const exchangeId = newId('ex', startedAtMs)
    const { amount, usage, bill, reported } = kind
    insertExchange.run(
      accountId,
      exchangeId,
      keyId,
      model,
      startedAtMs,
      startedAtMs,
      amount,
      usage,
      bill(model),
      `req_${exchangeId.slice(3)}`,
    )
    insertEntry.run(accountId, exchangeId, 0n - amount, startedAtMs)
    spent.set(accountId, (spent.get(accountId) ?? 0n) + amount)
    const figures = [1n, ...reported.map(BigInt), amount]
    addTo(days, [accountId, utcDay(dayStartMs), keyId, model], figures)
    addTo(months, [accountId, utcMonth(dayStartMs), model], figures)
    addTo(months, [accountId, 'total', model], figures)
  }
  writeSums(connection, { table: 'usage_day', key: 'account_id, day, key_id, model', sums: days })
  writeSums(connection, { table: 'usage_month', key: 'account_id, month, model', sums: months })
  for (const [accountId, amount] of spent)
    connection.all('UPDATE account SET balance_picos = balance_picos - $2 WHERE id = $1', [
      accountId,
      amount,
    ])
}

function addTo(sums: Sums, key: readonly string[], figures: readonly bigint[]): void {
  const name = key.join('\0')
  const known = sums.get(name)
  if (known === undefined) sums.set(name, [key, [...figures]])
  else
    for (const [index, figure] of figures.entries())
      known[1][index] = (known[1][index] ?? 0n) + figure
}

const figureColumns = ['requests', 'input_tokens', 'output_tokens', 'cache_tokens', 'cost_picos']

function writeSums(
  connection: SqliteConnection,
  { table, key, sums }: { readonly table: string; readonly key: string; readonly sums: Sums },
): void {
  const width = key.split(',').length + figureColumns.length
  const places = Array.from({ length: width }, (_, index) => `$${index + 1}`).join(', ')
  const additions = figureColumns.map((column) => `${column} = ${column} + excluded.${column}`)
  const statement = connection.prepare(
    `INSERT INTO ${table} (${key}, ${figureColumns.join(', ')}) VALUES (${places})
     ON CONFLICT (${key}) DO UPDATE SET ${additions.join(', ')}`,
  )
  for (const [parts, figures] of sums.values()) statement.run(...parts, ...figures)
}
