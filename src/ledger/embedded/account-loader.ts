/**
 * Reads what admission keeps in memory of an account and a key, as of the batches committed before. Each
 * question takes a time that does not grow with the number of keys or the age of the account.
 */
import { minuteMs, utcDay, utcMonth } from '../../base/clock.ts'
import { addPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { Row } from '../../storage/database.ts'
import type { SqliteConnection } from '../../storage/sqlite/connection.ts'
import type { LimitsQuestion } from '../ledger.ts'
import { keyUsageStatements, noKeyUsage, sumKeyUsage } from '../key-usage.ts'
import { dayCost, readPicos } from '../usage.ts'
import type { AccountFacts, AccountUsage, LoadedAccount, LoadedKey } from './account-state.ts'

/** Rows of token_minute older than this no longer count, whatever part of their second has passed. */
const tokenSeconds = 60

/** Undefined where there is no such account. */
export function loadAccount(
  connection: SqliteConnection,
  question: LimitsQuestion,
): LoadedAccount | undefined {
  const { accountId, keyId, keyLimits, atMs } = question
  const [facts] = loadFacts(connection, [accountId])
  if (facts === undefined) return undefined
  const { dailyPicos, monthlyPicos, totalPicos, rpm, tpm } = keyLimits
  const hasKeyLimits = dailyPicos + monthlyPicos + totalPicos > 0n || rpm > 0 || tpm > 0
  return {
    facts,
    used: readUsed(connection, facts, atMs),
    startedAtMs:
      facts.rpm === 0
        ? []
        : readWindow(connection, { accountId, fromMs: atMs - facts.windowMinutes * minuteMs }),
    tokens: facts.tpm === 0 ? [] : readTokens(connection, { accountId, atMs }),
    key: hasKeyLimits ? loadKey(connection, { accountId, keyId, keyLimits, atMs }) : undefined,
  }
}

export function loadFacts(
  connection: SqliteConnection,
  accountIds: readonly string[],
): AccountFacts[] {
  return connection.all(factsSql, [JSON.stringify(accountIds)]).map(readFacts)
}

const factsSql = `
  SELECT id, balance_picos, credit_line_picos, daily_limit_picos, monthly_limit_picos, rpm, window_minutes, tokens_per_minute,
    (SELECT MAX(sequence) FROM entry WHERE account_id = account.id AND kind <> 'charge')
      AS last_operator_entry
    FROM account WHERE id IN (SELECT value FROM json_each($1))`

function readFacts(row: Row): AccountFacts {
  return {
    accountId: String(row['id']),
    balancePicos: readPicos(row, 'balance_picos'),
    creditLinePicos: readPicos(row, 'credit_line_picos'),
    dailyLimitPicos: readPicos(row, 'daily_limit_picos'),
    monthlyLimitPicos: readPicos(row, 'monthly_limit_picos'),
    rpm: Number(row['rpm']),
    windowMinutes: Number(row['window_minutes']),
    tpm: Number(row['tokens_per_minute']),
    lastOperatorEntry: BigInt(String(row['last_operator_entry'] ?? 0)),
  }
}

function loadKey(
  connection: SqliteConnection,
  { accountId, keyId, keyLimits: { rpm, tpm }, atMs }: LimitsQuestion,
): LoadedKey {
  const { days, months } = keyUsageStatements({ keys: [{ id: keyId, accountId }], atMs })
  const used = sumKeyUsage(connection.all(...days), connection.all(...months))
  return {
    keyId,
    used: used.get(keyId) ?? noKeyUsage,
    startedAtMs:
      rpm === 0 ? undefined : readWindow(connection, { accountId, keyId, fromMs: atMs - minuteMs }),
    tokens: tpm === 0 ? undefined : readTokens(connection, { accountId, keyId, atMs }),
  }
}

interface Owner {
  readonly accountId: string
  /** Absent = all keys of the account. */
  readonly keyId?: string
}

/** The month only where a limit needs it: its rows are those of all keys. */
function readUsed(
  connection: SqliteConnection,
  { accountId, monthlyLimitPicos }: AccountFacts,
  atMs: number,
): AccountUsage {
  const sum = (sql: string, period: string): Picos =>
    connection
      .all(sql, [accountId, period])
      .reduce((total, row) => addPicos(total, readPicos(row, 'cost_picos')), zeroPicos)
  return {
    dayPicos: sum(dayCostsSql, utcDay(atMs)),
    monthPicos: monthlyLimitPicos === 0n ? undefined : sum(monthCostsSql, utcMonth(atMs)),
  }
}

const dayCostsSql = `SELECT ${dayCost} AS cost_picos FROM report_day WHERE account_id = $1 AND day = $2`
const monthCostsSql = 'SELECT cost_picos FROM usage_month WHERE account_id = $1 AND month = $2'

/** Reads when the exchanges within the window began, oldest first. */
function readWindow(
  connection: SqliteConnection,
  { accountId, keyId, fromMs }: Owner & { readonly fromMs: number },
): number[] {
  const startedAtMs: number[] = []
  // Ids are ordered by time, so the newest come first and the first old one ends the reading.
  const newestFirst = connection
    .prepare(
      'SELECT started_at_ms, key_id FROM exchange WHERE account_id = $1 ORDER BY exchange_id DESC',
    )
    .each(accountId)
  for (const row of newestFirst) {
    const moment = Number(row['started_at_ms'])
    if (moment <= fromMs) break
    if (keyId === undefined || row['key_id'] === keyId) startedAtMs.push(moment)
  }
  return startedAtMs.sort((left, right) => left - right)
}

function readTokens(
  connection: SqliteConnection,
  { accountId, keyId, atMs }: Owner & { readonly atMs: number },
): (readonly [number, number])[] {
  return connection
    .all(
      `SELECT second, SUM(tokens) AS tokens FROM token_minute
        WHERE account_id = $1 AND second > $2 AND ($3 IS NULL OR key_id = $3)
        GROUP BY second ORDER BY second`,
      [accountId, Math.floor(atMs / 1_000) - tokenSeconds, keyId ?? null],
    )
    .map((row) => [Number(row['second']), Number(row['tokens'])] as const)
}
