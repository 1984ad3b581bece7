/**
 * Fills a store with a long history: a fixed number of requests per day, of many accounts, keys and
 * models. The store's own engine makes the rows, without syncing. The ledger passes an audit.
 */
import { utcDay, utcMonth } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { picos } from '../../src/base/money.ts'
import { credit } from '../../src/ledger/entry-store.ts'
import { formatUsage } from '../../src/ledger/stored-usage.ts'
import type { Database, Dialect } from '../../src/storage/database.ts'

export interface HistoryShape {
  readonly accounts: number
  readonly keysPerAccount: number
  readonly models: number
  readonly requestsPerDay: number
}

export interface DaysOfHistory {
  readonly dialect: Dialect
  readonly shape: HistoryShape
  /** 00:00 UTC of the first day of the history. */
  readonly startMs: number
  /** Counted from that day. */
  readonly firstDay: number
  readonly days: number
}

export const dayMs = 86_400_000
const answerKinds = 16
const shiftsOfTimeDigits = [45, 40, 35, 30, 25, 20, 15, 10, 5, 0]

/** Returns one script for one transaction. The accounts must exist. */
export function historyScript(wanted: DaysOfHistory): string {
  return [
    ...(wanted.dialect === 'postgres' ? [partitionSql(wanted)] : []),
    'CREATE TEMP TABLE answer (number INTEGER PRIMARY KEY, model TEXT, input BIGINT, ' +
      'output BIGINT, cache BIGINT, amount BIGINT, usage TEXT, price_lines TEXT)',
    `INSERT INTO answer VALUES ${answerRows(wanted.shape).join(',\n')}`,
    madeSql(wanted),
    ...bookingStatements,
    ...['figure', 'made', 'answer'].map((table) => `DROP TABLE ${table}`),
  ]
    .map((statement) => `${statement};\n`)
    .join('')
}

/** Marks everything before this moment as audited, as hourly audits would have done. */
export function checkpointScript(throughMs: number): string {
  return `INSERT INTO audit_checkpoint (account_id, through_ms, balance_picos, audited_at_ms)
    SELECT account_id, ${throughMs}, SUM(amount_picos), ${throughMs} FROM entry
     WHERE created_at_ms < ${throughMs} GROUP BY account_id
    ON CONFLICT (account_id) DO UPDATE SET
      through_ms = excluded.through_ms, balance_picos = excluded.balance_picos;`
}

function partitionSql({ startMs, firstDay, days }: DaysOfHistory): string {
  const fromMs = startMs + firstDay * dayMs
  return `SELECT ensure_exchange_partitions(${fromMs}, ${fromMs + days * dayMs - 1})`
}

/** Usage and cost of one answer. A few kinds are enough, because only sizes matter. */
function answerRows(shape: HistoryShape): readonly string[] {
  return Array.from({ length: answerKinds * shape.models }, (_, index) => {
    const kind = index % answerKinds
    const model = `model-${Math.floor(index / answerKinds)}`
    const input = 400 + 350 * kind
    const output = 40 + 60 * kind
    const cache = kind % 2 === 0 ? 2_000 : 0
    const counts = { input, output, ...(cache > 0 && { cache_read: cache }) }
    const lines = [
      ['input', input, '3000000'],
      ['output', output, '15000000'],
      ...(cache > 0 ? [['cache_read', cache, '300000']] : []),
    ]
    const usage = {
      parts: [{ promptTokens: input + cache, counts }],
      reported: { inputTokens: input, outputTokens: output, cacheTokens: cache },
    }
    const amount = input * 3_000_000 + output * 15_000_000 + cache * 300_000
    const texts = [formatUsage(usage), JSON.stringify({ parts: [{ model, lines }] })].map(quote)
    return `(${index}, '${model}', ${input}, ${output}, ${cache}, ${amount}, ${texts.join(', ')})`
  })
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/**
 * One row per request. A multiplicative hash of the request's number chooses its account, key and answer, so
 * that the rows look random and are the same in every run; only ids differ.
 */
function madeSql({ dialect, shape, startMs, firstDay, days }: DaysOfHistory): string {
  const { accounts, keysPerAccount, models, requestsPerDay } = shape
  const first = firstDay * requestsPerDay
  const last = first + days * requestsPerDay - 1
  const stepMs = Math.floor(dayMs / (requestsPerDay + 1))
  const calendar = Array.from({ length: days }, (_, index) => {
    const atMs = startMs + (firstDay + index) * dayMs
    return `(${firstDay + index}, ${atMs}, '${utcDay(atMs)}', '${utcMonth(atMs)}')`
  })
  // Some accounts use far more than others: the square of an even distribution.
  const spread = draw(2_654_435_761)
  return `CREATE TEMP TABLE made AS
    WITH RECURSIVE counted (number) AS (
      SELECT CAST(${first} AS BIGINT) UNION ALL SELECT number + 1 FROM counted WHERE number < ${last}
    ),
    calendar (day_number, start_ms, day, month) AS (VALUES ${calendar.join(', ')}),
    payer AS (SELECT id, ROW_NUMBER() OVER (ORDER BY id) - 1 AS place FROM account),
    drawn AS (
      SELECT number, number / ${requestsPerDay} AS day_number,
        number % ${requestsPerDay} * ${stepMs} AS since_ms,
        (${spread} * ${spread} * ${accounts}) / 4294967296 AS place,
        ${draw(1_597_334_677)} % ${keysPerAccount} AS key_number,
        ${draw(3_812_015_801)} % ${models * answerKinds} AS answer_number
      FROM counted
    ),
    timed AS (SELECT *, start_ms + since_ms AS at_ms FROM drawn JOIN calendar USING (day_number))
    SELECT payer.id AS account_id, ${exchangeIdSql(dialect)} AS exchange_id,
      'key_' || payer.id || '_' || key_number AS key_id, at_ms, day, month, answer_number
    FROM timed JOIN payer USING (place) ORDER BY number`
}

/** The 16 high bits of a multiplicative hash. */
function draw(factor: number): string {
  return `((number * ${factor} % 4294967296) / 65536)`
}

/** Ids as base/id.ts makes them: ten digits of time, sixteen random ones (here hexadecimal). */
function exchangeIdSql(dialect: Dialect): string {
  const digits = shiftsOfTimeDigits.map(
    (shift) =>
      `substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(((at_ms >> ${shift}) & 31) + 1 AS INTEGER), 1)`,
  )
  const chance =
    dialect === 'postgres'
      ? "substr(md5(number || ' of a past'), 1, 16)"
      : 'lower(hex(randomblob(8)))'
  return `'ex_' || ${digits.join(' || ')} || ${chance}`
}

const figures = ['requests', 'input_tokens', 'output_tokens', 'cache_tokens', 'cost_picos']
// CROSS JOIN makes SQLite read the requests in their order and look up the answers.
const requests = 'made m CROSS JOIN answer a WHERE a.number = m.answer_number'

const bookingStatements: readonly string[] = [
  `INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream,
     channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
     price_lines, vendor_request_id)
   SELECT m.account_id, m.exchange_id, m.key_id, 'alpha', a.model, 'messages.create', 1,
     'alpha-main', m.at_ms, m.at_ms, 'completed', 200, 1, a.amount, a.usage, a.price_lines,
     'req_' || substr(m.exchange_id, 4) FROM ${requests}`,
  `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
   SELECT m.account_id, 'charge', m.exchange_id, -a.amount, m.at_ms FROM ${requests}`,
  `CREATE TEMP TABLE figure AS
   SELECT m.account_id, m.day, m.month, m.key_id, a.model, COUNT(*) AS requests,
     SUM(a.input) AS input_tokens, SUM(a.output) AS output_tokens, SUM(a.cache) AS cache_tokens,
     SUM(a.amount) AS cost_picos FROM ${requests} GROUP BY 1, 2, 3, 4, 5`,
  ...['month', "'total'"].map(
    (month) =>
      `INSERT INTO usage_month (account_id, month, model, ${figures.join(', ')})
       SELECT account_id, ${month}, model, ${figures.map((name) => `SUM(${name})`).join(', ')}
         FROM figure GROUP BY 1, 2, 3
       ON CONFLICT (account_id, month, model) DO UPDATE SET
       ${figures.map((name) => `${name} = usage_month.${name} + excluded.${name}`).join(', ')}`,
  ),
  `INSERT INTO report_day
   SELECT day, account_id, key_id, model, 'alpha-main', requests, requests, 0, 0, 0,
     input_tokens, output_tokens, cache_tokens, 0, input_tokens + cache_tokens,
     ${Array(15).fill(0).join(', ')},
     cost_picos, 0, 0, 0, cost_picos FROM figure`,
  ...['month', "'total'"].map(
    (month) =>
      `INSERT INTO usage_key_month (account_id, key_id, month, cost_picos)
       SELECT account_id, key_id, ${month}, SUM(cost_picos) FROM figure GROUP BY 1, 2, 3
       ON CONFLICT (account_id, key_id, month) DO UPDATE SET
         cost_picos = usage_key_month.cost_picos + excluded.cost_picos`,
  ),
  `UPDATE account SET balance_picos = balance_picos - spent.amount
     FROM (SELECT account_id, SUM(cost_picos) AS amount FROM figure GROUP BY 1) AS spent
    WHERE spent.account_id = account.id`,
]

/** A migrated store without accounts, used by this process only. */
export interface HistoryStore {
  readonly dialect: Dialect
  /** Runs several statements in one transaction. */
  run(script: string): Promise<void>
}

export interface History {
  readonly accountIds: readonly string[]
  /** The number of exchanges, each with one charge. */
  readonly requests: number
  readonly days: number
  /** 00:00 UTC of the first day without requests. */
  readonly untilMs: number
  /** Adds whole days until the history has at least this many requests. */
  extendTo(store: HistoryStore, requests: number): Promise<History>
}

const creditPicos = picos(8_000_000n * 10n ** 12n)
/** A script keeps its rows in memory while it runs. */
const daysPerScript = 8

export async function beginHistory(
  database: Database,
  shape: HistoryShape,
  startMs: number,
): Promise<History> {
  const accountIds = Array.from({ length: shape.accounts }, (_, index) =>
    newId('acc', startMs + index),
  )
  await database.transact(async (transaction) => {
    for (const [index, id] of accountIds.entries()) {
      await transaction.query('INSERT INTO account (id, name, created_at_ms) VALUES ($1, $2, $3)', [
        id,
        `account-${index}`,
        startMs,
      ])
      await credit(transaction, {
        accountId: id,
        kind: 'credit',
        amountPicos: creditPicos,
        reference: 'opening-balance',
        atMs: startMs,
      })
    }
  })
  return historyOf({ shape, accountIds, startMs, days: 0 })
}

interface Past {
  readonly shape: HistoryShape
  readonly accountIds: readonly string[]
  readonly startMs: number
  readonly days: number
}

function historyOf(past: Past): History {
  const { shape, accountIds, startMs, days } = past
  return {
    accountIds,
    requests: days * shape.requestsPerDay,
    days,
    untilMs: startMs + days * dayMs,
    async extendTo(store, requests) {
      const wantedDays = Math.max(days, Math.ceil(requests / shape.requestsPerDay))
      for (let firstDay = days; firstDay < wantedDays; firstDay += daysPerScript) {
        const span = { firstDay, days: Math.min(daysPerScript, wantedDays - firstDay) }
        await store.run(historyScript({ dialect: store.dialect, shape, startMs, ...span }))
      }
      return historyOf({ ...past, days: wantedDays })
    },
  }
}
