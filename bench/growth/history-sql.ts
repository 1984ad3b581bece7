/**
 * The statements that make up days of a store's past on the server itself, the same on both engines
 * but for two functions: exchanges, charges, figures and balances, as many of each as the same
 * requests would have left, in the order of time. Pure; `history.ts` runs them.
 */
import { utcDay, utcMonth } from '../../src/base/clock.ts'
import type { Dialect } from '../../src/storage/database.ts'

export interface HistoryShape {
  readonly accounts: number
  readonly keysPerAccount: number
  readonly models: number
  readonly requestsPerDay: number
}

export interface DaysOfHistory {
  readonly dialect: Dialect
  readonly shape: HistoryShape
  /** 00:00 UTC of the day on which the past begins. */
  readonly startMs: number
  /** Counted from that day. */
  readonly firstDay: number
  readonly days: number
}

export const dayMs = 86_400_000
const answerKinds = 16
const shiftsOfTimeDigits = [45, 40, 35, 30, 25, 20, 15, 10, 5, 0]

/** One script, to be run in one transaction. The accounts have to be there. */
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

/** Everything before the day is found right, as hourly audits would have left it behind. */
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

/** What one answer used and cost; of a few kinds, since only sizes matter here. */
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
    const texts = [usage, { parts: [{ model, lines }] }].map((value) => quote(value))
    return `(${index}, '${model}', ${input}, ${output}, ${cache}, ${amount}, ${texts.join(', ')})`
  })
}

function quote(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", "''")}'`
}

/**
 * One row for each request. What it is comes from its number, by multiplications that leave nothing
 * but their highest bits, so that it looks random and is the same in every run; ids apart.
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
  // Some accounts use far more than others: squares of what is evenly spread.
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

/** 16 bits of a number's own. */
function draw(factor: number): string {
  return `((number * ${factor} % 4294967296) / 65536)`
}

/** As base/id.ts makes them: ten digits of time, sixteen of chance; hexadecimal ones will do. */
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
// CROSS, so that SQLite goes through the requests in their order and looks the answers up.
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
  `INSERT INTO usage_day (account_id, day, key_id, model, ${figures.join(', ')})
   SELECT account_id, day, key_id, model, ${figures.join(', ')} FROM figure`,
  ...['month', "'total'"].map(
    (month) =>
      `INSERT INTO usage_month (account_id, month, model, ${figures.join(', ')})
       SELECT account_id, ${month}, model, ${figures.map((name) => `SUM(${name})`).join(', ')}
         FROM figure GROUP BY 1, 2, 3
       ON CONFLICT (account_id, month, model) DO UPDATE SET
       ${figures.map((name) => `${name} = usage_month.${name} + excluded.${name}`).join(', ')}`,
  ),
  `UPDATE account SET balance_picos = balance_picos - spent.amount
     FROM (SELECT account_id, SUM(cost_picos) AS amount FROM figure GROUP BY 1) AS spent
    WHERE spent.account_id = account.id`,
]
